"""Several threads, processes and pools at once: the same bits, and nothing hangs.

What is compared is the record of the same run made alone.
"""

import concurrent.futures as futures
import multiprocessing
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from reference import states

import pyintegrate as pi

SYSTEMS = [pi.systems[name] for name in ("lorenz", "kepler", "pendulum", "lotka_volterra")]


def one(number, workers=2):
    """One of several different runs, as bytes."""
    system = SYSTEMS[number % len(SYSTEMS)]
    dtype = (np.float64, np.float32)[number % 2]
    y = states(system, (300 + 7 * number,), dtype)
    y[5] = np.nan
    sol = pi.integrate(
        system, y, dt=1e-3, n_steps=300, save=9, workers=workers, on_failure="ignore"
    )
    return sol.y.tobytes() + sol.status.tobytes()


def pool(number):
    """Threads in a process."""
    with futures.ThreadPoolExecutor(2) as threads:
        return list(threads.map(one, [number, number + 1]))


def test_many_threads_with_workers_of_their_own():
    expected = [one(i, workers=1) for i in range(8)]
    start, found = threading.Barrier(8), {}

    def work(i):
        start.wait()
        found[i] = [one(i) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[i] == [expected[i]] * 3 for i in range(8))


def test_threads_may_share_a_solution():
    sol = pi.integrate(pi.systems.pendulum, states(pi.systems.pendulum, (50,)), dt=0.01, n_steps=50)
    expected = (sol.energy_error().tobytes(), sol.resume(n_steps=70).y.tobytes())

    def ask(_):
        return sol.energy_error().tobytes(), sol.resume(n_steps=70).y.tobytes()

    with futures.ThreadPoolExecutor(4) as threads:
        assert set(threads.map(ask, range(40))) == {expected}


def test_an_out_array_may_be_shared_by_threads_that_write_to_its_parts():
    y, out = states(pi.systems.lorenz, (40,)), np.empty((51, 40, 3))
    whole = pi.integrate(pi.systems.lorenz, y, dt=0.01, n_steps=50).y

    def part(a):
        where = slice(a, a + 10)
        pi.integrate(pi.systems.lorenz, y[where], dt=0.01, n_steps=50, out=out[:, where])

    with futures.ThreadPoolExecutor(4) as threads:
        list(threads.map(part, [0, 10, 20, 30]))
    assert out.tobytes() == np.ascontiguousarray(whole).tobytes()


# Of forking a process with threads: Python's warning, and JAX's where a test has imported it.
forks = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", r"ignore:os.fork\(\) was called:RuntimeWarning"
)


@forks
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_with_pools_of_threads_in_them(method):
    context = multiprocessing.get_context(method)
    expected = [pool(i) for i in (0, 2)]  # before the fork: what it leaves must not disturb
    with futures.ProcessPoolExecutor(2, mp_context=context) as processes:
        assert list(processes.map(pool, [0, 2])) == expected


@forks
def test_a_process_forked_in_the_middle_of_a_run_can_integrate():
    children = []

    def progress(done, total):
        if not children and done:
            child = os.fork()
            if not child:
                try:
                    os._exit(0 if one(0) == expected else 1)
                finally:
                    os._exit(2)
            children.append(child)

    expected = one(0)
    y = states(pi.systems.lorenz, (500,))
    options = {"dt": 1e-4, "n_steps": 200_000, "save": "final", "workers": 2}
    pi.integrate(pi.systems.lorenz, y, **options, progress=progress)
    assert len(children) == 1
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0


def test_solutions_systems_and_errors_go_from_process_to_process():
    y = states(pi.systems.spring, (5,))
    y[1] = np.inf
    with futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        sol = process.submit(_solve, y).result()
        assert sol.y.tobytes() == _solve(y).y.tobytes()
        assert sol.resume(n_steps=5).y.tobytes() == _solve(y).resume(n_steps=5).y.tobytes()
        with pytest.raises(ValueError, match="dt must be finite"):
            process.submit(_wrong).result()


def _solve(y):
    return pi.integrate(pi.systems.spring(k=2.0), y, dt=0.1, n_steps=9, on_failure="ignore")


def _wrong():
    pi.integrate(pi.systems.spring, dt=0.0, n_steps=1)


def test_a_process_may_end_while_a_thread_integrates():
    code = """
import threading, pyintegrate as pi
under_way = threading.Event()
for tell in (False, lambda done, total: under_way.set()):
    forever = dict(dt=1e-9, n_steps=1 << 50, save="final", workers=2, progress=tell)
    run = lambda forever=forever: pi.integrate(pi.systems.lorenz, **forever)
    threading.Thread(target=run, daemon=True).start()
under_way.wait()
print("end")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_a_sub_interpreter_is_refused_and_the_main_one_goes_on():
    code = """
import pyintegrate as pi
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
inner = interpreters.create()
try:
    # Since Python 3.13 the exception is returned.
    problem = interpreters.run_string(
        inner, f"import sys; sys.path[:] = {sys.path!r}; import pyintegrate"
    )
except Exception as error:
    problem = error
print(" ImportError" in f" {problem}".replace("'", " "), problem)
interpreters.destroy(inner)
print(pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=10).n_steps)
"""
    code = f"import sys; sys.path[:] = {sys.path!r}\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"True .*\n10\n", done.stdout)
