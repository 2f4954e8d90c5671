"""Fits: what closed forms, SciPy and published values say, alone and in any batch."""

import functools
import pickle

import numpy as np
import pytest

import pyintegrate as pi

PENDULUM = {"observe": "theta", "free": {"length": (0.1, 5.0)}, "x0": 0.4, "v0": 0.0,
            "free_start": True}  # fmt: skip


def pendulums(n, noise=0.01, seed=3):
    """Recordings of unequal length, and the true lengths."""
    rng = np.random.default_rng(seed)
    length = rng.uniform(0.8, 1.3, n)
    t = [np.arange(m) / 25 for m in rng.integers(60, 120, n)]
    data = [
        pi.solve(pi.systems.pendulum(length=each), 0.4, 0.0, t_end=when[-1], times=when).x
        + noise * rng.standard_normal(len(when))
        for each, when in zip(length, t, strict=True)
    ]
    return length, t, data


def near(found, values, covariance, share=1e-4):
    """Whether the parameters are there, to a share of their errors: SMALL is of the cost."""
    return np.all(np.abs(np.array(found) - values) < share * np.sqrt(np.diag(covariance)))


# ---- a motion that is linear in its unknowns: x = x0 + v0 t + f t^2 / 2 ----
T = np.linspace(0.0, 3.0, 13)
DESIGN = np.stack([np.ones(13), T, T * T / 2], axis=-1)
RNG = np.random.default_rng(7)
LINEAR = DESIGN @ [1.0, -2.0, 3.0] + 0.1 * RNG.standard_normal(13)
THROWN = {"observe": "x", "free": ["force"], "free_start": True}


def regression(design, data, scale):
    matrix = np.linalg.inv(design.T @ design)
    found = matrix @ design.T @ data
    left = np.sum((data - design @ found) ** 2)
    return found, matrix * (left / (len(data) - len(found)) if scale else 1.0), left


@pytest.mark.parametrize("sigma", [None, 0.1])
def test_a_linear_motion_is_a_linear_regression(sigma):
    weight = 1 / (sigma or 1.0)
    found = pi.fit(pi.systems.constant_force, T, LINEAR, sigma=sigma, **THROWN)
    values, covariance, cost = regression(DESIGN * weight, LINEAR * weight, sigma is None)
    assert near([*found.parameters.values()], values, covariance)
    # Rounding of normal equations: their condition is about 1e3.
    assert np.allclose(found.covariance, covariance, rtol=1e-9, atol=0)
    assert np.isclose(found.cost, cost, rtol=1e-9)
    assert found.status == 0
    assert list(found.parameters) == ["x", "v", "force"]


def test_the_band_of_a_linear_motion_is_that_of_the_regression():
    found = pi.fit(pi.systems.constant_force, T, LINEAR, sigma=0.1, **THROWN)
    t = np.array([0.5, 2.0, 6.0])
    design = np.stack([np.ones(3), t, t * t / 2], axis=-1)
    values, covariance, _ = regression(DESIGN / 0.1, LINEAR / 0.1, False)
    seen, error = found.predict(t, errors=True)
    assert np.all(abs(seen - design @ values) < 1e-4 * error)
    assert np.allclose(error, np.sqrt(np.diag(design @ covariance @ design.T)), rtol=1e-9, atol=0)
    assert [part.shape for part in found.predict([], errors=True)] == [(0,), (0,)]


def test_a_prior_is_one_more_row_of_the_regression():
    found = pi.fit(
        pi.systems.constant_force, T, LINEAR, sigma=0.1, priors={"force": (2.0, 0.05)}, **THROWN
    )
    design = np.vstack([DESIGN / 0.1, [0, 0, 1 / 0.05]])
    values, covariance, cost = regression(design, np.append(LINEAR / 0.1, 2.0 / 0.05), False)
    assert near([*found.parameters.values()], values, covariance)
    assert np.allclose(found.covariance, covariance, rtol=1e-9, atol=0)
    assert np.isclose(found.cost, cost, rtol=1e-9)


def test_a_prior_asks_for_the_sigma_of_the_data():
    with pytest.warns(UserWarning, match="give sigma="):
        pi.fit(pi.systems.constant_force, T, LINEAR, priors={"force": (2.0, 0.05)}, **THROWN)


@pytest.mark.parametrize("size", [1e-3, 1e-9, 1e-12, 1e90])
def test_fits_do_not_depend_on_the_unit_of_length(size):
    """Nor of one recording on those beside it."""
    t, spring = np.linspace(0, 5, 40), pi.systems.spring(k=15.0, b=0.3)
    x = spring.exact(t, np.array([1.0, 0.0]))[:, 0] + 0.02 * np.sin(37 * t)
    fitted = [
        pi.fit(
            pi.systems.spring(k=14.0, b=0.2), t, data, free=["k", "b"], x0=x0, v0=0.0, observe="x"
        )
        for data, x0 in ((x, 1.0), (x * size, size), (np.stack([x * size, x], 1), [size, 1.0]))
    ]
    one, small, both = ([found.parameters[name] for name in ("k", "b")] for found in fitted)
    error = [fitted[0].standard_errors[name] for name in ("k", "b")]
    assert np.all(abs(np.subtract(small, one)) < 1e-3 * np.array(error))
    assert np.array_equal(both, np.stack([small, one], axis=-1))


