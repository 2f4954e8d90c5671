"""Raw arguments for the C core, mutated at random: it may refuse them, and never crash.

    python tests/stress/fuzz.py [seconds] [seed]

To be run under AddressSanitizer and UndefinedBehaviorSanitizer (`make fuzz`). Tables of
coefficients go through make_method and are then integrated with; the arguments of start, evaluate
and of the methods of a run begin as right ones, of which some are replaced or bent (bending.py). So
do those of calls that the package itself has made (recorded.py), with watches, events, tolerances
and byte code, also deep inside and in what arrays hold. The number of the case at hand is kept in
build/fuzz.case, from which `python tests/stress/fuzz.py 0 seed:number` repeats it after a crash.
"""

import os
import struct
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import recorded
from bending import (
    HANDLES,
    SYSTEMS,
    arrays_of,
    bent_fields,
    bent_inside,
    number,
    numbers,
    pick,
    some_bent,
)  # fmt: skip

from pyintegrate import _core
from pyintegrate.values.memory import aligned, padded

OPEN = {item["name"]: item["numbers"] for item in _core.families() if not item["closed"]}
EXPECTED = (TypeError, ValueError, OverflowError, MemoryError, IndexError, BufferError)
WORK = 200_000  # components times steps that a case may take


def method(rng):
    """A handle, of the catalogue or from a random table."""
    if rng.random() < 0.4:
        return pick(rng, HANDLES)
    family, stages = pick(rng, [*OPEN]), pick(rng, [1, 2, 3, 5, 20])
    widths = []
    for row in OPEN[family]:
        width = 0 if row["optional"] and rng.random() < 0.5 else stages + row["more"]
        widths += [width] * (stages if row["matrix"] else 1)
    table = tuple(numbers(rng, width) for width in widths)
    arguments = (family, stages, int(rng.integers(stages + 1)), table, pick(rng, [1, 2]))
    return _core.make_method(*some_bent(rng, arguments))


def history_rows(system, scheme, compensated):
    try:
        return _core.history_rows(system["name"], scheme, compensated)
    except EXPECTED:
        return 0


def drive(rng, params, n_steps, stride):
    """Fields of start that may be left out."""
    strides = None
    if rng.random() < 0.3:
        strides = tuple(pick(rng, [0, 0, 1, stride]) for _ in params)
    return {
        "starter": pick(rng, [None, None, pick(rng, HANDLES)]),
        "has_history": pick(rng, [False, False, True]),
        "use_row_kernels": pick(rng, [False, True]),
        "drive_strides": strides,
    }


def stepper(rng):
    system = SYSTEMS[pick(rng, list(SYSTEMS))]
    bits, lanes, scheme = pick(rng, [64, 32]), int(rng.integers(1, 60)), method(rng)
    dtype = np.dtype(f"f{bits // 8}")
    compensated = pick(rng, [False, True])
    rows = system["dim"] + history_rows(system, scheme, compensated)
    state = aligned((rows, padded(lanes, dtype)), dtype)
    state[...] = rng.normal(size=state.shape)
    fields = {
        "system": system["name"], "bits": bits, "lanes": lanes, "bound": pick(rng, [np.inf, 5.0]),
        "t0": 0.0, "dt": 0.01, "state": state,
        "params": tuple(np.full(state.shape[1], number(rng), dtype) for _ in system["params"]),
        "compensated": compensated,
        "methods": pick(rng, [(scheme,), (scheme,) * 3, tuple(method(rng) for _ in range(3))]),
        "starter": pick(rng, [None, None, pick(rng, HANDLES)]),
    }  # fmt: skip
    use_stepper(rng, _core.stepper(**bent_fields(rng, fields)), lanes)


def use_stepper(rng, made, lanes):
    for _ in range(int(rng.integers(0, 8))):
        what = pick(
            rng, ["step", "step", "kick", "drift", "begin", "failures", "clear_failure", "fail",
                  "look"]
        )  # fmt: skip
        lane = int(rng.integers(-1 if rng.random() < 0.1 else 0, lanes + (rng.random() < 0.1)))
        steps = pick(rng, [0, 1, 3, 20, -1, -(2**63), "1", None])
        right = {
            "step": (steps,), "begin": (int(rng.integers(5)), bool(rng.integers(2))),
            "clear_failure": (lane,), "fail": (lane, int(rng.integers(6)), int(rng.integers(99))),
            "look": (int(rng.integers(9)),),
        }.get(what, ())  # fmt: skip
        getattr(made, what)(*(right if what == "step" else some_bent(rng, right)))


