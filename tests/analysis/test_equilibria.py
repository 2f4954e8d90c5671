"""Equilibria: the right-hand side is zero there, and the kinds are those of textbooks."""

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.analysis.portraits.resting_points import Box, without_drive
from pyintegrate.values.sobol_points import sobol_points

qmc = pytest.importorskip("scipy.stats.qmc")
ROOM = {"x": (-3, 3), "v": (-1, 1)}


@pi.rhs(dim=2, a=3.0)  # Strogatz (2015), 6.4: rabbits and sheep
def rivals(t, y, a):
    return y[0] * (a - y[0] - 2 * y[1]), y[1] * (2 - y[0] - y[1])


def test_sobol_points_are_those_of_scipy():
    expected = qmc.Sobol(32, scramble=False, bits=32).random(256)
    assert np.array_equal(sobol_points(256, 32), expected)


def test_a_shift_keeps_a_net():
    """Of 2^m shifted points each dyadic interval of the first dimension holds one."""
    shifted = np.sort(sobol_points(256, 3, seed=7), axis=0)
    assert np.array_equal(np.floor(256 * shifted[:, 0]), np.arange(256))


def test_rabbits_and_sheep():
    found = pi.analysis.equilibria(rivals, [(-0.5, 4), (-0.5, 4)])
    assert found.points == pytest.approx(np.array([[0, 0], [0, 2], [1, 1], [3, 0]]), abs=1e-12)
    kinds = ["unstable node", "stable node", "saddle", "stable node"]
    assert found.kinds.tolist() == kinds
    assert found.eigenvalues[2].real == pytest.approx([2**0.5 - 1, -(2**0.5) - 1], abs=1e-12)


def test_lorenz_loses_its_resting_points_at_the_published_rho():
    """Lorenz (1963): rho = sigma (sigma + beta + 3) / (sigma - beta - 1) = 470/19."""
    critical = 470 / 19
    systems = pi.systems.lorenz(rho=critical + np.array([-0.01, 0.01]))
    found = pi.analysis.equilibria(systems, [(-20, 20), (-20, 20), (0, 40)])
    assert found.stability[:, 2].tolist() == ["stable", "unstable"]
    expected = np.sqrt(8 / 3 * (systems.params["rho"] - 1))
    assert found.points[:, 2, 0] == pytest.approx(expected, rel=1e-13)


def test_every_equilibrium_is_one_and_batches_change_no_bits():
    gammas = np.linspace(0, 0.5, 7)[:, np.newaxis] + np.zeros(2)
    whole = pi.analysis.equilibria(pi.systems.duffing(gamma=gammas), ROOM, n=200, t=[0.0, 1.0])
    there = ~np.isnan(whole.residuals)
    assert whole.points.shape[:2] == (7, 2)
    assert (whole.count == there.sum(axis=-1)).all()
    assert whole.residuals[there].max() < 1e-14  # rounding of terms of size 1
    for index in np.ndindex(7, 2):
        one = pi.systems.duffing(gamma=gammas[index])
        alone = pi.analysis.equilibria(one, ROOM, n=200, t=float(index[1]))
        kept = slice(whole.count[index])
        assert alone.points.tobytes() == whole.points[index][kept].tobytes()
        assert (alone.hits == whole.hits[index][kept]).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_every_start_is_accounted_for(seed):
    found = pi.analysis.equilibria(pi.systems.pendulum, {"theta": (-4, 4)}, n=300, seed=seed)
    assert found.hits.sum() + found.outside + found.lost == 300
    assert found.kinds.tolist() == ["saddle", "centre", "saddle"]


def test_four_dimensions_have_saddles_with_centres():
    found = pi.analysis.equilibria(pi.systems.henon_heiles, {"x": (-2, 2), "y": (-2, 2)})
    assert sorted(found.kinds.tolist()) == ["centre", "saddle-centre", "saddle-centre",
                                            "saddle-centre"]  # fmt: skip


