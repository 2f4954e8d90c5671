"""Progress of a run: calls of the user's callable, a bar of tqdm, or a line of text."""

import sys
from contextlib import suppress
from functools import partial


class Reporter:
    """Turns counts of completed steps into reports, the last of which says that all are done.

    A bar or line that cannot be drawn any more is dropped, and the run goes on.
    """

    def __init__(self, progress, total, unit="step"):
        self.total, self.done, self.bar = total, 0, None
        self.call = progress if callable(progress) else None
        # Standard error is full, closed, or a terminal that is gone.
        self.lost = (OSError, ValueError, AttributeError) if progress is True else ()
        if progress is True:
            self.call = partial(
                _print_line, unit[:-1] + "ies" if unit.endswith("y") else unit + "s"
            )
            with suppress(ImportError, *self.lost):
                from tqdm.auto import tqdm

                self.bar = tqdm(total=self.total, unit=unit)
                self.call = lambda done, total: self.bar.update(done - self.bar.n)

    def __enter__(self):
        return None if self.call is None else self.report

    def report(self, done):
        if self.call is not None and done > self.done:
            self.done = done
            try:
                self.call(done, self.total)
            except self.lost:
                self.call = None

    def __exit__(self, kind, *_):
        if kind is None and (self.done < self.total or self.total == 0):
            self.done = -1
            self.report(self.total)
        if self.bar is not None:
            with suppress(*self.lost):
                self.bar.close()


def _print_line(units, done, total):
    end = "\n" if done == total else ""
    sys.stderr.write(f"\rpyintegrate: {done} of {total} {units}{end}")
    sys.stderr.flush()
