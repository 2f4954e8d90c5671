"""A catalogue: a mapping in all the spellings that people use, with suggestions for wrong ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Generic, TypeVar

from ..errors import UnknownNameError
from .names import plain
from .types import Any, Callable, Iterator, Sequence

Item = TypeVar("Item")

_SHORTEST = 3  # letters that identify a family
_MOST = 8  # names in a message
_HIGHEST = 12  # largest number that is taken for an order
_NUMBERED = re.compile(r"([a-z]+)(\d+)")
_ENDINGS = ("method", "integrator", "scheme", "attractor", "oscillator", "equations", "system")


class Catalogue(Mapping[str, Item], Generic[Item]):
    """Objects made when they are first used, by name as an item or an attribute.

    Parameters
    ----------
    names : sequence of str
    make : callable
        An object from its name. It may have `aliases`.
    """

    kind: str  # of its objects
    wanted: str  # what a message says is expected where something else than a name came
    others: dict[str, str]  # names that people use: values/names.py
    sentences: dict[str, str]  # about names without a unique meaning
    listing: str  # how to see all names
    noise: Mapping[str, Any]  # those with noise, found by name but not counted

    def __init__(self, names: Sequence[str], make: Callable[[str], Item]) -> None:
        self._all, self._make = dict.fromkeys(names), make
        self._made = {}

    def __getitem__(self, name: str) -> Item:
        if not isinstance(name, str):
            raise TypeError(f"{self.wanted}, got {name!r:.80} of type {type(name).__name__}")
        if name in self._made:
            return self._made[name]
        if name in self._all:
            return self._made.setdefault(name, self._make(name))
        if name in self.noise:
            return self.noise[name]
        found = self._known(name)
        if found is None:
            raise UnknownNameError(f"{self.kind} {name!r} {self._cure(name)}")
        return self[found]

    def __getattr__(self, name: str) -> Item:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._known(name) is not None

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

    # ---- other spellings ----
    @cached_property
    def _written(self):
        """All names and aliases -> names."""
        return {
            alias: name
            for name in self._ipython_key_completions_()
            for alias in (name, *getattr(self[name], "aliases", ()))
        }

    @cached_property
    def _plain(self):
        """All that is known in the form of `plain` -> names."""
        return {plain(given): name for given, name in (self.others | self._written).items()}

    def _known(self, name):
        """The catalogue's name for this one, or None."""
        if name in self._written:
            return self._written[name]
        if not name.isprintable():
            return None
        key = plain(name)
        found = self._plain.get(key)
        for ending in _ENDINGS:
            if found is None and key.endswith(ending):
                found = self._plain.get(key.removesuffix(ending))
        return found

    def _cure(self, name):
        """What is said of an unknown name, with suggestions."""
        key = plain(name)
        if key in self.sentences:
            return self.sentences[key]
        words = self._written.items() if len(key) >= _SHORTEST else ()
        family = list(dict.fromkeys(one for alias, one in words if _has_word(alias, key)))
        if len(family) > 1:
            rest = f" and {len(family) - _MOST} others" if len(family) > _MOST else ""
            return f"is ambiguous: there are {', '.join(map(repr, family[:_MOST]))}{rest}"
        if near := family or self._near(key):
            return f"is not known: did you mean {' or '.join(map(self._shown, near))}?"
        return f"is not known: {self.listing}"

    def _near(self, key):
        """The most similar names: for "rk5" those with other numbers at the end, then by letters.

        They are shown as written in the catalogue, aliases with the name that they stand for.
        """
        from difflib import get_close_matches

        written = {plain(alias): alias for alias in reversed(self._written)}
        near, number = [], _NUMBERED.fullmatch(key)
        if number and int(number[2]) <= _HIGHEST:
            found = (_NUMBERED.fullmatch(one) for one in written)
            ends = {m[0]: int(m[2]) for m in found if m and m[1] == number[1]}
            n = int(number[2])
            near = sorted(ends, key=lambda one: (abs(ends[one] - n), ends[one]))
        names = {}
        for one in (near or get_close_matches(key, [*self._plain], n=4))[:3]:
            names.setdefault(self._plain[one], written.get(one, self._plain[one]))
        return [*names.values()]

    def _shown(self, name):
        stands_for = self._written[name]
        return repr(name) if stands_for == name else f"{name!r} ({stands_for})"


def _has_word(name, key):
    """Whether one of the words of a name, with those after it, begins with the key."""
    words = name.split("_")
    return any(plain("".join(words[i:])).startswith(key) for i in range(len(words)))
