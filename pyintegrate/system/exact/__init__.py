"""Closed-form solutions of the built-in systems, one module per system, imported when needed.

A module defines those of these six functions that its system has:

``exact(t, y0, t0, **parameters) -> tuple of ndarray``
    The components at the times `t` (leading axis time, broadcasting against the batch) of the
    motion through `y0`, a tuple of components of the batch shape, at `t0`.
``phase(y, t, **parameters) -> ndarray``
    An angle in radians that grows along the motion, on any branch.
``exact_phase(t, y0, t0, **parameters) -> ndarray``
    The phase of the exact motion, if it costs less than ``phase`` of ``exact``.
``phase_is_uniform(**parameters) -> bool``
    Whether the phase of every exact motion grows linearly, by 2 pi / ``period``.
``period(y0, **parameters) -> ndarray``
    The period of the motion through `y0`, inf or nan if it does not repeat.
``jumps(**parameters) -> ndarray``
    The times at which the force jumps, (n, *batch), where steps to a tolerance end.

Parameters are keywords, named like the system's, and broadcast against the batch. Whatever the
types of the arguments, the arithmetic is float64; without a solution the result is nan, silently.
"""
