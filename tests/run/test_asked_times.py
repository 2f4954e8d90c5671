"""``times=`` gives the states of ``at``, without storing the steps, and none across a jump."""

import warnings

import numpy as np
import pytest

import pyintegrate as pi

RUNS = {
    "registers": (pi.systems.pendulum(length=np.linspace(0.5, 2, 91)), "rk4"),
    "rows": (pi.systems.driven_pendulum(amplitude=np.linspace(0, 1, 7)), "adams_bashforth4"),
    "first order": (pi.systems.rossler(c=np.linspace(5, 6, 70)), "rk38"),
    "composition": (pi.systems.kepler(mu=np.linspace(1, 1.1, 5)), "velocity_verlet"),
    "implicit": (pi.systems.van_der_pol(mu=np.linspace(1, 3, 9)), "gauss4"),
    "one": (pi.systems.henon_heiles, "yoshida6"),
}
N, DT, T0 = 200, 0.02, 0.5


def run(name, dt=DT, **options):
    system, method = RUNS[name]
    return pi.integrate(system, method=method, dt=dt, t0=T0, n_steps=N, **options)


def times(shape, dt=DT):
    """In every step, at the first and the last, and several in one."""
    part = np.random.default_rng(1).uniform(0, N, shape)
    part[0], part[1], part[-1] = 0, 7, N
    return T0 + np.sort(part, axis=0) * dt


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dt", [DT, -DT])
@pytest.mark.parametrize("name", RUNS)
def test_states_at_times_are_those_between_all_steps(name, dt, dtype):
    asked, options = times(300, dt), {"dt": dt, "dtype": dtype, "on_failure": "ignore"}
    some, whole = run(name, times=asked, **options), run(name, **options)
    assert np.array_equal(some.y, whole.at(asked), equal_nan=True)
    assert np.array_equal(some.t, asked)
    assert np.array_equal(some.final, whole.final)


@pytest.mark.parametrize("name", [name for name in RUNS if name != "one"])
def test_each_trajectory_may_have_its_own_times(name):
    whole = run(name)
    lanes = whole.status.shape[0]
    asked = times((40, lanes))
    some = run(name, times=asked, workers=2)
    for lane in range(0, lanes, 3):
        assert np.array_equal(some.y[:, lane], whole.at(asked[:, lane])[:, lane])
    assert some.steps.shape == some.t.shape == (40, lanes)


def test_times_of_the_last_axes_of_a_batch_are_those_of_each():
    """(3, 4) in a batch (3, 4) are three times of four columns, not one row thrice."""
    asked = np.sort(np.random.default_rng(1).uniform(0, 1, (3, 4)), axis=0)
    state = np.linspace(0.1, 1, 12).reshape(3, 4)
    whole = np.broadcast_to(asked[:, np.newaxis], (3, 3, 4))
    runs = (pi.integrate, {"dt": 0.1}), (pi.solve, {"breaks": asked})
    for verb, options in runs:
        wanted = options | ({"breaks": whole} if "breaks" in options else {})
        some, each = (
            verb(pi.systems.pendulum, state, 0 * state, t_end=1.0, times=t, **o)
            for t, o in ((asked, options), (whole, wanted))
        )
        assert np.array_equal(some.t, whole)
        assert np.array_equal(some.y, each.y)


@pytest.mark.parametrize("method", ["rk4", "adams_bashforth4", "implicit_midpoint"])
def test_a_part_of_a_step_that_fails_has_no_state(method):
    """Where the force has no value, or no value solves the equation, but no whole step asks."""
    implicit = method == "implicit_midpoint"

    @pi.rhs(dim=2)
    def force(t, y):
        odd = np.where(y[1] > 0, -1e3, 1e3) if implicit else np.nan
        return [1.0, np.where(abs(t - (0.025 if implicit else 0.03)) < 0.001, odd, 0.0)]

    asked, start = [0.03, 0.05, 0.09, 0.125], np.zeros((3, 5, 2))
    options = {"dt": 0.125, "n_steps": 2, "method": method}
    lost = np.arange(4) == implicit
    whole = pi.integrate(force, start, **options)
    with pytest.warns(pi.IntegrationWarning, match=f"no state at t = {asked[int(implicit)]}"):
        some = pi.integrate(force, start, times=asked, **options)
    with pytest.warns(pi.IntegrationWarning, match=f"no state at t = {asked[int(implicit)]}"):
        between = whole.at(asked)
    with warnings.catch_warnings(action="error"):
        pi.integrate(force, start, times=asked, **options, on_failure="ignore")
        start[0, 0] = np.nan  # which is a failure, told of as such
        with pytest.raises(pi.IntegrationError):
            pi.integrate(force, start, times=asked[2:], **options, on_failure="raise")
    for y in (some.y, between):
        assert np.array_equal(np.isnan(y), np.broadcast_to(lost[:, None, None, None], y.shape))


