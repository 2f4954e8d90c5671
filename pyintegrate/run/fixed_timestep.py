"""A game loop: frames of any length, steps of fixed length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..values.checks import integer
from ..values.keywords import explains_keywords
from ..values.types import Callable, Floats
from .stepper import Snapshot, Stepper


@dataclass(frozen=True, eq=False, repr=False)
class LoopSnapshot:
    """A FixedTimestep and its Stepper between two frames; made by ``FixedTimestep.snapshot``."""

    stepper: Snapshot
    before: np.ndarray
    rest: float
    dropped: int


class FixedTimestep:
    """Accumulate frame times, advance the simulation by fixed steps, blend states for drawing.

    Parameters
    ----------
    stepper : Stepper
        With one positive `dt` for all.
    max_steps : int
        The most steps in a frame. Time beyond them is dropped and counted: otherwise a
        simulation that is slower than the clock would fall ever further behind.
    step : callable, optional
        Called for each step in place of ``stepper.step``, for what is done within one:
        ``stepper.kick()``, contacts, ``stepper.drift()``.

    Attributes
    ----------
    stepper : Stepper
    dropped : int
        Steps that were dropped.

    References
    ----------
    Fiedler (2004), Fix your timestep.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=0.25))
    >>> round(loop.advance(0.6), 6), loop.stepper.n
    (0.4, 2)
    >>> loop.blend(0.4).shape
    (2,)
    """

    @explains_keywords()
    def __init__(
        self, stepper: Stepper, max_steps: int = 8, step: Callable[[], object] | None = None
    ) -> None:
        if not isinstance(stepper, Stepper):
            got = type(stepper).__name__
            raise TypeError(f"stepper must be a Stepper, got {got}: pi.Stepper(system, dt=...)")
        if not isinstance(stepper.dt, float) or stepper.dt <= 0:
            raise ValueError(f"stepper must have one positive dt, got {stepper.dt}")
        if not (step is None or callable(step)):
            raise TypeError(f"step must be a function without arguments, got {step!r}")
        self.stepper, self.max_steps = stepper, integer("max_steps", max_steps, 1, 1 << 63)
        self._step = step
        self.dropped = 0
        self._rest = 0.0  # time that has passed since the last step
        self._keep(stepper.y)
        self._restored = stepper._restored

    def _keep(self, state):
        """The state before the last step, from which pictures begin."""
        self._kept, self._resets = state.copy(), self.stepper._resets

    @property
    def _before(self):
        """The kept state; of a trajectory that was reset the new one, so that nothing moves."""
        reset = (self._resets != self.stepper._resets)[..., np.newaxis]
        return np.where(reset, self.stepper.y, self._kept)

    def snapshot(self) -> LoopSnapshot:
        """The clock, the state before the last step, and the Stepper's snapshot, for a replay.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=0.25))
        >>> alpha = loop.advance(0.625)
        >>> then = loop.snapshot()
        >>> loop.advance(1.0) == 0.5, loop.stepper.n
        (True, 6)
        >>> loop.restore(then)
        >>> loop.stepper.n
        2
        """
        self._check()
        return LoopSnapshot(self.stepper.snapshot(), self._before, self._rest, self.dropped)

    def restore(self, snapshot: LoopSnapshot) -> None:
        """Return to a snapshot of this loop or of an equal one; ValueError for another.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=0.25))
        >>> start = loop.snapshot()
        >>> alpha = loop.advance(0.6)
        >>> loop.restore(start)
        >>> loop.stepper.n, loop.blend(0.0).tolist() == loop.blend(1.0).tolist()
        (0, True)
        """
        if not isinstance(snapshot, LoopSnapshot):
            cure = ": restore what loop.snapshot() returned"
            raise TypeError(f"snapshot is a {type(snapshot).__name__}{cure}")
        self.stepper.restore(snapshot.stepper)
        self._keep(snapshot.before)
        self._rest = snapshot.rest
        self.dropped, self._restored = snapshot.dropped, self.stepper._restored

    def _check(self):
        """Refuse a Stepper that has gone back alone: the clock and the picture have not."""
        if self.stepper._restored != self._restored:
            raise ValueError(
                "stepper was restored without its loop, whose clock is of another time: take"
                " loop.snapshot() and loop.restore(...) instead, or make a new FixedTimestep"
            )

    def __repr__(self):
        return (
            f"<FixedTimestep of {self.stepper!r}: at most {self.max_steps} steps a frame,"
            f" {self.dropped} dropped>"
        )

    def advance(self, frame_time: float) -> float:
        """Take as many steps as the clock requires.

        Parameters
        ----------
        frame_time : float
            Time since the last frame, in the units of `dt`; not negative.

        Returns
        -------
        alpha : float
            How far the clock is past the last step, in steps: for ``blend``.

        Raises
        ------
        TypeError, ValueError
            A frame time that is not a number, negative, not finite, or beyond 2**53 steps.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=0.25))
        >>> loop.advance(0.625), loop.stepper.n
        (0.5, 2)
        """
        real = (int, float, np.integer, np.floating)
        if isinstance(frame_time, bool) or not isinstance(frame_time, real):
            raise TypeError(f"frame_time must be a number, got {frame_time!r}")
        dt = self.stepper.dt
        # Beyond 2**53 steps a double cannot count them.
        if not 0 <= frame_time <= dt * 2.0**53:
            raise ValueError(
                f"frame_time must be from 0 to 2**53 dt = {dt * 2.0**53:.6g}, got {frame_time}"
            )
        self._check()
        self._rest += float(frame_time)
        due = int(self._rest / dt + 1e-9)  # a frame of exactly n steps takes n
        self._rest = max(self._rest - due * dt, 0.0)
        steps = min(due, self.max_steps)
        self.dropped += due - steps
        if steps:
            self._take(steps - 1)
            self._keep(self.stepper.y)
            self._take(1)
        return min(self._rest / dt, 1.0)

    def _take(self, n):
        if self._step is None:
            self.stepper.step(n)
        else:
            for _ in range(n):
                self._step()

    def blend(self, alpha: float) -> Floats:
        """The state to draw: before + alpha (now - before), shape (*batch, dim).

        The quaternion of a rigid body is brought back to length 1.

        Parameters
        ----------
        alpha : float
            From ``advance``: 0 draws the state before the last step, 1 the last. A trajectory that
            was reset since that step is drawn where it begins.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, 1.0, 0.0, dt=0.25))
        >>> loop.blend(loop.advance(0.125)).tolist()
        [1.0, 0.0]
        """
        if not (isinstance(alpha, int | float | np.number) and 0 <= alpha <= 1):
            raise ValueError(f"alpha must be from 0 to 1, got {alpha!r}")
        self._check()
        before = self._before
        drawn = before + alpha * (self.stepper.y - before)
        if self.stepper.system.structure == "rigid_body":
            drawn[..., 3:7] /= np.linalg.norm(drawn[..., 3:7], axis=-1, keepdims=True)
        return drawn
