"""The mathematics of a run: a system, a batch of states, a method and steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..method.arithmetic import ARITHMETIC
from ..method.method import Method
from ..system.system import System
from ..values.checks import broadcast_shape
from ..values.memory import SPARE_BYTES, check_memory
from ..values.named import Named
from .drive import check_drive, driven_rows
from .times import times


class Problem(Named):
    """The mathematics of a run, checked and broadcast; how it is carried out is its ``Options``.

    Rows (``rows_*``) are floats if one value serves all trajectories, else arrays in the run's
    dtype with one item per trajectory, padded like the state rows.
    """

    system: System
    method: Method
    dtype: np.dtype
    batch: tuple[int, ...]
    lanes: int  # trajectories
    stride: int  # items of a row: the trajectories, and padding to whole cache lines
    dt: float | np.ndarray
    t0: float | np.ndarray
    rows_dt: float | np.ndarray
    rows_t0: float | np.ndarray
    rows_params: tuple[float | np.ndarray, ...]
    undriven: tuple[float | np.ndarray, ...]  # the same without drive
    initial: np.ndarray  # (dim + history of the method, stride)
    starter: Method | None  # of a multistep method, if not the default one
    has_history: bool  # whether `initial` includes the history of the method
    drive_strides: tuple[int, ...] | None  # items from a driven parameter's row to the next step's
    first: int  # the index of the step of `initial`
    n_steps: int
    arithmetic: int  # the version of the arithmetic that made `initial`, and makes the steps
    random: Any = None  # a RandomNumbers, where there is noise
    origin: Any = None  # of a resumed run: see solution/origin.py

    @property
    def driven(self):
        """Whether parameters change with the step."""
        return self.drive_strides is not None

    def times(self, steps):
        """t0 + n dt, shape (len(steps),) or (len(steps), *batch)."""
        return times(self.t0, self.dt, steps, self.batch)

    def continued(self, state, first, n_steps, options, origin, drive=None):
        """The same problem continued from a state, as ``initial``, at step `first`.

        origin: where the motion began, see solution/origin.py.
        """
        changed = {
            "initial": state, "first": first, "n_steps": n_steps, "origin": origin,
            "arithmetic": ARITHMETIC,
        }  # fmt: skip
        check_size(self.system, self.batch, self.lanes, self.dtype, n_steps, options, len(state))
        if drive is not None:
            arrays, shapes = check_drive(drive, self.system)
            if broadcast_shape({**shapes, "the solution": self.batch}) != self.batch:
                raise ValueError(f"drive does not fit the batch {self.batch}: {shapes}")
            changed["rows_params"], changed["drive_strides"] = driven_rows(
                arrays, self.system, self.undriven, n_steps, self.batch, self.dtype
            )
        elif self.driven and n_steps:
            raise ValueError("the run was driven: resume needs `drive` for the further steps")
        return self.changed(**changed)

    def core_fields(self, options, /, **fields):
        """Fields of the C core, with those that are the same for a run and for a Stepper."""
        fields |= {
            "system": self.system.core_for(self.method),
            "bits": self.dtype.itemsize * 8,
            "lanes": self.lanes,
            "t0": self.rows_t0,
            "dt": self.rows_dt,
            "starter": None if self.starter is None else self.starter.handle,
        }
        for name in options.of_core:
            fields[name] = getattr(options, name)
        return fields


def check_size(system, batch, lanes, dtype, n_steps, options, state_rows):
    """Refuse a record and two states that do not fit the machine's memory."""
    entries = options.saves(n_steps).count
    recorded = 0 if options.out is not None else options.n_components(system)
    size = lanes * (recorded * entries + state_rows * 2) * dtype.itemsize
    if size >= SPARE_BYTES:
        check_memory(size, entries, batch, recorded or state_rows)
