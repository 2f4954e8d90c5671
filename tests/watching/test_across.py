"""Statistics across the batch: against NumPy and math.fsum on saved states, in any split."""

import math
import pickle
import tracemalloc
from fractions import Fraction

import matplotlib
import numpy as np
import pytest

import pyintegrate as pi

matplotlib.use("Agg")
EVERY, STEPS = 5, 23
SPRING = pi.systems.spring


def start(n, seed=1):
    """Numbers of many magnitudes, so that rounded sums would lose some of them."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) * 10.0 ** rng.uniform(-6, 6, n), rng.normal(size=n)


def everything(by=None):
    a = pi.across
    options = {"every": EVERY, "by": by}
    return {
        "mean": a.mean("x", **options),
        "variance": a.variance("x", **options),
        "std": a.std("v", **options),
        "least": a.minimum("x", **options),
        "most": a.maximum(lambda t, x, v: x * v, **options),
        "band": a.quantiles("x", [0, 0.05, 0.5, 0.95, 1], **options),
        "exact": a.quantiles("x", [0.05, 0.5, 0.95], exact=True, **options),
        "bins": a.histogram("x", 10, (-2, 2), **options),
        "both": a.covariance(("x", "v"), **options),
        "right": a.count(lambda t, x, v: x > 0, **options),
    }


def run(x, v, across, n_steps=STEPS, **keywords):
    keywords = {"save": "final", **keywords}
    return pi.integrate(SPRING, x, v, dt=0.01, n_steps=n_steps, across=across, **keywords)


def same(a, b):
    assert list(a) == list(b)
    for name in a:
        assert a[name].dtype == b[name].dtype, name
        assert a[name].tobytes() == b[name].tobytes(), name


def exact_covariance(x, y):
    """The nearest double of the covariance of these doubles."""
    x, y = ([Fraction(float(q)) for q in some] for some in (x, y))
    n = len(x)
    return float(sum(p * q for p, q in zip(x, y, strict=True)) / n - sum(x) * sum(y) / n**2)


@pytest.mark.parametrize("n", [1, 127, 128, 3000])
def test_statistics_are_those_of_the_saved_states(n):
    sol = run(*start(n), everything(), save="all")
    a, x, v = sol.across, sol.x[::EVERY], sol.v[::EVERY]
    assert a["mean.t"].tolist() == sol.t[::EVERY].tolist()
    assert a["mean"].tolist() == [math.fsum(row) / n for row in x]
    assert a["least"].tolist() == x.min(axis=1).tolist()
    assert a["most"].tolist() == (x * v).max(axis=1).tolist()
    np.testing.assert_array_equal(a["exact"], np.quantile(x, [0.05, 0.5, 0.95], axis=1).T)
    assert a["bins"].tolist() == [np.histogram(row, 10, (-2, 2))[0].tolist() for row in x]
    assert a["right"].tolist() == (x > 0).sum(axis=1).tolist()
    if n < 200:
        assert a["variance"].tolist() == [exact_covariance(row, row) for row in x]
        assert a["both"][:, 0, 1].tolist() == [exact_covariance(*r) for r in zip(x, v, strict=True)]
    np.testing.assert_allclose(a["std"], v.std(axis=1), rtol=1e-12)
    assert (a["mean.count"] == n).all()
    assert not a["mean.missing"].any()


def test_quantiles_lie_within_their_cells():
    """Both order statistics are known to 1/256, on either side of about=."""
    q = np.linspace(0, 1, 41)
    for about in (0.0, 0.7):
        sol = run(*start(5000), {"q": pi.across.quantiles("x", q, about=about)}, save="all")
        lower = np.quantile(sol.x, q, axis=1, method="lower").T
        upper = np.quantile(sol.x, q, axis=1, method="higher").T
        room = np.maximum(abs(lower - about), abs(upper - about)) / 256 * (1 + 1e-12)
        got = sol.across["q"]
        assert np.all(got >= lower - room)
        assert np.all(got <= upper + room)


def cells_of(values, about=0.0):
    """The cell of each finite value: sign, exponent, 8 bits of the mantissa; 0 of zero."""
    cell = (values - about).view(np.int64) >> 44 & (1 << 20) - 1
    return np.where(cell >> 8 & 2047, cell, 0)


@pytest.mark.parametrize("groups", [1, 700])  # without and with more rows than windows
def test_each_value_is_counted_in_its_cell(groups):
    """A grid that grows by 300 octaves, one that crosses zero, one value among others, at both ends
    of the range of doubles; in a window, or as the first that lies outside."""
    rng = np.random.default_rng(5)
    sign = rng.choice([-1.0, 1.0], 4000)
    for x in (
        sign * np.exp2(np.linspace(-900, -600, 4000)), np.linspace(-3, 4, 4001),
        sign * np.exp2(rng.uniform(-20, 5, 4000)), np.append(np.ones(999), [0.0, -0.0, 5e-324]),
        sign * np.ldexp(rng.uniform(0.5, 1, 4000), 1024), np.repeat([1.0, -2.0, 3e-5], 7),
        sign * np.exp2(rng.uniform(-1030, -1000, 4000)),
    ):  # fmt: skip
        label = np.arange(len(x)) % groups if groups > 1 else None
        across = {"q": pi.across.quantiles("x", 0.5, by=label)}
        run = {"dt": 1e-300, "n_steps": 6, "save": "final", "across": across}
        sol = pi.integrate(SPRING(k=0, b=0), x, 0.0, **run)
        cells = sol.across._asked["q"].parts[0].items
        key, expected = np.unique(
            (0 if label is None else label) * (1 << 20) + cells_of(x), return_counts=True
        )
        for k in (0, 6):
            found = np.concatenate([one + [g << 20, 0] for g, one in enumerate(cells[k])])
            assert found.tolist() == np.column_stack([key, expected]).tolist()


def test_a_narrow_band_is_told_and_about_makes_it_fine():
    x = 1000 + np.random.default_rng(2).normal(size=2000)
    q = [0.05, 0.5, 0.95]
    across = {"far": pi.across.quantiles("x", q), "near": pi.across.quantiles("x", q, about=1000)}
    sol = pi.integrate(SPRING(k=0, b=0), x, 0.0, dt=0.1, n_steps=1, across=across)
    assert sol.across["far.coarse"].all()
    assert not sol.across["near.coarse"].any()
    assert "far: coarse, give about= a number within the band" in str(sol.across.table())
    np.testing.assert_allclose(sol.across["near"][0], np.quantile(x, q), atol=0.01)


def test_infinities_are_the_outermost_values_of_each_group():
    """As NumPy's, of which an infinity makes NaN even where it has the rank."""
    x = np.array([1.0, 2.0, -1.0, 0.0, 4.0, 0.0, -4.0, 8.0])
    label, q = [0, 0, 0, 0, 0, 1, 2, 2], [0.0, 0.25, 0.5, 1.0]
    across = {
        name: pi.across.quantiles(lambda t, x, v: 1 / x, q, by=label, exact=name == "exact")
        for name in ("exact", "cells")
    }
    sol = pi.integrate(SPRING(k=0, b=0), x, 0.0, dt=0.1, n_steps=0, across=across)
    row, inf = [-1.0, 0.25, 0.5, np.inf], [np.inf] * 4
    expected = [row, inf, [-0.25, -0.15625, -0.0625, 0.125]]
    np.testing.assert_allclose(sol.across["exact"][0], expected, rtol=1e-15)
    np.testing.assert_allclose(sol.across["cells"][0], expected, rtol=1 / 128)