def test_fits_do_not_depend_on_the_unit_of_what_a_function_observes():
    """Nanometres of a motion in metres: it was followed to nanometres only."""
    t = np.linspace(0, 5, 40)
    data = pi.systems.spring(k=15.0, b=0.3).exact(t, np.array([1.0, 0.0]))[:, 0]
    data += 0.02 * np.sin(37 * t)
    one, small = (
        pi.fit(
            pi.systems.spring(k=14.0, b=0.2), t, data, free=["k", "b"], x0=size, v0=0.0,
            observe=lambda t, x, v, unit=size: x / unit,
        )
        for size in (1.0, 1e-9)
    )  # fmt: skip
    for name, error in one.standard_errors.items():
        assert abs(small.parameters[name] - one.parameters[name]) < 1e-3 * error


@pytest.mark.parametrize(
    "observe", ["x", "v", lambda t, x, v: x, ["x", "v"]], ids=["x", "v", "function", "both"]
)
@pytest.mark.parametrize(("length", "second"), [(1.0, 1e7), (1.0, 1e12), (1e-10, 1e-15)])
def test_fits_do_not_depend_on_the_units(observe, length, second):
    """Of astronomical units and years, and of atoms within femtoseconds, in seconds."""
    t = np.linspace(0, 5, 40)
    y = pi.systems.spring(k=15.0, b=0.3).exact(t, np.array([1.0, 0.5]))
    y += 0.02 * np.sin([37, 41] * t[:, np.newaxis]) * [1, 4]
    data = {"v": y[:, 1], "['x', 'v']": y}.get(str(observe), y[:, 0])

    def fit(length, second):
        units = np.array([length, length / second])
        unit = {"v": units[1], "['x', 'v']": units}.get(str(observe), length)
        return pi.fit(
            pi.systems.spring(k=14.0 / second**2, b=0.2 / second), t * second, data * unit,
            free=["k", "b"], x0=length, v0=0.4 * units[1], free_start=True, observe=observe,
            sigma=0.02 * np.ones(data.shape) * ([1, 4] if data.ndim > 1 else 1) * unit,
        )  # fmt: skip

    one, found = fit(1.0, 1.0), fit(length, second)
    for name, unit in (("k", second**2), ("b", second)):
        off = abs(found.parameters[name] * unit - one.parameters[name])
        assert off < 1e-3 * one.standard_errors[name]


def test_a_shared_parameter_is_that_of_the_regression_of_all_recordings():
    data = LINEAR[:, np.newaxis] + RNG.standard_normal((13, 4)) * 0.1
    data[3, 1] = np.nan
    found = pi.fit(
        pi.systems.constant_force, T, data, shared="force", priors={"force": (2.0, 0.05)},
        sigma=0.1, **THROWN
    )  # fmt: skip
    rows = [np.zeros((13, 9)) for _ in range(4)]
    for i, row in enumerate(rows):
        row[:, 2 * i : 2 * i + 2], row[:, 8] = DESIGN[:, :2], DESIGN[:, 2]
    design = np.vstack([np.concatenate(rows) / 0.1, [[0] * 8 + [1 / 0.05]]])
    every = np.append(data.T.ravel() / 0.1, 2.0 / 0.05)
    known = ~np.isnan(every)
    values, covariance, cost = regression(design[known], every[known], False)
    for i in range(4):
        own = [2 * i, 2 * i + 1, 8]
        assert near([v[i] for v in found.parameters.values()], values[own], covariance[own][:, own])
        assert np.allclose(found.covariance[i], covariance[np.ix_(own, own)], rtol=1e-9, atol=0)
    assert np.allclose(found.cost, cost, rtol=1e-9, atol=0)


@pytest.mark.parametrize(
    ("force", "bounds"), [([1.0, 2.0], None), (1.0, ([0.0, 0.5], 9.0)), (1.0, (0.0, [2.0, 9.0]))]
)
def test_a_shared_parameter_that_differs_over_the_batch_is_refused(force, bounds):
    """It would go on differing, by as much as it did, or where a bound holds one of them."""
    shared = {**THROWN, "free": {"force": bounds}, "shared": "force"}
    system = pi.systems.constant_force(force=force)
    with pytest.raises(ValueError, match="'force' is shared, and its values or bounds differ"):
        pi.fit(system, T, np.stack([LINEAR, LINEAR], axis=1), **shared)


@pytest.mark.filterwarnings("ignore:priors weigh")
@pytest.mark.parametrize(("of", "more"), [((), 0), (("force",), 1), (("x", "force"), 5)])
def test_the_scale_of_a_shared_fit_counts_what_is_shared_once(of, more):
    data = LINEAR[:, np.newaxis] + RNG.standard_normal((13, 4)) * 0.1
    run = THROWN | {"shared": "force", "priors": dict.fromkeys(of, (2.0, 0.5))}
    shared = pi.fit(pi.systems.constant_force, T, data, **run)
    absolute = pi.fit(pi.systems.constant_force, T, data, sigma=1.0, **run)
    scale = shared.cost[0] / (4 * 13 + more - 4 * 2 - 1)
    assert np.allclose(shared.covariance, absolute.covariance * scale, rtol=1e-9, atol=0)


