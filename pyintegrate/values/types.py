"""Types of arguments and results, for the signatures of the public functions.

Imported by type checkers only. A result that may be None (the energy of a system without one) is
``Any`` as well, so that users who know that it exists need not check.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, DTypeLike, NDArray

if TYPE_CHECKING:
    from ..method.method import Method

__all__ = [
    "ArrayLike", "Axes", "AxesArray", "Booleans", "DTypeLike", "Floats", "Integers", "Labels",
    "MaybeFloats", "Methods",
]  # fmt: skip

Floats: TypeAlias = NDArray[np.float64]  # or float32, where that is asked for
MaybeFloats: TypeAlias = NDArray[np.float64] | Any
Integers: TypeAlias = NDArray[np.signedinteger[Any]]
Booleans: TypeAlias = NDArray[np.bool_]
AxesArray: TypeAlias = NDArray[np.object_]  # of Matplotlib's Axes
Labels: TypeAlias = Mapping[Any, str] | Sequence[str]  # in a legend, by method or in order
Methods: TypeAlias = "str | Method | Sequence[str | Method]"
