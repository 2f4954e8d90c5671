"""Three zeros in one step look like one: they are found; ``.unresolved`` tells of such steps."""

import numpy as np
import pytest

import pyintegrate as pi


@pi.rhs(dim=1, a=0.0, b=0.0, c=0.0)
def cubic(t, y, a, b, c):
    """y = (t - a)(t - b)(t - c), which rk4 and the pairs integrate without an error."""
    return (3 * t * t - 2 * (a + b + c) * t + (a * b + b * c + c * a),)


def zeros(n=200):
    """Three in each row, at least 0.02 apart, between 0.02 and 0.98."""
    rng = np.random.default_rng(0)
    return np.sort(rng.uniform(0.02, 0.94, (n, 3)), axis=-1) + [0, 0.02, 0.04]


def fixed(roots, event, dt=1.0, **options):
    a, b, c = roots.T
    run = {"dt": dt, "n_steps": round(1 / dt), "method": "rk4", "events": {"z": event}} | options
    return pi.integrate(cubic(a=a, b=b, c=c), -np.prod(roots, -1)[:, np.newaxis], **run)


def to_a_tolerance(roots, event, dt=1.0, **options):
    a, b, c = roots.T
    run = {"t_end": 1.0, "first_step": dt, "max_step": dt, "rtol": 1e-4} | options
    run["events"] = {"z": event}
    return pi.solve(cubic(a=a, b=b, c=c), -np.prod(roots, -1)[:, np.newaxis], **run)


VERBS = pytest.mark.parametrize("verb", [fixed, to_a_tolerance])


def test_to_a_tolerance_all_three_are_found():
    roots = zeros()
    z = to_a_tolerance(roots, pi.event("y", keep=3), rtol=1e-9).events["z"]
    assert (z.count == 3).all()
    assert abs(z.t - roots).max() < 1e-9
    assert not z.unresolved.any()


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_three_zeros_in_a_step_are_found_and_told(direction, dtype):
    """Where a step holds three, a neighbour may hold two that no value at its ends tells of."""
    roots = zeros()
    z = fixed(roots, pi.event("y", direction, keep=3), dtype=dtype).events["z"]
    expected = roots if direction == 0 else roots[:, [0, 2]]
    assert (z.count == expected.shape[1]).all()
    # Rounding over the least slope, 4e-4: values are sums of terms up to 1.
    close = 8 * np.finfo(dtype).eps / 4e-4
    assert abs(z.t[:, : expected.shape[1]] - expected).max() < close
    assert z.unresolved.all()
    assert z.first.unresolved is z.unresolved


@VERBS
def test_shorter_steps_resolve_them(verb):
    roots = zeros()
    sol = verb(roots, pi.event("y", keep=3), dt=1 / 256)
    assert not sol.events["z"].unresolved.any()
    assert (sol.events["z"].count == 3).all()
    assert abs(sol.events["z"].t - roots).max() < 1e-9  # rounding over the least slope, 4e-4


@VERBS
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_zero_is_no_three(verb, dtype):
    """Others just outside of the step bend the quantity as far as can be."""
    roots = zeros() * 3 + [-3, 0, 0]
    one = roots[(abs(roots - 0.5) < 0.499).sum(axis=-1) == 1]
    assert len(one) > 20
    sol = verb(one, pi.event("y"), dtype=dtype)
    assert not sol.events["z"].unresolved.any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_smooth_quantities_are_resolved(dtype):
    quantities = "x", "v", lambda t, x, v: x * x - 0.3, lambda t, x, v: t - 7.3
    events = {f"q{i}": pi.event(q) for i, q in enumerate(quantities)}
    start = np.linspace(0.6, 2, 90), 0.0
    sols = [
        pi.integrate(pi.systems.oscillator, *start, dt=0.3, n_steps=300, dtype=dtype,
                     save="final", events=events),
        pi.solve(pi.systems.oscillator, *start, t_end=90.0, rtol=1e-4, dtype=dtype, events=events),
    ]  # fmt: skip
    for sol in sols:
        for one in sol.events.values():
            assert one.count.all()
            assert not one.unresolved.any()


@pytest.mark.parametrize("how", ["stop", "then"])
def test_a_stop_or_a_jump_happens_at_the_first_of_three(how):
    """What would have come after it does not come."""
    ends = {"stop": {"stop": True}, "then": {"then": lambda t, y: (y[0] * 0 + 1,)}}[how]
    roots = zeros()
    z = fixed(roots, pi.event("y", 1, **ends)).events["z"]
    assert abs(z.t[:, 0] - roots[:, 0]).max() < 1e-9
    assert (z.count == 1).all()
    assert not z.unresolved.any()


