"""Watched equals analysed from all saves: over reductions, systems, methods, splits, failures.

Both sum the same doubles. Extremes, counts and single values are the same to the bit; of sums
NumPy's pairwise ones are off by some roundings of the sum of magnitudes, ours by one.
"""

import math
import pickle

import numpy as np
import pytest
from conftest import same_bits
from reference import states

import pyintegrate as pi

w = pi.watch
EPS = np.finfo(float).eps
SYSTEMS = ["pendulum", "kepler", "lorenz", "henon_heiles", "lotka_volterra", "van_der_pol"]


def quantity_of(system):
    return system.state_names[0]


def everything(q):
    return {
        "max": w.maximum(q), "min": w.minimum(q), "abs": w.max_abs(q), "last": w.last(q),
        "first": w.first(q), "mean": w.mean(q), "total": w.total(q), "rms": w.rms(q),
        "variance": w.variance(q), "std": w.std(q), "slope": w.slope(q),
        "integral": w.integral(q), "count": w.count(lambda t, y: y[0] > 0.3),
        "when": w.first_time(lambda t, y: y[0] > 0.3), "turns": w.windings(q),
        "bins": w.histogram(q, 7, (-1.0, 1.0)),
        "own": w.reduce(lambda kept, t, y: np.maximum(kept, y[0] * y[1]), 0.0),
    }  # fmt: skip


def analysed(t, y, q, valid):
    """The same of one trajectory, by NumPy and exact sums."""
    t, y, q = t[valid], y[valid], q[valid]
    mean, where = math.fsum(q) / len(q), q > 0.3
    d, s = q - mean, t - t.mean()
    rise = math.fsum(d * s) / math.fsum(s * s)
    left = d - rise * s
    h = t[1] - t[0]
    return {
        "max": q.max(), "max.time": t[q.argmax()], "min": q.min(), "min.time": t[q.argmin()],
        "abs": abs(q).max(), "abs.time": t[abs(q).argmax()], "last": q[-1], "last.time": t[-1],
        "first": q[0], "first.time": t[0], "mean": mean, "mean.count": len(q),
        "total": math.fsum(q), "rms": math.sqrt(math.fsum(q * q) / len(q)),
        "variance": math.fsum(d * d) / len(q), "std": math.sqrt(math.fsum(d * d) / len(q)),
        "slope": rise, "slope.intercept": mean - rise * t.mean(),
        "slope.residual": math.sqrt(math.fsum(left * left) / len(q)),
        "integral": h * (math.fsum(q) - (q[0] + q[-1]) / 2),
        "count": where.sum(), "when": t[where.argmax()] if where.any() else np.nan,
        "turns": (np.unwrap(q)[-1] - q[0]) / (2 * np.pi),
        "bins": np.histogram(q, 7, (-1.0, 1.0))[0],
        "own": max(0.0, (y[:, 0] * y[:, 1]).max()),
    }  # fmt: skip


EXACT = ("max", "min", "abs", "last", "first", "count", "when", "bins", "own")


def check(sol, full, start=None):
    valid = full.valid.reshape(len(full), -1)
    t = np.broadcast_to(full.t if full.t.ndim > 1 else full.t[:, np.newaxis], valid.shape)
    y = full.y.reshape(len(full), -1, full.system.dim).astype(float)
    for lane in range(valid.shape[1]):
        expected = analysed(t[:, lane], y[:, lane], y[:, lane, 0], valid[:, lane])
        size = abs(y[valid[:, lane], lane, 0]).max()
        for name, value in expected.items():
            got = sol.watched[name].reshape(
                valid.shape[1], *sol.watched[name].shape[full.y.ndim - 2 :]
            )
            if name.split(".")[0] in EXACT or name.endswith(("count", "time")):
                assert same_bits(np.asarray(got[lane], float), np.asarray(value, float)), name
            else:
                # Of a residual the sums of squares cancel: its error is the root of theirs. Sums
                # of n terms grow with n, and a slope divides by the time between steps.
                n = valid[:, lane].sum()
                scale = size * {"total": n, "slope": 1 / abs(t[1, lane] - t[0, lane])}.get(name, 1)
                scale *= max(size, 1) if name == "variance" else 1
                off = 2e-8 if "residual" in name else 100 * EPS
                scale *= 10 if name in ("slope.intercept", "integral", "turns") else 1
                assert abs(got[lane] - value) <= off * scale, name


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SYSTEMS)
def test_watched_is_analysed_from_all_saves(name, dtype):
    system = pi.systems[name]
    start = states(system, (3, 7)).astype(dtype)
    run = {"dt": 0.01, "n_steps": 700, "dtype": dtype}
    sol = pi.integrate(system, start, save="final", watch=everything(quantity_of(system)), **run)
    full = pi.integrate(system, start, **run)
    assert same_bits(sol.final, full.final)
    check(sol, full)


