"""Every public function with every argument replaced by what nobody should give: an answer, or one
of the exceptions of the contract, which names the argument. The list of functions is complete.
"""

import ctypes
import inspect
import re
import warnings

import numpy as np
import pytest
from hostile import HOSTILE, Hostile

import pyintegrate as pi

SPRING, KEPLER, RIGID = pi.systems.spring, pi.systems.kepler, pi.systems.rigid_body
SOLUTION = pi.integrate(SPRING, [1.0, 2.0], 0.0, dt=0.1, n_steps=5)
_DOUBLES = [ctypes.POINTER(ctypes.c_double)] * 3
POINTER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, *_DOUBLES)(lambda t, y, dydt, p: 0)
Y, POSE = [1.0, 0.0], np.ones(13)


@pi.rhs(dim=2, k=1.0)
def traced(t, y, k):
    return y[1], -k * y[0]


@pi.rhs(dim=2, k=1.0, trace=False)
def called(t, y, k):
    return y[1], -k * y[0]


def stepper():
    return pi.Stepper(SPRING, [1.0, 2.0], 0.0, dt=0.1)


def loop():
    return pi.FixedTimestep(stepper())


def declared(decorator, function):
    return lambda **options: decorator(**options)(function)


def with_event(verb, **run):
    run |= {"on_failure": "ignore"}
    return lambda **given: verb(SPRING, [1.0, 2.0], 0.0, **run, events={"a": pi.event(**given)})


def with_watch(make):
    return lambda **given: pi.integrate(
        SPRING, [1.0, 2.0], 0.0, dt=0.1, n_steps=5, on_failure="ignore", watch={"a": make(**given)}
    )


EVENT = {"quantity": "x", "direction": 0, "stop": False, "keep": 1, "then": None, "values": None,
         "params": None, "max_per_step": 100, "after": None, "level": None}  # fmt: skip
