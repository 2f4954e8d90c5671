"""Nystrom pairs, for x'' = a(t, x): their steps, their estimates, and what they refuse."""

import numpy as np
import pytest
from conftest import same_bits
from reference import nystrom

import pyintegrate as pi

PAIRS = [name for name, m in pi.methods.items() if m.embedded and m.family == "nystrom"]
pairs = pytest.mark.parametrize("method", PAIRS)
E = np.linspace(0.0, 0.9, 21)
ORBITS = np.stack([1 - E, 0 * E, 0 * E, np.sqrt((1 + E) / (1 - E))], axis=-1)
PERIOD = 2 * np.pi
TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def orbits(method, **options):
    return pi.solve(
        pi.systems.kepler, ORBITS, **{"t_end": PERIOD, "method": method, **TIGHT, **options}
    )


def test_there_are_three():
    assert [pi.methods[name].order for name in PAIRS] == [6, 8, 12]


# ---- one step ------------------------------------------------------------------------------------
START, H = np.array([0.7, -0.2, 0.3, 1.1]), 0.8


def one_step(method, **weights):
    """From START by H, with the weights of the method or with others."""
    numbers = pi.methods[method].coefficients | weights
    return nystrom.integrate(pi.systems.kepler, START, 0.0, H, 1, **numbers)


@pairs
def test_a_step_is_that_of_the_method(method):
    sol = pi.solve(pi.systems.kepler, START, t_end=H, first_step=H, rtol=1, atol=1, method=method)
    assert sol.steps_taken == 1
    # The same sums in another order: some ulps of weights of up to ten.
    assert sol.final == pytest.approx(one_step(method), rel=1e-13)


@pairs
@pytest.mark.parametrize("which", ["positions", "velocities"])
def test_the_estimate_is_the_difference_of_its_weights(method, which):
    """An error of just less than the tolerance is accepted, and of just more is not."""
    weights = {name: pi.methods[method].embedded[name] for name in ("b", "velocity")}
    count = slice(0, 2) if which == "positions" else slice(2, 4)
    error = (one_step(method) - one_step(method, **weights))[count]
    size = np.sqrt(np.sum(error**2) / 4)  # the mean square of four components
    for factor, rejected in ((0.98, True), (1.02, False)):
        atol = np.full(4, 1e9)  # of what does not count
        atol[count] = factor * size
        sol = pi.solve(pi.systems.kepler, START, t_end=H, first_step=H, rtol=3e-14, method=method,
                       atol=atol, max_steps=1, on_failure="ignore")  # fmt: skip
        assert (sol.rejected == 1) == rejected


# ---- runs ----------------------------------------------------------------------------------------


@pairs
def test_orbits_close(method):
    """As in test_accuracy. The last stage of the two shorter ones is the first of the next step."""
    sol = orbits(method)
    assert abs(sol.final - ORBITS).max() < 1e-7
    each = {6: 5, 8: 8, 12: 17}[pi.methods[method].order]
    assert same_bits(sol.evaluations, 2 + each * (sol.steps_taken + sol.rejected))


def test_order_twelve_needs_three_quarters_of_the_evaluations_of_order_nine():
    """To a smaller error; as for each of the tolerances that docs/tolerance.md tells of."""
    high, other = orbits("dormand_prince_rkn1210"), orbits("verner98")
    assert abs(high.final - ORBITS).max() < abs(other.final - ORBITS).max()
    assert high.evaluations.sum() < 0.75 * other.evaluations.sum()


@pairs
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_order_split_and_workers_change_no_bit(method, dtype):
    run = {"rtol": 2e-5, "atol": 1e-6, "dtype": dtype, "times": np.linspace(0.0, PERIOD, 30)}
    whole = orbits(method, **run)
    assert same_bits(whole.y, orbits(method, workers=3, **run).y)
    order = np.random.default_rng(0).permutation(len(ORBITS))
    for part in (order, slice(0, 1), slice(3, 12)):
        some = pi.solve(pi.systems.kepler, ORBITS[part], t_end=PERIOD, method=method, **run)
        assert same_bits(whole.y[:, part], some.y)
        assert same_bits(whole.steps_taken[part], some.steps_taken)


@pairs
def test_neighbours_that_fail_change_no_bit(method):
    mixed = np.repeat(ORBITS, 2, axis=0)
    mixed[1::2] = [[np.nan, 0, 0, 1], [1e-300, 0, 0, 0], [1.0, 0, 0, 0]] * 7
    run = {"t_end": PERIOD, "method": method, "max_steps": 3000, "on_failure": "ignore", **TIGHT}
    sol = pi.solve(pi.systems.kepler, mixed, **run)
    assert same_bits(sol.final[::2], orbits(method).final)
    assert sol.status[1::2].all()


