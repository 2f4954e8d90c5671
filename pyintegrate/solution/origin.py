"""Where a motion began that is integrated in parts: every part measures its errors from there."""

import weakref


class Origin:
    """The first state of a resumed run, and the phase drift of the parts before.

    Attributes
    ----------
    state : ndarray, shape (dim, lanes or more)
    step : int
        Its index.
    ahead : ndarray, shape (*batch), or None
        The phase drift at the end of the part before. Its whole turns cannot be seen in the later
        states; they are counted when they are needed, or when saved, while that part is alive.
    """

    def __init__(self, state, step, earlier=None, ahead=None):
        self.state, self.step, self._ahead = state, step, ahead
        self._earlier = None if earlier is None else weakref.ref(earlier)

    @property
    def ahead(self):
        earlier = self._earlier and self._earlier()
        if self._ahead is None and earlier is not None:
            self._ahead = drift_at_end(earlier)
        return self._ahead

    def __reduce__(self):
        return Origin, (self.state, self.step, None, self.ahead)


def drift_at_end(solution):
    """The phase drift at the end of a solution, (*batch), or None."""
    from ..analysis.phase import drift_at_end

    return drift_at_end(solution)


def origin_of(problem):
    """Where the motion of a Problem began: in its own first state, unless it continues another.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> further = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=10).resume(n_steps=5)
    >>> origin_of(further._problem).step, further.origin.tolist(), int(further.steps[0])
    (0, [1.0, 0.0], 10)
    """
    if problem.origin is not None:
        return problem.origin
    return Origin(problem.initial[: problem.system.dim], problem.first)
