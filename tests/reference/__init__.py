"""Readable NumPy twins of the C core, one module a family, and the parts of the catalogue to try.

A twin is the mathematics written once more, as plainly as it can be: any system given by its
right-hand side or its acceleration, any method by its coefficients, the component axis last.
Arrays are left factors: mpf * array prints the array before it asks it to multiply.
"""

from functools import partial
from importlib import import_module
from types import SimpleNamespace

import conftest
import numpy as np

import pyintegrate as pi
from pyintegrate.run.arguments import check_structure

from . import multistep

# ---- pairs of a method and a system --------------------------------------------------------------

# Methods for any motion of points: tables of numbers. Those for rigid bodies and for planets have
# tests of their own.
POINT_METHODS = [m for m in pi.methods.values() if m.requires not in ("rigid_body", "n_body")]


def fits(method, system):
    """May the system be integrated by the method?"""
    try:
        check_structure(method, system)
    except ValueError:
        return False
    return True


# Each family has a module of its name. That of multistep methods is told more (`_twin`).
TWINS = {
    family: import_module(f".{family}", __name__).integrate
    for family in dict.fromkeys(m.family for m in POINT_METHODS)
    if family != "multistep"
}

_POINTS = [s for s in pi.systems.values() if s.structure != "rigid_body"]
PAIRS = [(m, s) for m in POINT_METHODS for s in _POINTS if fits(m, s)]

# Kernels are compiled for some methods and for the tables of each family, and for every system.
_COMPILED = ("rk4", "tsitouras54", "semi_implicit_euler", "velocity_verlet")
_BY_TABLE = ("dormand_prince54", "forest_ruth4")
# Kernels on rows are the same for all systems: one of each kind of method, and of system.
_ON_ROWS = (
    *("gauss4", "trbdf2", "lobatto_iiib4", "constant_acceleration", "runge_kutta_nystrom4"),
    *("adams_bashforth3", "adams_bashforth_moulton4", "bdf3", "milne_simpson4"),
    *("stormer_verlet", "stormer_verlet_backward", "beeman", "numerov4", "quinlan8b"),
)
# Second order, the same seeing velocity and time, and what the family does besides.
_KINDS = {
    "explicit_rk": ("pendulum", "duffing", "lorenz"),
    "composition": ("pendulum", "duffing", "momentum_spring"),
    "implicit_rk": ("pendulum",),
    "rosenbrock": ("pendulum", "duffing", "lorenz"),
    "nystrom": ("pendulum", "duffing"),
    "multistep": ("pendulum",),
}
_ROW_SYSTEMS = ("kepler", "duffing", "lorenz", "momentum_spring")


def _on_rows(method, system):
    return method.name in _ON_ROWS and system.name in _ROW_SYSTEMS


KERNEL_METHODS = [pi.methods[name] for name in _COMPILED + _BY_TABLE]
KERNELS = [
    (m, s) for m, s in PAIRS if m.name in _COMPILED + _BY_TABLE
    or (_on_rows(m, s) and s.name in ("kepler", "lorenz"))
]  # fmt: skip
COVERING = [
    (m, s) for m, s in PAIRS
    if m.name in _COMPILED + _BY_TABLE or _on_rows(m, s)
    or s.name in _KINDS.get(m.family, ("pendulum",))
]  # fmt: skip

DTYPES = (np.float64, np.float32)


def in_turn(values, method, system):
    """One of the values, as on a chessboard of methods and systems; with --all each of them.

    Each method comes with all values all the same, and so does each system.
    """
    if conftest.every_case:
        return values
    place = list(pi.methods).index(method.name) + list(pi.systems).index(system.name)
    return [values[place % len(values)]]


# Kernels on rows have few systems.
KERNELS_IN_BOTH = [
    (m, s, dtype) for m, s in KERNELS
    for dtype in (DTYPES if m.name in _ON_ROWS else in_turn(DTYPES, m, s))
]  # fmt: skip
COVERING_IN_BOTH = KERNELS_IN_BOTH + [
    (m, s, np.float64) for m, s in COVERING if (m, s) not in KERNELS
]


def names(pairs):
    """Identifiers of pairs for pytest."""
    return ["-".join(getattr(part, "name", part.__name__ if isinstance(part, type) else "")
                     for part in pair) for pair in pairs]  # fmt: skip


# ---- states and parameters -----------------------------------------------------------------------


def states(system, shape, dtype=np.float64, seed=1):
    """States (*shape, dim) around the default one; what is positive there stays positive."""
    noise = np.random.default_rng(seed).uniform(-0.2, 0.2, (*shape, system.dim))
    return np.where(system.initial == 0, noise, system.initial * (1 + noise)).astype(dtype)


def with_factors(system, factor):
    """The system with each parameter times a factor (*batch), arrays element by element."""
    factor = np.asarray(factor)
    wide = {name: factor.reshape(factor.shape + (1,) * np.ndim(value))
            for name, value in system.params.items()}  # fmt: skip
    return system(**{name: value * wide[name] for name, value in system.params.items()})


def varied(system, n=50):
    """The system with other parameters for each of n trajectories, and as many states."""
    return with_factors(system, np.random.default_rng(3).uniform(0.5, 2, n)), states(system, (n,))


def accurate(system, y0, t_end, n_steps, save="final", **options):
    """By a method of order 5, with steps so small that its error is said by the test."""
    return pi.integrate(
        system, y0, dt=t_end / n_steps, n_steps=n_steps, method="tsitouras54", save=save, **options
    )


# ---- the twins -----------------------------------------------------------------------------------


def integrate(method, system, y, t0, h, n_steps):
    """What ``pi.integrate(...).final`` should be, by the twin of the method's family."""
    return _twin(method)(system, y, t0, h, n_steps, **method.coefficients)


def _twin(method):
    if method.family != "multistep":
        return TWINS[method.family]
    first = None
    if method.starter:
        starter = pi.methods[method.starter]
        first = partial(TWINS[starter.family], **starter.coefficients)
    return partial(
        multistep.integrate, derivative=method.derivative, backward=method.backward, first=first
    )


def with_coefficients(method, coefficients):
    """Something with other numbers that a twin takes for the method."""
    names = ("family", "derivative", "backward", "starter")
    fields = {name: getattr(method, name) for name in names}
    return SimpleNamespace(**fields, coefficients=coefficients)


def declared(method, order):
    """A method of a wrong table that claims an order all the same, which nobody else can make."""
    method.__dict__["order"] = order
    return method