def test_a_point_is_itself():
    sol = run(np.full(100, 1.3), 0.0, {"q": pi.across.quantiles("x", [0.05, 0.95])})
    assert sol.across["q"][0].tolist() == [1.3, 1.3]


@pytest.mark.parametrize("span", [3, 30, 36, 60])
@pytest.mark.parametrize("scale", [-960, -872, 0, 900, 1000])
def test_sums_are_exact_over_any_span_of_magnitudes(span, scale):
    """To both sides of 33 bits, up to which values are added in two levels, and of its range."""
    draw = np.random.default_rng(7)
    x = np.ldexp(draw.uniform(0.9, 1, 1001), scale + draw.integers(0, 2, 1001))
    x = np.stack([x, -x, np.ldexp(x, -span)], axis=-1).ravel()  # all but the last cancels
    x = np.concatenate([x, x[::3], -x[::3]])
    across = {
        "m": pi.across.mean("x"),
        "low": pi.across.minimum("x"),
        "high": pi.across.maximum("x"),
    }
    run = {"dt": 1e-3, "n_steps": 0, "save": "final", "across": across}
    sol = pi.integrate(pi.systems.oscillator, x, 0.0, **run)
    assert sol.across["m"][0] == math.fsum(x) / len(x)
    assert (sol.across["low"][0], sol.across["high"][0]) == (x.min(), x.max())


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_extremes_tell_the_zeros_apart(sign):
    """-0 is below 0, in every place of a block."""
    across = {"low": pi.across.minimum("x"), "high": pi.across.maximum("x")}
    run = {"dt": 1e-3, "n_steps": 0, "save": "final", "across": across}
    for place in range(9):
        x = np.full(9, sign * 0.0)
        x[place] = -sign * 0.0
        sol = pi.integrate(pi.systems.oscillator, x, 0.0, **run)
        assert np.signbit(sol.across["low"][0])
        assert not np.signbit(sol.across["high"][0])


