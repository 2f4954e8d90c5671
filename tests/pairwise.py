"""Cases from several factors: the whole product, or so many that each pair of values is in one."""

from itertools import combinations, product

import pytest


def cases(possible=lambda *_: True, **factors):
    """Marks a test by all possible combinations, of which the fewest with all pairs are quick.

    The others have the marker ``long``. possible: takes a value of each factor.
    """
    left = [case for case in product(*factors.values()) if possible(*case)]
    of = {case: set(combinations(enumerate(case), 2)) for case in left}
    missing, marked = set().union(*of.values()), []
    while missing:  # greedily
        best = max(left, key=lambda case: len(of[case] & missing))
        missing -= of[best]
        left.remove(best)
        marked.append(best)
    marked += [pytest.param(*case, marks=pytest.mark.long) for case in left]
    return pytest.mark.parametrize(tuple(factors), marked)
