"""pyintegrate: see what an integrator does.

Batches of motions, integrated at a fixed step (`integrate`) or to a tolerance (`solve`): NumPy
arrays in, NumPy arrays out, the whole time loop in C. `systems` and `methods` are the catalogues,
`compare` and `advise` judge methods, `acceleration` and `rhs` make systems of your own functions.

>>> import pyintegrate as pi
>>> sol = pi.integrate(pi.systems.spring(b=0.0), 1.0, 0.0, dt=0.1, t_end=90.0)
>>> f"{sol.energy_error()[-1]:.4f}"
'-0.0406'
"""

from importlib import import_module

try:
    from ._core import info as _info
except ModuleNotFoundError as _missing:
    raise ImportError(
        f"the folder {__path__[0]!r} holds the sources of pyintegrate without their compiled core,"
        " and stands before an installed package of that name: start Python in another folder, or"
        " build the core here (pip install -e .)"
    ) from _missing

# The modules of the public names, loaded when one of these is first asked for. A name that its
# module does not have stands for the module. The types are in __init__.pyi.
_HOLDERS = {
    "adaptive.tolerances": "tolerance",
    "analysis": "analysis",
    "analysis.advice": "advise",
    "analysis.portraits.tangent_growth": "chaos_map lyapunov",
    "analysis.sections.grid_scan": "scan",
    "analysis.side_by_side": "compare",
    "dask": "dask",
    "fitting.estimation": "fit",
    "fitting.gradients": "to_jax to_torch",
    "errors": "ArithmeticWarning IntegrationError IntegrationWarning RecordWarning Status",
    "initial_values": "solve_ivp",
    "integration": "integrate",
    "laboratory.opening": "lab",
    "method.catalogue": "methods",
    "method.composition": "Composition",
    "method.method": "Method",
    "method.multistep": "Multistep",
    "method.runge_kutta": "RungeKutta",
    "plots": "plots",
    "run.fixed_timestep": "FixedTimestep",
    "run.random_numbers": "noise",
    "run.stepper": "Stepper",
    "solution.parts": "concatenate",
    "solution.solution": "Solution",
    "solution.storage": "load",
    "solving": "solve",
    "stochastic.equations": "sde",
    "stochastic.heat_bath": "langevin",
    "system.catalogue": "systems",
    "system.system": "System",
    "user_system.c_pointer": "c_function",
    "user_system.decorators": "acceleration hamiltonian potential rhs",
    "values.citations": "cite",
    "watching.batch.statistics": "across",
    "watching.events": "event",
    "watching.reductions": "watch",
}
_PLACES = {name: module for module, names in _HOLDERS.items() for name in names.split()}

__version__ = _info()["version"]
__all__ = sorted({*_PLACES} - {"dask"})  # noqa: PLE0605

_ELSEWHERE = {
    "save": ": a solution saves itself, sol.save(path)",
    "odeint": ": pi.solve_ivp(lambda t, y: f(y, t), (t[0], t[-1]), y0, 'LSODA', t_eval=t, "
    "rtol=1e-8, atol=1e-8).y.T",
    "ode": ": pi.solve_ivp, or pi.Stepper for steps by hand",
}


def __getattr__(name):
    if name not in _PLACES:
        cure = _ELSEWHERE.get(name) or _within(name)
        raise AttributeError(f"module 'pyintegrate' has no attribute {name!r}{cure}")
    module = import_module(f".{_PLACES[name]}", __name__)
    return globals().setdefault(name, getattr(module, name, module))


def _within(name):
    """Where it is instead: a method or a system, by any of its names, or a function."""
    if not name.startswith("_"):
        for place in ("methods", "systems"):
            if name in (catalogue := __getattr__(place)):
                return f": it is pi.{place}.{catalogue[name].name}"
        for place in ("analysis", "watch", "across", "plots"):
            if place in __dir__() and name in dir(__getattr__(place)):
                return f": it is pi.{place}.{name}"
    return ""


def __dir__():
    """Public names; those that draw or run on dask, where what they need is installed."""
    from importlib.util import find_spec

    needs = {"plots": "matplotlib", "dask": "dask"}
    return sorted(n for n in ("__version__", *_PLACES) if n not in needs or find_spec(needs[n]))