def test_sums_of_the_largest_and_the_smallest_doubles_are_exact():
    x = np.array([1.7e308, 5e-324, -1.7e308, 5e-324, 1e-300, 1.7e308, -1.7e308, -1e-300])
    sol = pi.integrate(SPRING(k=0, b=0), x, 0.0, dt=0.1, n_steps=1, across={
        "m": pi.across.mean("x"), "v": pi.across.variance("x")})  # fmt: skip
    assert sol.across["m"][0] == math.fsum(x) / len(x)
    assert sol.across["v"][0] == np.inf  # too large for a double, and nothing overflowed before
    tiny = np.array([3e-170, -3e-170])  # the squares are subnormal
    sol = pi.integrate(SPRING(k=0, b=0), tiny, 0.0, dt=0.1, n_steps=1, across={
        "v": pi.across.variance("x")})  # fmt: skip
    assert sol.across["v"][0] == exact_covariance(tiny, tiny)


@pytest.mark.parametrize("size", [1e-320, 1e-310, 1e-160, 1e200, 1e308, -1.7e308])
def test_a_mean_and_a_deviation_are_doubles_wherever_their_sums_and_squares_lie(size):
    x = size * np.array([1.0, 1.0, -0.5, 0.25])
    across = {"m": pi.across.mean("x"), "s": pi.across.std("x")}
    with np.errstate(all="raise"):  # as a user may have it
        sol = pi.integrate(SPRING(k=0, b=0), x, 0.0, dt=0.1, n_steps=0, across=across)
    some = [Fraction(q) for q in x.tolist()]
    square = sum(q * q for q in some) / 4 - (sum(some) / 4) ** 2
    assert abs(Fraction(float(sol.across["m"][0])) - sum(some) / 4) <= 5e-324 + abs(size) * 2e-16
    room = 5e-324 + abs(size) * 4e-16
    low, high = (max(Fraction(float(sol.across["s"][0])) + Fraction(e), 0) for e in (-room, room))
    assert low**2 <= square <= high**2


def test_a_condition_takes_parameters_by_name():
    by_name = {"n": pi.across.count(lambda t, x, v, k: x > k)}
    sol = pi.integrate(SPRING(k=[0.5, 1.5, 2.5]), 1.0, 0.0, dt=0.1, n_steps=0, across=by_name)
    assert sol.across["n"].tolist() == [1]


@pytest.mark.parametrize("cut", [0, 1, 127, 1000])
def test_parts_merge_to_the_bits_of_one_run(cut):
    x, v = start(2000)
    labels = np.random.default_rng(3).integers(0, 4, 2000)
    parts = [run(x[s], v[s], everything(labels[s])) for s in (slice(cut), slice(cut, None))]
    same(pi.across.merge(*parts), run(x, v, everything(labels)).across)
    same(pi.across.merge(parts[1], parts[0].across), pi.across.merge(*parts))


def test_workers_shapes_saves_and_resuming_change_no_bit():
    x, v = start(4000)
    once = run(x, v, everything()).across
    same(run(x, v, everything(), workers=2, n_steps=STEPS, save="all").across, once)
    shaped = run(x.reshape(40, 100), v.reshape(40, 100), everything())
    same(shaped.across, once)
    same(run(x, v, everything(), n_steps=11).resume(n_steps=4).resume(n_steps=8).across, once)
    order = np.random.default_rng(4).permutation(4000)
    same(run(x[order], v[order], everything()).across, once)
    same(pickle.loads(pickle.dumps(shaped)).across, once)


