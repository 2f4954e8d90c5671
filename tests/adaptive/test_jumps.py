"""Forces with jumps and kinks, without events: what np.where, np.sign, abs, floor and clip do."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate import Status

T_END, STARTS = 10.0, 50
RNG = np.random.default_rng(0)
START = np.stack([RNG.uniform(0.5, 2, STARTS), RNG.uniform(-1, 1, STARTS)], axis=-1)


def signed(t, x):
    return -np.sign(x) + 0.1 * np.cos(t)


def square(t, x):
    return -x + np.sign(np.sin(3 * t))


FORCES = {"sign": signed, "square wave": square}
KINDS = {
    "first order": lambda f: pi.rhs(dim=2)(lambda t, y: (y[1], f(t, y[0]))),
    "second order": lambda f: pi.acceleration(lambda t, x, v: f(t, x)),
}


def _flight(side, t0, y0, t):
    """x'' = -side + cos(t) / 10 from y0 at t0."""
    x0, v0 = y0
    d, low = t - t0, v0 - 0.1 * np.sin(t0)
    x = x0 + low * d - side * d * d / 2 + 0.1 * (np.cos(t0) - np.cos(t))
    return x, low - side * d + 0.1 * np.sin(t)


def _end_of_signed(y):
    """From zero to zero, each bisected to rounding."""
    t, side = 0.0, np.sign(y[0])
    while True:
        grid = np.linspace(t, T_END, 2001)[1:]
        beyond = np.flatnonzero(_flight(side, t, y, grid)[0] * side < 0)
        if not len(beyond):
            return _flight(side, t, y, T_END)
        low, high = grid[beyond[0]] - (grid[1] - grid[0]), grid[beyond[0]]
        for _ in range(60):
            middle = (low + high) / 2
            if _flight(side, t, y, middle)[0] * side < 0:
                high = middle
            else:
                low = middle
        t, y, side = high, (0.0, _flight(side, t, y, high)[1]), -side


def _end_of_square(y):
    """The oscillator about 1 and -1 in turn, for pi / 3 each."""
    x, v = y
    for k in range(int(3 * T_END / np.pi) + 1):
        side, d = 1 - 2 * (k % 2), min(np.pi / 3, T_END - k * np.pi / 3)
        u = x - side
        x, v = side + u * np.cos(d) + v * np.sin(d), v * np.cos(d) - u * np.sin(d)
    return x, v


PAIRS = [name for name, m in pi.methods.items() if m.embedded and not m.implicit]
HIGHEST = {"highest": pi.watch.maximum("x")}
ENDS = {"sign": _end_of_signed, "square wave": _end_of_square}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FORCES)
def test_the_error_at_jumps_is_that_of_the_tolerance(name, kind):
    """At most ten times rtol in the median, over three jumps (sign) and nine (square wave)."""
    exact = np.array([ENDS[name](y) for y in START])
    for rtol in (1e-4, 1e-6, 1e-8):
        sol = pi.solve(KINDS[kind](FORCES[name]), *_parts(kind), t_end=T_END, rtol=rtol,
                       atol=1e-3 * rtol)  # fmt: skip
        assert not sol.status.any()
        assert np.median(abs(sol.final - exact).max(axis=-1)) <= 10 * rtol


STEEP = {  # a force, and its energy
    "cubic root": (np.cbrt, lambda x: 0.75 * abs(x) ** (4 / 3)),
    "root": (lambda x: np.sign(x) * np.sqrt(abs(x)), lambda x: abs(x) ** 1.5 / 1.5),
    "power": (lambda x: np.sign(x) * abs(x) ** 0.7, lambda x: abs(x) ** 1.7 / 1.7),
    "logarithm": (lambda x: x * np.log(abs(x) + 1e-300),
                  lambda x: x**2 / 2 * np.log(abs(x)) - x**2 / 4),
}  # fmt: skip


@pytest.mark.parametrize("name", STEEP)
def test_the_error_where_a_force_is_infinitely_steep_is_that_of_the_tolerance(name):
    """Behind a border steps are soon as long as before: estimates must see what is steep there."""
    force, energy = STEEP[name]
    system = pi.rhs(dim=2)(lambda t, y: (y[1], -force(y[0])))
    for rtol in (1e-4, 1e-6, 1e-8):
        x, v = pi.solve(system, START, t_end=T_END, rtol=rtol, atol=1e-3 * rtol).final.T
        off = v**2 / 2 + energy(x) - START[:, 1] ** 2 / 2 - energy(START[:, 0])
        assert np.median(abs(off)) <= 10 * rtol


def _parts(kind):
    return (START,) if kind == "first order" else (START[:, 0], START[:, 1])


def test_a_stiff_wall_throws_nothing_up():
    """Elastic: no ball rises above where it began, at the loosest tolerance that was seen to."""
    ball = pi.rhs(dim=2)(lambda t, y: (y[1], -9.81 - np.where(y[0] < 0, 1e6 * y[0], 0)))
    heights = np.linspace(0.5, 1.5, STARTS)
    sol = pi.solve(ball, np.stack([heights, 0 * heights], axis=-1), t_end=3.0, rtol=1e-4, atol=1e-7)
    energy = 9.81 * sol.final[:, 0] + sol.final[:, 1] ** 2 / 2
    energy += np.where(sol.final[:, 0] < 0, 5e5 * sol.final[:, 0] ** 2, 0)
    # Each of six borders changes the energy by some rtol, relative to that of the stiffest moment.
    assert np.median(abs(energy / (9.81 * heights) - 1)) < 10e-4
    assert np.max(energy / (9.81 * heights) - 1) < 0.1


@pytest.mark.parametrize("method", PAIRS)
def test_a_wall_throws_nothing_up_by_any_pair(method):
    """Fehlberg's estimate does not see beyond the wall, and a late stage is at the start."""
    wall = pi.acceleration(lambda t, x, v: -1 - np.where(x < 0, 1e4 * x, 0.0))
    heights = np.linspace(0.5, 2.5, STARTS)
    sol = pi.solve(wall, heights, 0.0, t_end=6.0, rtol=1e-6, method=method, watch=HIGHEST)
    assert not sol.status.any()
    assert np.max(sol.watched["highest"] / heights) < 1.01


