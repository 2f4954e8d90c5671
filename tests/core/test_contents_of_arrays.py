"""Numbers in arrays that the core reads back lead it nowhere: they are the caller's, and may be
anything, also while a run is under way."""

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate import _core

GUARD, AROUND = -7, 64


def given(monkeypatch, name, run):
    """The fields that a function of the core gets in a run, in memory that nobody else uses."""
    kept, function = {}, getattr(_core, name)

    def keeping(fields=(), /, **keywords):
        kept.update(fields, **keywords)
        return function(**kept)

    with monkeypatch.context() as patch:
        patch.setattr(_core, name, keeping)
        run()
    return kept


def guarded(shape, dtype):
    """(all, inner): an array in the midst of guards."""
    items = int(np.prod(shape))
    whole = np.full(items + 2 * AROUND, GUARD, dtype)
    return whole, whole[AROUND : AROUND + items].reshape(shape)


def is_guarded(whole):
    return np.all(whole[:AROUND] == GUARD) and np.all(whole[-AROUND:] == GUARD)


def watched_density(monkeypatch):
    """Of a body at rest in bin 6 of 8, through three blocks of time."""
    watch = {"seen": pi.watch.density("x", 8, (-1.0, 1.0))}
    fields = given(
        monkeypatch, "Run",
        lambda: pi.integrate(pi.systems.oscillator, np.full(3, 0.6), 0.0, dt=1e-12, n_steps=600,
                             save="final", watch=watch),
    )  # fmt: skip
    (density,) = fields["watches"][0]["densities"]
    density["image"][...] = 0
    return fields, density


def test_what_a_watch_is_made_of_may_vanish_while_it_is_read(monkeypatch):
    """Its dictionaries are anybody's: an index may run code that empties one."""

    class Emptying:
        def __index__(self):
            watch.clear()
            return 1

    fields, density = watched_density(monkeypatch)
    watch, image = fields["watches"][0], density["image"]
    watch["every"] = Emptying()
    run = _core.Run(**fields)
    assert not watch
    run.work()
    run.outcome()
    assert np.count_nonzero(image) == 1


@pytest.mark.parametrize("edges", [[0.6] * 9, [-np.inf] * 4 + [np.inf] * 5])
def test_a_value_among_edges_that_do_not_increase_has_some_bin(edges, monkeypatch):
    fields, density = watched_density(monkeypatch)
    density["row_edges"] = np.array(edges)
    run = _core.Run(**fields)
    run.work()
    run.outcome()
    assert np.count_nonzero(density["image"]) == 1


@pytest.mark.parametrize("counted", [-1.0, -1e300, np.nan, 1e300])
@pytest.mark.parametrize("name", ["Run", "AdaptiveRun"])
def test_events_are_kept_in_their_arrays_only(name, counted, monkeypatch):
    events = {"through": pi.event("x", keep=2)}

    def run():
        if name == "Run":
            pi.integrate(pi.systems.spring(b=0.0), np.ones(8), 0.0, dt=0.05, n_steps=40,
                         save="final", events=events)  # fmt: skip
        else:
            pi.solve(pi.systems.spring(b=0.0), np.ones(8), 0.0, t_end=2.0, events=events)

    fields = given(monkeypatch, name, run)
    of_events = fields["events"] if name == "Run" else fields["observation"]["events"]
    (event,) = of_events["events"]
    assert np.isfinite(event["t"]).any()
    whole, event["t"] = guarded(event["t"].shape, np.float64)
    for counts in ("counts", "counts_a", "counts_b"):
        if counts in of_events:
            of_events[counts][...] = counted
    if name == "AdaptiveRun":
        fields["status"][...] = pi.Status.CANCELLED
        fields["accepted"][...] = fields["rejected"][...] = 0
        fields["observation"]["seen"][...] = 0
    getattr(_core, name)(**fields).work()
    assert is_guarded(whole)


@pytest.mark.parametrize("name", ["Run", "AdaptiveRun"])
def test_only_noise_has_bridges(name, monkeypatch):
    events = {"wall": pi.event("x", then=lambda t, x, v: (x, -v))}

    def run():
        if name == "Run":
            pi.integrate(pi.systems.spring, 1.0, 0.0, dt=0.05, n_steps=40, events=events)
        else:
            pi.solve(pi.systems.spring, 1.0, 0.0, t_end=2.0, events=events)

    fields = given(monkeypatch, name, run)
    of_events = fields["events"] if name == "Run" else fields["observation"]["events"]
    (event,) = of_events["events"]
    event["onto"] = 0
    with pytest.raises(ValueError, match="onto: only for systems with noise"):
        getattr(_core, name)(**fields)


def kept_steps(monkeypatch):
    """A run of three trajectories that kept its steps, and how many each has at most."""
    fields = given(
        monkeypatch, "AdaptiveRun",
        lambda: pi.solve(pi.systems.oscillator, np.ones((3, 2)), t_end=5.0, save="all"),
    )  # fmt: skip
    fields["status"][...] = pi.Status.CANCELLED
    run = _core.AdaptiveRun(**fields)
    run.work()
    n, numbers = run.gather(np.zeros(3, np.int64))
    return run, n, numbers


def test_what_counts_hold_before_makes_no_room_for_steps(monkeypatch):
    run, n, numbers = kept_steps(monkeypatch)
    assert run.gather(np.full(3, -1)) == (n, numbers)
    with pytest.raises(ValueError, match="record has .* bytes, expected"):
        run.gather(np.full(3, -1), np.zeros((n - 1, numbers, 3)))


def test_counts_may_lie_in_the_times_that_are_gathered(monkeypatch):
    run, n, numbers = kept_steps(monkeypatch)
    whole, record = guarded((n, numbers, 3), np.float64)
    record[...] = 0.0
    run.gather(record[0, 0].view(np.int64), record)
    assert record[0, 0].view(np.int64).max() == n
    assert np.all(record[1, 0] > 0)
    assert is_guarded(whole)


@pytest.mark.parametrize("one", [1, "abc", [0, 0, 0], (0, 0), (99, 0, 0)], ids=repr)
def test_a_reduction_is_a_tuple_of_three_numbers(one, monkeypatch):
    fields, _ = watched_density(monkeypatch)
    fields["watches"][0]["reduced"] = (one,)
    with pytest.raises((TypeError, ValueError)):
        _core.Run(**fields)