def test_groups_are_rows_of_their_own():
    x, v = start(1000)
    labels = np.repeat([7, -2, 7, 5], 250)
    a = run(x, v, everything(labels)).across
    assert a["mean.groups"].tolist() == [-2, 5, 7]
    for i, one in enumerate((-2, 5, 7)):
        own = run(x[labels == one], v[labels == one], everything()).across
        for name in own:
            if not name.endswith((".t", ".edges", ".q", ".groups")):
                np.testing.assert_array_equal(a[name][:, i], own[name], err_msg=name)


def test_it_shows_itself_as_a_table():
    sol = run(*start(3), {"low": pi.across.minimum("x", by=[0, 1, 1])})
    assert "low.groups" in repr(sol.across)
    assert "low.groups" in sol.across._repr_html_()


def test_failed_and_stopped_trajectories_are_missing():
    @pi.rhs(dim=1)
    def explosion(t, y):
        return y * y

    y0 = np.linspace(-1, 4, 300)[:, np.newaxis]
    sol = pi.integrate(
        explosion, y0, dt=0.01, n_steps=60, on_failure="ignore", bound=100.0, workers=2,
        across={"m": pi.across.mean("y", every=5), "q": pi.across.quantiles("y", 0.5, every=5)},
    )  # fmt: skip
    assert 0 < sol.n_failed < 300
    valid = sol.valid[::5]
    assert sol.across["m.count"].tolist() == valid.sum(axis=1).tolist()
    assert sol.across["m.missing"].tolist() == (~valid).sum(axis=1).tolist()
    expected = [math.fsum(y[ok]) / ok.sum() for y, ok in zip(sol.y[::5, :, 0], valid, strict=True)]
    assert sol.across["m"].tolist() == expected
    ball = pi.integrate(
        pi.systems.constant_force(force=-10.0), np.linspace(0.1, 5, 500), 0.0, dt=0.01, n_steps=50,
        events={"ground": pi.event("x", direction=-1, stop=True)},
        across={"m": pi.across.minimum("x")},
    )  # fmt: skip
    assert ball.across["m.count"].tolist() == ball.valid.sum(axis=1).tolist()
    assert ball.across["m"].tolist() == np.where(ball.valid, ball.x, np.inf).min(axis=1).tolist()


def test_nobody_is_left_or_there_was_none():
    none = run(np.zeros(0), np.zeros(0), everything()).across
    assert np.isnan(none["mean"]).all()
    assert not none["mean.count"].any()
    bad = run(np.full(3, np.nan), 0.0, everything(), on_failure="ignore").across
    assert np.isnan(bad["band"]).all()
    assert (bad["mean.missing"] == 3).all()


def test_infinities_are_outermost_and_nan_stays_in_means_only():
    x = np.array([-1.0, 0.0, 1.0, 2.0])
    root, inverse = (lambda t, x, v: np.sqrt(x)), (lambda t, x, v: 1 / x)
    sol = pi.integrate(SPRING(k=0, b=0), x, 0.0, dt=0.1, n_steps=1, across={
        "m": pi.across.mean(root), "q": pi.across.quantiles(root, [0, 1]),
        "i": pi.across.quantiles(inverse, [0, 1]), "mi": pi.across.mean(inverse)})  # fmt: skip
    a = sol.across
    assert np.isnan(a["m"]).all()
    assert a["m.nan"].tolist() == [1, 1]
    np.testing.assert_allclose(a["q"][0], [0, np.sqrt(2)], rtol=0.004)
    assert a["i"][0].tolist() == [-1, np.inf]
    assert a["mi"][0] == np.inf


def test_labels_of_any_kind_merge_exactly():
    labels = np.array([2**53, 2**53 + 1, 7, 7], np.int64)
    parts = [run(np.arange(4.0), 0.0, {"m": pi.across.mean("x", by=by)})
             for by in (labels, labels.astype(np.uint64))]  # fmt: skip
    merged = pi.across.merge(*parts)
    assert merged["m.groups"].tolist() == [7, 2**53, 2**53 + 1]
    assert merged["m.count"][0].tolist() == [4, 2, 2]