@pytest.mark.parametrize("dt", [0.05, 0.1, 0.3])
def test_two_zeros_around_an_extreme_are_found_however_close(dt):
    """In the first step, too, before which there is no value that tells of the bend."""
    rng = np.random.default_rng(3)
    depth, phase = 10 ** rng.uniform(-6, -2, 2000), rng.uniform(0, 2 * np.pi, 2000)
    n = int(12 / dt)
    dip = {"z": pi.event(lambda t, x, v, at: x - at, params={"at": 1 - depth}, keep=0)}
    sol = pi.integrate(
        pi.systems.oscillator, np.cos(phase), -np.sin(phase), dt=dt, n_steps=n, method="dop853",
        save="final", events=dip,
    )  # fmt: skip
    tops = 2 * np.pi * np.arange(4)[:, np.newaxis] - phase
    zeros_at = np.concatenate([tops - np.arccos(1 - depth), tops + np.arccos(1 - depth)])
    expected = ((zeros_at > 0) & (zeros_at <= n * dt)).sum(axis=0)
    assert (((zeros_at > 0) & (zeros_at <= dt)).sum(axis=0) == 2).any()
    assert np.array_equal(sol.events["z"].count, expected)


@pytest.fixture(scope="module")
def waves():
    """A slow wave with a fast one on it: some steps hold three zeros, of some trajectories."""
    events = {
        "z": pi.event(lambda t, x, v, k: x + k * np.sin(30 * t), keep=9,
                      params={"k": np.linspace(0, 0.3, 40)}),
        "x": pi.event("x"),
    }  # fmt: skip
    start = np.linspace(0.6, 1.2, 40), 0.0

    def run(n=60, **options):
        return pi.integrate(
            pi.systems.oscillator, *start, dt=0.25, n_steps=n, method="rk4", events=events,
            **{"save": "final", **options},
        )  # fmt: skip

    stepper = pi.Stepper(pi.systems.oscillator, *start, dt=0.25, method="rk4", events=events)
    return run, stepper


def told(one):
    return [(z.unresolved.tolist(), z.count.tolist()) for z in one.events.values()]


def test_it_does_not_depend_on_how_a_run_is_cut(waves, tmp_path):
    run, stepper = waves
    whole = run()
    unresolved = whole.events["z"].unresolved
    assert 3 < unresolved.sum() < 40
    assert not whole.events["x"].unresolved.any()
    for options in ({"save": "all"}, {"save": 7}, {"workers": 3}, {"bound": 1e9}):
        assert told(run(**options)) == told(whole)
    for cut in (1, 17, 59):
        assert told(run(cut).resume(n_steps=60 - cut)) == told(whole)
    before = stepper.snapshot()
    for n in (1, 30, 29):
        stepper.step(n)
    assert told(stepper) == told(whole)
    stepper.restore(before)
    assert not stepper.events["z"].unresolved.any()
    stepper.step(60)
    assert told(stepper) == told(whole)
    stepper.reset(unresolved)
    assert not stepper.events["z"].unresolved.any()
    whole.save(tmp_path / "a.npz")
    assert told(pi.load(tmp_path / "a.npz")) == told(whole)


def test_a_pair_in_the_first_step_is_found():
    """x = cos(t - b) > level for less than the first step, of which half lies before its middle."""
    n, dt = 300, 0.3
    random = np.random.default_rng(5)
    gap = 10.0 ** random.uniform(-7, -3, n)
    begin = random.uniform(0.1, 0.9, n) * dt - np.arccos(1 - gap)
    begin = np.maximum(begin, 1e-6)  # where it enters
    peak = begin + np.arccos(1 - gap)
    fits = peak + np.arccos(1 - gap) < dt
    run = {"dt": dt, "n_steps": 5, "method": "gauss8", "save": "final"}
    sol = pi.integrate(
        pi.systems.oscillator, np.cos(peak), np.sin(peak), **run,
        events={"top": pi.event("x", level=1 - gap, keep=2)},
    )  # fmt: skip
    assert fits.sum() > n / 2
    assert (sol.events["top"].count == 2)[fits].all()
    np.testing.assert_allclose(sol.events["top"].t[fits, 0], begin[fits], atol=1e-8, rtol=0)


RUNS = {
    "fixed": lambda **run: pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=200, **run),
    "coarse": lambda **run: pi.integrate(pi.systems.oscillator, dt=0.5, n_steps=40, **run),
    "to a tolerance": lambda **run: pi.solve(pi.systems.oscillator, t_end=20.0, **run),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_quantity_that_is_not_a_number_within_a_step_is_told(run):
    """sqrt(x - 1/2) - 0.3, zero at x = 0.59, is NaN below 1/2: each zero is found beside that."""

    def of(t, x, v):
        return np.where(t < 0.5, x, np.sqrt(x - 0.5) - 0.3)

    z = run(events={"z": pi.event(of, direction=-1, keep=9)}).events["z"]
    where = np.arccos(0.59) + 2 * np.pi * np.arange(4)
    assert z.count == 4
    assert z.unresolved
    np.testing.assert_allclose(z.t[:4], where, atol=2e-2)  # of rk4 at 0.5
    assert not run(events={"z": pi.event(lambda t, x, v: x - 0.5)}).events["z"].unresolved


