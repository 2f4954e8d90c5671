"""What a method declares is what is found: orders, evaluations, symmetry, stability, errors."""

import json
import re
import sys
from functools import cache

import pytest
from conftest import every_case
from places import ROOT, TESTS
from reference import POINT_METHODS, declared

import pyintegrate as pi
from pyintegrate.analysis import real_stability_limit
from pyintegrate.certificate import orders_with_noise, twin
from pyintegrate.certificate.certificate import certify, measured_order

GOLDEN = {
    name: values
    for name, *values in map(str.split, (TESTS / "golden/methods.txt").read_text().splitlines())
    if name != "#"
}
STORED = json.loads((ROOT / "docs/certificates.json").read_text())
every = pytest.mark.parametrize("name", [m.name for m in POINT_METHODS])


@cache
def certificate(name):
    """Many digits take seconds, and from order 5 on doubles seldom do: the page has them, and one
    problem is left to the test below.

    (So do implicit and multistep methods, with Newton's iterations and hundreds of steps:
    test_measured_order has them all.)
    """
    method = pi.methods[name]
    quick = method.self_starting and not method.implicit
    return certify(name, measure=quick and method.order <= (6 if every_case else 4))


@every
def test_what_is_declared_is_found(name):
    found = certificate(name)
    assert found.failures == ()
    assert found.residual == 0 or found.rounding > 0
    assert found.residual < 1e-46
    assert found.next_residual > 1e-9


HIGH = [m.name for m in POINT_METHODS if m.order > 6]


@pytest.mark.parametrize("name", HIGH[:: 1 if every_case else 4])  # all in test_measured_order
def test_high_orders_are_measured_in_many_digits(name):
    order, digits = measured_order(pi.methods[name], twin.PENDULUM)
    assert digits == 50
    assert abs(order - pi.methods[name].order) < 0.1


@every
def test_errors_and_limits_are_those_of_another_computation(name):
    evaluations, oscillator, real, error = GOLDEN[name]
    found = certificate(name)
    assert found.evaluations == int(evaluations)
    # Printed with 12 digits.
    assert found.stability_limit == pytest.approx(float(oscillator), rel=1e-11)
    assert found.error_constant == pytest.approx(float(error), rel=1e-11)
    if real == "-":
        assert found.real_stability_limit is None
    else:
        assert found.real_stability_limit == pytest.approx(float(real), rel=1e-11)


def test_the_stored_certificates_are_those_of_the_catalogue():
    certified = [m.name for m in pi.methods.values() if m.requires != "rigid_body"]
    assert list(STORED) == certified + list(pi.methods.noise), "run `make certificates`"
    for method in POINT_METHODS:
        name, stored = method.name, STORED[method.name]
        assert stored["holds"]
        assert float(stored["stability_limit"]) == method.stability_limit
        assert (stored["order"], stored["evaluations"]) == (method.order, method.evaluations)
        page = (ROOT / "docs/methods.md").read_text()
        assert f"| `{name}` | {method.order} |" in page


@pytest.mark.parametrize("method", pi.methods.noise.values(), ids=str)
def test_orders_with_noise_are_measured_with_intervals(method):
    """The stored ones from 1e7 paths; a few paths here find the same, within both intervals."""
    stored = STORED[method.name]
    assert stored["holds"]
    assert stored["paths"] == 10**7
    found = orders_with_noise.certify(method, 20_000)
    for kind in ("strong_order", "weak_order", "stationary_order"):
        assert stored[kind] == getattr(method, kind)
        if (order := getattr(found, kind)) is None:
            assert stored[f"measured_{kind}"] is None
            continue
        value, half = stored[f"measured_{kind}"]
        # 1.96 deviations, widened to 4; and what the logarithm of few paths is off.
        assert abs(order[0] - value) < 2 * (order[1] + half) + order[1] ** 2


def test_wrong_orders_with_noise_would_be_noticed():
    made = orders_with_noise.NoiseCertificate(
        method=pi.methods["milstein"], paths=10, strong_order=(0.8, 0.05), weak_order=(1.5, 0.3)
    )
    assert made.failures == ("strong order: 1.0 declared, 0.800 +- 0.050 found",
                             "weak order: 1 declared, 1.500 +- 0.300 found")  # fmt: skip
    assert "NOT AS DECLARED" in str(made)
    assert "0.800 +- 0.050" in made._repr_html_()


def test_methods_of_ones_own_get_certificates():
    ralston = pi.RungeKutta([[0, 0], [2 / 3, 0]], [1 / 4, 3 / 4])
    found = ralston.certificate()
    assert found.holds
    assert found.error_constant == certificate("ralston2").error_constant
    strang = pi.Composition([("drift", 0.5), ("kick", 1.0), ("drift", 0.5)])
    mine, same = strang.certificate(), certificate("position_verlet")
    names = {*vars(same)} - {"method"}
    assert {name: getattr(mine, name) for name in names} == (
        {name: getattr(same, name) for name in names}
    )


