"""Sections, return maps, orbit diagrams, times of escape and scans against closed forms.

A crossing has the error of the method at its time; where the method is exact, roundings of it.
"""

import warnings

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

G = 9.81
EPS = np.finfo(float).eps
OSCILLATOR = pi.systems.oscillator(omega=np.array([1.0, 2.0, 0.7]))


def cross(quantity="x", system=OSCILLATOR, **options):
    options = {"dt": 0.05, "t_end": 70.0, "method": "dop853"} | options
    return pi.analysis.crossings(system, quantity, 1.0, 0.0, **options)


def test_an_empty_batch_has_empty_sections():
    sol = pi.integrate(OSCILLATOR, np.zeros((2, 0, 3, 2)), dt=0.1, n_steps=9)
    found = pi.analysis.crossings(OSCILLATOR, "x", sol.initial, dt=0.1, n_steps=9)
    for section in found, pi.analysis.poincare_section(sol, "x"):
        assert section.y.shape == (0, 2)
        assert section.batch == (2, 0, 3)


# ---- crossings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "first", "apart"), [(1, 1.5, 2), (-1, 0.5, 2), (0, 0.5, 1)])
def test_all_crossings_of_an_oscillation(direction, first, apart):
    section = cross(direction=direction)
    for lane, omega in enumerate((1.0, 2.0, 0.7)):
        t = section.t[section.trajectory == lane]
        n = int(np.floor((70.0 * omega / np.pi - first) / apart)) + 1
        assert np.all(abs(t - np.pi * (first + apart * np.arange(n)) / omega) < 1e-11)
    assert np.all(abs(section["x"]) < 1e-14)
    assert section.batch == (3,)
    assert np.all(np.diff(section.trajectory) >= 0)


def test_more_crossings_than_were_guessed_are_found_by_a_second_run():
    """The fast trajectory alone exceeds the guess; the same bits as with room for all."""
    section = cross(t_end=150.0, dt=0.1)
    count = np.bincount(section.trajectory)
    assert count[1] > 32 > count[0] > count[2]
    roomy = cross(t_end=150.0, dt=0.1, keep=1000)
    for a, b in ((section.t, roomy.t), (section.y, roomy.y)):
        assert same_bits(a, b)
    assert len(cross(t_end=150.0, dt=0.1, keep=2)) == 6


def test_a_second_run_has_the_numbers_of_its_trajectories():
    level, late = np.array([0.1, -0.2, 0.3]), np.array([0.0, 5.0, 10.0])
    run = {"value": level, "after": late, "t_end": 150.0, "dt": np.array([0.1, 0.1, 0.1])}
    run |= {"values": lambda t, x, v, omega, a: (x + a, omega), "params": {"a": [1.0, 2.0, 3.0]}}
    section, roomy = cross(**run), cross(**run, keep=1000)
    assert same_bits(section.t, roomy.t)
    assert same_bits(section.values, roomy.values)
    lane = section.trajectory
    assert np.allclose(section["x"], level[lane], atol=1e-14, rtol=0)
    assert np.allclose(section.values[:, 0], level[lane] + lane + 1, atol=1e-14, rtol=0)
    assert np.array_equal(section.values[:, 1], np.array([1.0, 2.0, 0.7])[lane])
    assert np.all(section.t >= late[lane])


@pytest.mark.parametrize("first", [7, [4, 4, 9, 1, 2]])
def test_a_second_run_has_the_noise_of_its_trajectories(first):
    """Those with many crossings crossed as the first of the batch did."""
    start = np.array([[-5.0], [0.0], [-5.0], [0.0], [-99.0]])
    run = {"dt": 0.01, "n_steps": 1500, "seed": 3, "substeps": 2, "first_trajectory": first}
    section, roomy = (
        pi.analysis.crossings(pi.systems.ornstein_uhlenbeck, "y", start, **run, keep=keep)
        for keep in (None, 1000)
    )
    count = np.bincount(section.trajectory, minlength=5)
    assert count[4] < 32 < count.max()
    assert same_bits(section.t, roomy.t)
    assert np.array_equal(section.trajectory, roomy.trajectory)


