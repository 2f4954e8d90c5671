"""Errors of tracing: the place in the user's code, the reason, and the cure."""

import linecache
import sys
from pathlib import Path

import numpy as np

_OURS = (str(Path(__file__).parent.parent), str(Path(np.__file__).parent))
_LIBRARIES = (str(Path(np.__file__).parent.parent), str(Path(linecache.__file__).parent))


class TraceError(TypeError):
    """A function used a symbol where a number is needed."""

    def __init__(self, problem, cure):
        super().__init__(f"{problem}\n  cure: {cure}")
        self.problem, self.cure = problem, cure
        self.place = _place_of_frame(sys._getframe(1))


def _is_users(filename):
    return not filename.startswith(_OURS) and not filename.startswith("<__array_function__")


def _place(filename, line):
    text = linecache.getline(filename, line).strip()
    return f"{filename}:{line}" + (f": {text}" if text else "")


def _innermost(frames, otherwise):
    """The innermost line of the user's code, as text; a library that it calls is named last.

    frames: pairs (frame, line), from the innermost one outwards.
    """
    lines, inside = [], False
    for frame, line in frames:
        name = frame.f_code.co_filename
        if inside and name.startswith(_OURS[0]):  # which has called the function
            break
        if _is_users(name):
            lines.append((name, line))
            inside = True
    own = [one for one in lines if not one[0].startswith(_LIBRARIES)]
    return _place(*(own or lines)[0]) if lines else otherwise


def _place_of_frame(frame):
    from traceback import walk_stack

    return _innermost(walk_stack(frame), "unknown line")


def place_of_error(error, function):
    """The innermost line of the user's code that raised an exception, as text."""
    from traceback import walk_tb

    return _innermost([*walk_tb(error.__traceback__)][::-1], place_of_function(function))


def place_of_function(function):
    """Where a function is defined, as text."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)
