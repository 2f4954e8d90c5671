"""A page of each system, from its descriptor, and an overview with a card for each."""

import numpy as np

import pyintegrate as pi

from .equations import EQUATIONS, FILMS, MADE, PICTURES

GROUPS = {
    "Straight ahead": ["constant_force", "acceleration_profile", "projectile", "projectile_drag"],
    "Oscillators": [
        "oscillator", "spring", "momentum_spring", "spring_3d", "duffing", "van_der_pol",
    ],
    "Pendulums": ["pendulum", "driven_pendulum", "double_pendulum"],
    "Bodies": ["kepler", "three_body", "n_body", "henon_heiles", "rigid_body"],
    "Chaos and life": ["lorenz", "rossler", "lotka_volterra", "logistic"],
}  # fmt: skip
STRUCTURES = {
    "first_order": "y' = f(t, y): methods for any system",
    "second_order": "x'' = a(t, x, v): methods for any system, compositions, and where the force "
    "does not see the velocity Nystrom methods too",
    "separable": "q' = T'(p), p' = -V'(q): methods for any system, and compositions",
    "rigid_body": "a rigid body: rules of rigid motion, and methods for any system",
}


def pages():
    """Text by the name of the page."""
    made = {"systems/index": _overview()}
    for name in EQUATIONS:
        made[f"systems/{name}"] = _page(name)
    return made


def system_of(name):
    """A system with its defaults; of n bodies, the figure eight."""
    return pi.systems[name]


def picture_of(name, code="show"):
    """The directive that integrates a system and draws it."""
    arguments, lines = PICTURES[name]
    made = MADE.get(name, f"pi.systems.{name}")
    call = f"sol = pi.integrate({made}, {arguments})"
    if len(call) > 88:
        call = f"system = {made}\nsol = pi.integrate(system, {arguments})"
    alt = f"A motion of the system {name}. {EQUATIONS[name][2]}"
    return f"```{{picture}} {alt}\n:code: {code}\n{call}\n{lines}\n```"


def _film_of(name):
    """The section that shows a system moving, of those that have one."""
    if name not in FILMS:
        return []
    code = f"""\
c = pi.compare(
    {MADE.get(name, f"pi.systems.{name}")},
    {FILMS[name]},
)
moving = c.animate(seconds=3)"""
    alt = f"{system_of(name).title} moving, by methods side by side"
    return [f"## It moves\n```{{film}} {alt}\n{code}\n```"]


def _overview():
    parts = [
        "# Systems",
        f"{len(EQUATIONS)} systems are built in: `pi.systems.kepler`, or with other parameters "
        "`pi.systems.kepler(mu=2.0)`, scalars or arrays over a batch. Your own are written "
        "in NumPy: [your own force](../notebooks/05_your_own_force.ipynb).",
    ]
    for group, names in GROUPS.items():
        cards = []
        for name in names:
            latex, _, text = EQUATIONS[name]
            cards.append(
                f"::::{{grid-item-card}} {_first_upper(system_of(name).title)}\n"
                f":link: {name}\n:link-type: doc\n\n"
                f"$$\n{latex}\n$$\n\n{text} `{name}`\n::::"
            )
        parts.append(f"## {group}")
        parts.append(":::::{grid} 1 1 2 2\n:gutter: 3\n\n" + "\n\n".join(cards) + "\n:::::")
    listed = "\n".join(name for names in GROUPS.values() for name in names)
    parts.append(f"```{{toctree}}\n:hidden:\n:titlesonly:\n\n{listed}\n```")
    return "\n\n".join(parts) + "\n"


def _page(name):
    system, (latex, exact, text) = system_of(name), EQUATIONS[name]
    known = "Exact solution" if _has_exact(system) else "What is known of it"
    words = [f"{{bdg-primary}}`{STRUCTURES[system.structure].split(':')[0]}`",
             f"{{bdg-secondary}}`{system.dim} components`"]  # fmt: skip
    if _has_exact(system):
        words.append("{bdg-success-line}`exact solution`")
    if system.has_energy:
        words.append("{bdg-success-line}`energy`")
    parts = [
        f"# {_first_upper(system.title)}", f"`pi.systems.{name}` " + " ".join(words), text,
        f"$$\n{latex}\n$$",
        picture_of(name),
        *_film_of(name),
        f"## {known}\n$$\n{exact}\n$$",
        "## Parameters\n" + _parameters(system),
        "## State\n" + _state(system),
    ]  # fmt: skip
    if rows := _invariants(system):
        parts.append("## What it conserves\n" + rows)
    parts.append(f"## Methods for it\n{_first_upper(STRUCTURES[system.structure].split(': ')[1])}. "
                 f"Which of them suits a run, and at which step: `pi.advise(pi.systems.{name}, "
                 "t_end=100.0)`.")  # fmt: skip
    parts.append(f"## Where from\n{system.reference}. The mathematics is in "
                 f"`csrc/systems/{name}.h`.")  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _first_upper(text):
    return text[0].upper() + text[1:]


def _has_exact(system):
    start = system.initial + (0.01 if system.name != "rigid_body" else 0)
    found = system.exact(0.5, start)
    return found is not None and bool(np.isfinite(found).all())


def _meanings(system):
    given = system.definition
    return {row[0]: row[3] for row in (*given.state, *given.params, *given.invariants)}


def _number(value):
    value = np.asarray(value)
    if value.size > 9:
        return f"array of shape {value.shape}"
    if value.size == 0:
        return "none"
    text = np.array2string(value, separator=", ", precision=6).replace("\n", "")
    return f"`{text}`"


def _quantities(system, heading, named):
    """A table of names and values with their units and meanings."""
    meaning = _meanings(system)
    lines = "".join(
        f"| `{name}` | {_number(value)} | {system.units.get(name, '')} "
        f"| {meaning.get(name, '')} |\n"
        for name, value in named
    )
    return f"| {heading} | unit | meaning |\n| --- | --- | --- | --- |\n{lines}"


def _parameters(system):
    return _quantities(system, "name | default", system.params.items())


def _state(system):
    start = zip(system.state_names, system.initial, strict=True)
    return _quantities(system, "component | start", start)


def _invariants(system):
    rows = system.definition.invariants
    lines = "".join(f"| `{name}` | {unit} | {text} |\n" for name, unit, _, text in rows)
    return f"| invariant | unit | formula |\n| --- | --- | --- |\n{lines}" if lines else ""
