"""Ctrl-C and exceptions stop a run at once, leave what was done, and leave nothing else behind.

The runs below would take seconds to years; that they end is the test. Interrupts are sent once the
run is known to be under way, so that no test depends on the speed of the machine.
"""

import _thread
import errno
import io
import itertools
import signal
import sys
import threading

import numpy as np
import pytest
import tqdm.auto
from conftest import pairs, same_bits
from reference import states
from reference.threads import threads_left

import pyintegrate as pi
from pyintegrate.run import core
from pyintegrate.watching import run_memory

FOREVER = 1 << 50
STAGES = 16
# Sixteen explicit Euler steps in one: slow enough that a record fills slowly.
SLOW = pi.RungeKutta(np.tri(STAGES, k=-1) / STAGES, np.full(STAGES, 1 / STAGES))

workers = pytest.mark.parametrize("workers", [1, 2])


def run(y=None, n_steps=FOREVER, save="final", method=SLOW, **options):
    y = states(pi.systems.lorenz, (256,)) if y is None else y
    options = {"dt": 1e-5, **options}
    return pi.integrate(pi.systems.lorenz, y, n_steps=n_steps, save=save, method=method, **options)


def ctrl_c():
    """A progress callable: one SIGINT from another thread, as soon as the first block is done."""
    started = threading.Lock()  # a signal within Thread.start leaves its locks undone
    started.acquire()

    def press():
        started.acquire()
        signal.raise_signal(signal.SIGINT)

    hands = [threading.Thread(target=press)]

    def progress(done, total):
        if hands:
            hands.pop().start()
            started.release()

    return progress


@pytest.fixture(autouse=True)
def _nothing_is_left_behind():
    # Background jobs of a shell are started with SIGINT ignored, and Python then leaves it so.
    before, threads = signal.signal(signal.SIGINT, signal.default_int_handler), threads_left()
    yield
    assert threads_left(threads) <= 0
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


# ---- Ctrl-C --------------------------------------------------------------------------------------


@workers
@pytest.mark.parametrize(
    ("save", "n_steps"),
    [("final", FOREVER), ("all", 100_000), (16, 1_000_000), (50, 4_000_000), (300, 20_000_000)],
)
def test_ctrl_c_leaves_the_beginning_of_the_whole_run(save, n_steps, workers):
    with pytest.raises(KeyboardInterrupt) as caught:
        run(n_steps=n_steps, save=save, workers=workers, progress=ctrl_c())
    sol = caught.value.solution
    assert sol.n_steps < n_steps
    assert sol.steps[-1] == sol.n_steps
    assert sol.t[-1] == pytest.approx(sol.n_steps * 1e-5)
    assert (sol.n_steps > 0) or save == 300
    whole = run(n_steps=sol.n_steps, save=save)
    assert np.array_equal(sol.steps, whole.steps)
    assert same_bits(sol.y, whole.y)
    assert np.all(sol.valid)


@pytest.mark.parametrize("out", [None, np.empty((3, 101, 256)).T], ids=["memory", "blocks"])
def test_an_interrupt_says_how_far_it_came(out):
    def stop(done, total):
        raise KeyboardInterrupt

    out = None if out is None else np.moveaxis(out, 0, 1)
    with pytest.raises(KeyboardInterrupt) as caught:
        run(n_steps=1_000_000, save=10_000, out=out, progress=stop)
    done = caught.value.solution.n_steps
    assert str(caught.value) == f"{done:,} of 1,000,000 steps: see .solution"


def interrupted(call):
    """What is left of a run that lasts years."""
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)  # by then the run is under way
        with pytest.raises(KeyboardInterrupt) as caught:
            call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    return caught.value.solution


def test_ctrl_c_needs_no_progress_callable():
    sol = interrupted(run)
    assert same_bits(sol.y, run(n_steps=sol.n_steps).y)


