"""Rodas5P: its stiff order conditions, forces that see the time, its work, and states at times."""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate.theory.rosenbrock import SCALE, in_slopes

RODAS = {"method": "rodas5p", "on_failure": "raise"}
METHOD = pi.methods["rodas5p"]
SMALL = 1e-40  # what 55 digits leave of sums of some hundred products, of numbers up to 150

# ---- conditions for stiff problems ---------------------------------------------------------------
# Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.15 and VI.4; Steinebach
# (2023), BIT Numer. Math. 63, 27.


def matrices():
    """alpha, beta = alpha + gamma, the inverse of beta, b and the sums of the rows of alpha."""
    alpha, gamma, b, _ = in_slopes(METHOD.exact_coefficients[0])
    alpha, gamma = (np.array(m, object) * Fraction(1, SCALE) for m in (alpha, gamma))
    beta, n = alpha + gamma, len(b)
    inverse = np.full((n, n), Fraction(0))
    for j in range(n):
        for i in range(j, n):
            rest = (i == j) - sum(beta[i, k] * inverse[k, j] for k in range(j, i))
            inverse[i, j] = round(rest / beta[i, i] * SCALE) * Fraction(1, SCALE)
    return alpha, beta, inverse, np.array(b, object) * Fraction(1, SCALE), alpha.sum(axis=1)


def test_the_last_stage_is_the_step():
    """b is the last row of beta, and so is the row of alpha before: fast decays vanish."""
    alpha, beta, inverse, b, _ = matrices()
    assert max(abs(b - beta[-1])) < SMALL
    assert max(abs(alpha[-1] - beta[-2])) < SMALL
    assert max(abs(b @ inverse - np.eye(len(b), dtype=int)[-1])) < SMALL


def test_no_order_is_lost_where_a_motion_is_drawn_to_another():
    """y' = L (y - g(t)) + g'(t) by Prothero and Robinson: with z = h L a step misses

        e_r(z) h^r g^(r) / r!,   e_r = b (1 - z beta)^-1 (r alpha^(r-1) - z alpha^r) - 1

    (2 beta 1 for alpha where r = 2). All coefficients of z^k vanish for r = 2 and 3, not for 4.
    """
    _, beta, _, b, c = matrices()
    for r, vanishes in ((2, True), (3, True), (4, False)):
        slope = 2 * beta.sum(axis=1) if r == 2 else r * c ** (r - 1)
        power, found = beta @ slope - c**r, []
        for _ in range(len(b)):  # Cayley and Hamilton: no more are needed
            found.append(abs(b @ power))
            power = beta @ power
        assert (max(found) < SMALL) == vanishes, r


@cache
def trees(order, fat):
    """Trees of two kinds of vertices: of y' = f(y, z), and fat ones of 0 = g(y, z)."""
    children = forests(order if fat else order - 1)
    if fat:
        return [(True, c) for c in children if len(c) > 1]
    return [(False, c) for c in children if not (len(c) == 1 and c[0][0])]


@cache
def forests(order):
    if order == 0:
        return [()]
    found = []
    for parts in partitions(order):
        choices = [()]
        for size in sorted(set(parts)):
            # A fat tree as large as the whole would be a single branch, which counts for nothing.
            some = [*trees(size, False), *(trees(size, True) if size < order else [])]
            groups = list(combinations_with_replacement(some, parts.count(size)))
            choices = [(*c, *g) for c in choices for g in groups]
        found += choices
    return found


def partitions(n, most=None):
    if n == 0:
        return [()]
    return [(k, *rest) for k in range(min(n, most or n), 0, -1) for rest in partitions(n - k, k)]


def size_of(tree):
    fat, children = tree
    return (not fat) + sum(map(size_of, children))


def density(tree):
    fat, children = tree
    return (1 if fat else size_of(tree)) * int(np.prod([density(c) for c in children], initial=1))


