"""A published model of a cell, whose optimum is known: the benchmark collection has its data.

Boehm et al. (2014), J. Proteome Res. 13, 5685-5694: the proteins STAT5A and STAT5B are
phosphorylated in pairs, imported into the nucleus, and exported again. Data, nominal parameters and
formulas of observables from the collection of Hass et al. (2019), Bioinformatics 35, 3073-3082
(PEtab); the errors of the data, which are estimated there, are fixed at their optimum.
"""

import numpy as np

import pyintegrate as pi

TIMES = [0.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0, 120.0, 160.0, 200.0,
         240.0]  # fmt: skip
A = [7.90107299873911, 66.3634939682528, 81.1713239165337, 94.7303080627876, 95.1164830493244,
     91.44171655392, 91.2570992263545, 93.672297840992, 88.754232823019, 85.2697032178279,
     81.1323953369608, 76.135928475796, 65.2480591250229, 42.5996587097166, 25.1577975445976,
     15.4301823994994]  # fmt: skip
B = [4.59653334288927, 29.6345459874189, 46.0438064695701, 81.9747336191685, 80.5716092952489,
     79.0357196371442, 75.6723803658298, 71.6247198618303, 69.0628632755742, 67.1473843168934,
     60.8994762938824, 54.8092577721492, 43.9812899778025, 29.7714581636675, 20.089016562771,
     10.961845166698]  # fmt: skip
R = [14.7231682180584, 33.762342293107, 36.7998512942493, 49.7176022859654, 46.9281200952955,
     47.8365745550135, 46.9287272497385, 40.5977529351181, 43.783663885071, 44.4573876523855,
     41.3271592618297, 41.0627332148332, 39.2358300289377, 36.6194605442418, 34.8937144010561,
     32.2110771608676]  # fmt: skip
SIGMA = [3.85261197844677, 6.59147818673419, 3.15271275648527]
NOMINAL = {"epo": 0.026982514033029, "exp_hetero": 1.00067973851508e-05,
           "exp_homo": 0.006170228086381, "imp_hetero": 0.0163679184468,
           "imp_homo": 97749.3794024716, "phos": 15766.5070195731}  # fmt: skip
RATIO, SPECIFIC, CYTOPLASM, NUCLEUS = 0.693, 0.107, 1.4, 0.45
LOGS = {name: np.log10(value) for name, value in NOMINAL.items()}


@pi.rhs(dim=8, initial=[207.6 * RATIO, 207.6 * (1 - RATIO), 0, 0, 0, 0, 0, 0], **LOGS)
def cell(t, y, epo, exp_hetero, exp_homo, imp_hetero, imp_homo, phos):
    """Parameters are decimal logarithms."""
    a, b, ab, aa, bb, nab, naa, nbb = y
    k = 10.0**phos * 1.25e-7 * np.exp(-(10.0**epo) * t)
    hetero, homo = 10.0**imp_hetero, 10.0**imp_homo
    back, back_homo = 10.0**exp_hetero, 10.0**exp_homo
    n, c = NUCLEUS, CYTOPLASM
    return (
        -2 * k * a * a - k * a * b + n / c * (2 * back_homo * naa + back * nab),
        -2 * k * b * b - k * a * b + n / c * (2 * back_homo * nbb + back * nab),
        k * a * b - hetero * ab,
        k * a * a - homo * aa,
        k * b * b - homo * bb,
        c / n * hetero * ab - back * nab,
        c / n * homo * aa - back_homo * naa,
        c / n * homo * bb - back_homo * nbb,
    )


def share_a(t, y):
    a, _, ab, aa = y[0], y[1], y[2], y[3]
    return (100 * ab + 200 * aa * SPECIFIC) / (ab + a * SPECIFIC + 2 * aa * SPECIFIC)


def share_b(t, y):
    b, ab, bb, s = y[1], y[2], y[4], 1 - SPECIFIC
    return (100 * ab + 200 * bb * s) / (b * s + ab + 2 * bb * s)


def relative(t, y):
    a, b, ab, aa, bb, s = y[0], y[1], y[2], y[3], y[4], 1 - SPECIFIC
    above = 100 * ab + 100 * a * SPECIFIC + 200 * aa * SPECIFIC
    return above / (2 * ab + a * SPECIFIC + 2 * aa * SPECIFIC + b * s + 2 * bb * s)


def test_the_optimum_is_the_published_one():
    data = np.stack([A, B, R], axis=-1)
    begun = cell(epo=-1.7, exp_homo=-2.3, imp_hetero=-1.7, phos=4.1)
    found = pi.fit(begun, TIMES, data, free=dict.fromkeys(LOGS, (-5, 5)), sigma=SIGMA,
                   observe=[share_a, share_b, relative])  # fmt: skip
    # At the published errors of the data, which are at their optimum too, chi^2 is the number of
    # data; two parameters end at the bounds of the collection, beside their published values.
    assert np.isclose(found.cost, 48.0, rtol=1e-3)
    assert found.parameters["exp_hetero"] == -5
    for name in "epo", "exp_homo", "imp_hetero", "phos":
        assert abs(found.parameters[name] - LOGS[name]) < 0.01 * found.standard_errors[name]
