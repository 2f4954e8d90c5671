"""Whatever comes in the middle of a run, and however often: one end, whole, nobody left at work.

Interrupts come from within: a progress callback, a force, or what puts the solution together.
"""

import signal
import sys
import threading

import numpy as np
import pytest
from reference import states
from reference.threads import threads_left

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.run import output
from pyintegrate.solution.fixed_steps import FixedSolution

FOREVER = 1 << 50
LORENZ = pi.systems.lorenz
workers = pytest.mark.parametrize("workers", [1, 3])


def press():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def _nobody_is_left_at_work():
    before, threads = signal.signal(signal.SIGINT, signal.default_int_handler), threads_left()
    yield
    signal.signal(signal.SIGINT, before)
    assert threads_left(threads) <= 0


def endless(**options):
    options = {"dt": 1e-5, "n_steps": FOREVER, "save": "final", **options}
    return pi.integrate(LORENZ, states(LORENZ, (4000,)), **options)


# ---- storms of interrupts ------------------------------------------------------------------------


class Storm:
    """An interrupt every so many seconds, wherever that is, as long as the call is under way."""

    def __init__(self, seconds):
        self.seconds, self.sent = seconds, 0

    def handle(self, number, frame):
        while frame and frame.f_code is not endless.__code__:
            frame = frame.f_back
        if frame:
            self.sent += 1
            raise KeyboardInterrupt

    def begin(self, done=1, total=0):
        """A progress callable; the first state is looked at by then."""
        if done and not self.sent:
            signal.setitimer(signal.ITIMER_REAL, 1e-4, self.seconds)

    def __enter__(self):
        # An interrupt in a destructor is printed and lost, which is Python's way; others follow it.
        self.told, sys.unraisablehook = sys.unraisablehook, bool
        self.before = signal.signal(signal.SIGALRM, self.handle)
        return self

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        sys.unraisablehook = self.told


@workers
@pytest.mark.parametrize("out", ["memory", "blocks"])
def test_a_storm_of_interrupts_is_one_interrupt_with_a_right_solution(workers, out):
    options = {}
    if out == "blocks":
        memory = np.moveaxis(np.empty((3, 20_001, 4000), np.float32).T, 0, 1)
        options = {"n_steps": 200_000, "save": 10, "out": memory, "dtype": np.float32}
    for tries in range(5):
        with Storm(3e-4 * (1 + tries)) as storm:
            try:
                endless(progress=storm.begin, workers=workers, bound=50.0, on_failure="ignore",
                        **options)  # fmt: skip
            except KeyboardInterrupt as interrupt:
                caught = interrupt
        assert storm.sent
        sol = caught.solution
        assert 0 < sol.n_steps < FOREVER
        if out == "memory":
            whole = endless(n_steps=sol.n_steps, bound=50.0, on_failure="ignore")
            assert sol.final.tobytes() == whole.final.tobytes()
            assert sol.status.tobytes() == whole.status.tobytes()
        else:
            assert sol.steps[-1] == sol.n_steps


def test_an_interrupt_before_the_first_step_has_a_solution_of_none(monkeypatch):
    original, pressed = output.begin, []

    def begin(*arguments):
        if not pressed:
            pressed.append(1)
            press()
        return original(*arguments)

    monkeypatch.setattr(output, "begin", begin)
    with pytest.raises(KeyboardInterrupt) as caught:
        endless()
    assert caught.value.solution.steps.tolist() == [0]
    assert np.all(caught.value.solution.final == states(LORENZ, (4000,)))


def test_an_interrupt_after_the_last_step_has_the_whole_solution(monkeypatch):
    original, pressed = FixedSolution.__init__, []

    def once(*arguments):
        if not pressed:
            pressed.append(1)
            press()
        original(*arguments)

    monkeypatch.setattr(FixedSolution, "__init__", once)
    with pytest.raises(KeyboardInterrupt) as caught:
        endless(n_steps=300)
    assert caught.value.solution.n_steps == 300
    assert caught.value.solution.final.tobytes() == endless(n_steps=300).final.tobytes()


# ---- exceptions from anywhere --------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError,
                                   ZeroDivisionError])  # fmt: skip
@pytest.mark.parametrize("where", ["progress", "force of the caller", "force of a helper"])
def test_any_exception_from_any_callback_ends_the_run(where, error):
    main, under_way = threading.main_thread(), []

    @pi.rhs(dim=1, trace=False)
    def decay(t, y):
        here = "caller" if threading.current_thread() is main else "helper"
        if under_way and where.endswith(here):
            raise error
        return -y

    def progress(done, total):
        under_way.append(done)
        if where == "progress":
            raise error

    with pytest.raises(error):
        pi.integrate(decay, np.ones((200, 1)), dt=1e-6, n_steps=FOREVER, save="final", workers=2,
                     progress=progress)  # fmt: skip


# ---- threads -------------------------------------------------------------------------------------


