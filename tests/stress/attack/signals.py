"""Storms of interrupts on runs, solves and Steppers: each call ends with one of them.

    python tests/stress/attack/signals.py [seconds] [seed]

An interrupt comes every 0.3 to 5 ms from a random moment on, wherever the call is: in C, in a force
or a progress callable of Python, while threads start and end, while a solution is put together.
Each call must end with one KeyboardInterrupt, whose solution has the bits of an undisturbed run
of as many steps (of `solve`: in all trajectories that have arrived), what was watched included; a
Stepper must be at one step, and go on to the same bits; no thread may be left.
"""

import os
import random
import signal
import sys
import time
from collections import Counter

import numpy as np

import pyintegrate as pi

FOREVER = 1 << 50


@pi.rhs(dim=2, trace=False)
def slow_oscillator(t, y):
    for _ in range(20):
        dydt = np.stack([y[1], -y[0]])
    return dydt


LONG = pi.rhs(dim=1)(lambda t, y: sum(np.sin(y * k) for k in range(1, 40)))
SYSTEMS = {
    "registers": (pi.systems.lorenz, 3000, ["rk4", "tsitouras54", "dop853"]),
    "one lane": (pi.systems.lorenz, 1, ["rk4"]),
    "rows": (pi.systems.pendulum, 900, ["gauss4", "adams_bashforth4", "kvaerno43"]),
    "byte code": (LONG, 500, ["rk4", "adams_bashforth_moulton4"]),
    "bodies": (pi.systems.n_body(n=120, masses=np.ones(120)), 9, ["rk4", "velocity_verlet"]),
    "python": (slow_oscillator, 200, ["rk4", "gauss4"]),
}


class Storm:
    """Interrupts while `call` runs; the rest of this script is left alone."""

    def __init__(self):
        self.sent, self.due, self.latencies = 0, 0.0, []
        signal.signal(signal.SIGALRM, self.handle)

    def handle(self, number, frame):
        while frame and frame.f_code is not call.__code__:
            frame = frame.f_back
        if frame:
            self.sent += 1
            raise KeyboardInterrupt

    def on(self, delay, interval):
        self.sent, self.due = 0, time.monotonic() + delay
        signal.setitimer(signal.ITIMER_REAL, delay, interval)

    def over(self):
        """A call was ended by an interrupt, some time after the first was sent."""
        self.latencies.append(time.monotonic() - self.due)
        self.off()

    def off(self):
        signal.setitimer(signal.ITIMER_REAL, 0)


def call(function, *arguments, **options):
    """All that a storm disturbs."""
    return function(*arguments, **options)


def start_of(rng, system, lanes):
    """Some lanes fail at once, some later."""
    y = np.random.default_rng(rng.randrange(1 << 30)).uniform(0.5, 2, (lanes, system.dim))
    if lanes > 10:
        y[rng.randrange(lanes)] = np.nan
        y[rng.randrange(lanes)] *= 1e3
    return y


