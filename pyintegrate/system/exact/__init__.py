"""Closed-form solutions of the built-in systems, one module a system, imported when asked for.

A module defines those of five functions that its system has:

``exact(t, y0, t0, **parameters) -> tuple of ndarray``
    The components at the times `t` (leading axis time, broadcasting against the batch) of the
    motion through `y0`, a tuple of components of the batch shape, at `t0`.
``phase(y, t, **parameters) -> ndarray``
    An angle in radians that grows along the motion, on any branch.
``exact_phase(t, y0, t0, **parameters) -> ndarray``
    The phase of the exact motion, where it costs less than ``phase`` of ``exact``.
``phase_is_uniform(**parameters) -> bool``
    Whether the phase of every exact motion grows by 2 pi / ``period``, like a straight line.
``period(y0, **parameters) -> ndarray``
    The period of the motion through `y0`, inf or nan where it does not repeat.

Parameters are keywords, named like the system's, and broadcast against the batch. Whatever the
types that come, the arithmetic is float64; where there is no solution the result is nan, silently.
"""