def test_nothing_is_found_where_nothing_is():
    @pi.rhs(dim=1)
    def grows(t, y):
        return 1 + y * y

    found = pi.analysis.equilibria(grows, {"y": (-2, 2)}, n=50)
    assert found.points.shape == (0, 1)
    assert found.lost == 50


def test_a_whole_line_of_equilibria_is_degenerate():
    found = pi.analysis.equilibria(pi.systems.constant_force(force=0.0), {"x": (0, 1)}, n=16)
    assert set(found.kinds) == {"degenerate"}
    assert len(found) == 16


def test_rates_nine_digits_apart_are_known_and_double_roots_are_not():
    """Errors of eigenvalues are 1e-15 of the largest, of a double root 1e-8, as is its place."""

    @pi.rhs(dim=2)
    def stiff(t, y):
        return 1 - 1.04 * y[0], 0.04 * y[0] - 3e9 * y[1]

    @pi.rhs(dim=2)
    def fold(t, y):  # (y1 - 1)^2, to rounding
        return y[0] ** 2 - 2 * y[0] + 1, -y[1]

    @pi.rhs(dim=3)
    def shear(t, y):  # eigenvalues 0, 0, -1, which come out as +-1e-8 or +-1e-8 i
        u = 0.6 * y[0] + 0.8 * y[1]
        return 0.8 * u - y[2] / 3, -0.6 * u + y[2] / 4, -y[2]

    assert pi.analysis.equilibria(stiff, [(0, 2), (0, 1)]).kinds.tolist() == ["stable node"]
    slow = pi.analysis.equilibria(pi.systems.van_der_pol(mu=1e4), [(-1, 1), (-1, 1)])
    assert slow.kinds.tolist() == ["unstable node"]
    for system in fold, shear:
        found = pi.analysis.equilibria(system, [(0, 3), (-1, 1), (-1, 1)][: system.dim], n=50)
        assert set(found.stability.flat) == {"neutral"}


def test_a_root_of_a_higher_order_has_no_eigenvalue():
    """Its place is known to the root of rounding, and so is what it makes of an eigenvalue 0: it
    came out as a centre, a saddle or a node."""
    wells = lambda t, x, v: -(x**3), lambda t, x, v: x**3, lambda t, x, v: x * x - 2 * x + 1
    for well in map(pi.acceleration, wells):
        found = pi.analysis.equilibria(well, {"x": (-2, 3), "v": (-1, 1)}, n=50)
        assert (found.kinds.tolist(), found.stability.tolist()) == (["degenerate"], ["neutral"])
    third = pi.rhs(lambda t, y, s: (s * (y[0] - 1 / 3) ** 3,), dim=1, s=1.0)(s=[1.0, -1.0])
    assert set(pi.analysis.equilibria(third, [(-2, 3)], n=50).kinds.flat) == {"degenerate"}


def test_a_critically_damped_spring_is_a_node():
    """b^2 = 4 k m to rounding: a pair of which nobody knows whether it turns."""
    k = np.arange(1.0, 200.0)
    springs = pi.systems.spring(k=k, b=2 * np.sqrt(k), m=1.0)
    found = pi.analysis.equilibria(springs, {"x": (-1, 1), "v": (-1, 1)}, n=8)
    assert set(found.kinds.flat) == {"stable node"}
    slow = pi.analysis.equilibria(pi.systems.spring(k=1.0, b=2 - 1e-12, m=1.0), {"x": (-1, 1)}, n=8)
    assert slow.kinds.tolist() == ["stable focus"]


@pytest.mark.parametrize(("length", "rate"), [(1e-12, 1e-12), (1e-6, 1e12), (1e12, 1.0)])
def test_units_change_no_equilibrium(length, rate):
    """Of velocities that are not bounded the unit is 1."""
    swing = pi.acceleration(
        lambda t, x, v, w, u: -w * w * u * np.sin(x / u) - w / 10 * v, w=rate, u=length
    )
    found = pi.analysis.equilibria(swing, {"x": (-4 * length, 4 * length)}, n=50)
    assert found.kinds.tolist() == ["saddle", "stable focus", "saddle"]
    assert found.points[:, 0] / length == pytest.approx([-np.pi, 0, np.pi], abs=1e-12)


