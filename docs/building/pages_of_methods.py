"""A page of each method, from its descriptor and its certificate, and their overview."""

import json
from math import inf
from pathlib import Path

import pyintegrate as pi

from .numbers import columns, tableau

CERTIFICATES = Path(__file__).resolve().parent.parent / "certificates.json"
FAMILIES = {
    "explicit_rk": (
        "Explicit Runge-Kutta", "smooth motions, for a few periods to some hundred",
        r"k_i = f\Bigl(t_n + c_i h,\; y_n + h \sum_{j<i} a_{ij} k_j\Bigr), \qquad "
        r"y_{n+1} = y_n + h \sum_i b_i k_i",
    ),
    "composition": (
        "Compositions of kicks and drifts",
        "motions without friction, for as long as you like: symplectic",
        r"\text{for each } i:\quad v \leftarrow v + \kappa_i h\, a(x), \qquad "
        r"x \leftarrow x + \delta_i h\, v",
    ),
    "implicit_rk": (
        "Implicit Runge-Kutta", "stiff systems, and symplectic steps of any Hamiltonian",
        r"k_i = f\Bigl(t_n + c_i h,\; y_n + h \sum_{j} a_{ij} k_j\Bigr), \qquad "
        r"y_{n+1} = y_n + h \sum_i b_i k_i",
    ),
    "rosenbrock": (
        "Rosenbrock", "stiff systems, without iterations: one factorisation a step",
        r"(m_{ii} - h J)\, u_i = h f\Bigl(t_n + c_i h,\; y_n + \sum_{j<i} a_{ij} u_j\Bigr) "
        r"- \sum_{j<i} m_{ij} u_j + h^2 d_i \frac{\partial f}{\partial t}, \qquad "
        r"y_{n+1} = y_n + \sum_i b_i u_i",
    ),
    "nystrom": (
        "Nystrom", "forces that do not see the velocity",
        r"k_i = a\Bigl(t_n + c_i h,\; x_n + c_i h v_n + h^2 \sum_{j} a_{ij} k_j\Bigr), \qquad "
        r"x_{n+1} = x_n + h v_n + h^2 \sum_i b_i k_i, \qquad "
        r"v_{n+1} = v_n + h \sum_i \bar b_i k_i",
    ),
    "multistep": (
        "Multistep", "forces that are dear: one or two evaluations a step",
        r"\sum_{j=0}^{s} \alpha_j\, y_{n+1-s+j} = h \sum_{j=0}^{s} \beta_j\, f_{n+1-s+j}",
    ),
    "wisdom_holman": ("Wisdom and Holman's methods", "planets about a dominant body", ""),
    "rigid_body": ("Rules of rigid motion", "bodies that turn", ""),
}  # fmt: skip
SECOND_DERIVATIVE = (
    r"\sum_{j=0}^{s} \alpha_j\, x_{n+1-s+j} = h^2 \sum_{j=0}^{s} \beta_j\, a_{n+1-s+j}"
)
NEEDS = {
    "any": "any system",
    "second_order": "x'' = a(t, x)",
    "separable": "x' = T(v), v' = a(t, x)",
    "quadratic_kinetic": "x'' = a(t, x): a quadratic kinetic energy",
    "n_body": "n bodies, the first of which is dominant",
    "rigid_body": "a rigid body",
}
MEASURED = {
    "pendulum": "a pendulum",
    "kepler": "Kepler's ellipse",
    "lotka_volterra": "predator and prey",
    "n_body": "three bodies",
    "relativistic pendulum": "a relativistic pendulum",
}


def pages():
    """Text by the name of the page."""
    certificates = json.loads(CERTIFICATES.read_text(encoding="utf-8"))
    made = {"methods/index": _overview()}
    for method in pi.methods.values():
        made[f"methods/{method.name}"] = _page(method, certificates)
    return made


def _overview():
    parts = [
        "# Methods",
        f"All {len(pi.methods)} methods, nine of them for the rotation of bodies, have a page with "
        "their numbers, where they are from, what was proved and measured of them, and pictures of "
        "it. Not sure? "
        "[Which method?](../which_method.md) decides in a minute; "
        "[all in one table](../methods.md) compares them.",
    ]
    for family, (title, text, _) in FAMILIES.items():
        members = [m for m in pi.methods.values() if m.family == family]
        parts.append(f"## {title}\nFor {text}.")
        lines = "".join(
            f"| [{m.title}]({m.name}.md) `{m.name}` | {m.order} | {m.evaluations} "
            f"| {_limit(m)} | {_virtues(m)} |\n"
            for m in members
        )
        parts.append(
            "| method | order | evaluations | stable to ω dt | virtues |\n"
            f"| --- | --- | --- | --- | --- |\n{lines}"
        )
        listed = "\n".join(m.name for m in members)
        parts.append(f"```{{toctree}}\n:hidden:\n:titlesonly:\n\n{listed}\n```")
    return "\n\n".join(parts) + "\n"


