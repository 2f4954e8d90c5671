"""Damped spring.   m x'' = -k x - b v

The momentum form with the momentum per mass, v, instead of the momentum: arguments and results are
those of momentum_spring.py, with the parameters k, b and m.
"""

from . import momentum_spring
from ._closed_form import closed_form


def _per_mass(function):
    @closed_form
    def of_spring(*arguments, k, b, m):
        return function(*arguments, k=k / m, b=b / m, inverse_mass=1)

    return of_spring


exact = _per_mass(momentum_spring.exact)
phase = _per_mass(momentum_spring.phase)
exact_phase = _per_mass(momentum_spring.exact_phase)
period = _per_mass(momentum_spring.period)
phase_is_uniform = momentum_spring.phase_is_uniform
