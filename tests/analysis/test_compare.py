"""`compare` reproduces the project's table, and says what it compared."""

from decimal import Decimal

import numpy as np
import pytest

import pyintegrate as pi

# Acceptance data: undamped oscillator, x0 = 1, v0 = 0, to t = 90; energy ratio, largest energy
# error, phase error. Strings: each value must round to the digits written.
TABLE = [
    (15, 0.1, "rk4", "0.959447735", "0.0405523", "-0.0618907"),
    (15, 0.1, "semi_implicit_euler", "1.2256712", "0.240155", "2.34697"),
    (15, 0.1, "velocity_verlet", "0.971027321", "0.0375", "2.22421"),
    (15, 0.25, "rk4", "0.0258466888", "0.974153", "-1.75774"),
    (15, 0.25, "semi_implicit_euler", "1.67609355", "0.938421", "15.3638"),
    (1, 0.1, "rk4", "0.999987516", "1.24843e-05", "-7.47323e-05"),
    (1, 0.1, "semi_implicit_euler", "1.04609357", "0.0526307", "0.0746422"),
]
# Spring k = 15, b = 0.1, x0 = 1000, dt = 0.01, to t = 60: energy ratio, position.
SPRING = [
    ("explicit_euler", "20.009880214", "4441.921182413"),
    ("semi_implicit_euler", "0.002472780361", "49.675408904596"),
    ("velocity_verlet", "0.002470286147", "49.563315267801"),
    ("rk4", "0.002471267480", "49.363716989560"),
]


def assert_rounds_to(value, text):
    """Half a unit of the last digit, and as much again per cent for a tie."""
    unit = Decimal(1).scaleb(Decimal(text).as_tuple().exponent)
    assert abs(Decimal(float(value)) - Decimal(text)) <= Decimal("0.51") * unit, (value, text)


@pytest.fixture(scope="module")
def two_steps():
    oscillator = pi.systems.oscillator(omega=15**0.5)
    return pi.compare(oscillator, 1.0, 0.0, dt=[0.1, 0.25], t_end=90.0)


@pytest.mark.parametrize(("omega_squared", "dt", "method", "ratio", "largest", "phase"), TABLE)
def test_the_table_of_phase_drift_and_energy_loss(omega_squared, dt, method, ratio, largest, phase):
    oscillator = pi.systems.oscillator(omega=omega_squared**0.5)
    c = pi.compare(oscillator, x0=1.0, v0=0.0, methods=[method], dt=dt, t_end=90.0)
    measured = c.summary()[method]
    assert_rounds_to(measured["energy_ratio"], ratio)
    assert_rounds_to(measured["max_energy_error"], largest)
    assert_rounds_to(measured["phase_error"], phase)


@pytest.mark.parametrize(("method", "ratio", "position"), SPRING)
def test_the_damped_spring(method, ratio, position):
    c = pi.compare(pi.systems.spring(k=15, b=0.1), 1000.0, 0.0, methods=method, dt=0.01, t_end=60.0)
    # The numbers are known to 12 digits; 6000 steps may round differently in the last two.
    assert c.summary()[method]["energy_ratio"] == pytest.approx(float(ratio), rel=1e-9)
    assert c[method].x[-1] == pytest.approx(float(position), rel=1e-10)


def test_keys_are_names_or_names_with_steps(two_steps):
    one = pi.compare(pi.systems.oscillator, methods=["midpoint", "rk4"], dt=0.1, n_steps=3)
    assert list(one) == ["midpoint", "rk4"]
    assert list(two_steps) == [
        (method, dt) for dt in (0.1, 0.25) for method in ("rk4", "semi_implicit_euler")
    ]
    assert two_steps["rk4", 0.25].n_steps == 360
    assert len(two_steps) == 4
    assert ("rk4", 0.1) in two_steps
    assert "rk4" not in two_steps


def test_a_solution_is_what_integrate_returns(two_steps):
    alone = pi.integrate(pi.systems.oscillator(omega=15**0.5), 1.0, 0.0, dt=0.1, t_end=90.0)
    assert np.array_equal(two_steps["rk4", 0.1].y, alone.y)


def test_an_alias_finds_its_method():
    method = pi.methods["semi_implicit_euler"]
    c = pi.compare(pi.systems.oscillator, methods=[method], dt=0.1, n_steps=3)
    for alias in method.aliases:
        assert c[alias] is c["semi_implicit_euler"]


def test_a_missing_key_names_the_nearest(two_steps):
    with pytest.raises(KeyError, match="did you mean 'rk4'"):
        two_steps["rk5", 0.1]


