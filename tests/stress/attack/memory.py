"""Memory, threads and locks that are refused, one after the other, in every kind of call.

    python tests/stress/attack/memory.py [seconds] [seed]

For the core of `make sanitize`, in which refusals.c stands before malloc and its like. A random
call is made once, which tells how often the core asks; then again for each request, with that one
refused, or all from that one on. It must give the same bits or raise MemoryError; a Stepper must
be at one step and go on to the same bits; no thread may be left, and the next call must be right.
Then calls of the core itself, for which the allocators of Python refuse (where it has _testcapi).
"""

import contextlib
import ctypes
import os
import random
import sys
import time
import warnings
from collections import Counter

import numpy as np

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.values.memory import aligned

try:
    import _testcapi
except ImportError:
    _testcapi = None

ALL = 1 << 62
MOST = 400  # requests of a call that are refused, of thousands


@pi.acceleration(k=2.0, m=3.0)
def traced(t, x, v, k, m):
    return -k / m * np.sin(x) - np.where(x > t, v, x) * m


@pi.rhs(dim=1, trace=False)
def called(t, y):
    return y * y


SYSTEMS = {
    "registers": (pi.systems.lorenz, ["rk4", "dormand_prince54"]),
    "rows": (pi.systems.pendulum, ["gauss4", "adams_bashforth4", "kvaerno43", "velocity_verlet"]),
    "byte code": (traced, ["rk4", "bdf2", "forest_ruth4"]),
    "bodies": (pi.systems.n_body(n=3), ["rk4", "gauss4"]),
    "python": (called, ["rk4", "adams_bashforth2"]),
}


def refuse(first, last):
    """Requests that the core makes from now on; how many there were."""
    return ctypes.CDLL(_core.__file__).pi_refuse(ctypes.c_longlong(first), ctypes.c_longlong(last))


def threads():
    """Those of this process; those that have just ended are given a moment."""
    for _ in range(2000):
        here = len(os.listdir("/proc/self/task"))
        if here <= THREADS:
            break
        time.sleep(0.001)
    return here


def problem(rng):
    """A system, states of which some fail, a method, and options."""
    name = rng.choice(sorted(SYSTEMS))
    system, methods = SYSTEMS[name]
    lanes = rng.choice([1, 5, 70, 3000])
    generator = np.random.default_rng(rng.randrange(1 << 30))
    y = np.ones((lanes, system.dim)) * generator.uniform(0.9, 1.1, (lanes, 1))
    if name == "bodies":
        y = y * system.initial if system.initial is not None else generator.normal(size=y.shape)
    for _ in range(rng.choice([0, 1, 3])):  # at once, or after some steps
        y[rng.randrange(lanes)] *= rng.choice([np.nan, 1e150, 1e306])
    options = {"dt": 0.01, "method": rng.choice(methods), "bound": rng.choice([None, 1e3])}
    if rng.random() < 0.3:
        y = y.astype(np.float32)
    return name, system, y, options


def attack_run(rng):
    name, system, y, options = problem(rng)
    steps = rng.choice([1, 7, 40])
    options |= {"n_steps": steps, "save": rng.choice(["final", "all", 3]), "on_failure": "ignore",
                "workers": rng.choice([1, 3])}  # fmt: skip
    numbers = [k for k, v in system.params.items() if np.ndim(v) == 0]
    if numbers and rng.random() < 0.3:
        options["drive"] = {numbers[0]: np.full(steps, system.params[numbers[0]])}
    if name in ("registers", "rows", "byte code"):
        first = system.state_names[0]
        if rng.random() < 0.3:
            options["watch"] = {"high": pi.watch.maximum(first), "mean": pi.watch.mean(first)}
        one_step = pi.methods[options["method"]].family != "multistep"
        if rng.random() < 0.3 and "drive" not in options and one_step:
            options["events"] = {"crossing": pi.event(first, stop=rng.random() < 0.5)}

    def call():
        sol = pi.integrate(system, y, **options)
        watched = [value.tobytes() for value in sol.watched.values()] if "watch" in options else []
        return sol.y.tobytes(), sol.status.tobytes(), sol.failed_step.tobytes(), watched

    each_refused(rng, call)
    return f"run {name}"


