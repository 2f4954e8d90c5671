"""The random numbers: the published generator, exact normals, independent streams."""

import mpmath
import numpy as np
import pytest
from scipy import stats

import pyintegrate as pi

# Random123 1.14 (Salmon et al. 2011), tests/kat_vectors: philox4x32 10, counter, key, result.
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def philox(counter, key):
    """Philox4x32-10 as its authors define it, in Python's integers."""
    c, (k0, k1) = counter, key
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = (b >> 32 ^ c[1] ^ k0, b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k1, a & 0xFFFFFFFF)
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_the_twin_gives_the_known_answers(counter, key, answer):
    assert philox(counter, key) == answer


def words(seed, trajectory, step, component, stream):
    """The 128 bits of a counter, by the published layout."""
    counter = step // 2 | component << 48 | trajectory << 64 | stream << 112
    parts = tuple(counter >> 32 * i & 0xFFFFFFFF for i in range(4))
    w = philox(parts, (seed & 0xFFFFFFFF, seed >> 32))
    return w[0] << 32 | w[1], w[2] << 32 | w[3]


def counters(n):
    draw = np.random.default_rng(5)
    limits = (2**63, 2**48, 2**49, 2**16)
    for _ in range(n):
        seed, *rest = (int(draw.integers(limit)) for limit in limits)
        yield (2 * seed + 1, *rest)
    yield (2**64 - 1, 2**48 - 1, 2**49 - 1, 2**16 - 1)
    yield (0, 0, 0, 0)


def test_uniform_numbers_are_those_of_the_published_counter():
    """52 bits of each half, in the middle of their cells: exactly."""
    for seed, trajectory, step, component in counters(200):
        bits = words(seed, trajectory, step, component, 2)[step % 2]
        expected = ((bits >> 12) + 0.5) * 2.0**-52
        assert pi.noise(seed, trajectory, step, component, stream=2) == expected


@pytest.mark.parametrize("stream", [0, 1])
def test_normals_are_exact_functions_of_their_bits(stream):
    """Logarithm, root, sine and product: four roundings, each below an ulp; 4 ulps together."""
    with mpmath.workdps(40):
        for seed, trajectory, step, component in counters(300):
            a, b = words(seed, trajectory, step, component, stream)
            u, turn = ((mpmath.mpf((w % 2**64) >> 12) + 0.5) / 2**52 for w in (a, b << 2))
            r, angle = mpmath.sqrt(-2 * mpmath.log(u)), (turn - 0.5) * mpmath.pi / 2
            pair = (mpmath.cos(angle), mpmath.sin(angle))
            pair = pair[::-1] if b >> 62 & 1 else pair
            exact = (-r if b >> 63 else r) * pair[step % 2]
            found = pi.noise(seed, trajectory, step, component, stream)
            assert abs(found / exact - 1) < 4 * 2.0**-52


def test_a_million_normals_have_the_normal_law():
    """Kolmogorov-Smirnov and chi-squared over 256 cells: p-values above 1e-4, for one seed."""
    z = pi.noise(11, np.arange(1000)[:, None], np.arange(1000)).ravel()
    assert stats.kstest(z, "norm").pvalue > 1e-4
    cells = np.bincount((stats.norm.cdf(z) * 256).astype(int), minlength=256)
    assert stats.chisquare(cells).pvalue > 1e-4
    # Moments 1 to 4 within 5 standard errors: variances of z^k are (2k-1)!! - E(z^k)^2.
    for k, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(z**k) - mean) < 5 * np.sqrt(variance / z.size)


def test_neighbours_along_each_axis_are_independent():
    """Correlations of z and of z^2 between neighbours stay within 5 standard errors of zero."""
    n = 100_000
    here = pi.noise(3, np.arange(n), 10)
    others = {
        "trajectory": pi.noise(3, np.arange(n) + 1, 10),
        "step": pi.noise(3, np.arange(n), 11),
        "pair": pi.noise(3, np.arange(n), 12),
        "component": pi.noise(3, np.arange(n), 10, component=1),
        "stream": pi.noise(3, np.arange(n), 10, stream=1),
        "seed": pi.noise(4, np.arange(n), 10),
        "high seed": pi.noise(3 + 2**32, np.arange(n), 10),
        "high trajectory": pi.noise(3, np.arange(n) + 2**32, 10),
    }
    for name, there in others.items():
        assert abs(np.corrcoef(here, there)[0, 1]) < 5 / np.sqrt(n), name
        assert abs(np.corrcoef(here**2, there**2)[0, 1]) < 5 / np.sqrt(n), name


def test_arrays_broadcast_and_give_the_single_numbers():
    block = pi.noise(9, np.arange(70)[:, None], np.arange(4), component=2)
    assert block.shape == (70, 4)
    assert block[69, 3] == pi.noise(9, 69, 3, component=2)
    assert pi.noise(9, np.empty(0, int), 0).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((-1, 0, 0), "seed must be at least 0"),
        ((2**64, 0, 0), "seed must be at most"),
        ((1.5, 0, 0), "seed must be an integer"),
        ((1, -1, 0), "trajectory must be from 0 to"),
        ((1, 2**48, 0), "trajectory must be from 0 to"),
        ((1, 0.5, 0), "trajectory must be whole numbers"),
        ((1, 0, 2**49), "step must be from 0 to"),
        ((1, 0, 0, 2**16), "component must be from 0 to"),
        ((1, 0, 0, 0, 4), "stream must be at most 3"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments, said):
    with pytest.raises((TypeError, ValueError), match=said):
        pi.noise(*arguments)