def test_priors_of_each_are_numbers_beside_data_that_are_few():
    """Nine unknowns, eight data and four priors; without these they are refused."""
    run = THROWN | {"shared": "force", "sigma": 0.1}
    few = np.stack([LINEAR[:2]] * 4, axis=1)
    found = pi.fit(pi.systems.constant_force, T[:2], few, priors={"v": (-2.0, 0.5)}, **run)
    assert np.isfinite(found.covariance).all()
    with pytest.raises(ValueError, match="are 8 numbers, fewer than the 9 unknowns"):
        pi.fit(pi.systems.constant_force, T[:2], few, **run)


def test_the_profile_of_a_linear_motion_is_a_parabola():
    found = pi.fit(pi.systems.constant_force, T, LINEAR, **THROWN)
    profile = found.profile("force", n=5, width=2.0)
    assert np.allclose(profile.rise, [4.0, 1.0, 0.0, 1.0, 4.0], atol=1e-7, rtol=0)
    assert profile.table().columns == ("point", *found.parameters, "cost", "rise")
    assert {"start", "force", "status"} < {*found.starts.table().columns}

    # What each fit has of its own moves alone, where they share another.
    data = LINEAR[:, np.newaxis] + [[0.0, 1.0, 2.0]]
    shared = pi.fit(pi.systems.constant_force, T, data, shared="force", **THROWN)
    for name in shared.parameters:
        profile = shared.profile(name, n=3, width=1.0)
        assert np.allclose(profile.rise, [[1.0], [0.0], [1.0]], atol=1e-7, rtol=0)
        assert np.allclose(profile.parameters[name], profile.values, rtol=1e-14, atol=0)


# ---- against SciPy, and published values ----
def lotka_volterra():
    system = pi.systems.lotka_volterra(a=1.3, b=1.1, c=2.8, d=1.0)
    t = np.linspace(0, 10, 21)
    true = pi.solve(system(a=1.5, b=1.0, c=3.0), [1.0, 1.0], t_end=10.0, times=t, rtol=1e-11)
    data = true.y + 0.05 * np.random.default_rng(0).standard_normal(true.y.shape)
    data[::7, 0] += 0.5
    return system, t, data


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
@pytest.mark.parametrize("high", [5.0, 1.45])
def test_optimum_and_covariance_are_those_of_scipy(loss, high):
    optimize = pytest.importorskip("scipy.optimize")
    system, t, data = lotka_volterra()
    sigma = 0.1
    low, top = np.array([0.5, 0.5, 0.5]), np.array([high, 5.0, 5.0])

    def residual(p):
        values = dict(zip("abc", p, strict=True))
        sol = pi.solve(system(**values), [1.0, 1.0], t_end=10.0, times=t, rtol=1e-12, atol=1e-13)
        return ((sol.y - data) / sigma).ravel()

    begun = system(a=min(1.5, high - 0.01), b=1.0, c=3.0)
    free = dict(zip("abc", zip(low, top, strict=True), strict=True))
    found = pi.fit(begun, t, data, free=free, x0=[1.0, 1.0], sigma=sigma, loss=loss, rtol=1e-11)
    beside = np.array([*found.parameters.values()]) * [0.999, 1.001, 0.999]
    theirs = optimize.least_squares(
        residual, beside, bounds=(low, top), loss=loss, jac="3-point", xtol=1e-12, ftol=1e-12,
        gtol=1e-12,
    )  # fmt: skip
    assert np.isclose(found.cost, 2 * theirs.cost, rtol=1e-8)
    # Their derivatives are differences: the optimum is known to about 1e-6.
    assert np.allclose([*found.parameters.values()], theirs.x, rtol=2e-6, atol=0)
    if high > 2:
        assert np.allclose(
            found.covariance, np.linalg.inv(theirs.jac.T @ theirs.jac), rtol=1e-4, atol=0
        )
    else:
        assert found.parameters["a"] == high
        assert np.isnan(found.standard_errors["a"])
        assert np.isnan(found.covariance[0]).all()
        own = theirs.jac[:, 1:]
        assert np.allclose(found.covariance[1:, 1:], np.linalg.inv(own.T @ own), rtol=1e-4, atol=0)


@pi.rhs(dim=1, b1=1.0, b2=1.0, initial=[0.0])
def saturation(t, y, b1, b2):
    """Its motion from 0 is b1 (1 - exp(-b2 t))."""
    return b2 * (b1 - y[0])


MISRA_T = [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1,
           760.0]  # fmt: skip
MISRA = [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47,
         81.78]  # fmt: skip
BOX_T, BOX = [1.0, 2.0, 3.0, 5.0, 7.0, 10.0], [109.0, 149.0, 149.0, 191.0, 213.0, 224.0]


