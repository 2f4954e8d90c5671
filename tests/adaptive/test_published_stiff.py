"""The stiff test set: published end values, and what "auto" needs beside Radau's method alone.

Problems and end values: Mazzia, Magherini (2008), Test Set for Initial Value Problem Solvers,
release 2.4, University of Bari; their digits are good to 1e-10 and more. E5 and the pollution
problem are of Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.10.
"""

import numpy as np
import pytest
from test_stiff import ROBERTSON_END, robertson

import pyintegrate as pi

K = (
    0.35, 26.6, 1.23e4, 8.6e-4, 8.2e-4, 1.5e4, 1.3e-4, 2.4e4, 1.65e4, 9e3, 0.022, 1.2e4, 1.88,
    1.63e4, 4.8e6, 3.5e-4, 0.0175, 1e8, 4.44e11, 1240.0, 2.1, 5.78, 0.0474, 1780.0, 3.12,
)  # fmt: skip
# The two species that each of the 25 reactions consumes, the second one -1 for none.
USES = (
    (0, -1), (1, 3), (4, 1), (6, -1), (6, -1), (6, 5), (8, -1), (8, 5), (10, 1), (10, 0), (12, -1),
    (9, 1), (13, -1), (0, 5), (2, -1), (3, -1), (3, -1), (15, -1), (15, -1), (16, 5), (18, -1),
    (18, -1), (0, 3), (18, 0), (19, -1),
)  # fmt: skip
# How many of each species a reaction makes: (reaction, species, number).
MAKES = (
    [(r, 0, 1) for r in (2, 3, 9, 11, 12, 22, 25)] + [(r, 0, -1) for r in (1, 10, 14, 23, 24)]
    + [(r, 1, 1) for r in (1, 21)] + [(r, 1, -1) for r in (2, 3, 9, 12)]
    + [(r, 2, 1) for r in (1, 17, 19, 22)] + [(15, 2, -1), (15, 3, 1)]
    + [(r, 3, -1) for r in (2, 16, 17, 23)] + [(4, 4, 2), (3, 4, -1)]
    + [(r, 4, 1) for r in (6, 7, 13, 20)] + [(3, 5, 1), (18, 5, 2)]
    + [(r, 5, -1) for r in (6, 8, 14, 20)] + [(13, 6, 1)] + [(r, 6, -1) for r in (4, 5, 6)]
    + [(r, 7, 1) for r in (4, 5, 6, 7)] + [(7, 8, -1), (8, 8, -1), (7, 9, 1), (9, 9, 1)]
    + [(12, 9, -1), (8, 10, 1), (11, 10, 1), (9, 10, -1), (10, 10, -1), (9, 11, 1), (10, 12, 1)]
    + [(11, 12, -1), (12, 13, 1), (13, 13, -1), (14, 14, 1), (16, 15, 1), (18, 15, -1)]
    + [(19, 15, -1), (20, 16, -1), (20, 17, 1), (23, 18, 1), (25, 18, 1)]
    + [(r, 18, -1) for r in (21, 22, 24)] + [(24, 19, 1), (25, 19, -1)]
)  # fmt: skip


@pi.rhs(dim=20)
def pollution(t, y):
    rate = [k * y[a] * (y[b] if b >= 0 else 1.0) for k, (a, b) in zip(K, USES, strict=True)]
    total = [0.0] * 20
    for reaction, species, number in MAKES:
        total[species] = total[species] + number * rate[reaction - 1]
    return total


@pi.rhs(dim=8)
def hires(t, y):
    a, b, c, d, e, f, g, h = y
    return (
        -1.71 * a + 0.43 * b + 8.32 * c + 0.0007, 1.71 * a - 8.75 * b,
        -10.03 * c + 0.43 * d + 0.035 * e, 8.32 * b + 1.71 * c - 1.12 * d,
        -1.745 * e + 0.43 * f + 0.43 * g,
        -280 * f * h + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
        280 * f * h - 1.81 * g, -280 * f * h + 1.81 * g,
    )  # fmt: skip


@pi.rhs(dim=3)
def oregonator(t, y):
    a, b, c = y
    return (
        77.27 * (b + a * (1 - 8.375e-6 * a - b)), (c - (1 + a) * b) / 77.27, 0.161 * (a - c),
    )  # fmt: skip


@pi.rhs(dim=3)
def e5(t, y):
    """Without y3 = y2 - y4: this charge is lost in rounding when all are 1e-22."""
    a, b, d = y
    c = b - d
    r1, r2, r3, r4 = 7.89e-10 * a, 1.1e7 * a * c, 1.13e9 * b * c, 1.13e3 * d
    return -r1 - r2, r1 - r3, r2 - r4