def test_the_same_times_of_different_steps():
    dt = np.array([0.01, 0.02, 0.04])
    asked = np.linspace(0, 0.5, 23)
    some = pi.integrate(pi.systems.pendulum, dt=dt, n_steps=50, times=asked)
    whole = pi.integrate(pi.systems.pendulum, dt=dt, n_steps=50)
    assert np.array_equal(some.y, whole.at(asked))
    assert some.t.shape == (23,)
    assert some.steps.shape == (23, 3)


@pytest.mark.parametrize("name", ["registers", "rows"])
def test_a_time_on_a_step_has_the_state_of_the_step(name):
    """Whatever the rounding of (t - t0) / dt: a step of a multistep method is none of its
    starter's, which makes parts of steps."""
    whole = run(name)
    assert np.array_equal(run(name, times=whole.t).y, whole.y)
    assert np.array_equal(whole.at(whole.t), whole.y)
    steps = np.linspace(0.01, 0.03, len(whole.final))
    each = run(name, dt=steps)
    assert np.array_equal(run(name, dt=steps, times=each.t).y, each.y)


@pytest.mark.parametrize("t0", [0.3, -2.0])
@pytest.mark.parametrize("n", [1, 2, 33])
def test_the_last_time_has_the_last_state(t0, n):
    """(t - t0) / dt may be rounded to more than n."""
    for dt in (0.1, 0.05, 0.01, -0.05):
        whole = pi.integrate(pi.systems.driven_pendulum, dt=dt, n_steps=n, t0=t0)
        some = pi.integrate(pi.systems.driven_pendulum, dt=dt, n_steps=n, t0=t0, times=whole.t)
        assert np.array_equal(whole.at(whole.t), some.y)


# Of "stormer_verlet_backward" the velocity is that half a step before.
METHODS = {method.name for method in pi.analysis.suitable_methods(pi.systems.oscillator)}


@pytest.mark.parametrize("name", sorted(METHODS - {"stormer_verlet_backward"}))
def test_the_error_is_that_of_the_steps(name):
    """Of every method: a part of a step has the order of the step, so that what it adds is a part
    of the error of one step."""
    h = 0.2 if pi.methods[name].order <= 3 else 0.4
    t = h * np.arange(int(4 / h))
    asked = np.sort(np.concatenate([t, t + 0.17 * h, t + 0.5 * h, t + 0.83 * h]))
    options = {"dt": h, "n_steps": len(t), "method": name, "times": asked}
    some = pi.integrate(pi.systems.oscillator, 1.0, 0.3, **options)
    off = abs(some.y - pi.systems.oscillator.exact(asked, some.initial))
    assert off.max() <= 2 * off[::4].max() + 1e-13


BALL = {
    "floor": pi.event(
        "z", direction=-1, then=lambda t, x, v, e: (x, v * [1, 1, -e]), params={"e": 0.8}, keep=9
    )
}


def height(t):
    """Of a ball that falls from 1 m and bounces."""
    z, v, begin, end = 1.0, 0.0, 0.0, np.sqrt(2 / 9.81)
    while t > end:
        z, v, begin = 0.0, 0.8 * (9.81 * (end - begin) - v), end
        end = begin + 2 * v / 9.81
    return z + v * (t - begin) - 9.81 / 2 * (t - begin) ** 2


def test_nothing_goes_across_a_jump():
    """Parabolas between the bounces, which a cubic has exactly."""
    asked = np.linspace(0, 2, 401)
    fall = {"x0": [0.0, 0, 1], "v0": [0.0, 0, 0], "dt": 0.02, "n_steps": 100, "events": BALL}
    ball = pi.integrate(pi.systems.projectile, **fall, times=asked)
    assert ball.events["floor"].count == 3
    assert abs(ball["z"] - [height(t) for t in asked]).max() < 1e-13
    saved = pi.integrate(pi.systems.projectile, **fall)
    assert abs(saved.at(0.43)[2] - height(0.43)) < 1e-13
    bounce = float(saved.events["floor"].t[1])
    with pytest.raises(ValueError, match="nothing interpolates across a jump"):
        saved.at([0.1, bounce])