def test_equal_work_spends_the_same_evaluations():
    c = pi.compare(
        pi.systems.oscillator,
        methods=["rk4", "semi_implicit_euler", "midpoint"],
        dt=0.25,
        t_end=90.0,
        equal_work=True,
    )
    assert [s.n_steps for s in c.values()] == [360, 1440, 720]
    for solution in c.values():
        # The span is the same up to the rounding of n * (span/n).
        assert solution.t[-1] == pytest.approx(90.0, rel=1e-15)
        assert solution.evaluations == pytest.approx(1440, abs=1)  # a first force may be extra


def test_equal_work_counts_the_forces_of_a_damped_spring():
    # The force depends on the velocity, so that Verlet's last force cannot be the next step's
    # first: it costs two evaluations a step there, as many as the midpoint rule.
    c = pi.compare(
        pi.systems.spring, methods=["midpoint", "velocity_verlet"], dt=0.1, n_steps=100,
        equal_work=True,
    )  # fmt: skip
    assert c["velocity_verlet"].n_steps == 100


def test_both_regimes_at_equal_work():
    """Short: RK4 is the most accurate. Long: it has lost its energy, the symplectic one not."""
    oscillator = pi.systems.oscillator(omega=15**0.5)
    error = {}
    for t_end in (2.5, 2500.0):
        error[t_end] = pi.compare(oscillator, dt=0.1, t_end=t_end, equal_work=True).summary()
    rk4, euler = error[2.5]["rk4"], error[2.5]["semi_implicit_euler"]
    assert rk4["max_position_error"] < 0.1 * euler["max_position_error"]
    rk4, euler = error[2500.0]["rk4"], error[2500.0]["semi_implicit_euler"]
    assert rk4["energy_ratio"] < 0.35
    assert euler["max_energy_error"] < 0.06


def test_options_reach_integrate():
    c = pi.compare(pi.systems.oscillator, dt=0.1, n_steps=10, save="final", t0=2.0)
    assert all(len(s.t) == 1 and s.t[0] == pytest.approx(3.0) for s in c.values())


def called_energy(t, x, v):
    return np.array([0.5 * float(a) ** 2 + 0.5 * float(b) ** 2 for a, b in zip(x, v, strict=True)])


@pytest.mark.parametrize(
    ("system", "options"),
    [
        (pi.langevin(pi.systems.duffing(delta=0, gamma=0), friction=1, temperature=1), {"seed": 1}),
        (pi.acceleration(trace=False, energy=called_energy)(lambda t, x, v: -x), {}),
    ],
    ids=["heat bath", "called"],
)
def test_an_energy_that_no_watch_takes_is_that_of_the_saves(system, options):
    run = {"x0": 1.0, "v0": 0.0, "methods": ["baoab" if options else "rk4"], "dt": 0.1, **options}
    (last,) = pi.compare(system, n_steps=10, save="final", **run).summary().values()
    (all_of_it,) = pi.compare(system, n_steps=10, **run).summary().values()
    assert last["energy_change"] == all_of_it["energy_change"]


def test_the_table_shows_the_summary(two_steps):
    table = two_steps.table()
    text = str(table)
    assert text == repr(two_steps)
    for part in ("dt [s]", "phase error [rad]", "0.959447735", "+15.3638", "3,600"):
        assert part in text
    assert [row[0] for row in table.rows] == ["exact"] + ["rk4", "semi_implicit_euler"] * 2
    assert table._repr_html_().count("<tr>") == 1 + len(table.rows)
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("name", ["oscillator", "pendulum", "kepler", "projectile"])
def test_the_exact_motion_of_a_conservative_system_keeps_its_energy(name):
    # Below 1e-12, a few thousand ulps of a closed form, the table writes 0. The energy comes from
    # C and the exact motion from NumPy: this fails where either is wrong.
    table = pi.compare(pi.systems[name], methods=["rk4"], dt=0.1, t_end=20.0).table()
    exact = dict(zip(table.columns, table.rows[0], strict=True))
    assert exact["method"] == "exact"
    assert (exact.get("E(end)/E(0)"), exact.get("energy change")) in [
        ("1.000000000", None),
        (None, "+0"),
    ]
    assert exact["max energy error"] == "0"


