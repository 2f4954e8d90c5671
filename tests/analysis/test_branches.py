"""Branches of equilibria: published bifurcations, and those that theory gives."""

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.analysis.portraits.closed_motions import multipliers


def points(found, kind):
    return found.values[found.kinds == kind]


@pi.rhs(dim=2, p1=0.0, p2=14.0, p3=2.0)
def reaction(t, y, p1, p2, p3):
    burnt = p1 * (1 - y[0]) * np.exp(y[1])
    return burnt - y[0], p2 * burnt - (1 + p3) * y[1]


@pi.rhs(dim=3, E0=-2.0)
def neural_mass(t, y, E0):
    E, x, u = y
    total = 1.5 * np.log(1 + np.exp((3.07 * u * x * E + E0) / 1.5))
    return (total - E) / 0.013, (1 - x) / 0.2 - u * x * E, (0.3 - u) / 1.5 + 0.3 * (1 - u) * E


def test_the_first_example_of_auto():
    """Its demo "ab": LP 1.05739E-01, 8.89318E-02, HB 1.30899E-01; p1 = u / ((1 - u) exp(14 u / 3)),
    whose extremes are at u (1 - u) = 3 / 14, and the trace vanishes at the Hopf point."""
    found = pi.analysis.continue_equilibria(reaction, "p1", (0, 0.15), [0.0, 0.0])
    u = 0.5 + np.array([-1, 1]) * np.sqrt(0.25 - 3 / 14)
    folds = u / ((1 - u) * np.exp(14 / 3 * u))
    assert points(found, "fold") == pytest.approx(folds, abs=1e-12)  # flat there: rounding
    assert folds == pytest.approx([1.05739e-1, 8.89318e-2], abs=5e-7)
    assert points(found, "Hopf") == pytest.approx([0.1309], abs=1.1e-6)
    assert found.stability[found.kinds != ""].tolist() == ["neutral", "unstable", "neutral"]
    (at,) = found.points[found.kinds == "Hopf"]
    J = reaction(p1=points(found, "Hopf")[0]).jacobian(0.0, at)
    assert np.trace(J) == pytest.approx(0, abs=1e-9)  # to rounding of the sum of its terms
    assert found.ends == "range"
    assert found.values[[0, -1]] == pytest.approx([0, 0.15], abs=0)
    field = [reaction(p1=p).rhs(0.0, y) for p, y in zip(found.values, found.points, strict=True)]
    assert np.abs(field).max() < 1e-10  # CLOSE, times the Jacobian


def test_the_first_example_of_bifurcationkit():
    """Its neural mass model, as printed there to eight digits."""
    found = pi.analysis.continue_equilibria(neural_mass, "E0", (-4, -0.9), [0.24, 0.98, 0.37])
    assert points(found, "fold") == pytest.approx([-1.46302733, -1.86522391], abs=1e-8)
    # Printed by bisection to 1e-7.
    assert points(found, "Hopf") == pytest.approx([-1.85012460, -1.15105934], abs=1e-7)


def test_batches_locate_as_theory_says_and_change_no_bits():
    """Lorenz: a pitchfork at rho = 1, Hopf at s (s + b + 3) / (s - b - 1)."""
    s, b = np.array([8.0, 10.0, 12.0]), 8 / 3
    several = pi.systems.lorenz(sigma=s)
    found = pi.analysis.continue_equilibria(several, "rho", (30, 0), [8.0, 8.0, 29.0])
    for i in range(3):
        own = found.kinds[i]
        assert found.values[i][own == "branch point"] == pytest.approx([1.0], abs=1e-9)
        hopf = s[i] * (s[i] + b + 3) / (s[i] - b - 1)
        assert found.values[i][own == "Hopf"] == pytest.approx([hopf, hopf], abs=1e-8)
    one = pi.analysis.continue_equilibria(pi.systems.lorenz(sigma=12.0), "rho", (30, 0),
                                          [8.0, 8.0, 29.0])  # fmt: skip
    assert one.points.tobytes() == found.points[2, : len(one.values)].tobytes()
    straight = pi.analysis.continue_equilibria(pi.systems.lorenz, "rho", (0, 30), [0.0, 0.0, 0.0])
    assert points(straight, "branch point") == pytest.approx([1.0], abs=1e-9)
    assert np.count_nonzero(straight.kinds != "") == 1
    assert "branch point" in str(straight.table())


