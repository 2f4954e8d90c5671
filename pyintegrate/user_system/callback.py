"""Systems whose force stays a Python function, called for many trajectories at once."""

import importlib
import pickle
import sys
from functools import partial
from math import prod
from numbers import Rational

import numpy as np

from .. import _core
from ..system.system import ACCELERATION, ENERGY, JACOBIAN, RHS
from ..trace.tracing import describe
from ..values.checks import refuse_masked
from ..values.differences import differences
from .own_system import OwnSystem, halves

_LANES_A_CALL = 8192  # many, but still within the second-level cache


class CallbackSystem(OwnSystem):
    """A System whose force stays a Python function, called for many trajectories at once.

    The function gets components first, ``(dof, n)`` or ``(dim, n)`` (``(n,)`` if dof = 1), and
    parameters of shape ``(*shape, n)`` or, if one value serves all, ``shape``.
    """

    @property
    def core(self):
        rows = len(self.parameter_rows)
        return _core.make_callback(
            self._asked(), 0, self.dim, self.dof, rows, _LANES_A_CALL, None,
            self.velocity_dependent, len(getattr(self, "directions", ())),
        )  # fmt: skip

    def _asked(self):
        """What the core calls."""
        return _Called(self)

    def _formulas(self):
        return [f"{describe(self.definition.function)}, a Python function"]

    def evaluate(self, bits, question, lanes, t, y, params, out):
        y = np.array([np.broadcast_to(row, lanes) for row in y])
        if question == JACOBIAN:
            rhs = partial(self.answer, RHS, t, params=params)
            out[...] = differences(rhs, y).reshape(out.shape)
            return
        out[...] = self.answer(question, t, y, params)

    def answer(self, question, t, y, params, out=None):
        """Rows of the right-hand side, the acceleration or the energy, which `out` may take.

        Parameters
        ----------
        t : ndarray, shape (lanes,)
        y : ndarray, shape (dim, lanes)
        params : list of ndarray, shape (lanes,) or (1,)
        """
        definition, dof = self.definition, self.dof
        function = definition.energy if question == ENERGY else definition.function
        result = function(t, *halves(y, dof), **named_parameters(self.shapes, params))
        if out is None:
            rows = 1 if question == ENERGY else dof or self.dim
            out = np.empty((rows, y.shape[1]), dtype=y.dtype)
        write_rows(function, result, out)
        return np.concatenate([y[dof:], out]) if question == RHS and dof else out

    def __reduce__(self):
        """Pickled by name: the function itself is not data.

        Workers of joblib have another ``__main__``; their cloudpickle makes data of its functions.
        """
        function = self.definition.function
        module, name = function.__module__, getattr(function, "__qualname__", repr(function))
        by_value = map(sys.modules.get, ("cloudpickle", "joblib.externals.cloudpickle"))
        if module == "__main__" and (pickler := next(filter(None, by_value), None)):
            return _from_value, (pickler.dumps(super().__reduce__()),)
        found = _named(module, name)
        if not isinstance(found, CallbackSystem):
            raise TypeError(
                f"{self.name} runs the Python function {name} (trace=False) and pickles by its"
                f" name, which does not lead back to it in {module}: define it at the top of a"
                " module, or leave trace=False out"
            )
        return _named_system, (module, name, dict(self.params))


def _from_value(data):
    make, given = pickle.loads(data)
    return make(*given)


def _named(module, name):
    """The object that a module holds under a dotted name, or None."""
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _named_system(module, name, params):
    found = _named(module, name)
    if not isinstance(found, CallbackSystem):
        raise AttributeError(f"{module} has no system {name} any more, which was pickled by name")
    return found(**params)


class _Called:
    """The force of an untraced system for some lanes at once, as the C core calls it."""

    def __init__(self, system):
        self.system = system
        self.alike = all(np.ndim(row) == 0 for row in system.parameter_rows)

    def __call__(self, question, lanes, t, y, v, p, out):
        """Answer from and to memory that is not kept: the function gets copies."""
        rows = self.system.dof or self.system.dim
        dtype = np.float64 if len(out) == 8 * rows * lanes else np.float32

        def read(memory):
            return np.frombuffer(memory, dtype).reshape(-1, lanes)

        state = [*read(y), *read(v)] if question == ACCELERATION else read(y)
        given = np.array(read(p))
        if self.alike and (given == given[:, :1]).all():  # drive and Stepper.params may vary it
            given = given[:, :1]
        with np.errstate(all="ignore"):  # failed lanes are computed along with the others
            moment = np.array(read(t)[0])
            self.system.answer(question, moment, np.array(state), given, read(out))


def named_parameters(shapes, rows):
    """Parameters by name from rows of lanes, or of one item: numbers, rows, (*shape, lanes)."""
    named, rest = {}, iter(rows)
    for name, shape in shapes.items():
        own = [next(rest) for _ in range(prod(shape))]
        if shape:
            named[name] = np.array(np.broadcast_arrays(*own)).reshape(*shape, -1)
        else:
            named[name] = own[0][0] if len(own[0]) == 1 else own[0]
    return named


def write_rows(function, result, out):
    """Write what a batched function returned into rows (components, lanes).

    Raises
    ------
    TypeError, ValueError
        Anything but real numbers, or another shape; the message names the function.
    """
    name, (rows, lanes) = describe(function), out.shape
    refuse_masked(f"{name} returns", result)
    shapes = (out.shape, out.shape[1:]) if rows == 1 else (out.shape,)
    if isinstance(result, np.ndarray) and result.dtype == out.dtype and result.shape in shapes:
        out[...] = result
        return
    listed = isinstance(result, list | tuple)  # also numbers beside arrays
    if not listed and np.ndim(result):
        result = np.asarray(result)  # a table of pandas has its columns as items
    if rows == 1 and not listed and np.ndim(result) <= 1:
        result, listed = [result], True
    if not (listed or np.ndim(result)) or len(result) != rows:
        got = (
            f"{len(result)} components" if isinstance(result, list | tuple)
            else f"an array of shape {np.shape(result)}" if np.ndim(result) else repr(result)
        )  # fmt: skip
        raise ValueError(f"{name} returns {got}, expected {rows} components, the batch last")
    for to, row in zip(out, result, strict=True):
        row = np.asarray(float(row) if isinstance(row, Rational) else row)
        if row.dtype.kind not in "biuf":
            raise TypeError(f"{name} returns {row.dtype}, expected real numbers")
        if row.shape not in ((), (1,), (lanes,)):
            raise ValueError(
                f"{name} returns a component of shape {row.shape}, expected ({lanes},)"
            )
        to[...] = row
