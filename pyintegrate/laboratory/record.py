"""The numbers of the lab: plain data of systems and methods, a comparison and its arrays."""

import warnings
from contextlib import suppress
from functools import cache
from math import inf, isfinite

import numpy as np

from ..analysis.accuracy import fits
from ..analysis.observables import energies
from ..analysis.phase import phase_drift
from ..analysis.results import quiet, unit_of
from ..analysis.side_by_side import compare
from ..errors import silent_record_warning
from ..integration import integrate
from ..method.catalogue import methods as known_methods
from ..run.arguments import default_methods
from ..solving import solve
from ..stochastic.heat_bath import langevin
from ..system.catalogue import systems as catalogue
from ..theory.stability import decay_limit
from ..theory.stability_function import stability_function
from ..values.checks import choice, numbers

SPRINGS = ("oscillator", "spring", "momentum_spring")
ANGLES = ("theta", "phi", "angle", "alpha")
# Components across and up, if others than the first two show more.
VIEWS = {"lorenz": (0, 2), "projectile": (0, 2), "projectile_drag": (0, 2)}
BODIES = {"three_body": 2, "n_body": 3}  # axes of each body


def scene(system):
    """The description that the front end needs to draw a state: its kind, and its components.

    Parameters
    ----------
    system : System

    Returns
    -------
    dict
        "kind" is "spring", "pendulum" (with "length", a parameter or 1), "double_pendulum", "bead"
        (one component, on a line), "path", "bodies" or "box" (a body that turns); "places" has the
        components across and up, a pair for each point; "centre" whether something is drawn at the
        origin, "tied" whether a spring goes to it.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> scene(pi.systems.lorenz)["kind"], scene(pi.systems.lorenz)["places"]
    ('path', [[0, 2]])
    """
    name, first = system.name, system.state_names[0]
    if system.structure == "rigid_body":
        return {"kind": "box", "places": [[0, 2]], "units": "same"}
    if name in SPRINGS:
        return {"kind": "spring", "places": [[0, 0]]}
    if name == "double_pendulum":
        return {"kind": "double_pendulum", "places": [[0, 0], [1, 1]], "lengths": ["l1", "l2"]}
    if system.dof == 1 and first in ANGLES:
        lengths = [known for known in ("length", "l", "L") if known in system.params]
        return {"kind": "pendulum", "places": [[0, 0]], "lengths": lengths[:1]}
    if system.dof == 1 or system.dim == 1:
        return {"kind": "bead", "places": [[0, 0]]}
    if name in BODIES:
        axes = BODIES[name]
        pairs = [[axes * i, axes * i + 1] for i in range(system.dof // axes)]
        return {"kind": "bodies", "places": pairs}
    return {
        "kind": "path", "places": [list(VIEWS.get(name, (0, 1)))],
        "centre": name in ("kepler", "spring_3d"), "tied": name == "spring_3d",
        "units": "same" if system.dof else "different",  # axes with one scale, or each its own
    }  # fmt: skip


def turning(system, states):
    """The fastest eigenvalues of the Jacobian along some states: how fast a motion turns.

    Parameters
    ----------
    system : System
    states : array_like, shape (n, dim)

    Returns
    -------
    ndarray of complex, shape (dim,)
        All eigenvalues at the state where the largest of them is largest; zeros if none is
        finite.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> turning(pi.systems.oscillator(omega=3.0), [[1.0, 0.0]]).tolist()
    [3j, -3j]
    """
    states = np.asarray(states)
    states = states[np.isfinite(states).all(axis=-1)]
    jacobians = system.jacobian(0.0, states)
    jacobians = jacobians[np.isfinite(jacobians).all(axis=(-2, -1))]
    if not len(jacobians):
        return np.zeros(system.dim, dtype=complex)
    values = np.linalg.eigvals(jacobians)
    return values[np.argmax(abs(values).max(axis=-1))].astype(complex)


MOST_ELEMENTS = 3  # of an array parameter with sliders
MAY_VANISH = {
    "b", "c", "damping", "delta", "gamma", "amplitude", "coupling", "softening", "mu", "drag",
    "linear_damping", "angular_damping",
}  # fmt: skip
TURNS, PER_TURN = 40, 16  # of the default run
# Step and end for motions whose initial turning says little: they do not turn, or are chaotic.
RUNS = {
    "constant_force": (0.5, 10.0), "acceleration_profile": (0.5, 8.0), "projectile": (0.1, 2.0),
    "projectile_drag": (0.1, 1.8), "logistic": (0.5, 12.0), "kepler": (0.1, 60.0),
    "double_pendulum": (0.05, 20.0), "duffing": (0.2, 100.0), "lorenz": (0.01, 20.0),
    "geometric_brownian_motion": (0.05, 10.0), "noisy_fitzhugh_nagumo": (0.1, 200.0),
    "rossler": (0.1, 100.0), "three_body": (0.05, 40.0), "rigid_body": (0.1, 40.0),
}  # fmt: skip
# What the catalogue has at rest, shown as it tumbles: a turn about the middle axis is unstable.
TUMBLING = {"gravity": (0.0, 0.0, 0.0), "inverse_inertia": (1.0, 1 / 2, 1 / 3)}
STARTS = {"rigid_body": [0.0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0.01, 1, 0]}
LONGEST = 20_000  # steps


def describe_system(system, start=None):
    """A system as plain data: its equation, components, parameters, scene and default run.

    Parameters
    ----------
    system : System
        For one trajectory.
    start : array_like, shape (dim,), optional
        Its first state; by default that of the system.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        A batch.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> about = describe_system(pi.systems.oscillator(omega=15**0.5))
    >>> about["dt"], about["t_end"], about["params"]["omega"]["value"]
    (0.1, 60.0, 3.872983346207417)
    """
    if system.batched:
        names = [name for name, shape in system.batch_shapes.items() if shape]
        raise ValueError(
            f"the lab shows one trajectory, and {', '.join(names)} of {system.name!r} are arrays"
            " over a batch: give numbers"
        )
    drawn = scene(system)
    start = np.array(STARTS.get(system.name, system.initial) if start is None else start)
    dt, t_end = default_run(system, start)
    params = {}
    for name, value in system.params.items():
        if not np.size(value):  # springs of a body that has none
            continue
        shape = np.shape(value)
        matrix = len(shape) == 2 and shape[0] == shape[1]
        values = np.diagonal(value) if matrix else np.ravel(value)
        sliders = (matrix or len(shape) < 2) and values.size <= MOST_ELEMENTS
        ranges = [_range(name, float(x)) for x in values] if sliders else []
        params[name] = {
            "value": np.asarray(value, float).tolist(),
            "low": [low for low, _ in ranges], "high": [high for _, high in ranges],
            "unit": unit_of(system, name),
        }  # fmt: skip
    return {
        "title": system.title or system.name, "equation": system.equation, "dim": system.dim,
        "dof": system.dof, "structure": system.structure, "scene": drawn, "params": params,
        "state": [{"name": n, "unit": unit_of(system, n)} for n in system.state_names],
        "start": start.tolist(), "time_unit": unit_of(system, "t"),
        "dt": dt, "t_end": t_end, "energy": system.has_energy,
        "methods": list(default_methods(system)), "heat": _heat(system, start, dt),
    }  # fmt: skip


def _heat(system, start, dt):
    """Scales for a heat bath: the energy of the start above rest for kT, and a friction that takes
    some turns to act; None where no bath fits."""
    try:
        in_bath(system, 1.0, 1.0)
    except ValueError:
        return None
    with quiet():
        energy = np.array(system.energy(np.stack([start, 0 * start])))
    scales = (x for x in abs(energy[0] - energy * (0, 1)) if 0 < x < inf)
    return {"noise": round_number(next(scales, 1.0)), "friction": round_number(0.04 / dt)}


def in_bath(system, friction, noise, mass=None):
    """``pi.langevin``, without its warning of the system's own damping: this is a picture."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return langevin(system, friction=friction, temperature=noise, mass=mass)


def drawable():
    """The systems of the catalogue as the lab shows them, by name.

    Examples
    --------
    >>> "rigid_body" in drawable(), "lorenz" in drawable()
    (True, True)
    """
    return {**catalogue, "rigid_body": catalogue["rigid_body"](**TUMBLING)}


def describe_method(method):
    """A method as plain data, with the numbers that show one of its steps.

    Parameters
    ----------
    method : Method

    Returns
    -------
    dict

    Examples
    --------
    >>> import pyintegrate as pi
    >>> describe_method(pi.methods.velocity_verlet)["kick"]
    [0.5, 0.5]
    """
    named = (
        "title", "formula", "order", "evaluations", "family", "stages", "symplectic", "implicit",
    )  # fmt: skip
    about = {name: getattr(method, name) for name in named}
    if method.family in ("explicit_rk", "composition"):
        about |= method.coefficients
    return about


@cache
def stability_of(method):
    """How far a method is stable: for oscillations, for decay, and R(z) if it is a polynomial.

    Parameters
    ----------
    method : Method

    Returns
    -------
    dict
        "oscillation" and "decay": the largest |h lambda|, None if there is no limit or it is
        unknown; "R": coefficients, the lowest first, or None.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> stability_of(pi.methods.semi_implicit_euler)
    {'oscillation': 2.0, 'decay': None, 'R': None}
    """
    limits = {"oscillation": method.stability_limit, "decay": decay_limit(method)}
    limits = {k: v if v is not None and isfinite(v) else None for k, v in limits.items()}
    explicit = method.family == "explicit_rk"
    return limits | {"R": [float(c) for c in stability_function(method)[0]] if explicit else None}


def fitting(system, methods):
    """The names of those methods that can integrate a system.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> fitting(pi.systems.lorenz, [pi.methods.rk4, pi.methods.velocity_verlet])
    ['rk4']
    """
    return [method.name for method in methods if fits(method, system)]


def default_run(system, start=None):
    """A step of about a sixteenth of a turn and a time of about forty turns, as round numbers.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> default_run(pi.systems.lorenz)
    (0.01, 20.0)
    """
    if system.name in RUNS:
        return RUNS[system.name]
    start = np.asarray(system.initial if start is None else start, float)
    period = system.period(start)
    if period is None:
        with quiet():
            moves = np.linalg.norm(system.rhs(0.0, start)) / (np.linalg.norm(start) + 1e-3)
            period = 2 * np.pi / max(abs(turning(system, [start])).max(), moves)
    turn = float(period) if 0 < period < np.inf else 2.0
    return round_number(turn / PER_TURN), round_number(TURNS * turn)


def round_number(value):
    """The nearest number of one digit, or 1.5 times a power of ten, by ratio.

    Examples
    --------
    >>> round_number(0.0103), round_number(81.1)
    (0.01, 80.0)
    """
    power = 10.0 ** np.floor(np.log10(value))
    digit = min((1, 1.5, 2, 3, 4, 5, 6, 8, 10), key=lambda d: abs(np.log(value / power / d)))
    return float(f"{digit * power:.3g}")


def _range(name, value):
    """The limits of the slider of a parameter."""
    if value < 0:
        return 3 * value, -3 * value
    if value == 0:
        return (0.0, 2.0) if name in MAY_VANISH else (-2.0, 2.0)
    return (0.0 if name in MAY_VANISH else round_number(value / 10)), round_number(3 * value)


def python_lines(system, state, dt, n_steps, methods=known_methods):
    """Code that makes the same comparison, digit for digit, and draws it.

    Parameters
    ----------
    system : System
        With the parameters of the state.
    state : mapping
        From the front end.
    dt, n_steps
        The step, and the number of steps of the first method.
    methods : mapping of str to Method
        Those of the lab, by name.

    Returns
    -------
    str
        A user-defined system or method appears by its name, with a comment.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> state = {"start": [1.0, 0.0], "methods": ["rk4"], "equal_work": False}
    >>> print(python_lines(pi.systems.oscillator, state, 0.1, 10))
    import pyintegrate as pi
    <BLANKLINE>
    c = pi.compare(
        pi.systems.oscillator(omega=1.0),
        [1.0, 0.0],
        methods=["rk4"],
        dt=0.1,
        n_steps=10,
    )
    c.plot()
    """
    params = ", ".join(
        f"{name}={value if np.ndim(value) == 0 else np.asarray(value).tolist()!r}"
        for name, value in system.params.items()
        if np.size(value)  # none for springs that a body has not
    )
    known = catalogue.get(system.name)
    built_in = type(known) is type(system)
    if system.noise:  # all of these have one type
        built_in = known is not None and known.definition is system.definition
    remarks = [] if built_in else [f"{system.name}: the system that was given to pi.lab"]
    named = []
    for name in state["methods"]:
        own = name not in known_methods or methods[name] != known_methods[name]
        named.append(name if own else f'"{name}"')
        remarks += [f"{name}: the method that was given to pi.lab"] * own
    call = f"{'pi.systems.' * built_in}{system.name}({params})"
    lines = [
        "import pyintegrate as pi",
        "",
        *[f"# {remark}" for remark in remarks],
        "c = pi.compare(",
        f"    {call},",
        f"    {[float(value) for value in state['start']]!r},",
        f"    methods=[{', '.join(named)}],",
        f"    dt={dt!r},",
        f"    n_steps={n_steps},",
        *["    equal_work=True,"] * bool(state["equal_work"]),
        *[f"    {name}={value}," for name, value in NOISE.items() if system.noise],
        ")",
        "c.plot()",
    ]
    return "\n".join(lines)


RTOL, ATOL = 1e-11, 1e-13  # of the true motion, if it has no closed form
MOST_TRIED = 50_000  # its steps: with more, sliders would not respond in time
FINER = 16  # the steps of the true motion with noise
NOISE = {"seed": 1, "substeps": FINER}
MANY, QUANTILES, MOST_TIMES = 1000, (0.05, 0.25, 0.5, 0.75, 0.95), 500  # of a fan
SAMPLES = 32  # states at which the rate of turning of the true motion is computed
CROSSINGS = 3  # of the centre, from which a motion counts as an oscillation


def steps_of(dt, t_end):
    """The whole number of steps nearest to a time, from 1 to 20,000.

    Examples
    --------
    >>> steps_of(0.1, 90.0)
    900
    """
    if not (0 < dt < inf and 0 < t_end < inf):
        raise ValueError(f"dt and t_end must be positive and finite, got {dt!r} and {t_end!r}")
    return max(1, round(min(t_end / dt, LONGEST)))


def make_record(system, state, methods):
    """Integrate the motion of a state, and measure it.

    Parameters
    ----------
    system : System
        That of the state, with the state's parameters.
    state : mapping
        From the front end: "start", "dt", "t_end", "methods", "equal_work", and, optionally, "fan".
    methods : mapping
        Methods by the names in the state.

    Returns
    -------
    comparison : Comparison
    record : dict
        "runs", in the order of the methods: "t" (n,), "y" and "ghost" (n, dim), "energy" and
        "ghost_energy" (n,) or None, "phase" (n,) [rad] or None, "distance" (n,) from the true
        position (of a rigid body from its orientation [rad]), all float64; "relative" (whether
        energies are shares of E0), "dt", "failed" (the first step not completed, or -1),
        "evaluations", "stability". Also "ghost" (the kind of the true motion), "turning"
        (eigenvalues), "python", "fan" (see `make_fan`).

    Raises
    ------
    TypeError, ValueError
        As `compare`.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> state = {"start": [1.0, 0.0], "dt": 0.1, "t_end": 1.0, "methods": ["rk4"],
    ...          "equal_work": False}
    >>> _, record = make_record(pi.systems.oscillator, state, pi.methods)
    >>> record["ghost"], record["runs"][0]["y"].shape
    ('the exact solution', (11, 2))
    """
    dt, chosen = float(state["dt"]), [methods[name] for name in state["methods"]]
    n_steps = steps_of(dt, float(state["t_end"]))
    comparison = compare(
        system, np.asarray(state["start"], float), methods=chosen, dt=dt,
        n_steps=n_steps, equal_work=bool(state["equal_work"]), on_failure="ignore",
        **(NOISE if system.noise else {}),
    )  # fmt: skip
    truths = {}
    runs = []
    for solution in comparison.values():
        step = float(solution.dt)
        if step not in truths:
            truths[step] = true_motion(solution)
        runs.append(_measured(solution, *truths[step]))
    exact, first = truths[runs[0]["dt"]]
    rows = exact[:: max(1, len(exact) // SAMPLES)]
    record = {
        "runs": runs,
        "ghost": "the exact solution"
        if first is None
        else f"the same noise at steps {FINER} times as fine"
        if system.noise
        else f"pi.solve, rtol = {RTOL:g}",
        "turning": [[z.real, z.imag] for z in turning(system, rows)],
        "python": python_lines(system, state, dt, n_steps, methods),
        "fan": make_fan(system, state, chosen[0], n_steps),
    }
    return comparison, record


def make_fan(system, state, method, n_steps):
    """Quantiles of a component over a thousand motions, or None.

    Parameters
    ----------
    system, state, method, n_steps
        Those of the first motion. ``state["fan"]`` has "noise", the kT of a heat bath, in which
        BAOAB takes the steps, and its "friction"; "of", the name of a parameter or component that
        varies evenly by the share "spread" to both sides (of 1 where it is zero).

    Returns
    -------
    dict
        "t" (n,), "rows" (5, n): each is a number of one of the motions; "paths" (5, n) of five;
        "method".

    Examples
    --------
    >>> import pyintegrate as pi
    >>> state = {"start": [1.0, 0.0], "dt": 0.1, "fan": {"of": "x", "spread": 0.2}}
    >>> make_fan(pi.systems.oscillator, state, pi.methods.rk4, 10)["rows"][:, 0].round(2).tolist()
    [0.82, 0.9, 1.0, 1.1, 1.18]
    """
    dt, names = float(state["dt"]), system.state_names
    fan = {"noise": 0.0, "friction": 0.04 / dt, "spread": 0.0, "of": names[0]}
    for name, value in dict(state.get("fan", {})).items():
        fan[choice("fan", name, (*fan,))] = value
        if name != "of" and not 0 <= float(numbers(name, value)) < inf:
            raise ValueError(f"{name} must be a number from 0 on, got {value!r}")
    if not (fan["noise"] or fan["spread"] or system.noise):
        return None
    start = np.tile(np.asarray(state["start"], float), (MANY, 1))
    if fan["spread"]:
        single = [name for name, value in system.params.items() if np.ndim(value) == 0]
        name = choice("of", fan["of"], (*names, *single))
        states = dict(zip(names, start.T))
        value = (system.params | states)[name]
        scale = fan["spread"] * np.where(value == 0, 1.0, abs(value))
        varied = value + scale * np.linspace(-1.0, 1.0, MANY)
        if name in states:
            states[name][:] = varied
        else:
            system = system(**{name: varied})
    if fan["noise"]:
        system = in_bath(system, fan["friction"], fan["noise"])
        method = known_methods["baoab"]
    made = integrate(
        system, start, dt=dt, n_steps=n_steps, method=method,
        seed=NOISE["seed"] if system.noise else None,
        save=max(1, -(-n_steps // MOST_TIMES)), on_failure="ignore",
    )  # fmt: skip
    y = made.y[..., 10 if system.structure == "rigid_body" else 0]
    rows = np.quantile(y, QUANTILES, axis=1, method="inverted_cdf")
    paths = np.ascontiguousarray(y[:, MANY // 10 :: MANY // 5].T)
    return {"t": made.t, "rows": rows, "paths": paths, "method": method.name}


def true_motion(solution):
    """The true states at the saved times, (n, dim), and the Solution that holds them, if any.

    The exact solution; if it has no closed form, or loses its digits, a run to a tolerance; with
    noise a run of finer steps on the same path.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> states, made = true_motion(pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=50))
    >>> states.shape, made.method.name
    ((51, 3), 'verner98')
    """
    t, system = solution.t, solution.system
    if system.noise:
        made = integrate(
            system, solution.origin, dt=float(solution.dt) / FINER, n_steps=FINER * (len(t) - 1),
            method=system.default_method, seed=NOISE["seed"], save=FINER, on_failure="ignore",
        )  # fmt: skip
        return made.y, made
    exact = system.exact(t, solution.origin)
    if exact is not None and np.isfinite(exact).all():
        return exact, None
    made = solve(
        system, solution.origin, t_end=t[-1], times=t, rtol=RTOL, atol=ATOL,
        max_steps=MOST_TRIED, on_failure="ignore",
    )  # fmt: skip
    return np.where(made.valid[:, np.newaxis], made.y, np.nan), made


def _measured(solution, truth, made):
    """The arrays of one run, compared with the true motion."""
    system, y = solution.system, np.ascontiguousarray(solution.y)
    positions = system.dof or system.dim
    with quiet():
        if system.structure == "rigid_body":
            away = _angle(y[:, 3:7], truth[:, 3:7])
        else:
            away = np.sqrt(((y - truth)[:, :positions] ** 2).sum(axis=-1))
    return {
        "method": solution.method.name, "dt": float(solution.dt), "t": solution.t,
        "y": y, "ghost": np.ascontiguousarray(truth), "distance": away,
        **_energies(solution, truth), "phase": _phase(solution, truth, made),
        "failed": int(solution.failed_step), "evaluations": int(solution.evaluations),
        "stability": None if system.noise else stability_of(solution.method),
    }  # fmt: skip


def _angle(p, q):
    """The angle of the turn from one orientation to another, (n,), of quaternions (n, 4)."""
    p, q = (one / np.linalg.norm(one, axis=-1, keepdims=True) for one in (p, q))
    apart = np.minimum(np.linalg.norm(p - q, axis=-1), np.linalg.norm(p + q, axis=-1))
    return 4 * np.arcsin(apart / 2)


def _energies(solution, truth):
    """(E - E0)/|E0|, or E - E0 where E0 = 0; the true motion has 0 unless driven or braked."""
    held = energies(solution)
    if held is None:
        return {"energy": None, "ghost_energy": None}
    first = float(held[1])
    with quiet():
        ghost = (solution.system.energy(truth, solution.t) - first) / (abs(first) or 1)
    return {"energy": solution.energy_error(), "ghost_energy": ghost, "relative": first != 0}


def _phase(solution, truth, made):
    """The phase drift, or None if the motion does not turn."""
    system = solution.system
    if system.noise:
        return None
    with silent_record_warning(), quiet(), suppress(ValueError):
        if system.phase(solution.origin) is not None or (
            system.dof == 1 and made is not None and _crossings(truth[:, 0]) >= CROSSINGS
        ):
            return phase_drift(solution, made)
    return None


def _crossings(x):
    """How often a motion passes its centre."""
    side = x > (np.nanmin(x) + np.nanmax(x)) / 2
    return np.count_nonzero(side[1:] != side[:-1])