@pytest.mark.parametrize(
    ("t", "data", "start", "values", "errors", "cost"),
    [
        (MISRA_T, MISRA, (500.0, 1e-4), (2.3894212918e2, 5.5015643181e-4),
         (2.7070075241, 7.2668688436e-6), 1.2455138894e-1),
        (MISRA_T, MISRA, (250.0, 5e-4), (2.3894212918e2, 5.5015643181e-4),
         (2.7070075241, 7.2668688436e-6), 1.2455138894e-1),
        (BOX_T, BOX, (100.0, 0.75), (2.1380940889e2, 5.4723748542e-1),
         (1.2354515176e1, 1.0455993237e-1), 1.1680088766e3),
    ],
)  # fmt: skip
def test_certified_values_of_nist(t, data, start, values, errors, cost):
    # NIST StRD, Misra1a and BoxBOD: eleven digits.
    found = pi.fit(
        saturation(b1=start[0], b2=start[1]), t, data, free=["b1", "b2"], observe="y", t0=0.0,
        rtol=1e-12,
    )  # fmt: skip
    assert near([*found.parameters.values()], values, np.diag(np.square(errors)), 1e-5)
    assert np.allclose([*found.standard_errors.values()], errors, rtol=1e-6, atol=0)
    assert np.isclose(found.cost, cost, rtol=1e-9)


def test_intervals_of_95_percent_hold_the_truth_in_95_of_100():
    n, t = 1000, np.linspace(0, 5, 40)
    true = pi.solve(pi.systems.pendulum, 0.5, 0.3, t_end=5.0, times=t).x[:, np.newaxis]
    for sigma in (0.02, None):
        data = true + 0.02 * np.random.default_rng(1).standard_normal((40, n))
        found = pi.fit(pi.systems.pendulum(length=1.1), t, data, sigma=sigma, **PENDULUM)
        truth = {"theta": 0.5, "omega": 0.3, "length": 1.0}
        for name, value in truth.items():
            off = abs(found.parameters[name] - value) / found.standard_errors[name]
            # 950 +- 3 sqrt(1000 * 0.95 * 0.05); Student's t of 37 is 2.026.
            assert abs(np.mean(off < (1.96 if sigma else 2.026)) - 0.95) < 0.0207


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_outliers_do_not_mislead_a_robust_fit(loss):
    length, t, data = pendulums(6)
    wild = [one + 0.5 * (np.arange(len(one)) % 10 == 0) for one in data]
    robust = pi.fit(pi.systems.pendulum, t, wild, loss=loss, sigma=0.01, **PENDULUM)
    squares = pi.fit(pi.systems.pendulum, t, wild, sigma=0.01, **PENDULUM)
    off, far = (np.abs(found.parameters["length"] - length).max() for found in (robust, squares))
    assert off < 0.02 < far


# ---- a batch ----
def bits(found, which):
    parts = [*(v[which] for v in found.parameters.values()), found.cost[which],
             found.covariance[which], found.iterations[which]]  # fmt: skip
    return [np.asarray(part).tobytes() for part in parts]


def test_each_fit_has_the_bits_of_the_fit_alone_whatever_lies_beside_it():
    _, t, data = pendulums(9)
    every = pi.fit(pi.systems.pendulum, t, data, **PENDULUM)
    for i in (0, 4, 8):
        one = pi.fit(pi.systems.pendulum, t[i], data[i], **PENDULUM)
        assert bits(one, ()) == bits(every, i)
    some = pi.fit(pi.systems.pendulum, t[2:7], data[2:7], workers=2, **PENDULUM)
    assert bits(some, 2) == bits(every, 4)


def test_blocks_of_lanes_change_no_bit(monkeypatch):
    from pyintegrate.fitting import estimation

    _, t, data = pendulums(9)
    every = pi.fit(pi.systems.pendulum, t, data, starts=2, **PENDULUM | {
        "free_start": {"theta": (0.0, 1.0), "omega": (-1.0, 1.0)}})  # fmt: skip
    seen = []
    monkeypatch.setattr(estimation, "MOST_NUMBERS", 2000)
    parts = pi.fit(pi.systems.pendulum, t, data, starts=2, progress=lambda *a: seen.append(a),
                   **PENDULUM | {
        "free_start": {"theta": (0.0, 1.0), "omega": (-1.0, 1.0)}})  # fmt: skip
    assert len(seen) > 1
    assert seen[-1] == (18, 18)
    assert all(bits(parts, i) == bits(every, i) for i in range(9))


def test_forty_recordings_of_unequal_length_give_forty_lengths():
    length, t, data = pendulums(40)
    found = pi.fit(pi.systems.pendulum, t, data, **PENDULUM)
    off = (found.parameters["length"] - length) / found.standard_errors["length"]
    assert np.abs(off).max() < 4  # one in 16,000 is beyond by chance
    assert 0.6 < off.std() < 1.5
    rows = np.isfinite(found.residuals)
    assert [*rows.sum(axis=0)] == [*map(len, t)] == [*found.points]
    assert "length" in repr(found)
    assert "<table" in found._repr_html_()