RUN = {"system": SPRING, "x0": [1.0, 2.0], "v0": 0.0, "dt": 0.1, "n_steps": 3, "t0": 0.0}
OWN = {"k": 1.0, "name": "a", "title": "b", "units": None, "energy": None, "exact": None}
# name: the function, and arguments that are right
CALLS = {
    "tolerance": (pi.tolerance, {"rtol": 1e-6, "atol": 1e-9}),
    "integrate": (pi.integrate, {
        **RUN, "method": "rk4", "save": "all", "dtype": None, "workers": 1, "progress": False,
        "on_failure": "ignore", "bound": None, "compensated": False, "start": None, "drive": None,
        "out": None, "components": None,
        "watch": None, "events": None}),
    "solve": (pi.solve, {
        "system": SPRING, "x0": [1.0, 2.0], "v0": 0.0, "t_end": 1.0, "t0": 0.0, "rtol": 1e-6,
        "atol": 1e-9, "method": "auto", "save": None, "times": None, "first_step": None,
        "max_step": None, "max_steps": 99, "breaks": None, "bound": None, "components": None,
        "dtype": None, "workers": 1, "on_failure": "ignore", "out": None, "watch": None,
        "events": None, "across": None, "sensitivity": None}),
    "event": (with_event(pi.integrate, dt=0.1, n_steps=9), EVENT),
    "event of solve": (with_event(pi.solve, t_end=1.0), EVENT),
    "watch.maximum": (with_watch(pi.watch.maximum), {"quantity": "x", "every": 1, "after": None}),
    "watch.reduce": (with_watch(pi.watch.reduce), {
        "update": lambda kept, t, x, v: kept + x, "initial": 0.0, "every": 1}),
    "watch.histogram": (with_watch(pi.watch.histogram), {
        "quantity": "x", "bins": 4, "range": (-2, 2), "every": 1}),
    "tangent": (SPRING.tangent, {"k": 1, "parameters": ()}),
    "noise": (pi.noise, {"seed": 1, "trajectory": 0, "step": 0, "component": 0, "stream": 0}),
    "sde": (lambda **given: pi.sde(lambda t, y: (-y, 1.0), **given), {
        "dim": 1, "interpretation": "ito", "initial": None}),
    "langevin": (pi.langevin, {
        "system": pi.systems.oscillator, "friction": 1.0, "temperature": 1.0, "mass": 1.0}),
    "integrate with noise": (pi.integrate, {
        "system": pi.systems.double_well, "dt": 0.1, "n_steps": 3, "seed": 1,
        "first_trajectory": 0, "substeps": 1}),
    "integrate to t_end": (pi.integrate, {"system": SPRING, "dt": 0.1, "t_end": 0.3}),
    "Stepper": (lambda n_steps, **given: pi.Stepper(**given), {
        **RUN, "method": "rk4", "dtype": None, "bound": None, "compensated": False,
        "start": None}),
    "Stepper.step": (lambda n: stepper().step(n), {"n": 2}),
    "Stepper.reset": (lambda **given: stepper().reset(**given), {"mask": True, "x0": 1.0, "v0": 0}),
    "Stepper.restore": (lambda snapshot: stepper().restore(snapshot), {"snapshot": None}),
    "Stepper.x": (lambda x: setattr(stepper(), "x", x), {"x": 1.0}),
    "Stepper.y": (lambda y: setattr(stepper(), "y", y), {"y": 1.0}),
    "FixedTimestep": (pi.FixedTimestep, {"stepper": stepper(), "max_steps": 3}),
    "FixedTimestep.advance": (lambda frame_time: loop().advance(frame_time), {"frame_time": 0.1}),
    "FixedTimestep.restore": (lambda snapshot: loop().restore(snapshot), {"snapshot": None}),
    "FixedTimestep.blend": (lambda alpha: loop().blend(alpha), {"alpha": 0.1}),
    "RungeKutta": (pi.RungeKutta, {"A": [[0, 0], [1, 0]], "b": [0.5, 0.5], "c": [0, 1],
                                   "name": "a", "order": None}),
    "Composition": (pi.Composition, {"sequence": [("kick", 1.0), ("drift", 1.0)], "name": "a",
                                     "order": None, "requires": "separable"}),
    "Multistep": (pi.Multistep, {
        "alpha": [0, -1, 1], "beta": [-0.5, 1.5, 0], "predictor": None, "derivative": 1,
        "velocity": None, "name": "a", "order": None}),
    "Solution.at": (SOLUTION.at, {"t": 0.2}),
    "Solution.resume": (SOLUTION.resume, {"n_steps": 2, "drive": None, "out": None}),
    "Solution.resume to t_end": (SOLUTION.resume, {"t_end": 0.7}),
    "Solution.save": (SOLUTION.save, {"path": "b.npz"}),
    "concatenate": (
        lambda part: pi.concatenate(SOLUTION, part), {"part": SOLUTION.resume(n_steps=2)}),
    "load": (pi.load, {"path": "a.npz", "system": None}),
    "System": (SPRING, {"k": 1.0, "b": 1.0, "m": 1.0}),
    "System.exact": (SPRING.exact, {"t": [0.0, 1.0], "y0": Y, "t0": 0.0}),
    "System.exact_phase": (SPRING.exact_phase, {"t": [0.0, 1.0], "y0": Y, "t0": 0.0}),
    "System.phase": (SPRING.phase, {"y": Y, "t": 0.0}),
    "System.period": (KEPLER.period, {"y0": KEPLER.initial}),
    "System.acceleration": (SPRING.acceleration, {"t": 0.0, "x": [1.0], "v": [0.0]}),
    "RigidBody": (RIGID, {"inverse_mass": 1.0, "inverse_inertia": (1.0, 1, 1), "drag": 0.0,
                          "force": (0, 0, 0.0)}),
    "RigidBody.acceleration": (RIGID.acceleration, {"t": 0.0, "x": POSE[:7], "v": POSE[:6]}),
    "RigidBody.angular_momentum": (RIGID.angular_momentum, {"y": POSE}),
    "NBody": (pi.systems.n_body, {"n": 3, "initial": None, "g": 1.0, "masses": np.ones(3),
                                  "softening": 0.0}),
    "systems": (lambda system: pi.systems[system], {"system": "spring"}),
    "methods": (lambda method: pi.methods[method], {"method": "rk4"}),
    "rhs": (declared(pi.rhs, lambda t, y, k: -k * y[0]), {
        **OWN, "dim": 1, "state_names": ("u",), "initial": [1.0], "trace": True}),
    "acceleration": (declared(pi.acceleration, lambda t, x, v, k: -k * x), {
        **OWN, "dof": 1, "state_names": ("u", "w"), "initial": [1.0, 0.0], "trace": True}),
    "hamiltonian": (declared(pi.hamiltonian, lambda q, p, k: p * p / 2 + k * q * q), {
        "dof": 1, "k": 1.0}),
    "potential": (declared(pi.potential, lambda x, k: k * x * x), {
        "dof": 1, "k": 1.0, "mass": 1.0}),
    "c_function": (pi.c_function, {
        "pointer": POINTER, "dim": 1, "params": {"a": 1.0}, "batched": False, "unsafe": False,
        "name": "a", "title": "b", "state_names": ("u",), "units": None, "initial": [1.0],
        "exact": None}),
}  # fmt: skip
for kind, system in (("built-in", SPRING), ("traced", traced), ("called", called), ("body", RIGID)):
    state = POSE if system is RIGID else Y
    for name in ("rhs", "jacobian", "energy", "invariants"):
        CALLS[f"System.{name}, {kind}"] = (getattr(system, name), {"t": 0.0, "y": state})
