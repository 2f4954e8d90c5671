"""method="auto": an explicit pair, and Radau IIA for what turns out to be stiff, trajectory by
trajectory."""

import pickle

import numpy as np
import pytest
from conftest import same_bits
from test_stiff import ROBERTSON_END, robertson

import pyintegrate as pi

MU = np.geomspace(0.1, 1000.0, 24)
NAMES = ("final", "status", "steps_taken", "rejected", "last_step", "stiff_since", "evaluations")


def van_der_pol(mu=MU, **options):
    run = {"t_end": 300.0, "rtol": 2e-5, "atol": 1e-6, "on_failure": "raise"}
    return pi.solve(pi.systems.van_der_pol(mu=mu), **{**run, **options})


def test_a_stiff_problem_needs_no_method():
    sol = pi.solve(robertson(k1=0.04), [1.0, 0.0, 0.0], t_end=1e11, rtol=1e-7,
                   atol=[1e-12, 1e-17, 1e-10], save="final")  # fmt: skip
    assert sol.status == pi.Status.OK
    assert 0 < sol.stiff_since < 10
    assert f"by {sol.method.name} and radau_iia5 to rtol" in repr(sol)
    assert sol.steps_taken < 3000
    # A trajectory that decays by eight digits.
    assert np.allclose(sol.final, ROBERTSON_END, rtol=1e-4, atol=0)


def test_some_of_a_batch_are_stiff():
    sol = van_der_pol()
    stiff = np.isfinite(sol.stiff_since)
    assert not stiff[:5].any()
    assert stiff[-8:].all()
    assert sol.method.name == "verner87"
    exact = van_der_pol(rtol=1e-9, atol=1e-9, method="radau_iia5").final
    # The period is that of a relaxation: what a step is allowed, times some hundred steps.
    assert abs(sol.final - exact).max() < 0.01
    explicit = van_der_pol(method="verner87")
    assert sol.evaluations[-1] < explicit.evaluations[-1] / 100
    never = ~np.isfinite(sol.stiff_spans[:, 0]).any(axis=0)
    assert never[:5].all()
    for name in NAMES:
        assert same_bits(getattr(sol, name)[never], getattr(explicit, name)[never])


@pytest.mark.parametrize("degree", [9, 21, 31])
def test_a_polynomial_of_high_degree_is_a_wall(degree):
    """Where the 8(7) pair's estimate misses errors of 1e14: "auto" takes it up to degree 9."""
    wall = pi.acceleration()(lambda t, x, v: -(x**degree) - 0.1 * v + np.cos(t))
    run = {"x0": np.linspace(-1.2, 1.2, 41)[:, np.newaxis], "v0": np.linspace(-2, 2, 41)}
    sol = pi.solve(wall, **run, t_end=6.0, rtol=1e-4, atol=1e-4)
    exact = pi.solve(wall, **run, t_end=6.0, rtol=1e-10, atol=1e-10, method="dop853").final
    assert abs(sol.final - exact).max() < 0.2
    assert (sol.method.name == "verner87") == (degree == 9)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-10])
@pytest.mark.parametrize("name", ["kepler", "lorenz", "pendulum", "lotka_volterra"])
def test_what_is_not_stiff_keeps_its_bits(name, rtol):
    run = {"t_end": 1500.0, "rtol": rtol, "atol": rtol, "save": "final"}
    sol = pi.solve(pi.systems[name], **run)
    assert sol.steps_taken > 1000
    assert np.isnan(sol.stiff_since)
    named = pi.solve(pi.systems[name], method=sol.method, **run)
    assert same_bits(sol.final, named.final)


def test_a_motion_without_friction_that_is_unstable_is_not_stiff():
    """x'' = 25 sin x, upright: rates of +5 and -5, at steps of up to 1."""
    falls = pi.acceleration(lambda t, x, v: 25 * np.sin(x))
    sol = pi.solve(falls, [1e-9], [0.0], t_end=3000.0, rtol=1e-3, atol=1e-3, save="final")
    assert sol.steps_taken > 2000
    assert np.isnan(sol.stiff_since)
    # As equations of first order, upright throughout: for a pair that leaves what decays so fast.
    falls = pi.rhs(dim=2)(lambda t, y: (y[1], 25 * np.sin(y[0])))
    upright = pi.solve(falls, [0.0, 0.0], t_end=4000.0, max_step=2.0, save="final")
    assert upright.steps_taken >= 2000
    assert np.isnan(upright.stiff_since)


def test_order_split_and_workers_change_no_bit():
    whole = van_der_pol()
    order = np.random.default_rng(0).permutation(len(MU))
    for i in (order, slice(3, 4), slice(15, 22)):
        part = van_der_pol(MU[i])
        for name in NAMES:
            assert same_bits(getattr(whole, name)[i], getattr(part, name)), name
    threads = van_der_pol(workers=3)
    for name in NAMES:
        assert same_bits(getattr(whole, name), getattr(threads, name)), name