def test_constraints_are_kept_to_the_order_of_the_method():
    """The limit of infinite stiffness, y' = f(y, z) and 0 = g(y, z): a condition for each tree; an
    order less is enough for z, whose errors do not add up."""
    alpha, beta, inverse, b, c = matrices()

    @cache
    def phi(tree):
        fat, children = tree
        found = np.full(len(c), Fraction(1))
        if not fat and len(children) == 1:
            return beta @ np.array(phi(children[0]))
        for child in children:
            found = found * (alpha @ np.array(phi(child)))
        return tuple(inverse @ found if fat else found)

    count = 0
    for order in range(1, METHOD.order + 1):
        for fat in (False, True)[: 1 + (order < METHOD.order)]:
            for tree in trees(order, fat):
                assert abs(b @ np.array(phi(tree)) - Fraction(1, density(tree))) < SMALL, tree
                count += any(fat for fat, _ in vertices(tree))
    assert count > 20


def vertices(tree):
    yield tree
    for child in tree[1]:
        yield from vertices(child)


# ---- order ---------------------------------------------------------------------------------------


def measured(system, start, exact, counts, t_end, **options):
    errors = []
    for n in counts:
        sol = pi.integrate(system, start, dt=t_end / n, n_steps=n, save="final", **RODAS, **options)
        errors.append(abs(sol.final - exact).max())
    return np.log2(errors[0] / errors[1])


def test_the_order_where_the_force_sees_the_time():
    """df/dt is by differences: with none the order would be 1."""
    wave = pi.rhs(dim=1)(lambda t, y: (np.cos(3 * t) * y[0],))
    exact = np.exp(np.sin(3 * 2.0) / 3)
    assert measured(wave, [1.0], exact, (40, 80), 2.0) == pytest.approx(5, abs=0.2)
    late = pi.rhs(dim=1)(lambda t, y: (np.cos(3 * (t - 1e4)) * y[0],))
    assert measured(late, [1.0], exact, (20, 40), 2.0, t0=1e4) == pytest.approx(5, abs=0.4)


def test_the_order_where_it_is_stiff():
    """The worst over all rates at which a motion is drawn to cos t: 4, where Kvaerno's is 3."""
    rates = np.geomspace(1.0, 1e8, 81)
    drawn = pi.rhs(dim=1, rate=1.0)(lambda t, y, rate: (-rate * (y[0] - np.cos(t)) - np.sin(t),))
    drawn = drawn(rate=rates)
    start = np.ones((81, 1))
    assert measured(drawn, start, np.cos(2.0), (8, 16), 2.0) > 3.7
    other = [
        abs(pi.integrate(drawn, start, dt=2 / n, n_steps=n, method="kvaerno54", save="final").final
            - np.cos(2.0)).max() for n in (8, 16)
    ]  # fmt: skip
    assert np.log2(other[0] / other[1]) < 3.3


def test_a_force_begins_where_it_begins():
    """sqrt(t) is none before 0: df/dt looks ahead. y = 2/3 t^(3/2)."""
    root = pi.rhs(dim=1)(lambda t, y: (np.sqrt(t),))
    sol = pi.solve(root, [0.0], t_end=1.0, rtol=1e-6, atol=1e-9, **RODAS)
    assert sol.final[0] == pytest.approx(2 / 3, rel=1e-5)


# ---- problems ------------------------------------------------------------------------------------
# Mazzia, Magherini (2008), Test Set for Initial Value Problem Solvers, release 2.4.


@pi.rhs(dim=8, initial=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057))
def hires(t, y):
    a, b, c, d, e, f, g, h = y
    q = 280 * f * h
    return (
        -1.71 * a + 0.43 * b + 8.32 * c + 0.0007,
        1.71 * a - 8.75 * b,
        -10.03 * c + 0.43 * d + 0.035 * e,
        8.32 * b + 1.71 * c - 1.12 * d,
        -1.745 * e + 0.43 * f + 0.43 * g,
        -q + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
        q - 1.81 * g,
        -q + 1.81 * g,
    )


