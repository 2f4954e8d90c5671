"""Quantities that are watched while a run goes on, and what is kept of them.

A quantity and its sums are traced to byte code, as forces are, which the core runs after each step
(csrc/watching/watch.c).
"""
