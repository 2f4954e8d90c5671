"""The catalogue of methods, read from the C core."""

from __future__ import annotations

import numpy as np

from .. import _core
from ..values.catalogue import Catalogue
from ..values.names import METHODS, SENTENCES
from ..values.types import Any, Mapping
from .method import Method
from .table import MethodTable


class MethodCatalogue(Catalogue[Method]):
    """All methods: ``methods.rk4`` or ``methods["rk4"]``; ``table()`` shows them.

    Aliases work too, and the names that other packages use, in any case and spacing.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.methods["symplectic Euler"].name, pi.methods["RK45"].name
    ('semi_implicit_euler', 'dormand_prince54')
    """

    kind, others, sentences = "method", METHODS, SENTENCES
    wanted = "method must be a name or a Method (pi.compare takes several)"
    listing = "see pi.methods.table()"

    @property
    def noise(self) -> Mapping[str, Method]:  # type: ignore[override]
        """The methods for systems with noise, by name: ``methods["milstein"]`` is one of them.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> [name for name, m in pi.methods.noise.items() if m.strong_order == 1.5]
        ['sra1', 'sra3', 'sriw1']
        """
        from .stochastic import METHODS

        return METHODS

    def _repr_html_(self):
        return self.table()._repr_html_()

    def table(self, **properties: Any) -> MethodTable:
        """All methods, or those with given properties: text, or HTML in a notebook.

        Parameters
        ----------
        **properties
            Required values, by the names of the attributes of `Method`: ``family``, ``order``,
            ``stages``, ``evaluations``, ``symplectic``, ``symmetric``, ``implicit``,
            ``self_starting``, ``derivative``, ``requires``.

        Raises
        ------
        TypeError
            An unknown property.
        ValueError
            A value that no method has.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> "velocity_verlet" in str(pi.methods.table())
        True
        >>> [m.name for m in pi.methods.table(implicit=True, order=4, symplectic=True).methods]
        ['gauss4', 'symplectic_dirk4']
        """
        for name, value in properties.items():
            if name not in _PROPERTIES:
                raise TypeError(f"table knows no {name!r}: it takes {', '.join(_PROPERTIES)}")
            values = sorted({getattr(method, name) for method in self.values()})
            flags = isinstance(value, bool | np.bool_), isinstance(values[0], bool)
            if not np.isscalar(value) or value not in values or flags[0] != flags[1]:
                raise ValueError(
                    f"no method has {name}={value!r}: there are {', '.join(map(repr, values))}"
                )
        wanted = properties.items()
        return MethodTable(
            tuple(m for m in self.values() if all(getattr(m, k) == v for k, v in wanted))
        )


_PROPERTIES = (
    "family", "order", "stages", "evaluations", "symplectic", "symmetric", "implicit",
    "self_starting", "derivative", "requires",
)  # fmt: skip


class DefaultMethod(str):
    """The default method: this one, unless the system has a default of its own."""


RK4 = DefaultMethod("rk4")


def find_method(method: str | Method) -> Method:
    """The Method that a name or a Method stands for."""
    return method if isinstance(method, Method) else methods[method]


# ---- the catalogue -------------------------------------------------------------------------------


def _from_core(name):
    item = _core.method(name)
    item["aliases"] = tuple(item["aliases"].split())
    return Method(**item, made_by=(find_method, (name,)))


methods = MethodCatalogue(_core.method_names, _from_core)
