"""Immutable values with named fields; a change makes a new value."""

from typing import TYPE_CHECKING

from .types import Any


class Named:
    """Named fields that never change; ``changed(name=value)`` makes a new value.

    Examples
    --------
    >>> class Point(Named):
    ...     x: float
    ...     y: float = 0.0
    >>> point = Point(x=1.0)
    >>> point.changed(y=2.0).y, point.y
    (2.0, 0.0)
    """

    def __init__(self, /, **fields):
        object.__setattr__(self, "__dict__", fields)

    @classmethod
    def of(cls, fields):
        """The value with these fields, a dictionary that it then owns."""
        value = object.__new__(cls)
        object.__setattr__(value, "__dict__", fields)
        return value

    if TYPE_CHECKING:  # of which a class need not declare its fields

        def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name, value):
        raise AttributeError(f"a {type(self).__name__} is immutable: changed({name}=...) makes one")

    def changed(self, /, **fields):
        return self.of(self.__dict__ | fields)