def test_order_split_and_workers_change_no_bit():
    system = KINDS["first order"](signed)
    whole = pi.solve(system, START, t_end=T_END)
    for part in (slice(3, 4), slice(17, 41)):
        assert same_bits(whole.final[part], pi.solve(system, START[part], t_end=T_END).final)
    assert same_bits(whole.final, pi.solve(system, START, t_end=T_END, workers=3).final)


def _rough(force):
    return pi.rhs(dim=1)(lambda t, y: (force(y[0]),))


def test_a_smooth_force_is_asked_for_no_branch():
    smooth = pi.rhs(dim=1)(lambda t, y: (np.sin(y[0]) + y[0] ** 3,))
    assert not smooth.program.has("invariants")
    fixed = pi.rhs(dim=1, k=1.0)(lambda t, y, k: (-np.where(k > 0, k, 0.0) * y[0],))
    assert not fixed.program.has("invariants")
    for force in (np.sign, np.floor, abs, lambda x: np.clip(x, -1, 1), lambda x: x % 1.0):
        assert _rough(force).program.has("invariants")


# ---- along a border ------------------------------------------------------------------------------
SLIDING = {
    "dry friction": (pi.acceleration(lambda t, x, v: -x - 0.3 * np.sign(v)), [1.2, 0.0], 2 * np.pi),
    "driven": (pi.acceleration(lambda t, x, v: np.cos(t) - 1.5 * np.sign(v)), [0.0, 0.5], 0.8214),
    "relay": (pi.rhs(dim=2)(lambda t, y: (y[1] - np.sign(y[0]), -y[0])), [0.5, 0.2], 0.5586),
    "unequal": (pi.rhs(dim=1)(lambda t, y: (0.5 - np.sign(y[0]),)), [1.0], 2.0),
}


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("name", SLIDING)
def test_what_slides_along_a_border_ends_there(name, rtol):
    """Held by the force from both sides: within a thousand attempts it ends with a status."""
    system, start, moment = SLIDING[name]
    sol = pi.solve(system, start, t_end=20.0, rtol=rtol, atol=1e-3 * rtol, on_failure="ignore")
    assert sol.status == Status.STEP_TOO_SMALL
    assert sol.steps_taken + sol.rejected <= 1000
    assert sol.t[-1] == pytest.approx(moment, abs=1e-4 + 3 * rtol)
    assert "slides" in sol.failures()


