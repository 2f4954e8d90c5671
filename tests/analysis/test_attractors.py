"""Attractors by recurrence: published fractions, and no dependence on the order of the starts."""

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.analysis.portraits.recurrences import Box, _every


@pi.rhs(dim=3, F=6.886, G=1.347, a=0.255, b=4.0)
def lorenz84(t, y, F, G, a, b):
    x, y, z = y
    return -(y**2) - z**2 - a * x + a * F, x * y - y - b * x * z + G, b * x * y + x * z - z


@pi.acceleration(dof=2, omega=0.8, damping=0.2, d=0.2)
def magnets(t, x, v, omega, damping, d):
    pull = [-(omega**2) * x[i] - damping * v[i] for i in range(2)]
    for angle in 2 * np.pi / 3 * np.arange(3):
        away = np.cos(angle) - x[0], np.sin(angle) - x[1]
        r2 = away[0] ** 2 + away[1] ** 2 + d**2
        pull = [pull[i] + away[i] / (r2 * np.sqrt(r2)) for i in range(2)]
    return pull


def close(found, expected, sigmas=4):
    """Fractions within `sigmas` of their errors, and of half a percent of the published ones."""
    room = sigmas * np.hypot(found.errors, 0.005)
    return (np.abs(found.fractions - expected) < room).all()


def test_lorenz_84_has_three_attractors_with_the_published_fractions():
    """Attractors.jl, test of the mapper (Datseris, Wagemakers 2022): 0.642, 0.193, 0.165."""
    starts = np.random.default_rng(1).uniform(-3, 3, (2000, 3))
    found = pi.analysis.attractors(lorenz84, [(-3, 3)] * 3, starts, dt=0.02, cells=200, n=400)
    assert len(found.points) == 3
    assert close(found, [0.642, 0.193, 0.165])
    assert found.points[0].std(axis=0).max() < 1e-3  # a resting point
    assert found.lost + found.outside + np.sum(found.label >= 0) == 2000


def test_the_magnetic_pendulum_is_fair():
    """Three magnets, turned by a third: fractions of 1/3 for starts in a disc."""
    rng = np.random.default_rng(2)
    r, angle = 2 * np.sqrt(rng.random(2000)), 2 * np.pi * rng.random(2000)
    x0 = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=-1)
    box = [(-3, 3), (-3, 3), (-4, 4), (-4, 4)]
    found = pi.analysis.attractors(magnets, box, x0, 0 * x0, dt=0.05, n=200)
    assert len(found.points) == 3
    assert close(found, 1 / 3)


def test_a_start_below_the_saddle_is_where_it_stays():
    """With friction no motion of the well crosses energy 0, that of its saddle, upwards."""
    well, box = pi.systems.duffing(gamma=0.0), {"x": (-2, 2), "v": (-2, 2)}
    starts = np.random.default_rng(6).uniform(-2, 2, (400, 2))
    followed, early = (
        pi.analysis.attractors(well, box, starts, dt=0.1, n=100, energy=energy)
        for energy in (None, 0.0)
    )
    assert np.array_equal(followed.label, early.label)
    assert early.attractors.tobytes() == followed.attractors.tobytes()
    failed = pi.analysis.attractors(well, box, [[np.nan, 0.0], [1.0, 0.0]], dt=0.1, energy=0.0)
    assert failed.label.tolist() == [-1, 0]
    with pytest.raises(ValueError, match="has none"):
        pi.analysis.attractors(magnets, {"x": (-3, 3)}, dt=0.1, energy=0.0)


def test_a_drive_goes_on_while_starts_fall_below_an_energy():
    """A drive so small that it lifts nothing from -0.1 over the saddle at 0: friction balances it
    at v < gamma / delta = 1 / 6, near x = +-1, where E = -1 / 4."""
    well, box = pi.systems.duffing(gamma=0.05, omega=1.0), {"x": (-2, 2), "v": (-2, 2)}
    starts = np.random.default_rng(6).uniform(-2, 2, (400, 2))
    turn = {"dt": np.pi / 32, "period": 2 * np.pi, "n": 100}
    followed, early = (
        pi.analysis.attractors(well, box, starts, **turn, energy=energy) for energy in (None, -0.1)
    )
    assert np.array_equal(followed.label, early.label)


def test_the_forced_duffing_oscillator_has_the_published_fractions():
    """Attractors.jl, stroboscopic map: 0.511 and 0.489 in a square of +-2.2."""
    system = pi.systems.duffing(alpha=-1, beta=1, delta=0.15, gamma=0.2, omega=1.0)
    starts = np.random.default_rng(3).uniform(-2.2, 2.2, (2000, 2))
    box, period = {"x": (-2.2, 2.2), "v": (-2.2, 2.2)}, 2 * np.pi
    run = {"dt": period / 64, "period": period, "cells": 200, "n": 200}
    found = pi.analysis.attractors(system, box, starts, **run)
    assert len(found.points) == 2
    assert close(found, 0.5)


