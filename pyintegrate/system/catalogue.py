"""The catalogue of systems: a mapping that suggests names for misspelt ones, and prints itself."""

from __future__ import annotations

from importlib import import_module

from .. import _core
from ..values.catalogue import Catalogue
from ..values.names import SYSTEMS
from ..values.parameters import declared, short
from ..values.table import Table
from ..values.types import Mapping, NBody, RigidBody
from .definition import SystemDefinition
from .system import RESTORE, System


class SystemCatalogue(Catalogue[System]):
    """All built-in systems: ``systems.spring`` or ``systems["spring"]``, in any case and spacing.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> "pendulum" in pi.systems, pi.systems["Double pendulum"].name
    (True, 'double_pendulum')
    """

    n_body: NBody  # systems with methods of their own
    rigid_body: RigidBody

    kind, others, sentences = "system", SYSTEMS, {}
    wanted = "the name of a system must be a string"

    @property
    def listing(self) -> str:  # type: ignore[override]
        return f"there are {', '.join(self)}"

    @property
    def noise(self) -> Mapping[str, System]:  # type: ignore[override]
        """The systems with noise, by name: ``systems["double_well"]`` is one of them.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.systems.double_well.noise, list(pi.systems.noise)[0]
        ('additive', 'ornstein_uhlenbeck')
        """
        from ..stochastic.known_equations import SYSTEMS

        return SYSTEMS

    def _repr_html_(self):
        rows = [
            (s.name, s.equation, ", ".join(s.state_names),
             ", ".join(f"{k}={short(v)}" for k, v in s.params.items()))
            for s in self.values()
        ]  # fmt: skip
        columns = ("system", "equation", "state", "parameters")
        return Table("", columns, rows, align="llll")._repr_html_()


_ITEMS = {item["name"]: item for item in _core.systems}
_OF_ANY_SIZE = ("n_body", "rigid_body")  # each in a module of its name


def _made(name):
    if name in _OF_ANY_SIZE:
        return getattr(import_module(f".{name}", __package__), name)
    params = declared(_ITEMS[name]["params"])
    definition = SystemDefinition(**{**_ITEMS[name], "params": params})
    return System(definition, definition.defaults)


systems = SystemCatalogue([*_ITEMS, *_OF_ANY_SIZE], _made)


def restore(name, params):
    """A built-in system, from a pickle."""
    return systems[name](**params)


RESTORE.append(restore)