# ---- they would notice ---------------------------------------------------------------------------


def altered(method, **changes):
    """The method with something else declared, or with other numbers in its table."""
    fields = {name: getattr(method, name) for name in [*pi.Method.__annotations__, "written"]}
    return pi.Method(**(fields | changes))


def failures(method, measure=False):
    return "; ".join(certify(method, measure).failures)


def test_a_wrong_coefficient_of_a_runge_kutta_method_would_be_noticed():
    c = pi.methods["rk4"].coefficients
    b = [1 / 6 + 1e-12, 1 / 3 - 1e-12, 1 / 3, 1 / 6]
    assert "order conditions: 4 declared, 1 found" in failures(pi.RungeKutta(c["A"], b, order=4))
    b = [1 / 6 + 1e-4, 1 / 3 - 1e-4, 1 / 3, 1 / 6]
    wrong = declared(pi.RungeKutta(c["A"], b), 4)
    assert "order on kepler: 4 declared" in failures(wrong, measure=True)


def test_a_wrong_coefficient_of_a_composition_would_be_noticed():
    c = pi.methods["forest_ruth4"].coefficients
    steps = [s for k, d in zip(c["kick"], c["drift"], strict=True)
             for s in (("kick", k), ("drift", d))]  # fmt: skip
    for error, words in ((1e-12, "4 declared, 1 found"), (1e-4, "on relativistic pendulum")):
        wrong = [("kick", steps[0][1] + error), steps[1], ("kick", steps[2][1] - error), *steps[3:]]
        assert words in failures(declared(pi.Composition(wrong), 4), measure=True)


def test_a_digit_that_no_double_holds_would_be_noticed():
    for name in ("yoshida8", "verner98"):
        method = pi.methods[name]
        number = re.search(r"0\.\d{48,}", method.written)[0]
        wrong = number[:30] + str((int(number[30]) + 5) % 10) + number[31:]
        mutated = altered(method, written=method.written.replace(number, wrong))
        assert mutated.coefficients == method.coefficients
        assert certify(method, measure=False).holds
        assert "order conditions: " in failures(mutated)


@pytest.mark.parametrize(
    ("name", "declared", "words"),
    [
        ("rk4", {"order": 5}, "order conditions: 5 declared, 4 found"),
        ("rk4", {"order": 3}, "order conditions: 3 declared, 4 found"),
        ("rk4", {"symplectic": True}, "symplectic: yes declared"),
        ("velocity_verlet", {"symplectic": False}, "symplectic: no declared"),
        ("ruth3", {"symmetric": True}, "reversible: yes declared"),
        ("yoshida6", {"symmetric": False}, "reversible: no declared"),
        ("velocity_verlet", {"evaluations": 2}, "evaluations a step: 2 declared, 1 found"),
        ("zonneveld43", {"evaluations": 5}, "evaluations a step: 5 declared, 4 found"),
        ("okunbor_skeel6", {"requires": "separable"}, "order conditions: 6 declared, 4 found"),
    ],
)
def test_a_wrong_declaration_would_be_noticed(name, declared, words):
    assert words in failures(altered(pi.methods[name], **declared))


def test_a_nystrom_composition_has_a_lower_order_for_other_kinetic_energies():
    order, _ = measured_order(pi.methods["mclachlan_atela4"], twin.RELATIVISTIC)
    assert abs(order - 3) < 0.1


# ---- how they look -------------------------------------------------------------------------------


def test_a_certificate_reads_well():
    found = certificate("forest_ruth4")
    text, html = str(found), found._repr_html_()
    for words in ("forest_ruth4", "order conditions", "2-norm", "1.5734", "all found as declared"):
        assert words in text
        assert words in html
    assert max(map(len, text.splitlines())) < 130
    wrong = altered(pi.methods["rk4"], symplectic=True)
    assert "NOT AS DECLARED: symplectic" in str(certify(wrong, measure=False))


def test_without_mpmath_high_orders_say_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpmath", None)
    with pytest.raises(ImportError, match="pip install mpmath"):
        pi.methods["dop853"].certificate()
    assert measured_order(pi.methods["tsitouras54"], twin.PENDULUM)[1] == 16


def test_rules_without_a_table_say_so():
    with pytest.raises(ValueError, match="'rigid_rk4' has no table of coefficients"):
        pi.methods["rigid_rk4"].certificate()


def test_a_composition_has_no_step_on_a_decay():
    assert real_stability_limit("ruth3") is None
