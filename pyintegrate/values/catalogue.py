"""A catalogue: a mapping that suggests names for misspelt ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Generic, TypeVar

from .names import Names
from .types import Any, Callable, Iterator, Sequence

Item = TypeVar("Item")


class Catalogue(Mapping[str, Item], Generic[Item]):
    """Objects made when they are first used, by name as an item or an attribute.

    Parameters
    ----------
    names : sequence of str
    make : callable
        An object from its name.
    """

    kind: str  # of its objects
    wanted: str  # in place of what is no name
    others: dict[str, str]  # names that people use: values/names.py
    sentences: dict[str, str]

    def __init__(self, names: Sequence[str], make: Callable[[str], Item]) -> None:
        self._all, self._make = dict.fromkeys(names), make
        self._made = {}

    @property
    def listing(self) -> str:
        """How to see all names."""
        return f"there are {', '.join(self)}"

    def aliases(self, name: str) -> Sequence[str]:
        """Other names for one of them."""
        return ()

    @cached_property
    def _names(self) -> Names:
        aliases = {name: self.aliases(name) for name in (*self, *self.noise)}
        return Names(self.kind, aliases, self.others, self.sentences, self.listing)

    @property
    def noise(self) -> Mapping[str, Any]:
        """Those with noise, which are found by name but are not counted."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Item:
        if not isinstance(name, str):
            raise TypeError(f"{self.wanted}, got {name!r:.80} of type {type(name).__name__}")
        if name in self._made:
            return self._made[name]
        if name in self._all:
            return self._made.setdefault(name, self._make(name))
        if name in self.noise:
            return self.noise[name]
        return self[self._names.find(name)]

    def __getattr__(self, name: str) -> Item:
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
        return [*super().__dir__(), *self._ipython_key_completions_()]

    def _ipython_key_completions_(self):
        return [*self, *self.noise]

    def __repr__(self):
        return f"<{len(self)} {self.kind}s: {', '.join(self)}>"