def test_all_steps_and_states_at_times_go_on_where_the_pair_ended():
    end, mu = 300.0, MU[::6]
    whole = van_der_pol(mu, save="all")
    times = np.linspace(0.0, end, 400)
    saved = van_der_pol(mu, times=times)
    assert same_bits(whole.final, saved.final)
    assert saved.valid.all()
    assert same_bits(saved.y[-1], saved.final)
    exact = van_der_pol(mu, times=times, rtol=1e-10, atol=1e-10)
    calm = abs(exact.y[..., 1]) < 2  # elsewhere a fall is early or late
    assert abs(saved.y - exact.y)[calm].max() < 0.1  # as much as times of falls differ
    for i, n in enumerate(whole.counts):
        alone = van_der_pol(mu[i], save="all")
        assert same_bits(whole.y[:n, i], alone.y)
        assert same_bits(whole.t[:n, i], alone.t)
        assert n == whole.steps_taken[i] + 1
        assert np.all(np.diff(whole.t[:n, i]) > 0)
        assert whole.t[n - 1, i] == end
        assert np.isnan(whole.t[n:, i]).all()
    stiff = np.flatnonzero(np.isfinite(whole.stiff_since))
    assert all(whole.stiff_since[i] in whole.t[:, i] for i in stiff)


def test_watches_and_events_go_on():
    seen = {
        "watch": {"high": pi.watch.maximum("x"), "mean": pi.watch.mean("x")},
        "events": {"x": pi.event("x", keep=500)},
    }
    sol, radau = van_der_pol(**seen), van_der_pol(**seen, method="radau_iia5")
    assert same_bits(sol.final, van_der_pol(events={"x": pi.event("x")}).final)
    assert np.array_equal(sol.watched["mean.count"], sol.steps_taken + 1)
    assert sol.watched["high"] == pytest.approx(radau.watched["high"], rel=1e-2)
    assert np.array_equal(sol.events["x"].count, radau.events["x"].count)
    # Times of falls, each of which is late by what all steps before were allowed.
    first = sol.events["x"].t[:3], radau.events["x"].t[:3]
    assert np.nanmax(abs(first[0] - first[1])) < 0.1


def test_a_resumed_run_knows_what_was_stiff():
    first = van_der_pol(t_end=150.0)
    second = first.resume(t_end=300.0)
    stiff = np.isfinite(first.stiff_since)
    assert np.all(second.stiff_since[stiff] < 150.0)
    assert same_bits(second.final, van_der_pol().final)
    assert same_bits(second.evaluations, van_der_pol().evaluations)


def test_files_and_pickles_tell_what_was_stiff(tmp_path):
    sol = van_der_pol(MU[::6])
    sol.save(tmp_path / "run.npz")
    for copy in (pi.load(tmp_path / "run.npz"), pickle.loads(pickle.dumps(sol))):
        for name in NAMES:
            assert same_bits(getattr(sol, name), getattr(copy, name))
        assert same_bits(sol.resume(t_end=310.0).final, copy.resume(t_end=310.0).final)


def test_all_tries_count():
    sol = van_der_pol(1000.0, t_end=2000.0, max_steps=200, on_failure="ignore")
    assert np.isfinite(sol.stiff_since)
    assert sol.status == pi.Status.TOO_MANY_STEPS
    assert sol.steps_taken + sol.rejected == 200
    assert "implicit method" in sol.failures()


def test_single_precision():
    sol = van_der_pol(MU.astype(np.float32), rtol=1e-4, dtype=np.float32, t_end=100.0)
    assert sol.y.dtype == np.float32
    assert np.isfinite(sol.stiff_since[-1])
    exact = van_der_pol(t_end=100.0, rtol=1e-9, atol=1e-9)
    assert abs(sol.final - exact.final)[-4:].max() < 0.05


def test_labelled_arrays_tell_what_was_stiff():
    pytest.importorskip("xarray")
    sol = van_der_pol(MU[::6])
    assert same_bits(sol.to_xarray()["stiff_since"].values, sol.stiff_since)


def test_sensitivities_go_the_same_way():
    """The derivative by mu of a stiff motion, beside a quotient of tight runs."""
    run = {"t_end": 30.0, "rtol": 1e-6, "atol": 1e-6}
    system, h = pi.systems.van_der_pol, 1e-3
    sol = pi.solve(system(mu=300.0), [2.0, 0.0], sensitivity=("mu",), save="final", **run)
    plain = pi.solve(system(mu=300.0), [2.0, 0.0], save="final", **run)
    assert np.isfinite(plain.stiff_since)
    assert sol.stiff_since == pytest.approx(float(plain.stiff_since), rel=1e-3)
    tight = {"t_end": 30.0, "rtol": 1e-11, "atol": 1e-13, "method": "radau_iia5", "save": "final"}
    up, down = (pi.solve(system(mu=300.0 + s), [2.0, 0.0], **tight).final for s in (h, -h))
    found = np.ravel(sol.sensitivity["mu"])
    # Of x it is 7e-5, and the quotient's roundings are 1e-9.
    assert np.allclose(found, ((up - down) / (2 * h)).ravel(), rtol=1e-3, atol=1e-7)