def test_noise_merges_and_overlapping_trajectories_are_refused():
    @pi.sde(dim=1, mu=0.05, sigma=0.2)
    def growth(t, y, mu, sigma):
        return mu * y, sigma * y

    def part(n, first, across=None):
        across = across or {"m": pi.across.variance("y", every=10)}
        return pi.integrate(growth, np.ones((n, 1)), dt=0.01, n_steps=50, seed=1, save="final",
                            first_trajectory=first, across=across)  # fmt: skip

    same(pi.across.merge(part(300, 0), part(700, 300)), part(1000, 0).across)
    with pytest.raises(ValueError, match="first_trajectory"):
        pi.across.merge(part(300, 0), part(700, 299))
    with pytest.raises(ValueError, match="same across"):
        pi.across.merge(part(3, 0), part(3, 3, {"m": pi.across.variance("y", every=5)}))
    other = {"m": pi.across.variance(lambda t, y: y[0] * 2, every=10)}
    with pytest.raises(ValueError, match="same across"):
        pi.across.merge(part(3, 0), part(3, 3, other))


def test_steppers_over_the_same_noise_are_refused_as_parts():
    growth, across = pi.systems.geometric_brownian_motion, {"m": pi.across.mean("y")}
    run = {"x0": np.ones((5, 1)), "dt": 0.1, "across": across}

    def stepped(seed, first):
        stepper = pi.Stepper(growth, **run, seed=seed, first_trajectory=first)
        stepper.step(2)
        return stepper

    one, other, reset = stepped(1, 0), stepped(1, np.arange(5, 10)), stepped(1, 20)
    whole = pi.integrate(growth, **run | {"x0": np.ones((10, 1))}, n_steps=2, seed=1)
    same(pi.across.merge(one, other), whole.across)
    reset.reset(seed=2**64 - 1)
    reset.step()
    for part, shared in ((one, (1, 4)), (reset, (1, 24)), (reset, (2**64 - 1, 16))):
        with pytest.raises(ValueError, match="share trajectories of a seed"):
            pi.across.merge(part, stepped(*shared))


def test_parts_of_other_equations_of_one_name_are_refused():
    def spring(k):
        def spring(t, x, v, b):
            return -k * x - b * v

        return pi.acceleration(b=0.0)(spring)

    def part(system, seed=None):
        across = {"m": pi.across.mean(system.state_names[0])}
        return pi.integrate(system, np.ones((1, system.dim)), dt=0.1, n_steps=2, seed=seed,
                            across=across)  # fmt: skip

    joined = pi.across.merge(
        part(spring(2.0)), pickle.loads(pickle.dumps(part(spring(2.0)(b=1.0))))
    )
    assert joined["m.count"].tolist() == [2, 2, 2]
    bath = pi.langevin(spring(2.0), friction=1.0, temperature=1.0, mass=1.0)
    ito, other = (
        pi.sde(dim=1, interpretation=kind)(lambda t, y: (y, y)) for kind in ("ito", "stratonovich")
    )
    first = part(spring(2.0))
    for one, two in (
        (first, part(spring(3.0))), (first, part(SPRING)), (first, part(bath, 1)),
        (part(ito, 1), part(other, 2)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="merge: parts of different systems or equations"):
            pi.across.merge(one, two)


def test_parameters_and_numbers_of_noise_are_in_memory_once():
    """However many statistics, at steps of their own, read them."""
    n = 1 << 17
    hot = pi.langevin(SPRING(b=0.0, k=np.linspace(1, 2, n)), friction=1.0, temperature=1.0)

    def peak(*every):
        across = {f"{k}": pi.across.maximum("x", every=k) for k in every}
        tracemalloc.start()
        pi.integrate(hot, dt=0.1, n_steps=2, seed=1, save="final", across=across)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)  # traces and programs
    assert peak(1, 2, 3) - peak(1) < 8 * n


def test_an_interrupt_leaves_the_times_that_all_have_reached():
    x, v = start(20_000)
    across = everything()
    del across["exact"]  # of which 4,000 times would take 640 MB

    def stop(done, total):
        if done > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run(x, v, across, n_steps=20_000, progress=stop)
    sol = caught.value.solution
    a = sol.across
    assert (a["mean.count"] == 20_000).all()
    assert len(a["mean"]) == sol.n_steps // EVERY + 1
    same(sol.resume(n_steps=10).across, run(x, v, across, n_steps=sol.n_steps + 10).across)


