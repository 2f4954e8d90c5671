"""Points that fill a box evenly: Sobol's sequence."""

import numpy as np

from .checks import integer

# For each dimension a primitive polynomial, its bits as a number, and the first numbers m; those of
# the first dimension are all 1.
# Joe, Kuo (2008), SIAM J. Sci. Comput. 30, 2635: new-joe-kuo-6.21201.
_NUMBERS = """
0:1 3:1 7:1,3 11:1,3,1 13:1,1,1 19:1,1,3,3 25:1,3,5,13 37:1,1,5,5,17 41:1,1,5,5,5 47:1,1,7,11,19
55:1,1,5,1,1 59:1,1,1,3,11 61:1,3,5,5,31 67:1,3,3,9,7,49 91:1,1,1,15,21,21 97:1,3,1,13,27,49
103:1,1,1,15,7,5 109:1,3,1,15,13,25 115:1,1,5,5,19,61 131:1,3,7,11,23,15,103
137:1,3,7,13,13,15,69 143:1,1,3,13,7,35,63 145:1,3,5,9,1,25,53 157:1,3,1,13,9,35,107
167:1,3,1,5,27,61,31 171:1,1,5,11,19,41,61 185:1,3,5,3,3,13,69 191:1,1,7,13,1,19,1
193:1,3,7,5,13,19,59 203:1,1,3,9,25,29,41 211:1,3,5,13,23,1,55 213:1,3,7,3,13,59,17
"""
_BITS = 32


def sobol_points(n, dim, seed=None):
    """The first n points of Sobol's sequence in the unit cube; past 32 dimensions random ones.

    Parameters
    ----------
    n, dim : int
    seed : int, optional
        Of a digital shift, which keeps the evenness; without one the first point is the origin.

    Returns
    -------
    ndarray
        (n, dim), in [0, 1).

    Examples
    --------
    >>> sobol_points(4, 2).tolist()
    [[0.0, 0.0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    known = _NUMBERS.split()
    digits = np.arange(n) ^ (np.arange(n) >> 1)  # Gray code
    found = np.random.default_rng(0).integers(1 << _BITS, size=(n, dim))
    found[:, : len(known)] = 0
    for d, one in enumerate(known[:dim]):
        polynomial, first = one.split(":")
        bits, numbers = int(polynomial), [int(m) for m in first.split(",")]
        s = len(numbers)
        for k in range(s, _BITS):  # m_k = m_(k-s) ^ 2^s m_(k-s) ^ sum of 2^j a_j m_(k-j)
            m = numbers[k - s]
            for j in range(1, s + 1):
                m ^= (bits >> s - j & 1) * (numbers[k - j] << j)
            numbers.append(m)
        for k in range(max(n - 1, 0).bit_length()):
            found[:, d] ^= np.where(digits >> k & 1, numbers[k] << _BITS - 1 - k, 0)
    if seed is not None:
        found ^= np.random.default_rng(integer("seed", seed, 0, 1 << 64)).integers(
            1 << _BITS, size=dim
        )
    return found / 2.0**_BITS