@pytest.mark.parametrize("method", ["semi_implicit_euler", "yoshida4", "adams_bashforth4", "bdf2",
                                    "gauss2", "nystrom4", "tsitouras54"])  # fmt: skip
def test_any_family_is_watched(method):
    start = states(pi.systems.pendulum, (70,))
    run = {"dt": 0.05, "n_steps": 300, "method": method}
    sol = pi.integrate(pi.systems.pendulum, start, save="final", watch=everything("theta"), **run)
    check(sol, pi.integrate(pi.systems.pendulum, start, **run))


def bits(sol):
    return {name: value.tobytes() for name, value in sol.watched.items()}


@pytest.fixture(scope="module")
def lorenz():
    start = states(pi.systems.lorenz, (333,))
    watch = everything("x") | {"energyless": w.mean(lambda t, y, rho: y[2] - rho, every=3)}
    return lambda n=1000, **options: pi.integrate(
        pi.systems.lorenz(rho=np.linspace(1, 30, 333)), start, dt=0.01, n_steps=n, watch=watch,
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("options", [
    {"save": "all"}, {"save": 7}, {"save": 300}, {"workers": 3}, {"bound": 1e9},
    {"components": ("z",), "save": 10},
], ids=str)  # fmt: skip
def test_nothing_else_changes_a_bit_of_it(lorenz, options):
    assert bits(lorenz(**{"save": "final", **options})) == bits(lorenz(save="final"))


@pytest.mark.parametrize(("name", "most"), [("pendulum", 3.0), ("kepler", 1.0)])
def test_the_drift_of_a_phase_does_not_depend_on_the_batch(name, most):
    system = pi.systems[name]
    start = system.initial * np.linspace(0.7, most, 60)[:, np.newaxis] + 0.1
    run = {"dt": 0.02, "n_steps": 20, "save": "final", "watch": {"ahead": w.last("phase_drift")}}
    drift = pi.integrate(system, start, **run).watched["ahead"]
    assert [*drift] == [pi.integrate(system, one, **run).watched["ahead"] for one in start]


@pytest.mark.parametrize("cut", [1, 255, 256, 701])
def test_a_resumed_run_goes_on_to_the_same_bits(lorenz, cut):
    sol = lorenz(cut, save="final").resume(n_steps=1000 - cut)
    assert bits(sol) == bits(lorenz(save="final"))


def test_an_array_in_blocks_is_watched_alike(lorenz):
    zarr = pytest.importorskip("zarr")
    out = zarr.empty((1001, 333, 3), chunks=(90, 333, 3), dtype="f8")
    assert bits(lorenz(out=out)) == bits(lorenz(save="final"))


def test_a_trajectory_that_fails_keeps_what_it_had():
    @pi.rhs(dim=2)
    def grows(t, y, k=1.0):
        return k * y[0] * y[0], 1.0 + 0.0 * y[1]

    start = np.stack([np.linspace(0.1, 3, 40), np.zeros(40)], axis=-1)
    run = {"dt": 0.01, "n_steps": 500, "on_failure": "ignore", "bound": 1e4}
    sol = pi.integrate(grows, start, save="final", watch=everything("y1"), **run)
    full = pi.integrate(grows, start, **run)
    assert 10 < full.n_failed < 40
    check(sol, full)


def test_a_start_that_is_not_finite_has_seen_nothing():
    sol = pi.integrate(pi.systems.pendulum, [np.nan, 1.0], 0.0, dt=0.01, n_steps=10, save="final",
                       watch=everything("theta"), on_failure="ignore")  # fmt: skip
    for name in ("max", "total", "mean", "variance", "slope", "integral", "when", "turns"):
        assert np.isnan(sol.watched[name][0]), name
    assert sol.watched["count"][0] == sol.watched["mean.count"][0] == 0
    assert not np.isnan(sol.watched["max"][1])


def test_a_quantity_that_becomes_nan_says_when():
    root = w.minimum(lambda t, x, v: np.sqrt(x))
    sol = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, save="final", watch={"q": root})
    assert np.isnan(sol.watched["q"])
    x = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100)
    assert sol.watched["q.time"] == x.t[(x.x < 0).argmax()]