def test_a_pitchfork_is_located_from_its_curved_side():
    """x^2 = a turns at the branch point a = 0, where the line x = 0 crosses it at a right angle:
    corrections beside it must not go to that line, or nowhere. Tests are silent below 1e-11."""
    pitchfork = pi.rhs(lambda t, y, a: (a * y[0] - y[0] ** 3,), dim=1, a=1.0)
    for first in (1.0, 0.09, 1.69):  # symmetrical steps, and others
        start = [[np.sqrt(first)], [-np.sqrt(first)]]
        found = pi.analysis.continue_equilibria(pitchfork, "a", (first, -1), start)
        assert points(found, "branch point") == pytest.approx([0, 0], abs=1e-10)
        assert found.points[found.kinds == "branch point"] == pytest.approx(0, abs=1e-10)
        assert found.points[:, -1, 0] == pytest.approx(-np.sqrt(first) * np.array([1, -1]))
        assert found.values.min() > -1e-10
        assert (found.ends == "range").all()


@pytest.mark.parametrize(("step", "at"), [(0.05, -0.9875), (0.08, -0.95), (0.4, -0.75)])
def test_a_bifurcation_at_a_point_of_the_path_is_found(step, at):
    """Steps are step / 8, and grow by half: of a straight branch these are its points."""

    @pi.rhs(dim=1, a=0.0, at=at)
    def pitchfork(t, y, a, at):
        return ((a - at) * y[0] - y[0] ** 3,)

    @pi.rhs(dim=2, a=0.0, at=at)
    def hopf(t, y, a, at):
        return (a - at) * y[0] - y[1], y[0] + (a - at) * y[1]

    for system, kind in (pitchfork, "branch point"), (hopf, "Hopf"):
        start = np.zeros(system.dim)
        found = pi.analysis.continue_equilibria(system, "a", (-1, 1), start, step=step)
        assert points(found, kind) == pytest.approx([at], abs=1e-12)
        found = pi.analysis.continue_equilibria(system(at=[at, 0.3]), "a", (-1, 1), [start] * 2)
        assert np.sort(points(found, kind)) == pytest.approx([at, 0.3], abs=1e-10)


@pytest.mark.parametrize("twins", [1, 2, 3])
def test_pairs_that_turn_unstable_together_are_a_hopf_point(twins):
    """Of equal parts: what changes its sign with one pair does not with two."""
    parts = pi.rhs(
        lambda t, y, a: [
            v for i in range(twins)
            for v in (a * y[2 * i] - y[2 * i + 1], y[2 * i] + a * y[2 * i + 1])
        ],
        dim=2 * twins, a=0.0,
    )  # fmt: skip
    found = pi.analysis.continue_equilibria(parts, "a", (-1, 1.3), np.zeros(2 * twins))
    assert found.kinds[found.kinds != ""].tolist() == ["Hopf"]
    assert points(found, "Hopf") == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize("twins", [1, 2, 3])
def test_states_that_branch_together_are_a_branch_point(twins):
    """Pitchfork bifurcations of equal parts; and two modes of a ring of three, by its symmetry."""
    parts = pi.rhs(lambda t, y, a: [a * y[i] - y[i] ** 3 for i in range(twins)], dim=twins, a=0.0)
    ring = pi.rhs(
        lambda t, y, a: [
            a * y[i] - (a + 1) * (y[0] + y[1] + y[2]) / 3 - y[i] ** 3 for i in range(3)
        ],
        dim=3, a=0.0,
    )  # fmt: skip
    for system in (parts, ring):
        found = pi.analysis.continue_equilibria(system, "a", (-1, 1.3), np.zeros(system.dim))
        assert found.kinds[found.kinds != ""].tolist() == ["branch point"]
        # Growth below 1e-11 of the largest rate is rounding.
        assert points(found, "branch point") == pytest.approx([0.0], abs=2e-11)


def test_a_hopf_point_beside_opposite_rates_is_found():
    """Both at a = 0, where real eigenvalues are 1 and -1."""
    both = pi.rhs(
        lambda t, y, a: (a * y[0] - y[1], y[0] + a * y[1], (1 + a) * y[2], -y[3]), dim=4, a=0.0
    )
    found = pi.analysis.continue_equilibria(both, "a", (-0.5, 1), np.zeros(4))
    assert found.kinds[found.kinds != ""].tolist() == ["Hopf"]