def test_the_rest_of_a_step_after_a_jump_begins_where_it_does():
    """x'' = cos 10 t by a method of order 9, a radian a step, kicked within the fourth."""
    kick = {"kick": pi.event(lambda t, x, v: t - 0.33, then=lambda t, x, v: (x, v + 1))}
    shaken = pi.acceleration(lambda t, x, v: np.cos(10 * t))
    asked = np.linspace(0, 1, 101)
    run = {"dt": 0.1, "n_steps": 10, "method": "verner98", "events": kick, "times": asked}
    some = pi.integrate(shaken, 0.0, 0.0, **run)
    exact = (1 - np.cos(10 * asked)) / 100 + np.maximum(asked - 0.33, 0)
    assert abs(some.x - exact).max() < 1e-10  # the steps are off by 2e-12


@pytest.mark.parametrize(
    ("moment", "h", "before"),
    [(lambda t, x, v: t > 0.55, 0.1, 5), (lambda t, x, v: t - 0.33, 0.03, 11)],
)
def test_nothing_goes_across_a_jump_at_a_step(moment, h, before):
    """6 * 0.1 is an eps more than 5 * 0.1 + 0.1. 11 * 0.03 is one less than 0.33: there the jump
    is that of the next step, at the time to which this rounds."""
    kick = {"kick": pi.event(moment, then=lambda t, x, v: (x, v + 1))}
    sol = pi.integrate(pi.systems.oscillator, dt=h, n_steps=20, events=kick)
    assert np.argmax(np.diff(sol["v"])) == before
    sol.at(h * np.array([before - 1.5, before + 2.5]))
    with pytest.raises(ValueError, match="nothing interpolates across a jump"):
        sol.at(h * (before + 0.5))


def test_a_jump_that_was_not_kept_is_not_crossed_either():
    floor = pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -1]))
    fall = {"x0": [0.0, 0, 1], "v0": [0.0, 0, 0], "dt": 0.02, "n_steps": 100}
    ball = pi.integrate(pi.systems.projectile, **fall, events={"floor": floor})
    assert ball.events["floor"].overflow
    assert ball.at(0.3).shape == (6,)
    with pytest.raises(ValueError, match="across a jump"):
        ball.at(1.9)


def test_after_a_stop_its_state_is_repeated():
    stop = {"ground": pi.event("z", direction=-1, stop=True)}
    fall = {"x0": [[0.0, 0, 1], [0, 0, 2]], "v0": [1.0, 0, 0], "dt": 0.05, "n_steps": 40}
    asked = np.linspace(0, 2, 333)
    some = pi.integrate(pi.systems.projectile, **fall, events=stop, times=asked)
    end, t = np.sqrt(2 * np.array([1, 2]) / 9.81), asked[:, np.newaxis]
    assert abs(some["x"] - np.minimum(t, end)).max() < 1e-14
    exact = np.where(t < end, [1, 2] - 9.81 / 2 * t**2, 0)
    assert abs(some["z"] - exact).max() < 1e-14
    assert np.array_equal(some.valid, t <= some.stopped_at)
    assert np.array_equal(some.final, some.y[-1])
    for save in ("all", 7):  # and in what remains of a step, or of seven, before the stop
        z = pi.integrate(pi.systems.projectile, **fall, events=stop, save=save).at(asked)[..., 2]
        assert abs(z - exact).max() < 1e-13


def test_after_a_failure_its_last_state_is_repeated():
    grow = pi.rhs(dim=1)(lambda t, y: (y[0] * y[0],))
    options = {"dt": 0.1, "n_steps": 30, "on_failure": "ignore"}
    asked = np.linspace(0, 3, 50)
    some = pi.integrate(grow, [[0.1], [1.0]], **options, times=asked)
    whole = pi.integrate(grow, [[0.1], [1.0]], **options)
    assert whole.n_failed == 1
    assert np.array_equal(some.y, whole.at(asked))
    assert np.array_equal(
        some.y[~some.valid], np.broadcast_to(whole.final, some.y.shape)[~some.valid]
    )


def test_the_last_states_before_a_failure_are_not_repeated():
    """To rounding, of a parabola that leaves its bound in the ninth step, saved every fifth."""
    fall = {"x0": [0.0, 0, 1], "v0": [0.0, 0, 0], "dt": 0.1, "n_steps": 20, "bound": 8.0}
    sol = pi.integrate(pi.systems.projectile, **fall, save=5, on_failure="ignore")
    assert sol.failed_step == 9
    t = np.linspace(0, 2, 41)
    assert abs(sol.at(t)[:, 2] - (1 - 9.81 / 2 * np.minimum(t, 0.8) ** 2)).max() < 1e-13


