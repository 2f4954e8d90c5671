"""The widget: states of the front end in, arrays out; the kernel computes every number."""

from __future__ import annotations

import anywidget
import numpy as np
import traitlets

from ..analysis.accuracy import listed
from ..method.catalogue import find_method
from ..method.catalogue import methods as catalogue
from ..method.stochastic import METHODS
from ..run.arguments import checked_system, components_of, default_methods
from ..system.catalogue import systems as known_systems
from ..values.checks import numbers, truth
from ..values.types import Comparison
from . import front_end
from .record import (
    STARTS,
    describe_method,
    describe_system,
    drawable,
    fitting,
    make_record,
)  # fmt: skip

FIRST = {"omega": 15**0.5}  # of the oscillator that is shown if no system is given
FIRST_END = 90.0
MOST_METHODS = 4


class Lab(anywidget.AnyWidget):
    """Methods side by side over the true motion; made by `pyintegrate.lab`.

    Attributes
    ----------
    solution : Comparison
        The comparison on the screen.
    python : str
        The code that makes it.
    state : dict
        "system", "params", "start", "dt", "t_end", "methods", "equal_work": as the front end
        shows them; "fan", if any, asks for a thousand motions: "noise" (kT of a heat bath) with its
        "friction", or a "spread" (a share, to both sides) "of" a parameter or component.
        An assigned state is carried out, or refused with the exception of `pyintegrate.lab`, and
        then stays as it was; a change by the front end that fails is undone, and
        ``record["error"]`` says why. Assign a new dict: changes within it are not noticed.
    record : dict
        The arrays for the front end.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> lab = pi.lab(dt=0.1)
    >>> lab.state = {**lab.state, "dt": 0.05}
    >>> lab.solution["rk4"].n_steps
    1800
    """

    _esm = front_end.notebook_module()
    _css = front_end.style()
    about = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    record = traitlets.Dict().tag(sync=True)

    def __init__(self, system, x0, v0, *, methods, dt, t_end, equal_work):
        if system is None:
            system = known_systems.oscillator(**FIRST)
            t_end = FIRST_END if t_end is None else t_end
        if isinstance(system, str):
            system = known_systems[system]
        system, shown = checked_system(system), drawable()
        own_start = x0 is None and v0 is None
        if own_start and system.name in shown and system == known_systems[system.name]:
            system, x0 = shown[system.name], STARTS.get(system.name)
        described = describe_system(system, _one_start(system, x0, v0))
        given = {"dt": dt, "t_end": t_end}.items()
        described |= {name: _number(name, value) for name, value in given if value is not None}
        self._systems = {**shown, system.name: system}
        chosen = default_methods(system) if methods is None else listed(methods)
        chosen = [find_method(m) for m in chosen]
        self._methods = {**catalogue, **METHODS, **{method.name: method for method in chosen}}
        state = {
            "system": system.name,
            "params": {name: about["value"] for name, about in described["params"].items()},
            "start": described["start"], "dt": described["dt"], "t_end": described["t_end"],
            "methods": [method.name for method in chosen], "equal_work": bool(equal_work),
        }  # fmt: skip
        systems = {name: describe_system(s) for name, s in shown.items()}
        systems[system.name] = described | {"methods": state["methods"]}
        for name, about in systems.items():
            about["fitting"] = fitting(self._systems[name], self._methods.values())
        self._carried = state, self._carry_out(state)
        super().__init__(
            about={
                "systems": systems,
                "methods": {name: describe_method(m) for name, m in self._methods.items()},
            },
            state=state,
            record=self._carried[1],
        )
        self.observe(self._changed, "state")
        self.on_msg(self._asked)

    def _carry_out(self, state):
        """Make the solution of a state; return its record."""
        system = self._systems[state["system"]](**state["params"])
        if (n := len(state["methods"])) > MOST_METHODS:
            raise ValueError(f"the lab shows {MOST_METHODS} methods at most, got {n}")
        self.solution: Comparison
        self.solution, record = make_record(system, state, self._methods)
        self.system = system
        self.python = record["python"]
        runs, fan = map(_packed, record["runs"]), _packed(record["fan"] or {})
        return record | {"runs": [*runs], "fan": fan, "number": state.get("number", 0)}

    def _plain(self, state):
        """The state as plain numbers and names of the catalogues, or an error."""
        if wrong := (set(state) ^ set(self._carried[0])) - {"number", "fan"}:
            raise ValueError(
                "state holds system, params, start, dt, t_end, methods and equal_work, each once,"
                f" and fan: {', '.join(sorted(map(str, wrong)))} is too much or missing;"
                " lab.state = {**lab.state, 'dt': 0.5} changes one"
            )
        name = state["system"]
        found = self._systems[name] if name in self._systems else known_systems[name]
        system = found(**state["params"])
        start = _one_start(system, state["start"], None)
        describe_system(system, start)  # or it says why it cannot be drawn
        chosen = listed(state["methods"])
        chosen = [m if m in self._methods else find_method(m).name for m in chosen]
        return state | {
            "system": found.name,
            "params": {key: np.asarray(value).tolist() for key, value in state["params"].items()},
            "start": start.tolist(), "methods": chosen,
            "dt": _number("dt", state["dt"]),
            "t_end": _number("t_end", state["t_end"]),
            "equal_work": truth("equal_work", state["equal_work"]),
        }  # fmt: skip

    @traitlets.validate("state")
    def _assigned(self, proposal):
        """A state from Python: carried out before it is stored, so that a wrong one raises here."""
        state = proposal["value"]
        if self._cross_validation_lock or state is self._carried[0]:  # from the front end; undone
            return state
        state = self._plain(state)
        self._carried = state, self._carry_out(state)
        return state

    def _changed(self, change):
        """Carry out a change by the front end, or undo it; show the result."""
        state = change["new"]
        if state is not self._carried[0]:
            number = state.get("number", 0)
            try:
                self._carried = state, self._carry_out(self._plain(state))
            except (ValueError, TypeError, KeyError, MemoryError) as error:
                said = {"error": " ".join(str(error).split()), "number": number}
                self._carried = {**self._carried[0], "number": number}, said
                self.state = self._carried[0]
        self.record = self._carried[1]

    def _asked(self, _widget, content, _buffers):
        """A request of the front end: the rate of change of states, for the line of formulas."""
        if content.get("ask") == "rates":
            t, y = np.asarray(content["t"], float), np.asarray(content["y"], float)
            rates = self.system.rhs(t, y)
            self.send({"number": content.get("number", 0), "rates": rates.tolist()})

    def __repr__(self):
        state = self.state
        return (
            f"<Lab of {self.system!r} by {', '.join(state['methods'])}, dt = {state['dt']:g} to"
            f" t = {state['t_end']:g}: a notebook shows it; lab.solution holds its numbers,"
            " lab.python the lines that make them>"
        )


def _packed(run):
    """With arrays as the bytes that a browser reads as a Float64Array; anything else as it is."""
    return {name: np.asarray(value, dtype="<f8").tobytes() if isinstance(value, np.ndarray)
            else value for name, value in run.items()}  # fmt: skip


def _number(name, value):
    """One real number, as a float."""
    if (array := numbers(name, value)).ndim:
        raise ValueError(f"{name} must be one number in the lab, got shape {array.shape}")
    return float(array)


def _one_start(system, x0, v0):
    """The first state, (dim,), of one trajectory."""
    components, _ = components_of(system, x0, v0)
    if any(np.ndim(value) and np.size(value) > 1 for value in components):
        raise ValueError("the lab shows one trajectory, and x0, v0 are of a batch: give one start")
    return np.array([float(np.ravel(value)[0]) for value in components])