def test_a_missing_value_is_one_that_is_left_out():
    _, (t,), (data,) = pendulums(1)
    holes = data.copy()
    holes[[3, 20, 21]] = np.nan
    left = ~np.isnan(holes)
    here = pi.fit(pi.systems.pendulum, t, holes, **PENDULUM)
    there = pi.fit(pi.systems.pendulum, t[left], data[left], **PENDULUM)
    assert near([*here.parameters.values()], [*there.parameters.values()], there.covariance)
    assert np.allclose(here.covariance, there.covariance, rtol=1e-6, atol=0)
    assert np.isnan(here.residuals[3])


def test_what_is_undefined_where_nothing_was_seen_does_not_count():
    """A logarithm is recorded while its argument is positive; the motion goes on."""
    t = np.linspace(0, 6, 40)
    x = np.cos(1.1 * t)
    data = np.where(x > 0.3, np.log(np.abs(x)), np.nan)
    call = {"observe": lambda t, x, v: np.log(x), "free": {"omega": (0.5, 2.0)}, "sigma": 0.01}
    system, known = pi.systems.oscillator(omega=1.08), ~np.isnan(data)
    found = pi.fit(system, t, data, **call)
    assert found.status == 0
    assert found.parameters["omega"] == pytest.approx(1.1, abs=1e-6)
    same = pi.fit(system, t[known], data[known], t0=0.0, **call)
    assert found.standard_errors["omega"] == pytest.approx(same.standard_errors["omega"], rel=1e-4)


@pytest.mark.filterwarnings("ignore:1 of 1 fits did not converge")
def test_a_fit_that_fails_at_its_start_has_no_errors():
    t = np.linspace(0, 6, 40)
    found = pi.fit(
        pi.systems.oscillator, t, t, observe=lambda t, x, v: np.log(x), free=["omega"], sigma=0.1
    )
    assert found.status == 2
    assert np.isnan(found.standard_errors["omega"])


def test_several_components_functions_and_errors_of_each():
    t = np.linspace(0, 4, 30)
    true = pi.solve(pi.systems.pendulum, 0.5, 0.0, t_end=4.0, times=t, rtol=1e-11)
    rng = np.random.default_rng(2)
    data = true.y + rng.standard_normal((30, 2)) * [0.01, 0.1]

    def height(t, x, v, length):
        return -length * np.cos(x)

    options = {"free": ["length"], "x0": 0.5, "v0": 0.0}
    both = pi.fit(pi.systems.pendulum(length=1.1), t, data, observe=["theta", "omega"],
                  sigma=[0.01, 0.1], **options)  # fmt: skip
    alone = pi.fit(pi.systems.pendulum(length=1.1), t, data[:, 0], observe="theta", sigma=0.01,
                   **options)  # fmt: skip
    assert both.standard_errors["length"] < alone.standard_errors["length"]
    assert both.residuals.shape == (30, 2)
    seen = pi.fit(pi.systems.pendulum(length=1.1), t, -np.cos(true.x), observe=height, **options)
    assert np.isclose(seen.parameters["length"], 1.0, rtol=1e-7)
    # The function of the state has the derivative of itself: the errors by differences.
    step = 1e-5
    near = [-(1 + e) * np.cos(pi.solve(pi.systems.pendulum(length=1 + e), 0.5, 0.0, t_end=4.0,
            times=t, rtol=1e-12, atol=1e-13).x) for e in (step, -step)]  # fmt: skip
    slope = (near[0] - near[1]) / (2 * step)
    absolute = pi.fit(pi.systems.pendulum, t, -np.cos(true.x), observe=height, sigma=1.0, **options)
    assert np.isclose(absolute.covariance[0, 0], 1 / np.sum(slope**2), rtol=1e-6)


def test_elements_of_an_array_parameter_are_unknowns():
    t = np.linspace(0, 2, 20)
    bodies = pi.systems.three_body(masses=[1.0, 1.2, 0.9])
    true = pi.solve(bodies, t_end=2.0, times=t, rtol=1e-11)
    found = pi.fit(pi.systems.three_body, t, true.x, free=["masses"])
    assert np.allclose([found.parameters[f"masses[{i}]"] for i in range(3)], [1.0, 1.2, 0.9])
    assert np.allclose(found.system.params["masses"], [1.0, 1.2, 0.9])


def test_fixed_steps_fit_the_motion_of_these_steps():
    t = np.linspace(0, 4, 21)
    run = {"dt": 0.05, "n_steps": 80, "method": "semi_implicit_euler", "times": t}
    data = pi.integrate(pi.systems.pendulum, 0.5, 0.0, **run).x
    found = pi.fit(pi.systems.pendulum(length=1.2), t, data, free=["length"], observe="theta",
                   x0=0.5, v0=0.0, dt=0.05, method="semi_implicit_euler")  # fmt: skip
    assert np.isclose(found.parameters["length"], 1.0, rtol=1e-9)


