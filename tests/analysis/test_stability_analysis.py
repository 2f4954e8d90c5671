"""Stability found by taking steps is the stability of theory, for every method of the catalogue."""

import numpy as np
import pytest
from reference import POINT_METHODS

import pyintegrate as pi
from pyintegrate.analysis.stiffness import amplification, spring_growth, step_growth

EULER = "semi_implicit_euler"
TABLES = [m for m in POINT_METHODS if m.family in ("explicit_rk", "implicit_rk", "rosenbrock")]
SPRINGY = [m for m in POINT_METHODS if not m.velocity_free]  # a spring sees its velocity


def assert_largest_spring_is_in_theory(method, theory):
    if method.velocity_free:
        found = pi.analysis.max_stiffness(method, pi.systems.oscillator, "omega", dt=0.01)
    else:
        found = pi.analysis.max_stiffness(method, pi.systems.spring(b=0.0), dt=0.01) ** 0.5
    # The search ends at a relative width of 1e-6; the rest is for methods that creep over the
    # limit by less than the 1e-12 a step that is told from rounding.
    assert 0.01 * found == pytest.approx(theory, rel=1e-3)


@pytest.mark.parametrize("method", POINT_METHODS, ids=str)
def test_the_largest_stiffness_is_the_stability_limit(method):
    assert_largest_spring_is_in_theory(method, method.stability_limit)


def test_a_mutated_coefficient_moves_the_largest_stiffness():
    b = [1 / 6, 1 / 3 + 0.01, 1 / 3 - 0.01, 1 / 6]
    A = [[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 1 / 2, 0, 0], [0, 0, 1, 0]]
    with pytest.raises(AssertionError):
        assert_largest_spring_is_in_theory(pi.RungeKutta(A, b), 8**0.5)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_largest_stiffness_is_found_in_any_unit_of_time(unit):
    """Only values between 1e-12 and 1e12 were tried: it was inf for microseconds, 0 for years."""
    for method, system in (
        ("rk4", pi.systems.spring(b=0.0)),
        ("velocity_verlet", pi.systems.spring(b=1.5 / unit)),
        ("implicit_midpoint", pi.systems.spring(b=0.0)),
    ):
        far = pi.analysis.max_stiffness(method, system, dt=0.1 * unit) * unit**2
        near = pi.analysis.max_stiffness(method, system(b=system.params["b"] * unit), dt=0.1)
        assert far == pytest.approx(near, rel=1e-5)


def test_no_springs_have_no_largest_stiffness():
    """NumPy's IndexError."""
    none = pi.systems.spring(b=np.empty((2, 0)))
    assert pi.analysis.max_stiffness("rk4", none, dt=0.1).shape == (2, 0)


def test_all_methods_and_a_batch_of_dampings_at_once():
    b, dt = np.linspace(0, 1.5, 7), 0.5
    found = pi.analysis.max_stiffness([EULER, "rk4"], pi.systems.spring(b=b), "k", dt=dt)
    assert list(found) == [EULER, "rk4"]
    # The step of semi-implicit Euler has trace 2 - b h - k h^2 and determinant 1 - b h: it leaves
    # the unit circle through -1, at k h^2 = 4 - 2 b h.
    assert found[EULER] == pytest.approx((4 - 2 * b * dt) / dt**2, rel=1e-5)
    below, above = (
        spring_growth("rk4", share * found["rk4"] * dt**2, b * dt) for share in (0.999, 1.001)
    )
    assert np.all(below < 1)
    assert np.all(above > 1)
    assert "equal work" in str(found)
    assert found._repr_html_().count("<tr>") == 3


@pytest.mark.parametrize(
    ("system", "parameter"), [("oscillator", "omega"), ("spring", "k"), ("spring", "b")]
)
def test_at_equal_work_the_steps_are_as_many_times_longer(system, parameter):
    """Also where a limit goes with 1 / dt, velocity Verlet costs two forces, and of own methods."""
    own = pi.RungeKutta([[0, 0], [0.5, 0]], [0, 1], name="own")
    system, methods = pi.systems[system], [EULER, "velocity_verlet", "rk4", own]
    table = pi.analysis.max_stiffness(methods, system, parameter, dt=0.01).table()
    for method, (_, _, evaluations, fair) in zip(methods, table.rows, strict=True):
        run = pi.integrate(system, dt=0.01, n_steps=1000, method=method, save="final")
        assert int(evaluations) == run.evaluations // 1000
        longer = pi.analysis.max_stiffness(method, system, parameter, dt=0.01 * int(evaluations))
        assert float(fair) == pytest.approx(longer, rel=1e-5)


@pytest.mark.parametrize("method", ["lobatto_iiia4", "lobatto_iiib4", "bdf2", "bdf6", "gauss4"])
def test_no_damping_is_too_strong_for_methods_that_any_decay_leaves_stable(method):
    """The rounding of a step at b dt / m = 1e11 is no growth."""
    springs = pi.systems.spring(k=[15.0, 1500.0])
    assert np.all(pi.analysis.max_stiffness(method, springs, "b", dt=0.01) == np.inf)