@pytest.mark.parametrize("speed", [1e-9, 1e-3, 1.0, 1e6])
def test_velocities_that_the_box_leaves_out_have_units_of_their_own(speed):
    """Damping that changes its sign at `speed` changes no kind: slow motions were degenerate."""
    slow = pi.acceleration(
        lambda t, x, v, u: (x - x**3) * u**2 - (0.3 - (v / u) ** 2) * v * u, u=speed
    )
    found = pi.analysis.equilibria(slow, {"x": (-2, 2)})
    assert found.kinds.tolist() == ["stable focus", "saddle", "stable focus"]


def test_what_is_conserved_makes_no_start_lost():
    """Substances that react in a ring rest on a line; their matrix is singular to rounding."""
    ring = pi.rhs(
        lambda t, y, k: (0.3 * y[1] - k * y[0], k * y[0] - 0.4 * y[1] + 0.7 * y[2],
                         0.1 * y[1] - 0.7 * y[2]),
        dim=3, k=1.0,
    )  # fmt: skip
    found = pi.analysis.equilibria(ring(k=[0.1, 0.2, 0.37, 1.0]), [(0, 1)] * 3, n=64)
    assert found.lost.tolist() == [0] * 4
    assert found.count.min() > 50
    assert set(found.kinds.flat) <= {"degenerate", ""}


@pytest.mark.parametrize(
    ("box", "told"),
    [
        ({"y": (0, 1)}, "box has 'y'"),
        ({"x": (1, 0)}, r"box\['x'\] must be \(low, high\)"),
        ([(0, 1)], r"expected \(low, high\) for each of x, v"),
        ({}, "no component"),
    ],
)
def test_a_wrong_box_is_named(box, told):
    with pytest.raises(ValueError, match=told):
        pi.analysis.equilibria(pi.systems.spring, box)


def test_a_driven_motion_needs_a_time():
    with pytest.raises(ValueError, match=r"give t=0\.0 to freeze it"):
        pi.analysis.equilibria(pi.systems.duffing, ROOM)


def test_manifolds_of_the_pendulum_are_its_separatrix():
    """E = g: omega = 2 sqrt(g / length) cos(theta / 2); Runge-Kutta 4 in steps of 1/200."""
    box = {"theta": (-4, 4), "omega": (-7, 7)}
    found = pi.analysis.equilibria(pi.systems.pendulum, box)
    lines = found.manifolds(length=2.0)
    assert len(lines["stable"]) == len(lines["unstable"]) == 4
    for line in (*lines["stable"], *lines["unstable"]):
        theta, omega = line[~np.isnan(line[:, 0])].T
        expected = 2 * np.sqrt(9.81) * np.abs(np.cos(theta / 2))
        assert np.abs(omega) == pytest.approx(expected, abs=2e-6)


def test_a_manifold_has_the_length_asked_for():
    found = pi.analysis.equilibria(rivals, [(-0.5, 4), (-0.5, 4)])
    for lines in found.manifolds(length=0.2).values():
        steps = np.linalg.norm(np.diff(lines / found.box.size, axis=1), axis=-1)
        assert steps.sum(axis=1) == pytest.approx(np.full(2, 0.2), abs=1e-6)


def test_saddles_with_centres_have_all_their_manifolds():
    """Real parts of the centre are rounding, of either sign: 2 of 6 lines were found."""
    found = pi.analysis.equilibria(pi.systems.henon_heiles, {"x": (-2, 2), "y": (-2, 2)})
    for lines in found.manifolds(length=0.1).values():
        assert lines.shape[0] == 6
        energy = pi.systems.henon_heiles.energy(lines)
        assert energy == pytest.approx(np.full(energy.shape, 1 / 6), abs=1e-6)


