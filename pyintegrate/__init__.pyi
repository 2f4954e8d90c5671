"""The types of the public names; __init__.py loads them when they are asked for."""

from . import analysis as analysis
from . import dask as dask
from . import plots as plots
from .adaptive.tolerances import tolerance as tolerance
from .analysis.advice import advise as advise
from .analysis.portraits.tangent_growth import chaos_map as chaos_map
from .analysis.portraits.tangent_growth import lyapunov as lyapunov
from .analysis.sections.grid_scan import scan as scan
from .analysis.side_by_side import compare as compare
from .errors import ArithmeticWarning as ArithmeticWarning
from .errors import IntegrationError as IntegrationError
from .errors import IntegrationWarning as IntegrationWarning
from .errors import RecordWarning as RecordWarning
from .errors import Status as Status
from .fitting.estimation import fit as fit
from .fitting.gradients import to_jax as to_jax
from .fitting.gradients import to_torch as to_torch
from .initial_values import solve_ivp as solve_ivp
from .integration import integrate as integrate
from .laboratory.opening import lab as lab
from .method.catalogue import methods as methods
from .method.composition import Composition as Composition
from .method.method import Method as Method
from .method.multistep import Multistep as Multistep
from .method.runge_kutta import RungeKutta as RungeKutta
from .run.fixed_timestep import FixedTimestep as FixedTimestep
from .run.random_numbers import noise as noise
from .run.stepper import Stepper as Stepper
from .solution.parts import concatenate as concatenate
from .solution.solution import Solution as Solution
from .solution.storage import load as load
from .solving import solve as solve
from .stochastic.equations import sde as sde
from .stochastic.heat_bath import langevin as langevin
from .system.catalogue import systems as systems
from .system.system import System as System
from .user_system.c_pointer import c_function as c_function
from .user_system.decorators import acceleration as acceleration
from .user_system.decorators import hamiltonian as hamiltonian
from .user_system.decorators import potential as potential
from .user_system.decorators import rhs as rhs
from .values.citations import cite as cite
from .watching import reductions as watch
from .watching.batch import statistics as across
from .watching.events import event as event

__version__: str
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
    "fit",
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
    "to_jax",
    "to_torch",
    "tolerance",
    "watch",
]
