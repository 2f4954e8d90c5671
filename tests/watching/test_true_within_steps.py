"""What is watched to a tolerance is as good as the motion is: random quantities on ten systems.

The reference is the same motion at rtol 1e-13, at the 10 Gauss points of 400 sections: 4,000 times.
On a section a smooth quantity is the polynomial through them, so that integrals, extremes and zeros
are exact to rounding. A number may be wrong by 3 times the largest error of its quantity on the run
and 10 times the tolerance of the quantity; a time by that over the slope at the zero.
"""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate.watching.plan import Plan

SECTIONS, ORDER, FINE = 400, 10, 40
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
PLACES = np.linspace(-1, 1, FINE + 1)
BETWEEN = np.linalg.solve(
    np.polynomial.legendre.legvander(NODES, ORDER - 1).T,
    np.polynomial.legendre.legvander(PLACES, ORDER - 1).T,
).T  # from the values at the Gauss points to those at PLACES
SYSTEMS = {  # the end; chaotic ones to t = 5
    "oscillator": 40.0, "pendulum": 12.0, "duffing": 20.0, "van_der_pol": 20.0, "kepler": 25.0,
    "henon_heiles": 5.0, "lotka_volterra": 8.0, "lorenz": 5.0, "rossler": 5.0,
    "double_pendulum": 5.0,
}  # fmt: skip
TRAJECTORIES = 3


def random_quantity(random, dim, size):
    """A smooth function of time and components, which are about as large as `size`."""
    kind = random.integers(5)
    a, b = random.normal(size=(2, dim)) / size
    c, w = random.normal(), random.uniform(0.3, 4)

    def of(t, y):
        u = sum(one * y[k] for k, one in enumerate(a))
        z = sum(one * y[k] for k, one in enumerate(b))
        if kind == 0:
            return u + c
        if kind == 1:
            return u * z + c * u
        if kind == 2:
            return np.sin(w * u + c) + z
        if kind == 3:
            return np.exp(-(u**2)) * np.cos(w * t) + 0.3 * z
        return u / (1 + z**2) + np.sqrt(1 + u**2)

    return of


def as_user(system, of, then=lambda q: q):
    """The function as pi.watch takes it."""
    if not system.positions:
        return lambda t, y: then(of(t, y))
    if system.dof == 1:
        return lambda t, x, v: then(of(t, [x, v]))
    return lambda t, x, v: then(of(t, [*x, *v]))


class Exact:
    """Reductions of a quantity with these values at the Gauss points, (sections, nodes)."""

    def __init__(self, q, t_end):
        self.t_end, self.width = t_end, t_end / SECTIONS
        self.q, self.fine = q, q @ BETWEEN.T
        self.t = self.width * (np.arange(SECTIONS)[:, np.newaxis] + (PLACES + 1) / 2)
        self.weights = WEIGHTS / (2 * SECTIONS)
        self.at = self.width * (np.arange(SECTIONS)[:, np.newaxis] + (NODES + 1) / 2)

    def mean(self, q):
        return float((q * self.weights).sum())

    def slope(self):
        off = self.at - self.t_end / 2
        return self.mean(off * self.q) / self.mean(off * off)

    def polynomial(self, i):
        """That of section i, on -1 .. 1."""
        return np.polynomial.legendre.Legendre.fit(NODES, self.q[i], ORDER - 1, [-1, 1])

    def largest(self, sign):
        best = (sign * self.fine).max(axis=1)
        values = [best.max()]
        for i in np.argsort(best)[-3:]:
            p = self.polynomial(i)
            turns = [x.real for x in p.deriv().roots() if abs(x.imag) < 1e-6 and abs(x.real) < 1]
            values += [sign * p(x) for x in turns]
        return sign * max(values)

    def zeros(self, level):
        """Times and slopes of the rising and falling zeros of q - level."""
        f = self.fine - level
        rows, columns = np.nonzero((f[:, :-1] < 0) != (f[:, 1:] < 0))
        times, slopes = [], []
        for i, k in zip(rows, columns, strict=True):
            lo, hi = PLACES[k], PLACES[k + 1]
            p = self.polynomial(i) - level
            inside = [x.real for x in p.roots() if abs(x.imag) < 1e-9 and lo - 1e-9 <= x.real <= hi]
            x = inside[0] if inside else lo + (hi - lo) * f[i, k] / (f[i, k] - f[i, k + 1])
            times.append(self.width * (i + (x + 1) / 2))
            slopes.append(p.deriv()(x) * 2 / self.width)
        return np.array(times), np.array(slopes)