def _limit(method):
    if method.stability_limit != method.stability_limit:
        return "–"
    return "any" if method.stability_limit == float("inf") else f"{method.stability_limit:.3g}"


def _virtues(method):
    words = [
        ("symplectic", method.symplectic), ("reversible", method.symmetric),
        ("error estimate", bool(method.embedded)), ("implicit", method.implicit),
    ]  # fmt: skip
    return ", ".join(word for word, holds in words if holds)


def _page(method, certificates):
    title, use, formula = FAMILIES[method.family]
    virtues = _virtues(method)
    parts = [
        f"# {method.title[0].upper()}{method.title[1:]}",
        f"{{bdg-primary}}`{title}` {{bdg-secondary}}`order {method.order}` "
        f"{{bdg-secondary-line}}`{_evaluations(method)}`"
        + "".join(f" {{bdg-success-line}}`{word}`" for word in virtues.split(", ") if word),
        f"```python\npi.integrate(system, dt=0.01, t_end=10.0, method=\"{method.name}\")\n```",
        f"For {NEEDS[method.requires]}{', without velocity in the force' * method.velocity_free}. "
        f"The family suits {use}.",
    ]  # fmt: skip
    if method.aliases:
        parts.append("Also found as " + ", ".join(f"`{a}`" for a in method.aliases) + ".")
    parts.append("## Formula")
    parts.append(f"```text\n{method.formula}\n```")
    if formula:
        if getattr(method, "derivative", 1) == 2:
            formula = SECOND_DERIVATIVE
        parts.append(f"In general, with step $h$:\n\n$$\n{formula}\n$$")
    if numbers := _numbers(method):
        parts.append(f"## Its numbers\n{numbers}")
    parts.append(f"## Where from\n{method.reference}. The numbers are in `{_file(method)}`.")
    certificate = certificates.get(method.name)
    parts.append("## Certificate in words\n" + _in_words(method, certificate, certificates))
    parts += _pictures(method, certificate)
    return "\n\n".join(parts) + "\n"


def _evaluations(method):
    return f"{method.evaluations} evaluation{'s' * (method.evaluations != 1)} a step"


def _iterates(method):
    return method.implicit and method.family != "rosenbrock"


def _file(method):
    return f"csrc/methods/{method.name}.h"


def _numbers(method):
    if method.family == "rigid_body":
        return ""
    exact, error = method.exact_coefficients
    note = (
        "" if not error else "\n\nIrrational numbers and long fractions are cut to ten digits here."
    )
    if method.family in ("composition", "wisdom_holman"):
        return columns(("kick κ", "drift δ"), exact["kick"], exact["drift"]) + note
    if method.family == "multistep":
        given = [(n, exact[k]) for n, k in (("α", "alpha"), ("β", "beta")) if exact[k]]
        text = "From the oldest point to the newest.\n\n"
        text += columns([n for n, _ in given], *(values for _, values in given))
        for label, key in [("Predictor", "predictor"), ("For the velocity", "velocity")]:
            if exact[key]:
                text += f"\n\n{label}:\n\n" + columns([label.lower()], exact[key])
        return text + note
    nystrom = method.family == "nystrom"
    estimates = [weights for weights, _ in method.exact_embedded or []]
    more = [*zip(("b̂", "b̄̂" if nystrom else "b̂"), estimates, strict=False)]
    if method.family == "rosenbrock":
        note += "\n\nThe numbers m, and d on the left:\n\n"
        note += tableau(exact["inverse"], [], exact["d"])
    elif more and not nystrom and abs(1 - sum(more[0][1])) > 1e-12:
        note += "\n\nThe weights b̂ leave the rest to 1 to f(t, y), which is no stage."
    if exact.get("velocity"):
        more.append(("b̄", exact["velocity"]))
    return tableau(exact["A"], exact["b"], exact["c"], more) + note


def _in_words(method, c, certificates):
    if c is None:
        return (
            "A rule for bodies that turn has no table of numbers to prove. Its order, what it "
            "conserves and how it fails are measured on free and driven tops by "
            "`tests/method/test_rigid_methods.py`."
        )
    exactly = "exactly, in rational arithmetic" if not c["residual"] else "to the last of 50 digits"
    many = c["conditions"]
    conditions = f"all {many} conditions hold" if many > 1 else "its only condition holds"
    said = [
        f"* **Order {c['computed_order']}, proved**: {conditions} {exactly}; those of order "
        f"{c['computed_order'] + 1} do not (the worst is off by {c['next_residual']:.2g})."
    ]
    if method.family == "composition" and method.order > 1:
        said[0] += " Where the force depends on the velocity, the order is 1."
    found = [f"{value:.3f} on {MEASURED[name]}" for name, value in c["measured_order"].items()]
    said.append(f"* **Measured** by halving steps: {_joined(found)}.")
    peers = sorted(
        (o["evaluations"] * o["error_constant"] ** (1 / o["order"]), o["name"])
        for o in certificates.values()
        if (o["family"], o["order"], o["requires"]) == (c["family"], c["order"], c["requires"])
    )
    place = [name for _, name in peers].index(method.name) + 1
    rank = f"number {place} of {len(peers)} of its family and order" if len(peers) > 1 else ""
    said.append(
        f"* **Cost**: {_evaluations(method)}"
        + (", for each iteration of Newton's method" if _iterates(method) else "")
        + (f"; by accuracy at equal work {rank}." if rank else ".")
    )
    said.append(f"* **Stability**: {_stability(c)}")
    said.append(f"* **Long runs**: {_long(c)}")
    return "\n".join(said)


