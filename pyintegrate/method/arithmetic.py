"""The version number of the arithmetic: it increases when the bits of some methods change.

The number is in the C core (csrc/pyintegrate.h); files, pickles and snapshots record the one with
which they were made.
"""

from .. import _core
from ..errors import ArithmeticWarning, warn_caller

ARITHMETIC: int = _core.info()["arithmetic"]


def warn_of_change(method, number):
    """Warn if a run that began in arithmetic `number` continues in another."""
    if number != ARITHMETIC:
        warn_caller(
            f"the run was computed in arithmetic {number}, and continues in {ARITHMETIC}: from here"
            f" on the bits of {method.name!r} may not be those of one long run (the changelog says"
            " what changed)",
            ArithmeticWarning,
        )