def watches(system, functions, levels):
    out = {}
    for i, (of, level) in enumerate(zip(functions, levels, strict=True)):
        q = as_user(system, of)
        for name in ("mean", "integral", "variance", "std", "rms", "slope", "maximum", "minimum",
                     "max_abs"):  # fmt: skip
            out[f"{name} {i}"] = getattr(pi.watch, name)(q)
        out[f"periods {i}"] = pi.watch.periods(as_user(system, of, lambda q, c=level: q - c))
        above = as_user(system, of, lambda q, c=level: q > c)
        for name in ("first_time", "entries", "time_within"):
            out[f"{name} {i}"] = getattr(pi.watch, name)(above)
    return out


def expected(values, t_end, level, off):
    """What the reductions of a quantity should be, and how much they may be wrong if it is off by
    so much; counts and times only if it comes to the level nowhere closely but across."""
    e = Exact(values.reshape(SECTIONS, ORDER), t_end)
    top, bottom = e.largest(1), e.largest(-1)
    mean, square = e.mean(e.q), e.mean(e.q**2)
    spread = np.sqrt(max(square - mean**2, 0))
    exact = {
        "mean": (mean, off), "integral": (mean * t_end, off * t_end), "rms": (np.sqrt(square), off),
        "std": (spread, off), "variance": (spread**2, (2 * spread + off) * off),
        "slope": (e.slope(), 3 * off / t_end), "maximum": (top, off), "minimum": (bottom, off),
        "max_abs": (max(top, -bottom), off),
    }  # fmt: skip
    middle, rise = e.fine[:, 1:-1], np.diff(e.fine)
    turns = middle[rise[:, :-1] * rise[:, 1:] <= 0]
    if min(np.abs(np.array([*turns, e.fine[0, 0], e.fine[-1, -1]]) - level)) <= 4 * off:
        return exact
    at, slopes = e.zeros(level)
    late = off / np.abs(slopes).min(initial=np.inf)
    up, begins = at[slopes > 0], e.fine[0, 0] > level
    edges = [0.0] * int(begins) + [*at, t_end]
    exact["entries"] = float(up.size), 0.0
    exact["first_time"] = [*edges[:-1], np.nan][0], late
    exact["time_within"] = float(np.diff(edges)[::2].sum()), late * at.size
    if up.size > 1:
        exact["periods"] = (up[-1] - up[0]) / (up.size - 1), 2 * late / (up.size - 1)
    return exact


def failures(name, rtol, quantities):
    """What is wrong of the random quantities of a system, as text."""
    system, t_end, atol = pi.systems[name], SYSTEMS[name], 1e-3 * rtol
    random = np.random.default_rng([len(name), quantities])
    start = system.initial + 0.1 * random.normal(size=(TRAJECTORIES, system.dim))
    times = (t_end / SECTIONS * (np.arange(SECTIONS)[:, np.newaxis] + (NODES + 1) / 2)).ravel()
    y = pi.solve(system, start, t_end=t_end, rtol=1e-13, atol=1e-15, times=times).y
    size = np.abs(y).max(axis=(0, 1))
    functions = [random_quantity(random, system.dim, size) for _ in range(quantities)]
    t = times[:, np.newaxis]
    true = [of(t, np.moveaxis(y, -1, 0)) for of in functions]
    levels = [float(np.quantile(q, random.uniform(0.2, 0.8))) for q in true]
    run = {"t_end": t_end, "rtol": rtol, "atol": atol}
    seen = pi.solve(system, start, **run, watch=watches(system, functions, levels)).watched
    y = np.moveaxis(pi.solve(system, start, **run, times=times).y, -1, 0)
    out = []
    for i, (q, of, level) in enumerate(zip(true, functions, levels, strict=True)):
        own = of(t, y)  # of the polynomials themselves: within the bounds that are told
        for k in range(TRAJECTORIES):
            most = np.abs(q[:, k]).max()
            off = 3 * np.abs(own[:, k] - q[:, k]).max() + 10 * (rtol * most + atol)
            for what, (number, allowed) in expected(q[:, k], t_end, level, off).items():
                told = seen[f"{what} {i}"][k]
                if not (abs(told - number) <= allowed or (np.isnan(number) and np.isnan(told))):
                    out.append(f"q{i}[{k}] {what}: {told}, expected {number} +- {allowed}")
            for what, (number, _) in expected(own[:, k], t_end, level, off).items():
                told = seen[f"{what} {i}"][k]
                bound = seen.get(f"{what} {i}.error", np.zeros(TRAJECTORIES))[k]
                if not (abs(told - number) <= bound + 1e-11 * most * t_end or np.isnan(number)):
                    out.append(f"q{i}[{k}] {what}: {told}, {number} of its steps, bound {bound}")
    return out