@pi.rhs(dim=3, initial=(1.0, 2.0, 3.0))
def orego(t, y):
    a, b, c = y
    return (
        77.27 * (b + a * (1 - 8.375e-6 * a - b)),
        (c - (1 + a) * b) / 77.27,
        0.161 * (a - c),
    )


ENDS = {
    "hires": (hires, 321.8122, [
        0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
        0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2,
    ]),
    "orego": (orego, 360.0,
              [0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3]),
}  # fmt: skip


@pytest.mark.parametrize("problem", ENDS)
def test_problems_of_chemistry(problem):
    system, t_end, end = ENDS[problem]
    errors = []
    for rtol in (1e-4, 1e-6, 1e-8):
        sol = pi.solve(system, t_end=t_end, rtol=rtol, atol=rtol * 1e-4, save="final", **RODAS)
        errors.append(np.max(abs(sol.final / end - 1)))
        assert sol.steps_taken < 5000
    assert errors[2] < 1e-6
    assert errors[2] < errors[0] / 100


# ---- promises ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_order_split_workers_and_neighbours_change_no_bit(dtype):
    mu = np.linspace(1.0, 500.0, 40).astype(dtype)
    start = np.tile(np.array([2.0, 0.0], dtype), (40, 1))

    def solve(i, **options):
        return pi.solve(
            pi.systems.van_der_pol(mu=mu[i]), start[i], t_end=30.0, rtol=2e-5, atol=1e-6,
            dtype=dtype, **{**RODAS, **options},
        )  # fmt: skip

    whole = solve(slice(None))
    assert whole.steps_taken.max() > 2 * whole.steps_taken.min()
    order = np.random.default_rng(0).permutation(40)
    for i, options in [(order, {}), (slice(7, 8), {}), (slice(None), {"workers": 3}),
                       (slice(None), {"times": np.linspace(0, 30, 50)})]:  # fmt: skip
        part = solve(i, **options)
        for name in ("final", "steps_taken", "rejected", "last_step"):
            assert same_bits(getattr(whole, name)[i], getattr(part, name))


@pytest.mark.parametrize(("rtol", "trace"), [(1e-4, True), (1e-8, True), (1e-6, False)])
def test_states_at_times_keep_the_tolerance(rtol, trace):
    """They are steps of the method, made shorter; of a force with a Jacobian, and without."""
    times = np.linspace(0.0, 3.0, 200)
    stiff = pi.rhs(dim=1, trace=trace)(lambda t, y: (-1e4 * (y[0] - np.cos(t)),))
    exact = (np.cos(times) + 1e-4 * np.sin(times)) / (1 + 1e-8)
    sol = pi.solve(stiff, [1 / (1 + 1e-8)], t_end=3.0, times=times, rtol=rtol, atol=rtol, **RODAS)
    assert abs(sol.y[:, 0] - exact).max() < 3 * rtol  # errors of steps add up
    assert sol.steps_taken < 100


def test_what_a_step_costs():
    """A Jacobian by differences, four slopes for df/dt, eight stages; three calls at the start."""
    calls, dim = 0, 20

    def heat(t, y):
        nonlocal calls
        calls += 1
        ends = np.zeros_like(y[:1])
        y = np.concatenate([ends, y, ends])
        return 1e4 * (y[2:] - 2 * y[1:-1] + y[:-2])

    system = pi.rhs(dim=dim, trace=False)(heat)
    start = np.sin(np.pi * np.arange(1, dim + 1) / (dim + 1))
    calls = 0
    sol = pi.solve(system, start, t_end=1.0, rtol=1e-6, atol=1e-9, save="final", **RODAS)
    tries = int(sol.steps_taken + sol.rejected)
    assert calls == tries * (dim + 4 + METHOD.evaluations) + 2
    assert sol.evaluations == tries * METHOD.evaluations + 2


