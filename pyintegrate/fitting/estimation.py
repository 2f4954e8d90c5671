"""`fit`: parameters and starts of a whole batch of motions from recordings of them."""

from __future__ import annotations

import numpy as np

from ..errors import warn_caller
from ..run.arguments import checked_quiet, components_of
from ..run.progress import Reporter
from ..values.checks import broadcast_shape, choice, floats, integer, positive
from ..values.keywords import explains_keywords
from ..values.types import Any, ArrayLike, Callable, Mapping, Method, Sequence, System
from .fitted_motions import Fit
from .levenberg_marquardt import NOT_CLOSED, minimised, most
from .recordings import Recordings
from .shooting import LOSSES, Shots
from .unknowns import Unknowns

FIRST, TIMES, STAGES = 0.1, 10.0, 8  # weight of the gaps: the first, its growth, how often
CLOSED = 1e-6  # a gap that counts as closed, in spreads of the data
IN_A_SEGMENT, MOST_SEGMENTS = 3, 100  # of "auto": times, segments
MOST_NUMBERS = 1 << 23  # in one array: more lanes are fitted one group after the other


@explains_keywords()
def fit(
    system: System,
    t: ArrayLike | Sequence[ArrayLike],
    data: ArrayLike | Sequence[ArrayLike],
    *,
    free: Mapping[str, Any] | Sequence[str] = (),
    x0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    t0: ArrayLike | None = None,
    free_start: bool | Mapping[str, Any] | Sequence[str] = False,
    observe: str | Sequence[str | Callable] | Callable | None = None,
    sigma: ArrayLike | Sequence[ArrayLike] | None = None,
    shared: str | Sequence[str] = (),
    priors: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 1,
    seed: int | None = None,
    method: str | Method = "auto",
    dt: float | None = None,
    rtol: float = 1e-8,
    atol: float | None = None,
    loss: str = "linear",
    segments: int | str = 1,
    workers: int = 1,
    progress: bool | Callable[[int, int], object] = False,
) -> Fit:
    """Fit parameters and starts of a batch of motions to recordings, all in one call.

    Least squares by Levenberg and Marquardt's method, with derivatives from the tangents of the
    motion. Every fit and every start of it is a lane of one batch, and has the same bits whatever
    lies beside it.

    Parameters
    ----------
    system : System
        Its parameters are where the fits begin; those that are not free may be arrays over the
        batch.
    t : array_like
        Times in order: (n,), or (n, *batch); or a list of arrays, one for each recording.
    data : array_like
        (n, *batch), or (n, *batch, k) where `observe` is a list; NaN is a missing value. Or a list
        of arrays (n_i) or (n_i, k), recordings of unequal length.
    free : mapping of str to (low, high), or sequence of str
        The parameters to find, and their bounds, numbers or arrays over the batch; ``None`` or
        ``...`` for no bounds. All elements of an array parameter are free, with the same bounds.
    x0, v0 : array_like, optional
        The start, as in ``integrate``.
    t0 : array_like, optional
        Its time; by default the first of each recording.
    free_start : bool, or as `free`
        Which components of the start are to be found too.
    observe : str, callable, or list of these, optional
        What the data are: a component, or a function of (t, x, v) or (t, y) and parameters by name,
        written for one trajectory, which is traced. Default: the list of all positions, or of all
        components of a first-order system; a single one, where data have the shape of `t`.
    sigma : array_like, optional
        Standard errors of the data, which broadcast against them, or a list as `data` is. Without
        them the covariance is scaled by cost / (points - unknowns).
    shared : str or sequence of str, optional
        Unknowns that are the same for the whole batch.
    priors : mapping of str to (mean, standard deviation), optional
        Of unknowns: one more residual each, beside data of known `sigma`.
    starts : int, optional
        How often each fit begins: from the system's own values, then from Sobol points in the
        bounds, which must be given. The best end is kept.
    seed : int, optional
        Scrambles these points.
    method, dt, rtol, atol, workers
        As in ``solve``, or with `dt` as in ``integrate``. Default of `atol`: rtol / 10 times
        the smaller of 1 and the largest datum of the observed quantity; if a function is observed,
        times the largest position at the start where that is smaller still.
    loss : {"linear", "soft_l1", "huber", "cauchy", "arctan"}
        As in SciPy's ``least_squares``, of residuals divided by sigma. A fit with another loss than
        "linear" begins where the linear one ends.
    segments : int or "auto"
        Multiple shooting, for chaotic motions and poor guesses: each recording is divided into so
        many parts, each with a start of its own, at first at the data; the gaps between them are
        closed in the end. "auto": three times in each part, at most 100 parts.
    progress : bool or callable
        Shows a bar, or calls f(finished, fits).

    Returns
    -------
    Fit
        With `parameters`, `standard_errors`, `covariance`, `residuals`, `cost`, `status`,
        `reason`, `iterations`, `starts`, `solution`, `predict(t)`, `profile(name)`, `plot()`.

    Raises
    ------
    TypeError, ValueError
        For wrong arguments, before anything runs.

    References
    ----------
    More (1978), LNM 630, 105-116. Bock (1983), Progr. Sci. Comput. 2, 95-121.

    Examples
    --------
    Two pendulums of 1 and 1.5 m, filmed for five seconds:

    >>> import numpy as np, pyintegrate as pi
    >>> t = np.linspace(0, 5, 50)
    >>> true = pi.systems.pendulum(length=[1.0, 1.5])
    >>> data = pi.solve(true, 0.5, 0.0, t_end=5.0, times=t).x
    >>> data = data + 0.01 * np.random.default_rng(1).standard_normal(data.shape)
    >>> found = pi.fit(pi.systems.pendulum(length=1.2), t, data, observe="theta",
    ...                free={"length": (0.1, 3)}, x0=0.4, v0=0.0, free_start=["theta"])
    >>> found.parameters["length"].round(2).tolist()
    [1.0, 1.5]
    """
    checked_quiet(system)
    listed = None if observe is None else isinstance(observe, list | tuple)
    if observe is None:
        observe = system.state_names[: system.positions or system.dim]
    observed = [observe] if listed is False else list(observe)  # type: ignore[arg-type,list-item]
    if not observed:
        raise ValueError("observe is empty: name components, or leave it out")
    for what in observed:
        if not callable(what) and str(what) not in system.state_names:
            raise ValueError(
                f"observe has {what!r}: expected a component of {system.name}"
                f" ({', '.join(system.state_names)}) or a function"
            )
    recordings = Recordings(t, data, sigma, listed, observed)
    unknowns = Unknowns(system, free, free_start, shared, priors)
    choice("loss", loss, LOSSES)
    if unknowns.priors and sigma is None:
        warn_caller("priors weigh against data whose sigma is 1: give sigma=")
    starts, seed = (
        integer("starts", starts, 1),
        seed if seed is None else integer("seed", seed, 0, 1 << 64),
    )
    components, shapes = components_of(system, x0, v0)
    first = recordings.t[0] if t0 is None else floats("t0", t0)
    batch = broadcast_shape(
        shapes | system.batch_shapes | {"data": recordings.batch, "t0": np.shape(first)}
    )
    if 0 in batch:
        raise ValueError(f"data and starts are a batch of shape {batch}: there is nothing to fit")
    start = np.stack([np.broadcast_to(c, batch) for c in components], axis=-1).astype(float)
    rtol = positive("rtol", rtol)
    run = {
        "rtol": rtol, "atol": None if atol is None else positive("atol", atol),
        "dt": None if dt is None else positive("dt", dt), "workers": workers,
        "method": "rk4" if dt is not None and method == "auto" else method,
    }  # fmt: skip
    n = int(np.min(recordings.length))
    if isinstance(segments, str) and segments == "auto":
        segments = max(1, min((n - 1) // IN_A_SEGMENT, MOST_SEGMENTS))
    segments = integer("segments", segments, 1)
    bounds = unknowns.bounds(batch)
    guesses = unknowns.guesses(start, batch, bounds, starts, seed)
    count = start[..., 0].size
    shots = Shots(
        system, unknowns, recordings, observed, start.reshape(count, system.dim),
        np.broadcast_to(first, batch).reshape(count), batch, segments, loss, run,
    )  # fmt: skip
    _check_enough(shots)
    guesses = guesses.reshape(len(guesses), starts * count)
    shots.ranges = np.full((2, shots.size, count), np.inf)
    shots.ranges[0] = -np.inf
    shots.ranges[:, shots.where] = bounds.reshape(2, -1, count)
    x = _begin(shots, guesses)
    shots.glue = np.ones(x.shape)[: shots.k]
    found = _ended(shots, x, progress)
    return Fit(shots, recordings, starts, found, sigma is not None)


def _check_enough(shots):
    """Refuse fewer data than unknowns."""
    few = shots.known < shots.asked
    if few.any():
        at = few.argmax()
        of_fit = f" of fit {at}" if shots.count > 1 and not shots.common else ""
        raise ValueError(
            f"data and priors{of_fit} are {shots.known[at]} numbers, fewer than the"
            f" {shots.asked[at]} unknowns ({', '.join(shots.unknowns.names)}): free fewer, or give"
            " priors"
        )


def _begin(shots, guesses):
    """The first unknowns, (size, lanes); nodes begin at the data."""
    m, S, known = guesses.shape[1], shots.segments, shots.weights[0] > 0
    lanes, x = np.arange(m), np.zeros((shots.size, m))
    own, nodes = lanes % shots.count, shots.nodes_of(x)
    if S > 1:
        nodes[0] = shots.start[own].T
    x[shots.where] = guesses
    for s in range(S if S > 1 else 0):
        for i, d in enumerate(shots.seen):
            if isinstance(d, int) and not (s == 0 and shots.held[d]):
                nodes[s, d] = np.where(known[i, s, own], shots.data[0, i, s, own], nodes[s, d])
        if s < S - 1:
            begin, end = shots.ends[[s, s + 1]][:, own]
            there = nodes[s][:, np.newaxis]
            sol = shots.moves(shots.system, x, there, lanes, begin, end, end[np.newaxis])
            nodes[s + 1] = np.where(sol.valid[0], sol.y[0].T, nodes[s])
    return np.clip(x, *shots.bounds(lanes))


def _ended(shots, x, progress):
    """What ``minimised`` finds, for as many lanes at a time as fit the memory."""
    m = x.shape[1]
    rows = shots.data[..., 0].size * (1 + shots.both.places.shape[1])
    block = m if shots.common else max(1, MOST_NUMBERS // (rows + shots.size**2))
    parts = []
    with Reporter(progress, m, "fit") as report:
        for first in range(0, max(m, 1), block):
            lanes = np.arange(first, min(first + block, m))
            parts.append(_of_block(shots, x[:, lanes], lanes))
            if report is not None:
                report(min(first + block, m))
    return tuple(np.concatenate(whole, axis=-1) for whole in zip(*parts))


def _of_block(shots, x, lanes):
    """The same of some lanes; in multiple shooting with growing weights until the gaps close."""
    if shots.loss != "linear":  # which is flat far from the data: squares lead there
        loss, shots.loss = shots.loss, "linear"
        x, shots.loss = _of_block(shots, x, lanes)[0], loss
    if shots.segments == 1:
        return minimised(shots, x, lanes)
    found: Any = None
    rounds, left = np.zeros(len(lanes), int), np.arange(len(lanes))
    shots.gaps(x, lanes)
    for shots.weight in FIRST * TIMES ** np.arange(STAGES):
        part = minimised(shots, x[:, left], lanes[left])
        found = found or part
        for whole, new in zip(found, part):
            whole[..., left] = new
        rounds[left] += part[-1]
        x[:, left] = part[0]
        gap = shots.gaps(part[0], lanes[left])
        left = left[shots.pool((gap > CLOSED) & np.isfinite(part[1]), most)]
        if not left.size:
            break
    found[3][left] = NOT_CLOSED
    return *found[:-1], rounds