def test_watches_go_with_it_in_any_precision():
    x = np.linspace(1, 2, 300, dtype=np.float32)
    sol = run(x, np.float32(0), {"m": pi.across.mean("x")}, watch={"top": pi.watch.maximum("x")},
              save="all")  # fmt: skip
    assert list(sol.watched)[0] == "top"
    assert list(sol.across)[0] == "m"
    assert sol.across["m"].tolist() == [math.fsum(row) / 300 for row in sol.x.astype(float)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pi.across.mean("x", by=np.array([2**63, 0], np.uint64)), "below 2"),
        (lambda: pi.across.mean("x", by=[0.5, 1.5]), "return_inverse"),
        (lambda: pi.across.mean("x", by=["a", "b"]), "return_inverse"),
        (lambda: pi.across.mean("x", by=[True, False]), "return_inverse"),
        (lambda: pi.across.quantiles("x", [5, 50, 95]), "divided by 100"),
        (lambda: pi.across.quantiles("x", 0.5, about=np.nan), "about"),
        (lambda: pi.across.histogram("x", 10, (1, 1)), "range"),
        (lambda: pi.across.covariance("x"), "tuple"),
        (lambda: pi.across.mean("x", every=0), "every"),
        (lambda: run([1.0], 0.0, {"m": pi.across.mean("nothing")}), "no quantity"),
        (lambda: run([1.0], 0.0, pi.across.mean("x")), "dictionary"),
        (lambda: pi.across.count("x"), "condition must be a function, as lambda t, x, v: x > 0"),
        (lambda: run([1.0], 0.0, {"m": pi.across.count(min)}), "no signature that Python can read"),
        (lambda: run([1.0], 0.0, {"m": pi.watch.mean("x")}), "pi.across"),
        (lambda: run([1.0, 2.0], 0.0, {"m": pi.across.mean("x", by=[1, 2, 3])}), "by of 'm'"),
        (lambda: run([1.0, 2.0], 0.0, {"m": pi.across.mean("x")}, t0=[0.0, 1.0]), "t0 differs"),
        (lambda: pi.across.merge(run([1.0], 0.0, None)), "across="),
        (lambda: run(np.zeros(10**5), 0.0, everything(), n_steps=10**7), "fewer steps"),
    ],
)
def test_bad_input_is_refused_with_its_remedy(make, message):
    with pytest.raises((TypeError, ValueError, MemoryError), match=message):
        make()


def test_names_of_numpy_are_explained():
    with pytest.raises(AttributeError, match=r"pi.across has no 'median': it is .*quantiles"):
        pi.across.median("x")


