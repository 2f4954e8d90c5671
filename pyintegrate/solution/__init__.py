"""Solutions: the arrays of a run, the questions one asks of them, and their files."""

from .solution import Solution

__all__ = ["Solution"]