def attack_solve(rng):
    name, system, y, options = problem(rng)
    y, method = y[:40], rng.choice(["auto", "dormand_prince54", "radau_iia5", "kvaerno43"])
    options = {"method": method, "t_end": 0.05, "save": rng.choice(["final", "all"]),
               "bound": options["bound"], "max_steps": 60, "workers": rng.choice([1, 3]),
               "on_failure": "ignore"}  # fmt: skip
    if name in ("registers", "rows", "byte code"):
        first = system.state_names[0]
        if rng.random() < 0.3:
            options["watch"] = {"high": pi.watch.maximum(first)}
        if rng.random() < 0.3:
            options["events"] = {"crossing": pi.event(first, stop=rng.random() < 0.5)}

    def call():
        sol = pi.solve(system, y, **options)
        high = [sol.watched["high"].tobytes()] if "watch" in options else []
        return sol.y.tobytes(), sol.status.tobytes(), sol.steps_taken.tobytes(), high

    each_refused(rng, call)
    return f"solve {name}"


def attack_question(rng):
    name, system, y, _ = problem(rng)
    questions = [lambda: system.rhs(0.0, y)]
    if name != "python":
        questions += [lambda: system.jacobian(0.0, y), lambda: system.energy(y)]
    question = rng.choice(questions)

    def call():
        answer = question()
        return b"" if answer is None else answer.tobytes()

    each_refused(rng, call)
    return f"question {name}"


def attack_definition(rng):
    def call():
        own = pi.acceleration(k=1.0)(lambda t, x, v, k: -k * np.sin(x) + np.cos(t) * v)
        method = pi.RungeKutta([[0, 0], [0.5, 0]], [0, 1])
        sol = pi.integrate(own, 1.0, 0.0, dt=0.1, n_steps=3, method=method, save="final")
        return sol.y.tobytes()

    each_refused(rng, call)
    return "definition"


def attack_stepper(rng):
    """Wherever memory ends, all trajectories are at one step, and step on to the bits of a run."""
    name, system, y, options = problem(rng)
    n = rng.choice([1, 3, 30])
    if pi.Stepper(system, y, **options).snapshot().arrays[0].nbytes > 8192:
        options["bound"] = 1e3  # of several tiles: those that fail without memory are found later
    whole = pi.integrate(system, y, **options, n_steps=2 * n, save="all", on_failure="ignore")
    steppers = []

    def make():
        steppers.append(pi.Stepper(system, y, **options))

    def step():
        steppers[-1].step(n)

    def same(stepper):
        got, expected = stepper.y, whole.y[stepper.n]
        return got.tobytes() == np.ascontiguousarray(expected).tobytes() and np.array_equal(
            stepper.failed_step, np.where(whole.failed_step <= stepper.n, whole.failed_step, -1)
        )

    refuse(-1, -1)
    make()
    step()
    for number in chosen(rng, refuse(-1, -1)):
        for last in (number + 1, ALL):
            refuse(number, last)
            with contextlib.suppress(MemoryError):
                make()
                with contextlib.suppress(MemoryError):
                    step()
            refuse(-1, -1)
            stepper = steppers[-1]
            assert stepper.n in (0, n), stepper.n
            assert same(stepper), f"request {number} to {last}: at step {stepper.n}"
            stepper.step(2 * n - stepper.n)
            assert same(stepper), f"request {number} to {last}: further on"
            make()
    return f"stepper {name}"


def chosen(rng, count):
    return range(count) if count <= MOST else sorted(rng.sample(range(count), MOST))


