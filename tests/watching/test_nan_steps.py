"""A NaN in a quantity stays in what is watched, and ``.nan_step`` tells the step that had it."""

import numpy as np
import pytest

import pyintegrate as pi

w = pi.watch
START = np.linspace(0.2, 3, 37), 0.0
# Some begin below their level, some come there, some never do.
LEVEL = np.random.default_rng(3).permutation(np.linspace(-3.3, 2.5, 37))


def root(t, x, v, level):
    return np.sqrt(x - level)


@pi.acceleration(level=0.0)
def force(t, x, v, level):
    return -x


SYSTEM = force(level=LEVEL)


def everything(q=root, **options):
    kinds = {
        "max": w.maximum, "min": w.minimum, "abs": w.max_abs, "total": w.total, "mean": w.mean,
        "rms": w.rms, "variance": w.variance, "std": w.std, "slope": w.slope,
        "integral": w.integral, "turns": w.windings, "periods": w.periods,
    }  # fmt: skip
    return {name: kind(q, **options) for name, kind in kinds.items()}


def expected(y, n=None):
    """The number of the first step with x < level, -1 where there is none."""
    below = y[:n, ..., 0] < LEVEL
    return np.where(below.any(axis=0), below.argmax(axis=0), -1)


@pytest.fixture(scope="module")
def run():
    def make(n=150, **options):
        options = {"watch": everything(), "save": "final"} | options
        return pi.integrate(SYSTEM, *START, dt=0.1, n_steps=n, **options)

    return make


def told(sol):
    return {name: a.tolist() for name, a in sol.watched.items() if name.endswith("nan_step")}


def test_the_first_nan_is_told_by_every_reduction(run):
    sol = run()
    step = expected(run(save="all", watch=None).y)
    assert {-1, 0} < set(step.tolist())
    for name in everything():
        assert sol.watched[f"{name}.nan_step"].dtype == np.int64
        assert np.array_equal(sol.watched[f"{name}.nan_step"], step), name
        assert np.isnan(sol.watched[name][step >= 0]).all(), name
        if name != "periods":  # of which there may be none
            assert np.isfinite(sol.watched[name][step < 0]).all(), name


@pytest.mark.parametrize("options", [
    {"save": "all"}, {"save": 7}, {"workers": 3}, {"bound": 1e9}, {"dtype": np.float32},
], ids=str)  # fmt: skip
def test_it_does_not_depend_on_the_split(run, options):
    dtype = {key: options[key] for key in options if key == "dtype"}
    assert told(run(**options)) == told(run(**dtype))


@pytest.mark.parametrize("cut", [1, 16, 33, 64])
def test_it_goes_on_in_resumed_runs_files_and_steppers(run, cut, tmp_path):
    whole, first = run(), run(cut)
    assert told(first) == {
        name: np.where(np.array(step) <= cut, step, -1).tolist()
        for name, step in told(whole).items()
    }
    both = first.resume(n_steps=150 - cut)
    assert told(both) == told(whole)
    both.save(tmp_path / "a.npz")
    assert told(pi.load(tmp_path / "a.npz")) == told(whole)
    stepper = pi.Stepper(SYSTEM, *START, dt=0.1, method=whole.method.name, watch=everything())
    stepper.step(cut)
    assert told(stepper) == told(first)
    stepper.step(150 - cut)
    assert told(stepper) == told(whole)
    half = np.arange(37) % 2 == 0
    stepper.reset(half)
    step = np.where(half, np.where(START[0] < LEVEL, 150, -1), whole.watched["mean.nan_step"])
    assert told(stepper) == dict.fromkeys(told(whole), step.tolist())


def test_only_steps_that_are_looked_at_count(run):
    y = run(save="all", watch=None).y
    late = (np.arange(151) >= 40) & (LEVEL[:, np.newaxis] > y[..., 0].T)
    third = late & (np.arange(151) % 3 == 0)
    for options, bad in (({}, late), ({"every": 3}, third)):
        sol = run(watch=everything(after=3.95, **options))
        step = np.where(bad.any(axis=-1), bad.argmax(axis=-1), -1).tolist()
        assert told(sol) == dict.fromkeys(told(sol), step)


def test_infinities_are_numbers_that_sums_may_not_survive():
    signs = pi.integrate(
        pi.systems.oscillator, dt=0.1, n_steps=100, save="final",
        watch=everything(lambda t, x, v: x / (0.0 * t)),
    )  # fmt: skip
    assert np.isnan(signs.watched["total"])
    assert set(told(signs).values()) == {-1}


def test_steps_of_solve_are_those_of_its_states():
    def make(**options):
        return pi.solve(SYSTEM, *START, t_end=15.0, rtol=1e-4, save="all", **options)

    names = [name for name in everything() if name != "total"]
    sol = make(watch={name: everything()[name] for name in names})
    kept = np.where(sol.valid[..., np.newaxis], sol.y, np.inf)
    for name in names:
        assert np.array_equal(sol.watched[f"{name}.nan_step"], expected(kept)), name
    half = pi.solve(SYSTEM, *START, t_end=7.0, rtol=1e-4, watch={"m": w.mean(root)})
    again = half.resume(t_end=15.0)
    early = half.watched["m.nan_step"]
    assert np.array_equal(again.watched["m.nan_step"][early >= 0], early[early >= 0])
    bounce = pi.event("x", then=lambda t, x, v: (x, 1.1 * v), keep=99)
    sol = make(watch={"m": w.mean(root)}, events={"x": bounce})
    kept = np.where(sol.valid[..., np.newaxis], sol.y, np.inf)
    assert np.array_equal(sol.watched["m.nan_step"], expected(kept))


def test_the_sign_of_a_nan_does_not_depend_on_the_batch():
    def watched(n):
        options = {
            "dt": 0.1,
            "n_steps": 4,
            "save": "final",
            "watch": {"q": w.slope("x", after=9.0)},
        }
        return pi.integrate(pi.systems.oscillator, np.ones((n, 2)), **options).watched

    for n in (2, 9, 33):
        for name, value in watched(n).items():
            assert value.tobytes() == n * watched(1)[name].tobytes(), name
