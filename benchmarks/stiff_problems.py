"""Stiff problems, each a function of t, y and a parameter near 1 that NumPy, Numba, JAX and our own
tracing understand, with published end values for the parameter 1.

Mazzia, Magherini (2008), Test Set for Initial Value Problem Solvers, release 2.4, University of
Bari; E5: Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.10.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    title: str
    force: object  # of t, y and a parameter near 1, by which trajectories differ
    start: list
    t_end: float
    ratio: float  # atol / rtol
    published: list  # end values for the parameter 1

    @property
    def dim(self):
        return len(self.start)


def robertson(t, y, p):
    a, b, c = y
    slow, back, fast = 0.04 * p * a, 1e4 * b * c, 3e7 * b * b
    return back - slow, slow - back - fast, fast


def van_der_pol(t, y, p):
    x, v = y
    return v, 1e6 * p * ((1 - x * x) * v - x)


def hires(t, y, p):
    a, b, c, d, e, f, g, h = y
    r = 280 * p * f * h
    return (
        -1.71 * a + 0.43 * b + 8.32 * c + 0.0007, 1.71 * a - 8.75 * b,
        -10.03 * c + 0.43 * d + 0.035 * e, 8.32 * b + 1.71 * c - 1.12 * d,
        -1.745 * e + 0.43 * f + 0.43 * g, -r + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
        r - 1.81 * g, 1.81 * g - r,
    )  # fmt: skip


def oregonator(t, y, p):
    a, b, c = y
    return (
        77.27 * (b + a * (1 - 8.375e-6 * a - b)), (c - (1 + a) * b) / 77.27, 0.161 * p * (a - c),
    )  # fmt: skip


def e5(t, y, p):
    """Without the third component, y2 - y4: the charge would be lost in rounding to all digits."""
    a, b, d = y
    c = b - d
    r1, r2, r3, r4 = 7.89e-10 * p * a, 1.1e7 * a * c, 1.13e9 * b * c, 1.13e3 * d
    return -r1 - r2, r1 - r3, r2 - r4


def pollution(t, y, p):
    a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, q, r, s, u, v = y  # noqa: E741
    r1, r2, r3, r4, r5 = 0.35 * p * a, 26.6 * b * d, 1.23e4 * e * b, 8.6e-4 * g, 8.2e-4 * g
    r6, r7, r8, r9, r10 = 1.5e4 * g * f, 1.3e-4 * i, 2.4e4 * i * f, 1.65e4 * k * b, 9e3 * k * a
    r11, r12, r13, r14 = 0.022 * m, 1.2e4 * j * b, 1.88 * n, 1.63e4 * a * f
    r15, r16, r17, r18, r19 = 4.8e6 * c, 3.5e-4 * d, 0.0175 * d, 1e8 * q, 4.44e11 * q
    r20, r21, r22, r23 = 1240.0 * r * f, 2.1 * u, 5.78 * u, 0.0474 * a * d
    r24, r25 = 1780.0 * u * a, 3.12 * v
    return (
        r2 + r3 + r9 + r11 + r12 + r22 + r25 - r1 - r10 - r14 - r23 - r24,
        r1 + r21 - r2 - r3 - r9 - r12, r1 + r17 + r19 + r22 - r15, r15 - r2 - r16 - r17 - r23,
        2 * r4 + r6 + r7 + r13 + r20 - r3, r3 + 2 * r18 - r6 - r8 - r14 - r20,
        r13 - r4 - r5 - r6, r4 + r5 + r6 + r7, -r7 - r8, r7 + r9 - r12, r8 + r11 - r9 - r10,
        r9, r10 - r11, r12 - r13, r14, r16 - r18 - r19, -r20, r20, r23 + r25 - r21 - r22 - r24,
        r24 - r25,
    )  # fmt: skip


SMOG = [0, 0.2, 0, 0.04, 0, 0, 0.1, 0.3, 0.01, 0, 0, 0, 0, 0, 0, 0, 0.007, 0, 0, 0]
PROBLEMS = {
    "robertson": Problem("Robertson, t = 1e11", robertson, [1, 0, 0], 1e11, 1e-8, [
        0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]),
    "van_der_pol": Problem("van der Pol, mu = 1000", van_der_pol, [2, 0], 2.0, 1.0, [
        0.1706167732170483e1, -0.8928097010247975]),
    "hires": Problem("HIRES", hires, [1, 0, 0, 0, 0, 0, 0, 0.0057], 321.8122, 1e-4, [
        0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
        0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2,
        0.2850001604814231e-2]),
    "oregonator": Problem("Oregonator", oregonator, [1, 2, 3], 360.0, 1.0, [
        0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3]),
    # Published: 0.88677e-22 and 0.88548e-22 for what is equal in the end; their product is right.
    "e5": Problem("E5, t = 1e13", e5, [1.76e-3, 0, 0], 1e13, 1e-24, [
        0, (0.8867655517642120e-22 * 0.8854814626268838e-22) ** 0.5, 0]),
    "pollution": Problem("Pollution", pollution, SMOG, 60.0, 1e-6, [
        0.5646255480022769e-1, 0.1342484130422339, 0.4139734331099427e-8, 0.5523140207484359e-2,
        0.2018977262302196e-6, 0.1464541863493966e-6, 0.7784249118997964e-1, 0.3245075353396018,
        0.7494013383889406e-2, 0.1622293157301561e-7, 0.1135863833257075e-7, 0.2230505975721359e-2,
        0.2087162882798630e-3, 0.1396921016840158e-4, 0.8964884856898295e-2, 0.4352846369330103e-17,
        0.6899219696263405e-2, 0.1007803037365946e-3, 0.1772146513969984e-5,
        0.5682943292316392e-4]),
}  # fmt: skip
