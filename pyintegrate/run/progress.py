"""Progress of a run: calls of the user's callable, a bar of tqdm, or a line of text."""

from __future__ import annotations

import sys
from functools import partial


class Reporter:
    """Turns counts of completed steps into reports, the last of which says that all are done."""

    def __init__(self, progress, total, unit="step"):
        self.total, self.done, self.bar = total, 0, None
        self.call = progress if callable(progress) else None
        if progress is True:
            try:
                from tqdm.auto import tqdm

                self.bar = tqdm(total=self.total, unit=unit)
                self.call = lambda done, total: self.bar.update(done - self.bar.n)
            except ImportError:
                self.call = partial(_print_line, _plural(unit))

    def __enter__(self):
        return None if self.call is None else self.report

    def report(self, done):
        if self.call is not None and done > self.done:
            self.done = done
            self.call(done, self.total)

    def __exit__(self, kind, *_):
        if kind is None and self.call is not None and (self.done < self.total or self.total == 0):
            self.call(self.total, self.total)
        if self.bar is not None:
            self.bar.close()


def _plural(unit):
    return unit[:-1] + "ies" if unit.endswith("y") else unit + "s"


def _print_line(units, done, total):
    end = "\n" if done == total else ""
    print(f"\rpyintegrate: {done} of {total} {units}", end=end, file=sys.stderr, flush=True)
