"""The former names that pickles and files contain, and the present ones.

A pickle names the module of everything in it. The module names of version 0.1, and those that
came after it, stay in ``sys.modules`` and lead to the present names.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

# Former module to the names that were pickled from it, and where each is defined.
FORMER = {
    "adaptive.journey": {"Journey": "adaptive.adaptive_run"},
    "analysis.compare": {"Comparison": "analysis.side_by_side"},
    "analysis.convergence": {"Convergence": "analysis.error_against_step"},
    "analysis.energy": {"EnergyDrift": "analysis.conserved_energy"},
    "analysis.quality": {
        "MethodQualities": "analysis.qualities",
        "MethodQuality": "analysis.qualities",
    },
    "analysis.passing": {},
    "analysis.passing.exits": {"Passages": "analysis.sections.exits"},
    "analysis.passing.plane": {"Scan": "analysis.sections.grid_scan"},
    "analysis.passing.returns": {
        "OrbitDiagram": "analysis.sections.return_maps",
        "ReturnMap": "analysis.sections.return_maps",
    },
    "analysis.stability_region": {"StabilityRegion": "analysis.regions"},
    "analysis.work_precision": {"WorkPrecision": "analysis.error_against_work"},
    "analysis.certificate": {"Certificate": "certificate.certificate"},
    "analysis.conditions": {"Conditions": "theory.conditions"},
    "callback_system": {
        "CallbackSystem": "user_system.callback",
        "_named_system": "user_system.callback",
    },
    "methods": {"find_method": "method.catalogue", "MethodTable": "method.table"},
    "n_body": {"restore_bodies": "system.n_body"},
    "own_methods": {"remake": "former_names"},
    "own_systems": {"TracedSystem": "user_system.traced", "_restore": "user_system.traced"},
    "arguments": {"Problem": "run.problem"},
    "recording": {"RecordedSolution": "solution.solution"},
    "stepper": {"Snapshot": "run.snapshot"},
    "systems": {"_restore": "system.system"},
    "watching.happened": {"Events": "watching.event_log", "Happened": "watching.event_log"},
}
# Names that differ as well.
RENAMED = {
    ("systems", "_restore"): "restore",
    ("recording", "RecordedSolution"): "Solution",
    ("adaptive.journey", "Journey"): "StepControl",
    ("watching.happened", "Happened"): "EventLog",
}
# Attributes of a Solution.
ATTRIBUTES = {"_journey": "_control", "_occurred": "_event_rows", "_passing": "_observation"}


class _Former(ModuleType):
    """A former module name, for pickles that contain it."""

    def __getattr__(self, name):
        former = self.__name__.removeprefix(f"{__package__}.")
        if name not in FORMER[former]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module = importlib.import_module(f"{__package__}.{FORMER[former][name]}")
        return getattr(module, RENAMED.get((former, name), name))


def install():
    """Register the old modules; nothing is imported until one is asked for a name."""
    for former in FORMER:
        name = f"{__package__}.{former}"
        sys.modules.setdefault(name, _Former(name))


def remake(family, written, name, order, requires, derivative):
    """A user-defined method as version 0.1 stored it."""
    from .method.user_defined import ProvenOrder

    order = ProvenOrder(order)
    if family == "composition":
        from .method.composition import from_weights

        return from_weights(written["kick"], written["drift"], requires, name, order)
    if family == "multistep":
        from .method.multistep import Multistep

        predictor, velocity = written["predictor"] or None, written["velocity"] or None
        return Multistep(
            written["alpha"], written["beta"], predictor, derivative, velocity, name, order
        )
    from .method.runge_kutta import RungeKutta

    return RungeKutta(written["A"], written["b"], written["c"], name, order)


def current_state(state):
    """The fields of a Solution, from those of an earlier pickle."""
    state = {ATTRIBUTES.get(name, name): value for name, value in state.items()}
    if "_options" not in state:
        state = _with_options(state)
    problem = state["_problem"]
    if "arithmetic" not in problem.__dict__:
        from .method.arithmetic import present_rows

        method, dof = problem.method, problem.system.dof
        initial = present_rows(problem.initial, method, dof, 1)
        state["_problem"] = problem.changed(arithmetic=1, initial=initial)
        state["_history"] = present_rows(state["_history"], method, dof, 1)
    return state


def _with_options(state):
    """The fields that version 0.1 pickled as one Problem, split into Problem and Options."""
    from .run.core import outward
    from .run.failures import Failures
    from .run.options import Options

    problem = state.pop("_problem")
    old = problem.__dict__
    names = problem.system.state_names
    places = old.pop("components")
    options = Options(
        components=None if places is None else tuple(names[i] for i in places),
        **{name: old.pop(name) for name in ("save", "bound", "workers", "on_failure", "out")},
    )
    del old["progress"]
    old["has_history"], old["drive_strides"] = old.pop("begun"), old.pop("advances")
    state |= {"_problem": problem, "_options": options}
    state["_failures"] = Failures(*state.pop("_failed"))
    if "_last" in state:  # states elsewhere, or some components
        last, dim = state.pop("_last"), problem.system.dim
        state |= {"_states": state.pop("out"), "_final": last[:dim, : problem.lanes]}
        state["_history"] = last[dim:, : problem.lanes] if len(last) > dim else None
        del state["_names"]
    else:
        record = state.pop("_record")[..., : problem.lanes]
        state |= {"_states": outward(record, problem.batch), "_final": None}
        state["_history"] = state.pop("_remembered")
    for name in ("y", "status", "failed_step", "steps", "t"):
        state.pop(name, None)  # made again when needed
    return state
