"""An error in a user's function has the cure of that error."""

import numpy as np
import pytest

import pyintegrate as pi


def test_a_delay_is_not_solved_here():
    with pytest.raises(TypeError, match=r"not callable(.|\n)*cure:.*delays"):
        pi.rhs(lambda t, y: -y(t - 1.0), dim=1)


def test_a_misspelt_parameter_is_a_parameter():
    with pytest.raises(TypeError, match=r"NameError(.|\n)*cure: a parameter 'kk' is an argument"):
        pi.acceleration(lambda t, x, v, k: -kk * x, k=1.0)  # noqa: F821


def test_an_unknown_function_is_named_where_it_is():
    with pytest.raises(TypeError, match=r"traced: np\.linalg\.inv is not known to the tracer"):
        pi.rhs(lambda t, y: np.linalg.inv(np.diag(y)) @ y, dim=2)
    with pytest.raises(TypeError, match=r"traced: np\.median is not known to the tracer"):
        pi.rhs(lambda t, y: np.median(y) * y, dim=2)


@pytest.mark.parametrize("table", [[0.0, 1.0, 2.0], np.array([0.0, 1.0, 2.0])])
def test_a_table_is_interpolated(table):
    with pytest.raises(TypeError, match=r"cure: np\.interp\(t, times, values\) looks up"):
        pi.rhs(lambda t, y: table[np.floor(t)] - y, dim=1)
    assert pi.rhs(lambda t, y: np.interp(t, [0, 1, 2], table) - y, dim=1).rhs(1.5, [0.0]) == 1.5