def each_refused(rng, call):
    refuse(-1, -1)
    expected = call()
    for number in chosen(rng, refuse(-1, -1)):
        for last in (number + 1, ALL):
            refuse(number, last)
            try:
                got = call()
            except MemoryError:
                got = expected
            refuse(-1, -1)
            assert got == expected, f"request {number} to {last}: other bits"
            assert threads() <= THREADS, f"request {number} to {last}: a thread is left"
        assert call() == expected, f"after request {number}"


# ---- the allocators of Python --------------------------------------------------------------------
def core_calls():
    """Calls of the core, by name; what they need is made before. Without threads: one that has no
    memory for its state ends the interpreter (PyGILState_Ensure)."""
    rk4, program = pi.methods["rk4"].handle, traced.traced.program()
    rows = [aligned((3, 8), np.float64) for _ in range(3)]
    for row in rows:
        row[...] = 1.0
    rows[0][0, 3] = np.nan
    fields = {"system": "lorenz", "bits": 64, "lanes": 8, "bound": np.inf, "t0": 0.0, "dt": 1e-3,
              "params": (10.0, 28.0, 8 / 3)}  # fmt: skip
    of_run = {**fields, "method": rk4, "n_steps": 5, "save_every": 5, "workers": 2,
              "initial": rows[0], "state_a": rows[1], "state_b": rows[2]}  # fmt: skip
    of_stepper = {**fields, "methods": (rk4,), "state": rows[1]}
    one, out = np.ones(1), np.zeros((3, 1))
    run, stepper = _core.Run(**of_run), _core.Stepper(**of_stepper)
    run.work()
    code = (program.code, program.constants, program.sections, *program.sizes)
    table = ((0.0, 1.0), (0.5, 0.5), (0.0, 0.0), (1.0, 0.0))

    return {
        "info": _core.info, "method": lambda: _core.method("rk4"),
        "make_system": lambda: _core.make_system("n_body", 3),
        "make_method": lambda: _core.make_method("explicit_rk", 2, 2, table, 1),
        "make_program": lambda: _core.make_program(*code),
        "make_callback": lambda: _core.make_callback(len, 0, 2, 1, 0, 0),
        "evaluate": lambda: _core.evaluate("lorenz", 64, 0, 1, one, (one,) * 3, (one,) * 3, out),
        "start": lambda: _core.Run(**of_run), "stepper": lambda: _core.Stepper(**of_stepper),
        "work": lambda: _core.Run(**of_run).work(), "outcome": run.outcome,
        "step": lambda: stepper.step(3), "begin": lambda: stepper.begin(2, False),
    }  # fmt: skip


def attack_python(call):
    """A request refused, and all from that one on, until there are none that far: each of the first
    fifty, and fewer and fewer of thousands."""
    call()
    number, answered = 0, 0
    while answered < 2:
        answered = 0
        for last in (number + 1, 0):  # 0: all
            _testcapi.set_nomemory(number, last)
            try:
                call()
                answered += 1
            except MemoryError:
                pass
            finally:
                _testcapi.remove_mem_hooks()
        number += 1 + number // 50
    return number


def main(seconds, seed):
    """Attack for so many seconds; the counts by kind."""
    counts, case = Counter(), 0
    end = time.monotonic() + seconds
    if _testcapi:
        for call in core_calls().values():
            counts["requests to Python"] += attack_python(call)
    while time.monotonic() < end or not case:
        case += 1
        rng = random.Random(f"{seed}:{case}")
        attack = rng.choice([attack_run, attack_run, attack_solve, attack_question,
                             attack_stepper, attack_definition])  # fmt: skip
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                counts[attack(rng)] += 1
        except BaseException:
            refuse(-1, -1)
            print(f"attack by refusals: case {seed}:{case}")
            raise
    print(f"attack by refusals, seed {seed}: {case} cases: {dict(sorted(counts.items()))}")
    return counts


THREADS = len(os.listdir("/proc/self/task"))
if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(60, 1)[len(given) :])