def test_chaos_that_ends_is_no_attractor():
    """Lorenz: below rho = 24.06 all end at rest, half at each point (Yorke, Yorke 1979, J. Stat.
    Phys. 21, 263); up to 24.74 the chaotic attractor is there as well."""
    box = {"x": (-25, 25), "y": (-35, 35), "z": (-5, 55)}
    for rho, expected in ((20.0, 2), (23.0, 2), (24.4, 3)):
        lorenz = pi.systems.lorenz(rho=rho)
        found = pi.analysis.attractors(lorenz, box, dt=0.01, n=300 if rho == 20 else 100)
        assert len(found.points) == expected
        rest = np.abs(found.attractors[-2:, 0]) - np.sqrt(8 / 3 * (rho - 1))
        assert np.abs(rest).max() < 0.05
        if expected == 2:
            assert np.ptp(found.fractions) < 4 * found.errors.sum()


def test_the_order_of_the_starts_changes_nothing():
    box = {"x": (-2, 2), "v": (-2, 2)}
    starts = np.random.default_rng(4).uniform(-2, 2, (300, 2))
    turned = np.random.default_rng(5).permutation(300)
    run = {"dt": 0.1, "n": 100}
    one, other = (
        pi.analysis.attractors(pi.systems.duffing(gamma=0.0), box, y, **run)
        for y in (starts, starts[turned])
    )
    assert np.array_equal(one.label[turned], other.label)
    assert one.attractors.tobytes() == other.attractors.tobytes()
    shaped = starts.reshape(10, 30, 2)
    several = pi.analysis.attractors(pi.systems.duffing(gamma=0.0), box, shaped, **run, workers=2)
    assert np.array_equal(several.label, one.label.reshape(10, 30))


def test_what_leaves_the_box_is_counted():
    @pi.rhs(dim=1)
    def escapes(t, y):
        return y * (1 - y) * (1 + y) * np.where(y > 1.5, -1.0, 1.0)

    starts = np.linspace(-1.41, 1.91, 34)[:, np.newaxis]
    found = pi.analysis.attractors(escapes, {"y": (-2, 2)}, starts, dt=0.05, n=64)
    assert found.outside == np.sum(starts > 1.5)
    assert np.sort(found.attractors[:, 0]) == pytest.approx([-1, 1])


def test_what_fails_goes_nowhere():
    """Some masses hop ever faster at a wall (ZENO): each began again where it had failed, some
    periods later, and arrived."""
    push = pi.acceleration(lambda t, x, v: 0.7 * np.cos(1.5 * t) - x - 0.1 * v)
    wall = pi.event(lambda t, x, v: x + 0.1, 1, then=lambda t, x, v: (-0.1, -0.3 * v))
    period = 2 * np.pi / 1.5
    found = pi.analysis.attractors(
        push, [(-2, -0.1), (-2, 2)], dt=period / 100, period=period, n=50, events={"wall": wall}
    )  # fmt: skip
    assert found.outside == 7
    assert found.fractions.tolist() == [0.86]


def test_a_pitchfork_is_followed():
    found = pi.analysis.continue_attractors(
        pi.systems.duffing(gamma=0.0), {"alpha": [0.5, 0.4, -0.8, -0.9]},
        {"x": (-2, 2), "v": (-2, 2)}, dt=0.1, n=100,
    )  # fmt: skip
    assert found.fractions.sum(axis=1) == pytest.approx(1)
    assert (found.fractions > 0).tolist() == [[True, False, False]] * 2 + [[False, True, True]] * 2
    ends = np.sort(found.attractors[3, 1:, 0])
    assert ends == pytest.approx([-(0.9**0.5), 0.9**0.5], abs=1e-3)


@pytest.mark.parametrize("second", [1e-9, 1.0, 1e9])
def test_attractors_are_the_same_that_are_near_in_the_box(second):
    """Which leaves velocities out: of large ones each value of the parameter had new attractors."""
    driven = pi.acceleration(
        lambda t, x, v, g, T: (x - x**3 + g * np.cos(1.2 * t / T)) / T**2 - 0.3 * v / T,
        g=0.1, T=second,
    )  # fmt: skip
    period = 2 * np.pi / 1.2 * second
    found = pi.analysis.continue_attractors(
        driven, {"g": [0.1, 0.12, 0.14]}, {"x": (-2, 2)}, dt=period / 60, period=period, n=30
    )
    assert found.fractions.shape == (3, 2)


