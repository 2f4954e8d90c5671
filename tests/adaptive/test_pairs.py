"""The weights that estimate errors, in exact arithmetic; and the control in the core."""

import re

import numpy as np
import pytest
from places import ROOT

import pyintegrate as pi
from pyintegrate.theory.order_conditions import embedded_orders

PAIRS = [name for name, method in pi.methods.items() if method.embedded]


@pytest.mark.parametrize("name", PAIRS)
def test_embedded_weights_have_their_order_and_no_more(name):
    """Merson's companion is of order 3 on nonlinear problems: the trees say so."""
    declared = pi.methods[name].embedded
    orders = [declared["order"]] + ([declared["order2"]] if "order2" in declared else [])
    assert embedded_orders(pi.methods[name]) == orders


# The weights of a Rosenbrock method are not those of slopes.
@pytest.mark.parametrize("name", [m for m in PAIRS if pi.methods[m].family != "rosenbrock"])
def test_the_estimate_vanishes_on_polynomials_up_to_its_order(name):
    """sum (b - b*) c^(k-1) = 0 for k up to the lower of the orders, from the doubles themselves."""
    method = pi.methods[name]
    c = np.array(method.coefficients["c"])
    low = min(method.order, method.embedded["order"])
    if method.family == "nystrom":  # of order p in the positions: up to c^(p-2)
        for weights, highest in (("b", low - 1), ("velocity", low)):
            difference = np.array(method.coefficients[weights]) - method.embedded[weights]
            for k in range(1, highest + 1):
                assert abs(difference @ c ** (k - 1)) <= 1e-14 * np.abs(difference).sum()
        return
    difference = np.array(method.coefficients["b"]) - method.embedded["b"]
    slope = 1 - np.sum(method.embedded["b"])  # of f(t, y), at c = 0, where that is no stage
    if abs(slope) > 1e-12:
        difference, c = np.append(difference, -slope), np.append(c, 0.0)
    for k in range(1, low + 1):
        # Sums of products with 16 digits each.
        assert abs(difference @ c ** (k - 1)) <= 1e-14 * np.abs(difference).sum()


def test_every_descriptor_with_embedded_weights_is_a_pair():
    files = ROOT.glob("csrc/methods/*.h")
    named = {p.stem for p in files if re.search(r"\.b_embedded = ", p.read_text())}
    assert named == set(PAIRS)