def test_pictures_of_bands_and_histograms():
    x, labels = np.linspace(0, 1, 200), np.arange(200) % 2
    sol = run(x, 0.0, {
        "band": pi.across.quantiles("x", [0.05, 0.5, 0.95]),
        "group": pi.across.quantiles("x", [0.05, 0.95], by=labels),
        "h": pi.across.histogram("x", 20, (-1, 1)),
    }, save="all")  # fmt: skip
    ax = pi.plots.fan(sol, "band")
    assert len(ax.collections) == 1
    assert len(ax.lines) == 6
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(names) == ["5 % to 95 %", "5 of 200 trajectories", "median"]
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), sol.across["band"][:, 1])
    ax = pi.plots.fan(sol.across, "group", group=1)
    assert len(ax.lines) == 0
    assert ax.get_title(loc="right") == "5 % to 95 %"  # a single band
    assert pi.plots.histogram_over_time(sol, "h").collections
    # All begin in one cell, which says nothing of the rest.
    spread = {"x": pi.across.histogram("x", 20, (-1, 1), every=9)}
    wide = pi.systems.oscillator(omega=np.linspace(1, 2, 200))
    sol2 = pi.integrate(wide, 0.95, 0.0, dt=0.01, n_steps=900, save="final", across=spread)
    image = pi.plots.histogram_over_time(sol2, "x").collections[0]
    counts = sol2.across["x"]
    assert image.get_clim() == (0, counts[len(counts) // 2 :].max()) < (0, counts.max())
    assert pi.plots.histogram_over_time(sol2, "x", vmax=7).collections[0].get_clim()[1] == 7
    with pytest.raises(TypeError, match="expected a Solution with across=.*got 3"):
        pi.plots.fan(3, "band")
    for bad in (lambda: pi.plots.fan(sol, "h"), lambda: pi.plots.fan(sol, "group", group=9),
                lambda: pi.plots.fan(sol, "group")):  # fmt: skip
        with pytest.raises(ValueError, match=r"quantiles|group must be one of \[0, 1\]"):
            bad()
    four = pi.across.quantiles(lambda t, x, v: x, [0.1, 0.3, 0.7, 0.9])
    ax = pi.plots.fan(run(x, 0.0, {"four": four}, save="final"))  # the only quantiles
    assert ax.get_ylabel() == "quantity"
    with pytest.raises(ValueError, match=r"there are none: .*across=\{'band': pi.across.quant"):
        pi.plots.fan(run(x, 0.0, {}, save="final"))
    wide, narrow = ax.patches  # what the legend shows
    assert wide.get_alpha() < narrow.get_alpha()
    matplotlib.pyplot.close("all")


def test_statistics_of_solve_take_the_numbers_of_events():
    """As those of integrate; and what is wrong is refused before the run."""
    h, x0 = np.array([0.5, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    floor = pi.event(lambda t, x, v, h: x < h, params={"h": h}, keep=2)
    across = {"m": pi.across.mean(lambda t, x, v, h: x * h)}
    run = {"t_end": 1.0, "times": [0.0, 0.5, 1.0], "across": across}
    sol = pi.solve(SPRING, x0, 0 * x0, events={"floor": floor}, **run)
    # Three products, a sum and a quotient.
    assert sol.across["m"] == pytest.approx((sol.x * h).mean(axis=1), rel=1e-15, abs=1e-15)
    assert sol.events["floor"].count.tolist() == [1, 1, 1]
    never = {"on_failure": "raise", "max_steps": 1}  # which a run would need
    with pytest.raises(TypeError, match="takes 'h', which is no parameter of 'spring'"):
        pi.solve(SPRING, x0, 0 * x0, **run, **never)
    twice = {name: pi.event("x", params={"h": h}) for name, h in (("a", 1.0), ("b", 2.0))}
    with pytest.raises(ValueError, match="params= of several events give different values"):
        pi.solve(SPRING, x0, 0 * x0, events=twice, **run, **never)


def test_solve_has_the_statistics_of_its_states_at_times():
    """Against the saved states; those that have stopped are missing; parts merge to the bits."""
    x0, times = np.linspace(0.5, 2.9, 200), np.linspace(0, 10, 21)
    across = {
        "mean": pi.across.mean("theta"),
        "half": pi.across.quantiles("theta", 0.5, exact=True),
        "late": pi.across.mean(lambda t, x, v: t + 0 * x),
    }
    stop = {"turn": pi.event("omega", stop=True, after=5.0)}
    run = {"t_end": 10.0, "times": times, "events": stop}
    sol = pi.solve(pi.systems.pendulum, x0, 0 * x0, **run, across=across)
    counted = sol.valid.sum(axis=1)
    known = counted > 0
    assert 0 < known.sum() < len(times)
    assert np.array_equal(sol.across["mean.missing"], 200 - counted)
    sums = [math.fsum(y[ok]) for y, ok in zip(sol["theta"], sol.valid, strict=True)]
    assert np.array_equal(sol.across["mean"][known], np.array(sums)[known] / counted[known])
    median = [np.quantile(y[ok], 0.5) for y, ok in zip(sol["theta"], sol.valid, strict=True)
              if ok.any()]  # fmt: skip
    assert np.array_equal(sol.across["half"][known, 0], median)
    assert np.array_equal(sol.across["late"][known], times[known])
    parts = [pi.solve(pi.systems.pendulum, part, 0 * part, **run, across=across)
             for part in (x0[:60], x0[60:])]  # fmt: skip
    assert np.array_equal(pi.across.merge(*parts)["mean"], sol.across["mean"], equal_nan=True)
    assert np.array_equal(pickle.loads(pickle.dumps(sol)).across["mean.t"], times)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "give times="),
        ({"times": [1.0], "across": {"m": pi.across.mean("x", every=2)}}, "counts each of times="),
        ({"times": [1.0], "across": {"m": pi.across.mean("energy_error")}}, "compares with the st"),
        ({"times": [1.0], "components": ["x"]}, "leave components= out"),
        ({"times": [1.0], "sensitivity": "x0"}, "sensitivity and across exclude"),
        ({"times": [1.0], "across": {"m": "x"}}, "must come from pi.across"),
    ],
)
def test_solve_refuses_statistics_that_it_cannot_make(options, said):
    given = {"across": {"m": pi.across.mean("x")}} | options
    with pytest.raises((TypeError, ValueError), match=said):
        pi.solve(pi.systems.oscillator, 1.0, 0.0, t_end=1.0, **given)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("noise", [False, True])
def test_a_stepper_has_the_statistics_of_integrate(noise, dtype):
    """Of any steps, with trajectories that leave, and after a restored snapshot."""
    across = {
        "mean": pi.across.mean(lambda t, y: y[0], every=3, by=np.arange(300) % 4),
        "band": pi.across.quantiles(lambda t, y: y[0], [0.05, 0.5], every=5),
        "square": pi.across.mean(lambda t, y: (t - 0.1) * y[0] ** 2),
    }
    system = pi.systems.geometric_brownian_motion if noise else pi.systems.logistic
    x = np.linspace(0.1, 3, 300).reshape(300, 1)
    options = {"t0": 0.3, "dt": 0.25, "bound": 3.2, "dtype": dtype, "across": across}
    options |= {"seed": 4} if noise else {"method": "explicit_euler"}
    once = pi.integrate(system, x, n_steps=17, save="final", on_failure="ignore", **options)
    stepper = pi.Stepper(system, x, **options)
    stepper.step(0)
    stepper.step(np.int64(4))
    before = stepper.snapshot()
    for n in (1, 3, 2):
        stepper.step(n)
    assert len(stepper.across["mean"]) == 4
    stepper.restore(before)
    assert len(stepper.across["mean"]) == 2
    stepper.step(13)
    assert once.n_failed or not noise
    same(stepper.across, once.across)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_stepper_has_the_energies_of_integrate(dtype):
    """Those of the parameters as given, before the rounding to float32, until one changes."""
    system = pi.systems.pendulum(length=np.linspace(0.5, 2.0, 7))
    options = {"dt": 0.01, "method": "rk4", "dtype": dtype}
    options["across"] = {"energy": pi.across.mean("energy")}
    stepper = pi.Stepper(system, np.ones(7), 0.0, **options)
    stepper.step(3)
    run = pi.integrate(system, np.ones(7), 0.0, n_steps=3, save="final", **options)
    same(stepper.across, run.across)
    stepper.params["g"][...] = 0.0
    stepper.v = 2.0
    stepper.step()
    kinetic = stepper.across["energy"][-1]
    assert kinetic == pytest.approx(2 * np.mean(np.linspace(0.5, 2.0, 7) ** 2), rel=1e-6)


def test_quaternions_count_as_they_are():
    """Not normalised, as starts are."""
    body, spin = pi.systems.rigid_body(inverse_inertia=(1, 0.5, 0.4)), np.eye(3, 6, 3)
    pose = np.tile([0.0, 0, 0, 1, 0, 0, 0], (3, 1))
    across = {"w": pi.across.mean("qw")}
    options = {"dt": 0.5, "method": "rk4", "across": across}
    stepper = pi.Stepper(body, pose, spin, **options)
    stepper.step(5)
    same(stepper.across, pi.integrate(body, pose, spin, n_steps=5, **options).across)
    sol = pi.solve(body, pose, spin, t_end=2.5, times=[0, 2.5], rtol=1e-2, across=across)
    assert sol.across["w"] == pytest.approx(sol["qw"].mean(axis=1), rel=1e-15)


def test_factors_of_damping_that_rk4_does_not_know_are_no_obstacle():
    options = {"dt": 0.5, "across": {"x": pi.across.mean("x")}}
    stepper = pi.Stepper(
        pi.systems.rigid_body(linear_factor=0.5), np.eye(7)[3], np.zeros(6), **options
    )
    stepper.step(5)
    assert stepper.across["x"].tolist() == [0.0] * 6


def test_kicks_and_drifts_are_steps_that_count():
    across = {"mean": pi.across.mean("x", every=2), "each": pi.across.maximum("v")}
    whole, halves = (pi.Stepper(SPRING, np.ones(3), 0.0, dt=0.1, across=across) for _ in range(2))
    whole.step(7)
    for _ in range(7):
        halves.kick()
        halves.drift()
    assert halves.n == 7
    same(halves.across, whole.across)


@pytest.mark.parametrize("x", [1.0, np.ones(3)])
def test_labels_that_do_not_fit_a_stepper_are_refused_at_once(x):
    across = {"mean": pi.across.mean("x", by=[0, 1])}
    with pytest.raises(ValueError, match="by "):
        pi.Stepper(SPRING, x, 0.0, dt=0.1, across=across)


def test_a_stepper_refuses_statistics_of_the_start():
    with pytest.raises(ValueError, match="compares with the start of the motion"):
        pi.Stepper(SPRING, 1.0, 0.0, dt=0.1, across={"e": pi.across.mean("energy_error")})