def test_many_starts_find_what_one_does_not():
    t = np.linspace(0, 10, 60)
    data = np.cos(3.7 * t)
    options = {"observe": "x", "free": {"omega": (0.1, 8.0)}}
    one = pi.fit(pi.systems.oscillator, t, data, **options)
    many = pi.fit(pi.systems.oscillator, t, data, starts=32, **options)
    assert one.cost > 1
    assert np.isclose(many.parameters["omega"], 3.7, rtol=1e-7)
    assert many.starts.cost.shape == (32,)
    assert many.starts.parameters["omega"][0] == one.parameters["omega"]  # the own values first
    again = pi.fit(pi.systems.oscillator, t, data, starts=32, seed=5, **options)
    assert np.isclose(again.parameters["omega"], 3.7, rtol=1e-7)
    assert not np.array_equal(again.starts.cost, many.starts.cost)


@pi.rhs(dim=1, k=1.0)
def exploding(t, y, k):
    return k * y[0] * y[0]


def test_a_start_that_blows_up_costs_only_itself():
    t = np.linspace(0, 2, 11)
    data = np.stack([1 / (1 - 0.2 * t)] * 3, axis=-1)
    begun = exploding(k=[0.3, 5.0, 0.1])  # the second is infinite at t = 0.2
    with pytest.warns(UserWarning, match=r"1 of 3 fits did not converge: the motion fails"):
        found = pi.fit(begun, t, data, free=["k"], observe="y", x0=[1.0])
    assert [*found.status] == [0, 2, 0]
    assert np.allclose(found.parameters["k"][[0, 2]], 0.2, rtol=1e-7)
    alone = pi.fit(exploding(k=0.1), t, data[:, 0], free=["k"], observe="y", x0=[1.0])
    assert bits(alone, ()) == bits(found, 2)


def test_a_motion_that_ends_after_its_data_is_fitted_in_fixed_steps_beside_longer_ones():
    t = [np.linspace(0, 0.5, 11), np.linspace(0, 5, 11)]
    data = [1 / (1 - 1.5 * t[0]), 1 / (1 - 0.1 * t[1])]
    options = {"free": ["k"], "observe": "y", "x0": [1.0], "dt": 0.01}
    found = pi.fit(exploding(k=[1.3, 0.08]), t, data, **options)
    assert [*found.status] == [0, 0]
    assert bits(pi.fit(exploding(k=1.3), t[0], data[0], **options), ()) == bits(found, 0)
    seen = found.predict([0.5, 0.8])  # the first is infinite at 1 / 1.5
    assert np.isnan(seen[1, 0])
    assert np.isfinite(seen[[0, 0, 1], [0, 1, 1]]).all()


def test_what_the_data_do_not_determine_is_told_by_name():
    _, (t,), (data,) = pendulums(1)
    with pytest.warns(UserWarning, match="do not determine length, g apart in 1 of 1"):
        found = pi.fit(pi.systems.pendulum, t, data, **PENDULUM | {"free": ["length", "g"]})
    assert np.isnan(found.standard_errors["g"])
    assert found.standard_errors["theta"] > 0
    t = np.linspace(0, 5, 50)  # the motion of k, b, m is that of their multiples
    noise = np.random.default_rng(0).normal(scale=0.02, size=len(t))
    spring = pi.systems.spring(k=12.0, b=0.3)
    data = pi.solve(spring, 1.0, 0.0, t_end=5.0, rtol=1e-9, times=t).x + noise
    with pytest.warns(UserWarning, match="do not determine k, b, m apart in 1 of 1"):
        found = pi.fit(spring, t, data, observe="x", free=["k", "b", "m"])
    assert np.isnan(found.standard_errors["b"])
    # Of two pairs one was told: its direction is as good as any between both.
    pairs = pi.rhs(lambda t, y, a, b, c, d: (-(a + b) * y[0], -c * d * y[1]), dim=2,
                   a=1.0, b=0.5, c=1.0, d=0.7)  # fmt: skip
    data = np.exp(-np.outer(t, [1.4, 0.8])) + noise[:, np.newaxis]
    with pytest.warns(UserWarning, match="do not determine a, b, c, d apart in 1 of 1"):
        pi.fit(pairs, t, data, free=["a", "b", "c", "d"], x0=[1.0, 1.0])
    still = np.zeros(20)
    with pytest.warns(UserWarning, match="do not determine length in"):
        pi.fit(pi.systems.pendulum, t[:20], still, free=["length"], observe="theta", x0=0.0, v0=0.0)
    one = {"free": ["omega"], "observe": "x", "x0": 1.0, "v0": 0.0}
    with pytest.warns(UserWarning, match="do not determine omega in"):  # as many data as unknowns
        pi.fit(pi.systems.oscillator, [0.0], [1.0], **one)
    assert np.isnan(pi.fit(pi.systems.oscillator, [1.0], [0.5], t0=0.0, **one).covariance)


def test_a_fit_pickles_and_draws():
    pytest.importorskip("matplotlib").use("Agg")
    _, t, data = pendulums(3)
    found = pi.fit(pi.systems.pendulum, t, data, **PENDULUM)
    again = pickle.loads(pickle.dumps(found))
    when = np.linspace(0, 3, 7)
    assert again.predict(when).tobytes() == found.predict(when).tobytes()
    ax = found.plot(which=2)
    assert len(ax.lines) == 2
    assert ax.get_title(loc="right") == "which=2 of 3 fits"
    shown = ax.lines[1].get_ydata()
    assert np.allclose(shown[: len(data[2])], data[2])
    assert found.solution.x.shape == found.residuals.shape