def test_a_force_that_fails_within_a_step_is_told():
    """The last step of y' = -2 sqrt(y) ends below 0: there are no states within it."""
    tank = pi.rhs(dim=1, initial=[1.0])(lambda t, y: (-2 * np.sqrt(y[0]),))
    run = {"t_end": 0.99, "rtol": 1e-3, "method": "verner98"}
    times, told = np.linspace(0, 0.99, 9), pytest.warns(pi.IntegrationWarning, match="no state at")
    assert pi.solve(tank, **run).final < 0
    with told:
        assert np.isnan(pi.solve(tank, times=times, **run).y).any()
    with told:
        assert np.isnan(pi.solve(tank, save="all", **run).at(times)).any()
    for stop in (False, True):
        z = pi.solve(tank, events={"z": pi.event("y", level=0.3, stop=stop)}, **run).events["z"]
        assert z.unresolved
        assert (z.count, z.t[0]) == (1, 0.99)


def test_a_place_without_a_value_does_not_spread():
    watch = {
        "one": pi.watch.integral(lambda t, x, v: x / x), "way": pi.watch.integral("v"),
        "sine": pi.watch.integral(lambda t, x, v: np.sin(t - 1) / (t - 1)),
    }  # fmt: skip
    sol = pi.solve(pi.systems.oscillator, t_end=3.0, watch=watch)
    assert sol.watched["one"] == 3
    assert abs(sol.watched["way"] - (np.cos(3) - 1)) < 1e-5
    assert abs(sol.watched["sine"] - 2.5514958) < 1e-5  # Si(2) + Si(1)


@pytest.mark.parametrize("most", [1e301, 1e302, 1e305, 1.7e308])
def test_numbers_that_may_overflow_between_steps_are_found_or_unresolved(most):
    """Sums of them are infinite: halving an interval with such a polynomial had no end."""
    start, pendulum = [1.0, 2.0], pi.systems.pendulum
    quantities = {"far": lambda t, x, v: x - most, "wave": lambda t, x, v: x * (most / 4)}
    events = {name: pi.event(quantity, keep=9) for name, quantity in quantities.items()}
    plain = {"wave": pi.event("theta", keep=9)}
    for verb, run in (
        (pi.integrate, {"dt": 0.125, "n_steps": 80, "save": "final"}), (pi.solve, {"t_end": 10.0}),
    ):  # fmt: skip
        sol, known = (verb(pendulum, start, 0.0, events=e, **run).events for e in (events, plain))
        assert (sol["far"].count == 0).all()
        wave = sol["wave"]
        found = np.isclose(wave.t, known["wave"].t, rtol=1e-9, equal_nan=True).all(axis=-1)
        assert (found | wave.unresolved).all()


@pytest.mark.parametrize("then", [None, lambda t, y: [y[0] + 0.3]], ids=["seen", "after a jump"])
def test_pairs_in_a_step_do_not_depend_on_how_it_is_made(then):
    """The last bend of a quantity was lost after a jump, and by a Stepper before each step: whether
    two zeros were looked for depended on the blocks of steps."""

    @pi.rhs(dim=1)
    def wave(t, y):
        return [17 * np.cos(17 * t + 0.3)]

    events = {
        "wave": pi.event(lambda t, y: np.sin(3 * y[0]) + 0.1 * t, keep=0),
        "jump": pi.event(lambda t, y: t - 0.2, then=then),
    }
    for dt in (0.1, 0.13, 0.25):
        run = {"dt": dt, "events": events}
        by_hand = pi.Stepper(wave, [[0.1]], **run)
        for _ in range(60):
            by_hand.step()
        counts = {
            int(np.ravel(sol.events["wave"].count)[-1])
            for sol in (
                by_hand,
                pi.integrate(wave, [[0.1]], n_steps=60, **run),
                pi.integrate(wave, [[0.1]], n_steps=30, save="final", **run).resume(n_steps=30),
                pi.integrate(wave, np.full((200, 1), 0.1), n_steps=60, save="final", **run),
            )
        }
        assert len(counts) == 1, (dt, counts)


@pytest.mark.parametrize("sign", [1, -1], ids=["two zeros", "no zero"])
def test_what_turns_back_closer_to_zero_than_the_tolerance_is_told(sign):
    """Where both zeros were found a part of such quantities passed for clear."""
    phase = np.linspace(-3.0, -0.3, 400)
    run = {"t_end": 3.1, "rtol": 1e-5, "atol": 1e-9, "method": "dop853", "save": "final"}
    event = pi.event(lambda t, x, v: v * v - sign * 3e-8, keep=0)
    sol = pi.solve(
        pi.systems.oscillator, np.cos(phase), -np.sin(phase), events={"near": event}, **run
    )
    assert sol.events["near"].unresolved.all()
