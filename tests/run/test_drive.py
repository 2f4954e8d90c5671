"""Parameters that change with each step: what a run of single steps would do, bit for bit."""

import subprocess
import sys

import numpy as np
import pytest

import pyintegrate as pi

N = 40
WALL = pi.event("x", level=-0.5, then=lambda t, x, v: (x, -v))


def stepped(stepper):
    stepper.step(100)
    return stepper


def by_hand(system, y, force, **options):
    """The states of N steps, each with its own force."""
    out = [np.asarray(y)]
    for n in range(N):
        step = pi.integrate(
            system(force=force[n]), out[-1], n_steps=1, dt=0.05, save="final", **options
        )
        out.append(step.final)
    return np.array(out)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "velocity_verlet", "verner65"])
@pytest.mark.parametrize("shape", [(N,), (N, 1), (N, 21)], ids=str)
def test_a_drive_is_a_parameter_that_changes_with_each_step(shape, method):
    force = np.random.default_rng(3).normal(size=shape)
    y = np.random.default_rng(4).normal(size=(21, 2))
    system = pi.systems.constant_force(mass=np.linspace(1, 2, 21))
    sol = pi.integrate(system, y, dt=0.05, n_steps=N, method=method, drive={"force": force})
    assert sol.y.tobytes() == by_hand(system, y, force, method=method).tobytes()


def test_a_drive_widens_the_batch():
    sol = pi.integrate(
        pi.systems.constant_force, 0.0, 0.0, dt=0.05, n_steps=N, drive={"force": np.ones((N, 2, 3))}
    )
    assert sol.x.shape == (N + 1, 2, 3)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_driven_run_has_the_same_bits_however_it_is_cut(workers):
    force = np.random.default_rng(3).normal(size=(N, 5000))
    options = {"dt": 0.05, "save": "final", "method": "rk4", "workers": workers}
    system, y = pi.systems.constant_force, np.zeros((5000, 2))
    whole = pi.integrate(system, y, n_steps=N, drive={"force": force}, **options)
    first = pi.integrate(system, y, n_steps=15, drive={"force": force[:15]}, **options)
    rest = first.resume(n_steps=N - 15, drive={"force": force[15:]})
    assert whole.final.tobytes() == rest.final.tobytes()
    with pytest.raises(ValueError, match="resume needs `drive`"):
        first.resume(n_steps=3)


def test_an_array_parameter_is_driven_as_a_whole():
    gravity = np.zeros((N, 3))
    gravity[:, 2] = np.linspace(0, -9.81, N)
    sol = pi.integrate(pi.systems.spring_3d, dt=0.05, n_steps=N, drive={"gravity": gravity})
    step = pi.integrate(pi.systems.spring_3d(gravity=gravity[0]), dt=0.05, n_steps=1)
    assert np.array_equal(sol.y[1], step.y[1])
    step = pi.integrate(pi.systems.spring_3d(gravity=gravity[1]), step.final, dt=0.05, n_steps=1)
    assert np.array_equal(sol.y[2], step.y[1])


def test_a_bad_drive_fails_the_step_that_it_spoils():
    force = np.ones((N, 3))
    force[17, 1] = np.nan
    sol = pi.integrate(
        pi.systems.constant_force, np.zeros((3, 2)), dt=0.05, n_steps=N, drive={"force": force},
        on_failure="ignore",
    )  # fmt: skip
    assert sol.failed_step.tolist() == [-1, 18, -1]
    assert np.array_equal(sol.y[17:, 1], np.broadcast_to(sol.y[17, 1], (N - 16, 2)))


def test_a_wrong_drive_is_refused_by_name():
    run = {"dt": 0.05, "n_steps": N}
    system = pi.systems.constant_force
    with pytest.raises(TypeError, match="drive must map names"):
        pi.integrate(system, drive=np.ones(N), **run)
    with pytest.raises(ValueError, match="no parameter 'thrust'; it has force, mass"):
        pi.integrate(system, drive={"thrust": np.ones(N)}, **run)
    with pytest.raises(ValueError, match=r"drive\['force'\] has 7 steps, and the run 40: .*repeat"):
        pi.integrate(system, drive={"force": np.ones(7)}, **run)
    with pytest.raises(TypeError, match=r"drive\['force'\] must be an array.* into the force"):
        pi.integrate(system, drive={"force": np.sin}, **run)
    with pytest.raises(TypeError, match=r"drive\['force'\] must hold real numbers"):
        pi.integrate(system, drive={"force": ["a"] * N}, **run)
    with pytest.raises(ValueError, match=r"drive\['force'\] has shape \(\)"):
        pi.integrate(system, drive={"force": 1.0}, **run)
    with pytest.raises(ValueError, match="do not broadcast"):
        pi.integrate(system, np.zeros((4, 2)), drive={"force": np.ones((N, 3))}, **run)


def test_a_method_that_refuses_a_parameter_refuses_its_drive():
    drive = {"linear_factor": np.full(3, 0.9)}
    with pytest.raises(ValueError, match="'rk4' knows no linear_factor"):
        pi.integrate(pi.systems.rigid_body, dt=0.1, n_steps=3, method="rk4", drive=drive)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_python_function_sees_what_changes(shape):
    """One value serves all of it, until drive= or a Stepper gives others."""

    def force(t, x, v, k, m):
        return -k * x - m * v

    traced = pi.acceleration(k=3.0, m=0.3)(force)
    called = pi.acceleration(k=3.0, m=0.3, trace=False)(force)
    k, x0 = np.linspace(1, 30, N), np.ones(shape)
    run = {"dt": 0.05, "n_steps": N, "drive": {"k": k}}
    whole = pi.integrate(called, x0, 0.0, **run)
    # The same operations in another order: rounding, and its growth over 40 steps of order 4.
    assert np.allclose(whole.y, pi.integrate(traced, x0, 0.0, **run).y, rtol=0, atol=1e-12)
    stepper = pi.Stepper(called, x0, 0.0, dt=0.05, method="rk4")
    for n in range(N):
        stepper.params["k"][...] = k[n]
        stepper.step()
        assert stepper.y.tobytes() == whole.y[n + 1].tobytes()