def test_what_is_observed_needs_no_name_to_be_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    t, seen = np.linspace(0, 3, 20), functools.partial(lambda t, x, v: [x, v][0])
    found = pi.fit(pi.systems.oscillator, t, np.cos(1.1 * t), observe=seen, free=["omega"])
    assert found.plot().lines[0].get_label() == "quantity"


# ---- wrong arguments ----
def test_the_only_position_is_what_was_seen_if_nothing_else_is_said():
    t = np.linspace(0, 3, 40)
    both = np.stack([np.cos(1.1 * t), np.cos(1.3 * t)], axis=-1)
    for times, data in [(t, both[:, 0]), (t[:, np.newaxis] + [0, 0], both), ([t] * 2, [*both.T])]:
        named, not_named = (
            pi.fit(pi.systems.oscillator, times, data, free=["omega"], observe=observe)
            for observe in ("x", None)
        )
        assert np.array_equal(named.parameters["omega"], not_named.parameters["omega"])
        assert named.predict(t).shape == not_named.predict(t).shape


def test_a_fit_of_noise_is_refused():
    with pytest.raises(ValueError, match="'ornstein_uhlenbeck' has noise"):
        pi.fit(pi.systems.ornstein_uhlenbeck, [0.0, 1.0], [0.0, 1.0], free=["rate"], observe="y")


