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

try:
    from ._core import info as _info
except ModuleNotFoundError as _missing:
    raise ImportError(
        f"the folder {__path__[0]!r} holds the sources of pyintegrate without their compiled core,"
        " and stands before an installed package of that name: start Python in another folder, or"
        " build the core here (pip install -e .)"
    ) from _missing

from .errors import (
    ArithmeticWarning,
    IntegrationError,
    IntegrationWarning,
    RecordWarning,
    Status,
)
from .integration import integrate
from .method.catalogue import methods
from .method.method import Method
from .solution.solution import Solution
from .system.catalogue import systems
from .system.system import System

if TYPE_CHECKING:
    from . import analysis as analysis
    from . import dask as dask
    from . import plots as plots
    from .adaptive.tolerances import tolerance
    from .analysis.chaos.exponents import lyapunov
    from .analysis.chaos.indicators import chaos_map
    from .analysis.recommendation import advise
    from .analysis.sections.grid_scan import scan
    from .analysis.side_by_side import compare
    from .initial_values import solve_ivp
    from .laboratory.opening import lab
    from .method.composition import Composition
    from .method.multistep import Multistep
    from .method.runge_kutta import RungeKutta
    from .run.fixed_timestep import FixedTimestep
    from .run.random_numbers import noise
    from .run.stepper import Stepper
    from .solution.parts import concatenate
    from .solution.storage import load
    from .solving import solve
    from .stochastic.equations import sde
    from .stochastic.heat_bath import langevin
    from .user_system.c_pointer import c_function
    from .user_system.decorators import acceleration, hamiltonian, potential, rhs
    from .values.citations import cite
    from .watching import reductions as watch
    from .watching.batch import statistics as across
    from .watching.events import event

__version__ = _info()["version"]
__all__ = [
    "ArithmeticWarning",
    "Composition",
    "FixedTimestep",
    "IntegrationError",
    "IntegrationWarning",
    "Method",
    "Multistep",
    "RecordWarning",
    "RungeKutta",
    "Solution",
    "Status",
    "Stepper",
    "System",
    "acceleration",
    "across",
    "advise",
    "analysis",
    "c_function",
    "chaos_map",
    "cite",
    "compare",
    "concatenate",
    "event",
    "hamiltonian",
    "integrate",
    "lab",
    "langevin",
    "load",
    "lyapunov",
    "methods",
    "noise",
    "plots",
    "potential",
    "rhs",
    "scan",
    "sde",
    "solve",
    "solve_ivp",
    "systems",
    "tolerance",
    "watch",
]


# Parts that few programs need, and where they are: loaded when first asked for.
_MODULES = {
    "across": ".watching.batch.statistics",
    "analysis": ".analysis",
    "dask": ".dask",
    "plots": ".plots",
    "watch": ".watching.reductions",
}
_OBJECTS = {
    "Composition": ".method.composition",
    "FixedTimestep": ".run.fixed_timestep",
    "Multistep": ".method.multistep",
    "RungeKutta": ".method.runge_kutta",
    "Stepper": ".run.stepper",
    "acceleration": ".user_system.decorators",
    "advise": ".analysis.recommendation",
    "c_function": ".user_system.c_pointer",
    "chaos_map": ".analysis.chaos.indicators",
    "cite": ".values.citations",
    "compare": ".analysis.side_by_side",
    "concatenate": ".solution.parts",
    "event": ".watching.events",
    "hamiltonian": ".user_system.decorators",
    "lab": ".laboratory.opening",
    "langevin": ".stochastic.heat_bath",
    "load": ".solution.storage",
    "lyapunov": ".analysis.chaos.exponents",
    "noise": ".run.random_numbers",
    "potential": ".user_system.decorators",
    "rhs": ".user_system.decorators",
    "scan": ".analysis.sections.grid_scan",
    "sde": ".stochastic.equations",
    "solve": ".solving",
    "solve_ivp": ".initial_values",
    "tolerance": ".adaptive.tolerances",
}


_ELSEWHERE = {
    "save": ": a solution saves itself, sol.save(path)",
    "odeint": ": pi.solve_ivp(lambda t, y: f(y, t), (t[0], t[-1]), y0, 'LSODA', t_eval=t).y.T",
}


def __getattr__(name):
    if name in _MODULES:
        found = importlib.import_module(_MODULES[name], __name__)
    elif name in _OBJECTS:
        found = getattr(importlib.import_module(_OBJECTS[name], __name__), name)
    else:
        cure = _ELSEWHERE.get(name, "")
        raise AttributeError(f"module 'pyintegrate' has no attribute {name!r}{cure}")
    globals()[name] = found
    return found


def __dir__():
    """Public names; those that draw or run on dask, where what they need is installed."""
    import importlib.util

    needs = {"plots": "matplotlib", "dask": "dask"}
    names = {"__version__", "dask", *__all__}
    return sorted(n for n in names if n not in needs or importlib.util.find_spec(needs[n]))
