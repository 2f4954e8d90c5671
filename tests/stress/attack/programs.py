"""Byte code bent at random: what the verifier accepts does what a plain interpreter says.

    python tests/stress/attack/programs.py [seconds] [seed] [cases at most]

Programs of random forces are changed: words, pairs of instructions, sections, sizes. The core
refuses such a program with a ValueError, or answers each question as the interpreter below does, to
the bit, in both precisions, and steps with it. The interpreter is NumPy on rows of a few lanes,
with the C library's fma; sines and their like, which have tests of their own, are the core's.
"""

import ctypes
import random
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import child
from forces import compute, random_function

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.trace.program import CONSTANT, OUT, QUESTIONS, SCRATCH, WORDS, P, Program, T, V, Y
from pyintegrate.values.memory import aligned, padded

OPERATIONS = [(name, arguments) for name, arguments, _ in _core.operations]
NUMBERS = {name: number for number, (name, _) in enumerate(OPERATIONS)}
BY_ARGUMENTS = {n: [k for k, (_, m) in enumerate(OPERATIONS) if m == n] for n in range(1, 5)}
SHIFT, LANES = 24, 7
EULER = pi.methods["explicit_euler"].handle
libm = ctypes.CDLL(None)


# ---- the plain interpreter -----------------------------------------------------------------------
def _exact_fma(function, real):
    function.argtypes, function.restype = [real] * 3, real
    return np.frompyfunc(function, 3, 1)


_FMA = {8: _exact_fma(libm.fma, ctypes.c_double), 4: _exact_fma(libm.fmaf, ctypes.c_float)}


def fma(a, b, c):
    return _FMA[a.dtype.itemsize](a, b, c).astype(a.dtype)


FIRST = {
    "add": (2, lambda a, b: a + b), "subtract": (2, lambda a, b: a - b),
    "multiply": (2, lambda a, b: a * b), "fma": (3, fma), "fms": (3, lambda a, b, c: fma(a, b, -c)),
    "fnma": (3, lambda a, b, c: fma(-a, b, c)),
}  # fmt: skip
THEN = {
    "multiply": lambda u, x: u * x, "add": lambda u, x: u + x, "subtract": lambda u, x: u - x,
    "from": lambda u, x: x - u, "negative": lambda u: -u, "fma": fma,
    "fms": lambda u, c, d: fma(u, c, -d), "fnma": lambda u, c, d: fma(-u, c, d),
    "plus_product": lambda u, c, d: fma(c, d, u), "minus_product": lambda u, c, d: fma(-c, d, u),
    "from_product": lambda u, c, d: fma(c, d, -u),
}  # fmt: skip
PLAIN = {
    "copy": lambda a: a.copy(), "negative": lambda a: -a, "absolute": abs, "sqrt": np.sqrt,
    "divide": lambda a, b: a / b,
    "minimum": lambda a, b: np.where((a < b) | (a != a), a, b),
    "maximum": lambda a, b: np.where((a > b) | (a != a), a, b),
    **{name: function for name, (_, function) in FIRST.items()},
}  # fmt: skip
COMPARED = {"less": np.less, "less_equal": np.less_equal, "equal": np.equal,
            "not_equal": np.not_equal}  # fmt: skip
LOGICAL = {"logical_and": np.logical_and, "logical_or": np.logical_or,
           "logical_xor": np.logical_xor, "logical_not": np.logical_not}  # fmt: skip


class Row:
    """Values of the lanes; whether they are a mask; and in which lanes nobody knows the bits (what
    is no mask is used as one, or the sign of a NaN is)."""

    def __init__(self, values, mask=None, unknown=False):
        self.values, self.mask = values, mask
        self.unknown = np.zeros(len(values), bool) | unknown


def of_mask(mask, dtype, unknown):
    return Row(np.where(mask, np.nan, 0).astype(dtype), mask, unknown)


_KNOWN: dict[int, Program] = {}


def core_function(number, arguments):
    """One operation, by the core."""
    name, n = OPERATIONS[number]
    if number not in _KNOWN:
        reads = [Y << SHIFT | i for i in range(n)] + [0] * (4 - n)
        rest = [[NUMBERS["copy"], OUT << SHIFT | i, Y << SHIFT, 0, 0, 0] for i in range(1, n)]
        table = np.full((len(QUESTIONS), 2), -1, np.int32)
        table[QUESTIONS.index("rhs")] = 0, n
        _KNOWN[number] = Program([[number, OUT << SHIFT, *reads], *rest], [], table,
                                 (n, 0, 0, 0, 0, 0))  # fmt: skip
    lanes, dtype = len(arguments[0]), arguments[0].dtype
    out = np.empty((n, lanes), dtype)
    rows = tuple(np.ascontiguousarray(a) for a in arguments)
    bits, t = 8 * dtype.itemsize, np.zeros(1, dtype)
    _core.evaluate(_KNOWN[number].handle, bits, 0, lanes, t, rows, (), out)
    return out[0]


