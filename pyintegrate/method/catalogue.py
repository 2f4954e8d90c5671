"""The catalogue of methods, read from the C core."""

from __future__ import annotations

from collections.abc import Mapping

from .. import _core
from ..errors import UnknownNameError
from .method import Method
from .table import MethodTable


class MethodCatalogue(Mapping):
    """All methods by name; aliases work too, and ``table()`` shows them.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.methods["symplectic_euler"].name
    'semi_implicit_euler'
    """

    def __init__(self, methods):
        self._methods = {m.name: m for m in methods}
        self._aliases = {alias: m for m in methods for alias in m.aliases}

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"method must be a name or a Method, got {type(name).__name__}")
        if name == "leapfrog":
            raise ValueError(
                "method 'leapfrog' is ambiguous: 'velocity_verlet' is kick-drift-kick,"
                " 'position_verlet' is drift-kick-drift"
            )
        found = self._methods.get(name) or self._aliases.get(name)
        if found is None:
            from difflib import get_close_matches

            near = get_close_matches(name, [*self._methods, *self._aliases], n=3)
            hint = (
                f"did you mean {' or '.join(map(repr, near))}?"
                if near
                else "see pi.methods.table()"
            )
            raise UnknownNameError(f"method {name!r} is not known: {hint}")
        return found

    def __contains__(self, name):
        return name in self._methods or name in self._aliases

    def __iter__(self):
        return iter(self._methods)

    def __len__(self):
        return len(self._methods)

    def __repr__(self):
        return f"<{len(self)} methods: {', '.join(self)}>"

    def _repr_html_(self):
        return self.table()._repr_html_()

    def table(self):
        """All methods side by side: prints as text, shows as HTML in a notebook.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> "velocity_verlet" in str(pi.methods.table())
        True
        """
        return MethodTable(tuple(self._methods.values()))


def find_method(method):
    """The Method that a name or a Method stands for."""
    return method if isinstance(method, Method) else methods[method]


# ---- the catalogue -------------------------------------------------------------------------------


def _from_core(item):
    item["aliases"] = tuple(item["aliases"].split())
    if item["family"] == "multistep":
        for name in ("predictor", "velocity"):  # zeros where they are left out
            if not any(item["coefficients"][name]):
                item["coefficients"][name] = []
    return Method(**item, made_by=(find_method, (item["name"],)))


methods = MethodCatalogue([_from_core(item) for item in _core.methods()])
