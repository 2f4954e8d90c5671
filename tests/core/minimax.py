"""The polynomials of vmath: weighted minimax fits (Remez), rounded one coefficient after the other.

    python minimax.py [name ...]      coefficients for float64 and float32, and the largest errors

An error is relative to the function, in units of 2^-53 (float32: 2^-24): half an ulp of 1.
"""

import sys

from mpmath import mp, mpf

mp.dps = 60


def rounded(v, bits):
    mantissa, exponent = mp.frexp(v)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def value(c, t, low=0):
    return sum(ck * t**k for k, ck in enumerate(c, low))


def extrema(error, n):
    """Indices of n extrema of alternating sign; the smallest are given up, ends or pairs."""
    chosen = []
    for i, e in enumerate(error):
        if not chosen or e * error[chosen[-1]] < 0:
            chosen.append(i)
        elif abs(e) > abs(error[chosen[-1]]):
            chosen[-1] = i
    while len(chosen) > n:
        size = [abs(error[i]) for i in chosen]
        first = min(range(len(size) - 1), key=lambda i: max(size[i : i + 2]))
        end = slice(1) if size[0] < size[-1] else slice(-1, None)
        del chosen[end if len(chosen) == n + 1 else slice(first, first + 2)]
    return chosen


def remez(g, weight, a, b, low, n):
    """c_low ... c_{n-1} with the least max |weight(t) (sum c_k t^k - g(t))| on [a, b]."""
    m, third = n - low + 1, mpf(1) / 3

    def nodes(m):
        angles = [mp.pi * (i + third) / (m + 2 * third) for i in range(m + 1)]
        return [(a + b) / 2 - (b - a) / 2 * mp.cos(angle) for angle in angles]

    grid = nodes(30 * m)
    # All terms contain t^low: for odd low the error turns its sign once more, at t = 0.
    turns = [-1 if low % 2 and t < 0 else 1 for t in grid]
    values, weights = [g(t) for t in grid], [weight(t) for t in grid]
    chosen = [min(range(len(grid)), key=lambda j: abs(grid[j] - t)) for t in nodes(m - 1)]
    best = None, mpf("inf")
    for _ in range(15):
        rows = [[weights[j] * grid[j] ** k for k in range(low, n)] for j in chosen]
        rows = [row + [(-1) ** i * turns[chosen[i]]] for i, row in enumerate(rows)]
        aims = [weights[j] * values[j] for j in chosen]
        *c, level = mp.lu_solve(mp.matrix(rows), mp.matrix(aims))
        points = zip(turns, grid, weights, values, strict=True)
        error = [turn * w * (value(c, t, low) - v) for turn, t, w, v in points]
        largest = max(map(abs, error))
        best = min(best, (c, largest), key=lambda pair: pair[1])
        chosen = extrema(error, m)
        if len(chosen) < m or largest < abs(level) * mpf("1.001"):
            break
    return best[0]


def fit(g, weight, a, b, n, bits, fixed=()):
    """n coefficients of `bits` bits: each is rounded, then the rest is fitted again."""
    c = list(map(mpf, fixed))
    while len(c) < n:
        tail = remez(lambda t: g(t) - value(c, t), weight, a, b, len(c), n)
        c.append(rounded(tail[0], bits))
    points = [a + (b - a) * (i + mpf(1) / 3) / 1000 for i in range(1000)]
    return c, max(abs(weight(t) * (g(t) - value(c, t))) for t in points)


def tail(f, *start):
    """g(t) = (f(r)/r - start[0] - start[1] t - ...) / t^k, r^2 = t; and the share of t^k in f/r."""
    k = len(start)

    def g(t):
        with mp.extradps(20 + 20 * k):
            r = mp.sqrt(abs(t) + mpf(10) ** -25)
            return (f(r) / r - sum(c * r ** (2 * i) for i, c in enumerate(start))) / r ** (2 * k)

    return g, lambda t: abs(t) ** k * mp.sqrt(abs(t)) / abs(f(mp.sqrt(abs(t))))


