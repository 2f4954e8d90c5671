"""Errors of tracing: the place in the user's code, the reason, and the cure."""

import linecache
import sys
from pathlib import Path
from traceback import walk_stack, walk_tb

import numpy as np

_OURS = (str(Path(__file__).parent.parent), str(Path(np.__file__).parent))
_LIBRARIES = (str(Path(np.__file__).parent.parent), str(Path(linecache.__file__).parent))


class TraceError(TypeError):
    """A function used a symbol where a number is needed."""

    def __init__(self, problem, cure):
        super().__init__(f"{problem}\n  cure: {cure}")
        self.problem, self.cure = problem, cure
        self.place = _innermost(walk_stack(sys._getframe(1)), "unknown line")


def _innermost(frames, otherwise):
    """The innermost line of the user's code, as text; a library that it calls is named last.

    frames: pairs (frame, line), from the innermost one outwards.
    """
    lines, inside = [], False
    for frame, line in frames:
        name = frame.f_code.co_filename
        if inside and name.startswith(_OURS[0]):  # which has called the function
            break
        if not name.startswith((*_OURS, "<__array_function__")):
            lines.append((name, line))
            inside = True
    if not lines:
        return otherwise
    own = [one for one in lines if not one[0].startswith(_LIBRARIES)]
    name, line = (own or lines)[0]
    return f"{name}:{line}: {linecache.getline(name, line).strip()}".removesuffix(": ")


def place_of_error(error, function):
    """The innermost line of the user's code that raised an exception, as text."""
    return _innermost([*walk_tb(error.__traceback__)][::-1], place_of_function(function))


def place_of_function(function):
    """Where a function is defined, as text."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)
