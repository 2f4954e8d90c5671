"""The functions of csrc/vmath are accurate, give the same bits everywhere and keep to their lane.

Needs a C compiler, NumPy and mpmath, not the package. The error of a result y is |y - f(x)| / ulp,
where ulp is the distance of the reals around the exact value f(x).
"""

import atexit
import ctypes
import functools
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import zlib

import numpy as np
import pytest
from conftest import every_case

mpmath = pytest.importorskip("mpmath")
import minimax  # noqa: E402
from mpmath import mp, mpf  # noqa: E402

CC = os.environ.get("CC", "cc")
pytestmark = pytest.mark.skipif(shutil.which(CC) is None, reason="no C compiler")
VMATH = pathlib.Path(__file__).parents[2] / "csrc" / "vmath"
DRIVER = pathlib.Path(__file__).parent / "vmath_driver.c"
FLAGS = [
    "-std=gnu11",
    "-O2",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Werror",
    "-shared",
    "-fPIC",
]
TARGET = {
    16: [],
    32: ["-mavx2", "-mfma"],
    64: ["-mavx2", "-mfma", "-mavx512f", "-mavx512dq", "-mavx512vl"],
}
REAL = {64: np.float64, 32: np.float32}
BITS = {64: np.uint64, 32: np.uint32}
NAN, INF = np.nan, np.inf


@functools.cache
def folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix="vmath"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@functools.cache
def is_clang():
    return "clang" in subprocess.run([CC, "--version"], capture_output=True, text=True).stdout


@functools.cache
def library(real_bits, vector_bytes):
    """The driver compiled for one precision and one instruction set."""
    path = folder() / f"vmath_{real_bits}_{vector_bytes}.so"
    target = TARGET[vector_bytes] if is_clang() else []  # GCC takes it from a pragma
    subprocess.run(
        [
            CC,
            *FLAGS,
            *target,
            f"-DPI_REAL_BITS={real_bits}",
            f"-DPI_VECTOR_BYTES={vector_bytes}",
            DRIVER,
            "-o",
            path,
            "-lm",
        ],
        check=True,
    )
    return ctypes.CDLL(str(path))


@functools.cache
def widths():
    """Vector widths in bytes that this processor runs: baseline, AVX2, AVX-512."""
    widest = library(64, 16).widest()
    return [width for width in (16, 32, 64) if width <= widest]


def call(name, real_bits, vector_bytes, *arguments):
    """name(*arguments), computed with registers of vector_bytes."""
    arguments = np.broadcast_arrays(*(np.asarray(a, REAL[real_bits]) for a in arguments))
    arguments = [np.ascontiguousarray(a) for a in arguments]
    result = np.empty_like(arguments[0])
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arguments, result)]
    getattr(library(real_bits, vector_bytes), "f_" + name)(*pointers, ctypes.c_long(result.size))
    return result


def bit_pattern(values):
    """The bits, all NaNs taken for one: their sign and payload mean nothing."""
    values = np.where(np.isnan(values), values.dtype.type(NAN), values)
    return values.view(BITS[values.dtype.itemsize * 8])


# ---- accuracy ----------------------------------------------------------------------------------
def signed(f):
    return lambda generator, dtype, n: (
        f(generator, dtype, n) * generator.choice([-1, 1], n).astype(dtype)
    )


def between(low, high):
    """Uniform in [low, high]."""
    return lambda generator, dtype, n: generator.uniform(low, high, n).astype(dtype)


def around(value, spread):
    """value + spread times a number of either sign and any size below 1."""
    return lambda generator, dtype, n: (
        value + spread * 2 ** generator.uniform(-40, 0, n) * generator.choice([-1, 1], n)
    ).astype(dtype)


def magnitude(low, high):
    """2^e, e uniform between low and high, cut to what the precision has: subnormal to huge."""

    def points(generator, dtype, n):
        info = np.finfo(dtype)
        e = generator.uniform(*np.clip([low, high], info.minexp - info.nmant, info.maxexp), n)
        with np.errstate(over="ignore"):
            x = np.ldexp(generator.uniform(1, 2, n).astype(dtype), np.floor(e).astype(int))
        return np.where(np.isfinite(x), x, info.max).astype(dtype)

    return points


