"""Storms of interrupts on runs, solves and Steppers: each call ends with one of them.

    python tests/stress/attack/signals.py [seconds] [seed] [interrupted calls at most]

An interrupt comes every 0.3 to 5 ms from a random moment on, wherever the call is: in C, in a force
or a progress callable of Python, while threads start and end, while a solution is put together.
Each call must end with one KeyboardInterrupt, whose solution has the bits of an undisturbed run
of as many steps (of `solve`: in all trajectories that have arrived), what was watched included; a
Stepper must be at one step, and go on to the same bits; no thread may be left.

Printed are the times from the first interrupt to the exception, as quantiles, for all calls and for
each family. A call looks for interrupts every 50 ms: the mean is at least half of that, and a busy
machine adds to it. What does not depend on the machine is how long the thread computes from the
moment at which it has looked to the exception.
"""

import os
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import child

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
        self.seen, self.due, self.times = None, 0.0, []
        signal.signal(signal.SIGALRM, self.handle)

    def handle(self, number, frame):
        while frame and frame.f_code is not call.__code__:
            frame = frame.f_back
        if frame:
            self.seen = self.seen or (time.monotonic(), time.thread_time())
            raise KeyboardInterrupt

    def on(self, delay, interval):
        self.seen, self.due = None, time.monotonic() + delay
        signal.setitimer(signal.ITIMER_REAL, delay, interval)

    def over(self):
        """A call was ended by an interrupt: how long after the first was sent, how much of that
        until the call looked, and how long the thread computed from there on."""
        now, computed = time.monotonic(), time.thread_time()
        self.off()
        seen, before = self.seen
        self.times.append((now - self.due, seen - self.due, computed - before))

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


def some_of(rng, y):
    """Numbers of trajectories, few of many, for the bits do not depend on the others."""
    if len(y) <= 20 or rng.random() < 0.05:
        return slice(None)
    finite = np.isfinite(y).all(axis=1) & (abs(y) < 100).all(axis=1)
    return np.union1d(np.flatnonzero(~finite), rng.sample(range(len(y)), 9))


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
    some = some_of(rng, y)
    whole = pi.integrate(system, y[some], **fixed, n_steps=sol.n_steps, save="final")
    assert sol.final[some].tobytes() == whole.final.tobytes(), (name, saves, sol.n_steps)
    assert sol.status[some].tobytes() == whole.status.tobytes(), (name, saves, sol.n_steps)
    if "watch" in fixed:
        name += " watched"
        top = sol.watched["top"][some]
        assert top.tobytes() == whole.watched["top"].tobytes(), (name, sol.n_steps)
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
        n, some = stepper.n, some_of(rng, y)
        whole = pi.integrate(system, y[some], **fixed, n_steps=n, save="final", on_failure="ignore")
        assert stepper.y[some].tobytes() == whole.final.tobytes(), (name, n)
        assert stepper.failed_step[some].tobytes() == whole.failed_step.tobytes(), (name, n)
    return f"stepper {name}"


def left(threads):
    """Threads left: at once, and when those that have just ended had a moment to vanish."""
    at_once = child.threads() - threads
    for _ in range(2000):
        if child.threads() <= threads:
            return at_once, 0
        time.sleep(0.001)
    return at_once, child.threads() - threads


def main(seconds, seed, first, most, note):
    """Attack for so many seconds, with so many interrupted calls at most."""
    counts, storm, case, times = Counter(), Storm(), first, defaultdict(list)
    begun, threads, before, ending = time.monotonic(), child.threads(), child.resident(), 0
    end = begun + seconds
    while time.monotonic() < end and len(storm.times) < most:
        rng, n = random.Random(f"{seed}:{case}"), len(storm.times)
        note(seed, case)
        try:
            attack = rng.choice([attack_run, attack_run, attack_stepper, attack_solve])
            counts[name := attack(rng, storm)] += 1
            at_once, later = left(threads)
            ending += at_once > 0
            assert not later, "a thread is left"
        except BaseException:
            storm.off()
            print(f"attack by signals: case {seed}:{case}")
            raise
        family = " ".join(word for word in name.split() if word in ("solve", "stepper")) or "run"
        system = next(word for word in [*SYSTEMS, "record"] if word in name)
        times[f"{family}, {system}"] += storm.times[n:]
        case += 1
    print(f"attack by signals, seed {seed}: {case - first} cases: {dict(sorted(counts.items()))}")
    load, took = " ".join(f"{n:.1f}" for n in os.getloadavg()), time.monotonic() - begun
    memory = [f"{size / 1e6:.0f} MB" for size in (before, child.resident())]
    print(f"  {took:.0f} s, load {load}, nice {os.nice(0)}; memory {' and then '.join(memory)}")
    if storm.times:
        at_once = f"in {ending} of {case - first} cases one was about to end"
        print(f"  {len(storm.times)} interrupted calls; 0 threads left, {at_once}")
        report("all", storm.times)
        for family, these in sorted(times.items()):
            report(family, these)


def report(family, times):
    """Quantiles."""
    if not times:
        return
    parts = np.quantile(times, [0.5, 0.99, 1], axis=0).T * 1e3
    words = ["to the exception", "until it looked", "computing since then"]
    told = (
        f"{word} {q[0]:.1f} {q[1]:.1f} {q[2]:.1f}" for word, q in zip(words, parts, strict=True)
    )
    print(f"    {family} ({len(times)}), median, 99 % and most in ms: {'; '.join(told)}")


if __name__ == "__main__":
    seconds, seed, most = (*sys.argv[1:], *("60", "1", "inf")[len(sys.argv) - 1 :])
    seed, _, case = seed.partition(":")
    guard = child.guarded("attack by signals")
    main(float(seconds), int(seed), int(case or 0), float(most), guard)