@pytest.mark.parametrize("start", [2.0, 0.0, -2.0, [2.0, -2.0]])
def test_the_table_says_whether_energy_was_lost(start):
    """A sledge that slows down loses energy, whatever is called 0: E/E0 would rise below it."""

    @pi.acceleration(start=0.0, energy=lambda t, x, v, start: v**2 / 2 - 0.5 + start)
    def sledge(t, x, v, start):
        return -0.1 * v

    c = pi.compare(sledge(start=start), 0.0, 1.0, methods="rk4", dt=0.1, n_steps=50)
    shown = c.table().to_pandas().iloc[-1]
    if start == 2.0:
        assert float(shown["E(end)/E(0)"]) < 1
        assert "energy change" not in shown
    else:
        lost = c["rk4"].energy_error()[-1]
        assert np.all(lost < 0)
        assert np.array_equal(c.summary()["rk4"]["energy_change"], lost)
        cells = np.array(str(shown["energy change"]).split(" / "), float)
        assert cells == pytest.approx(
            [np.median(lost), np.min(lost)][: len(cells)], rel=1e-5
        )  # 6 digits
        assert "E(end)/E(0)" not in shown


def test_the_table_of_a_batch_shows_median_and_worst():
    springs = pi.systems.oscillator(omega=np.array([1.0, 2.0, 4.0]))
    c = pi.compare(springs, methods=["rk4"], dt=0.1, t_end=9.0)
    ratios = c.summary()["rk4"]["energy_ratio"]
    assert ratios.shape == (3,)
    assert f"{np.median(ratios):.9f} / {ratios.min():.9f}" in str(c.table())
    assert "median / worst of 3 trajectories" in str(c.table())


def test_columns_without_values_are_left_out():
    text = str(pi.compare(pi.systems.lorenz, methods=["rk4", "midpoint"], dt=0.01, n_steps=10))
    assert "E(end)" not in text
    assert "phase" not in text
    assert "evaluations" in text


def test_failed_trajectories_are_counted():
    c = pi.compare(
        pi.systems.spring(k=np.array([1.0, 1e12])),
        methods=["explicit_euler"],
        dt=1.0,
        n_steps=100,
        on_failure="ignore",
    )
    table = c.table()
    assert table.columns[-1] == "failed"
    assert table.rows[-1][-1] == "1"
    assert not table.rows[-1][0].startswith("exact")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"methods": ["rk5"]}, ValueError, "rk4"),
        ({"methods": []}, ValueError, "methods is empty"),
        ({"methods": ["rk4", "rk4"]}, ValueError, "2 times"),
        ({"method": "rk4"}, TypeError, "methods="),
        ({"dt": []}, ValueError, "dt"),
        ({"dt": [[0.1, 0.2]]}, ValueError, r"\(1, 2\)"),
        ({"dt": [0.1, 0.1]}, ValueError, "2 times"),
        ({"n_steps": None}, (TypeError, ValueError), "t_end"),
    ],
)
def test_wrong_calls_say_what_is_wrong(arguments, error, message):
    with pytest.raises(error, match=message):
        pi.compare(pi.systems.oscillator, **({"dt": 0.1, "n_steps": 3} | arguments))


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"methods": 3}, TypeError, "methods must be names or Methods, got 3"),
        ({"methods": [3]}, TypeError, "methods must be names or Methods, got 3"),
        ({"methods": ["rk4", pi.tolerance(1e-7)]}, TypeError, r"1e-07>: \(.auto., pi.tolerance"),
        ({"methods": pi.tolerance(1e-7)}, TypeError, r"1e-07>: \(.auto., pi.tolerance"),
        ({"methods": ["rk"]}, LookupError, "'rk' is not known: did you mean"),
        ({"dt": "a"}, TypeError, "dt must hold real numbers"),
        ({"dt": [[0.1]]}, ValueError, r"dt must be a number or a sequence of numbers, got shape"),
        ({"dt": [0.1, None]}, TypeError, "dt must hold real numbers"),
        ({"equal_work": "yes"}, TypeError, "equal_work must be True or False, got 'yes'"),
    ],
    ids=str,
)
def test_wrong_arguments_are_named(wrong, error, message):
    right = {"methods": ["rk4"], "dt": 0.1, "t_end": 1.0}
    with pytest.raises(error, match=message):
        pi.compare(pi.systems.oscillator, **{**right, **wrong})


