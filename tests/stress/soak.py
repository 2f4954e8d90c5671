"""A long run of random calls, right and wrong: no crash, no leak, and right answers.

    python tests/stress/soak.py [calls] [seed]

Every call is made of random parts; some parts are hostile. A call may give an answer or raise one
of the exceptions that the contract names. Now and then the answer of a right call is compared with
the NumPy twin of its method. Resident memory must stay flat. What fails or crashes prints its seed
and number (child.py);
`python tests/stress/soak.py 1 seed:number` repeats it.
"""

import contextlib
import gc
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import child
import reference
import soak_worlds
from hostile import HOSTILE, Hostile, hostile, pick

import pyintegrate as pi

SYSTEMS, METHODS = list(pi.systems.values()), list(pi.methods.values())
COMPARED = 100  # one of this many right calls is compared with the twin
FLAT = 4 << 20  # bytes that resident memory may grow by after the first tenth


COMPARISONS: list[int] = []  # trajectories in each


# AttributeError: x and v of a first-order system; KeyError: a component that it has not.
EXPECTED = (
    TypeError,
    ValueError,
    MemoryError,
    KeyError,
    AttributeError,
    pi.IntegrationError,
    Hostile,
)


def right(rng):
    """The arguments of a call that has an answer."""
    system = pick(rng, SYSTEMS)
    method = pick(rng, [m for m in METHODS if reference.fits(m, system)])
    shape = pick(rng, [(), (1,), (3,), (9,), (2, 5), (0,), (70,), (1, 3, 1)])
    dtype = pick(rng, [np.float64, np.float32])
    y = reference.states(system, shape, dtype, int(rng.integers(1000)))
    options = {
        "dt": float(rng.uniform(1e-4, 1e-2)) * pick(rng, [1, 1, -1]),
        "n_steps": int(rng.integers(0, 20)),
        "t0": float(rng.normal()),
        "method": method,
        "save": pick(rng, ["all", "final", 1, 3, 100]),
        "on_failure": pick(rng, ["ignore", "warn", "raise"]),
        "workers": pick(rng, [1, 1, 2]),
        "bound": pick(rng, [None, None, 1e3, 1e-3]),
        "compensated": method.requires not in ("rigid_body", "n_body")
        and pick(rng, [False, False, True]),
    }
    if rng.random() < 0.2 and system.params:
        system = reference.with_factors(system, rng.uniform(0.5, 2, pick(rng, [(), shape])))
    if rng.random() < 0.1 and y.size:
        y.reshape(-1)[int(rng.integers(y.size))] = pick(rng, [np.nan, np.inf, 1e30])
    if rng.random() < 0.1:
        options["components"] = [pick(rng, system.state_names)]
    return system, y, options


def compare(system, y, options, sol):
    """The final states, where the trajectory is well, with the readable twin."""
    method = options["method"]
    if method.family not in reference.TWINS or "components" in options or not y.size:
        return
    h, dtype = options["dt"], y.dtype.type
    if system.name == "rigid_body":  # runs begin with attitudes of length 1
        y = y.copy()
        y[..., 3:7] /= np.linalg.norm(y[..., 3:7], axis=-1, keepdims=True)
    # The twins of implicit methods substitute, which converges for all trajectories or for none.
    with np.errstate(all="ignore"), contextlib.suppress(ArithmeticError):
        twin = reference.integrate(method, system, y, dtype(options["t0"]), dtype(h), sol.n_steps)
        check_close(sol, twin, dtype)


def check_close(sol, twin, dtype):
    good = sol.status == 0
    # Rounding of 20 steps of some 50 operations, and slopes of up to 1e3 that amplify it.
    close = 1e6 * np.finfo(dtype).eps * (1 + abs(twin))
    assert np.all(abs(sol.final - twin)[good] <= close[good]), "the twin disagrees"
    COMPARISONS.append(good.sum())


def integrate(rng, count):
    system, y, options = right(rng)
    arguments = [y]
    wrong = rng.random() < 0.5
    if wrong:
        for _ in range(int(rng.integers(1, 3))):
            place = pick(rng, ["system", "x0", "v0", "n_steps", "t_end", *options, "out", "dtype",
                               "progress", "components", "extra", "parameter"])  # fmt: skip
            value = hostile(rng, HOSTILE)
            if place == "system":
                system = value
            elif place == "parameter" and isinstance(system, pi.System) and system.params:
                system = system(**{pick(rng, [*system.params]): value})
            elif place == "x0":
                arguments[0] = value
            elif place == "v0":
                arguments[1:] = [value]
            elif place == "n_steps" and isinstance(value, int | np.integer) and value > 0:
                continue  # a right call, which would never end
            else:
                options[place] = value
    if wrong and options.get("progress") not in (None, False, True):
        options["progress"] = False if callable(options["progress"]) else options["progress"]
    try:
        sol = pi.integrate(system, *arguments, **options)
    except pi.IntegrationError as error:
        sol = error.solution
    if not wrong and count % COMPARED == 0:
        compare(system, y, options, sol)
    ask(rng, sol)