@pytest.mark.parametrize("quantity", ["x", lambda t, x, v: x[0], lambda t, y: y[0]])
def test_without_saves_as_with_all_of_them(quantity):
    start = np.array([[0.0, 0.1, 0.45, 0.0], [0.0, -0.2, 0.4, 0.05]])
    run = {"dt": 0.02, "t_end": 60.0, "method": "yoshida6"}
    section = pi.analysis.crossings(pi.systems.henon_heiles, quantity, start, **run)
    sol = pi.integrate(pi.systems.henon_heiles, start, **run)
    saved = pi.analysis.poincare_section(sol, "x")
    assert np.array_equal(section.trajectory, saved.trajectory)
    # The cubic between saves is off by h^4 / 384 of the fourth derivative.
    assert np.allclose(section.y, saved.y, atol=1e-8, rtol=0)
    assert np.allclose(section.t, saved.t, atol=1e-8, rtol=0)


def test_every_turn_of_a_pendulum_crosses():
    run = {"dt": 0.01, "t_end": 20.0, "method": "yoshida6"}
    start = np.array([[0.1, 12.0], [0.0, -11.0], [1.0, 0.0]])
    section = pi.analysis.crossings(pi.systems.pendulum, lambda t, x, v: np.sin((x - 2.0) / 2),
                                    start, direction=0, **run)  # fmt: skip
    turns = np.floor((pi.integrate(pi.systems.pendulum, start, **run)["theta"] - 2) / (2 * np.pi))
    expected = abs(np.diff(turns, axis=0)).sum(axis=0)
    assert expected.min() == 0 < expected.max()
    assert np.array_equal(np.bincount(section.trajectory, minlength=3), expected)
    assert np.allclose(np.sin((section["theta"] - 2.0) / 2), 0, atol=1e-12)


def test_once_a_period_it_is_where_the_closed_form_says():
    period = np.array([1.0, 2.5, 0.7])
    section = cross(None, period=period, phase=0.3, t_end=20.0)
    for lane, omega in enumerate((1.0, 2.0, 0.7)):
        here = section.trajectory == lane
        n = np.arange(int((20.0 - 0.3) / period[lane]) + 1)
        assert np.all(abs(section.t[here] - (0.3 + n * period[lane])) < 20 * 8 * EPS)
        assert np.all(abs(section["x"][here] - np.cos(omega * section.t[here])) < 1e-11)


def test_a_period_that_the_drive_does_not_have_is_told():
    omega = np.array([1.0, 1.2, 1.5])
    run = {"dt": 0.1, "transient": 20.0, "keep": 3}
    period = 2 * np.pi / omega
    for whole in (1, 10):
        with warnings.catch_warnings(action="error"):
            pi.analysis.bifurcation(
                pi.systems.duffing, {"omega": omega}, "x", period=whole * period, **run
            )
    with pytest.warns(UserWarning, match="'duffing' does not repeat after the period= of its"):
        pi.analysis.bifurcation(pi.systems.duffing, {"omega": omega}, "x", period=period[1], **run)
    # In seconds where the drive takes years the velocity is large beside every acceleration.
    slow = pi.systems.duffing(gamma=0.5e-20, delta=0.3e-10, alpha=-1e-20, beta=1e-20, omega=1e-10)
    with pytest.warns(UserWarning, match="'duffing' does not repeat after the period= of its"):
        cross(None, slow, period=5e10, dt=1e9, t_end=4e11)