def test_a_hopf_point_beside_another_focus_is_located_to_rounding():
    """Where a pair is on the axis, the nearest one off it is the other: 2 % erred by 1e-6."""
    field = pi.rhs(
        lambda t, y, a, P, Q: P @ y + a * (Q @ y), dim=4, P=np.eye(4), Q=np.eye(4), a=0.0
    )
    rng = np.random.default_rng(0)
    P, Q = rng.integers(-3, 4, (300, 4, 4))[:60], rng.integers(-2, 3, (300, 4, 4))[:60]
    found = pi.analysis.continue_equilibria(field(P=P, Q=Q), "a", (-2, 2), np.zeros((60, 4)))
    off = np.abs(found.eigenvalues[found.kinds == "Hopf"].real).min(axis=-1)
    assert len(off) > 30
    assert off.max() < 1e-9


@pytest.mark.parametrize("bounds", [(0.01, 0.1), (0.1, 0.01), (0.03, 0.0386)])
def test_frequencies_that_collide_without_friction_are_located(bounds):
    """Triangular points of two masses, of which the smaller has Routh's share: all eigenvalues are
    on the axis below it. And Ziegler's column under a load that follows it."""

    @pi.acceleration(dof=2, mu=0.01)
    def three(t, x, v, mu):
        near, far = ((x[0] + mu - at) ** 2 + x[1] ** 2 for at in (1, 0))
        pull = (1 - mu) / far**1.5, mu / near**1.5
        ax = x[0] + 2 * v[1] - pull[0] * (x[0] + mu) - pull[1] * (x[0] + mu - 1)
        return ax, x[1] - 2 * v[0] - sum(pull) * x[1]

    @pi.acceleration(dof=2, load=0.0)
    def column(t, x, v, load):
        first, second = -2 * x[0] + x[1] + load * (x[0] - x[1]), x[0] - x[1]
        return (first - second) / 2, (3 * second - first) / 2

    found = pi.analysis.continue_equilibria(three, "mu", bounds, [0.49, 0.87, 0, 0])
    # Rounding of eigenvalues that nearly meet is its root.
    assert points(found, "Hopf") == pytest.approx([(1 - np.sqrt(23 / 27)) / 2], abs=1e-9)
    found = pi.analysis.continue_equilibria(column, "load", (0, 4), np.zeros(4))
    assert points(found, "Hopf") == pytest.approx([3.5 - np.sqrt(2)], abs=1e-9)


@pytest.mark.parametrize("first", [-1.0, -1.125, -1.13, -1.14, -1.17])
def test_a_node_that_turns_unstable_as_a_focus_passes_a_hopf_point(first):
    """a / 2 +- sqrt(a^2 / 4 - s) turns for |a| < 2 sqrt(s), less or more than a step."""
    damped = pi.rhs(lambda t, y, a, s: (y[1], a * y[1] - s * y[0]), dim=2, a=0.0, s=1e-4)
    for way in (1, -1):
        found = pi.analysis.continue_equilibria(
            damped(s=[1e-4, 4e-4]), "a", (way * first, 1.3 * way), np.zeros((2, 2))
        )
        assert points(found, "Hopf") == pytest.approx([0.0, 0.0], abs=1e-10)
        assert (found.kinds != "").sum() == 2