def test_progress_counts_those_that_have_arrived():
    told = []

    def stop(done, total):
        told.append(done)
        raise KeyboardInterrupt

    weather = pi.systems.lorenz(rho=np.linspace(0, 28, 2000))  # most of them become stiff
    with pytest.raises(KeyboardInterrupt) as stopped:
        pi.solve(weather, t_end=5000.0, rtol=1e-10, save="final", progress=stop)
    assert np.count_nonzero(stopped.value.solution.status != pi.Status.CANCELLED) >= told[0]


# ---- each trajectory has the pair that its own tolerance asks for --------------------------------
MIXED = np.array([1e-6, 1e-9, 1e-4, 1e-12, 1e-7])
SYSTEMS = {
    "lorenz": (pi.systems.lorenz, [[1.0, 1.0, 1.0]] * 5),
    "x'' = a(x)": (pi.systems.pendulum, [[1.0, 0.1]] * 5),
    "partly stiff": (pi.systems.van_der_pol(mu=[1.0, 300.0, 300.0, 1.0, 100.0]), [[2.0, 0.0]] * 5),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_mixed_batch_has_the_bits_of_each_alone(name, tmp_path):
    system, start = SYSTEMS[name]
    run = {"t_end": 20.0, "atol": 1e-9, "save": "all"}
    sol = pi.solve(system, start, rtol=MIXED, **run)
    threads = pi.solve(system, start, rtol=MIXED, workers=3, **run)
    sol.save(tmp_path / "run.npz")
    loaded = pi.load(tmp_path / "run.npz")
    further = sol.resume(t_end=25.0)
    assert same_bits(further.final, loaded.resume(t_end=25.0).final)
    at = [0.3, 7.0, 20.0]
    for i, rtol in enumerate(MIXED):
        one = {k: v[i] if np.ndim(v) else v for k, v in system.params.items()}
        alone = pi.solve(system(**one), start[i], rtol=rtol, **run)
        assert alone.method.name in ("verner87", "verner98", "dormand_prince_rkn86",
                                     "dormand_prince_rkn1210")  # fmt: skip
        for batch in (sol, threads, loaded):
            n = batch.counts[i]
            assert same_bits(batch.y[:n, i], alone.y)
            assert batch.evaluations[i] == alone.evaluations
            assert same_bits(batch.at(at)[:, i], alone.at(at))
        assert same_bits(further.final[i], alone.resume(t_end=25.0).final)


@pytest.mark.filterwarnings("ignore:rtol = 1e-12 is below:UserWarning")
def test_the_pair_is_that_of_the_tolerance_that_single_precision_allows(tmp_path):
    """A file has the raised tolerance alone, and goes on with the pair of it: the same bits."""
    for system, start in (SYSTEMS["lorenz"], SYSTEMS["x'' = a(x)"]):
        sol = pi.solve(system, start, rtol=MIXED, t_end=2.0, dtype=np.float32)
        sol.save(tmp_path / "run.npz")
        loaded = pi.load(tmp_path / "run.npz")
        assert same_bits(loaded.evaluations, sol.evaluations)
        assert same_bits(loaded.resume(t_end=5.0).final, sol.resume(t_end=5.0).final)
        again = pi.solve(system, start, rtol=sol.rtol, t_end=2.0, dtype=np.float32)
        assert same_bits(again.final, sol.final)


def test_a_mixed_batch_counts_what_has_arrived():
    """Progress never goes back, and ends with all."""
    told = []
    sol = pi.solve(pi.systems.lorenz, np.ones((40, 3)), t_end=5.0, rtol=np.tile([1e-6, 1e-9], 20),
                   breaks=[1.0, 2.0], progress=lambda done, total: told.append(done))  # fmt: skip
    assert not sol.status.any()
    assert told == sorted(told)
    assert told[-1] == 40


def test_a_mixed_batch_with_tangents_has_the_bits_of_each_alone():
    options = {"t_end": 5.0, "sensitivity": "x0"}
    both = pi.solve(pi.systems.lorenz, np.ones((2, 3)), rtol=[1e-6, 1e-9], **options)
    for i, rtol in enumerate((1e-6, 1e-9)):
        alone = pi.solve(pi.systems.lorenz, np.ones((1, 3)), rtol=rtol, **options)
        assert same_bits(both.final[i], alone.final[0])
        assert same_bits(both.sensitivity["x0"][:, i], alone.sensitivity["x0"][:, 0])