@pytest.mark.parametrize("method", SPRINGY, ids=str)
def test_the_spring_explodes_in_simulation_where_the_step_says_so(method):
    k, b = np.meshgrid(np.linspace(0.05, 9, 24), np.linspace(0.02, 3, 16))
    growth = spring_growth(method, k, b)
    sure = np.abs(growth - 1) > 0.02  # 2000 steps then shrink or grow by 1e17 at least
    spring = pi.systems.spring(k=k, b=b)
    run = {"dt": 1.0, "method": method, "save": "final", "on_failure": "ignore"}
    sol = pi.integrate(spring, 1.0, 0.1, n_steps=2000, bound=1e12, **run)
    assert np.array_equal((sol.status != 0)[sure], (growth > 1)[sure])


@pytest.mark.parametrize("method", TABLES, ids=str)
def test_a_step_grows_by_the_stability_function(method):
    z = np.array([-0.3 + 0.4j, -1.0 + 0.5j, -0.1 + 1.5j])
    spring = pi.systems.spring(k=np.abs(z) ** 2, b=-2 * z.real)
    theory = np.abs(amplification(method, z))
    # A few ulps for every stage; where the eigenvalues of the step meet, the root of that.
    assert step_growth(spring, method, 1.0) == pytest.approx(theory, rel=3e-8)


def test_the_amplification_of_an_implicit_table_is_rational():
    z = np.array([-3.0, 2j, 1 + 1j])
    assert amplification(pi.methods["implicit_midpoint"], z) == pytest.approx(
        (1 + z / 2) / (1 - z / 2), rel=1e-14
    )


@pytest.mark.parametrize("method", TABLES, ids=str)
def test_the_view_of_a_region_holds_all_of_it_or_is_the_fixed_one(method):
    region = pi.analysis.stability_region(method, points=101)
    z = region.real + 1j * region.imaginary[:, np.newaxis]
    growth = spring_growth(method, np.abs(z) ** 2, -2 * z.real)
    assert np.array_equal(growth, region.growth)
    assert 0.02 < region.stable.mean() < 1
    assert "StabilityRegion" in repr(region)
    box = np.array([*region.real[[0, -1]], *region.imaginary[[0, -1]]])
    if not np.array_equal(box, [-7, 7, -7, 7]):
        edges = [region.stable[:, 0], region.stable[:, -1], region.stable[0], region.stable[-1]]
        assert np.mean(edges) < 0.02  # islands smaller than the search
        limit = pi.analysis.real_stability_limit(method) or 0.0
        assert box[0] < -limit


@pytest.mark.parametrize("method", [m for m in POINT_METHODS if m.velocity_free], ids=str)
def test_the_oscillator_explodes_in_simulation_where_the_step_says_so(method):
    omega = np.linspace(0.11, 3, 40)
    growth = spring_growth(method, omega**2, 0.0)
    sure = np.abs(growth - 1) > 0.02
    sure |= growth < 1 + 1e-9  # of symmetric methods
    run = {"dt": 1.0, "method": method, "save": "final", "on_failure": "ignore"}
    system = pi.systems.oscillator(omega=omega)
    sol = pi.integrate(system, 1.0, 0.1, n_steps=2000, bound=1e12, **run)
    assert np.array_equal((sol.status != 0)[sure], (growth > 1.01)[sure])
    with pytest.raises(ValueError, match=f"{method.name}.*velocity"):
        pi.analysis.stability_region(method)
    with pytest.raises(ValueError, match=f"{method.name}.*velocity"):
        spring_growth(method, 1.0, 0.1)


def test_the_region_of_explicit_euler_is_a_disc():
    def assert_disc(method):
        region = pi.analysis.stability_region(method)
        z = region.real + 1j * region.imaginary[:, np.newaxis]
        assert np.array_equal(region.stable, np.abs(1 + z) <= 1 + 1e-9)

    assert_disc("explicit_euler")
    with pytest.raises(AssertionError):
        assert_disc("midpoint")


def test_the_region_of_rk4_reaches_its_limits():
    region = pi.analysis.stability_region("rk4", extent=(-3, 1, -3, 3), points=401)
    axis, row = region.real, region.stable[200]  # Im z = 0, in steps of 0.01
    assert axis[row].min() == pytest.approx(-2.785293563405282, abs=0.01)  # root of R = 1
    column = region.imaginary[region.stable[:, 300]]  # Re z = 0, in steps of 0.015
    assert np.abs(column).max() == pytest.approx(8**0.5, abs=0.015)


def test_a_nonlinear_motion_explodes_by_its_own_measure():
    steep = pi.analysis.max_stiffness("rk4", pi.systems.pendulum, "g", dt=0.1, n_steps=500)
    # Small swings would bear omega dt = 2.83, g = 800; beyond, a pendulum turns and is bounded:
    # only its angle can run away, within 500 steps far beyond that.
    assert steep > 800
    with pytest.raises(ValueError, match="has no parameter 'k': it has g, length"):
        pi.analysis.max_stiffness("rk4", pi.systems.pendulum, dt=0.1)