@pytest.mark.parametrize(("b", "tau"), [(1.5, 2.5), (1.4, 2.3), (3.0, 9.5), (1.859, 3.47511)])
def test_a_hopf_point_beside_a_fold_is_found(b, tau):
    """FitzHugh's and Nagumo's: Hopf points where 1 - v^2 = b / tau, and folds where it is 1 / b, so
    near that one step passes both."""
    field = pi.rhs(
        lambda t, y, current: (y[0] - y[0] ** 3 / 3 - y[1] + current, (y[0] - b * y[1]) / tau),
        dim=2, current=0.0,
    )  # fmt: skip
    found = pi.analysis.continue_equilibria(field, "current", (-1, 1), [-2.2, -2.2 / b])
    named = found.kinds != ""
    assert found.kinds[named].tolist() == ["Hopf", "fold", "fold", "Hopf"]
    v = np.sqrt(1 - np.array([b / tau, 1 / b]))
    expected = [*-v, *v[::-1]]
    assert found.points[named, 0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("bounds", [(-3, 4), (-2, 2), (-1, 2)])
def test_a_hopf_point_is_found_where_another_pair_begins_to_turn(bounds):
    """Of a pair that turns unstable one branches, and the other turns with what was unstable."""
    ends = [-0.11 + 0.45j, -0.11 - 0.45j, 0.93], [0.488 + 0.0565j, 0.488 - 0.0565j, -0.24]
    p, q = (np.poly(rates).real[:0:-1] for rates in ends)
    field = pi.rhs(lambda t, y, a: (y[1], y[2], -(p + a * (q - p)) @ y), dim=3, a=0.0)
    for step in (0.05, 0.1, 0.3):
        found = pi.analysis.continue_equilibria(field, "a", bounds, np.zeros(3), step=step)
        assert found.kinds[found.kinds != ""].tolist() == ["Hopf", "branch point"]


def test_equal_rates_that_turn_unstable_are_no_hopf_point():
    block = pi.rhs(lambda t, y, a: (a * y[0] + y[1], a * y[1]), dim=2, a=0.0)
    found = pi.analysis.continue_equilibria(block, "a", (-1, 1.3), np.zeros(2))
    assert "Hopf" not in found.kinds


def test_an_unstable_focus_that_becomes_a_node_is_no_hopf_point():
    spiral = pi.rhs(lambda t, y, k: (y[0] - k * y[1], y[0] + y[1]), dim=2, k=1.0)
    found = pi.analysis.continue_equilibria(spiral, "k", (1, -0.5), np.zeros(2))
    assert (found.kinds == "").all()
    assert found.eigenvalues[0].imag.any()
    assert not found.eigenvalues[-1].imag.any()


@pytest.mark.parametrize("damping", [0.1, 1.0, 9.0])
def test_a_saddle_whose_rates_are_opposite_is_no_hopf_point(damping):
    """At p = -9/16 they are 3/2 and -3/2, whatever oscillates beside, nearer to the axis or not."""

    @pi.rhs(dim=4, p=-1.0, damping=damping)
    def field(t, y, p, damping):
        a, b, c, d = y
        return p + a * a, -1.5 * b, -damping * c - 2 * d, 2 * c - damping * d

    found = pi.analysis.continue_equilibria(field, "p", (-1, 1), [1.0, 0, 0, 0])
    assert found.kinds[found.kinds != ""].tolist() == ["fold"]


@pytest.mark.parametrize("size", [1e-15, 1e-12, 1e-9, 1e-3, 1.0, 1e6])
def test_the_unit_of_the_state_changes_no_branch(size):
    """The ends of hysteresis in any unit; points lie on it to 1e-12 of the state."""

    @pi.rhs(dim=1, k=-1.0, size=size)
    def bent(t, y, k, size):
        x = y[0] / size
        return (size * (k + x - x**3 / 3),)

    found = pi.analysis.continue_equilibria(bent, "k", (-1, 1), [-2.1 * size])
    assert points(found, "fold") == pytest.approx([2 / 3, -2 / 3], abs=1e-10)
    x = found.points[..., 0] / size
    assert found.values + x - x**3 / 3 == pytest.approx(0, abs=1e-9)
    assert found.values[0] + x[0] - x[0] ** 3 / 3 == pytest.approx(0, abs=1e-13)
    assert found.stability[found.kinds == "fold"].tolist() == ["neutral", "neutral"]
    assert found.ends == "range"


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_components_have_units_of_their_own(unit):
    """The ends of hysteresis, beside something that follows in another unit."""
    beside = pi.rhs(
        lambda t, y, k, u: (k + y[0] - y[0] ** 3 / 3, u * y[0] - y[1]), dim=2, k=-1.0, u=unit
    )
    found = pi.analysis.continue_equilibria(beside, "k", (-1, 1), [-2.1, -2.1 * unit], step=0.2)
    assert points(found, "fold") == pytest.approx([2 / 3, -2 / 3], abs=1e-10)
    assert found.ends == "range"


@pytest.mark.parametrize("unit", [1e-8, 1e-4, 1e4])
def test_bifurcations_are_located_whatever_the_unit_of_a_component(unit):
    """Lorenz, with y in another unit: Hopf points erred by 4e-6 for 1e4, and a fold was none."""
    mixed = pi.rhs(
        lambda t, s, rho, u: (10 * (s[1] / u - s[0]), u * (rho * s[0] - s[1] / u - s[0] * s[2]),
                              s[0] * s[1] / u - 8 / 3 * s[2]),
        dim=3, rho=28.0, u=unit,
    )  # fmt: skip
    found = pi.analysis.continue_equilibria(mixed, "rho", (30, 0), [8, 8 * unit, 29], step=0.1)
    named = found.kinds != ""
    assert found.kinds[named].tolist() == ["Hopf", "branch point", "Hopf"]
    assert found.values[named] == pytest.approx([470 / 19, 1, 470 / 19], abs=1e-8)


@pytest.mark.parametrize("second", [1e-12, 1e9, 1e12])
def test_a_branch_point_is_located_whatever_the_unit_of_time(second):
    """Damped, beside velocities that are small or large: slow ones were missed."""
    slow = pi.acceleration(
        lambda t, x, v, a, s: np.stack([a - x[0] - x[0] ** 3, (a - 1) * x[1] - x[1] ** 3]) / s**2
        - 0.2 * v / s,
        dof=2, a=0.0, s=second,
    )  # fmt: skip
    found = pi.analysis.continue_equilibria(slow, "a", (-0.5, 2.0), [-0.4, 0, 0, 0])
    assert found.kinds[found.kinds != ""].tolist() == ["branch point"]
    assert points(found, "branch point") == pytest.approx([1.0], abs=1e-10)


@pytest.mark.parametrize("second", [1e-15, 1.0, 1e12, 1e15])
def test_a_pitchfork_is_located_whatever_the_unit_of_time(second):
    """Along x^2 = a: in seconds it erred by 4e-6 for a motion of 1e12 s, and was none for one of
    1e15 s, beside whose velocities those of size 1 were large."""
    slow = pi.acceleration(
        lambda t, x, v, a, s: (a * x - x**3) / s**2 - 0.1 * v / s, a=1.0, s=second
    )
    found = pi.analysis.continue_equilibria(slow, "a", (1, -1), [1.0, 0.0])
    assert found.kinds[found.kinds != ""].tolist() == ["branch point"]
    assert points(found, "branch point") == pytest.approx([0.0], abs=1e-13)


def test_what_leads_nowhere_and_wrong_arguments_are_told():
    never = pi.rhs(lambda t, y, k: (y[0] ** 2 + 1 + k**2,), dim=1, k=0.0)
    found = pi.analysis.continue_equilibria(never, "k", (0, 1), [0.3])
    assert found.ends == "no start"
    found = pi.analysis.continue_equilibria(never, "k", (0, 1), [[np.nan], [np.inf], [1e300]])
    assert (found.ends == "no start").all()
    assert pi.analysis.continue_equilibria(never, "k", (0, 1), np.zeros((0, 1))).ends.shape == (0,)
    short = pi.analysis.continue_equilibria(reaction, "p1", (0, 0.15), [0.0, 0.0], n=5)
    assert short.ends == "n"
    lorenz = pi.systems.lorenz
    with pytest.raises(ValueError, match="parameter must name a number"):
        pi.analysis.continue_equilibria(lorenz, "tau", (0, 1), [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="range must be two different numbers"):
        pi.analysis.continue_equilibria(lorenz, "rho", (1, 1), [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="start has shape"):
        pi.analysis.continue_equilibria(lorenz, "rho", (0, 1), [0.0, 0.0])
    with pytest.raises(ValueError, match="changes with time"):
        pi.analysis.continue_equilibria(pi.systems.duffing, "alpha", (0, 1), [0.0, 0.0])


def test_small_multipliers_stay_beside_large_ones():
    """Factors turned by arbitrary rotations: the product alone has errors of 1e30 * 1e-16."""
    rng = np.random.default_rng(3)
    turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(10)]
    grow = np.diag([1e3, 0.5, 1e-3])
    M = np.array([turns[(i + 1) % 10] @ grow @ turns[i].T for i in range(10)])
    found = np.sort(np.abs(multipliers(M[np.newaxis])[0]))
    assert found == pytest.approx([1e-30, 0.5**10, 1e30], rel=1e-9)  # cond(grow)^1 * 1e-16 * 10


def test_pictures_of_branches():
    pytest.importorskip("matplotlib").use("Agg")
    found = pi.analysis.continue_equilibria(reaction, "p1", (0, 0.15), [0.0, 0.0])
    names = found.plot().get_legend_handles_labels()[1]
    assert names == ["stable", "unstable", "fold", "Hopf"]
    forked = pi.rhs(lambda t, y, a: (a * y[0] - y[0] ** 3,), dim=1, a=1.0)
    several = pi.analysis.continue_equilibria(forked, "a", (1, -1), [[1.0], [-1.0], [0.0]])
    ax = several.plot()
    names = ax.get_legend_handles_labels()[1]
    parts = [f"trajectory {i}" for i in range(3)]
    assert names == ["stable", "unstable", *parts, "branch point"]
    solid = [one for one in ax.lines if one.get_linestyle() == "-" and len(one.get_xdata())]
    assert len({line.get_color() for line in solid}) == 3
    several = pi.analysis.continue_equilibria(reaction(p3=[2.0, 2.1]), "p1", (0, 0.15), [0.0, 0.0])
    assert "p3 = 2.1" in several.plot().get_legend_handles_labels()[1]


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e-3, 1e3, 1e9])
@np.errstate(all="raise")  # as a user may have it
def test_a_fold_from_zero_has_no_unit(unit):
    """p e^x = x from x = 0: one fold, at p = 1 / e, x = 1; then p falls to rounding, with none."""
    burning = pi.rhs(
        lambda t, y, p, u, w: (p / w * u * np.exp(y[0] / u) - y[0],), dim=1, p=0.0, u=1.0, w=1.0
    )
    for u, w in ((unit, 1.0), (1.0, unit)):
        found = pi.analysis.continue_equilibria(burning(u=u, w=w), "p", (0, w), [0.0])
        at = np.flatnonzero(found.kinds != "")
        assert found.kinds[at].tolist() == ["fold"]
        assert found.values[at] / w == pytest.approx(np.exp(-1), abs=1e-12)
        assert found.points[at, 0] / u == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("start", [[1.0, 0.0], [0.5, 0.5], [0.2, 0.8]])