@pytest.mark.parametrize("damping", [0.3, 0.02, 0.005])
def test_weakly_damped_motions_are_followed_until_they_arrive(damping):
    """They came back to cells on their way round: two wells were one attractor, or off by 0.03."""
    well = pi.systems.duffing(gamma=0.0, delta=damping)
    found = pi.analysis.attractors(well, {"x": (-2, 2), "v": (-2, 2)}, dt=0.1, n=40)
    assert np.sort(found.attractors[:, 0]) == pytest.approx([-1, 1], abs=1e-5)
    length = int(400 / damping)
    ends = pi.integrate(well, found.solution.initial, dt=0.1, n_steps=length, save="final").x
    assert np.array_equal(np.sign(ends[-1]), np.sign(found.attractors[found.label, 0]))


def test_samples_of_positions_alone_are_as_close_as_those_of_states():
    """At rest, where a box of positions begins, nothing moves through its cells."""
    well = pi.systems.duffing(gamma=0.0)
    boxes = Box(well, {"x": (-2, 2)}), Box(well, {"x": (-2, 2), "v": (-2, 2)})
    alone, whole = (_every(box, 100, 0.1, None, None) for box in boxes)
    assert whole / 10 < alone < 10 * whole


def test_a_field_may_have_no_value_at_a_point():
    """The flow of Newton's method to the roots of z^3 - 1 has none at z = 0, in the middle."""

    @pi.rhs(dim=2)
    def newton(t, y):
        x, y = y
        r4 = 3 * (x * x + y * y) ** 2
        return (x * x - y * y) / r4 - x / 3, -2 * x * y / r4 - y / 3

    found = pi.analysis.attractors(newton, [(-2, 2)] * 2, dt=0.05, n=100)
    assert len(found.points) == 3
    assert close(found, 1 / 3)


def test_a_slow_way_is_no_attractor():
    """Most of the box is fast, and on the slow branch a motion stays in its cell for long."""
    box = [(-3, 3), (-200, 200)]
    found = pi.analysis.attractors(pi.systems.van_der_pol(mu=100.0), box, dt=0.001, n=100)
    assert len(found.points) == 1


@pytest.mark.parametrize("steps", [21, 28, 40])
def test_samples_are_not_in_step_with_a_cycle(steps):
    """Of period 1: with 1/28 each fourth step was a sample, of seven cells of the cycle."""

    @pi.rhs(dim=2)
    def cycle(t, y):
        x, y = y
        grow = 1 - x * x - y * y
        return grow * x - 2 * np.pi * y, grow * y + 2 * np.pi * x

    found = pi.analysis.attractors(
        cycle, [(-1.5, 1.5)] * 2, dt=1 / steps, n=100, method="dop853"
    )  # fmt: skip
    assert found.fractions.tolist() == [1.0]


def test_the_entropy_is_that_of_a_grid_of_starts():
    well, box = pi.systems.duffing(gamma=0.0), {"x": (-2, 2), "v": (-2, 2)}
    with pytest.raises(ValueError, match="a box must fit a grid"):
        pi.analysis.attractors(well, box, dt=0.1, n=100).entropy()
    x = np.linspace(-2, 2, 20)
    grid = pi.analysis.attractors(well, box, x, x[:, np.newaxis], dt=0.1, n=100)
    assert 0 < grid.entropy()[0] <= np.log(2)


def test_where_nothing_is_lost_nothing_attracts():
    found = pi.analysis.attractors(
        pi.systems.pendulum, {"theta": (-1, 1), "omega": (-3, 3)}, dt=0.1, n=20, horizon=2000
    )
    assert (len(found.attractors), found.lost) == (0, 20)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"dt": 0.1, "period": 2 * np.pi}, "give dt = period / 63"),
        ({"dt": 0.1}, "give the period= of its drive"),
        ({"dt": 0.1, "cells": 1}, "cells must be at least 2"),
        ({"dt": 0.1, "cells": [30, 20, 2]}, "expected a number, or one for each of"),
        ({"dt": [0.1, 0.2]}, "dt must be one number for all"),
        ({"dt": 0.1, "watch": "energy_drift"}, "no watch="),
        ({"dt": 0.1, "events": {"rest": pi.event("v", stop=True)}}, "no event that stops it"),
    ],
)
def test_wrong_arguments_are_named(options, told):
    with pytest.raises(ValueError, match=told):
        pi.analysis.attractors(pi.systems.duffing, {"x": (-2, 2)}, **options)


def test_a_batch_of_parameters_is_refused():
    with pytest.raises(ValueError, match="see continue_attractors"):
        pi.analysis.attractors(pi.systems.duffing(gamma=[0.0, 0.1]), {"x": (-2, 2)}, dt=0.1)
