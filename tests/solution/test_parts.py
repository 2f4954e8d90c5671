"""A run in parts answers like one long run: every measure counts from where the motion began."""

import pickle

import numpy as np
import pytest

import pyintegrate as pi

EULER = "semi_implicit_euler"
MOTIONS = {
    "oscillator": lambda: pi.systems.oscillator(omega=np.array([1.0, 3.0])),
    "spring": lambda: pi.systems.spring(k=np.array([2.0, 15.0])),
    "pendulum": lambda: pi.systems.pendulum(length=np.array([1.0, 2.0])),
    "kepler": lambda: pi.systems.kepler,
}


def through_a_file(sol, folder):
    path = folder / "part.npz"
    sol.save(path)
    return pi.load(path)


def in_parts(system, n_steps, **options):
    """A long run and the same in three parts."""
    long = pi.integrate(system, n_steps=sum(n_steps), **options)
    parts = [pi.integrate(system, n_steps=n_steps[0], **options)]
    for n in n_steps[1:]:
        parts.append(parts[-1].resume(n_steps=n))
    return long, parts


@pytest.mark.parametrize("method", ["rk4", EULER, "adams_bashforth4", "stormer_verlet"])
@pytest.mark.parametrize("name", MOTIONS)
def test_measures_of_a_resumed_part_continue_those_before(name, method, tmp_path):
    system = MOTIONS[name]()
    if method == "stormer_verlet" and system.velocity_dependent:
        pytest.skip("not for forces that see the velocity")
    long, parts = in_parts(system, (100, 70, 50), dt=0.05, t0=3.0, method=method)
    last = parts[-1]
    drift = pi.analysis.phase_drift(long)
    for part in (last, through_a_file(last, tmp_path), pickle.loads(pickle.dumps(last))):
        assert np.array_equal(part.origin, long.initial)
        assert np.array_equal(part.initial, long.y[170])
        assert np.array_equal(part.energy_error(), long.energy_error()[170:])
        assert np.array_equal(part.error(), long.error()[170:])
        # Unwrapped from another row: a rounding of the angle, some 100 rad.
        assert pi.analysis.phase_drift(part) == pytest.approx(drift[170:], abs=1e-12)
    assert np.array_equal(pi.analysis.energy_drift(last).final, long.energy_error()[-1])


def test_turns_before_the_seam_are_counted(tmp_path):
    # Semi-implicit Euler turns by 2 arcsin(z/2) a step: 0.0427 rad too many, 15.4 in all.
    options = {"dt": 0.25, "method": EULER}
    long, parts = in_parts(pi.systems.oscillator(omega=15**0.5), (150, 110, 100), **options)
    drift = pi.analysis.phase_drift(long)
    assert drift[-1] > 15
    assert pi.analysis.phase_drift(parts[2]) == pytest.approx(drift[260:], abs=1e-11)
    assert pi.analysis.period_error(parts[2]) == pytest.approx(
        pi.analysis.period_error(long),
        rel=1e-2,  # the wobble over 15 periods
    )
    kept = through_a_file(parts[2], tmp_path), pickle.loads(pickle.dumps(parts[2]))
    del parts
    for part in kept:
        assert pi.analysis.phase_drift(part) == pytest.approx(drift[260:], abs=1e-11)


def test_without_the_part_before_its_turns_are_not_guessed():
    system = pi.systems.oscillator(omega=15**0.5)
    sol = pi.integrate(system, dt=0.25, n_steps=150, method=EULER).resume(n_steps=100)
    with pytest.warns(pi.RecordWarning, match=r"concatenate"):
        assert np.isnan(pi.analysis.phase_drift(sol)).all()
    accurate = pi.integrate(system, dt=0.01, n_steps=150).resume(n_steps=100)
    assert np.abs(pi.analysis.phase_drift(accurate)).max() < 1e-6  # 250 (z^5 / 120), z = 0.04


def test_a_part_that_was_written_without_an_origin_counts_from_itself(tmp_path):
    sol = pi.integrate(pi.systems.pendulum, dt=0.1, n_steps=10).resume(n_steps=5)
    sol._problem = sol._problem.changed(origin=None)  # as in files that do not say
    old = through_a_file(sol, tmp_path)
    assert np.array_equal(old.origin, old.initial)
    assert old.energy_error()[0] == 0
    assert np.array_equal(old.resume(n_steps=3).origin, old.initial)


# ---- joining -------------------------------------------------------------------------------------