def test_equilibria_that_fill_a_surface_are_no_branch(start):
    """Only y1 (y0 - 1 / (2 b)) = 0 holds, y0 + y1 is conserved: rounding led y1 to 1e41."""
    ill = pi.rhs(lambda t, y, b: (y[1] / 2 - b * y[0] * y[1], b * y[0] * y[1] - y[1] / 2), dim=2,
                 b=1.0)  # fmt: skip
    assert pi.analysis.continue_equilibria(ill, "b", (2, 0.1), start).ends == "no curve"
    left = pi.rhs(lambda t, y, b: (y[0] / 2 - b * (1 - y[0]) * y[0],), dim=1, b=1.0)
    found = pi.analysis.continue_equilibria(left, "b", (2, 0.1), [start[1]])
    assert found.ends == "range"
    if not start[1]:
        assert points(found, "branch point") == pytest.approx([0.5], abs=1e-12)


def test_a_neighbour_changes_no_branch():
    """The largest start was the unit of all, and bifurcations were halved as long as the last."""
    bent = pi.rhs(
        lambda t, y, k, u: (k * u + y[0] - u * (y[0] / u) ** 3 / 3,), dim=1, k=-1.0, u=1.0
    )
    both, alone = (
        pi.analysis.continue_equilibria(bent(u=u), "k", (-1, 1), start, step=0.2, n=5)
        for u, start in (([1.0, 1e9], [[-2.3], [-2e9]]), (1.0, [-2.3]))
    )
    assert both.points[0].tobytes() == alone.points.tobytes()
    both, alone = (
        pi.analysis.continue_equilibria(reaction(p2=p2), "p1", (0, 0.15), [0.0, 0.0])
        for p2 in ([12.0, 13.0, 14.0, 15.0], 14.0)
    )
    assert both.points[2, : len(alone.points)].tobytes() == alone.points.tobytes()


