"""method="auto" goes back from Radau IIA to the explicit pair where a motion is stiff no more."""

import pickle

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

# Some become calm, one stays stiff, one never was, one decays more slowly.
K = np.array([1e6, 1e5, 1e5, 1e6, 1.0, 1e6])
FADE = np.array([1.0, 1.0, 0.5, 0.0, 0.0, 0.5])
CALM, STIFF, NEVER = [0, 1, 2, 5], 3, 4
END = 60.0
EACH = ("final", "status", "steps_taken", "rejected", "last_step", "stiff_since", "evaluations")


@pi.rhs(dim=3, k=1e6, fade=1.0)
def fading(t, y, k, fade):
    """A pendulum; and what follows cos(theta), at a rate that fades."""
    return y[1], -9.81 * np.sin(y[0]), -k * np.exp(-fade * t) * (y[2] - np.cos(y[0]))


def solve(some=slice(None), **options):
    run = {"t_end": END, "rtol": 1e-6, "atol": 1e-6, "on_failure": "raise"}
    return pi.solve(fading(k=K[some], fade=FADE[some]), [1.0, 0.0, 2.0], **{**run, **options})


@pytest.fixture(scope="module")
def whole():
    return solve()


def spans_of(sol, lane):
    spans = sol.stiff_spans[:, :, lane]
    return spans[np.isfinite(spans[:, 0])]


def test_what_is_stiff_no_more_goes_back(whole):
    assert np.isnan(whole.stiff_since).tolist() == [True, True, True, False, True, True]
    assert len(spans_of(whole, NEVER)) == 0
    assert same_bits(spans_of(whole, STIFF), np.array([[whole.stiff_since[STIFF], np.nan]]))
    for lane in CALM:
        ((begun, ended),) = spans_of(whole, lane)
        assert 0 < begun < ended < END
        # Steps of 0.02 to 2, of which the rate allows 2 to 3 over the length, and the tenth of the
        # time before, in which it fades.
        assert 0.05 < K[lane] * np.exp(-FADE[lane] * ended) < 100
    explicit = solve([NEVER], method=whole.method)
    assert same_bits(whole.final[[NEVER]], explicit.final)
    assert same_bits(whole.evaluations[[NEVER]], explicit.evaluations)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_it_costs_what_the_explicit_pair_does_then(rtol):
    """Steps of Radau's method on a pendulum are 6 to 40 times as many, and each costs more."""
    run = {"rtol": rtol, "atol": rtol}
    sol, radau = solve([0], **run), solve([0], method="radau_iia5", **run)
    ended = spans_of(sol, 0)[0, 1]
    rest = pi.solve(
        pi.systems.pendulum, t0=ended, t_end=END, method=sol.method, save="final", **run
    )
    # The first thousand steps tell that it is stiff; the follower adds a few to those of the rest.
    made = sol.steps_taken[0] + sol.rejected[0]
    assert made - sol._stiff_tries[0] < 1250 + 1.3 * (rest.steps_taken + rest.rejected)
    assert radau.steps_taken[0] > 4 * (made - 1250)
    exact = pi.solve(pi.systems.pendulum, 1.0, 0.0, t_end=END, rtol=1e-13, atol=1e-13).final
    loose = pi.solve(pi.systems.pendulum, 1.0, 0.0, t_end=END, method=sol.method, **run).final
    assert abs(sol.final[0, :2] - exact).max() < 10 * abs(loose - exact).max()


def test_relaxation_oscillations_stay_with_the_implicit_method():
    """Their fast motions take many steps, but no tenth of the time before."""
    mu = np.array([300.0, 1000.0])
    sol = pi.solve(pi.systems.van_der_pol(mu=mu), [2.0, 0.0], t_end=4000.0, rtol=1e-6, atol=1e-6)
    assert np.isfinite(sol.stiff_since).all()
    assert np.isnan(sol.stiff_spans[:, 1]).all()
    assert len(sol.stiff_spans) == 1