@pytest.mark.parametrize("method", ["dop853", "rodas5p", "radau_iia5", "kvaerno43"])
@pytest.mark.parametrize("name", SLIDING)
def test_a_method_by_name_ends_there_too(name, method):
    """Newton's method may fail first, where the equations of a step have no solution."""
    system, start, moment = SLIDING[name]
    for rtol in (1e-4, 1e-6, 1e-9):
        sol = pi.solve(system, start, t_end=20.0, rtol=rtol, atol=1e-3 * rtol, method=method,
                       on_failure="ignore")  # fmt: skip
        assert sol.status in (Status.STEP_TOO_SMALL, Status.NOT_CONVERGED)
        assert sol.steps_taken + sol.rejected <= 1000
        assert sol.t[-1] == pytest.approx(moment, abs=1e-4 + 3 * rtol)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_dry_friction_holds_what_it_stops_wherever_that_is(rtol):
    """Each half swing ends 0.6 lower; the forces of the two sides are up to 600 to 1 there."""
    start = np.random.default_rng(2).uniform(0.31, 5.0, 500)
    swings = np.ceil((start - 0.3) / 0.6)
    held = (-1) ** swings * (start - 0.6 * swings)
    start, held = start[abs(held) < 0.299], held[abs(held) < 0.299]
    friction = pi.acceleration(lambda t, x, v: -x - 0.3 * np.sign(v))
    sol = pi.solve(friction, start, 0 * start, t_end=40.0, rtol=rtol, atol=rtol,
                   max_steps=2000, on_failure="ignore")  # fmt: skip
    assert (sol.status == Status.STEP_TOO_SMALL).all()
    assert (sol.steps_taken + sol.rejected).max() <= 1000
    assert abs(sol.final[:, 0] - held).max() < 10 * rtol


KINKED = {
    "abs": lambda y, k: -k * y - 0.3 * k * abs(y),
    "where": lambda y, k: np.where(y > 0, -1.3 * k * y, -k * y),
    "maximum": lambda y, k: -1.3 * k * np.maximum(y, 0) - k * np.minimum(y, 0),
}


@pytest.mark.parametrize("method", ["auto", "radau_iia5"])
@pytest.mark.parametrize("kink", KINKED)
def test_what_has_decayed_about_a_kink_does_not_slide(kink, method):
    """Of z' = y - z the stiff y, of which only rounding is left, changes sign again and again."""
    system = pi.rhs(dim=2, k=1.0)(lambda t, y, k: (KINKED[kink](y[0], k), y[0] - y[1]))
    k = np.geomspace(1e2, 1e8, 13)
    z = np.exp(-10) * (1 + 1 / (1.3 * k - 1))
    for rtol in (1e-4, 1e-6, 1e-8):
        sol = pi.solve(system(k=k), [1.0, 1.0], t_end=10.0, rtol=rtol, method=method)
        assert np.all(sol.status == Status.OK)
        assert abs(sol.final[:, 1] - z).max() < rtol
        assert (sol.steps_taken + sol.rejected).max() < 2000


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_stiffness_about_a_kink_is_seen(rtol):
    """The kink, which the errors of explicit steps pass again and again, holds these up."""

    def follow(t, y, k):
        return (-k * (y[0] - np.sin(t)) - 0.3 * k * abs(y[0] - np.sin(t)),)

    k = np.geomspace(1e4, 1e8, 13)
    sol = pi.solve(
        pi.rhs(dim=1, k=1.0)(follow)(k=k), [0.9], t_end=10.0, rtol=rtol, atol=1e-3 * rtol
    )
    assert np.all(sol.status == Status.OK)
    assert (sol.steps_taken + sol.rejected).max() < 1000
    assert np.all(abs(sol.final[:, 0] - np.sin(10)) < 10 * rtol + 2 / k)


PASSING = {
    "drag": lambda t, x, v: -x - 0.01 * abs(v) * v,
    "slight friction": lambda t, x, v: -x - 0.001 * np.sign(v),
    "gravity": lambda t, x, v: -np.sign(x),
    "soft wall": lambda t, x, v: -9.81 - np.where(x < 0, 1e4 * x, 0),
    "clipped": lambda t, x, v: -np.clip(x, -0.5, 0.5),
    "switched": lambda t, x, v: -x + np.sign(np.sin(7 * t)),
    "grooves": lambda t, x, v: -x - np.sign(np.sin(50 * x)),
    "sawtooth": lambda t, x, v: -x + t % 0.3,
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_a_border_again_and_again_goes_on(name):
    system = pi.acceleration(PASSING[name])
    for method in ("auto", "dop853", "rodas5p", "radau_iia5"):
        for rtol in (1e-2, 1e-3, 1e-6):
            sol = pi.solve(system, 1.0, 0.3, t_end=100.0, rtol=rtol, atol=1e-3 * rtol,
                           method=method, save="final")  # fmt: skip
            assert sol.status == Status.OK


@pytest.mark.parametrize("method", ["auto", "tsitouras54", "bogacki_shampine32"])
def test_what_climbs_stairs_is_not_held(method):
    """Borders within a few steps of one another, which the slope leads over and not back."""

    @pi.rhs(dim=1, a=0.0)
    def stairs(t, y, a):
        return (1 + a * (np.floor(y[0]) % 2),)

    for rtol in (1e-2, 1e-3, 1e-4):
        sol = pi.solve(stairs(a=[0.01, 0.1, 0.3]), [0.0], t_end=200.0, rtol=rtol, atol=rtol,
                       method=method)  # fmt: skip
        assert np.all(sol.status == Status.OK)