# A value may make another argument wrong, or be right, or be named by what it is.
ALSO_NAMED = {
    "k": "returns",  # the function of a user, with such a parameter
    "dim": "state_names|initial", "dof": "state_names|initial|returns",
    "pointer": "pointer|function|System|integer",
    "batched": "arguments, expected",
    "x0": "batch", "v0": "batch", "dt": "batch", "t0": "batch",
    **dict.fromkeys(("quantity", "then", "values", "update"), "takes|returns"),  # a function
    "level": "the quantity of event .* is",
}  # fmt: skip
# Elsewhere: pi.compare and what is in analysis and plots have tests of their own.
ELSEWHERE = {
    "advise",
    "cite",
    "fit",
    "to_jax",
    "to_torch",
    "solve_ivp",
    "compare",
    "ArithmeticWarning",
    "IntegrationError",
    "IntegrationWarning",
    "RecordWarning",
    "event",
    "scan",
    "solve",
    "lyapunov",
    "chaos_map",
    "lab",
    "System.tangent",
    "Status",
    "Method",
    "Solution",
    "Solution.plot",
    "Solution.animate",
    "Solution.cite",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SOLUTION.save("a.npz")


def would_run_long(argument, value):
    steps = argument in ("n", "n_steps") and isinstance(value, int | np.integer)
    return (steps and value > 10_000) or (argument == "progress" and callable(value))


def refusal(function, arguments):
    """The message of a refusal; None for an answer, for what the value raised itself, and for a
    size that cannot be. Any other exception is an error."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            function(**arguments)
    except (Hostile, MemoryError, pi.IntegrationError):
        return None
    except (TypeError, ValueError) as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("name", "argument"), [(name, one) for name, (_, right) in CALLS.items() for one in right]
)
def test_a_hostile_argument_is_refused_by_name_or_taken(name, argument):
    function, right = CALLS[name]
    for make in HOSTILE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # np.matrix
            value = make()
        if would_run_long(argument, value):
            continue
        message = refusal(function, {**right, argument: value})
        words = rf"\b{argument}\b|{ALSO_NAMED.get(argument, argument)}"
        assert message is None or re.search(words, message), f"{value!r}: {message}"


def test_the_list_is_complete():
    tried = {name.split(",")[0].split(" ")[0] for name in CALLS}
    public = {name for name in pi.__all__ if callable(getattr(pi, name))}
    for kind in (pi.System, pi.Stepper, pi.FixedTimestep, pi.Solution):
        for name, member in vars(kind).items():
            arguments = inspect.signature(member).parameters if inspect.isfunction(member) else ()
            internal = kind is pi.System and name not in dir(pi.systems.spring)
            if not (name.startswith("_") or internal) and len(arguments) > 1:
                public.add(f"{kind.__name__}.{name}")
    assert public - tried - ELSEWHERE == set()
