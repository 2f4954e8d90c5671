"""Raw arguments for the C core, mutated at random: it may refuse them, and never crash.

    python tests/stress/fuzz.py [seconds] [seed] [calls at most]

Under AddressSanitizer and UndefinedBehaviorSanitizer in `make fuzz`. A case makes right arguments
once, and then some forty calls with them, each with other ones replaced or bent (bending.py):
tables of coefficients go through make_method and are then integrated with; Run, Stepper,
evaluate; calls that the package itself has made (recorded.py), with watches, events, tolerances and
byte code, also deep inside and in what arrays hold. What a call makes is used, with bent arguments
again. Every call of the core is counted. The calls are made in a child process (child.py): should
it crash, `python tests/stress/fuzz.py 0 seed:number` repeats the case.
"""

import gc
import itertools
import sys
import time
from collections import Counter

import child
import numpy as np
import recorded
from bending import (
    HANDLES,
    SYSTEMS,
    Chance,
    arrays_of,
    bent_fields,
    bent_inside,
    number,
    numbers,
    pick,
    some_bent,
)  # fmt: skip
from families import CLOSED, FAMILIES

from pyintegrate import _core
from pyintegrate.values.memory import aligned, padded

OPEN = {name: numbers for name, numbers in FAMILIES.items() if name not in CLOSED}
EXPECTED = (TypeError, ValueError, OverflowError, MemoryError, IndexError, BufferError)
WORK = 200_000  # components times steps that a run may take
BENDS = 40  # calls of a case, besides those of what they make
FLAT = 1 << 20, 20_000  # bytes and blocks that a million calls and more may take
COUNTS: Counter = Counter()  # calls of the core: (name, outcome)


def attempt(name, function, *arguments, **keywords):
    """A call of the core: its result, or None."""
    try:
        made = function(*arguments, **keywords)
    except EXPECTED as error:
        COUNTS[name, type(error).__name__] += 1
        return None
    COUNTS[name, "answered"] += 1
    return made


def method(rng):
    """A handle, of the catalogue or from a random table."""
    made = None
    if rng.random() < 0.6:
        made = attempt("make_method", _core.make_method, *some_bent(rng, table(rng)))
    return made or pick(rng, HANDLES)


def table(rng):
    """Arguments of make_method."""
    family, stages = pick(rng, [*OPEN]), pick(rng, [1, 2, 3, 5, 20])
    widths = []
    for row in OPEN[family]:
        width = 0 if row["optional"] and rng.random() < 0.5 else stages + row["more"]
        widths += [width] * (stages if row["matrix"] else 1)
    rows = tuple(numbers(rng, width) for width in widths)
    return family, stages, rng.integers(stages + 1), rows, pick(rng, [1, 2])


def methods(rng):
    arguments = table(rng)
    for _ in range(BENDS):
        these = bent_inside(rng, arguments, [None]) if rng.random() < 0.5 else arguments
        if isinstance(these, tuple):
            attempt("make_method", _core.make_method, *some_bent(rng, these))


def history_rows(*arguments):
    return attempt("history_rows", _core.history_rows, *arguments) or 0


def drive(rng, params, stride):
    """Fields of Run that may be left out."""
    strides = None
    if rng.random() < 0.3:
        strides = tuple(pick(rng, [0, 0, 1, stride]) for _ in params)
    return {
        "starter": pick(rng, [None, None, pick(rng, HANDLES)]),
        "has_history": pick(rng, [False, False, True]),
        "use_row_kernels": pick(rng, [False, True]),
        "drive_strides": strides,
    }


def failed(rng, lanes):
    """Fields of trajectories that have failed before."""
    status = rng.arrays.integers(-128, 127, lanes) * (rng.arrays.random(lanes) < 0.1)
    return {"status": status.astype(np.int8), "failed": rng.arrays.integers(0, 99, lanes)}


def steppers(rng):
    system = SYSTEMS[pick(rng, list(SYSTEMS))]
    bits, lanes, scheme = pick(rng, [64, 32]), rng.integers(1, 60), method(rng)
    dtype = np.dtype(f"f{bits // 8}")
    compensated = pick(rng, [False, True])
    rows = system["dim"] + history_rows(system["name"], scheme, compensated)
    state = aligned((rows, padded(lanes, dtype)), dtype)
    state[...] = rng.arrays.normal(size=state.shape)
    fields = {
        "system": system["name"], "bits": bits, "lanes": lanes, "bound": pick(rng, [np.inf, 5.0]),
        "t0": 0.0, "dt": 0.01, "state": state,
        "params": tuple(np.full(state.shape[1], number(rng), dtype) for _ in system["params"]),
        "compensated": compensated,
        "methods": pick(rng, [(scheme,), (scheme,) * 3, tuple(method(rng) for _ in range(3))]),
        "starter": pick(rng, [None, None, pick(rng, HANDLES)]), **failed(rng, lanes),
    }  # fmt: skip
    for _ in range(BENDS):
        made = attempt("Stepper", _core.Stepper, **bent_fields(rng, fields))
        if made:
            use_stepper(rng, made)


