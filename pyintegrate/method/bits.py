"""A hash of the results of all methods on all systems, and its published value.

The C core integrates every method on every system that it applies to, in both precisions, and
hashes the end states (csrc/digest/digest.h); published_bits.txt holds what every machine must find.
`make portability` prints the same, by the core alone, on other architectures.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

PUBLISHED = Path(__file__).with_name("published_bits.txt")


class Bits(NamedTuple):
    """A method, the number of its runs, and the 16 hexadecimal digits of their hash."""

    method: str
    runs: int
    digits: str


def method_bits() -> list[Bits]:
    """The bits of every method, as computed by this machine; takes some seconds.

    Examples
    --------
    >>> method_bits()[0]  # doctest: +SKIP
    Bits(method='explicit_euler', runs=120, digits='f1c09bd7d4d6e4b5')
    """
    names = _core.method_names()
    found = (_core.method_bits(number) for number in range(len(names)))
    return [
        Bits(name, runs, f"{bits:016x}") for name, (runs, bits) in zip(names, found, strict=True)
    ]


def all_bits(rows: Iterable[Bits]) -> str:
    """One hash for a table: that (Fowler, Noll, Vo 1a) of its numbers, little-endian."""
    h = 14695981039346656037
    for row in rows:
        for byte in int(row.digits, 16).to_bytes(8, "little"):
            h = (h ^ byte) * 1099511628211 % 2**64
    return f"{h:016x}"


def as_text(rows: list[Bits]) -> str:
    """The table in its published form."""
    n = len(_core.systems()) + len(_core.sized_systems())
    lines = [f"{row.method:<32} {row.runs:4d} runs  {row.digits}" for row in rows]
    return "\n".join([*lines, f"{len(rows)} methods, {n} systems: {all_bits(rows)}"])


def published_bits() -> dict[str, str]:
    """Name of a method to its published digits.

    Examples
    --------
    >>> len(published_bits()["rk4"])
    16
    """
    lines = PUBLISHED.read_text("ascii").splitlines()[:-1]
    return {words[0]: words[-1] for words in map(str.split, lines)}
