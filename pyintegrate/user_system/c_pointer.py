"""Systems whose right-hand side is compiled code: a pointer to a C function."""

from __future__ import annotations

import ctypes
import inspect

import numpy as np

from .. import _core
from ..system.system import System
from ..values.checks import MOST_COMPONENTS, integer, string, truth
from ..values.differences import jacobian_by_differences
from ..values.parameters import checked
from ..values.types import Any, ArrayLike, Callable, Mapping, Sequence
from .definition import described
from .own_system import OwnSystem

_PROTOTYPES = (
    "int f(double t, const double *y, double *dydt, const double *p)",
    "int f(int64_t n, int64_t stride, const double *t, const double *y, double *dydt,"
    " const double *p)",
)
_ARGUMENTS = (4, 6)
_FUNCTION_POINTER: Any = ctypes.CFUNCTYPE(None).__mro__[1]  # the base of all ctypes functions
_RESERVED = ("t", "y", "t0")  # the leading arguments of an exact solution
_LANES_A_CALL = 2048  # of a batched function


class PointerSystem(OwnSystem):
    """A System whose right-hand side is a compiled function; see ``pi.c_function``."""

    core = property(lambda self: self.definition.handle)

    def _formulas(self):
        return ["y' = f(t, y, p), compiled"]

    jacobian = jacobian_by_differences

    def __reduce__(self):
        raise TypeError(
            f"{self.name} runs a compiled function, whose address means nothing elsewhere: it"
            " cannot be pickled; make it again with pi.c_function where it is needed"
        )


def c_function(
    pointer: Any,
    *,
    dim: int,
    params: Mapping[str, ArrayLike] | None = None,
    batched: bool = False,
    unsafe: bool = False,
    name: str | None = None,
    title: str | None = None,
    state_names: str | Sequence[str] | None = None,
    units: Mapping[str, str] | None = None,
    initial: ArrayLike | None = None,
    exact: Callable[..., Any] | None = None,
) -> PointerSystem:
    """Make a System of y' = f(t, y, p) whose right-hand side is a compiled function.

    It is called without the interpreter lock, in float64 only. If a function for one trajectory
    returns anything but 0, that trajectory fails; a batched function stops the run.

    Parameters
    ----------
    pointer : LowLevelCallable, ctypes function, cffi pointer, PyCapsule or object with an address
        ``int f(double t, const double *y, double *dydt, const double *p)``, or with
        ``batched=True`` ``int f(int64_t n, int64_t stride, const double *t, const double *y,
        double *dydt, const double *p)``, component d of trajectory i at ``d * stride + i``.
        It is kept alive. ``.address`` may be that of a numba cfunc.
    dim : int
        Components of y.
    params : dict, optional
        Name -> default value, a number or an array; p holds them in this order.
    batched : bool
    unsafe : bool
        Accept a bare integer as an address. Nothing keeps the code there alive.
    name, title, state_names, units, initial, exact
        As in ``pi.rhs``.

    Returns
    -------
    System
        It cannot be pickled.

    Raises
    ------
    TypeError, ValueError
        An object that is no pointer to a function, or a wrong option.

    Examples
    --------
    >>> import ctypes, pyintegrate as pi
    >>> doubles = ctypes.POINTER(ctypes.c_double)
    >>> prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, doubles, doubles, doubles)
    >>> @prototype
    ... def decay(t, y, dydt, p):
    ...     dydt[0] = -p[0] * y[0]
    ...     return 0
    >>> system = pi.c_function(decay, dim=1, params={"rate": 2.0})
    >>> system.rhs(0.0, [3.0])
    array([-6.])
    """
    dim = integer("dim", dim, 1, MOST_COMPONENTS)
    batched, unsafe = truth("batched", batched), truth("unsafe", unsafe)
    target = _target(pointer, batched, unsafe)
    defaults = _parameters(params)
    rows = sum(map(np.size, defaults.values()))
    handle = _core.make_callback(
        target, 1 + batched, dim, 0, rows, _LANES_A_CALL * batched, pointer
    )
    name = string("name", name, str(getattr(pointer, "__name__", "c_function")))
    title = string("title", title, "")
    given = {
        "title": title, "state_names": state_names, "units": units,
        "initial": initial, "exact": exact,
        "reference": inspect.cleandoc(title or "a compiled right-hand side"),
    }  # fmt: skip
    if exact is not None and not callable(exact):
        raise TypeError(f"exact must be a function, got {exact!r}")
    definition = described("rhs", name, defaults, given, dim, handle=handle)
    return PointerSystem(definition, defaults)


def _parameters(params):
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise TypeError(f"params must be a dictionary of name to default value, got {params!r}")
    for key in params:
        if not isinstance(key, str) or not key.isidentifier() or key in _RESERVED:
            raise ValueError(f"params has {key!r}: a name other than {', '.join(_RESERVED)}")
    return {key: checked(key, value) for key, value in params.items()}


def _target(pointer, batched, unsafe):
    """A capsule, or the address as an integer."""
    if isinstance(pointer, System):
        raise TypeError(f"{pointer!r} is a System already")
    if isinstance(pointer, bool | float | str | bytes) or pointer is None:
        raise TypeError(f"{pointer!r} is no pointer to a function")
    if isinstance(pointer, int):
        if not unsafe:
            raise TypeError(
                f"{pointer:#x} is a bare integer: give the object that owns the function, or"
                " unsafe=True where you keep the code at this address alive yourself"
            )
        return pointer
    if type(pointer).__name__ == "LowLevelCallable" and hasattr(pointer, "function"):
        if pointer.user_data is not None:
            raise ValueError("a LowLevelCallable with user_data: parameters come from params=")
        return _target(pointer.function, batched, unsafe)
    if type(pointer).__name__ == "PyCapsule":
        return pointer
    pointer = getattr(pointer, "ctypes", pointer)  # numba's, which knows its arguments
    if isinstance(pointer, _FUNCTION_POINTER):
        names = pointer.argtypes and [kind.__name__ for kind in pointer.argtypes]
        _check_names(pointer, getattr(pointer.restype, "__name__", "void"), names, batched)
        return ctypes.cast(pointer, ctypes.c_void_p).value or 0
    if type(pointer).__module__ == "_cffi_backend":
        from cffi import FFI

        kind = FFI().typeof(pointer)
        if kind.kind == "function":
            _check_names(pointer, kind.result.cname, [a.cname for a in kind.args], batched)
        return int(FFI().cast("intptr_t", pointer))
    address = getattr(pointer, "address", None)
    if isinstance(address, int) and not isinstance(address, bool):
        return address
    if callable(pointer):
        raise TypeError(
            f"{pointer!r} is a Python function: use @pi.rhs, or compile it (numba's cfunc)"
        )
    raise TypeError(
        f"{pointer!r} is no pointer to a function: a LowLevelCallable, ctypes function, cffi"
        f" pointer, PyCapsule, or an object with an integer .address, of {_PROTOTYPES[batched]}"
    )


def _check_names(pointer, result, arguments, batched):
    """Refuse a function by the names of its types; those of the arguments may be unknown, None."""
    wrong = ""
    if any(word in result for word in ("void", "double", "float")):
        wrong = "returns no int"
    elif arguments is not None and len(arguments) != _ARGUMENTS[batched]:
        wrong = f"takes {len(arguments)} arguments"
    elif any("float" in name for name in arguments or ()):
        wrong = "takes floats"
    if wrong:
        raise TypeError(f"{pointer!r} {wrong}, expected {_PROTOTYPES[batched]}")