van_der_pol = pi.rhs(dim=2)(lambda t, y: (y[1], ((1 - y[0] ** 2) * y[1] - y[0]) / 1e-6))
POLLUTION_START = np.zeros(20)
POLLUTION_START[[1, 3, 6, 7, 8, 16]] = 0.2, 0.04, 0.1, 0.3, 0.01, 0.007

# name: system, start, end, atol / rtol, published end values
PROBLEMS = {
    "HIRES": (hires, [1.0, 0, 0, 0, 0, 0, 0, 0.0057], 321.8122, 1.0, [
        0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
        0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2,
        0.2850001604814231e-2]),
    "Oregonator": (oregonator, [1.0, 2, 3], 360.0, 1.0, [
        0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3]),
    "Robertson": (robertson, [1.0, 0, 0], 1e11, 1e-8, ROBERTSON_END),
    "van der Pol": (van_der_pol, [2.0, 0], 2.0, 1.0, [
        0.1706167732170483e1, -0.8928097010247975]),
    "pollution": (pollution, POLLUTION_START, 60.0, 1.0, [
        0.5646255480022769e-1, 0.1342484130422339, 0.4139734331099427e-8, 0.5523140207484359e-2,
        0.2018977262302196e-6, 0.1464541863493966e-6, 0.7784249118997964e-1, 0.3245075353396018,
        0.7494013383880406e-2, 0.1622293157301561e-7, 0.1135863833257075e-7, 0.2230505975721359e-2,
        0.2087162882798630e-3, 0.1396921016840158e-4, 0.8964884856898295e-2, 0.4352846369330103e-17,
        0.6899219696263405e-2, 0.1007803037365946e-3, 0.1772146513969984e-5,
        0.5682943292316392e-4]),
}  # fmt: skip


def run(name, rtol, method="auto", **options):
    system, start, end, ratio, _ = PROBLEMS[name]
    return pi.solve(system, start, t_end=end, rtol=rtol, atol=ratio * rtol, method=method,
                    save="final", **options)  # fmt: skip


@pytest.mark.parametrize("method", ["auto", "radau_iia5"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_published_end_values(name, method):
    """To a hundred times rtol = 1e-8 of the largest components, as codes are compared there."""
    sol, end = run(name, 1e-8, method), np.array(PROBLEMS[name][4])
    assert sol.status == pi.Status.OK
    large = abs(end) > 1e-4 * abs(end).max() * PROBLEMS[name][3] ** 2
    assert np.max(abs(sol.final / end - 1)[large]) < 1e-6


@pytest.mark.long
@pytest.mark.parametrize("rtol", [1e-5, 1e-7, 1e-10])
@pytest.mark.parametrize("method", ["auto", "radau_iia5", "kvaerno54", "rodas5p"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_published_end_values_at_each_tolerance(name, method, rtol):
    """Relative to the largest component: errors grow to a thousand times what a step is allowed."""
    sol, end = run(name, rtol, method), np.array(PROBLEMS[name][4])
    assert sol.status == pi.Status.OK
    assert np.max(abs(sol.final - end)) < 1e3 * rtol * abs(end).max()


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("name", PROBLEMS)
def test_auto_sees_soon_that_it_is_stiff(name, rtol):
    """A hundred explicit steps, some of Radau's time, before it goes on as Radau's method alone."""
    auto, radau = run(name, rtol), run(name, rtol, "radau_iia5")
    assert np.isfinite(auto.stiff_since)
    tries, alone = (int(sol.steps_taken + sol.rejected) for sol in (auto, radau))
    if name != "Oregonator":  # smooth for a while, and stiff again
        assert tries <= alone + 100
    assert tries <= 2 * alone + 100


def test_auto_on_robertson_to_1e8():
    """Fewer evaluations than SciPy asks of LSODA."""
    sol = pi.solve(robertson, [1.0, 0, 0], t_end=1e8, rtol=1e-6, atol=[1e-6, 1e-10, 1e-6])
    assert sol.status == pi.Status.OK
    assert sol.evaluations <= 5000


def test_e5_over_thirteen_decades():
    """y2 = y3 in the end; published as 0.88677e-22 and 0.88548e-22, whose product is right."""
    sol = pi.solve(e5, [1.76e-3, 0, 0], t_end=1e13, rtol=1e-7, atol=1e-30, save="final")
    assert sol.status == pi.Status.OK
    published = np.sqrt(0.8867655517642120e-22 * 0.8854814626268838e-22)
    assert sol.final[1] == pytest.approx(published, rel=1e-6, abs=0)