def near_multiples_of_half_pi(generator, dtype, n):
    """The reals next to k pi/2, k up to 2^30, where the argument reduction cancels most."""
    k = np.concatenate([np.arange(1, n // 2), 2.0 ** generator.uniform(8, 30, n)])[:n].astype(int)
    with mp.workdps(40):
        x = np.array([dtype(float(int(i) * mp.pi / 2)) for i in k])
    return x + generator.integers(-2, 3, n).astype(dtype) * np.spacing(x)


def worst_multiples(generator, dtype, n):
    """The closest of all, by continued fractions (Muller, Elementary Functions, chapter 11)."""
    if dtype is np.float32:
        digits = [
            "0x1.2d97c8p+3",
            "0x1.f9cbe2p+7",
            "0x1.f9cbe2p+10",
            "0x1.17cc5p+11",
            "0x1.9a48dep+15",
            "0x1.4ac55cp+21",
            "0x1.4665d2p+25",
            "0x1.f37b86p+95",
        ]
    else:
        digits = [
            "0x1.6c6cbc45dc8dep+5",
            "0x1.6c6cbc45dc8dep+11",
            "0x1.39c6fd67805a7p+18",
            "0x1.b951f1572eba5p+23",
            "0x1.504cac51f1eafp+131",
            "0x1.6ac5b262ca1ffp+849",
            "0x1.e009c53148be1p+991",
        ]
    return np.array([float.fromhex(d) for d in digits], dtype)


def one_minus(f, sign=1):
    return lambda generator, dtype, n: (sign * (1 - f(generator, np.float64, n))).astype(dtype)


def cube_root(x):
    return mp.sign(x) * mp.cbrt(abs(x))


#   name: (arguments drawn so, exact function, largest error in ulp)
TRIGONOMETRIC = [
    signed(between(0, 4)),
    signed(between(0, 100)),
    signed(magnitude(-1100, 10)),
    signed(magnitude(10, 40)),
    signed(magnitude(40, 1024)),
    worst_multiples,
    signed(near_multiples_of_half_pi),
    signed(around(1.41421356, 0.01)),
    signed(around(0.785398, 0.01)),
]
LOGARITHMIC = [between(0.4, 3), around(1, 0.5), around(0.70710678, 0.01), magnitude(-1100, 1024)]
# 1 ulp for sin, cos, exp, log, 2 for the rest: the promise of architecture.md.
ACCURACY = {
    "sin": (TRIGONOMETRIC, mp.sin, 1),
    "cos": (TRIGONOMETRIC, mp.cos, 1),
    "exp": (
        [
            signed(between(0, 2)),
            signed(between(0, 90)),
            between(-760, 711),
            between(-104, -86),
            signed(magnitude(-1100, 9)),
        ],
        mp.exp,
        1,
    ),
    "log": (LOGARITHMIC, mp.log, 1),
    "log2": (LOGARITHMIC, lambda x: mp.log(x, 2), 1),
    "log10": (LOGARITHMIC, mp.log10, 1),
    "tan": (TRIGONOMETRIC, mp.tan, 2),
    "asin": (
        [
            signed(between(0, 0.5)),
            signed(between(0.5, 1)),
            signed(magnitude(-1100, 0)),
            signed(one_minus(magnitude(-50, 0))),
        ],
        mp.asin,
        2,
    ),
    "acos": (
        [
            signed(between(0, 0.5)),
            signed(between(0.5, 1)),
            signed(magnitude(-1100, 0)),
            signed(one_minus(magnitude(-50, 0))),
        ],
        mp.acos,
        2,
    ),
    "atan": (
        [
            signed(between(0, 1)),
            signed(around(1, 0.1)),
            signed(between(1, 10)),
            signed(magnitude(-1100, 1024)),
        ],
        mp.atan,
        2,
    ),
    "atan2": (
        (
            [signed(between(0, 1)), signed(magnitude(-3, 3)), signed(magnitude(-1100, 1024))],
            [signed(between(0, 1)), signed(magnitude(-3, 3)), signed(magnitude(-1100, 1024))],
        ),
        mp.atan2,
        2,
    ),
    "expm1": (
        [
            signed(between(0, 1)),
            signed(around(0.3466, 0.02)),
            between(-50, 90),
            between(80, 711),
            signed(magnitude(-1100, 6)),
        ],
        mp.expm1,
        2,
    ),
    "log1p": (
        [
            signed(between(0, 0.9)),
            between(0.3, 5),
            one_minus(magnitude(-50, 0), -1),
            signed(magnitude(-1100, -1)),
            magnitude(0, 1024),
        ],
        mp.log1p,
        2,
    ),
    "sinh": (
        [
            signed(between(0, 1)),
            signed(between(0, 40)),
            between(80, 92),
            between(700, 712),
            signed(magnitude(-1100, 6)),
        ],
        mp.sinh,
        2,
    ),
    "cosh": (
        [
            signed(between(0, 1)),
            signed(between(0, 40)),
            between(80, 92),
            between(700, 712),
            signed(magnitude(-30, 6)),
        ],
        mp.cosh,
        2,
    ),
    "tanh": (
        [signed(between(0, 1)), signed(between(0, 25)), signed(magnitude(-1100, 6))],
        mp.tanh,
        2,
    ),
    "asinh": (
        [signed(between(0, 2)), signed(magnitude(-1100, 1024)), signed(magnitude(500, 520))],
        mp.asinh,
        2,
    ),
    "acosh": ([between(1, 3), magnitude(0, 1024)], mp.acosh, 2),
    "atanh": (
        [signed(between(0, 1)), signed(magnitude(-1100, 0)), signed(one_minus(magnitude(-50, 0)))],
        mp.atanh,
        2,
    ),
    "pow": (
        (
            [
                between(0.5, 2),
                magnitude(-1100, 1024),
                around(1, 0.01),
                between(0.7, 0.71),
                between(1.40, 1.42),
                magnitude(-1100, -1000),
                magnitude(-150, -126),
            ],
            [
                signed(between(0, 100)),
                signed(between(0, 1.5)),
                signed(magnitude(0, 17)),
                signed(between(0, 2100)),
                signed(between(0, 2100)),
                signed(between(0, 1)),
                signed(between(0, 1)),
            ],
        ),
        mp.power,
        2,
    ),
    "cbrt": ([signed(between(0, 10)), signed(magnitude(-1100, 1024))], cube_root, 2),
    "hypot": (
        (
            [
                signed(between(0, 1)),
                signed(magnitude(-1100, 1024)),
                magnitude(-1074, -900),
                magnitude(1000, 1023),
                signed(magnitude(-3, 3)),
            ],
            [
                signed(between(0, 1)),
                signed(magnitude(-1100, 1024)),
                magnitude(-1074, -900),
                magnitude(1000, 1023),
                signed(magnitude(-3, 3)),
            ],
        ),
        mp.hypot,
        2,
    ),
}


def error_in_ulp(y, exact, dtype):
    """|y - exact| / ulp(exact); infinite if y overflows where it must not."""
    info = np.finfo(dtype)
    if abs(exact) >= mpf(float(info.max)) * (1 + mpf(2) ** (-info.nmant - 2)):
        return 0 if y == np.copysign(INF, float(mp.sign(exact))) else INF
    if not np.isfinite(y):
        return INF
    exponent = max(mp.frexp(exact)[1], int(info.minexp) + 1)
    return float(abs(mpf(float(y)) - exact) * mpf(2) ** (info.nmant + 1 - exponent))


def draw(samplers, dtype, n, seed):
    generator = np.random.default_rng(seed)
    return np.concatenate([sampler(generator, dtype, n) for sampler in samplers])


def sample(name, real_bits, n=500 if every_case else 250):
    """The points of ACCURACY: one array for each argument."""
    samplers = ACCURACY[name][0]
    columns = [samplers] if callable(samplers[0]) else samplers
    return [
        draw(column, REAL[real_bits], n, zlib.crc32(f"{name}{i}".encode()))
        for i, column in enumerate(columns)
    ]


@pytest.mark.parametrize("real_bits", [64, 32])
@pytest.mark.parametrize("name", ACCURACY)
def test_error_stays_below_the_promised_ulp(name, real_bits):
    _, exact, promised = ACCURACY[name]
    arguments = sample(name, real_bits)
    results = call(name, real_bits, widths()[-1], *arguments)
    with mp.workprec(160):  # mpmath reduces arguments with more, as they need it
        errors = [
            error_in_ulp(y, exact(*map(mpf, map(float, x))), REAL[real_bits])
            for *x, y in zip(*arguments, results, strict=True)
        ]
    worst = int(np.argmax(errors))
    assert errors[worst] <= promised, [float(a[worst]).hex() for a in arguments]


# ---- division ----------------------------------------------------------------------------------
def next_to_midpoints(generator, n):
    """a, b from 1 to 2 whose quotient is 1/(2 b) ... 5/(2 b) units from the middle of two reals.

    As integers of 53 bits: a 2^54 = r modulo b, r small and odd, so that a / b lies r / b from a
    multiple of 2^-54.
    """
    b = [int(x) | 1 for x in generator.integers(1 << 52, 1 << 53, n)]
    b += [(1 << 53) - k for k in range(1, n, 2)] + [(1 << 52) + k for k in range(1, n, 2)]
    b += [0x1F586F946211DF, 0x1F610D445B8713, 0x1F4B9CE3A23569]  # a 1 / b within an ulp does not do
    pairs = [(r * pow(1 << 54, -1, x) % x, x) for x in b for r in (-5, -3, -1, 1, 3, 5)]
    return np.array([(a, x) for a, x in pairs if a], float).T


@pytest.mark.parametrize("real_bits", [64, 32])
def test_a_quotient_has_the_bits_of_the_operator(real_bits):
    """IEEE 754 leaves no choice; NumPy divides by the processor's own instruction.

    "quotient" is what "divide" is where the unit for divisions is slow.
    """
    generator = np.random.default_rng(5)
    ends = [0, 5e-324, 2.0**-1022, 2.0**-257, 2.0**-256, 1, 2 - 2**-52, 2.0**256, 2.0**511]
    ends = np.array([sign * x for x in [*ends, 1.7e308, INF, NAN] for sign in (1, -1)])
    mixed = [between(1, 2), magnitude(-256, 256), magnitude(-1100, 1024)]
    n = 200_000 if every_case else 20_000
    for a, b in (
        next_to_midpoints(generator, n // 10),
        (np.repeat(ends, 8 * ends.size), np.tile(np.repeat(ends, 8), ends.size)),
        (draw(mixed, float, n, 1), draw(mixed, float, n, 2)),
        (draw(mixed, float, n, 3), 2 - 2**-52 * generator.integers(1, 4000, 3 * n)),
    ):
        with np.errstate(all="ignore"):
            a, b = a.astype(REAL[real_bits]), b.astype(REAL[real_bits])
            expected = bit_pattern(a / b)
        for width, name in itertools.product(widths(), ("divide", "quotient")):
            assert np.array_equal(bit_pattern(call(name, real_bits, width, a, b)), expected)


# ---- special values: C99 annex F and NumPy -----------------------------------------------------
TINY = {64: 5e-324, 32: 1.4e-45}
HUGE = {64: 1.7e308, 32: 3.4e38}
OF_A_LOGARITHM = [
    (1.0, 0.0),
    (0.0, -INF),
    (-0.0, -INF),
    (INF, INF),
    (-INF, NAN),
    (-1.0, NAN),
    ("-tiny", NAN),
    (NAN, NAN),
]
#   name: arguments ..., result; "tiny" and "huge" stand for the ends of the precision
SPECIAL = {
    "sin": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, NAN),
        (-INF, NAN),
        (NAN, NAN),
        ("tiny", "tiny"),
        ("-tiny", "-tiny"),
    ],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN), ("tiny", 1.0)],
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (INF, INF),
        (-INF, 0.0),
        (NAN, NAN),
        ("tiny", 1.0),
        ("huge", INF),
        ("-huge", 0.0),
    ],
    "log": OF_A_LOGARITHM,
    "log2": [*OF_A_LOGARITHM, *((2.0**n, n) for n in range(-100, 101))],
    "log10": [*OF_A_LOGARITHM, *((10.0**n, n) for n in range(11))],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (NAN, NAN), ("-tiny", "-tiny")],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.5, NAN), (-INF, NAN), (NAN, NAN), (1.0, np.pi / 2)],
    "acos": [(1.0, 0.0), (-1.0, np.pi), (0.0, np.pi / 2), (1.5, NAN), (INF, NAN), (NAN, NAN)],
    "atan": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, np.pi / 2),
        (-INF, -np.pi / 2),
        (NAN, NAN),
        (1.0, np.pi / 4),
    ],
    "atan2": [
        (0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0),
        (0.0, -0.0, np.pi),
        (-0.0, -0.0, -np.pi),
        (0.0, -1.0, np.pi),
        (-0.0, -1.0, -np.pi),
        (-0.0, 1.0, -0.0),
        (1.0, 0.0, np.pi / 2),
        (-1.0, -0.0, -np.pi / 2),
        (1.0, INF, 0.0),
        (-1.0, INF, -0.0),
        (1.0, -INF, np.pi),
        (INF, 1.0, np.pi / 2),
        (INF, INF, np.pi / 4),
        (-INF, -INF, -3 * np.pi / 4),
        (INF, -INF, 3 * np.pi / 4),
        (NAN, 1.0, NAN),
        (INF, NAN, NAN),
        ("huge", "tiny", np.pi / 2),
        ("tiny", "huge", 0.0),
    ],
    "expm1": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, INF),
        (-INF, -1.0),
        (NAN, NAN),
        ("huge", INF),
        ("-huge", -1.0),
        ("-tiny", "-tiny"),
    ],
    "log1p": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (-1.0, -INF),
        (-1.5, NAN),
        (INF, INF),
        (-INF, NAN),
        (NAN, NAN),
        ("-tiny", "-tiny"),
    ],
    "sinh": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, INF),
        (-INF, -INF),
        (NAN, NAN),
        ("-huge", -INF),
        ("-tiny", "-tiny"),
    ],
    "cosh": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (INF, INF),
        (-INF, INF),
        (NAN, NAN),
        ("-huge", INF),
        ("tiny", 1.0),
    ],
    "tanh": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, 1.0),
        (-INF, -1.0),
        (NAN, NAN),
        ("-huge", -1.0),
        ("-tiny", "-tiny"),
    ],
    "asinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), ("-tiny", "-tiny")],
    "acosh": [(1.0, 0.0), (0.5, NAN), (-1.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    "atanh": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (1.0, INF),
        (-1.0, -INF),
        (1.5, NAN),
        (-INF, NAN),
        (NAN, NAN),
    ],
    "cbrt": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, INF),
        (-INF, -INF),
        (NAN, NAN),
        (27.0, 3.0),
        (-8.0, -2.0),
    ],
    "hypot": [
        (0.0, 0.0, 0.0),
        (-0.0, -0.0, 0.0),
        (3.0, -4.0, 5.0),
        (INF, NAN, INF),
        (NAN, -INF, INF),
        (1.0, NAN, NAN),
        ("huge", 1.0, "huge"),
        ("tiny", 0.0, "tiny"),
    ],
    "pow": [
        (2.0, 10.0, 1024.0),
        (3.0, 4.0, 81.0),
        (-2.0, 3.0, -8.0),
        (-2.0, 2.0, 4.0),
        (-2.0, 0.5, NAN),
        (4.0, 0.5, 2.0),
        (2.0, -3.0, 0.125),
        (0.0, 3.0, 0.0),
        (-0.0, 3.0, -0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, 0.5, 0.0),
        (0.0, -1.0, INF),
        (-0.0, -1.0, -INF),
        (-0.0, -2.0, INF),
        (0.0, -INF, INF),
        (0.0, INF, 0.0),
        (-1.0, INF, 1.0),
        (-1.0, -INF, 1.0),
        (0.5, INF, 0.0),
        (0.5, -INF, INF),
        (2.0, INF, INF),
        (2.0, -INF, 0.0),
        (-3.0, INF, INF),
        (INF, 2.0, INF),
        (INF, -2.0, 0.0),
        (-INF, 3.0, -INF),
        (-INF, 2.0, INF),
        (-INF, -3.0, -0.0),
        (-INF, 0.5, INF),
        (-INF, -0.5, 0.0),
        (1.0, NAN, 1.0),
        (NAN, 0.0, 1.0),
        (NAN, 1.0, NAN),
        (2.0, NAN, NAN),
        (1.0, INF, 1.0),
        (-1.0, "huge", 1.0),
        ("huge", 2.0, INF),
        ("-huge", 3.0, -INF),
        ("huge", -2.0, 0.0),
    ],
}


