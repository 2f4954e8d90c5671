"""Ctrl-C where Python is at work: within a force, a second time, while stepping by hand, and in the
kernel of a notebook. Nothing here depends on the speed of the machine: the runs have no end.
"""

import signal
import threading

import numpy as np
import pytest
from reference import states
from reference.threads import threads_left

import pyintegrate as pi
from pyintegrate.run import core
from pyintegrate.solution.fixed_steps import FixedSolution

jupyter_client = pytest.importorskip("jupyter_client")

FOREVER = 1 << 50
workers = pytest.mark.parametrize("workers", [1, 2])


def press():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def _handler():
    before, threads = signal.signal(signal.SIGINT, signal.default_int_handler), threads_left()
    yield
    signal.signal(signal.SIGINT, before)
    assert threads_left(threads) <= 0  # none is left behind, and none hangs


def endless(**options):
    y = states(pi.systems.lorenz, (4000,))
    return pi.integrate(pi.systems.lorenz, y, dt=1e-5, n_steps=FOREVER, save="final", **options)


@workers
def test_ctrl_c_within_a_force(workers):
    main, calls, lock = threading.main_thread(), [], threading.Lock()

    @pi.rhs(dim=1, trace=False)
    def decay(t, y):
        with lock:
            calls.append(1)
            now = len(calls) == 40  # once, in whatever thread that is
        if now and threading.current_thread() is main:
            press()
        elif now:
            threading.Thread(target=press).start()
        return -y

    with pytest.raises(KeyboardInterrupt) as caught:
        pi.integrate(decay, np.ones((100, 1)), dt=1e-6, n_steps=FOREVER, save="final",
                     workers=workers)  # fmt: skip
    sol = caught.value.solution
    again = pi.integrate(decay, np.ones((100, 1)), dt=1e-6, n_steps=sol.n_steps, save="final")
    assert sol.final.tobytes() == again.final.tobytes()


@workers
def test_a_second_ctrl_c_while_the_first_is_handled(workers, monkeypatch):
    """A second and a third, while what was done is put together: one interrupt, whole."""
    pressed = []

    def progress(done, total):
        pressed.append("once")
        press()

    def again(original):
        def wound_down(*arguments):
            pressed.append("again")
            press()
            return original(*arguments)

        return wound_down

    monkeypatch.setattr(FixedSolution, "__init__", again(FixedSolution.__init__))
    monkeypatch.setattr(core.Run, "rows", again(core.Run.rows))
    with pytest.raises(KeyboardInterrupt) as caught:
        endless(progress=progress, workers=workers)
    assert pressed == ["once", "again", "again"]
    assert caught.value.solution.n_steps > 0


def test_a_second_ctrl_c_after_the_first_is_caught():
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            endless(progress=lambda done, total: press())


def test_ctrl_c_stops_a_long_step_by_hand():
    y = states(pi.systems.lorenz, (4000,))
    stepper = pi.Stepper(pi.systems.lorenz, y, dt=1e-5, method="rk4")
    hand = threading.Timer(0.2, press)
    hand.start()
    with pytest.raises(KeyboardInterrupt):
        stepper.step(1 << 50)
    hand.join()
    stepper.step()  # it is not busy for ever


def test_the_kernel_of_a_notebook_is_interrupted_and_goes_on():
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3")
    try:
        request = client.execute(
            "import pyintegrate as pi\n"
            "def progress(done, total):\n"
            "    if done: print('under way', flush=True)\n"
            f"pi.integrate(pi.systems.spring, dt=1e-5, n_steps={FOREVER}, save='final',\n"
            "             progress=progress)",
            stop_on_error=False,  # or what comes next is dropped with it
        )
        message = {"content": {}}
        while "under way" not in message["content"].get("text", ""):
            message = client.get_iopub_msg(timeout=120)
        manager.interrupt_kernel()
        reply = {"parent_header": {}}  # others may be on their way
        while reply["parent_header"].get("msg_id") != request:
            reply = client.get_shell_msg(timeout=120)
        reply = reply["content"]
        assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt")
        text = "assert pi.integrate(pi.systems.spring, dt=0.1, n_steps=9).n_steps == 9"
        reply = client.execute(text, reply=True, timeout=120)["content"]
        assert reply["status"] == "ok", reply
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