@workers
def test_ctrl_c_within_one_interval_between_saves_leaves_the_save_before(workers):
    with pytest.raises(KeyboardInterrupt) as caught:
        run(n_steps=FOREVER, save=FOREVER // 4, workers=workers, progress=ctrl_c())
    sol = caught.value.solution
    assert sol.steps.tolist() == [0]
    assert same_bits(sol.final, sol.initial)


def test_ctrl_c_without_memory_for_a_spare_state_leaves_the_initial_one(monkeypatch):
    monkeypatch.setattr(core, "SPARE_BYTES", 0)
    with pytest.raises(KeyboardInterrupt) as caught:
        run(progress=ctrl_c())
    sol = caught.value.solution
    assert sol.steps.tolist() == [0]
    assert same_bits(sol.final, sol.initial)


IN_BLOCKS = np.empty((101, 4, 7, 1))[:, :, :5]  # an `out` whose axes do not merge


@pytest.mark.parametrize("out", [None, IN_BLOCKS], ids=["memory", "blocks"])
def test_what_is_watched_ends_with_the_states(out):
    calls = itertools.count()

    @pi.rhs(dim=1, trace=False)
    def decay(t, y):
        if next(calls) == 3000:
            raise KeyboardInterrupt
        return -y

    y = np.ones((4, 5, 1))
    watch = {"y": pi.watch.last(decay.state_names[0])}
    options = {"dt": 0.001, "method": "explicit_euler", "save": 100, "watch": watch}
    with pytest.raises(KeyboardInterrupt) as caught:
        pi.integrate(decay, y, n_steps=10_000, out=out, **options)
    sol = caught.value.solution
    assert same_bits(sol.watched["y"], sol.final[..., 0])
    assert np.all(sol.watched["y.time"] == 0.001 * sol.n_steps)


@pytest.mark.parametrize("before", [0, 300])
@pytest.mark.parametrize("lanes", [3, 256])
def test_ctrl_c_without_memory_for_spare_sums_leaves_those_of_before(monkeypatch, before, lanes):
    monkeypatch.setattr(run_memory, "SPARE_BYTES", 0)
    first = run(states(pi.systems.lorenz, (lanes,)), before, watch={"top": pi.watch.maximum("x")})
    sol = interrupted(lambda: first.resume(n_steps=FOREVER))
    assert same_bits(sol.watched["top"], first.watched["top"])


def test_a_run_whose_sums_are_lost_is_not_resumed_without_them(monkeypatch):
    monkeypatch.setattr(run_memory, "SPARE_BYTES", 0)
    with pytest.raises(KeyboardInterrupt) as caught:
        run(watch={"top": pi.watch.maximum("x")}, progress=ctrl_c())
    with pytest.raises(ValueError, match="what it watched is lost after step -1: integrate again"):
        caught.value.solution.resume(n_steps=1)


def test_a_run_interrupted_before_its_start_was_seen_is_resumed_with_it(monkeypatch):
    options = {
        "watch": {"n": pi.watch.count(lambda t, y: y[0] < 1e9), "first": pi.watch.first("x")},
        "events": {"held": pi.event(lambda t, y: y[0] < 1e9)},
    }
    with monkeypatch.context() as patched:
        patched.setattr(core.Run, "go", lambda *_: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt) as caught:
            run(n_steps=300, **options)
    whole, rest = run(n_steps=300, **options), caught.value.solution.resume(n_steps=300)
    assert all(same_bits(rest.watched[name], whole.watched[name]) for name in whole.watched)
    assert same_bits(rest.events["held"].t, np.zeros((256, 1)))


@workers
@pytest.mark.parametrize("save", ["final", 10])
def test_an_interrupted_run_can_be_resumed(save, workers):
    with pytest.raises(KeyboardInterrupt) as caught:
        run(n_steps=1_000_000, save=save, workers=workers, progress=ctrl_c())
    first = caught.value.solution
    assert first.n_steps > 0
    assert same_bits(first.resume(n_steps=300).final, run(n_steps=first.n_steps + 300).final)


def test_ctrl_c_reports_the_failures_of_the_part_that_is_left():
    y = states(pi.systems.lorenz, (256,))
    y[3, 1], y[77] = np.nan, 1e200  # its products overflow in the first step
    with pytest.raises(KeyboardInterrupt) as caught:
        run(y, progress=ctrl_c(), on_failure="raise")
    sol = caught.value.solution
    assert np.flatnonzero(sol.status).tolist() == [3, 77]
    assert sol.failed_step[[3, 77]].tolist() == [0, 1]
    assert same_bits(sol.final[77], y[77])


@workers
def test_the_next_run_is_as_good_as_the_first(workers):
    expected = run(n_steps=300).y
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run(workers=workers, progress=ctrl_c())
        assert same_bits(run(n_steps=300).y, expected)


# ---- progress ------------------------------------------------------------------------------------


class Stop(Exception):
    pass


@pytest.mark.parametrize(
    ("n_steps", "save", "workers"), pairs([0, 1, 300, 20_000], ["final", "all", 7], [1, 2])
)
def test_progress_grows_and_ends_at_the_total(n_steps, save, workers):
    calls, threads = [], set()

    def progress(done, total):
        calls.append((done, total))
        threads.add(threading.current_thread())

    run(n_steps=n_steps, save=save, workers=workers, progress=progress)
    done, totals = zip(*calls, strict=True)
    assert list(done) == sorted(set(done))
    assert done[-1] == n_steps
    assert set(totals) == {n_steps}
    assert threads == {threading.main_thread()}


@workers
def test_progress_is_told_again_and_again_and_may_stop_the_run(workers):
    calls = []

    def progress(done, total):
        calls.append(done)
        if len(calls) == 3:
            raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        run(workers=workers, progress=progress)
    assert len(calls) == 3
    assert calls == sorted(set(calls))


def test_an_exception_at_the_last_call_of_progress_is_raised_too():
    def progress(done, total):
        if done == total:
            raise Stop

    with pytest.raises(Stop):
        run(n_steps=3, progress=progress)


def test_progress_may_integrate():
    inner = []

    def progress(done, total):
        inner.append(run(n_steps=200).y)
        raise Stop

    with pytest.raises(Stop):
        run(progress=progress)
    assert same_bits(inner[0], run(n_steps=200).y)


def test_an_empty_batch_has_progress_too():
    calls = []
    run(np.zeros((0, 3)), n_steps=5, progress=lambda *call: calls.append(call))
    assert calls == [(5, 5)]


def test_progress_true_writes_to_stderr_with_and_without_tqdm(capsys, monkeypatch):
    monkeypatch.setattr(tqdm.auto.tqdm, "monitor_interval", 0)  # a thread of its own that stays
    run(n_steps=10, progress=True)
    bar = capsys.readouterr()
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    run(n_steps=10, progress=True)
    line = capsys.readouterr()
    assert "10/10" in bar.err
    assert line.err.endswith("10 of 10 steps\n")
    assert bar.out == line.out == ""


class Full(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, "no space left on device")


@pytest.mark.parametrize("bar", [True, False])
@pytest.mark.parametrize("errors", [None, Full()], ids=["closed", "full"])
def test_a_bar_that_cannot_be_drawn_costs_no_result(capsys, monkeypatch, errors, bar):
    monkeypatch.setattr(tqdm.auto.tqdm, "monitor_interval", 0)
    if not bar:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys, "stderr", errors)
    assert same_bits(run(n_steps=10, progress=True).y, run(n_steps=10).y)
    assert capsys.readouterr().out == ""