def test_what_is_stiff_again_and_again_changes_ever_more_rarely():
    """At rates from 1e-2 to 1e4, with a period of 2 pi."""
    waves = pi.rhs(dim=1)(lambda t, y: (-(10 ** (1 + 3 * np.cos(t))) * (y[0] - np.sin(t)),))
    run = {"t_end": 60.0, "rtol": 1e-6, "atol": 1e-8, "save": "final"}
    sol, exact = pi.solve(waves, [0.0], **run), pi.solve(waves, [0.0], method="radau_iia5", **run)
    assert 1 <= len(sol.stiff_spans) <= 12
    assert abs(sol.final - exact.final).max() < 1e-4
    starts, ends = sol.stiff_spans[:, 0], sol.stiff_spans[:, 1]
    assert np.all(starts[1:] > ends[:-1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_order_split_and_workers_change_no_bit(dtype):
    run = {"dtype": dtype, "rtol": 2e-5, "atol": 1e-5, "times": np.linspace(0, END, 50)}
    all_of_them = solve(**run)
    assert np.isfinite(all_of_them.stiff_spans[:, 1]).any()
    order = np.random.default_rng(0).permutation(len(K))
    for some, workers in ((order, 1), (slice(3, 4), 1), (slice(1, 5), 1), (slice(None), 3)):
        part = solve(some, workers=workers, **run)
        assert same_bits(all_of_them.y[:, some], part.y)
        for name in EACH:
            assert same_bits(getattr(all_of_them, name)[some], getattr(part, name)), name


def test_all_steps_are_kept_in_order_and_times_lie_between_them(whole):
    kept = solve(save="all")
    assert same_bits(kept.final, whole.final)
    for lane, n in enumerate(kept.counts):
        assert n == kept.steps_taken[lane] + 1
        assert np.all(np.diff(kept.t[:n, lane]) > 0)
        assert all(t in kept.t[:n, lane] for t in spans_of(kept, lane).ravel() if np.isfinite(t))
    times = np.linspace(0.0, END, 200)
    saved = solve(times=times)
    assert same_bits(saved.final, whole.final)
    assert same_bits(kept.at(times), saved.y)


def test_watches_and_events_go_through():
    seen = {"watch": {"n": pi.watch.mean(lambda t, y: y[0])},
            "events": {"zero": pi.event(lambda t, y: y[0], keep=99)}}  # fmt: skip
    sol = solve(**seen)
    assert np.array_equal(sol.watched["n.count"], sol.steps_taken + 1)
    exact = pi.solve(pi.systems.pendulum, 1.0, 0.0, t_end=END, rtol=1e-12, atol=1e-12,
                     events={"zero": pi.event("theta", keep=99)})  # fmt: skip
    assert np.all(sol.events["zero"].count == exact.events["zero"].count)


def test_files_pickles_and_parts_know_it(whole, tmp_path):
    whole.save(tmp_path / "run.npz")
    for copy in (pi.load(tmp_path / "run.npz"), pickle.loads(pickle.dumps(whole))):
        for name in (*EACH, "stiff_spans"):
            assert same_bits(getattr(whole, name), getattr(copy, name)), name
        assert same_bits(whole.resume(t_end=END + 5).final, copy.resume(t_end=END + 5).final)
    first = solve(t_end=5.0)
    second = first.resume(t_end=END)
    joined = pi.concatenate(first, second)
    assert np.isfinite(first.stiff_since[CALM[:2]]).all()
    assert same_bits(joined.stiff_since, np.where(np.isnan(second.stiff_since), np.nan,
                                                  first.stiff_since))  # fmt: skip
    ((begun, ended),) = spans_of(joined, 0)
    assert begun == spans_of(first, 0)[0, 0]
    assert ended == spans_of(second, 0)[0, 1]
    for one in (joined, second):
        for name in ("final", "steps_taken", "rejected", "evaluations", "last_step"):
            assert same_bits(getattr(one, name), getattr(whole, name)), name
    assert same_bits(joined.stiff_spans, whole.stiff_spans)