def special(value, real_bits):
    if not isinstance(value, str):
        return value
    size = {"tiny": TINY, "huge": HUGE}[value.strip("-")][real_bits]
    return -size if value.startswith("-") else size


@pytest.mark.parametrize("real_bits", [64, 32])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_values_follow_c99(name, real_bits):
    rows = [[REAL[real_bits](special(v, real_bits)) for v in row] for row in SPECIAL[name]]
    *arguments, expected = (np.array(column) for column in zip(*rows, strict=True))
    for width in widths():
        together = call(name, real_bits, width, *arguments)
        alone = np.concatenate(
            [call(name, real_bits, width, *([a] for a in row[:-1])) for row in rows]
        )
        for result in together, alone:
            wrong = bit_pattern(result) != bit_pattern(expected)
            assert not wrong.any(), [(rows[i], result[i]) for i in np.flatnonzero(wrong)]


@pytest.mark.parametrize("real_bits", [64, 32])
def test_sincos_has_the_bits_of_sin_and_cos(real_bits):
    [x] = sample("sin", real_bits)
    for name in "sin", "cos":
        assert np.array_equal(
            bit_pattern(call("sincos_" + name, real_bits, 16, x)),
            bit_pattern(call(name, real_bits, 16, x)),
        )


# ---- the same bits everywhere ------------------------------------------------------------------
def edges(real_bits):
    info = np.finfo(REAL[real_bits])
    positive = [
        0,
        TINY[real_bits],
        info.tiny / 3,
        info.tiny,
        1e-9,
        0.3,
        0.7,
        1,
        1.5,
        3,
        40,
        90,
        1e4,
        1e9,
        1e30,
        HUGE[real_bits],
        INF,
    ]
    return np.array([*positive, *(-v for v in positive), NAN], REAL[real_bits])