@pytest.mark.parametrize("dt", [0.05, -0.05])
def test_what_an_event_has_stopped_is_compared_with_the_truth_at_the_stop(dt):
    """RK4 is exact in vacuum: its error at the landing is rounding, and to land is no failure."""
    floor = {"floor": pi.event("z", direction=0, stop=True)}
    start = [[0.0, 0, 1], [0.0, 0, 2]], [3.0, 0, -5 if dt < 0 else 5]
    run = {"dt": dt, "n_steps": 60, "events": floor}
    c = pi.compare(pi.systems.projectile, *start, methods=["rk4", "explicit_euler"], **run)
    assert np.isfinite(c["rk4"].stopped_at).all()
    assert (c.summary()["rk4"]["max_position_error"] < 1e-13).all()  # m; of some 10 m
    assert "failed" not in c.table().columns
    euler = c["explicit_euler"]
    when = euler.stopped_at
    x, v = np.asarray(start[0]), np.asarray(start[1])
    true = x + v * when[:, np.newaxis] - [0, 0, 9.81 / 2] * when[:, np.newaxis] ** 2
    assert euler.error()[-1, :, :3] == pytest.approx(euler.final[:, :3] - true, abs=1e-12)


def test_a_comparison_of_no_trajectories_has_a_table():
    c = pi.compare(pi.systems.pendulum, np.zeros((0, 2)), methods=["rk4", "gauss4"], dt=1, t_end=5)
    assert "median / worst of 0 trajectories" in str(c.table())


@pytest.mark.parametrize("saved", [{"save": "all"}, {"save": "final"}, {"times": [0.5, 1.0, 2.5]}])
def test_the_end_is_one_moment_in_all_columns(saved):
    """Two throws that come down at different times; the saves may end before the run."""
    ground = pi.event("z", direction=-1, stop=True)
    c = pi.compare(pi.systems.projectile, methods=["rk4", "semi_implicit_euler"], dt=0.1, t_end=5.0,
                   events={"ground": ground}, **saved)  # fmt: skip
    for name, found in c.summary().items():
        assert found["energy_error"] == abs(found["energy_change"]) <= found["max_energy_error"]
        assert c[name].error()[-1, :3] @ c[name].error()[-1, :3] == pytest.approx(
            found["position_error"] ** 2
        )
    short = pi.compare(pi.systems.pendulum, methods="rk4", dt=0.1, t_end=5.0, times=[0.5, 1.0])
    (found,) = short.summary().values()
    assert found["max_energy_error"] == abs(short["rk4"].energy_error()).max()
    assert "max energy error of the saves" in str(short.table())


def test_a_state_that_a_failed_run_repeats_is_not_compared_with_later_ones():
    run = {"methods": "explicit_euler", "dt": 0.1, "bound": 6.0, "on_failure": "ignore"}
    whole = pi.compare(pi.systems.pendulum, t_end=20.0, **run)
    sol = whole["explicit_euler"]
    held = pi.compare(pi.systems.pendulum, n_steps=int(sol.failed_step) - 1, **run)
    (found,), (until,) = whole.summary().values(), held.summary().values()
    assert found["max_position_error"] == until["max_position_error"]
    assert np.isnan(found["position_error"])
    assert found["energy_change"] == until["energy_change"]  # of the last good state
    late = pi.compare(pi.systems.pendulum, t_end=20.0, times=[10.0, 20.0], **run)
    assert np.isnan(late.summary()["explicit_euler"]["max_position_error"])


def test_a_comparison_of_some_components_has_a_table():
    c = pi.compare(pi.systems.kepler, dt=0.05, n_steps=20, components=["x"])
    assert c.table().columns == ("method", "evaluations", "seconds")
    both = pi.compare(pi.systems.pendulum, dt=0.05, n_steps=20, components=["theta"])
    assert "position error [rad]" in both.table().columns


def test_a_joint_table_has_its_columns_in_the_order_of_the_single_ones():
    systems = [pi.systems.kepler, pi.systems.lorenz, pi.systems.pendulum]
    joint = list(pi.compare(systems, dt=0.01, n_steps=20).table().columns)
    for system in systems:
        own = list(pi.compare(system, dt=0.01, n_steps=20).table().columns)
        assert sorted(own, key=joint.index) == own


def test_the_title_and_the_exact_row_are_of_one_span():
    """The runs of half the step end at half the time, and were said to end at that of the first."""
    run = {"methods": "rk4", "dt": [0.4, 0.2]}
    spring = pi.systems.spring(k=1.0, b=0.1)
    table = pi.compare(spring, **run, t_end=8.0).table()
    assert "t = 0 to 8 s" in table.title
    assert table.rows[0][0] == "exact"
    table = pi.compare(spring, **run, n_steps=20).table()
    assert "t =" not in table.title
    assert [row[0] for row in table.rows] == ["rk4", "rk4"]