def test_a_guess_of_zero_beside_large_components_is_a_guess():
    """Roessler's equilibrium at k = 0.1, in units of 1e-9: x = 0.0035, from 0."""

    @pi.rhs(dim=3, k=0.1, u=1e9)
    def roessler(t, y, k, u):
        return -y[1] - y[2], y[0] + k * y[1], 0.2 * u + y[2] * (y[0] / u - 5.7)

    found = pi.analysis.continue_equilibria(roessler, "k", (0.1, 0.5), [0.0, -4e7, 4e7])
    x = (5.7 - np.sqrt(5.7**2 - 4 * 0.2 * found.values)) / 2 * 1e9
    assert found.ends == "range"
    assert found.points[:, 0] == pytest.approx(x, rel=1e-9)


@pytest.mark.parametrize("unit", [1.0, 1e-9])
def test_folds_far_below_the_start_are_not_stepped_over(unit):
    """A gene that turns itself on, from 60 times its threshold: a switch flat in that unit."""
    n, K = 11.45, 0.2844
    gene = pi.rhs(
        lambda t, y, d: (unit * (0.0352 + 0.8 / (1 + (K * unit / y[0]) ** n)) - d * y[0],),
        dim=1,
        d=1.0,
    )
    found = pi.analysis.continue_equilibria(gene, "d", (0.05, 20), [16.7 * unit])
    x = np.geomspace(1e-3, 10, 100_001)
    d = (0.0352 + 0.8 / (1 + (K / x) ** n)) / x
    turns = d[1:-1][(d[1:-1] - d[:-2]) * (d[2:] - d[1:-1]) < 0]  # up, and down again
    assert points(found, "fold") == pytest.approx(turns[::-1], rel=1e-7)