def test_every_and_after_count_from_the_start():
    full = pi.integrate(pi.systems.pendulum, [0.5, 1.0], 0.0, dt=0.01, n_steps=1000)
    watch = {"a": w.mean("theta", every=7, after=3.0), "b": w.last("theta", every=300),
             "c": w.mean("theta", after=[2.0, 99.0])}  # fmt: skip
    sol = pi.integrate(pi.systems.pendulum, [0.5, 1.0], 0.0, dt=0.01, n_steps=1000, save="final",
                       watch=watch)  # fmt: skip
    chosen = (full.steps % 7 == 0) & (full.t >= 3.0)
    assert sol.watched["a.count"].tolist() == [chosen.sum()] * 2
    assert np.allclose(sol.watched["a"], full["theta"][chosen].mean(axis=0), rtol=1e-13, atol=0)
    assert same_bits(sol.watched["b"], full["theta"][900])
    assert sol.watched["c.count"].tolist() == [(full.t >= 2.0).sum(), 0]
    assert np.isnan(sol.watched["c"][1])


def test_backwards_in_time():
    run = {"dt": -0.01, "n_steps": 300, "t0": 5.0}
    watch = {"late": w.first("theta", after=4.0), "s": w.slope("theta")}
    sol = pi.integrate(pi.systems.pendulum, 1.0, 0.0, **run, save="final", watch=watch)
    full = pi.integrate(pi.systems.pendulum, 1.0, 0.0, **run)
    assert sol.watched["late.time"] == full.t[full.t <= 4.0][0]
    assert abs(sol.watched["s"] - np.polyfit(full.t, full["theta"], 1)[0]) < 1e-12


def test_energies_and_invariants():
    kepler = pi.systems.kepler
    run = {"dt": 0.05, "n_steps": 400, "method": "rk4"}
    start = states(kepler, (9,))
    names = ["energy", "energy_error", "angular_momentum"]
    sol = pi.integrate(kepler, start, **run, save="final", watch={q: w.maximum(q) for q in names})
    full = pi.integrate(kepler, start, **run)
    assert same_bits(sol.watched["energy"], full.energy().max(axis=0))
    assert same_bits(sol.watched["energy_error"], full.energy_error().max(axis=0))
    momentum = kepler.invariants(full.y)["angular_momentum"].max(axis=0)
    assert same_bits(sol.watched["angular_momentum"], momentum)


def test_the_system_of_a_user_is_watched_traced_compiled_and_called():
    def force(t, x, v, k):
        return -k * x

    def energy(t, x, v, k):
        return 0.5 * (v * v + k * x * x)

    run = {"dt": 0.1, "n_steps": 300, "save": "final"}
    watch = {"e": w.max_abs("energy_error"), "x": w.rms(lambda t, x, v, k: k * x)}
    traced = pi.acceleration(k=2.0, energy=energy)(force)
    called = pi.acceleration(k=2.0, energy=energy, trace=False, dof=1)(force)
    a, b = (pi.integrate(s, [1.0, 2.0], 0.0, watch=watch, **run) for s in (traced, called))
    assert np.allclose(a.watched["x"], b.watched["x"], rtol=1e-13, atol=0)
    assert np.allclose(a.watched["e"], b.watched["e"], rtol=1e-6, atol=0)


