"""Whatever ends a step of a Stepper, all trajectories are at one step, which `n` names, and
stepping goes on to the same bits."""

import signal
import threading

import numpy as np
import pytest
from reference import states

import pyintegrate as pi
from pyintegrate.method.arithmetic import ARITHMETIC
from pyintegrate.run.stepper import Snapshot, kind_of, meaning_of

LORENZ = pi.systems.lorenz
FOREVER = 1 << 50


class Stop(Exception):
    pass


@pytest.fixture
def alarm():
    """Call with seconds: SIGALRM is an interrupt then."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def same_as_a_run(stepper, y, method, **options):
    """The state after n steps is that of integrate, of every trajectory."""
    n = stepper.n
    whole = pi.integrate(stepper.system, y, dt=1e-5, n_steps=n, method=method, save="final",
                         on_failure="ignore", **options)  # fmt: skip
    assert stepper.y.tobytes() == np.ascontiguousarray(whole.final).tobytes()
    assert stepper.status.tobytes() == whole.status.tobytes()
    assert stepper.failed_step.tobytes() == whole.failed_step.tobytes()
    return n


@pytest.mark.parametrize("method", ["rk4", "adams_bashforth4", "gauss4"])
@pytest.mark.parametrize("bound", [None, 30.0])
def test_an_interrupt_leaves_all_trajectories_at_one_step(method, bound, alarm):
    y = states(LORENZ, (20_000,)) * 3
    stepper = pi.Stepper(LORENZ, y, dt=1e-5, method=method, bound=bound)
    last = 0
    for _ in range(2):
        alarm(0.1)
        with pytest.raises(KeyboardInterrupt):
            stepper.step(FOREVER)
        last, before = same_as_a_run(stepper, y, method, bound=bound), last
        assert last >= before
    assert stepper.t == stepper.n * 1e-5
    stepper.step(3)
    assert same_as_a_run(stepper, y, method, bound=bound) == last + 3


def calling(when):
    """A force of Python that raises in its call number `when`, once."""
    calls = []

    def count():
        calls.append(1)
        if len(calls) == when[0]:
            raise Stop

    @pi.acceleration(trace=False)
    def spring(t, x, v):
        count()
        return -x

    return spring, calls


@pytest.mark.parametrize("later", [1, 2, 5, 50, 90])
@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "gauss4", "adams_bashforth3"])
def test_a_force_that_raises_leaves_all_trajectories_at_one_step(later, method):
    when = [-1]
    system, calls = calling(when)
    x = np.linspace(1, 2, 6_000)  # some tiles
    stepper = pi.Stepper(system, x, 0.0, dt=1e-5, method=method)
    stepper.step(2)
    when[0] = len(calls) + later
    with pytest.raises(Stop):
        stepper.step(100)
    n = stepper.n
    assert 2 <= n < 102
    whole = pi.integrate(system, x, 0.0, dt=1e-5, n_steps=102, method=method)
    assert stepper.x.tobytes() == np.ascontiguousarray(whole.x[n]).tobytes()
    stepper.step(102 - n)
    assert stepper.x.tobytes() == np.ascontiguousarray(whole.x[-1]).tobytes()
    assert stepper.v.tobytes() == np.ascontiguousarray(whole.v[-1]).tobytes()


@pytest.mark.parametrize("half", ["kick", "drift"])
def test_a_kick_that_raises_has_not_begun(half):
    when = [-1]
    system, calls = calling(when)
    stepper = pi.Stepper(system, np.ones(50_000), 1.0, dt=0.1)  # some tiles, a call for each
    before = stepper.y.tobytes()
    if half == "drift":
        stepper.kick()
        stepper.drift()
        assert stepper.n == 1
        return
    when[0] = len(calls) + 2
    with pytest.raises(Stop):
        stepper.kick()
    assert (stepper.y.tobytes(), stepper.n) == (before, 0)


def test_a_trajectory_that_fails_in_a_block_that_is_undone_has_not_failed():
    """A multistep method makes many steps of a slow force in a block."""
    calls, when = [], [-1]

    @pi.rhs(dim=1, trace=False)
    def growing(t, y):
        calls.append(1)
        if len(calls) == when[0]:
            raise Stop
        return y * 1.0

    y = np.linspace(1, 9.995, 5000)[:, np.newaxis]
    options = {"dt": 1e-3, "method": "adams_bashforth2", "start": "explicit_euler", "bound": 10.0}
    once = pi.Stepper(growing, y, **options)
    before = len(calls)
    once.step(20)
    assert {1, 11} <= set(once.failed_step)
    when[0] = len(calls) + (len(calls) - before) * 19 // 20
    stepper = pi.Stepper(growing, y, **options)
    with pytest.raises(Stop):
        stepper.step(20)
    assert stepper.n == 0
    assert np.all(stepper.failed_step == -1)
    assert stepper.y.tobytes() == y.tobytes()
    stepper.step(20)
    assert stepper.y.tobytes() == once.y.tobytes()
    assert stepper.failed_step.tobytes() == once.failed_step.tobytes()


# ---- one thing at a time -------------------------------------------------------------------------


def meanwhile(question):
    """Asks from within a step, in its thread and in another; what it raises is returned."""
    told, asking = [], []

    def ask():
        try:
            question(stepper)
        except RuntimeError as error:
            told.append(str(error))

    @pi.rhs(dim=1, trace=False)
    def decay(t, y):
        if asking:
            asking.pop()
            ask()
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
        return -y

    stepper = pi.Stepper(decay, np.ones((5, 1)), dt=0.1, method="rk4")
    asking.append(1)
    stepper.step(3)
    assert stepper.n == 3
    return told


@pytest.mark.parametrize(
    "question",
    [
        lambda s: s.step(), lambda s: s.reset(), lambda s: s.reset([True] * 5, np.zeros((5, 1))),
        lambda s: s.snapshot(), lambda s: s.status, lambda s: s._core.begin(7, False),
        lambda s: s._core.alter(lambda: None),
    ],
    ids=["step", "reset", "reset to", "snapshot", "status", "begin", "alter"],
)  # fmt: skip
def test_a_stepper_at_work_is_left_alone(question):
    told = meanwhile(question)
    assert len(told) == 2
    assert all("at work" in words for words in told)


def test_a_stepper_at_work_is_not_restored():
    kept = []

    def restore(stepper):
        before = stepper.y.tobytes()
        snapshot = Snapshot.__new__(Snapshot)
        vars(snapshot).update(
            kind=kind_of(stepper), n=0, has_history=False, arithmetic=ARITHMETIC,
            method=stepper.method, times=(stepper.dt, stepper.t0), meaning=meaning_of(stepper),
            equations=(stepper.system.traced, stepper.system.shapes),
            arrays=[np.zeros_like(array) for array in stepper._arrays()],
        )  # fmt: skip
        try:
            stepper.restore(snapshot)
        finally:
            kept.append(stepper.y.tobytes() == before)

    assert len(meanwhile(restore)) == 2
    assert kept == [True, True]


def test_an_interrupted_restore_restores_all(monkeypatch):
    stepper = pi.Stepper(LORENZ, states(LORENZ, (50,)), dt=0.01, method="rk4")
    start = stepper.snapshot()
    before = stepper.y.tobytes()
    stepper.step(9)
    original, pressed = type(start).__getattribute__, []

    def press(self, name):
        if name == "has_history" and not pressed:
            pressed.append(name)
            raise KeyboardInterrupt
        return original(self, name)

    monkeypatch.setattr(type(start), "__getattribute__", press, raising=False)
    with pytest.raises(KeyboardInterrupt):
        stepper.restore(start)
    assert pressed
    assert (stepper.n, stepper.y.tobytes()) == (0, before)


# ---- how far it counts ---------------------------------------------------------------------------


def test_a_stepper_counts_to_a_limit_and_not_beyond():
    stepper = pi.Stepper(LORENZ, dt=0.01, method="rk4")
    with pytest.raises(ValueError, match=r"expected 0 to 2\*\*54"):
        stepper._core.begin(2**63 - 2, False)
    stepper._core.begin(2**54 - 1, False)
    stepper.step()
    assert stepper.n == 2**54
    before = stepper.y.tobytes()
    with pytest.raises(ValueError, match=r"a Stepper counts to 2\*\*54"):
        stepper.step()
    assert (stepper.n, stepper.y.tobytes()) == (2**54, before)
    stepper.step(0)