def test_folds_close_together_beside_a_large_state_are_not_stepped_over():
    """q + 3 a z - z^3 = 0, z = y - 30: a correction longer than its step led across both folds."""
    a = 0.02
    bent = pi.rhs(lambda t, y, q: (q + 3 * a * (y[0] - 30) - (y[0] - 30) ** 3,), dim=1, q=0.0)
    found = pi.analysis.continue_equilibria(bent, "q", (-2.5, 2.5), [28.6])
    assert points(found, "fold") == pytest.approx([2 * a**1.5, -2 * a**1.5], abs=1e-10)


@pytest.mark.parametrize("far", [1e2, 1e5])
def test_a_range_far_beyond_the_bends_is_followed_to_its_end(far):
    """y -> 1 as p grows, and on the other side of the pole: a correction led to p < 0, then 0."""
    found = pi.analysis.continue_equilibria(reaction, "p1", (0, far), [0.0, 0.0])
    assert points(found, "fold") == pytest.approx([0.105739, 0.0889318], rel=1e-5)
    assert found.values[-1] == far


@pytest.mark.parametrize("h", [1e-4, 1e-7, 1e-10])
def test_branches_that_nearly_meet_are_no_branch_point(h):
    """h + r x - x^3 and -h + r x - x^2: a step across the gap went on along the other branch."""
    pitchfork = pi.rhs(lambda t, y, r: (h + r * y[0] - y[0] ** 3,), dim=1, r=1.0)
    crossing = pi.rhs(lambda t, y, r: (-h + r * y[0] - y[0] ** 2,), dim=1, r=1.0)
    for system, start, turn in (
        (pitchfork, -1.0, 3 * (h / 2) ** (2 / 3)), (crossing, 1.0, 2 * np.sqrt(h))
    ):  # fmt: skip
        found = pi.analysis.continue_equilibria(system, "r", (1, -1), [start])
        assert found.kinds[found.kinds != ""].tolist() == ["fold"]
        assert points(found, "fold") == pytest.approx([turn], rel=1e-9)
        assert abs(found.points[-1]) < 2 * h


def test_many_components_are_followed():
    """Thirty-three cells that burn (Bratu's equation, in one): a fold at mu = 1 / e."""
    n = 33
    cells = pi.rhs(lambda t, y, mu: mu * np.exp(y) - 2 * y + np.roll(y, 1), dim=n, mu=0.1)
    found = pi.analysis.continue_equilibria(cells, "mu", (0.1, 1), np.full(n, 0.1))
    assert points(found, "fold") == pytest.approx([np.exp(-1)], abs=1e-9)