def operate(number, rows):
    name = OPERATIONS[number][0]
    values, dtype = [row.values for row in rows], rows[0].values.dtype
    unknown = np.any([row.unknown for row in rows], axis=0)
    first, _, rest = name.partition("_")
    if name in COMPARED:
        return of_mask(COMPARED[name](*values), dtype, unknown)
    if name in LOGICAL or name == "where":
        masks = rows[:1] if name == "where" else rows
        if any(row.mask is None for row in masks):
            return Row(values[0], None, True)
        if name in LOGICAL:
            return of_mask(LOGICAL[name](*(row.mask for row in rows)), dtype, unknown)
        chosen = [row.unknown for row in rows[1:]]
        unknown = rows[0].unknown | np.where(rows[0].mask, *chosen)
        both = all(row.mask is not None for row in rows[1:])
        mask = np.where(rows[0].mask, rows[1].mask, rows[2].mask) if both else None
        return Row(np.where(rows[0].mask, values[1], values[2]), mask, unknown)
    if name == "copy":
        return Row(values[0], rows[0].mask, unknown)
    if name in PLAIN:
        return Row(PLAIN[name](*values), None, unknown)
    if first in FIRST and rest in THEN:
        n, function = FIRST[first]
        return Row(THEN[rest](function(*values[:n]), *values[n:]), None, unknown)
    if name == "copysign":
        unknown = unknown | np.isnan(values[1])
    return Row(core_function(number, values), None, unknown)


def run_section(program, question, banks):
    first, last = program.sections[QUESTIONS.index(question)]
    for operation, target, *words in program.code[first:last].tolist():
        rows = [banks[w >> SHIFT][w & (1 << SHIFT) - 1] for w in words[: OPERATIONS[operation][1]]]
        banks[target >> SHIFT][target & (1 << SHIFT) - 1] = operate(operation, rows)


def answer(program, question, t, y, params):
    """The rows of an answer, by number."""
    dim, dof = program.sizes[:2]
    dtype = t.dtype
    y, out = [Row(row) for row in y], {}
    p = dict(enumerate(Row(row) for row in params))
    with np.errstate(over="ignore"):  # of float32
        constants = [Row(np.full(len(t), value, dtype)) for value in program.constants]
    banks = {SCRATCH: {}, Y: y, V: y[dof:], P: p, T: [Row(t)], CONSTANT: constants, OUT: {}}
    with np.errstate(all="ignore"):
        if program.has("prepare"):
            run_section(program, "prepare", banks)
        if question == "rhs" and dof:
            if program.has("velocity"):
                banks[OUT] = {}
                run_section(program, "velocity", banks)
                out = dict(banks[OUT])
            else:
                out = dict(enumerate(y[dof:]))
            banks[OUT] = {}
            run_section(program, "acceleration", banks)
            return out | {dof + i: row for i, row in banks[OUT].items()}
        banks[OUT] = {}
        run_section(program, question, banks)
        return banks[OUT]


# ---- bending -------------------------------------------------------------------------------------
def random_program(rng):
    dof = rng.choice([0, 0, 1, 2])
    dim = 2 * dof or rng.choice([1, 2, 3])
    depth = rng.choice([2, 3, 4])
    functions = [random_function(rng, dim + 3, depth) for _ in range(dof or dim)]
    if dof:
        system = pi.acceleration(dof=dof, k=1.0, m=2.0)(
            lambda t, x, v, k, m: [compute(f, [t, k, m, *parts(x, dof), *parts(v, dof)])
                                   for f in functions])  # fmt: skip
    else:
        system = pi.rhs(dim=dim, k=1.0, m=2.0)(
            lambda t, y, k, m: [compute(f, [t, k, m, *parts(y, dim)]) for f in functions]
        )
    return system.traced.program(jacobian=rng.random() < 0.5)


def parts(x, n):
    return [x] if n == 1 and np.ndim(x) == 0 else list(x)


def bend(rng, program):
    """One to three changes, most of which a verifier has no reason to refuse."""
    code, sections = program.code.copy(), program.sections.copy()
    sizes, constants = list(program.sizes), program.constants.copy()
    for _ in range(rng.choice([1, 1, 2, 3])):
        at, kind = rng.randrange(len(code)), rng.random()
        n = OPERATIONS[code[at, 0]][1] if 0 <= code[at, 0] < len(OPERATIONS) else 1
        if kind < 0.35:  # another operation of as many arguments
            code[at, 0] = rng.choice(BY_ARGUMENTS[n])
        elif kind < 0.65:  # an operand from elsewhere in the program
            other = rng.randrange(len(code))
            code[at, 2 + rng.randrange(n)] = code[other, rng.choice([1, 2, 2, 3])]
        elif kind < 0.75:  # two instructions change places
            other = min(at + 1, len(code) - 1)
            code[[at, other]] = code[[other, at]]
        elif kind < 0.82:
            code[at, 1] = code[rng.randrange(len(code)), 1]
        elif kind < 0.88 and len(constants):
            constants[rng.randrange(len(constants))] = rng.choice(
                [0.0, -0.0, np.nan, np.inf, 1e300, 5e-324, rng.gauss(0, 1)]
            )
        elif kind < 0.92:
            code[at, rng.randrange(WORDS)] = rng.randrange(-(1 << 31), 1 << 31)
        elif kind < 0.96:
            sections[rng.randrange(len(sections)), rng.randrange(2)] += rng.randrange(-2, 3)
        else:
            sizes[rng.randrange(len(sizes))] += rng.randrange(-2, 3)
    return Program(code, constants, sections, sizes)


