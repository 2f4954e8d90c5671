"""histogram and density of a run to a tolerance count at equal times of its polynomials."""

import numpy as np
import pytest

import pyintegrate as pi

X0 = np.random.default_rng(1).normal(size=(9, 3)) + [0, 0, 20]
RUN = {"t_end": 4.0, "rtol": 1e-7}
WATCH = {
    "x": pi.watch.histogram("x", 20, (-20, 20)),
    "late": pi.watch.histogram(lambda t, y: y[0] * y[1], 11, (-50, 100), samples=333, after=1.0),
    "image": pi.watch.density(("x", "z"), (30, 20), ((-20, 20), (0, 50)), samples=5001),
}


def states(samples):
    times = np.linspace(0, RUN["t_end"], samples)
    return times, pi.solve(pi.systems.lorenz, X0, **RUN, times=times).y


def test_they_are_numpys_histograms_of_these_states():
    sol = pi.solve(pi.systems.lorenz, X0, **RUN, watch=WATCH)
    t, y = states(1000)
    for i in range(len(X0)):
        assert (sol.watched["x"][i] == np.histogram(y[:, i, 0], 20, (-20, 20))[0]).all()
    t, y = states(333)
    for i in range(len(X0)):
        q = (y[:, i, 0] * y[:, i, 1])[t >= 1]
        assert (sol.watched["late"][i] == np.histogram(q, 11, (-50, 100))[0]).all()
    _, y = states(5001)
    image = np.histogram2d(y[..., 0].ravel(), y[..., 2].ravel(), (30, 20), ((-20, 20), (0, 50)))[0]
    assert (sol.watched["image"] == image).all()
    assert sol.watched["image"].dtype == sol.watched["x"].dtype == np.int64


def test_they_depend_on_no_neighbour_and_change_no_step():
    sol = pi.solve(pi.systems.lorenz, X0, **RUN, watch=WATCH, workers=2)
    turned = pi.solve(pi.systems.lorenz, X0[::-1], **RUN, watch=WATCH)
    assert (turned.watched["x"][::-1] == sol.watched["x"]).all()
    assert (turned.watched["image"] == sol.watched["image"]).all()
    assert (pi.solve(pi.systems.lorenz, X0, **RUN).final == sol.final).all()


def test_a_run_that_goes_on_counts_as_many_times_again():
    sol = pi.solve(
        pi.systems.oscillator, t_end=3.0, watch={"x": pi.watch.histogram("x", 4, (-2, 2))}
    )
    assert sol.resume(t_end=9.0).watched["x"].sum() == 1000 + 999  # the first was counted
    assert sol.watched["x"].sum() == 1000


def test_fixed_steps_count_steps():
    with pytest.raises(ValueError, match=r"watch\['x'\] has samples=: for pi.solve"):
        pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=5,
                     watch={"x": pi.watch.histogram("x", 4, (-2, 2), samples=10)})  # fmt: skip
    with pytest.raises(ValueError, match="samples must be"):
        pi.watch.density("x", 4, (-2, 2), samples=0)