def assert_same(joined, long):
    assert np.array_equal(joined.steps, long.steps)
    assert np.array_equal(joined.t, long.t)
    assert joined.y.tobytes() == long.y.tobytes()
    for name in ("initial", "final", "origin", "status", "failed_step", "valid"):
        assert np.array_equal(getattr(joined, name), getattr(long, name)), name
    assert joined.failures() == long.failures()
    assert (joined.n_steps, joined.evaluations, repr(joined)) == (
        long.n_steps,
        long.evaluations,
        repr(long),
    )


@pytest.mark.parametrize(
    "options", [{}, {"dtype": np.float32}, {"save": 10}, {"components": ["v"]}]
)
@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "adams_bashforth4", "gauss4"])
def test_joined_parts_are_one_long_run(method, options, tmp_path):
    system = pi.systems.spring(k=np.linspace(1, 20, 6).reshape(2, 3))
    long, parts = in_parts(system, (40, 30, 55), dt=0.1, method=method, **options)
    joined = pi.concatenate(*parts)
    assert_same(joined, long)
    further = long.resume(n_steps=20)
    for one in (joined, through_a_file(joined, tmp_path), pickle.loads(pickle.dumps(joined))):
        assert_same(one, long)
        assert_same(one.resume(n_steps=20), further)
    assert_same(pi.concatenate(joined, further), pi.concatenate(*parts, further))
    if "components" not in options:
        assert np.array_equal(pi.analysis.phase_drift(joined), pi.analysis.phase_drift(long))


def test_saves_that_no_interval_gives_are_kept(tmp_path):
    a = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=25, save=10)
    joined = pi.concatenate(a, a.resume(n_steps=15))
    every = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=40)
    for one in (joined, through_a_file(joined, tmp_path)):
        assert one.steps.tolist() == [0, 10, 20, 25, 35, 40]
        assert np.array_equal(one.y, every.y[one.steps])
        assert one.resume(n_steps=10).steps.tolist() == [40, 50]
    ends = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=25, save="final")
    joined = pi.concatenate(
        ends, ends.resume(n_steps=15), ends.resume(n_steps=15).resume(n_steps=0)
    )
    assert joined.steps.tolist() == [25, 40]
    assert np.array_equal(joined.y, every.y[[25, 40]])
    assert np.array_equal(joined.initial, every.initial)


def test_failures_are_those_of_one_long_run():
    # Explicit Euler multiplies the motion by |1 + 100i| a step: 1e308 is passed at step 154.
    system = pi.systems.oscillator(omega=[1.0, 1000.0, 800.0])
    options = {"dt": 0.1, "method": "explicit_euler", "on_failure": "ignore"}
    long, parts = in_parts(system, (100, 100, 100), **options)
    assert long.n_failed == 2
    assert_same(pi.concatenate(*parts), long)


def test_states_in_arrays_of_the_callers_are_joined_in_memory():
    long, _ = in_parts(pi.systems.pendulum, (10, 5), dt=0.1)
    first, second = np.empty((11, 2)), np.empty((6, 2))
    a = pi.integrate(pi.systems.pendulum, dt=0.1, n_steps=10, out=first)
    b = a.resume(n_steps=5, out=second)
    joined = pi.concatenate(a, b)
    first[...] = second[...] = 0
    assert_same(joined, long)


def run(n_steps=10, **options):
    return pi.integrate(pi.systems.pendulum, n_steps=n_steps, **({"dt": 0.1} | options))


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (lambda a: run(t0=1.0), "begins at step 0, not 10|t0"),
        (lambda a: run(), "begins at step 0, not 10"),
        (lambda a: a.resume(n_steps=1).resume(n_steps=1), "begins at step 11, not 10"),
        (lambda a: run(method=EULER).resume(n_steps=1), "method"),
        (lambda a: run(dt=0.2).resume(n_steps=1), "dt"),
        (lambda a: run(dtype=np.float32).resume(n_steps=1), "dtype"),
        (lambda a: run(components=["theta"]).resume(n_steps=1), "holds theta, not theta, omega"),
        (lambda a: run(x0=[[1.0, 0.0]]).resume(n_steps=1), r"batch is \(1,\)"),
        (lambda a: run(x0=[1.0, -1e-9]).resume(n_steps=1), "another state"),
        (
            lambda a: pi.integrate(pi.systems.pendulum(g=9.8), dt=0.1, n_steps=10).resume(1),
            "system",
        ),
    ],
)
def test_what_does_not_follow_on_is_refused_by_number(second, reason):
    a = run()
    good = a.resume(n_steps=0)
    with pytest.raises(ValueError, match=f"part 2 does not .* part 1: .*({reason}).*resume"):
        pi.concatenate(a, good, second(a))


def test_only_solutions_are_joined():
    with pytest.raises(TypeError, match=r"concatenate\(\*parts\)"):
        pi.concatenate([run()])
    with pytest.raises(TypeError, match="one solution or more"):
        pi.concatenate()
