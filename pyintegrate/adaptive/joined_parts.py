"""Parts of a run to a tolerance are joined. Each begins before the steps that the end of the one
before has shortened, so that together they have the steps of one long run.
"""

import numpy as np

from ..run.options import over_batch
from .adaptive_run import joined_steps


def joined(parts):
    """See ``pyintegrate.concatenate``; parts are AdaptiveSolutions.

    Parameters
    ----------
    parts : sequence of AdaptiveSolution

    Returns
    -------
    AdaptiveSolution
        All accepted steps where all were saved; else the states at the times that were asked for,
        and at the ends of the parts.
    """
    if len(parts) == 1:
        return parts[0]
    first, last = parts[0], parts[-1]
    fields = _all_steps(parts) if last._save == "all" else _at_times(parts)
    times = fields.pop("times", None)
    saved = "all" if times is None else "times"
    control = last._control.changed(save=saved, times=times)
    outcome = last._outcome.changed(
        stiff_spans=_stiff_spans(parts),
        **{"moments": None, "counts": None, "within": None} | fields,
    )  # fmt: skip
    problem = first._problem.changed(arithmetic=last._problem.arithmetic)
    options = last._options.changed(out=None)
    whole = type(last)(problem, options, control, outcome, saved, first._before, last._kept)
    return whole._told(last)


def _all_steps(parts):
    """The accepted steps of all; the state that one part ends and the next begins with, once."""
    problem, n = parts[0]._problem, len(parts[0].components)
    steps = []
    for p, after in zip(parts, [*parts[1:], None]):
        states = np.moveaxis(p.y, -1, 1).reshape(len(p), n, problem.lanes)
        rows = [p._moments[:, np.newaxis], states, *([] if p._within is None else [p._within])]
        counts = p._counts
        if after is not None:  # up to where it begins: jumps share their times
            start = np.moveaxis(after.y[0], -1, 0).reshape(n, -1)
            there = ((states == start) | np.isnan(start)).all(axis=1)
            there &= p._moments == after._problem.rows_t0
            counts = np.where(there, np.arange(1, len(p) + 1)[:, np.newaxis], 0).max(axis=0)
        steps.append((np.concatenate(rows, axis=1, dtype=problem.dtype), counts))
    return joined_steps(steps, steps[0][0][0, : 1 + n], problem)


def _at_times(parts):
    """The states at the times that were asked for, and at the end of each part."""
    problem = parts[0]._problem
    asked = []
    states = []
    for part in parts:
        own = part._control.times
        if part._save == "final":
            own = np.asarray(part._control.rows_end, problem.dtype)[np.newaxis]
            if asked and np.array_equal(own, asked[-1][-1:]):  # no way from there
                continue
        asked.append(own)
        states.append(part.y)
    if any(own.ndim > 1 for own in asked):
        asked = [over_batch(own, (problem.lanes,)) for own in asked]
    return {
        "times": np.ascontiguousarray(np.concatenate(asked)),
        "states": np.concatenate(states),
    }


def _stiff_spans(parts):
    """From when until when each trajectory was stiff: a part may go on within a span."""
    spans = []
    for part in parts:
        lanes = part._problem.lanes
        start = np.broadcast_to(part._problem.rows_t0, (lanes,))
        ahead = np.where(np.broadcast_to(part._control.rows_end, (lanes,)) < start, -1, 1)
        for earlier in spans:  # what the end of the part before has changed
            earlier[:, (earlier[0] - start) * ahead > 0] = np.nan
            earlier[1, (earlier[1] - start) * ahead > 0] = np.nan
        for span in part.stiff_spans.reshape(len(part.stiff_spans), 2, lanes).copy():
            for earlier in spans:
                same = np.isfinite(earlier[0]) & np.isnan(earlier[1]) & (span[0] == start)
                earlier[1, same] = span[1, same]
                span[:, same] = np.nan
            if np.isfinite(span).any():
                spans.append(span)
    return np.array(spans)