def test_threads_watches_components_and_arrays_of_the_caller():
    asked = times(60)
    plain = run("registers", times=asked)
    watch = {"a": pi.watch.maximum("omega"), "b": pi.watch.mean("theta", every=7)}
    out = np.empty((60, 91, 1))
    some = run("registers", times=asked, workers=3, watch=watch, components=["omega"], out=out)
    assert np.array_equal(out[..., 0], plain["omega"])
    assert np.array_equal(some["omega"], plain["omega"])
    assert np.array_equal(some.watched["a"], run("registers", watch=watch).watched["a"])
    with pytest.raises(ValueError, match="merge into one"):
        pi.integrate(pi.systems.pendulum, np.ones((2, 3)), 0.0, dt=0.1, n_steps=9, times=[0.5],
                     out=np.empty((1, 2, 6, 2))[:, :, :3])  # fmt: skip


@pytest.mark.parametrize("name", ["registers", "one"])
def test_files_resume_and_parts(name, tmp_path):
    asked = times(20)
    some = run(name, times=asked)
    some.save(tmp_path / "run.npz")
    read = pi.load(tmp_path / "run.npz")
    for what in ("t", "y", "steps", "final"):
        assert np.array_equal(getattr(read, what), getattr(some, what))
    further = read.resume(n_steps=5)
    assert np.array_equal(further.final, run(name).resume(n_steps=5).final)
    with pytest.raises(ValueError, match="joined by their steps"):
        pi.concatenate(some, further)
    with pytest.raises(ValueError, match="times="):
        some.at(T0)


def test_files_of_times_of_each(tmp_path):
    some = run("registers", times=times((20, 91)))
    some.save(tmp_path / "run.npz")
    read = pi.load(tmp_path / "run.npz")
    assert np.array_equal(read.t, some.t)
    assert np.array_equal(read.y, some.y)


def test_labelled_arrays_and_comparisons():
    each = run("rows", times=times((20, 7))).to_xarray()
    assert each["theta"].dims == ("save", "amplitude")
    assert each["t"].dims == each["step"].dims == ("save", "amplitude")
    assert run("rows", times=times(20)).to_xarray()["theta"].dims == ("t", "amplitude")
    assert len(run("rows", times=times((20, 7))).to_pandas()) == 20 * 7
    asked = np.linspace(0, 9, 33)
    c = pi.compare(pi.systems.oscillator, dt=[0.1, 0.05], t_end=9.0, times=asked)
    assert all(np.array_equal(one.t, asked) for one in c.values())
    assert c.table() is not None
    assert abs(c["rk4", 0.05].error()).max() < 1e-4
    dark = pytest.importorskip("dask.array")
    x0 = dark.linspace(0.1, 3.0, 10, chunks=4)
    lazy = pi.dask.integrate(pi.systems.pendulum, x0, 0.0, dt=0.1, n_steps=90, times=asked)
    some = pi.integrate(pi.systems.pendulum, x0.compute(), 0.0, dt=0.1, n_steps=90, times=asked)
    assert np.array_equal(lazy.t, asked)
    assert np.array_equal(lazy.y.compute(), some.y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"times": [1, 0.9]}, "sort them"),
        ({"times": [0.4]}, r"times has 0.4, outside the run, 0.5 .. 4.5"),
        ({"times": [99.0]}, "outside"),
        ({"times": [np.nan]}, "finite"),
        ({"times": []}, "name a time"),
        ({"times": [1j]}, "real"),
        ({"times": [[1.0, 2.0]]}, r"\(n, \*batch\) with the batch \(91,\)"),
        ({"times": [1.0], "save": 10}, "not both"),
        ({"times": [1.0], "save": "all"}, "not both"),
        ({"times": [1.0], "drive": {"g": np.ones(N)}}, "drive"),
    ],
)
def test_what_are_no_times_of_the_run_is_refused(options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        run("registers", **options)


@pytest.mark.parametrize("n", range(24))
def test_systems_of_any_number_of_parameters(n):
    names = [f"p{i}" for i in range(n)]
    total = eval(f"lambda t, y, {', '.join(names)}: (y[0] + {' + '.join([*names, '0'])},)")
    system = pi.rhs(dim=1, **dict.fromkeys(names, 0.5))(total)
    asked = [0.0, 0.25, 0.75]
    some = pi.integrate(system, [1.0], dt=0.5, n_steps=2, times=asked)
    assert np.array_equal(some.y, pi.integrate(system, [1.0], dt=0.5, n_steps=2).at(asked))