def ask(rng, sol):
    """A question to a solution."""
    question = pick(rng, ["energy_error", "exact", "at", "resume", "failures", "repr", "x", "name",
                          "valid", "nothing", "nothing"])  # fmt: skip
    if question == "at":
        sol.at(hostile(rng) if rng.random() < 0.5 else sol.t[-1].min())
    elif question == "resume":
        sol.resume(n_steps=3 if rng.random() < 0.9 else pick(rng, [None, -1, 1.5, "3", 10**30]))
    elif question == "repr":
        repr(sol), sol._repr_html_()
    elif question == "name":
        sol[hostile(rng) if rng.random() < 0.5 else sol.components[0]]
    elif question in ("x", "valid"):
        getattr(sol, question)
    elif question != "nothing":
        getattr(sol, question)()


def system(rng, count):
    one = pick(rng, SYSTEMS)
    if rng.random() < 0.5:
        name = pick(rng, [*one.params, "nothing"]) if one.params else "nothing"
        one = one(**{name: hostile(rng)})
    y = hostile(rng) if rng.random() < 0.5 else reference.states(one, (4,))
    t = hostile(rng) if rng.random() < 0.3 else 0.5
    pick(rng, [
        lambda: one.rhs(t, y), lambda: one.energy(y, t), lambda: one.jacobian(t, y),
        lambda: one.invariants(y, t), lambda: one.exact(t, y), lambda: one.phase(y, t),
        lambda: one.period(y), lambda: one.acceleration(t, y, y), lambda: repr(one),
        lambda: one == pi.systems.spring, lambda: hash(one), lambda: pi.systems[one.name],
    ])()  # fmt: skip


def method(rng, count):
    if rng.random() < 0.3:
        pi.methods[hostile(rng)]
        return
    n = int(rng.integers(1, 5))
    A, b = np.tril(rng.normal(size=(n, n)), -1), rng.normal(size=n)
    b /= b.sum()
    parts = [A, b, A.sum(axis=1)]
    if rng.random() < 0.5:
        parts[int(rng.integers(3))] = hostile(rng)
    if rng.random() < 0.5:
        one = pi.RungeKutta(*parts, order=1)
    else:
        sequence = [(pick(rng, ["kick", "drift"]), float(w)) for w in rng.normal(size=n)]
        sequence += [("kick", 1 - sum(w for k, w in sequence if k == "kick")),
                     ("drift", 1 - sum(w for k, w in sequence if k == "drift"))]  # fmt: skip
        one = pi.Composition(hostile(rng) if rng.random() < 0.3 else sequence, order=1)
    pi.integrate(pi.systems.pendulum, dt=0.01, n_steps=3, method=one)


def storage(rng, count):
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        path = os.path.join(folder, "a.npz")
        one, y, options = right(rng)
        sol = pi.integrate(one, y, **{**options, "on_failure": "ignore"})
        sol.save(path)
        if rng.random() < 0.5:
            content = np.fromfile(path, np.uint8)
            content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
            content.tofile(path)
            pi.load(path)
            return
        again = pi.load(path)
        assert again.y.tobytes() == sol.y.tobytes(), "what was loaded differs"


FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
KINDS = [integrate] * 12 + [system] * 6 + [method] * 2 + soak_worlds.KINDS
RARE = storage  # one call in 200


def one_call(seed, number):
    rng = np.random.default_rng([seed, number])
    kind = RARE if rng.random() < 1 / 200 else pick(rng, KINDS)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            kind(rng, number)
    except EXPECTED as error:
        return type(error).__name__
    except BaseException:
        print(f"\nfailed: python tests/stress/soak.py 1 {seed}:{number}", flush=True)
        raise
    return "an answer"


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(calls, seed, first, note):
    outcomes, start, memory = {}, time.time(), []
    for number in range(first, first + calls):
        note(seed, number)
        outcome = one_call(seed, number)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if (number - first + 1) % max(calls // 20, 1) == 0:
            memory.append(resident())
            print(f"{number - first + 1} calls, {time.time() - start:.0f} s,"
                  f" {memory[-1] / 1e6:.1f} MB resident", flush=True)  # fmt: skip
    print(", ".join(f"{k}: {n}" for k, n in sorted(outcomes.items())))
    print(f"{len(COMPARISONS)} calls, {sum(COMPARISONS)} trajectories compared with the twin")
    if calls >= 20_000:
        grown = max(memory[-3:]) - max(memory[1:4])
        print(f"resident memory grew by {grown / 1e6:.2f} MB (at most {FLAT / 1e6:.1f})")
        assert grown <= FLAT


if __name__ == "__main__":
    seed, _, number = (sys.argv[2] if len(sys.argv) > 2 else "1").partition(":")
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    main(calls, int(seed), int(number or 0), child.guarded("soak"))