def test_a_jump_begins_anew_and_a_watch_sees_it():
    """A motion drawn to cos t at the rate 1e4, thrown down by 1/2 where it passes 1/2."""
    system = pi.rhs(dim=1)(lambda t, y: (-1e4 * (y[0] - np.cos(t)),))
    throw = pi.event(lambda t, y: y[0] - 0.5, direction=-1, keep=2, then=lambda t, y: y - 0.5)
    sol = pi.solve(system, [1.0], t_end=2.0, rtol=1e-6, atol=1e-6, events={"throw": throw},
                   watch={"low": pi.watch.minimum(lambda t, y: y[0])}, **RODAS)  # fmt: skip
    # y = (L^2 cos t + L sin t) / (1 + L^2) + decayed, L = 1e4, is 1/2 at pi/3 + 1e-4.
    assert sol.events["throw"].t[0] == pytest.approx(np.pi / 3 + 1e-4, abs=1e-6)
    assert np.isnan(sol.events["throw"].t[1])
    before, after = sol.y[np.flatnonzero(sol.t == sol.events["throw"].t[0]), 0]
    assert (before, after) == (pytest.approx(0.5, abs=1e-12), before - 0.5)
    assert sol.watched["low"] == sol.y.min()


def test_failures_are_those_of_one_trajectory():
    blow_up = pi.rhs(dim=1)(lambda t, y: (y[0] * y[0],))
    sol = pi.solve(blow_up, np.array([[1.0], [0.1]]), t_end=2.0, method="rodas5p",
                   on_failure="ignore")  # fmt: skip
    assert pi.Status(int(sol.status[0])).name in ("STEP_TOO_SMALL", "NOT_FINITE")
    assert sol.final[1, 0] == pytest.approx(0.1 / 0.8, rel=1e-5)


def test_the_order_of_components_does_not_matter():
    """A first pivot of 2e-16, beside entries of 0.01, is exchanged: without that a step would have
    errors of a percent."""
    h = 0.01
    pivot = np.nextafter(pi.methods["rodas5p"].coefficients["inverse"][0][0] / h, 0.0)
    A = np.array([[pivot, 1.0], [-1.0, -2.0]])

    def step(order):
        @pi.rhs(dim=2)
        def linear(t, y):
            return A[np.ix_(order, order)] @ y

        return pi.integrate(linear, np.array([1.0, 0.5])[order], dt=h, n_steps=1, method="rodas5p")

    one, other = (step(order).final for order in ([0, 1], [1, 0]))
    np.testing.assert_allclose(one[::-1], other, rtol=1e-10)


def test_a_singular_matrix_is_a_status():
    """1 / gamma - h J = 0 for y' = y at a step of 1 / gamma, in numbers that are exact."""
    gamma = METHOD.coefficients["inverse"][0][0]
    grows = pi.rhs(dim=1, rate=1.0)(lambda t, y, rate: (rate * y[0],))
    rates = np.array([gamma, -1.0])
    sol = pi.integrate(grows(rate=rates), np.ones((2, 1)), dt=1.0, n_steps=2, method="rodas5p",
                       on_failure="ignore")  # fmt: skip
    assert sol.status.tolist() == [pi.Status.SINGULAR, pi.Status.OK]


# ---- states at any time --------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rodas5p", "radau_iia5", "kvaerno54"])
def test_at_is_what_times_give(method):
    times = np.linspace(0.0, 3.0, 100)
    run = {"t_end": 3.0, "rtol": 1e-7, "atol": 1e-9, "method": method}
    system = pi.systems.van_der_pol(mu=np.array([1.0, 30.0, 100.0]))
    there = pi.solve(system, times=times, **run)
    sol = pi.solve(system, save="all", **run)
    assert same_bits(sol.at(times), there.y)
    assert sol.at(1.5).shape == (3, 2)
    assert same_bits(sol.at(0.0), sol.y[0])