@pairs
def test_between_the_steps_and_on_the_way_back(method):
    """`at` and `times` are of the same steps; errors add up as above."""
    times = np.linspace(0.0, PERIOD, 301)
    steps, saved = orbits(method, save="all"), orbits(method, times=times)
    assert abs(saved.error()).max() < 1e-7
    assert same_bits(steps.at(times), saved.y)
    assert same_bits(saved.final, steps.final)
    back = pi.solve(pi.systems.kepler, saved.final, t0=PERIOD, t_end=0.0, method=method, **TIGHT)
    assert abs(back.final - ORBITS).max() < 1e-6


@pairs
def test_it_resumes_and_meets_events_and_is_kept(method, tmp_path):
    events = {"turn": pi.event("y", direction=-1, keep=4), "stop": pi.event("vy", stop=7)}
    whole = orbits(method, t_end=9.0, events=events, watch="energy_drift")
    first = orbits(method, t_end=4.0, events=events, watch="energy_drift")
    first.save(tmp_path / "run.npz")
    loaded = pi.load(tmp_path / "run.npz")
    assert loaded.method is pi.methods[method]
    assert loaded.digest() == first.digest()
    both = first.resume(t_end=9.0)
    assert same_bits(both.final, whole.final)
    assert same_bits(both.events["turn"].count, whole.events["turn"].count)
    # Where y' < 0 and y = 0 an orbit is half way round.
    assert abs(whole.events["turn"].t[:, 0] - PERIOD / 2).max() < 1e-7
    assert np.max(whole.watched["energy_drift.largest"]) < 1e-9


@pairs
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_bits_in_registers_and_on_rows(method, dtype):
    """x'' = -x has no rounding of its own: built in it goes in registers, by byte code on rows."""
    on_rows = pi.acceleration(dof=1)(lambda t, x, v: -x)
    x0, times = np.linspace(0.5, 1.5, 37).astype(dtype), np.linspace(0.0, 9.0, 40)
    run = {"t_end": 9.0, "times": times, "rtol": 2e-5, "method": method, "dtype": dtype}
    one, other = (
        pi.solve(system, x0, 0 * x0, **run) for system in (pi.systems.oscillator, on_rows)
    )
    assert same_bits(one.y, other.y)
    assert same_bits(one.steps_taken, other.steps_taken)


@pairs
def test_traced_forces_and_tangents_have_the_same_steps(method):
    """In registers, by byte code, and with the derivatives by the start carried along."""
    traced = pi.acceleration(dof=2)(lambda t, x, v: -x / np.sqrt(x @ x) ** 3)
    own = pi.solve(traced, ORBITS[:, :2], ORBITS[:, 2:], t_end=PERIOD, method=method, **TIGHT)
    built_in = orbits(method)
    assert abs(own.final - built_in.final).max() < 1e-7
    few = slice(0, 5)
    sol = pi.solve(pi.systems.kepler, ORBITS[few], t_end=1.0, method=method, sensitivity="x0",
                   **TIGHT)  # fmt: skip
    shifted = [pi.solve(pi.systems.kepler, ORBITS[few] + e, t_end=1.0, method=method, **TIGHT).final
               for e in 1e-5 * np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]])]  # fmt: skip
    difference = (shifted[0] - shifted[1]) / 2e-5
    # The second derivatives times the square of 1e-5, and 1e-11 of each run by 2e-5.
    assert abs(sol.sensitivity["x0"][-1][..., 0] - difference).max() < 1e-4


# ---- refusals ------------------------------------------------------------------------------------


@pairs
@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("lorenz", r"second_order.*first_order; use one that requires 'any'"),
        ("spring", r"is for x'' = a\(t, x\).*sees the velocity"),
        ("momentum_spring", r"second_order.*separable"),
    ],
)
def test_other_systems_are_refused_in_words(method, system, words):
    for run in ({"t_end": 1.0}, {"dt": 0.1, "n_steps": 3}):
        verb = pi.solve if "t_end" in run else pi.integrate
        with pytest.raises(ValueError, match=f"{method}.*{words}"):
            verb(pi.systems[system], method=method, **run)


@pytest.mark.parametrize("system", ["lorenz", "spring", "momentum_spring"])
def test_the_core_refuses_them_as_well(system, monkeypatch):
    monkeypatch.setattr("pyintegrate.adaptive.arguments.check_structure", lambda *both: None)
    with pytest.raises(ValueError, match=r"needs x'' = a\(t, x\)"):
        pi.solve(pi.systems[system], t_end=1.0, method=PAIRS[0])


def test_too_many_steps_are_no_stiffness():
    sol = pi.solve(pi.systems.kepler, t_end=1e3, method=PAIRS[0], max_steps=20, on_failure="ignore")
    assert "does not depend on the velocity" in sol.failures()


def test_those_without_an_estimate_are_refused_with_those_that_have_one():
    with pytest.raises(ValueError, match=f"on x'' = a\\(t, x\\) {', '.join(PAIRS)};"):
        pi.solve(pi.systems.kepler, t_end=1.0, method="runge_kutta_nystrom5")
