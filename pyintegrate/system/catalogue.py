"""The catalogue of systems: a mapping that suggests names for misspelt ones, and prints itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..values.names import SYSTEMS, Names
from ..values.parameters import declared, short
from .definition import SystemDefinition
from .system import BUILT_IN, System

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .n_body import NBody
    from .rigid_body import RigidBody


class SystemCatalogue(Mapping[str, System]):
    """All built-in systems: ``systems.spring`` or ``systems["spring"]``, in any case and spacing.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> "pendulum" in pi.systems, pi.systems["Double pendulum"].name
    (True, 'double_pendulum')
    """

    if TYPE_CHECKING:  # systems with methods of their own
        n_body: NBody
        rigid_body: RigidBody

    def __init__(self, names: Sequence[str], make: Callable[[str], System]) -> None:
        self._all, self._make = dict.fromkeys(names, ()), make
        self._systems: dict[str, System] = {}  # those used so far
        self._names = Names("system", self._all, SYSTEMS, {}, f"there are {', '.join(names)}")

    def __getitem__(self, name: str) -> System:
        if not isinstance(name, str):
            raise TypeError(f"the name of a system must be a string, got {name!r}")
        if name in self._systems:
            return self._systems[name]
        if name in self._all:
            return self._systems.setdefault(name, self._make(name))
        if name in self.noise:
            return self.noise[name]
        return self[self._names.find(name)]

    @property
    def noise(self) -> Mapping[str, System]:
        """The systems with noise, by name: ``systems["double_well"]`` is one of them.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.systems.double_well.noise, list(pi.systems.noise)[0]
        ('additive', 'ornstein_uhlenbeck')
        """
        from ..stochastic.known_equations import SYSTEMS

        return SYSTEMS

    def __getattr__(self, name: str) -> System:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._names.known(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __dir__(self):
        return [*super().__dir__(), *self]

    def _ipython_key_completions_(self):
        return list(self)

    def __repr__(self):
        return f"<{len(self)} systems: {', '.join(self)}>"

    def _repr_html_(self):
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(s.name)}</td><td style='text-align:left'>{escape(s.equation)}</td>"
            f"<td>{escape(', '.join(s.state_names))}</td>"
            f"<td>{escape(', '.join(f'{k}={short(v)}' for k, v in s.params.items()))}</td></tr>"
            for s in self.values()
        )
        head = "<tr><th>system</th><th>equation</th><th>state</th><th>parameters</th></tr>"
        return f"<table>{head}{rows}</table>"


def _n_body():
    from .n_body import n_body

    return n_body


def _rigid_body():
    from .rigid_body import rigid_body

    return rigid_body


_ITEMS = {item["name"]: item for item in _core.systems()}
_OF_ANY_SIZE = {"n_body": _n_body, "rigid_body": _rigid_body}


def _made(name):
    if name in _OF_ANY_SIZE:
        return _OF_ANY_SIZE[name]()
    params = declared(_ITEMS[name]["params"])
    shapes = {p: np.shape(value) for p, _, value, _ in params}
    definition = SystemDefinition(**{**_ITEMS[name], "params": params}, shapes=shapes)
    return System(definition, definition.defaults)


systems = SystemCatalogue([*_ITEMS, *_OF_ANY_SIZE], _made)
BUILT_IN.append(systems)