def attack_run(rng, storm):
    name = rng.choice(sorted(SYSTEMS))
    system, lanes, methods = SYSTEMS[name]
    y = start_of(rng, system, lanes)
    fixed = {"dt": 1e-5, "method": rng.choice(methods), "bound": rng.choice([None, 50.0]),
             "on_failure": "ignore"}  # fmt: skip
    options, every = {"workers": rng.choice([1, 2, 3])}, 1
    if name not in ("bodies", "python") and rng.random() < 0.3:
        fixed["watch"] = {"top": pi.watch.maximum(system.state_names[0])}
    saves = rng.choice(["final", "final", "record", "blocks"])
    if saves == "final":
        options |= {"save": "final", "n_steps": FOREVER}
    else:
        every, count = (
            rng.choice([1, 10, 300]),
            max(3, min(20_000_000 // (lanes * system.dim), 5000)),
        )
        options |= {"save": every, "n_steps": every * (count - 1)}
        if saves == "blocks":
            out = np.empty((system.dim, lanes, count))
            options["out"] = np.moveaxis(out, -1, 0).swapaxes(1, 2)[:, ::-1]
    begun = []

    def progress(done, total):
        if not begun:
            begun.append(done)
            storm.on(rng.uniform(1e-4, 0.05), rng.uniform(3e-4, 5e-3))

    try:
        call(pi.integrate, system, y, **fixed, **options, progress=progress)
    except KeyboardInterrupt as interrupt:
        storm.over()
        sol = interrupt.solution
    else:
        storm.off()
        return f"{name} {saves}: over before"
    whole = pi.integrate(system, y, **fixed, n_steps=sol.n_steps, save="final")
    assert sol.final.tobytes() == whole.final.tobytes(), (name, saves, sol.n_steps)
    assert sol.status.tobytes() == whole.status.tobytes(), (name, saves, sol.n_steps)
    if "watch" in fixed:
        name += " watched"
        assert sol.watched["top"].tobytes() == whole.watched["top"].tobytes(), (name, sol.n_steps)
    assert 0 <= sol.n_steps - sol.steps[-1] < every, (name, saves, sol.n_steps, sol.steps[-1])
    return f"{name} {saves}"


def attack_solve(rng, storm):
    """Some arrive soon, the others late or never."""
    name = rng.choice(["registers", "rows", "byte code", "python"])
    system, lanes, _ = SYSTEMS[name]
    lanes = rng.choice([lanes, 40])
    y = start_of(rng, system, lanes)
    t_end = np.where(np.arange(lanes) % 2, 0.02, 1e9)
    fixed = {"method": rng.choice(["auto", "tsitouras54", "radau_iia5"]), "max_steps": 1 << 30,
             "on_failure": "ignore", "save": rng.choice(["final", "final", "all"])}  # fmt: skip
    options = {"workers": rng.choice([1, 2, 3])}
    begun = []

    def progress(done, total):
        if not begun:
            begun.append(done)
            storm.on(rng.uniform(1e-4, 0.05), rng.uniform(3e-4, 5e-3))

    try:
        call(pi.solve, system, y, t_end=t_end, **fixed, **options, progress=progress)
    except KeyboardInterrupt as interrupt:
        storm.over()
        sol = interrupt.solution
    else:
        storm.off()
        return f"solve {name}: over before"
    there = np.flatnonzero(sol.status == pi.Status.OK)[:5]
    if len(there):
        whole = pi.solve(system, y[there], t_end=t_end[there], **fixed)
        assert sol.final[there].tobytes() == whole.final.tobytes(), (name, there)
        assert sol.steps_taken[there].tobytes() == whole.steps_taken.tobytes(), (name, there)
    return f"solve {name}"


def attack_stepper(rng, storm):
    name = rng.choice(sorted(SYSTEMS))
    system, lanes, methods = SYSTEMS[name]
    y, method = start_of(rng, system, lanes), rng.choice(methods)
    fixed = {"dt": 1e-5, "bound": rng.choice([None, 50.0]), "method": method}
    stepper = pi.Stepper(system, y, **fixed)
    for _ in range(2):
        storm.on(rng.uniform(1e-4, 0.1), rng.uniform(3e-4, 5e-3))
        try:
            call(stepper.step, FOREVER)
        except KeyboardInterrupt:
            storm.over()
        n = stepper.n
        whole = pi.integrate(system, y, **fixed, n_steps=n, save="final", on_failure="ignore")
        assert stepper.y.tobytes() == whole.final.tobytes(), (name, n)
        assert stepper.failed_step.tobytes() == whole.failed_step.tobytes(), (name, n)
    return f"stepper {name}"


def main(seconds, seed):
    """Attack for so many seconds; the counts by kind."""
    counts, storm, case = Counter(), Storm(), 0
    end, threads = time.monotonic() + seconds, len(os.listdir("/proc/self/task"))
    while time.monotonic() < end:
        case += 1
        rng = random.Random(f"{seed}:{case}")
        try:
            attack = rng.choice([attack_run, attack_run, attack_stepper, attack_solve])
            counts[attack(rng, storm)] += 1
            for _ in range(2000):  # those that have just ended are given a moment
                if len(os.listdir("/proc/self/task")) <= threads:
                    break
                time.sleep(0.001)
            assert len(os.listdir("/proc/self/task")) <= threads, "a thread is left"
        except BaseException:
            storm.off()
            print(f"attack by signals: case {seed}:{case}")
            raise
    print(f"attack by signals, seed {seed}: {case} cases: {dict(sorted(counts.items()))}")
    if storm.latencies:
        middle, late, last = np.quantile(storm.latencies, [0.5, 0.99, 1])
        print(f"  {len(storm.latencies)} interrupted calls ended after {middle:.3f} s,"
              f" 99 % of them within {late:.3f} s, all within {last:.3f} s")  # fmt: skip
    return counts


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(60, 1)[len(given) :])
