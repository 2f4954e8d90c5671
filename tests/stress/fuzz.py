"""Raw arguments for the C core, mutated at random: it may refuse them, and never crash.

    python tests/stress/fuzz.py [seconds] [seed]

To be run under AddressSanitizer and UndefinedBehaviorSanitizer (`make fuzz`). Tables of
coefficients go through make_method and are then integrated with; the arguments of start, evaluate
and of the methods of a run begin as right ones, of which some are replaced or bent. The number of
the case at hand is kept in build/fuzz.case, from which `python tests/stress/fuzz.py 0 seed:number`
repeats it after a crash.
"""

import os
import struct
import sys
import time
from pathlib import Path

import numpy as np

from pyintegrate import _core
from pyintegrate.values.memory import aligned, padded

SYSTEMS = {item["name"]: item for item in _core.systems()}
HANDLES = [item["handle"] for item in _core.methods()]
OPEN = {item["name"]: item["numbers"] for item in _core.families() if not item["closed"]}
FAMILIES = [*(item["name"] for item in _core.families()), "", "x" * 999]
_POWERS = [2**k + d for k in (0, 1, 3, 4, 6, 8, 31, 32, 47, 48, 53, 62, 63, 64) for d in (-1, 0, 1)]
INTEGERS = [*_POWERS, *(-n for n in _POWERS), 1000, 10**40]
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e300, np.inf, -np.inf, np.nan]
EXPECTED = (TypeError, ValueError, OverflowError, MemoryError, IndexError, BufferError)
WORK = 200_000  # components times steps that a case may take


def pick(rng, items):
    return items[int(rng.integers(len(items)))]


def number(rng):
    return float(rng.normal()) if rng.random() < 0.7 else pick(rng, REALS)


def buffers(rng):
    """Things with and without a buffer."""
    n = int(rng.integers(0, 300))
    frozen = aligned((n,), np.float64)
    frozen.flags.writeable = False
    return [
        None, 0, "text", object(), b"", bytes(n), bytearray(n), memoryview(bytearray(n)),
        np.zeros(n), np.zeros(n, np.float32), np.zeros(n, np.int8), np.zeros(n, np.complex128),
        np.zeros((n, 2))[:, 0], np.zeros((n, n // 4))[::-1], np.zeros(n + 1, np.int8)[1:],
        np.frombuffer(bytearray(8 * n + 3), np.int8)[3:].view(np.float64), np.zeros((n, 0)),
        np.array(1.0), np.zeros(n, object), np.zeros(n, "S3"), np.zeros(n, "f8,i2"), frozen,
        aligned((n,), np.float64), (), (None,) * 3, [1.0], {},
    ]  # fmt: skip


def bent(rng, value):
    """Another value in the place of a right one."""
    kind = rng.random()
    if isinstance(value, int) and kind < 0.6:
        return value + int(rng.integers(-3, 4)) if kind < 0.3 else pick(rng, INTEGERS)
    if isinstance(value, float) and kind < 0.7:
        return pick(rng, REALS)
    if isinstance(value, np.ndarray) and kind < 0.7:
        with_nan = value.copy()
        if kind < 0.2 and value.size and value.dtype.kind == "f":
            with np.errstate(all="ignore"):
                with_nan.reshape(-1)[int(rng.integers(value.size))] = pick(rng, REALS)
            return with_nan
        flat = value.reshape(-1)
        return flat[: int(rng.integers(flat.size + 1))] if kind < 0.5 else pick(rng, buffers(rng))
    if isinstance(value, tuple) and value and kind < 0.7:
        items = list(value)
        place = int(rng.integers(len(items)))
        if kind < 0.2:
            del items[place]
        elif kind < 0.3:
            items.insert(place, items[place])
        else:
            items[place] = bent(rng, items[place])
        return tuple(items)
    if isinstance(value, str) and kind < 0.7:
        return pick(rng, [*SYSTEMS, *FAMILIES, "\0", "spring\0", "é", "\ud800"])
    return pick(rng, [*buffers(rng), *INTEGERS, *REALS, HANDLES[0]])


def bent_fields(rng, fields):
    """Named ones: some bent, and now and then one left out or under another name."""
    names = list(fields)
    fields = dict(zip(names, some_bent(rng, fields.values()), strict=True))
    if rng.random() < 0.05:
        value = fields.pop(pick(rng, names))
        if rng.random() < 0.5:
            fields[pick(rng, [*names, "", "state", "methods", "nothing"])] = value
    return fields


def some_bent(rng, arguments):
    arguments = list(arguments)
    for _ in range(int(rng.integers(0, 4)) if arguments else 0):
        place = int(rng.integers(len(arguments)))
        arguments[place] = bent(rng, arguments[place])
    return arguments


def method(rng):
    """A handle, of the catalogue or from a random table."""
    if rng.random() < 0.4:
        return pick(rng, HANDLES)
    family, stages = pick(rng, [*OPEN]), pick(rng, [1, 2, 3, 5, 20])
    widths = []
    for row in OPEN[family]:
        width = 0 if row["optional"] and rng.random() < 0.5 else stages + row["more"]
        widths += [width] * (stages if row["matrix"] else 1)
    table = tuple(tuple(number(rng) for _ in range(width)) for width in widths)
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
    made = _core.stepper(**bent_fields(rng, fields))
    for _ in range(int(rng.integers(0, 8))):
        what = pick(
            rng, ["step", "step", "kick", "drift", "begin", "failures", "clear_failure", "fail"]
        )
        lane = int(rng.integers(-1 if rng.random() < 0.1 else 0, lanes + (rng.random() < 0.1)))
        steps = pick(rng, [0, 1, 3, 20, -1, -(2**63), "1", None])
        right = {
            "step": (steps,), "begin": (int(rng.integers(5)), bool(rng.integers(2))),
            "clear_failure": (lane,), "fail": (lane, int(rng.integers(6)), int(rng.integers(99))),
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


def use(rng, run, lanes, finite):
    """A method of a run, with good or bad arguments."""
    what = pick(rng, ["work", "work", "fail", "failures", "outcome", "cancel"])
    if what == "work":
        if not finite:
            run.cancel()
        run.work(*pick(rng, [(), (None,), (print if not finite else None,)]))
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


def one_case(seed, case):
    rng = np.random.default_rng([seed, case])
    try:
        pick(rng, [start, start, start, evaluate, stepper, method])(rng)
    except EXPECTED as error:
        return type(error).__name__
    except UnicodeError as error:
        return type(error).__name__
    return "no error"


def main(seconds, seed, first):
    Path("build").mkdir(exist_ok=True)
    kept = os.open("build/fuzz.case", os.O_RDWR | os.O_CREAT)
    outcomes, end, case = {}, time.time() + seconds, first
    while True:
        os.pwrite(kept, struct.pack("qq", seed, case), 0)
        outcome = one_case(seed, case)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        case += 1
        if time.time() > end:
            break
    print(f"{case - first} cases:", ", ".join(f"{k} {n}" for k, n in sorted(outcomes.items())))


if __name__ == "__main__":
    seed, _, case = (sys.argv[2] if len(sys.argv) > 2 else "1").partition(":")
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, int(seed), int(case or 0))