def test_periods_are_those_of_the_closed_form():
    amplitude = np.linspace(0.1, 3.0, 50)
    sol = pi.integrate(pi.systems.pendulum, amplitude, 0.0, dt=0.002, n_steps=20_000, method="rk4",
                       save="final", watch={"T": w.periods("theta")})  # fmt: skip
    exact = pi.systems.pendulum.period(np.stack([amplitude, 0 * amplitude], axis=-1))
    # The cubic is off by h^4 f''''/128 / f', about (2 pi h/T)^4/128 of a radian.
    assert np.all(np.abs(sol.watched["T"] / exact - 1) < 1e-9)
    assert np.array_equal(sol.watched["T.count"], np.floor((40.0 - 0.75 * exact) / exact))
    assert np.all(sol.watched["T.variance"] < 1e-16)


def test_crossings_of_a_rough_quantity_lie_within_their_steps():
    """Newton's method for the cubic through values that are as good as random."""
    k = np.random.default_rng(1).uniform(1.0, 300.0, 20_000)
    rough = w.periods(lambda t, x, v, force: np.sin(force * (t + 1) ** 2))
    sol = pi.integrate(pi.systems.constant_force(force=k), dt=1.0, n_steps=12, watch={"T": rough})
    q = np.sin(k * (sol.t[:, np.newaxis] + 1) ** 2)
    one = sol.watched["T.count"] == 1
    passes = np.argwhere(((q[1:-2] < 0) & (q[2:-1] >= 0)).T[one])[:, 1].reshape(-1, 2)
    assert np.all(np.abs(sol.watched["T"][one] - np.diff(passes)[:, 0]) <= 1)


def test_a_sum_of_many_steps_loses_nothing_in_float32():
    sol = pi.integrate(pi.systems.oscillator, np.float32(1.0), np.float32(0.0), dt=0.01,
                       n_steps=1_000_000, save="final", method="semi_implicit_euler",
                       watch={"n": w.total(lambda t, x, v: 0.1)})  # fmt: skip
    assert sol.final.dtype == np.float32
    assert abs(sol.watched["n"] / (1_000_001 * 0.1) - 1) < 2 * EPS


def test_an_interrupt_leaves_what_was_watched_to_the_step_it_names(lorenz):
    def press(done, total):
        if done > 20_000:
            raise KeyboardInterrupt

    for save in ("final", 70, 100_000):
        with pytest.raises(KeyboardInterrupt) as caught:
            lorenz(1 << 40 if save == "final" else 700_000, save=save, progress=press,
                   workers=2)  # fmt: skip
        part = caught.value.solution
        assert part.n_steps > 20_000
        whole = lorenz(part.n_steps, save="final")
        assert bits(part) == bits(whole)
        assert same_bits(part.final, whole.final)


def test_what_was_watched_goes_with_a_solution():
    sol = pi.integrate(pi.systems.pendulum, 1.0, 0.0, dt=0.1, n_steps=10, watch=everything("theta"))
    assert bits(pickle.loads(pickle.dumps(sol))) == bits(sol)
    assert "max.time" in repr(sol.watched)
    with pytest.raises(KeyError, match="nothing watched is named 'far'; there are max"):
        sol.watched["far"]


