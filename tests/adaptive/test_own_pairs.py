"""User-defined methods with an error estimate: the tables of the catalogue, given by hand."""

import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

# One estimate whose weights sum to 1: explicit ones, with and without a last stage that serves the
# next step, and an implicit one.
NAMES = [
    name
    for name, m in pi.methods.items()
    if m.family in ("explicit_rk", "implicit_rk")
    and m.embedded
    and "order2" not in m.embedded
    and abs(sum(m.embedded["b"]) - 1) < 1e-12
]


def by_hand(name):
    m = pi.methods[name]
    return pi.RungeKutta(**m.coefficients, b_embedded=m.embedded["b"], name="own_" + name)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_by_hand_has_the_bits_of_the_catalogue(name):
    own, known = by_hand(name), pi.methods[name]
    assert own.embedded == known.embedded
    for system, end in ((pi.systems.pendulum, 5.0), (pi.systems.lorenz, 1.0)):
        a, b = (pi.solve(system, t_end=end, method=m, rtol=1e-7) for m in (own, known))
        assert same_bits(a.y, b.y)
        assert abs(a.at(0.77) - b.at(0.77)).max() < 1e-4  # rtol 1e-7, polynomials of their own
        assert a.evaluations == b.evaluations


def test_all_kinds_are_there():
    assert len(NAMES) >= 15
    assert {pi.methods[name].implicit for name in NAMES} == {True, False}


def test_it_is_certified_pickled_and_stored(tmp_path):
    third = Fraction(1, 3)
    A = [[0, 0, 0], [third, 0, 0], [0, 2 * third, 0]]
    heun = pi.RungeKutta(A, [Fraction(1, 4), 0, Fraction(3, 4)], b_embedded=[0, 0.5, 0.5])
    assert heun.order == 3
    assert heun.embedded["order"] == 2
    certificate = heun.certificate()
    assert certificate.holds
    assert re.search("order of weights 1 of the error estimate +2 +2 +conditions", str(certificate))
    again = pickle.loads(pickle.dumps(heun))
    assert again == heun
    assert again.embedded == heun.embedded
    sol = pi.solve(pi.systems.spring, t_end=3.0, method=heun)
    sol.save(tmp_path / "own.npz")
    loaded = pi.load(tmp_path / "own.npz")
    assert loaded.method.embedded == heun.embedded
    assert loaded.digest() == sol.digest()
    assert same_bits(loaded.resume(t_end=4.0).final, sol.resume(t_end=4.0).final)
    np.testing.assert_allclose(sol.final, sol.exact()[-1], atol=1e-4)  # rtol 1e-6, 3000 steps


@pytest.mark.parametrize(("weights", "told"), [
    ([0.5, 0.5], "b_embedded is b"),
    ([0.5, 0.6], "sum of b_embedded is 1.1"),
    ([1.0], r"b_embedded has shape \(1,\), expected \(2,\)"),
    ([np.nan, 1.0], "b_embedded must be finite"),
])  # fmt: skip
def test_weights_that_estimate_nothing_are_refused(weights, told):
    with pytest.raises(ValueError, match=told):
        pi.RungeKutta([[0, 0], [1, 0]], [0.5, 0.5], b_embedded=weights)


@pytest.mark.parametrize("order", [None, 1])
def test_an_estimate_needs_another_order(order):
    with pytest.raises(ValueError, match="b_embedded has order 1, as b"):
        pi.RungeKutta([[0, 0], [0.1, 0]], [0.5, 0.5], b_embedded=[0.49, 0.51], order=order)


def test_methods_with_other_estimates_differ():
    a, b = (pi.RungeKutta([[0, 0], [1, 0]], [0.5, 0.5], b_embedded=w) for w in ([1, 0], [0, 1]))
    assert a == pickle.loads(pickle.dumps(a)) != b


def test_without_an_estimate_it_is_refused_by_solve():
    with pytest.raises(ValueError, match="'my_runge_kutta' has no error estimate.*b_embedded="):
        pi.solve(pi.systems.spring, t_end=1.0, method=pi.RungeKutta([[0]], [1]))
    with pytest.raises(ValueError, match=r"'rk4' .* the fixed steps of pi.integrate\(.*'auto'"):
        pi.solve(pi.systems.spring, t_end=1.0, method="RK4")
