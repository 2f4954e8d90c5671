"""Events that begin after a time, and words of other packages."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi


def swing(events, x=1.0, dt=0.1):
    return pi.integrate(pi.systems.oscillator, x, 0.0, dt=dt, n_steps=700, events=events,
                        save="final", method="dop853")  # fmt: skip


@pytest.mark.parametrize("quantity", ["x", lambda t, x, v: x, lambda t, x, v: x < 0])
def test_nothing_is_an_event_before_a_time(quantity):
    after = np.array([0.0, 10.0, 30.0])
    late = pi.event(quantity, keep=40, after=after)
    sol = swing({"late": late, "all": pi.event(quantity, keep=40)}, x=np.ones(3))
    for lane in range(3):
        times = sol.events["all"].t[lane]
        late = sol.events["late"].t[lane]
        # Looked at from the first step on that is not before.
        assert same_bits(late[: sol.events["late"].count[lane]],
                         times[times > after[lane]])  # fmt: skip
    backwards = swing({"e": pi.event("x", after=-10.0)}, dt=-0.1)
    assert abs(backwards.events["e"].t[0] + 3.5 * np.pi) < 1e-12
    with pytest.raises(ValueError, match="after of event 'e'"):
        swing({"e": pi.event("x", after=[1.0, 2.0, 3.0])}, x=[1.0, 1.0])


def test_words_of_others_are_answered():
    with pytest.raises(TypeError, match="stop=True ends the trajectory"):
        pi.event("x", terminal=True)
    with pytest.raises(AttributeError, match=r"it is pi\.watch\.maximum"):
        pi.watch.max  # noqa: B018


@pytest.mark.parametrize("cut", range(1, 7))
def test_what_begins_later_changes_no_other_event_across_a_cut(cut):
    # Backwards, near the end of the motion: a step back from step n is far from step n - 1.
    events = {
        "z": pi.event(lambda t, y: y[2] - 0.1 * np.cos(4 * t), keep=9),
        "late": pi.event("x", after=-9.0),
    }
    options = {"dt": -0.0948, "method": "rk4", "events": events, "on_failure": "ignore"}
    whole = pi.integrate(pi.systems.lorenz, [0.8576, 0.9194, 1.0376], n_steps=7, **options)
    part = pi.integrate(pi.systems.lorenz, [0.8576, 0.9194, 1.0376], n_steps=cut, **options)
    rest = part.resume(n_steps=7 - cut)
    assert same_bits(rest.events["z"].t, whole.events["z"].t)
    assert rest.events["z"].count == whole.events["z"].count


@pytest.mark.parametrize("after", [0.75, 1.0])
def test_a_pair_in_the_first_step_that_counts_is_found(after):
    """There is no value before it that could tell that there may be one."""
    pushed = pi.acceleration(lambda t, x, v: 2 + 0 * x, dof=1)
    for middle in np.linspace(1.1, 1.4, 7):
        pair = {"pair": pi.event("x", keep=2, after=after)}
        x0, v0 = middle**2 - 0.08**2, -2 * middle
        sol = pi.integrate(pushed, x0, v0, dt=0.5, n_steps=8, events=pair)
        assert sol.events["pair"].count == 2
        assert abs(sol.events["pair"].t - middle - [-0.08, 0.08]).max() < 1e-12
