"""Systems from plain functions: ``@acceleration``, ``@rhs``, ``@hamiltonian``, ``@potential``.

The function is written for one trajectory, in NumPy. It is called once with symbols (pyintegrate/
trace) and then runs as byte code: over any batch, with any method, without Python.
"""

from __future__ import annotations

from functools import wraps
from typing import Any, ParamSpec, Protocol, cast, overload

from ..values.types import ArrayLike, Callable, Concatenate, Decorator, Function, TracedSystem
from .definition import Definition

Options = ParamSpec("Options")


class Maker(Protocol[Options]):
    """A decorator with options, which also works without brackets."""

    @overload
    def __call__(
        self, function: Function, /, *args: Options.args, **options: Options.kwargs
    ) -> TracedSystem: ...
    @overload
    def __call__(
        self, function: None = None, /, *args: Options.args, **options: Options.kwargs
    ) -> Decorator: ...


def _task(make: Callable[..., Any]) -> str:
    """What a function of this module does, in the words of its docstring."""
    first = str(make.__doc__).split("\n")[0]
    return first[0].lower() + first[1:].rstrip(".")


def either_way(make: Callable[Concatenate[Function | None, Options], Any]) -> Maker[Options]:
    """What takes a function, or only options for one: then it is a decorator."""

    @wraps(make)
    def either(function: Function | None = None, /, *args: Any, **options: Any) -> Any:
        if function is None:
            return lambda function: make(function, *args, **options)
        if not callable(function):
            raise TypeError(f"@pi.{make.__name__} takes a function, got {function!r}")
        if args:
            raise TypeError(
                f"@pi.{make.__name__} takes one function, and options by name, got {args[0]!r} as"
                f" well: it serves to {_task(make)}"
            )
        return make(function, *args, **options)

    return cast("Maker[Options]", either)


@either_way
def acceleration(
    function: Function | None = None, /, *, dof: int | None = None, **options: Any
) -> TracedSystem | Decorator:
    """Make a System of x'' = a(t, x, v), written for one trajectory.

    Parameters
    ----------
    function : callable
        ``a(t, x, v, ...)``. If dof = 1, x and v are scalars and it returns one; else they have
        components, x[0], x[1], ..., and it returns as many. Further arguments are parameters.
    dof : int, optional
        Number of positions. Found from the function if possible.
    **options
        Default values of the parameters, numbers or arrays; and ``name``, ``title``,
        ``state_names``, ``units`` (a dictionary of state, parameters and "t"), ``initial`` (the
        default state), ``energy`` and ``exact`` (functions with the same leading arguments; in
        ``exact`` x and v are the initial ones, t are the times since then, axes of times and of
        the batch come last, and it returns positions and velocities), ``trace=False`` (call the
        function itself: slow, for NumPy and SciPy functions that cannot be traced; it gets arrays
        over the batch, x of shape (n,), or (dof, n) if dof > 1, parameters of shape (k,) as (k,
        n)), and with it ``velocity_dependent=False`` (the acceleration does not use v: methods for
        x'' = a(t, x) apply).

    Returns
    -------
    System

    Raises
    ------
    TypeError
        The function cannot be traced; the message names the line and the remedy.
    ValueError
        Wrong parameters, or a wrong number of components.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> @pi.acceleration(k=15.0, b=0.1)
    ... def spring(t, x, v, k, b):
    ...     return -k * x - b * v
    >>> spring(k=np.array([1.0, 4.0])).acceleration(0.0, [[1.0]], [[0.0]])
    array([[-1.],
           [-4.]])
    """
    return Definition("acceleration", function, dof, options).system()


@either_way
def rhs(
    function: Function | None = None, /, *, dim: int | None = None, **options: Any
) -> TracedSystem | Decorator:
    """Make a System of y' = f(t, y), written for one trajectory.

    Parameters
    ----------
    function : callable
        ``f(t, y, ...)``; y always has components, even if dim = 1.
    dim : int, optional
        Number of components. Found from the function if possible.
    **options
        As in ``pi.acceleration``.

    Returns
    -------
    System

    Raises
    ------
    TypeError, ValueError
        As ``pi.acceleration``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> @pi.rhs(dim=3, sigma=10.0, rho=28.0, beta=8 / 3)
    ... def lorenz(t, y, sigma, rho, beta):
    ...     x, y, z = y
    ...     return sigma * (y - x), x * (rho - z) - y, x * y - beta * z
    >>> lorenz.rhs(0.0, [1.0, 2.0, 3.0])
    array([10., 23., -6.])
    """
    return Definition("rhs", function, dim, options).system()


@either_way
def hamiltonian(
    function: Function | None = None, /, *, dof: int | None = None, **options: Any
) -> TracedSystem | Decorator:
    """Make a System of q' = dH/dp, p' = -dH/dq, with the derivatives taken automatically.

    If H = T(p) + V(q) the system is "separable" and takes symplectic methods; otherwise it is of
    first order. Its energy is H.

    Parameters
    ----------
    function : callable
        ``H(q, p, ...)`` or ``H(t, q, p, ...)``; q and p are scalars if dof = 1.
    dof : int, optional
    **options
        As in ``pi.acceleration``, without ``energy`` and ``trace``.

    Returns
    -------
    System

    Raises
    ------
    TypeError, ValueError
        As ``pi.acceleration``.

    References
    ----------
    Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, VI.1.

    Examples
    --------
    >>> import numpy as np, pyintegrate as pi
    >>> @pi.hamiltonian(dof=2, mu=1.0)
    ... def kepler(q, p, mu):
    ...     return (p @ p) / 2 - mu / np.sqrt(q @ q)
    >>> kepler.structure
    'separable'
    >>> kepler.rhs(0.0, [2.0, 0.0, 0.0, 0.5])
    array([ 0.  ,  0.5 , -0.25, -0.  ])
    """
    return Definition("hamiltonian", function, dof, options).system()


@either_way
def potential(
    function: Function | None = None,
    /,
    *,
    dof: int | None = None,
    mass: ArrayLike = 1.0,
    **options: Any,
) -> TracedSystem | Decorator:
    """Make a System of m x'' = -dV/dx from its potential energy.

    Parameters
    ----------
    function : callable
        ``V(x, ...)`` or ``V(t, x, ...)``; x is a scalar if dof = 1.
    dof : int, optional
    mass : float, array_like of shape (dof,) or str
        The mass of all components, or of each; or the name of a parameter with the mass.
    **options
        As in ``pi.acceleration``, without ``energy`` and ``trace``: the energy is
        m v.v / 2 + V.

    Returns
    -------
    System

    Raises
    ------
    TypeError, ValueError
        As ``pi.acceleration``.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> @pi.potential(dof=2, coupling=1.0)
    ... def henon_heiles(x, coupling):
    ...     return (x @ x) / 2 + coupling * (x[0] ** 2 * x[1] - x[1] ** 3 / 3)
    >>> henon_heiles.acceleration(0.0, [0.5, 0.0], [0.0, 0.0])
    array([-0.5 , -0.25])
    """
    return Definition("potential", function, dof, {**options, "mass": mass}).system()
