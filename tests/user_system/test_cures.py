"""An error in a user's function has the cure of that error."""

import math

import numpy as np
import pytest

import pyintegrate as pi


def test_a_delay_is_not_solved_here():
    with pytest.raises(TypeError, match=r"not callable(.|\n)*cure:.*delays"):
        pi.rhs(lambda t, y: -y(t - 1.0), dim=1)


def test_a_misspelt_parameter_is_a_parameter():
    nowhere = {}
    exec("def sine(t, y):\n    return np.sin(y)", nowhere)
    with pytest.raises(TypeError, match=r"NameError(.|\n)*cure: import numpy as np"):
        pi.rhs(dim=1)(nowhere["sine"])
    with pytest.raises(TypeError, match=r"NameError(.|\n)*cure: a parameter 'kk' is an argument"):
        pi.acceleration(lambda t, x, v, k: -kk * x, k=1.0)  # noqa: F821


def test_a_function_of_numba_is_given_as_it_was_before():
    TypingError = type("TypingError", (Exception,), {"__module__": "numba.core.errors"})

    def compiled(x):
        raise TypingError("Cannot determine Numba type of Symbol")

    with pytest.raises(
        TypeError, match=r"Symbol(.|\n)*cure: give .* f\.py_func; .* pi\.c_function"
    ):
        pi.acceleration(lambda t, x, v: compiled(x), dof=1)


def test_a_mistake_may_be_in_the_line():
    def force(t, y):
        a, b, c = y
        return a, b

    with pytest.raises(
        TypeError, match=r"values to unpack(.|\n)*a, b, c = y\n  cure: correct the line"
    ):
        pi.rhs(force, dim=2)


def test_complex_amplitudes_are_two_components():
    with pytest.raises(TypeError, match=r"complex number(.|\n)*cure:.* real and imaginary part"):
        pi.rhs(lambda t, y: 1j * y, dim=1)


def test_an_unknown_function_is_named_where_it_is():
    with pytest.raises(TypeError, match=r"traced: np\.linalg\.inv is not known to the tracer"):
        pi.rhs(lambda t, y: np.linalg.inv(np.diag(y)) @ y, dim=2)
    with pytest.raises(TypeError, match=r"traced: np\.median is not known to the tracer"):
        pi.rhs(lambda t, y: np.median(y) * y, dim=2)


@pytest.mark.parametrize(
    "force",
    [
        lambda y, gather: np.sqrt(gather([y[0], 4.0]))[1],
        lambda y, gather: np.interp(0.5, [0.0, 1.0], gather([y[0], 4.0])),
    ],
)
def test_symbols_are_gathered_with_stack(force):
    with pytest.raises(TypeError, match=r"cure: gather symbols with np\.stack"):
        pi.rhs(lambda t, y: force(y, list), dim=1)
    assert pi.rhs(lambda t, y: force(y, np.stack), dim=1).rhs(0.0, [0.0]) == 2


@pytest.mark.parametrize("table", [[0.0, 1.0, 2.0], np.array([0.0, 1.0, 2.0])])
def test_a_table_is_interpolated(table):
    with pytest.raises(TypeError, match=r"cure: np\.interp\(t, times, values\) looks up"):
        pi.rhs(lambda t, y: table[np.floor(t)] - y, dim=1)
    with pytest.raises(TypeError, match=r"cure:.* look up tables with np\.interp"):
        pi.rhs(lambda t, y: table[0] * math.floor(float(t)) - y, dim=1)
    assert pi.rhs(lambda t, y: np.interp(t, [0, 1, 2], table) - y, dim=1).rhs(1.5, [0.0]) == 1.5
    with pytest.raises(TypeError, match=r"cure: sort them, fp with them"):
        pi.rhs(lambda t, y: np.interp(t, [2, 1, 0], table) - y, dim=1)
    with pytest.raises(TypeError, match=r"xp of shape \(2,\) and values fp of shape \(3,\)\n"):
        pi.rhs(lambda t, y: np.interp(t, [0, 1], table) - y, dim=1)


def test_a_table_may_be_the_column_of_another_package():
    """Of pandas, whose brackets take labels: the last value is not [-1]."""

    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.array([0.0, 4.0, 2.0])

        def __getitem__(self, label):
            raise KeyError(label)

    system = pi.rhs(lambda t, y: np.interp(t, [0, 1, 2], Column()) - y, dim=1)
    assert [system.rhs(t, [0.0])[0] for t in (-1, 0.5, 1.5, 3)] == [0, 2, 3, 2]