GOOD = {"t": np.arange(5.0), "data": np.zeros(5), "observe": "theta", "free": {"length": (0.1, 3)}}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"free": ()}, "nothing is free: name parameters"),
        ({"free": ["size"]}, "free has 'size'.*g, length"),
        ({"free": ["theta"]}, "free_start"),
        ({"free_start": ["size"]}, "free_start must be some of theta, omega"),
        ({"free": {"length": (2.0, 3.0)}}, r"exclude the start 1: begin within, system\(length"),
        ({"free": {"length": (3.0, 2.0)}}, "bounds of 'length' must be"),
        ({"free": ["length"], "starts": 4}, r"starts=4 fill the bounds.*free=\{'length'"),
        ({"shared": "g"}, "shared, of what is free, must be some of length, .*got 'g'"),
        ({"priors": {"g": (1, 2)}}, "priors, of what is free, must be some of length, .*'g'"),
        ({"priors": {"length": (1, -2)}}, r"priors\['length'\] must be"),
        ({"data": np.zeros((5, 0))}, r"a batch of shape \(0,\): there is nothing to fit"),
        ({"priors": {"length": 1.0}}, r"priors\['length'\] must be \(mean, .*got 1.0"),
        ({"data": np.zeros(4)}, r"t has shape \(5,\) and data \(4,\)"),
        ({"data": np.full(5, np.inf)}, "data holds inf: expected finite"),
        ({"data": np.full(5, np.nan)}, "are 0 numbers, fewer than the 1 unknowns"),
        ({"data": np.where([False, True], np.nan, np.zeros((5, 2)))},
         "data and priors of fit 1 are 0 numbers"),
        ({"data": [0, np.nan, np.nan, 0, np.nan], "free_start": True}, "2 numbers, fewer than"),
        ({"data": [np.zeros(5), np.zeros(4)]}, "unequal length have a list of times beside"),
        ({"t": [[], [0.0]], "data": [[], [1.0]]}, "recording 0 has no times: leave it out"),
        ({"t": [0.0, 1, 2, 4, 3]}, "t must be in order"),
        ({"t": [0.0, 1, 2, 4, np.nan]}, "t holds nan"),
        ({"t0": 1.0}, "later than the first time"),
        ({"sigma": 0.0}, "sigma must be positive, got 0"),
        ({"sigma": np.ones(3)}, "do not broadcast"),
        ({"observe": "size"}, "observe has 'size'"),
        ({"observe": ["theta"]}, r"\(n, \*batch, 1\).*without that axis: observe='theta'"),
        ({"p0": [1.0]}, r"begins at the parameters of its system, system\(k=1.0\)"),
        ({"t": [[0.0, 1.0], [0.0]], "data": [[1.0, 2.0], [1.0, 2.0]]}, "lengths"),
        ({"loss": "square"}, "loss must be one of linear"),
        ({"segments": 9}, "segments=9 need recordings of more times"),
        ({"rtol": -1.0}, "rtol must be"),
        ({"observe": []}, "observe is empty"),
        ({"starts": 2, "seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": "a"}, "seed must be an integer, got 'a'"),
        ({"shared": 3.0}, "shared, .* must be some of .* got 3.0"),
        ({"priors": ["length"]}, r"priors must map names to \(mean, standard deviation\), got"),
        ({"priors": 1.0}, "priors must map names"),
        ({"segments": np.ones(3)}, "segments must be an integer"),
        ({"observe": np.ones(3)}, "observe has array"),
        ({"dt": 5e-324}, "n_steps must be at most"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_with_the_cure(changes, told):
    with pytest.raises((TypeError, ValueError), match=told):
        pi.fit(pi.systems.pendulum, **GOOD | changes)


def test_a_fit_that_begins_at_rest_finds_the_motion():
    """A pendulum that hangs takes steps of any length, too long for the derivatives."""
    t = np.linspace(0, 20, 201)
    data = pi.solve(pi.systems.pendulum, 0.3, 0.1, t_end=20.0, times=t, rtol=1e-12).x
    for method in ("auto", "dop853", "radau_iia5"):
        found = pi.fit(pi.systems.pendulum, t, data, observe="theta", x0=0.0, v0=0.0,
                       free_start=True, method=method)  # fmt: skip
        assert found.parameters["theta"] == pytest.approx(0.3, abs=1e-6)
        assert found.parameters["omega"] == pytest.approx(0.1, abs=1e-6)


def test_a_component_that_rests_beside_slow_ones_has_its_errors():
    """It decays at once, so that only its first datum tells of it: its error was 3e-104."""
    system = pi.rhs(lambda t, y: (-y[0], -1000.0 * y[1]), dim=2)
    t = np.linspace(0, 5, 20)
    data = np.exp(-t)[:, np.newaxis] * [1, 0]
    found = pi.fit(system, t, data, free_start=True, x0=[1.1, 0.0], sigma=0.01)
    assert found.standard_errors["y2"] == pytest.approx(0.01, rel=1e-6)
    stiff = pi.rhs(lambda t, y, k: (-k * y[0], -1e7 * y[1]), dim=2, k=1.1)
    found = pi.fit(stiff, t, data, free="k", x0=[1.0, 0.0])  # not in so many steps
    assert found.parameters["k"] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("idle", [1e6, 1e12])
def test_a_large_unknown_without_effect_does_not_end_the_search(idle):
    system = pi.rhs(lambda t, y, a, b: (y[1], -a * y[0] + 0 * b), dim=2, a=1.7, b=0.6)
    t = np.linspace(0, 5, 40)
    data = np.cos(np.sqrt(2.0) * t) + 0.01 * np.random.default_rng(3).standard_normal(40)
    given = {"observe": "y1", "x0": [1.0, 0.0]}
    alone = pi.fit(system, t, data, free=["a"], **given)
    with pytest.warns(UserWarning, match="do not determine b in"):
        beside = pi.fit(system(b=idle), t, data, free=["a", "b"], **given)
    off = beside.parameters["a"] - alone.parameters["a"]
    assert abs(off) < 1e-6 * alone.standard_errors["a"]


# ---- ends of the search ----
def test_linear_fits_within_bounds_end_at_the_least_squares_there():
    """What a step stops at a bound stayed there: one of forty ended elsewhere, up to 14 times the
    cost, with status 0."""
    optimize = pytest.importorskip("scipy.optimize")
    line = pi.rhs(lambda t, y, a, b, c: [a + b * t + c * t * t], dim=1, a=0.0, b=0.0, c=0.0)
    rng = np.random.default_rng(0)
    n, t = 150, np.sort(np.append(0.0, rng.uniform(0, 3, 11)))
    columns = np.stack([t**0, t, t**2 / 2, t**3 / 3], axis=-1)
    true = rng.normal(size=(n, 4))
    data = columns @ true.T + 0.1 * rng.standard_normal((12, n))
    low = true - rng.uniform(-0.3, 0.6, (n, 4))
    high = low + rng.uniform(0.05, 1.0, (n, 4))
    guess = rng.uniform(low, high)
    found = pi.fit(
        line(a=guess[:, 1], b=guess[:, 2], c=guess[:, 3]), t, data, observe="y", sigma=0.1,
        x0=guess[:, :1], free_start={"y": (low[:, 0], high[:, 0])},
        free={"abc"[j]: (low[:, j + 1], high[:, j + 1]) for j in range(3)},
    )  # fmt: skip
    for i in range(n):
        best = optimize.lsq_linear(columns, data[:, i], bounds=(low[i], high[i]), tol=1e-13)
        assert found.cost[i] == pytest.approx(200 * best.cost, rel=1e-6)


def test_a_robust_fit_that_begins_among_outliers_ends_at_its_least():
    """Where all data are outliers the loss has no curvature: damping that had grown there ended
    the search at the first datum that it met, with status 0."""
    optimize = pytest.importorskip("scipy.optimize")
    still, rng = pi.rhs(lambda t, y: 0 * y, dim=1), np.random.default_rng(0)
    data = 1 + 0.01 * rng.standard_normal((15, 30))
    data += rng.uniform(0.5, 5.0, data.shape) * (rng.random(data.shape) < 0.45)
    found = pi.fit(
        still, np.arange(15.0), data, observe="y", x0=[0.0], free_start=True, sigma=0.01,
        loss="huber",
    )  # fmt: skip
    for one, cost in zip(data.T, found.cost, strict=True):

        def loss(y, one=one):
            z = ((one - y) / 0.01) ** 2
            return np.where(z <= 1, z, 2 * np.sqrt(z) - 1).sum()

        least = optimize.minimize_scalar(loss, bounds=(one.min(), one.max()), method="bounded")
        assert cost <= least.fun * (1 + 1e-6)
