"""Readable NumPy twins of the C core, one module a family, and the parts of the catalogue to try.

A twin is the mathematics written once more, as plainly as it can be: any system given by its
right-hand side or its acceleration, any method by its coefficients, the component axis last.
"""

import numpy as np

import pyintegrate as pi

from . import composition, explicit_rk

TWINS = {"explicit_rk": explicit_rk.integrate, "composition": composition.integrate}

# ---- pairs of a method and a system --------------------------------------------------------------

_STRUCTURES = {
    "any": ("first_order", "second_order", "separable"),
    "separable": ("second_order", "separable"),
    "quadratic_kinetic": ("second_order",),
    "rigid_body": ("rigid_body",),
}
# Methods for any motion of points: tables of numbers. Rules of rigid motion have their own tests.
POINT_METHODS = [m for m in pi.methods.values() if m.requires != "rigid_body"]


def fits(method, system):
    """May the system be integrated by the method?"""
    return system.structure in _STRUCTURES[method.requires]


PAIRS = [(m, s) for m in POINT_METHODS for s in pi.systems.values() if fits(m, s)]

# Kernels are compiled for some methods and for the tables of each family, and for every system.
_COMPILED = ("rk4", "tsitouras54", "semi_implicit_euler", "velocity_verlet")
_BY_TABLE = ("dormand_prince54", "forest_ruth4")
# Second order, the same seeing velocity and time, and what the family does besides.
_KINDS = {
    "explicit_rk": ("pendulum", "duffing", "lorenz"),
    "composition": ("pendulum", "duffing", "momentum_spring"),
}

KERNEL_METHODS = [pi.methods[name] for name in _COMPILED + _BY_TABLE]
KERNELS = [(m, s) for m, s in PAIRS if m.name in _COMPILED + _BY_TABLE]
COVERING = [
    (m, s) for m, s in PAIRS if m.name in _COMPILED + _BY_TABLE or s.name in _KINDS[m.family]
]

DTYPES = (np.float64, np.float32)
KERNELS_IN_BOTH = [(m, s, dtype) for m, s in KERNELS for dtype in DTYPES]
COVERING_IN_BOTH = [(m, s, np.float64) for m, s in COVERING] + [
    (m, s, np.float32) for m, s in KERNELS
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


# ---- the twins -----------------------------------------------------------------------------------


def integrate(method, system, y, t0, h, n_steps):
    """What ``pi.integrate(...).final`` should be, by the twin of the method's family."""
    return TWINS[method.family](system, y, t0, h, n_steps, **method.coefficients)
