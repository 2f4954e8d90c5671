"""The state of a Stepper at a step, to be restored later."""

from __future__ import annotations

from ..method.arithmetic import ARITHMETIC


class Snapshot:
    """The state, parameters and failures of a Stepper at a step; made by ``Stepper.snapshot``."""

    def __init__(self, stepper):
        self.kind, self.n = kind_of(stepper), stepper.n
        self.has_history = stepper._has_history
        self.arithmetic = ARITHMETIC
        self.rows = stepper._rows.copy()
        self.params = [rows.copy() for rows in stepper._param_rows]
        self.failures = stepper._core.failures()
        self.watching = [] if stepper._by_hand is None else stepper._by_hand.copy()

    def __repr__(self):
        return f"<Snapshot at step {self.n}>"


def kind_of(stepper):
    """Properties that a snapshot must share: system, method, batch, dtype, compensated sums."""
    problem = stepper._problem
    kind = (problem.system.name, problem.method.name, problem.batch, problem.dtype.name)
    kind = (*kind, "compensated") if stepper._compensated else kind
    return kind if stepper._by_hand is None else (*kind, *stepper._by_hand.kind)
