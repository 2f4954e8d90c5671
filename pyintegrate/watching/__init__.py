"""Quantities that are watched during a run, and their reductions.

A quantity and its reductions are traced to byte code, as forces are; the core runs it after each
step (csrc/watching/watch.c).
"""