def test_what_is_linear_only_for_some_parameters_is_not_linear():
    """Where beta or the time is 0 the well and the drag are linear: their limits were those."""
    well = pi.systems.duffing(gamma=0.0, alpha=1.0)
    run = {"dt": 0.1, "x0": 1.0, "v0": 0.0}
    limits = [pi.analysis.max_stiffness("rk4", well(beta=b), "beta", **run) for b in (0.0, 1.0)]
    assert limits[0] == limits[1] > 100
    both, second = (
        pi.analysis.max_stiffness("rk4", well(beta=b), "alpha", **run) for b in ([0.0, 1.0], 1.0)
    )
    assert both[0] > both[1] == second
    aged = pi.rhs(lambda t, y, k: (-k * t * y[0],), dim=1, k=1.0)
    assert pi.analysis.max_stiffness("rk4", aged, dt=0.1, x0=[1.0]) < 1  # it was 503


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**-20, 2.0**40])
def test_units_of_a_nonlinear_motion_change_no_limit(unit):
    """Limits beyond 1e12 were infinite, those below 1e-12 were 0; a small cube, and a slow drive,
    were taken for linear forces. The edge of this well is frayed."""

    def limit(length, time):
        own = {"alpha": -1 / time**2, "beta": 1 / (length * time) ** 2, "delta": 0.3 / time}
        well = pi.systems.duffing(gamma=0.0, **own)
        run = {"dt": 0.1 * time, "x0": 0.5 * length, "v0": 0.0}
        parts = {"alpha": time**2, "delta": time}
        return [pi.analysis.max_stiffness("rk4", well, p, **run) * u for p, u in parts.items()]

    def driven(time):
        swing = pi.acceleration(
            lambda t, x, v, k, w: -k * (1 + 0.9 * np.cos(w * t)) * x, k=1.0, w=1.0
        )
        run = {"dt": 0.1 * time, "x0": 0.5, "v0": 0.0}
        return pi.analysis.max_stiffness("rk4", swing(w=1 / time), **run) * time**2

    assert limit(1.0, unit) == pytest.approx(limit(1.0, 1.0), rel=1e-2)
    assert limit(unit, 1.0) == pytest.approx(limit(1.0, 1.0), rel=1e-2)
    assert driven(unit) == pytest.approx(driven(1.0), rel=1e-2)


def test_a_force_without_a_value_at_the_start_is_no_explosion():
    chain = pi.acceleration(lambda t, x, v, k: -k * x / np.sqrt(x @ x), dof=2, k=1.0)
    with pytest.raises(ValueError, match="force of .* is not finite at the start: give another x0"):
        pi.analysis.max_stiffness(EULER, chain, dt=0.1, x0=[0.0, 0], v0=[0.0, 0])
    with pytest.raises(ValueError, match="at the start: .*, or other parameters"):
        pi.analysis.max_stiffness(EULER, pi.systems.spring(b=np.nan), dt=0.1)
    assert pi.analysis.max_stiffness(EULER, chain, dt=0.1) > 1


def test_an_edge_is_found_to_rounding_and_no_further():
    """Halving to an rtol below it had no end."""
    edge = pi.analysis.max_stiffness("rk4", pi.systems.spring, dt=0.1, rtol=1e-300)
    usual = pi.analysis.max_stiffness("rk4", pi.systems.spring, dt=0.1)
    assert edge == pytest.approx(usual, rel=1e-2)  # its rtol


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f("rk4", pi.systems.spring(k=[1.0, 2.0]), dt=0.1), "single k"),
        (lambda f: f("rk5", pi.systems.spring, dt=0.1), "rk4"),
        (lambda f: f(EULER, pi.systems.lorenz, "rho", dt=0.1), "lorenz"),
        (lambda f: f("rk4", pi.systems.spring, dt=0.1, rtol=0.0), "rtol must be a positive"),
    ],
)
def test_wrong_calls_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call(pi.analysis.max_stiffness)


def test_a_region_needs_a_proper_extent():
    with pytest.raises(ValueError, match="extent"):
        pi.analysis.stability_region("rk4", extent=(1, 0, 0, 1))


def test_without_methods_all_that_fit_are_measured_and_agree_with_theory():
    spring = pi.systems.spring(b=0.0)
    found = pi.analysis.max_stiffness(None, spring, dt=0.1)
    assert list(found) == [method.name for method in pi.analysis.suitable_methods(spring)]
    for name, k in found.items():
        theory = pi.methods[name].stability_limit
        # The precision asked for, 1e-6 of k, and what a method at its limit leaves undecided.
        assert np.sqrt(k) * 0.1 == pytest.approx(theory, rel=1e-3, abs=1e-3), name
