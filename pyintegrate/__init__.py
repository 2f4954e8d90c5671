"""pyintegrate: see what an integrator does.

Batched fixed-step integration of equations of motion: NumPy arrays in, NumPy arrays out, the whole
time loop in C.

>>> import pyintegrate as pi
>>> sol = pi.integrate(pi.systems.spring(b=0.0), 1.0, 0.0, dt=0.1, t_end=90.0)
>>> f"{sol.energy_error()[-1]:.4f}"
'-0.0406'
"""

import importlib
from typing import TYPE_CHECKING

from ._core import info as _info
from .errors import IntegrationError, IntegrationWarning, Status
from .integrate import integrate
from .methods import Method, methods
from .solution import Solution
from .systems import System, systems

if TYPE_CHECKING:
    from .analysis.compare import compare
    from .compiled import c_function
    from .define import acceleration, hamiltonian, potential, rhs
    from .fixed_timestep import FixedTimestep
    from .own_methods import Composition, RungeKutta
    from .own_multistep import Multistep
    from .stepper import Stepper
    from .storage import load

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
    "Composition": ".own_methods",
    "FixedTimestep": ".fixed_timestep",
    "Multistep": ".own_multistep",
    "RungeKutta": ".own_methods",
    "Stepper": ".stepper",
    "acceleration": ".define",
    "c_function": ".compiled",
    "compare": ".analysis.compare",
    "hamiltonian": ".define",
    "load": ".storage",
    "potential": ".define",
    "rhs": ".define",
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
