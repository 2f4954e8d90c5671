"""The mathematics of a run: a system, a batch of states, a method and steps."""

from dataclasses import dataclass

from ..method.arithmetic import ARITHMETIC
from ..values.checks import broadcast_shape
from ..values.memory import SPARE_BYTES, check_memory
from ..values.types import Any
from .drive import check_drive, driven_rows
from .times import times


@dataclass(eq=False)
class Problem:
    """The mathematics of a run, checked and broadcast; how it is carried out is its ``Options``.

    Rows (``rows_*``) are floats if one value serves all trajectories, else arrays in the run's
    dtype with one item per trajectory, padded like the state rows. It is not changed: ``changed``
    makes a new one.

    Parameters
    ----------
    lanes : int
        Trajectories.
    stride : int
        Items of a row: the trajectories, and padding to whole cache lines.
    undriven : tuple
        `rows_params` without drive.
    initial : ndarray, shape (dim + history of the method, stride)
        Or one item per row, for a single trajectory.
    starter : Method or None
        Of a multistep method, if not the default one.
    has_history : bool
        Whether `initial` includes the history of the method.
    drive_strides : tuple of int or None
        Items from a driven parameter's row to the next step's.
    first : int
        The index of the step of `initial`.
    arithmetic : int
        The version of the arithmetic that made `initial`, and makes the steps.
    random : RandomNumbers, optional
        Where there is noise.
    origin : Origin, optional
        Of a resumed run: see solution/origin.py.
    """

    system: Any
    method: Any
    dtype: Any
    batch: Any
    lanes: int
    stride: int
    dt: Any
    t0: Any
    rows_dt: Any
    rows_t0: Any
    rows_params: Any
    undriven: Any
    initial: Any
    n_steps: int
    first: int = 0
    starter: Any = None
    has_history: bool = False
    drive_strides: Any = None
    arithmetic: int = ARITHMETIC
    random: Any = None
    origin: Any = None

    def changed(self, **fields):
        """Another, with these fields."""
        return Problem(**self.__dict__ | fields)

    @property
    def driven(self):
        """Whether parameters change with the step."""
        return self.drive_strides is not None

    def times(self, steps):
        """t0 + n dt, shape (len(steps),) or (len(steps), *batch)."""
        return times(self.t0, self.dt, steps, self.batch)

    def continued(self, state, first, n_steps, options, origin, drive):
        """The same problem continued from a state, as ``initial``, at step `first`.

        origin: where the motion began, see solution/origin.py.
        """
        changed = {
            "initial": state, "first": first, "n_steps": n_steps, "origin": origin,
            "arithmetic": ARITHMETIC,
        }  # fmt: skip
        check_size(self.system, self.batch, self.lanes, self.dtype, n_steps, options, len(state))
        if drive is not None:
            arrays, shapes = check_drive(drive, self.system, self.method, options)
            if broadcast_shape({**shapes, "the solution": self.batch}) != self.batch:
                raise ValueError(f"drive does not fit the batch {self.batch}: {shapes}")
            changed["rows_params"], changed["drive_strides"] = driven_rows(
                arrays, self.system, self.undriven, n_steps, self.batch, self.dtype
            )
        elif self.driven and n_steps:
            raise ValueError("the run was driven: resume needs `drive` for the further steps")
        return self.changed(**changed)


def check_size(system, batch, lanes, dtype, n_steps, options, state_rows):
    """Refuse a record and two states that do not fit the machine's memory."""
    entries = options.saves(n_steps).count
    recorded = 0 if options.out is not None else len(options.saved_names(system))
    size = lanes * (recorded * entries + state_rows * 2) * dtype.itemsize
    if size >= SPARE_BYTES:
        check_memory(size, entries, batch, recorded or state_rows)