def test_lorenz_has_an_unstable_manifold_of_one_dimension():
    found = pi.analysis.equilibria(pi.systems.lorenz(rho=10.0), [(-20, 20), (-20, 20), (-1, 30)])
    lines = found.manifolds(length=4.0)
    assert lines["unstable"].shape[0] == 2
    assert lines["stable"].shape[0] == 0  # a surface
    assert (lines["unstable"][0][2:10] * lines["unstable"][1][2:10])[:, 0].max() < 0


@pytest.mark.parametrize(
    ("system", "name"),
    [(pi.systems.duffing, "gamma"), (pi.systems.driven_pendulum, "amplitude"),
     (pi.systems.spring, None)],
)  # fmt: skip
def test_the_drive_is_the_factor_of_what_changes_with_time(system, name):
    box = Box(system, {system.state_names[0]: (-2, 2)})
    rest, found = without_drive(system, box)
    assert found == name
    assert name is None or rest.params[name] == 0


@pytest.mark.parametrize("metre", [1e-9, 1.0, 1e9])
def test_a_parameter_whose_square_drives_is_no_factor(metre):
    """In small units all differences were below the 1e-8 that equal numbers may differ by."""
    squared = pi.rhs(lambda t, y, g: (g * g * metre * np.cos(t) - y[0],), dim=1, g=1.0)
    assert without_drive(squared, Box(squared, [(-metre, metre)]))[1] is None


@pytest.mark.parametrize("cells", [3, 4, 6])
@pytest.mark.parametrize("width", [1e-9, 1.0, 2.0000001])
def test_a_triple_root_of_coupled_cells_is_found(cells, width):
    """x_i' = -x_i^3 + diffusion, at the pitchfork: beside 0 all derivatives are rounding."""

    def diffusing(t, y, u):
        beside = [y[i - 1] - 2 * y[i] + y[(i + 1) % cells] for i in range(cells)]
        return tuple(0.1 * d - u * (x / u) ** 3 for d, x in zip(beside, y))

    system = pi.rhs(diffusing, dim=cells, u=width, initial=np.full(cells, width))
    found = pi.analysis.equilibria(system, np.repeat([[-width, 1.05 * width]], cells, axis=0), n=32)
    assert (found.count, found.lost, found.kinds.tolist()) == (1, 0, ["degenerate"])
    assert np.abs(found.points).max() < 1e-7 * width  # as a double root is


@pytest.mark.parametrize("r", [30.0, 300.0])
def test_a_slow_manifold_beside_fast_motions_is_followed(r):
    """y = r x^2 / (r + 2): steps too long for what contracts r times as fast were at the saddle."""
    fast = pi.rhs(lambda t, y, r: (y[0], r * (y[0] ** 2 - y[1])), dim=2, r=1.0)
    x, y = pi.analysis.equilibria(fast(r=r), [[-1, 1]] * 2).manifolds()["unstable"].T
    assert np.nanmax(x) > 1
    assert np.nanmax(np.abs(y - r / (r + 2) * x**2)) < 3e-5
    with pytest.warns(pi.RecordWarning, match="2 manifolds end where"):
        pi.analysis.equilibria(fast(r=1e6), [[-1, 1]] * 2).manifolds()


@pytest.mark.parametrize(("gap", "count"), [(-1e-10, 2), (1e-10, 0)])
def test_the_middle_of_a_fold_is_no_equilibrium(gap, count):
    """x^2 + gap: from x = 0, where no step is known, it was taken for one."""
    fold = pi.rhs(lambda t, y, gap: (y[0] ** 2 + gap, -y[1]), dim=2, gap=gap)
    found = pi.analysis.equilibria(fold, [[-1, 1]] * 2)
    assert found.count == count
    assert np.abs(found.points[:, 0]) == pytest.approx(np.full(count, 1e-5), rel=1e-9)