def test_a_wrong_period_is_told_in_any_unit_of_time():
    """Slow drives were lost beside the velocities."""
    slow = pi.acceleration(lambda t, x, v, u: (np.cos(u * t) - x) * u**2, u=1e-10)
    run = {"dt": 1e9, "t_end": 1e12, "period": 5e10}
    with pytest.warns(UserWarning, match="does not repeat after the period= of its"):
        pi.analysis.crossings(slow, None, 0.5, 3e-11, **run)


def test_backwards_directions_are_those_of_the_steps():
    section = cross(dt=-0.05, t_end=-20.0, after=-3.0, system=pi.systems.oscillator)
    assert np.all(abs(section.t + np.pi * np.array([1.5, 3.5, 5.5])) < 1e-11)


def test_backwards_the_period_is_counted_from_the_same_phase():
    run = {"dt": [0.01, -0.01], "t_end": [3.5, -3.5]}
    found = cross(None, pi.systems.oscillator, period=1.0, **run)
    assert np.allclose(found.t, [1, 2, 3, -1, -2, -3], rtol=0, atol=1e-12)


def test_no_crossing_is_read_off_a_jump():
    bounce = {"floor": pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.9]))}
    ball = pi.systems.projectile, [0, 0, 1.0], [1.0, 0, 0]
    sol = pi.integrate(*ball, dt=0.01, t_end=1.0, events=bounce)
    with pytest.raises(ValueError, match="'floor' may have changed the state"):
        pi.analysis.poincare_section(sol, "vz")
    assert abs(pi.analysis.poincare_section(sol, "x", 0.3).t[0] - 0.3) < 1e-12
    sol = pi.solve(*ball, t_end=1.0, events=bounce, max_step=0.01)
    found = pi.analysis.poincare_section(sol, "vz", direction=-1).t
    assert np.allclose(found[found > 0.1], (1 + 0.9) * (2 / G) ** 0.5, rtol=1e-6, atol=0)