def test_at_of_a_run_that_turned_stiff():
    """By the explicit pair until then, and by the implicit one from there on."""
    times = np.linspace(0.0, 400.0, 60)
    run = {"t_end": 400.0, "rtol": 1e-6, "atol": 1e-6}
    system = pi.systems.van_der_pol(mu=np.array([1.0, 300.0]))
    there, sol = (pi.solve(system, [2.0, 0.0], **run, **how)
                  for how in ({"times": times}, {"save": "all"}))  # fmt: skip
    assert np.isfinite(sol.stiff_since).tolist() == [False, True]
    assert same_bits(sol.at(times), there.y)


@pytest.mark.parametrize("method", ["rodas5p", "gauss8", "radau_iia5", "sdirk3", "bdf5"])
@pytest.mark.parametrize(
    ("dtype", "metre", "second"), [(float, 1e-15, 1e-22), (np.float32, 1e-10, 1e-15)]
)
def test_free_bodies_in_units_of_nuclei_and_of_atoms(method, dtype, metre, second):
    """Pivots were the rounding of rates of 1e44 and 1e30 per square second: wrong by 1e38."""
    start = np.array([0, 0, 1, 0, 0, 1.7, 0, 0, 0, 1, -0.8, 0])
    units = np.repeat([metre, metre / second], 6)
    bodies = pi.systems.three_body(masses=np.array([1, 0.5, 0.3]))
    run = {"n_steps": 10, "method": method, "save": "final"}
    plain = pi.integrate(bodies, start, dt=0.05, **run).final
    tiny = bodies(g=metre**3 / second**2)
    sol = pi.integrate(tiny, start * units, dt=0.05 * second, dtype=dtype, **run)
    assert abs(sol.final / units - plain).max() < 200 * np.finfo(dtype).eps


@pytest.mark.parametrize("verb", ["solve", "integrate"])
@pytest.mark.parametrize(("dtype", "rate"), [("float32", 1e9), ("float64", 1e40)])
def test_rates_in_units_in_which_they_are_huge(dtype, rate, verb):
    """Pivots in another unit left rounding: a fifth of the end, and half of the tangents."""
    damped = pi.rhs(lambda t, y, s: (y[1], s * (-300 * y[1] - s * y[0])), dim=2, s=rate)
    unit, steps = np.array([1, rate]), {"dt": 0.03 / rate, "n_steps": 100}
    to = {"t_end": 3 / rate, "rtol": 2e-5, "atol": 1e-12 * unit} if verb == "solve" else steps
    run = {"method": "rodas5p", "dtype": dtype, "save": "final", "sensitivity": "x0"}
    sol = getattr(pi, verb)(damped, np.array([0.0, 1.0]) * unit, **to, **run)
    linear = np.array([[0, 1], [-1, -300]])
    values, vectors = np.linalg.eig(linear)
    exact = vectors * np.exp(3 * values) @ np.linalg.inv(vectors)
    found = sol.sensitivity["x0"][-1] * unit / unit[:, np.newaxis]
    assert found == pytest.approx(exact, rel=1e-3)
    assert sol.final / unit == pytest.approx(exact[:, 1], rel=1e-3)


@pytest.mark.parametrize(("dtype", "unit"), [("float32", 1e-12), ("float64", 1e-20)])
def test_tangents_in_small_units_leave_the_motion_as_it_is(dtype, unit):
    """Pivots were derivatives of 1e27: in float32 the states were off by all of their size."""
    small = pi.rhs(
        lambda t, y, u: (
            -0.04 * y[0] + 1e4 / u * y[1] * y[2],
            0.04 * y[0] - 1e4 / u * y[1] * y[2] - 3e7 / u * y[1] * y[1],
            3e7 / u * y[1] * y[1],
        ),
        dim=3,
        u=unit,
    )
    start = np.array([unit, 0, 0], dtype)
    run = {"dt": 2e-4, "n_steps": 200, "method": "rodas5p", "save": "final", "dtype": dtype}
    alone = pi.integrate(small, start, **run)
    both = pi.integrate(small, start, sensitivity=("x0", "u"), **run)
    assert both.final == pytest.approx(alone.final, rel=1e-5, abs=0)