def use_stepper(rng, made):
    for _ in range(rng.integers(20)):
        what = pick(rng, ["step", "step", "kick", "drift", "begin", "look"])
        steps = pick(rng, [0, 1, 3, 20, -1, -(2**63), "1", None])
        right = {
            "step": (steps,), "begin": (rng.integers(5), bool(rng.integers(2))),
            "look": (rng.integers(9),),
        }.get(what, ())  # fmt: skip
        arguments = right if what == "step" else some_bent(rng, right)
        attempt(f"stepper.{what}", getattr(made, what), *arguments)


def renormalised(rng, dim, stride):
    """Tangents that are renormalised: any components serve. Only a run without record takes it."""
    if rng.random() < 0.7:
        return None
    vectors = rng.integers(1, dim + 1)
    size, indicators = rng.integers(1, dim // vectors + 1), rng.integers(2)
    return {
        "every": rng.integers(1, 30), "vectors": vectors, "dim": size,
        "orthogonal": rng.integers(2), "indicators": indicators,
        "places": rng.arrays.integers(0, dim, (vectors, size)),
        "sums": np.zeros((vectors + 3 * indicators, stride)),
    }  # fmt: skip


def starts(rng):
    system = SYSTEMS[pick(rng, list(SYSTEMS))]
    bits, lanes = pick(rng, [64, 32]), rng.integers(200)
    dtype, dim = np.dtype(f"f{bits // 8}"), system["dim"]
    stride, n_steps, save = padded(lanes, dtype), rng.integers(40), rng.integers(1, 50)
    room = pick(rng, [stride, lanes])
    saves = 1 - (-n_steps // save)

    scheme = method(rng)
    compensated = pick(rng, [False, True])
    past = history_rows(system["name"], scheme, compensated)

    def states():
        out = aligned((dim + past, stride), dtype)
        out[...] = rng.arrays.normal(size=out.shape)
        return out

    def row():
        return np.full(pick(rng, [1, stride]) or 1, number(rng), dtype)

    params = tuple(row() for _ in system["params"])
    fields = {
        "system": system["name"], "method": scheme, "bits": bits, "lanes": lanes,
        "first": rng.integers(100), "n_steps": n_steps, "save_every": save,
        "bound": pick(rng, [np.inf, np.inf, 5.0]), "workers": pick(rng, [1, 1, 2, 3]),
        "t0": row(), "dt": row(), "params": params, "initial": states(), "state_a": states(),
        "state_b": states(), "record": pick(rng, [None, aligned((saves, dim, room), dtype)]),
        "compensated": compensated, "saved": tuple(range(dim)), "stream": rng.integers(2),
        **failed(rng, lanes),
        **drive(rng, params, stride), "renormalise": renormalised(rng, dim, stride),
    }  # fmt: skip
    for _ in range(BENDS):
        these = bent_fields(rng, fields)
        if isinstance(these.get("renormalise"), dict) and rng.random() < 0.5:
            these["renormalise"] = bent_inside(rng, these["renormalise"], [None])
        if rng.random() < 0.2:  # one buffer for both, as for large states
            these["state_b"] = these.get("state_a")
        run = attempt("Run", _core.Run, **these)
        if run:
            use(rng, run, these["lanes"], these["n_steps"], dim)


def enough(done):
    """A progress callable: it is called after 50 ms."""
    raise OverflowError("this takes too long")


def use(rng, run, lanes, n_steps, dim):
    """Methods of a run, with good and bad arguments; most of what would not end is not begun."""
    endless = lanes * n_steps * dim > WORK and rng.random() < 0.98
    known = ["work", "work"] * (not endless) + ["outcome"]
    for _ in range(rng.integers(12)):
        what = pick(rng, known)
        arguments = ()
        if what == "work":
            arguments = pick(rng, [(enough,), (enough, rng.integers(4)), (enough, -1)])
        attempt(f"run.{what}", getattr(run, what), *arguments)


def evaluate(rng):
    system = SYSTEMS[pick(rng, list(SYSTEMS))]
    bits, lanes, question = pick(rng, [64, 32]), rng.integers(100), rng.integers(5)
    dtype, dim = np.dtype(f"f{bits // 8}"), system["dim"]
    answers = (dim, system["dof"], 1, len(system["invariants"]), dim * dim)[question]

    def row():
        return np.full(pick(rng, [1, lanes]) or 1, 0.5, dtype)

    out = np.zeros((answers, lanes), dtype)
    arguments = (system["name"], bits, question, lanes, row(), tuple(row() for _ in range(dim)),
                 tuple(row() for _ in system["params"]), out)  # fmt: skip
    for _ in range(BENDS):
        attempt("evaluate", _core.evaluate, *some_bent(rng, arguments))


def work_adaptively(rng, run, lanes, components):
    """Methods of a batch that goes to a tolerance."""
    for _ in range(rng.integers(12)):
        what = pick(rng, ["work", "gather", "gather", "count", "count"])
        counts = np.full(lanes, pick(rng, [0, 0, 1, -1, -(2**63)]), np.int64)
        arguments, method = (), "gather"
        if what == "work":
            arguments, method = (enough, rng.integers(-1, 4)), "work"
        elif what == "count":
            arguments = some_bent(rng, (counts,))
        else:
            n, numbers = attempt("adaptive.count", run.gather, counts) or (0, components)
            record = np.zeros((n, numbers, lanes))
            arrays = bent_inside(rng, (counts, record), [counts, record])
            whole = isinstance(arrays, tuple) and rng.random() < 0.7
            arguments = arrays if whole else (counts, record)
        attempt(f"adaptive.{what}", getattr(run, method), *arguments)


CALLS = recorded.calls()
OTHERS = {
    "scales": ("lorenz",), "rigid_phases": (HANDLES[0],),
    "history_rows": ("lorenz", HANDLES[0], True), "method": ("rk4",), "make_system": ("n_body", 3),
}  # fmt: skip


def of_the_package(rng):
    """A call that the package has made, bent, and what one does with its result."""
    name, arguments, keywords = recorded.copied(pick(rng, CALLS))
    right = (arguments, keywords) if arguments and keywords else (arguments or keywords,)
    arrays = arrays_of(right) or [None]
    for _ in range(BENDS):
        parts = right
        for _ in range(pick(rng, [0, 1, 1, 1, 1, 2, 2, 3])):
            parts = tuple(bent_inside(rng, part, arrays) for part in parts)
        arguments = next((part for part in parts if isinstance(part, tuple)), ())
        keywords = next((part for part in parts if isinstance(part, dict)), {})
        made = attempt(name, getattr(_core, name), *arguments, **keywords)
        if made:
            go_on(rng, name, made, arguments, keywords)


def go_on(rng, name, made, arguments, keywords):
    """Use what a call has made of these arguments."""
    if name == "Run":
        use(rng, made, keywords["lanes"], keywords["n_steps"], 1)
    elif name == "Stepper":
        use_stepper(rng, made)
    elif name == "AdaptiveRun":
        saved = keywords.get("saved")
        work_adaptively(rng, made, keywords["lanes"], len(saved) if isinstance(saved, tuple) else 2)
    elif name == "make_program":
        out, one = np.zeros((99, 1)), np.ones(1)
        dim, n_params = arguments[3], arguments[5]
        question = rng.integers(5)
        if dim * dim + n_params < 99:
            attempt("evaluate", _core.evaluate, made, 64, question, 1, one, (one,) * dim,
                    (one,) * n_params, out)  # fmt: skip


def others(rng):
    """The small functions."""
    for _ in range(BENDS):
        name = pick(rng, list(OTHERS))
        attempt(name, getattr(_core, name), *some_bent(rng, OTHERS[name]))


KINDS = [starts, starts, evaluate, steppers, methods, *[of_the_package] * 4, others]


def one_case(seed, case):
    rng = Chance(f"{seed}:{case}")
    rng.arrays = np.random.default_rng([seed, case])
    with np.errstate(all="ignore"):
        pick(rng, KINDS)(rng)


def main(seconds, seed, first, most, note):
    """Call for so many seconds, at most so often."""
    end, threads = time.monotonic() + seconds, child.threads()
    before, held, calls, told = child.resident(), child.held(), 0, 0
    for case in itertools.count(first):
        note(seed, case)
        one_case(seed, case)
        calls = COUNTS.total()
        if case - first == 2_000:
            before, held = child.resident(), child.held()
        if calls > told + 1e6:
            told = calls
            print(f"{calls} calls, {child.resident() / 1e6:.1f} MB", flush=True)
        if time.monotonic() > end or calls >= most:
            break
    gc.collect()
    grown = [now - then for now, then in zip(child.held(), held, strict=True)]
    outcomes, answered = Counter(), Counter()
    for (name, outcome), n in COUNTS.items():
        outcomes[outcome] += n
        answered[name] += n * (outcome == "answered")
    print(
        f"hostile calls, seed {seed}: {case + 1 - first} cases of {calls} calls:", _list(outcomes)
    )
    print("  answered:", _list(answered))
    print(f"  memory: {before / 1e6:.1f} MB resident at first, {child.resident() / 1e6:.1f} MB in"
          f" the end, {grown[0]} bytes and {grown[1]} blocks more held;"
          f" {child.threads() - threads} threads left")  # fmt: skip
    assert child.threads() == threads
    assert calls < 1e6 or (grown[0] <= FLAT[0] and grown[1] <= FLAT[1]), "memory has grown"


def _list(counts):
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()) if n)


if __name__ == "__main__":
    seconds, seed, most = (*sys.argv[1:], *("60", "1", "inf")[len(sys.argv) - 1 :])
    seed, _, case = seed.partition(":")
    guard = child.guarded("hostile calls")
    main(float(seconds), int(seed), int(case or 0), float(most), guard)