def test_an_error_of_ones_own_callable_is_not_lost():
    def refuse(done, total):
        raise OSError("mine")

    with pytest.raises(OSError, match="mine"):
        run(n_steps=10, progress=refuse)


# ---- several at once -----------------------------------------------------------------------------


def test_threads_may_integrate_at_once():
    systems = [pi.systems.lorenz, pi.systems.kepler, pi.systems.pendulum, pi.systems.lotka_volterra]

    def one(system):
        return pi.integrate(system, states(system, (700,)), dt=1e-3, n_steps=500, save=9, workers=2)

    expected = [one(system).y for system in systems]
    found, start = {}, threading.Barrier(len(systems))

    def work(number):
        start.wait()
        found[number] = one(systems[number]).y

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(systems))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(same_bits(found[i], y) for i, y in enumerate(expected))


def test_ctrl_c_stops_the_run_of_the_main_thread_alone():
    found, started = [], threading.Event()

    def background():
        started.set()
        found.append(run(n_steps=5000, progress=lambda done, total: None).y)

    thread = threading.Thread(target=background)
    thread.start()
    started.wait()
    with pytest.raises(KeyboardInterrupt):
        run(progress=ctrl_c())
    thread.join()
    assert same_bits(found[0], run(n_steps=5000).y)


def test_progress_of_another_thread_is_called_there():
    seen = []

    def work():
        run(n_steps=2, progress=lambda done, total: seen.append(_thread.get_ident()))
        seen.append(_thread.get_ident())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(set(seen)) == 1


def test_an_interrupt_would_be_noticed_if_it_lost_a_step():
    with pytest.raises(KeyboardInterrupt) as caught:
        run(progress=ctrl_c())
    sol = caught.value.solution
    assert not same_bits(sol.y, run(n_steps=sol.n_steps - 1).y)