@pytest.mark.parametrize(("watch", "words"), [
    ([1], "watch must map names"), ({"a": 1}, r"watch\['a'\] must come from pi.watch"),
    ({"a": w.mean("nothing")}, "no quantity 'nothing'; it has theta, omega"),
    ({"a": w.mean(lambda t, y, zeta: zeta)}, "takes 'zeta'"),
    ({"a": w.mean(lambda x, t: x)}, r"expected \(t, y, ...\) or \(t, x, v, ...\)"),
    ({"a": w.mean(lambda t, x, v: "b")}, "one number|real number"),
    ({"a": w.mean(3.0)}, "a quantity is a component"),
    ({"a": w.mean("theta"), "a.count": w.mean("theta")}, "could be a result of another"),
    ({"a": w.mean("theta", after=[1.0, 2.0, 3.0])}, "after of 'a'"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_a_wrong_watch_is_refused_before_anything_runs(watch, words):
    with pytest.raises((TypeError, ValueError), match=words):
        pi.integrate(pi.systems.pendulum, [1.0, 2.0], 0.0, dt=0.1, n_steps=10, watch=watch)


@pytest.mark.parametrize(("words", "make"), [
    ("every must be at least 1", lambda: w.mean("x", every=0)),
    ("every must be an integer", lambda: w.mean("x", every=1.5)),
    ("after must hold real", lambda: w.mean("x", after="b")),
    ("bins must be at least 1", lambda: w.histogram("x", 0, (0, 1))),
    ("range must be two finite", lambda: w.histogram("x", 5, (1, 0))),
    ("range must be two finite", lambda: w.histogram("x", 5, (0, np.inf))),
    ("initial", lambda: w.reduce(lambda k, t, x, v: k, [[1.0]])),
])  # fmt: skip
def test_wrong_options_of_a_watch_are_refused(words, make):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


@pytest.mark.parametrize("n_steps", [10, 1000, 100_000])
def test_an_exact_line_has_no_residual(n_steps):
    """What is left of a square is the difference of three, eight roundings at most: below, 0."""
    watch = {"line": pi.watch.slope(lambda t, x, v: 2 * t + 1), "x": pi.watch.slope("x"),
             "swing": pi.watch.slope(lambda t, x, v: t + 1e-6 * np.sin(t))}  # fmt: skip
    sol = pi.integrate(pi.systems.constant_force(force=0.0), 0.0, 1.0, dt=0.01, n_steps=n_steps,
                       save="final", watch=watch)  # fmt: skip
    assert sol.watched["line.residual"] == sol.watched["x.residual"] == 0
    assert n_steps != 1000 or 1e-7 < sol.watched["swing.residual"] < 1e-6


def test_errors_of_a_run_that_fills_an_array_part_by_part_are_from_its_first_state(monkeypatch):
    monkeypatch.setattr("pyintegrate.run.output.PART_BYTES", 500)
    angle = np.linspace(0.1, 3.0, 12).reshape(3, 4)
    watch = {"swing": w.max_abs("energy_error"), "ahead": w.last("phase_drift")}
    run = {"dt": 0.1, "n_steps": 50, "method": "velocity_verlet", "watch": watch}
    out = np.empty((51, 3, 8, 2))[:, :, :4]
    some = pi.integrate(pi.systems.pendulum, angle, 0.0, **run, out=out)
    whole = pi.integrate(pi.systems.pendulum, angle, 0.0, **run)
    for name, result in whole.watched.items():
        assert same_bits(some.watched[name], result)


def test_long_sums_and_shared_terms_are_watched_by_solve():
    """The first was too deep a recursion, the second one of 2^40 steps."""

    def long(t, x, v):
        return sum((x * float(i) for i in range(1500)), 0.0 * v)

    def shared(t, x, v):
        for _ in range(40):
            x, v = 0.5 * x + 0.5 * v, 0.5 * x - 0.5 * v
        return x

    watch = {"long": w.maximum(long), "shared": w.maximum(shared)}
    found = pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=3.0, watch=watch).watched
    assert found["long"] == pytest.approx(1499 * 750)
    assert found["shared"] == pytest.approx(2.0**-20)
    zero = {"none": w.maximum(lambda t, x, v: x / 0.0)}  # it was a ZeroDivisionError
    assert np.isnan(pi.solve(pi.systems.oscillator, t_end=1.0, watch=zero).watched["none"])