@pytest.mark.parametrize("name", SYSTEMS)
def test_some_random_quantities(name):
    assert not failures(name, 1e-6, quantities=2)


@pytest.mark.long
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_hundred_random_quantities(name, rtol):
    assert not failures(name, rtol, quantities=10)


def test_the_branches_of_a_closed_form_are_no_places_to_look_at():
    """They agree where they meet; the pendulum's phase has thousands of them in a turn."""
    turns = {"turns": pi.watch.windings("phase")}
    plan = Plan(pi.systems.pendulum, turns, uneven=True)
    assert plan.groups[0].timed_program.sizes[4] == 1  # the quantity alone
    sol = pi.solve(pi.systems.pendulum, 2.0, 0.0, t_end=7.5, watch=turns)
    period = pi.systems.pendulum.period(np.array([2.0, 0.0]))
    assert abs(sol.watched["turns"] - 7.5 / period) < 1e-5


@pytest.mark.parametrize("method", ["auto", "dormand_prince54", "radau_iia5"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_trajectories_that_seek_pieces_have_the_bits_of_many(method, dtype):
    """Points of the pieces of few are evaluated side by side, those of many one by one."""
    start = np.random.default_rng(5).uniform(-15, 15, (40, 3)).astype(dtype) + [0, 0, 25]

    def run(some):
        kinks = lambda t, y: np.maximum(np.abs(y[0]), y[1]) - 5  # noqa: E731
        watch = {"mean": pi.watch.mean(kinks), "angle": pi.watch.windings(lambda t, y: y[0]),
                 "fast": pi.watch.maximum(lambda t, y: np.sin(40 * t) * y[0])}  # fmt: skip
        events = {"hypot": pi.event(lambda t, y: np.hypot(y[0], y[1]) > 15, keep=5),
                  "kinks": pi.event(kinks, keep=5)}  # fmt: skip
        return pi.solve(
            pi.systems.lorenz, start[some].astype(dtype), t_end=1.0, rtol=1e-4, method=method,
            dtype=dtype, save="final", watch=watch, events=events,
        )  # fmt: skip

    many = run(slice(None))
    for lane in (0, 17, 39):
        alone = run(slice(lane, lane + 1))
        for key, value in alone.watched.items():
            assert same_bits(value, many.watched[key][lane : lane + 1]), key
        for key, event in alone.events.items():
            assert same_bits(event.t, many.events[key].t[lane : lane + 1]), key
    assert many.events["kinks"].count.sum() > 50


@pytest.mark.parametrize(
    ("quantity", "degree"),
    [
        (lambda t, y: y @ y - y[0], 2),
        (lambda t, y, sigma: sigma * y[0] ** 3 * (1 - y[1]) / (2 + sigma), 4),
        (lambda t, y: abs(y[0]), np.inf),
        (lambda t, y: t * y[0], np.inf),
        (lambda t, y: y[0] / (1 + y[1]), np.inf),
    ],
)
def test_the_degree_of_a_polynomial_in_the_components(quantity, degree):
    """Degrees of factors add up; nothing is cut off from a polynomial whose degree is known."""
    plan = Plan(pi.systems.lorenz, {"q": pi.watch.mean(quantity)}, uneven=True)
    assert plan.groups[0].within_steps["degrees"][0] == degree


COMPARED = {  # linear in the components, or of the second degree; `part`: times a positive factor
    "one": lambda x, v, part: part(x) > 0,
    "near the turning point": lambda x, v, part: part(x - 1.2) > 0,
    "a band": lambda x, v, part: (part(x - 0.3) > 0) & (part(x - 0.45) < 0),
    "either": lambda x, v, part: (part(x) > 0) ^ (part(v - 0.3) > 0),
    "product": lambda x, v, part: part(x * x - 0.5) > 0,
    "products": lambda x, v, part: (part(x * x + v * v - 0.3) > 0) & (part(x * v + 0.1) > 0),
    "three": lambda x, v, part: ~((part(x - v) > 0) & (part(x) > 0)) | (part(v + 1) < 0),
}


def condition(name, part):
    return lambda t, x, v: COMPARED[name](x, v, part)


@pytest.mark.parametrize("rtol", [1e-3, 1e-9])
@pytest.mark.parametrize("name", COMPARED)
def test_a_positive_factor_changes_no_condition(name, rtol):
    """It makes what is compared nonlinear, which is watched by pieces rather than by the steps.

    Zeros of one polynomial and of the pieces that resolve it to the tolerance / 20.
    """
    start = np.stack([np.linspace(0.31, 2.5, 40), np.linspace(0, 0.3, 40)], -1)
    found = []
    for part in (lambda q: q, lambda q: q * (2 + np.cos(3 * q))):
        holds = condition(name, part)
        watch = {
            "time": pi.watch.time_within(holds),
            "times": pi.watch.entries(holds),
            "first": pi.watch.first_time(holds),
        }
        events = {
            "begins": pi.event(holds, keep=3),
            "ends": pi.event(holds, keep=3, direction=-1),
            "stops": pi.event(holds, stop=7),
        }
        run = {"t_end": 20.0, "rtol": rtol, "atol": rtol, "save": "final"}
        sol = pi.solve(pi.systems.pendulum, start, watch=watch, events=events, **run)
        times = {key: event.t for key, event in sol.events.items()}
        found.append(dict(sol.watched) | times)
        found[-1]["counts"] = [event.count for event in sol.events.values()]
        assert (sol.status == np.where(np.isnan(sol.stopped_at), 0, pi.Status.STOPPED)).all()
        assert not any(event.unresolved.any() for event in sol.events.values())
    for key in ("times", "counts"):
        np.testing.assert_array_equal(found[0][key], found[1][key])
    assert found[0]["times"].max() > 3
    for key in ("time", "first", "begins", "ends", "stops"):
        np.testing.assert_allclose(found[0][key], found[1][key], rtol=0, atol=rtol)


def test_what_is_zero_for_a_while_hides_no_change_of_a_condition():
    """The other quantity compares max(x - 1/2, 0) with 0, which says nothing where both are 0."""

    def holds(t, x, v):
        return np.floor(3 * x) < -1.5

    watch = {
        "first": pi.watch.first_time(holds),
        "time": pi.watch.time_within(holds),
        "other": pi.watch.mean(lambda t, x, v: abs(np.maximum(x - 0.5, 0))),
    }
    sol = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=5.5, watch=watch)
    angle = np.arccos(1 / 3)
    assert sol.watched["first"] == pytest.approx(np.pi - angle, abs=1e-6)
    assert sol.watched["time"] == pytest.approx(2 * angle, abs=1e-6)


def test_in_single_precision_a_condition_changes_once_between_two_landings():
    """Flights begin and end at heights near 0, so that their ends alone say nothing of the rounding
    between them: 8 of these balls rose past the level too often where a mean was watched too."""
    r, n = np.random.default_rng(5), 1000
    g, e, z0 = r.uniform(0.3, 3, n), r.uniform(0.9, 1, n), r.uniform(0.2, 2, n)
    v0, floor = r.normal(size=n), r.uniform(-1, 0.1, n)
    level = r.uniform(0.05, 1.2, n) + floor
    falls = pi.acceleration(lambda t, x, v, g: -g + 0 * x, g=1.0)
    events = {
        "floor": pi.event(
            "x", level=floor, direction=-1, then=lambda t, x, v, e: (x, -e * v),
            params={"e": e, "level": level},
        ),
        "rises": pi.event("x", level=level, direction=1),
    }  # fmt: skip
    above = pi.watch.entries(lambda t, x, v, level: x > level)
    sol = pi.solve(
        falls(g=g), z0, v0, t_end=6.0, rtol=1.2e-5, atol=1e-10, dtype=np.float32, events=events,
        watch={"above": above, "mean": pi.watch.mean("x")}, on_failure="ignore",
    )  # fmt: skip
    np.testing.assert_array_equal(sol.watched["above"], sol.events["rises"].count)