def _joined(words):
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _stability(c):
    limit = c["stability_limit"]
    if limit is None:
        text = (
            "Kepler's orbits are exact at any step; one longer than a twentieth of the shortest "
            "period may resonate with how the planets pull at each other"
        )
    elif limit == 0:
        text = "an undamped oscillation grows, however small the step"
    elif limit == "inf":
        text = "an undamped oscillation is stable at any step"
    else:
        text = f"an undamped oscillation is stable to ω dt = {limit:.5g}"
    if c["real_stability_limit"] is not None:
        real = float(c["real_stability_limit"])
        steps = f"to λ dt = {real:.5g}" if real else "at no step"
        text += f"; decay is stable {'at any step' if real == inf else steps}"
    text += "."
    if c["a_stable"]:
        text += " A-stable" + (
            " and L-stable: fast decay vanishes at once." if c["l_stable"] else "."
        )
    elif c["stability_angle"]:
        angle = float(c["stability_angle"])
        text += f" Whatever lies within {angle:.4g}° of the negative axis is stable."
    return text


def _long(c):
    if c["symplecticity_defect"] is None:
        text = "a multistep method takes no step from a state to a state; "
        if c["symmetric"] and c["requires"] == "second_order":
            return text + "its formula is the same in reverse, and the energy error stays bounded."
        return text + "energy is not bounded."
    defect = f"{c['symplecticity_defect']:.0e}"
    if c["symplectic"]:
        text = f"symplectic (defect {defect} a step: rounding): the energy error stays bounded"
    else:
        step = 1 if c["order"] > 10 else 0.25  # certificate.py
        text = f"not symplectic (defect {defect} of a step of {step}): the energy " + (
            "stays bounded where the motion is reversible too" if c["symmetric"] else "drifts"
        )
    back = f"{c['reversal_defect']:.0e}"
    return text + (
        f"; reversible: a step forward and one back end where they began, to {back}."
        if c["symmetric"] else f"; not reversible: forward and back miss by {back}."
    )  # fmt: skip


def _pictures(method, c):
    if c is None:
        return ["## A body that turns", _spinning(method)]
    parts = []
    if c["real_stability_limit"] is not None or method.family == "composition":
        region = (
            f'region = pi.analysis.stability_region("{method.name}", points=101)\n'
            f"pi.plots.stability_region(region, legend=False, figsize=(4.6, 3.4))"
        )
        parts.append("## Where it is stable")
        parts.append(
            f"```{{picture}} Region of stability of {method.title} in the plane of lambda dt\n"
            f":code: fold\n{region}\n```"
        )
    system, run = "Kepler's ellipse", "pi.systems.kepler"
    if method.requires == "n_body":
        system, run = "the outer planets", 'pi.systems.n_body(initial="outer_solar_system")'
    time = ", t_end=20_000.0" if method.requires == "n_body" else ""
    order = (
        f'found = pi.analysis.convergence({run}, ["{method.name}"]{time})\n'
        "found.plot(figsize=(4.6, 3.4))"
    )
    parts.append("## Its order, seen")
    if method.order >= 7:
        parts.append(
            "Where errors are above rounding, later terms may be larger than that of the order: the"
            " line is then steeper than in many digits, in which the order above was measured."
        )
    parts.append(
        f"```{{picture}} Error of {method.title} on {system} against the step: "
        f"a line of slope {method.order}\n"
        f":code: fold\n{order}\n```"
    )
    return parts


def _spinning(method):
    code = f"""\
box = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1 / 2, 1 / 3))
start = [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.01, 1, 0]
true = pi.integrate(box, *start, dt=0.01, t_end=80.0, method="rigid_splitting4")
sol = pi.integrate(box, *start, dt=0.25, t_end=80.0, method="{method.name}")
fig, ax = plt.subplots(figsize=(6.4, 2.6))
for one, look in [(true, {{"color": "#c7c7c7", "lw": 4}}), (sol, {{"color": "#0072b2"}})]:
    ax.plot(one.t, 1 - 2 * (one["qx"] ** 2 + one["qz"] ** 2), **look)
ax.set(xlabel="time [s]", ylabel="cosine of its tilt", yticks=[-1, 0, 1])
ax.set_title(f"four steps a second: energy × {{1 + sol.energy_error()[-1]:.2f}}", loc="left")"""
    return (
        "About its middle axis a box cannot spin for long: it turns over and over (grey).\n\n"
        f"```{{picture}} Tilt of a box that turns over, by {method.title} and by exact motion\n"
        f":code: fold\n{code}\n```"
    )