@pytest.mark.parametrize("method", ["auto", "dop853", "dormand_prince_rkn1210", "radau_iia5"])
@pytest.mark.parametrize("way", ["plain", "joined", "sensitivity"])
def test_a_section_of_steps_to_a_tolerance_is_that_of_their_events(method, way):
    """On cubics across steps of two radians it was off by 4e-3. Radau's shortened steps are no
    polynomial: within the tolerance."""
    x0, run = np.array([[1.0, 0.0], [0.7, 0.2]]), {"rtol": 1e-10, "method": method}
    rise = {"rise": pi.event("x", level=0.3, direction=1, keep=5)}
    expected = pi.solve(pi.systems.oscillator, x0, t_end=30.0, **run, events=rise).events["rise"]
    kept = run | {"save": "all"} | ({"sensitivity": "omega"} if way == "sensitivity" else {})
    sol = pi.solve(pi.systems.oscillator, x0, t_end=15.0 if way == "joined" else 30.0, **kept)
    if way == "joined":
        sol = pi.concatenate(sol, sol.resume(t_end=30.0))
    found = pi.analysis.poincare_section(sol, "x", 0.3)
    near = {"rtol": 0, "atol": 1e-13 if method != "radau_iia5" and way == "plain" else 1e-8}
    np.testing.assert_allclose(found.t, expected.t[~np.isnan(expected.t)], **near)
    np.testing.assert_allclose(found["x"], 0.3, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("options", "words"), [
    ({"quantity": None}, "give a quantity"), ({"period": 1.0}, "or a period"),
    ({"direction": 2}, "direction must be"),
    ({"quantity": "energy", "value": 1.0}, "'energy' is none"),
    ({"quantity": lambda t, x, v: x, "value": 1.0}, "value is for components"),
    ({"quantity": ("x", 0.0)}, "a quantity is a component"), ({"quantity": "z"}, "no quantity 'z'"),
    ({"save": "all"}, "saves nothing"),
    ({"method": "adams_bashforth4"}, "remembers"), ({"t_span": (0, 1)}, "last time is t_end"),
    ({"modulo": 1.0}, "modulo"),
    ({"quantity": None, "period": [1.0, 0.1, 1.0]}, "longer than two steps.*0.05: take a smaller"),
])  # fmt: skip
def test_wrong_sections_are_refused(options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        cross(**({"quantity": "x"} | options))


def test_a_system_is_sent_to_crossings():
    with pytest.raises(TypeError, match=r"pi\.analysis\.crossings"):
        pi.analysis.poincare_section(OSCILLATOR, "x")


# ---- return maps and orbit diagrams --------------------------------------------------------------


def test_the_maxima_of_a_damped_spring_shrink_by_its_decrement():
    k, b = 15.0, np.array([0.1, 0.5])
    section = pi.analysis.crossings(pi.systems.spring(k=k, b=b), "v", 1.0, 0.0, direction=-1,
                                    dt=0.02, t_end=30.0, method="dop853")  # fmt: skip
    decay = np.exp(-b * np.pi / np.sqrt(k - b * b / 4))  # b T / 2m
    found = pi.analysis.return_map(section, "x")
    assert np.allclose(found.then / found.now, decay[found.trajectory], rtol=1e-9, atol=0)
    assert len(found) == len(section) - 2
    kept = pi.analysis.crossings(pi.systems.spring, "v", dt=0.02, t_end=30.0,
                                 values=lambda t, x, v: x * x)  # fmt: skip
    squares = pi.analysis.return_map(kept)
    assert same_bits(squares.now, kept.values[:-1, 0])
    with pytest.raises(TypeError, match="takes a Section"):
        pi.analysis.return_map(pi.integrate(pi.systems.spring, dt=0.1, n_steps=3))
    with pytest.raises(ValueError, match="no component 'z'"):
        pi.analysis.return_map(section, "z")


def test_rossler_doubles_its_period_as_published():
    """Strogatz, Nonlinear Dynamics and Chaos, figure 12.3.3: a = b = 0.2."""
    c = np.array([2.5, 3.5, 4.0])
    run = {"section": "y", "direction": -1, "dt": 0.02, "t_end": 1200.0, "transient": 1000.0}
    diagram = pi.analysis.bifurcation(pi.systems.rossler, {"c": c}, "x", **run)
    assert diagram.periods(0.002).tolist() == [1, 2, 4]
    # Of a cycle alone the range is rounding: it repeats all the same.
    alone = pi.analysis.bifurcation(pi.systems.rossler, {"c": [2.5]}, "x", **run)
    assert alone.values.tobytes() == diagram.values[:1, : alone.values.shape[1]].tobytes()
    assert alone.periods() == [1]
    own = pi.analysis.bifurcation(
        pi.systems.rossler, {"c": c}, lambda t, y, a: y[0] + a, **run, keep=7
    )
    assert own.count.tolist() == [7, 7, 7]
    assert np.array_equal(own.values, diagram.values[:, :7] + 0.2)


def test_a_period_is_that_of_the_motion_alone():
    """As a share of the range of all the points of the smaller motions were the same."""
    scaled = pi.acceleration(
        lambda t, x, v, s: s * 0.28 * np.cos(1.2 * t) - 0.3 * v + x - (x / s) ** 2 * x, s=1.0
    )
    s = np.array([1e-3, 1.0, 1e4])
    found = pi.analysis.bifurcation(
        scaled, {"s": s}, "x", s[:, np.newaxis], 0.0, period=2 * np.pi / 1.2, dt=0.05,
        transient=1500.0, keep=40,
    )  # fmt: skip
    assert found.periods().ravel().tolist() == [2, 2, 2]
    once = pi.analysis.bifurcation(
        pi.systems.oscillator, {"x": [1, 3]}, "x", period=2 * np.pi, dt=2 * np.pi / 11,
        transient=60.0, keep=9, method="dop853",
    )  # fmt: skip
    assert once.ranges == pytest.approx([2, 6], rel=0.03)


def test_a_motion_that_drifts_has_no_period():
    """Each maximum is less than a thousandth below the last."""
    run = {"dt": 0.05, "transient": 10.0, "t_end": 700.0, "keep": 64}
    found = pi.analysis.bifurcation(
        pi.systems.spring(k=1.0), {"b": [0, 1e-4]}, "x", 1.0, 0.0, **run
    )
    assert found.periods().tolist() == [1, 0]


def test_crossings_that_steps_may_hide_are_told():
    """204 of 246 were found, without a word."""
    fast, run = lambda t, x, v: np.sin(60 * x + 0.3), {"dt": 0.2, "t_end": 20.0}
    system, start = pi.systems.oscillator, ([1.0, 0.001], 0.0)
    with pytest.warns(pi.RecordWarning, match="1 of 2 trajectories may be missing"):
        pi.analysis.crossings(system, fast, *start, **run)
    with pytest.warns(pi.RecordWarning, match="1 of 2"):
        pi.scan(system, {"x": start[0]}, pi.event(fast, keep=0), **run)
    with pytest.warns(pi.RecordWarning, match="2 of 2"):  # NaN
        pi.analysis.first_passages(system, lambda t, x, v: np.sqrt(x) - 5, *start, **run)


def test_the_maxima_of_an_oscillation_are_its_amplitude():
    run = {"dt": 0.1, "t_end": 40.0, "transient": 10.0, "method": "dop853", "keep": 4}
    turn = {"maxima": [1], "minima": [-1], "extrema": [1, -1]}
    for section, sides in turn.items():
        found = pi.analysis.bifurcation(
            pi.systems.oscillator, {"x": [1, 3]}, "x", section=section, **run
        )
        sizes = np.abs(found.values)
        assert np.allclose(sizes, found.at[:, np.newaxis], rtol=1e-12, atol=0)
        assert set(np.sign(found.values.flat)) == set(sides)


def test_extremes_of_any_component_and_function_are_where_its_rate_is_zero():
    """Of the maxima of z in Lorenz's system dz/dt = x y - beta z is zero."""
    run = {"dt": 0.005, "transient": 5.0, "t_end": 15.0, "keep": 5, "method": "dop853"}
    own = lambda t, y: y[2] - t  # noqa: E731
    for quantity, rate in (("z", 0.0), (own, 1.0)):
        found = pi.analysis.bifurcation(pi.systems.lorenz, {"rho": [28.0, 35.0]}, quantity, **run)
        x, y, z = np.moveaxis(found.section.y, -1, 0)
        assert np.abs(x * y - 8 / 3 * z - rate).max() < 1e-10  # of terms of some hundreds
        assert found.count.tolist() == [5, 5]


def test_a_motion_that_rests_has_no_points():
    run = {"dt": 0.1, "transient": 100.0, "keep": 5}
    found = pi.analysis.bifurcation(pi.systems.lorenz, {"rho": [0.5, 28.0]}, "z", **run)
    assert found.count.tolist() == [0, 5]
    assert np.isnan(found.values[0]).all()
    assert "1 trajectories without any" in repr(found)
    assert found.plot().get_title(loc="right") == "1 of 2 have no points"


# ---- escapes and passages ------------------------------------------------------------------------


def test_a_throw_leaves_when_the_parabola_does():
    v = np.linspace(0.0, 12.0, 7)
    start = np.zeros((7, 3)), np.stack([0 * v, 0 * v, v], axis=-1)
    walls = {"ceiling": lambda t, x, v: x[2] - 3.0, "floor": lambda t, x, v: -1.0 - x[2]}
    found = pi.analysis.escape_times(pi.systems.projectile, walls, *start, dt=0.1, t_end=6.0)
    over = v * v > 2 * G * 3
    with np.errstate(invalid="ignore"):
        top = (v - np.sqrt(v * v - 2 * G * 3)) / G
    bottom = (v + np.sqrt(v * v + 2 * G)) / G
    assert np.all(abs(found.t - np.where(over, top, bottom)) < 60 * 8 * EPS)
    assert found.exit.tolist() == np.where(over, 0, 1).tolist()
    assert found.names == ("ceiling", "floor")
    assert np.all(found.passed)
    assert found.remaining([0.0, found.t.max()]).tolist() == [1.0, 0.0]
    assert found.remaining(np.median(found.t)) == pytest.approx(3 / 7)


def test_who_begins_outside_leaves_at_once_and_who_stays_never():
    x = np.array([0.5, 1.5, 3.0])
    for outside in (lambda t, x, v: abs(x) - 2.0, lambda t, x, v: abs(x) > 2.0):
        found = pi.analysis.escape_times(pi.systems.oscillator, outside, x, 0.0, dt=0.1, t_end=9.0,
                                         t0=4.0)  # fmt: skip
        assert np.array_equal(found.t, [np.nan, np.nan, 4.0], equal_nan=True)
        assert found.exit.tolist() == [-1, -1, 0]


def test_paths_with_noise_leave_through_the_exits_that_are_given():
    """As by events of their own, and at once where they begin outside."""
    y = np.append(np.zeros(50), 9.0)[:, None]
    run = {"dt": 0.05, "n_steps": 100, "seed": 3, "method": "euler_maruyama"}
    system, up = pi.systems.ornstein_uhlenbeck(rate=0.0), lambda t, y: y[0] - 1.0
    found = pi.analysis.escape_times(system, {"up": up, "far": lambda t, y: y[0] - 5.0}, y, **run)
    own = pi.integrate(system, y, **run, events={"up": pi.event(up, direction=1, stop=True)})
    assert np.array_equal(found.t[:-1], own.stopped_at[:-1], equal_nan=True)
    assert found.t[-1] == 0.0


def test_a_condition_leaves_at_the_first_step_where_it_holds():
    system, run = pi.systems.oscillator, {"dt": 0.1, "n_steps": 90}
    found = pi.analysis.escape_times(system, lambda t, x, v: x < -0.7, 1.0, 0.0, **run)
    full = pi.integrate(system, 1.0, 0.0, **run)
    assert found.t == full.t[(full.x < -0.7).argmax()]


def test_a_number_is_left_where_the_largest_component_is_beyond():
    system, run = pi.systems.henon_heiles, {"dt": np.linspace(-0.04, -0.06, 60), "n_steps": 800}
    start = np.random.default_rng(2).uniform(-0.7, 0.7, (60, 4))
    found = pi.analysis.escape_times(system, 5.0, start, t0=2.0, **run)
    full = pi.integrate(system, start, t0=2.0, on_failure="ignore", **run)
    beyond = ~(abs(full.y) <= 5.0).all(axis=-1)
    first = np.where(beyond.any(axis=0), beyond.argmax(axis=0), 0)
    t = np.where(
        beyond.any(axis=0), np.take_along_axis(full.t, first[np.newaxis], axis=0)[0], np.nan
    )
    assert 5 < found.passed.sum() < 60
    assert np.array_equal(found.t, t, equal_nan=True)
    with pytest.raises(TypeError, match="leave bound= out"):
        pi.analysis.escape_times(system, 5.0, start, bound=3.0, **run)


def test_who_fails_before_a_number_is_left_is_told():
    """It had never left, without a word."""
    runaway = pi.rhs(lambda t, y: (np.exp(y[0]),), dim=1)
    start = np.array([[0.0], [-3.0]])
    with pytest.warns(pi.IntegrationWarning, match="1 of 2 .* finite"):
        found = pi.analysis.escape_times(runaway, 1e3, start, dt=0.1, t_end=3.0)
    assert np.isnan(found.t).all()
    pi.analysis.escape_times(runaway, 10.0, [[0.5]], dt=0.01, t_end=3.0)  # left: no failure


def test_who_fails_before_a_passage_is_told():
    rate = pi.rhs(dim=1)(lambda t, y: (np.sqrt(1 - y[0]),))
    with pytest.warns(pi.IntegrationWarning, match="1 of 2"):
        pi.analysis.first_passages(rate, lambda t, y: y[0] - 0.9, [[0.0], [1.2]], dt=0.1, t_end=5.0)


def test_quarter_periods_are_first_passages():
    amplitude = np.linspace(0.1, 3.0, 20)
    run = {"dt": 0.01, "t_end": 20.0, "method": "yoshida6"}
    pendulum = pi.systems.pendulum
    found = pi.analysis.first_passages(pendulum, "theta", amplitude, 0.0, **run)
    period = pendulum.period(found.solution.initial)
    assert np.all(abs(4 * found.t / period - 1) < 1e-9)
    half = pi.analysis.first_passages(
        pendulum, "omega", amplitude, 0.0, direction=1, after=1.0, **run
    )
    late = np.where(period / 2 < 1.0, 1.5, 0.5)  # upwards: at the far end, once a period
    assert np.all(abs(half.t / period - late) < 1e-7)


# ---- scans ---------------------------------------------------------------------------------------


def test_a_scan_is_the_product_of_its_axes():
    k, b, x = np.array([1.0, 4.0, 9.0]), np.array([0.0, 0.3]), np.array([0.5, 1.0, 1.5, 2.0])
    run = {"dt": 0.05, "t_end": 6.0}
    found = pi.scan(pi.systems.spring, {"k": k, "x": x, "b": b}, pi.watch.last("v"), **run)
    assert found.values.shape == (3, 4, 2)
    assert found["x"] is found.axes["x"]
    for i, j, m in np.ndindex(3, 4, 2):
        one = pi.integrate(pi.systems.spring(k=k[i], b=b[m]), x[j], 0.0, **run)
        assert found.values[i, j, m] == one.v[-1]


@pytest.mark.parametrize("batch", [(), (5,), (1, 5)])
def test_a_batch_comes_after_the_grid(batch):
    start = np.ones((*batch, 2)) * np.linspace(1, 2, 5)[:, np.newaxis] if batch else np.ones(2)
    found = pi.scan(pi.systems.spring, {"k": [1.0, 2.0, 3.0]}, lambda sol: sol.final[..., 0], start,
                    dt=0.1, n_steps=20)  # fmt: skip
    assert found.values.shape == (3, *start.shape[:-1])
    system = pi.systems.spring(k=2.0)
    assert same_bits(found.values[1], pi.integrate(system, start, dt=0.1, n_steps=20).y[-1, ..., 0])


def test_measures_are_watches_events_and_functions():
    omega = np.linspace(1, 3, 5)
    scan = {"system": pi.systems.oscillator, "axes": {"omega": omega}, "dt": 0.05, "t_end": 20.0,
            "method": "dop853"}  # fmt: skip
    first = pi.scan(**scan, measure=pi.event("x", -1)).values
    assert np.all(abs(first * omega - np.pi / 2) < 1e-11)
    count = pi.scan(**scan, measure=pi.event("x", -1, keep=0)).values
    assert np.array_equal(count, np.floor((20.0 * omega / np.pi - 0.5) / 2) + 1)
    largest = pi.scan(**scan, measure=lambda sol: sol.x.max(axis=0), save="all").values
    beside = {"measure": pi.watch.maximum("x"), "watch": "energy_drift"}
    assert np.array_equal(largest, pi.scan(**scan, **beside).values)


@pytest.mark.parametrize(("axes", "measure", "words"), [
    ({"z": [1.0]}, pi.watch.last("x"), "'z' is no parameter and no component.*omega, x, v"),
    ([1.0], pi.watch.last("x"), "axes must map names"), ({}, pi.watch.last("x"), "must map names"),
    ({"omega": 1.0}, pi.watch.last("x"), r"shape \(n,\), got \(\)"),
    ({"omega": [1.0]}, "x", "measure must be a watch"),
    ({"omega": [1.0]}, pi.watch.mean, "call pi.watch.mean with a quantity"),
    ({"omega": [1.0, 2.0]}, lambda sol: sol.y[..., 0], "one number for each trajectory"),
])  # fmt: skip
def test_wrong_scans_are_refused(axes, measure, words):
    with pytest.raises((TypeError, ValueError), match=words):
        pi.scan(pi.systems.oscillator, axes, measure, dt=0.1, n_steps=3)


def test_the_name_of_the_measure_is_its_own():
    """A watch of that name was replaced by it."""
    own = {"measure": pi.watch.maximum("x")}
    with pytest.raises(ValueError, match="watch has a 'measure'"):
        pi.scan(pi.systems.spring, {"k": [1.0]}, pi.watch.last("x"), dt=0.1, n_steps=3, watch=own)


def test_what_is_no_quantity_of_a_bifurcation_diagram_is_told():
    with pytest.raises(ValueError, match=r"quantity must be .* 'rossler' \(x, y, z\) or a .* 'w'"):
        pi.analysis.bifurcation(pi.systems.rossler, {"c": [3.0]}, "w", transient=1.0, dt=0.1)


def test_a_section_of_no_known_name_is_told_the_names():
    with pytest.raises(
        ValueError, match="'maxima', 'minima', 'extrema' or a quantity, and .*'max'"
    ):
        pi.analysis.bifurcation(
            pi.systems.rossler, {"c": [3.0]}, "x", section="max", transient=1.0, dt=0.1
        )


def test_the_beginning_of_a_bifurcation_is_its_transient():
    with pytest.raises(TypeError, match="bifurcation decides on after and values itself"):
        pi.analysis.bifurcation(
            pi.systems.rossler, {"c": [3.0]}, "x", after=1.0, transient=1.0, dt=0.1
        )


def test_what_is_watched_beside_a_section_is_kept():
    """It was taken, and lost."""
    run = {"dt": 0.02, "n_steps": 1000}
    c, watch = np.array([2.5, 4.0]), {"low": pi.watch.last("x")}
    last = pi.integrate(pi.systems.rossler(c=c), **run).final[:, 0]
    points = pi.analysis.crossings(pi.systems.rossler(c=c), "y", watch=watch, **run)
    drawn = pi.analysis.bifurcation(
        pi.systems.rossler, {"c": c}, "x", transient=5.0, watch=watch, **run)  # fmt: skip
    for section in points, drawn.section:
        assert np.array_equal(section.watched["low"], last)


# ---- basins --------------------------------------------------------------------------------------


def test_basins_of_trajectories_that_stop_when_they_have_arrived():
    """Once its energy is below that of the hill, a ball stays in its well."""
    x, v = np.linspace(-2, 2, 16), np.linspace(-2, 2, 10)[:, np.newaxis]
    wells = pi.systems.duffing(delta=0.3, gamma=0.0)
    arrived = pi.event(lambda t, x, v: (v * v - x * x + x**4 / 2) / 2 + 0.2, -1, stop=True)
    run = {"dt": 0.05, "t_end": 100.0, "save": "final"}
    all_of_it = pi.integrate(wells, x, v, **run)
    stopped = pi.integrate(wells, x, v, **run, events={"arrived": arrived})
    assert np.mean(stopped.status == pi.Status.STOPPED) > 0.9
    slow = pi.analysis.basin(all_of_it, [[-1.0], [1.0]], components="x", tolerance=0.5)
    fast = pi.analysis.basin(stopped, [[-1.0], [1.0]], components="x", tolerance=0.5)
    assert np.array_equal(slow.label, fast.label)
    assert set(fast.label.ravel()) == {0, 1}