def test_what_is_no_longer_driven_has_the_value_of_the_system():
    system = pi.systems.constant_force(force=2.0)
    first = pi.integrate(system, dt=0.05, n_steps=3, drive={"force": [5.0, 6.0, 7.0]})
    rest = first.resume(n_steps=2, drive={"mass": [1.0, 4.0]})
    expected = pi.integrate(system, first.final, dt=0.05, n_steps=2, drive={"mass": [1.0, 4.0]})
    assert np.array_equal(rest.y, expected.y)


SMALL_STACK = """
import threading
import numpy as np
import pyintegrate as pi

rows = 65_000
force = pi.acceleration(a=np.zeros(rows), b=0.0)(lambda t, x, v, a, b: b - x)
drive = {"b": np.ones(5)}
made = []
threading.stack_size(512 << 10)
run = lambda: made.append(pi.integrate(force, 1.0, 0.0, dt=0.1, n_steps=5, drive=drive))
thread = threading.Thread(target=run)
thread.start()
thread.join()
again = pi.integrate(force(b=1.0), 1.0, 0.0, dt=0.1, n_steps=5)
assert made[0].final.tobytes() == again.final.tobytes()
"""


def test_what_is_known_of_the_system_is_not_known_of_a_driven_one(tmp_path):
    """Its closed form has the parameters of the system, not those of the drive."""
    k = np.linspace(1.0, 30.0, 100)
    driven = pi.integrate(pi.systems.spring(b=0.0), dt=0.05, n_steps=100, drive={"k": k})
    driven.save(tmp_path / "run.npz")
    for sol in (driven, pi.load(tmp_path / "run.npz")):
        for measure in (sol.exact, sol.error, lambda s=sol: pi.analysis.phase_drift(s)):
            with pytest.warns(pi.RecordWarning, match="drive= has changed parameters"):
                assert np.isnan(measure()).all()


@pytest.mark.parametrize("run", [
    lambda s, **k: pi.integrate(s, dt=0.05, n_steps=100, drive={"k": np.linspace(1, 30, 100)}, **k),
    lambda s, **k: pi.integrate(s, dt=0.05, n_steps=100, events={"wall": WALL}, **k),
    lambda s, **k: pi.solve(s, t_end=5.0, events={"wall": WALL}, **k),
    lambda s, **k: stepped(pi.Stepper(s, dt=0.05, events={"wall": WALL}, **k)),
])  # fmt: skip
def test_the_drift_that_was_watched_is_nan_where_its_reference_no_longer_holds(run):
    watch = {"ahead": pi.watch.last("phase_drift"), "x": pi.watch.last("x")}
    sol = run(pi.systems.spring(b=0.0), x0=[1.0, 0.3], v0=0.0, watch=watch)  # one hits the wall
    with pytest.warns(pi.RecordWarning, match="the phase drift.* is NaN") as told:
        watched = sol.watched
    assert len(told) == 1
    assert np.isnan(watched["ahead"]).tolist() == [True, "drive" in str(told[0].message)]
    assert np.isfinite(watched["x"]).all()


def test_between_the_steps_of_a_driven_run_lies_what_a_finer_one_finds():
    """To the order of the chord: slopes with the system's own k are off by four fifths."""
    k, spring = np.linspace(1.0, 30.0, 100), pi.systems.spring(b=0.0)
    sol = pi.integrate(spring, dt=0.05, n_steps=100, drive={"k": k})
    fine = pi.integrate(spring, dt=0.005, n_steps=1000, drive={"k": np.repeat(k, 10)})
    off = abs(sol.at(fine.t) - fine.y).max(axis=0)
    jerk = 30.0 * abs(fine.v).max() + 30 * 0.3 / 0.05
    assert off[0] < 1e-3
    assert off[1] < 0.05**2 / 8 * jerk
    turns, exact = (pi.analysis.poincare_section(one, "v", direction=0) for one in (sol, fine))
    assert abs(turns.t - exact.t).max() < 2e-4


def test_a_drive_of_many_rows_fits_a_small_stack():
    done = subprocess.run([sys.executable, "-c", SMALL_STACK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_resumed_run_refuses_the_drives_that_a_first_one_does():
    run = {"dt": 0.1, "n_steps": 5}
    planets = pi.systems.n_body(n=2, initial=[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0])
    sol = pi.integrate(planets, **run, method="wisdom_holman")
    with pytest.raises(ValueError, match="knows no softening"):
        sol.resume(n_steps=5, drive={"softening": np.full(5, 0.3)})
    watch = {"most": pi.watch.maximum(lambda t, x, v, omega: omega * x)}
    sol = pi.integrate(pi.systems.oscillator, **run, watch=watch)
    with pytest.raises(ValueError, match="watch: a function.* takes omega"):
        sol.resume(n_steps=5, drive={"omega": np.full(5, 3.0)})
