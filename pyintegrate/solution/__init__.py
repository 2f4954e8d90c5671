"""What came out of a run: arrays, the questions one asks of them, and their files."""

from .solution import Solution

__all__ = ["Solution"]
