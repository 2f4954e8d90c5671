"""Errors of tracing: the place in the user's code, the reason, and the cure."""

import linecache
import sys
from pathlib import Path

import numpy as np

_OURS = (str(Path(__file__).parent.parent), str(Path(np.__file__).parent))


class TraceError(TypeError):
    """A function used a symbol where a number is needed."""

    def __init__(self, problem, cure):
        super().__init__(problem)
        self.problem, self.cure = problem, cure
        self.place = _place_of_frame(sys._getframe(1))


def _is_users(filename):
    return not filename.startswith(_OURS) and not filename.startswith("<__array_function__")


def _place(filename, line):
    text = linecache.getline(filename, line).strip()
    return f"{filename}:{line}" + (f": {text}" if text else "")


def _place_of_frame(frame):
    """The innermost line of the user's code, as text."""
    while frame is not None and not _is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return _place(frame.f_code.co_filename, frame.f_lineno) if frame else "unknown line"


def place_of_error(error, function):
    """The innermost line of the user's code that raised an exception, as text."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if _is_users(trace.tb_frame.f_code.co_filename):
            found = (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return _place(*found) if found else place_of_function(function)


def place_of_function(function):
    """Where a function is defined, as text."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)
