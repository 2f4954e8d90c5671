"""The version number of the arithmetic: it increases when the bits of some methods change.

The number is in the C core (csrc/pyintegrate.h); files, pickles and snapshots hold that of the
version that made them.
"""

from .. import _core
from ..errors import ArithmeticWarning, warn_caller

ARITHMETIC: int = _core.info()["arithmetic"]


def _takes_scales(method, system):
    """Whether the weights of its steps include the scales of the rates (csrc/kernels/loop.h)."""
    if not any(_core.scales(system.core)):
        return False
    if method.family != "composition":
        return method.name == "rk4"
    kept = method.coefficients["kick"][0] and not method.coefficients["drift"][-1]
    return system.velocity_dependent or not kept


# The methods that each number affects, and on which systems.
_CONCERNS = {
    2: lambda method, system: method.implicit or method.derivative == 2,
    3: _takes_scales,
    4: lambda method, system: False,  # states at steps are what they were, those between are not
}


def warn_of_change(method, system, number):
    """Warn if a run that began in arithmetic `number` continues in another, and bits differ."""
    if number == ARITHMETIC:
        return
    low, high = sorted((number, ARITHMETIC))
    later = range(low + 1, high + 1)
    if number > ARITHMETIC or any(_CONCERNS[n](method, system) for n in later):
        warn_caller(
            f"the run was computed in arithmetic {number}, and continues in {ARITHMETIC}: from here"
            f" on the bits of {method.name!r} are not those of one long run (the changelog says"
            " what changed)",
            ArithmeticWarning,
        )
