"""Zeros of polynomials are found, all of them and in order, however close together they lie."""

from fractions import Fraction

import numpy as np
import pytest
from conftest import every_case
from hypothesis import given, settings
from hypothesis import strategies as st

import pyintegrate as pi
from pyintegrate.theory import stability
from pyintegrate.theory.polynomials import first_exit, polynomial, refine, sign_changes

TOUCHED = Fraction(1, 10**12)


def with_zeros(zeros):
    p = polynomial([Fraction(1)])
    for zero in zeros:
        p = p * polynomial([-Fraction(zero), Fraction(1)])
    return p


positive = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)


@settings(max_examples=100 if every_case else 40, deadline=None)
@given(zeros=st.lists(positive, min_size=1, max_size=12, unique=True),
       others=st.lists(positive, max_size=6))  # fmt: skip
def test_every_positive_zero_is_isolated(zeros, others):
    p = with_zeros([*zeros, *(-x for x in others)])
    found = list(sign_changes(p))
    assert len(found) == len(zeros)
    for (low, high, _), zero in zip(found, sorted(zeros), strict=True):
        assert low <= zero <= high
        refined = refine(p, low, high) if low < high else low
        assert abs(refined - zero) <= zero / 2**59
    signs = [sign for *_, sign in found]
    assert signs == [(-1) ** (len(zeros) - 1 - i) for i in range(len(zeros))]


def test_zeros_that_lie_together_are_told_apart():
    close = [Fraction(3), Fraction(3) + Fraction(1, 10**15), Fraction(7)]
    assert [sign for *_, sign in sign_changes(with_zeros(close))] == [1, -1, 1]


def test_what_is_touched_is_not_crossed():
    p = -with_zeros([2, 2, -5])
    assert first_exit([p], TOUCHED) is None
    assert abs(first_exit([p + 10 * TOUCHED], TOUCHED) - 2) < 1e-5
    assert first_exit([[0, 1]], TOUCHED) == 0
    assert abs(first_exit([[0, -1, 1]], TOUCHED) - 1) < Fraction(1, 2**59)


def test_a_narrow_band_of_instability_is_seen():
    """Half the trace of 35 stages leaves [-1, 1] by 7e-8, over 8e-4 in omega dt."""
    trace = [float(c) for c in stability.half_trace(pi.methods["sofroniou_spaletta10"])]
    limit = pi.methods["sofroniou_spaletta10"].stability_limit
    s = np.square([limit - 3e-4, limit + 4e-4, limit + 9e-4])
    inside, band, beyond = abs(np.polyval(trace[::-1], s))
    assert inside < 1
    assert band > 1 + 1e-8
    assert beyond < 1


def test_steps_of_half_the_size_are_as_stable_as_one():
    parts = [("kick", 1 / 6), ("drift", 1 / 3), ("kick", 1 / 3), ("drift", 1 / 3)]
    thirds = pi.Composition([*parts, ("kick", 1 / 3), ("drift", 1 / 3), ("kick", 1 / 6)])
    # Three Verlet steps; their trace touches 1 and -1 on the way to the limit of each.
    assert thirds.stability_limit == pytest.approx(6, rel=1e-14)
