"""Names of a force's arguments: their order, and what a parameter may be called."""

import pickle

import numpy as np
import pytest

import pyintegrate as pi


def refused(kind, error=TypeError, **options):
    """The message with which a function is refused."""

    def check(function):
        with pytest.raises(error) as caught:
            getattr(pi, kind)(**options)(function)
        return str(caught.value)

    return check


RESERVED = {
    "acceleration": ("t, x, v", "dof units energy exact name title initial trace reference"),
    "rhs": ("t, y", "dim units energy exact name velocity_dependent state_names"),
    "hamiltonian": ("q, p", "dof initial name energy"),
    "potential": ("x", "dof mass title trace"),
}
FREE = {
    "acceleration": "y q p dt dim mass self function t0 theta",
    "rhs": "x v q p dof mass y1 y2 self",
    "hamiltonian": "x v y dt mass dim",
    "potential": "q p y dim system",
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in RESERVED for name in RESERVED[kind][1].split()]
)
def test_names_of_options_are_refused(kind, name):
    function = eval(f"lambda {RESERVED[kind][0]}, {name}=1.0: 0.0")
    message = refused(kind, ValueError)(function)
    assert repr(name) in message
    assert f"options of @pi.{kind}" in message


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in FREE for name in FREE[kind].split()]
)
def test_names_that_mean_nothing_else_are_parameters(kind, name):
    """Also those that other decorators and the components of other systems have."""
    state = RESERVED[kind][0]
    last = {"acceleration": "x", "rhs": "y", "hamiltonian": "q * q + p * p", "potential": "x * x"}
    function = eval(f"lambda {state}, {name}=2.0: {name} * ({last[kind]})")
    size = {"dim": 2} if kind == "rhs" else {"dof": 1}
    system = getattr(pi, kind)(**size)(function)
    plain = f"lambda {state}, k=2.0: k * ({last[kind]})"
    y = np.array([[0.3, 0.7], [1.1, -0.4]])
    expected = getattr(pi, kind)(**size)(eval(plain))
    values = np.array([3.0, 5.0])
    got = system(**{name: values})
    assert np.array_equal(got.rhs(0.0, y), expected(k=values).rhs(0.0, y))
    assert len(set(system.state_names) | {name}) == 3
    assert system.units.keys() == {*system.state_names, name, "t"}
    sol = pi.integrate(got, y, dt=0.1, n_steps=2)
    assert np.array_equal(sol[system.state_names[1]], sol.y[..., 1])
    assert pickle.loads(pickle.dumps(got)) == got


ORDERS = [
    ("rhs", "y, t", "<lambda>(t, y, ...)"),
    ("rhs", "x, t", "<lambda>(t, y, ...)"),
    ("acceleration", "x, v, t", "<lambda>(t, x, v, ...)"),
    ("acceleration", "t, v, x", "<lambda>(t, x, v, ...)"),
    ("acceleration", "x, v, k", "<lambda>(t, x, v, ...)"),
    ("acceleration", "time, v, x", "<lambda>(t, x, v, ...)"),
    ("hamiltonian", "p, q", "<lambda>(q, p, ...) or <lambda>(t, q, p, ...)"),
    ("hamiltonian", "t, p, q", "<lambda>(q, p, ...) or <lambda>(t, q, p, ...)"),
    ("hamiltonian", "q, p, t", "<lambda>(q, p, ...) or <lambda>(t, q, p, ...)"),
    ("hamiltonian", "time, q, p", "<lambda>(q, p, ...) or <lambda>(t, q, p, ...)"),
    ("potential", "x, t", "<lambda>(x, ...) or <lambda>(t, x, ...)"),
    ("potential", "k, x", "<lambda>(x, ...) or <lambda>(t, x, ...)"),
]


@pytest.mark.parametrize(("kind", "arguments", "expected"), ORDERS)
def test_arguments_in_another_order_are_refused(kind, arguments, expected):
    message = refused(kind)(eval(f"lambda {arguments}: 0.0"))
    assert message.startswith(f"<lambda>({arguments}) has ")
    assert message.endswith(f"expected {expected}")


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("rhs", "time, state"), ("rhs", "t, x"), ("rhs", "t, v"), ("acceleration", "s, pos, vel"),
        ("acceleration", "t, q, w"), ("hamiltonian", "x, v"), ("potential", "r"),
    ],
)  # fmt: skip
def test_leading_arguments_have_any_other_names(kind, arguments):
    size = {"dim": 1} if kind == "rhs" else {"dof": 1}
    function = eval(f"lambda {arguments}: 2.0 * {arguments.split()[-1]}")
    getattr(pi, kind)(**size)(function)


@pytest.mark.parametrize("what", ["energy", "exact"])
@pytest.mark.parametrize(
    ("kind", "force", "arguments"),
    [
        ("acceleration", "t, x, v", "x, v, t"),
        ("acceleration", "t, x, v", "t, v, x"),
        ("acceleration", "time, pos, vel", "pos, vel, time"),
        ("rhs", "t, y", "y, t"),
        ("hamiltonian", "q, p", "t, p, q"),
        ("potential", "x", "x, v, t"),
    ],
)
def test_arguments_of_energy_and_exact_have_an_order(what, kind, force, arguments):
    if what == "energy" and kind in ("hamiltonian", "potential"):
        return  # they know it
    function = eval(f"lambda {arguments}: 0.0")
    message = refused(kind, **{what: function})(eval(f"lambda {force}: 0.0"))
    assert message.startswith(f"{what}=<lambda>({arguments}) has ")
    assert "in another place: expected" in message