def renormalised(rng, dim, stride):
    """Tangents that are renormalised: any components serve. Only a run without record takes it."""
    if rng.random() < 0.7:
        return None
    vectors = int(rng.integers(1, dim + 1))
    size, indicators = int(rng.integers(1, dim // vectors + 1)), int(rng.integers(2))
    fields = {
        "every": int(rng.integers(1, 30)), "vectors": vectors, "dim": size,
        "orthogonal": int(rng.integers(2)), "indicators": indicators,
        "places": rng.integers(0, dim, (vectors, size)),
        "sums": np.zeros((vectors + 3 * indicators, stride)),
    }  # fmt: skip
    return bent_fields(rng, fields)


def start(rng):
    system = SYSTEMS[pick(rng, list(SYSTEMS))]
    bits, lanes = pick(rng, [64, 32]), int(rng.integers(0, 200))
    dtype, dim = np.dtype(f"f{bits // 8}"), system["dim"]
    stride, n_steps, save = padded(lanes, dtype), int(rng.integers(0, 40)), int(rng.integers(1, 50))
    room = pick(rng, [stride, lanes])
    saves = 1 - (-n_steps // save)

    scheme = method(rng)
    compensated = pick(rng, [False, True])
    past = history_rows(system, scheme, compensated)

    def states():
        out = aligned((dim + past, stride), dtype)
        out[...] = rng.normal(size=out.shape)
        return out

    def row():
        return np.full(pick(rng, [1, stride]) or 1, number(rng), dtype)

    with np.errstate(all="ignore"):
        params = tuple(row() for _ in system["params"])
        fields = {
            "system": system["name"], "method": scheme, "bits": bits, "lanes": lanes,
            "first": int(rng.integers(0, 100)), "n_steps": n_steps, "save_every": save,
            "bound": pick(rng, [np.inf, np.inf, 5.0]), "workers": int(rng.integers(1, 4)),
            "t0": row(), "dt": row(), "params": params, "initial": states(), "state_a": states(),
            "state_b": states(), "record": pick(rng, [None, aligned((saves, dim, room), dtype)]),
            "compensated": compensated, "saved": tuple(range(dim)), "stream": int(rng.integers(2)),
            **drive(rng, params, n_steps, stride), "renormalise": renormalised(rng, dim, stride),
        }  # fmt: skip
    fields = bent_fields(rng, fields)
    if rng.random() < 0.2:  # one buffer for both, as for large states
        fields["state_b"] = fields.get("state_a")
    run = _core.start(**fields)
    lanes, n_steps = fields["lanes"], fields["n_steps"]
    finite = int(lanes) * int(n_steps) * dim <= WORK
    for _ in range(int(rng.integers(0, 6))):
        use(rng, run, int(lanes), finite)


def enough(done):
    """A progress callable: it is called after 50 ms."""
    raise OverflowError("this takes too long")


def use(rng, run, lanes, finite):
    """A method of a run, with good or bad arguments."""
    what = pick(rng, ["work", "work", "fail", "failures", "outcome", "cancel"])
    if what == "work":
        if not finite and rng.random() < 0.9:
            run.cancel()
        run.work(*pick(rng, [(enough,), (enough, int(rng.integers(4))), (enough, -1)]))
    elif what in ("fail", "failures"):
        count = run.outcome()[2] if what == "failures" else int(rng.integers(0, 5))
        index = rng.integers(-1 if rng.random() < 0.1 else 0, max(lanes, 1), count)
        arrays = (index, rng.integers(-128, 127, count).astype(np.int8), rng.integers(0, 99, count))
        getattr(run, what)(*some_bent(rng, arrays))
    else:
        getattr(run, what)()


def evaluate(rng):
    system = SYSTEMS[pick(rng, list(SYSTEMS))]
    bits, lanes, question = pick(rng, [64, 32]), int(rng.integers(0, 100)), int(rng.integers(5))
    dtype, dim = np.dtype(f"f{bits // 8}"), system["dim"]
    answers = (dim, system["dof"], 1, len(system["invariants"]), dim * dim)[question]

    def row():
        return np.full(pick(rng, [1, lanes]) or 1, 0.5, dtype)

    out = np.zeros((answers, lanes), dtype)
    arguments = (system["name"], bits, question, lanes, row(), tuple(row() for _ in range(dim)),
                 tuple(row() for _ in system["params"]), out)  # fmt: skip
    _core.evaluate(*some_bent(rng, arguments))


def work_adaptively(rng, run, lanes, components):
    """Methods of a batch that goes to a tolerance."""
    for _ in range(int(rng.integers(0, 5))):
        what = pick(rng, ["work", "work", "gather", "longest", "lanes"])
        counts = np.full(lanes, pick(rng, [0, 0, 1, -1, -(2**63)]), np.int64)
        if what == "work":
            run.work(enough, int(rng.integers(-1, 4)))
        elif what == "lanes":
            run.lanes()
        elif what == "longest":
            run.longest(*some_bent(rng, (counts,)))
        else:
            n = run.longest(counts)
            states = np.zeros((n, components, lanes))
            arrays = bent_inside(rng, (counts, np.zeros((n, lanes)), states), [counts, states])
            run.gather(*(arrays if rng.random() < 0.7 else (counts, states[:, 0], states)))


CALLS = recorded.calls()
OTHERS = {
    "scales": ("lorenz",), "starter": (HANDLES[0],), "rigid_phases": (HANDLES[0],),
    "history_rows": ("lorenz", HANDLES[0], True), "method": ("rk4",), "method_bits": (0,),
    "make_system": ("n_body", 3),
}  # fmt: skip


def of_the_package(rng):
    """A call that the package has made, bent, and what one does with its result."""
    name, arguments, keywords = recorded.copied(pick(rng, CALLS))
    both = (arguments, keywords) if arguments and keywords else (arguments or keywords,)
    arrays = arrays_of(both)
    for _ in range(pick(rng, [0, 1, 1, 1, 2, 3])):
        both = tuple(bent_inside(rng, part, arrays or [None]) for part in both)
    arguments = next((part for part in both if isinstance(part, tuple)), ())
    keywords = next((part for part in both if isinstance(part, dict)), {})
    made = getattr(_core, name)(*arguments, **keywords)
    fields = arguments[0] if name in ("start", "stepper") and arguments else keywords
    if name == "start":
        lanes, n_steps = int(fields["lanes"]), int(fields["n_steps"])
        for _ in range(int(rng.integers(0, 6))):
            use(rng, made, lanes, lanes * n_steps <= WORK)
    elif name == "stepper":
        use_stepper(rng, made, int(fields["lanes"]))
    elif name == "start_adaptive":
        work_adaptively(rng, made, int(fields["lanes"]), len(fields["saved"]))
    elif name == "make_program":
        out, one = np.zeros((99, 1)), np.ones(1)
        dim, n_params = arguments[3], arguments[5]
        question = int(rng.integers(5))
        if dim * dim + n_params < 99:
            _core.evaluate(made, 64, question, 1, one, (one,) * dim, (one,) * n_params, out)


def another(rng):
    """One of the small functions."""
    name = pick(rng, list(OTHERS))
    getattr(_core, name)(*some_bent(rng, OTHERS[name]))


KINDS = [start, start, evaluate, stepper, method, *[of_the_package] * 4, another]


def one_case(seed, case):
    rng = np.random.default_rng([seed, case])
    kind = pick(rng, KINDS)
    try:
        kind(rng)
    except (*EXPECTED, UnicodeError) as error:
        return type(error).__name__, kind.__name__
    return "no error", kind.__name__


def memory():
    """Megabytes in use."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * 4096 / 1e6 if pages.exists() else np.nan


def main(seconds, seed, first):
    Path("build").mkdir(exist_ok=True)
    kept = os.open("build/fuzz.case", os.O_RDWR | os.O_CREAT)
    outcomes, end, case, before = Counter(), time.monotonic() + seconds, first, memory()
    while True:
        os.pwrite(kept, struct.pack("qq", seed, case), 0)
        outcomes[one_case(seed, case)] += 1
        case += 1
        if case - first == 20_000:
            before = memory()
        if time.monotonic() > end:
            break
    sums = Counter()
    for (outcome, _), n in outcomes.items():
        sums[outcome] += n
    print(f"{case - first} cases:", ", ".join(f"{k} {n}" for k, n in sorted(sums.items())))
    answered = {kind: n for (outcome, kind), n in sorted(outcomes.items()) if outcome == "no error"}
    print("  answered:", ", ".join(f"{k} {n}" for k, n in answered.items()))
    print(f"  memory: {before:.0f} MB at first, {memory():.0f} MB in the end")


if __name__ == "__main__":
    seed, _, case = (sys.argv[2] if len(sys.argv) > 2 else "1").partition(":")
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, int(seed), int(case or 0))