def sine(bits, n):
    """sin r = r + r W(y), y = Y0 - r^2; Y0: the first below 2 where W(0), W'(0) are reals."""
    y0, end = mpf(2), (mp.pi / 2 + mpf(2) ** (13 - bits)) ** 2

    def sinc(z):
        return mp.sin(mp.sqrt(z)) / mp.sqrt(z) if z > mpf(10) ** -40 else mpf(1)

    def w_and_weight(y0):
        return lambda y: sinc(y0 - y) - 1, lambda y: 1 / sinc(y0 - y)

    def loss(v):
        return abs(v - rounded(v, bits)) * mpf(2) ** (bits - mp.frexp(v)[1])

    while True:
        y0 -= mpf(2) ** (1 - bits)
        r = mp.sqrt(y0)
        w0, w1 = mp.sin(r) / r - 1, (mp.sin(r) - r * mp.cos(r)) / (2 * r**3)
        if loss(w0) > 0.004 or loss(w1) > 0.01:
            continue
        fixed = rounded(w0, bits), rounded(w1, bits)
        c, error = fit(*w_and_weight(y0), y0 - end, y0, n, bits, fixed)
        w = c[-1]
        for ck in c[-2::-1]:
            w = rounded(w * y0 + ck, bits)
        if 0 <= w < mpf(2) ** (-bits - 2) and error < mpf(2) ** (-bits - 7):
            print("Y0", float(y0).hex())
            return c, error


EXP = lambda r: mp.expm1(r) / r, lambda r: abs(r) / mp.exp(r)
LOG = lambda f: (mp.log1p(f) - f) / f**2, lambda f: f**2 / abs(mp.log1p(f))
COSH = lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z, lambda z: z
QUARTER, HALF_LN2 = mp.pi / 4 + mpf(2) ** -12, mp.log(2) / 2 + mpf(2) ** -20  # and a little
LOW, HIGH = mp.sqrt(mpf(1) / 2), mp.sqrt(mpf(2))
# name: (g, weight, a, b, coefficients for float64, for float32, leading coefficients)
POLYNOMIALS = {
    "SIN_QUARTER": (*tail(mp.sin, 1), 0, QUARTER**2, 6, 3, ()),
    "TAN": (*tail(mp.tan, 1), 0, QUARTER**2, 15, 6, ()),
    "ASIN": (*tail(mp.asin, 1), 0, 0.25, 12, 5, ()),
    "ATAN": (*tail(mp.atan, 1), 0, 1, 20, 8, ()),
    "EXP": (*EXP, -HALF_LN2, HALF_LN2, 11, 6, (1,)),
    "LOG": (*LOG, LOW - 1, HIGH - 1, 20, 9, (-0.5,)),
    "SINH": (*tail(mp.sinh, 1), 0, HALF_LN2**2, 5, 2, ()),
    "COSH": (*COSH, 0, HALF_LN2**2, 6, 3, (0.5,)),
    "ATANH": (*tail(mp.atanh, 1, mpf(1) / 3), 0, (3 - mp.sqrt(mpf(8))) ** 2, 7, 3, ()),
    "CBRT": (lambda m: 1 / mp.cbrt(m), mp.cbrt, LOW, HIGH, 5, 3, ()),
}

QUICK = ("SIN_QUARTER", "SINH", "COSH", "CBRT")  # fitted in about a second


def fitted(name, bits):
    """The coefficients of a table of csrc/vmath, and the largest error."""
    column = (53, 24).index(bits)
    if name == "SIN":
        return sine(bits, (9, 6)[column])
    g, weight, a, b, *n, fixed = POLYNOMIALS[name]
    return fit(g, weight, mpf(a), mpf(b), n[column], bits, fixed)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["SIN", *POLYNOMIALS]:
        for bits in (53, 24):
            c, error = fitted(name, bits)
            size = f"{float(error * 2**bits):.2g} 2^-{bits}"
            print(f"{name} float{64 if bits == 53 else 32}, error {size}")
            print("    " + ", ".join(float(ck).hex() for ck in c))