def test_where_no_thread_is_to_be_had_there_are_fewer_workers():
    """A stack larger than the address space: no thread starts."""
    expected = endless(n_steps=2000).final
    before = threading.stack_size(1 << 46)
    try:
        with pytest.raises(RuntimeError):
            threading.Thread(target=press).start()
        found = endless(n_steps=2000, workers=3).final
    finally:
        threading.stack_size(before)
    assert found.tobytes() == expected.tobytes()


def test_workers_with_small_stacks_are_as_good():
    try:
        before = threading.stack_size(64 << 10)
    except ValueError:  # the least for ARM
        before = threading.stack_size(128 << 10)
    try:
        found = endless(n_steps=2000, workers=3).final
        with pytest.raises(KeyboardInterrupt) as caught:
            endless(workers=3, progress=lambda done, total: press())
    finally:
        threading.stack_size(before)
    assert found.tobytes() == endless(n_steps=2000).final.tobytes()
    assert hasattr(caught.value, "solution")


# ---- the raw run ---------------------------------------------------------------------------------


def raw(n_steps=FOREVER, workers=1, **more):
    """A run of the core, of 64 lanes, of which some fail."""
    y = np.ones((3, 64))
    y[:, 5] = np.nan
    return _core.Run(
        system="lorenz", method=pi.methods["rk4"].handle, bits=64, lanes=64, n_steps=n_steps,
        save_every=FOREVER, bound=np.inf, workers=workers, t0=0.0, dt=1e-4,
        params=(10.0, 28.0, 2.0), initial=y, state_a=np.empty((3, 64)), state_b=np.empty((3, 64)),
        **more,
    )  # fmt: skip


@pytest.mark.parametrize("what", ["work", "outcome"])
def test_a_run_at_work_answers_nobody(what):
    """Neither its own progress callable nor another thread."""
    run, told = raw(), []

    def ask():
        with pytest.raises(RuntimeError, match="another thread is at work on this run"):
            getattr(run, what)()
        told.append(what)

    def progress(steps):
        ask()
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.work(progress)
    assert told == [what, what]
    assert run.outcome()[2] == 1


def test_a_force_that_works_on_its_own_run_is_refused():
    run = []

    def force(question, lanes, t, y, v, p, out):
        run[0].work()

    handle = _core.make_callback(force, 0, 1, 0, 0, 8)
    run.append(_core.Run(
        system=handle, method=pi.methods["rk4"].handle, bits=64, lanes=8, n_steps=5, save_every=5,
        bound=np.inf, workers=1, t0=0.0, dt=0.1, params=(), initial=np.ones((1, 8)),
        state_a=np.empty((1, 8)), state_b=np.empty((1, 8)),
    ))  # fmt: skip
    with pytest.raises(RuntimeError, match="another thread is at work"):
        run[0].work()


def test_failures_are_written_where_they_are_asked_for():
    status, failed = np.zeros(64, np.int8), np.full(64, -7)
    raw(n_steps=3, status=status, failed=failed).work()
    assert np.flatnonzero(status).tolist() == [5]
    assert (status[5], failed[5]) == (pi.Status.NOT_FINITE, 0)


@pytest.mark.parametrize("helpers", [-1, 3, 2**40])
def test_helpers_are_fewer_than_workers(helpers):
    with pytest.raises(ValueError, match="helpers is"):
        raw(workers=3).work(None, helpers)


# ---- memory that is written to -------------------------------------------------------------------


@pytest.mark.parametrize("whole", [True, False])
def test_memory_that_is_written_to_does_not_move(whole):
    """numpy.ndarray.resize does not know who has a pointer to the memory, but of references."""
    memory = np.empty((201, 4000, 3))
    out, refused = memory if whole else memory[:], []

    def progress(done, total):
        with pytest.raises(ValueError, match="cannot resize"):
            memory.resize((1, 1, 1), refcheck=False)
        refused.append(done)

    endless(n_steps=2000, save=10, out=out, progress=progress)
    assert refused
    expected = endless(n_steps=2000, save=10).y
    assert memory.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("strides", [(8, 8, 8), (16, 8, 40), (0, 24, 8), (72, 24, 4), (-72, 24, -8),
                                     (24, 112, 16)])  # fmt: skip
def test_an_array_that_may_overlap_itself_is_refused(strides):
    memory = np.zeros(500)
    out = np.lib.stride_tricks.as_strided(memory[200:], (4, 5, 3), strides)
    with pytest.raises(ValueError, match="out overlaps itself"):
        pi.integrate(LORENZ, np.ones((5, 3)), dt=0.01, n_steps=3, out=out)


@pytest.mark.parametrize("strides", [(120, 24, 8), (8, 32, 160), (-120, 24, -8)])
def test_an_array_of_any_strides_that_nest_is_not(strides):
    memory = np.zeros(500)
    out = np.lib.stride_tricks.as_strided(memory[200:], (4, 5, 3), strides)
    expected = pi.integrate(LORENZ, np.ones((5, 3)), dt=0.01, n_steps=3)
    pi.integrate(LORENZ, np.ones((5, 3)), dt=0.01, n_steps=3, out=out)
    assert out.tobytes() == np.ascontiguousarray(expected.y).tobytes()