@pytest.mark.parametrize("real_bits", [64, 32])
@pytest.mark.parametrize("name", ACCURACY)
def test_every_instruction_set_gives_the_same_bits(name, real_bits):
    arguments = sample(name, real_bits)
    pairs = np.array(list(itertools.product(edges(real_bits), repeat=len(arguments)))).T
    arguments = [np.concatenate([a, b]) for a, b in zip(arguments, pairs, strict=True)]
    first, *others = [bit_pattern(call(name, real_bits, width, *arguments)) for width in widths()]
    for other in others:
        assert np.array_equal(first, other)


@pytest.mark.parametrize("real_bits", [64, 32])
@pytest.mark.parametrize("name", ACCURACY)
def test_a_lane_does_not_see_its_neighbours(name, real_bits):
    """Each point alone in its register, and next to NaN, infinite, huge, subnormal, ordinary."""
    width = widths()[-1]
    lanes = width * 8 // real_bits
    generator = np.random.default_rng(1)
    points = [generator.permutation(a)[:400] for a in sample(name, real_bits)]
    alone = call(name, real_bits, width, *(np.repeat(p, lanes) for p in points))[::lanes]
    neighbours = edges(real_bits)
    for neighbour in neighbours:
        mixed = [np.repeat(p, lanes) for p in points]
        for m in mixed:
            m[1::2] = neighbour
        together = call(name, real_bits, width, *mixed)[::lanes]
        assert np.array_equal(bit_pattern(alone), bit_pattern(together)), neighbour


# ---- the coefficients ----------------------------------------------------------------------------
def written(name, bits):
    """The table of csrc/vmath whose name is this one, perhaps with a letter for its polynomial."""
    form = rf"COEFFICIENTS\({name}(?:_[A-Z]|_START)?,\s*\(([^()]*)\),\s*\(([^()]*)\)\)"
    found = [m for path in VMATH.glob("*.h") for m in re.findall(form, path.read_text())]
    assert len(found) == 1
    numbers = [text.strip().rstrip("f") for text in found[0][bits == 24].split(",")]
    return [float.fromhex(text) if "x" in text else float(text) for text in numbers]


@pytest.mark.parametrize("bits", [53, 24])
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.long] * (name not in minimax.QUICK))
    for name in ("SIN", *minimax.POLYNOMIALS)])  # fmt: skip
def test_the_coefficients_are_those_of_the_best_fit(name, bits):
    assert [float(c) for c in minimax.fitted(name, bits)[0]] == written(name, bits)