# ---- the comparison ------------------------------------------------------------------------------
def inputs(rng, n, dtype):
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, 1e-40, 1.0]
    return [np.array([rng.choice(special) if rng.random() < 0.15 else rng.gauss(0, 1)
                      for _ in range(LANES)], dtype) for _ in range(n)]  # fmt: skip


def same(got, row):
    expected, known = row.values, ~row.unknown
    both_nan = np.isnan(got) & np.isnan(expected)
    bits = got.view(f"u{got.itemsize}") == expected.view(f"u{got.itemsize}")
    return np.all(bits | both_nan | ~known)


def compare(rng, program, handle):
    """Every question, and a step with one value of the parameters for all lanes."""
    dim, dof, n_params, _, n_invariants, _ = program.sizes
    dtype = np.dtype(rng.choice([np.float64, np.float32]))
    bits, t = 8 * dtype.itemsize, inputs(rng, 1, dtype)[0]
    y, params = inputs(rng, dim, dtype), inputs(rng, n_params, dtype)
    answers = {"rhs": dim, "acceleration": dof, "energy": 1, "invariants": n_invariants,
               "jacobian": dim * dim}  # fmt: skip
    for question, rows in answers.items():
        if not rows or not (program.has(question) or (question == "rhs" and dof)):
            continue
        out = np.empty((rows, LANES), dtype)
        _core.evaluate(handle, bits, QUESTIONS.index(question), LANES, t, tuple(y), tuple(params),
                       out)  # fmt: skip
        expected = answer(program, question, t, y, params)
        for i in range(rows):
            assert same(out[i], expected[i]), (question, i, out[i], expected[i].values)
    params = [np.full(LANES, value[0], dtype) for value in params]
    step(program, handle, [np.nan_to_num(row, posinf=1, neginf=-1) for row in y], params, dtype)


def step(program, handle, y, params, dtype):
    """y + h f, one fused multiply-add; what is not finite then stays at y."""
    rows = [aligned((program.sizes[0], padded(LANES, dtype)), dtype) for _ in range(3)]
    rows[0][:, :LANES] = y
    rows[0][:, LANES:] = rows[0][:, LANES - 1 : LANES]
    h = dtype.type(0.125)
    run = _core.Run(
        system=handle, method=EULER, bits=8 * dtype.itemsize, lanes=LANES, n_steps=1, save_every=1,
        bound=np.inf, workers=1, t0=np.zeros(1, dtype), dt=np.full(1, h),
        params=tuple(row[:1] for row in params), initial=rows[0], state_a=rows[1], state_b=rows[2],
    )  # fmt: skip
    run.work()
    completed, where, *_ = run.outcome()
    assert completed == 1
    got, t = rows[where][:, :LANES], np.zeros(LANES, dtype)
    slopes = answer(program, "rhs", t, list(y), params)
    with np.errstate(all="ignore"):
        after = [fma(slopes[i].values, np.full(LANES, h), y[i]) for i in range(len(y))]
    unknown = np.any([slopes[i].unknown for i in range(len(y))], axis=0)
    failed = ~np.all(np.isfinite(after), axis=0)
    for i in range(len(y)):
        expected = Row(np.where(failed, y[i], after[i]), None, unknown)
        assert same(got[i], expected), ("step", i, got[i], expected.values)


def main(seconds, seed, first, most, note):
    """Attack for so many seconds, with so many cases at most."""
    counts, case, program = Counter(), first, None
    end = time.monotonic() + seconds
    while time.monotonic() < end and case < first + most:
        note(seed, case)
        rng = random.Random(f"{seed}:{case // 50}")  # the program is that of fifty cases
        if program is None or case % 50 == 0:
            program = random_program(rng)
        rng = random.Random(f"{seed}:{case}:bent")
        bent = bend(rng, program)
        case += 1
        try:
            handle = bent.handle
        except ValueError:
            counts["refused"] += 1
            continue
        try:
            compare(rng, bent, handle)
        except BaseException:
            print(f"attack by programs: case {seed}:{case - 1}\n{bent}")
            raise
        counts["same"] += 1
    print(f"attack by programs, seed {seed}: {case - first} cases: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    seconds, seed, most = (*sys.argv[1:], *("60", "1", "inf")[len(sys.argv) - 1 :])
    seed, _, case = seed.partition(":")
    guard = child.guarded("attack by programs")
    main(float(seconds), int(seed), int(case or 0) // 50 * 50, float(most), guard)
