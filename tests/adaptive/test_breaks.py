"""``breaks=``: times at which a step ends and the next begins anew."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

FRICTION = pi.acceleration(lambda t, x, v: -x - 0.1 * v + np.where(t < 1.7, 0.0, 1.0))
OUTSIDE = pi.acceleration(trace=False)(lambda t, x, v: -x - 0.1 * v + np.where(t < 1.7, 0.0, 1.0))


def run(**options):
    return pi.solve(FRICTION, 1.0, 0.0, **{"t_end": 5.0, "rtol": 1e-9, "atol": 1e-12, **options})


def exact():
    """Damped about 0, then about 1."""
    w, y = np.sqrt(1 - 0.05**2), np.array([1.0, 0.0])
    for d, centre in ((1.7, 0.0), (3.3, 1.0)):
        a, b = y[0] - centre, (y[1] + 0.05 * (y[0] - centre)) / w
        fade, c, s = np.exp(-0.05 * d), np.cos(w * d), np.sin(w * d)
        x = fade * (a * c + b * s)
        y = np.array([centre + x, -0.05 * x + fade * w * (b * c - a * s)])
    return y


@pytest.mark.parametrize("method", ["auto", "dop853", "radau_iia5", "rodas5p"])
def test_steps_end_at_the_breaks(method):
    sol = run(breaks=[3.0, 1.7], method=method)
    assert {1.7, 3.0} <= set(sol.t)
    assert np.all(np.diff(sol.t) > 0)
    assert len(sol.t) == sol.steps_taken + 1


def test_a_known_jump_costs_no_more_than_two_smooth_parts():
    """A force of Python, whose branches nobody sees: to either side of its jump it is smooth."""
    options = {"t_end": 5.0, "rtol": 1e-9, "atol": 1e-12}
    sol = pi.solve(OUTSIDE, 1.0, 0.0, breaks=[1.7], **options)
    assert abs(sol.final - exact()).max() < 1e-8  # ten times rtol
    parts = [pi.solve(OUTSIDE, 1.0, 0.0, **options | {"t_end": 1.7})]
    parts += [pi.solve(OUTSIDE, *parts[0].final, t0=1.7, **options)]
    assert sol.evaluations <= sum(part.evaluations for part in parts)


def test_parts_are_those_that_begin_anew():
    """Beside the break are steps of 4 rounding units."""
    y, t, gap = np.array([1.0, 0.0]), 0.0, 4 * np.spacing(1.7)
    for end in (1.7 - gap, 1.7, 1.7 + gap, 5.0):
        y = pi.solve(FRICTION, *y, t0=t, t_end=end, rtol=1e-9, atol=1e-12).final
        t = end
    assert same_bits(run(breaks=[1.7]).final, y)


@pytest.mark.filterwarnings("ignore:the error estimate of 'fehlberg78':UserWarning")
@pytest.mark.parametrize("method", ["auto", "dop853", "radau_iia5", "tsitouras54", "fehlberg78"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_force_at_a_break_may_be_that_of_either_side(method, dtype):
    """Slopes -3, -2, ... 3 from second to second: parts of steps are exact but for rounding."""

    def after(t, y):
        return np.stack([np.floor(t) + 0 * y[0]])

    def before(t, y):
        return np.stack([np.ceil(t) - 1 + 0 * y[0]])

    run = {
        "breaks": [-2, -1, 0, 1, 2, 3, 1e9],
        "method": method,
        "rtol": 1e-4,
        "atol": 1e-4,
        "dtype": dtype,
    }
    for force in (after, before):
        system = pi.rhs(dim=1, trace=False)(force)
        for t0, t_end, sum_of in ((0.5, 3.5, 4.5), (3.5, 0.5, 4.5), (-2.5, 0.5, 4.5), (1, 3, 3),
                                  (3, 1, 3)):  # fmt: skip
            sol = pi.solve(system, [0.0], t0=t0, t_end=t_end, **run)
            # Six gaps of 4 units of 3, with weights whose magnitudes add up to 13 at most.
            assert abs(abs(sol.final[0]) - sum_of) < 24 * 3 * 13 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("start", [-1000.0, 0.5, 2.0])
def test_a_step_beside_a_break_may_have_any_error(start, dtype):
    """Shorter steps than four rounding units of the time there are not."""
    force = pi.acceleration(lambda t, x, v: np.where(t < 2, 0.0, 2.0))
    sol = pi.solve(
        force, 0.0, 0.0, t0=start, t_end=3.0, breaks=[2.0], rtol=1e-4, atol=1e-17, dtype=dtype
    )
    assert sol.status == pi.Status.OK
    assert np.allclose(sol.final, [1.0, 2.0], rtol=1e-6 + 64 * abs(start) * np.finfo(dtype).eps)


def test_breaks_outside_the_run_are_none():
    for breaks in ([], [-1.0, 8.0]):
        assert same_bits(run(breaks=breaks).y, run().y)


def test_each_trajectory_has_its_own():
    starts, own = np.linspace(0.5, 2.0, 7), np.linspace(0.5, 6.5, 7)
    breaks = np.stack([own, own / 2])
    options = {"t_end": 5.0, "rtol": [1e-6] * 3 + [1e-9] * 4, "save": "all"}
    sol = pi.solve(FRICTION, starts, 0 * starts, breaks=breaks, **options)
    for i in range(7):
        options["rtol"] = [1e-6, 1e-9][i > 2]
        alone = pi.solve(FRICTION, starts[i], 0.0, breaks=breaks[:, i], **options)
        n = sol.counts[i]
        assert same_bits(sol.y[:n, i], alone.y)
        assert same_bits(sol.t[:n, i], alone.t)


def test_backwards():
    sol = pi.solve(FRICTION, *run().final, t0=5.0, t_end=0.0, breaks=[1.7, 3.0], rtol=1e-9,
                   atol=1e-12)  # fmt: skip
    assert [t for t in sol.t if t in (1.7, 3.0)] == [3.0, 1.7]
    assert np.all(np.diff(sol.t) < 0)
    assert abs(sol.final - [1.0, 0.0]).max() < 1e-7


def test_times_watches_and_events_go_on():
    times = np.linspace(0.0, 5.0, 41)
    seen = {"watch": {"mean": pi.watch.mean("x")}, "events": {"zero": pi.event("x", keep=9)}}
    sol, fine = run(breaks=[1.7, 3.0], times=times, **seen), run(times=times, rtol=1e-12, **seen)
    assert abs(sol.y - fine.y).max() < 1e-7
    assert sol.valid.all()
    assert sol.watched["mean"] == pytest.approx(float(fine.watched["mean"]), abs=1e-7)
    assert sol.events["zero"].count == fine.events["zero"].count
    assert same_bits(sol.final, run(breaks=[1.7, 3.0]).final)


def test_what_is_seen_is_that_of_the_whole_run():
    """Those at rest at a break, who begin after it, have not seen what comes after either."""
    watch = {"late": pi.watch.integral("x", after=4.0),
             "bins": pi.watch.histogram("x", 4, (-3.0, 3.0), samples=100),
             "image": pi.watch.density(("x", "v"), 4, ((-3, 3), (-3, 2)), samples=100)}  # fmt: skip
    options = {"t0": [0.0, 2.0, 1.0], "rtol": 1e-9, "atol": 1e-12, "watch": watch}
    one, other = (
        pi.solve(FRICTION, np.ones(3), 0.0, t_end=[5.0, 6.0, 7.0], breaks=breaks, **options).watched
        for breaks in ([1.7], [1.5, 1.7, 3.0])
    )
    assert one["late"] == pytest.approx(other["late"], abs=1e-7)
    assert np.array_equal(one["bins"], other["bins"])
    assert np.array_equal(one["image"], other["image"])
    assert np.all(one["bins"].sum(axis=-1) == 100)


@pytest.mark.parametrize("sense", [1, -1])
@pytest.mark.parametrize("breaks", [[3.0, 7.0], [-1.0, 0.5, 0.5, 3.0]])
def test_those_that_have_arrived_keep_their_states(sense, breaks):
    """Each ends at its own time, before, at and after breaks; one has no way to go."""
    ends, first = sense * np.array([2.0, 3.0, 5.0, 0.0]), np.array([0.1, 0.2, 0.3, 0.1])
    times = np.linspace(0.0, 1.0, 6)[:, np.newaxis] * ends
    options = {"rtol": 1e-6, "breaks": sense * np.array(breaks)}
    sol = pi.solve(FRICTION, np.ones(4), 0.0, t_end=ends, times=times, first_step=first, **options)
    for i in range(4):
        alone = pi.solve(FRICTION, 1.0, 0.0, t_end=ends[i], times=times[:, i], first_step=first[i],
                         **options)  # fmt: skip
        assert same_bits(sol.y[:, i], alone.y)
        assert sol.steps_taken[i] == alone.steps_taken
    assert sol.valid.all()


def test_what_stopped_does_not_go_on():
    stop = {"zero": pi.event("x", stop=True)}
    sol = run(breaks=[0.5, 3.0], events=stop)
    assert sol.stopped_by == "zero"
    assert sol.t[-1] < 3.0


def test_resume_and_files_keep_them(tmp_path):
    part = run(t_end=1.0, breaks=[1.7])
    part.save(tmp_path / "run.npz")
    for one in (part, pi.load(tmp_path / "run.npz")):
        assert 1.7 in one.resume(t_end=5.0).t
    early = {"t0": -9.0, "breaks": [-5.0, 0.0]}  # gaps as wide as the roundings of -9
    assert same_bits(
        run(t_end=-5.0, **early).resume(t_end=1.0).final, run(t_end=1.0, **early).final
    )


def test_stiff_trajectories_stay_stiff():
    sol = pi.solve(pi.systems.van_der_pol(mu=1000.0), [2.0, 0.0], t_end=300.0, rtol=1e-5,
                   breaks=[100.0, 200.0], save="all")  # fmt: skip
    assert np.isfinite(sol.stiff_since)
    assert len(sol.stiff_spans) == 1
    assert {100.0, 200.0} <= set(sol.t)


@pytest.mark.parametrize("breaks", [1.0, [np.nan], [np.inf], "1", [[1.0, 2.0]] * 2])
def test_wrong_ones_are_named(breaks):
    batch = {"x0": np.ones((3, 2))} if np.ndim(breaks) == 2 else {}
    with pytest.raises((TypeError, ValueError), match="breaks"):
        pi.solve(FRICTION, **batch, t_end=5.0, breaks=breaks)


@pytest.mark.parametrize("method", ["auto", "dop853", "radau_iia5", "tsitouras54"])
@pytest.mark.parametrize("ends", [(0.0, 90.0), (90.0, 0.0)])
def test_the_jumps_of_a_built_in_force_are_breaks(method, ends):
    """A pulse of 0.1, at a time of its own in each trajectory; inf is no time."""
    begin = np.array([[5.0], [60.0], [100.0]])
    profile = pi.systems.acceleration_profile(
        times=begin + [-np.inf, 0.0, 0.1, 0.2, np.inf], accelerations=[0.0, 10.0, 0.0, 0.0, 0.0]
    )
    t0, t_end = ends
    call = {"t0": t0, "method": method, "rtol": 1e-8, "on_failure": "raise"}
    sol = pi.solve(profile, 0.0, 1.0, t_end=t_end, **call)
    exact = profile.exact([t_end], np.array([0.0, 1.0]), t0=t0)[0]
    np.testing.assert_allclose(sol.final, exact, rtol=1e-12, atol=1e-12)
    part = pi.solve(profile, 0.0, 1.0, t_end=50.0, breaks=[20.0], **call).resume(t_end=t_end)
    np.testing.assert_allclose(part.final, exact, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:the force of")
def test_the_jumps_of_a_built_in_force_are_breaks_of_its_tangents():
    """Also where the motion does not change: a_j over one second moves the end by 90 - middle."""
    still = pi.systems.acceleration_profile(times=[5, 6, 7, 8, np.inf], accelerations=np.zeros(5))
    sol = pi.solve(still, 0.0, 1.0, t_end=90.0, rtol=1e-8, sensitivity="accelerations")
    exact = [84.5, 83.5, 82.5, 82.0**2 / 2, 0.0]
    np.testing.assert_allclose(sol.sensitivity["accelerations"][-1, 0], exact, rtol=1e-9)
