"""pyintegrate: see what an integrator does.

Batched fixed-step integration of equations of motion: NumPy arrays in, NumPy arrays out, the whole
time loop in C.

>>> import pyintegrate as pi
>>> sol = pi.integrate(pi.systems.spring(b=0.0), 1.0, 0.0, dt=0.1, t_end=90.0)
>>> f"{sol.energy_error()[-1]:.4f}"
'-0.0406'
"""

import importlib

from ._core import info as _info
from .define import acceleration, hamiltonian, potential, rhs
from .errors import IntegrationError, IntegrationWarning, Status
from .integrate import integrate
from .methods import Method, methods
from .own_methods import Composition, RungeKutta
from .own_multistep import Multistep
from .solution import Solution
from .systems import System, systems

__version__ = _info()["version"]
__all__ = [
    "Composition",
    "FixedTimestep",
    "IntegrationError",
    "IntegrationWarning",
    "Method",
    "Multistep",
    "RungeKutta",
    "Solution",
    "Status",
    "Stepper",
    "System",
    "acceleration",
    "analysis",
    "c_function",
    "compare",
    "hamiltonian",
    "integrate",
    "load",
    "methods",
    "plots",
    "potential",
    "rhs",
    "systems",
]


_LAZY = {
    "c_function": ".compiled",
    "FixedTimestep": ".fixed_timestep",
    "Stepper": ".stepper",
    "compare": ".analysis.compare",
    "load": ".storage",
}


def __getattr__(name):
    """What is not needed by every program loads when first used."""
    if name in ("analysis", "dask", "plots"):
        return importlib.import_module(f".{name}", __name__)
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module 'pyintegrate' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__, "dask"})
