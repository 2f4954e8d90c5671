"""Certify every method; write certificates.json, methods.md and the pictures of stability.

Run by `make certificates`. Nothing in those files is written by hand.
"""

import json
import sys
from itertools import groupby
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from building.certified import as_dict, noise_as_dict
from stability_pictures import draw, draw_others

import pyintegrate as pi
from pyintegrate.certificate import orders_with_noise

HERE = Path(__file__).resolve().parent
PATHS = 10**7  # of each method with noise

PAGE = """# Methods
Each of the {count} methods has a certificate: its order proved from its numbers, and order, cost,
stability, symplecticity and reversibility measured on real motions. {verdict}
`pi.methods["rk4"].certificate()` prints the certificate of one method;
[certificates.json](certificates.json) has all figures. (This page is written by `make
certificates`, from the numbers in `csrc/methods/`.)

* **order**: proved by the order conditions (one for each rooted tree; for compositions one for each
  Lyndon word, or, where they need a quadratic kinetic energy, and for Nystrom methods, for each
  Nystrom tree; for multistep methods one for each power of t); some fail for the next order;
  *residual* is the largest error of a condition, 0 where the numbers are rational and the
  arithmetic exact. *Measured* is the worst of three numerical estimates: on a pendulum, on an
  ellipse of eccentricity 0.49, and on predator and prey (methods for any system) or a relativistic
  pendulum (compositions for any separable Hamiltonian), in doubles as far as rounding allows, else
  in 50 digits.
* **cost**: force evaluations a step, counted; consecutive steps share one where they can. For an
  implicit method, those of one Newton iteration.
* **stable to**: largest omega dt on the undamped oscillator (0: it grows at once), and largest
  lambda dt on y' = -lambda y. *A(alpha)* is the angle in degrees about the negative real axis
  within which any lambda is stable (90: A-stable), with L where infinitely fast decay vanishes.
* **error**: 2-norm of the principal error, in elementary differentials or commutators, or of the
  residuals of t^(order + 1) beside the sum of beta; *at equal work* it is cost times its (order)th
  root, which compares methods of the same order.
* **symplectic**, **reversible**: defect of one step of 0.25 on the ellipse (of 1 where the order is
  above 10): the largest entry of J'SJ - S, and the largest difference after a step forward and one
  back. A multistep method has no
  step from a state to a state, so neither is defined; *formula* says whether it reads the same
  in reverse. (The velocities of Stormer-Verlet give the position one step before: for it, three
  steps are taken.)

![Explicit Runge-Kutta methods and compositions](stability_regions.png)
![Implicit Runge-Kutta methods](stability_regions_implicit.png)
![Multistep and Nystrom methods](stability_regions_multistep.png)
"""
TITLES = {
    "explicit_rk": "Explicit Runge-Kutta",
    "composition": "Compositions of kicks and drifts (symplectic)",
    "implicit_rk": "Implicit Runge-Kutta",
    "rosenbrock": "Rosenbrock",
    "wisdom_holman": "Wisdom and Holman's, for planets",
    "nystrom": "Nystrom, for x'' = a(t, x)",
    "multistep": "Multistep",
}
COLUMNS = (
    "method", "order", "measured", "residual", "cost", "stable to omega dt",
    "stable to lambda dt", "A(alpha)", "error", "at equal work", "symplectic", "reversible",
    "needs", "reference",
)  # fmt: skip


def row(c):
    """The cells of a certificate in a table of the page."""
    m = c.method
    furthest = max((v for v, _ in c.measured_order.values()), key=lambda v: abs(v - m.order))
    return (
        f"`{m.name}`", f"{m.order}", f"{furthest:.3f}",
        "0" if not c.residual else f"{float(c.residual):.0e}", f"{c.evaluations}",
        f"{c.stability_limit:.5g}".replace("nan", "-"),
        "-" if c.real_stability_limit is None else f"{c.real_stability_limit:.5g}",
        f"{c.stability_angle:.5g}{' L' * bool(c.l_stable)}" if c.stability_angle else "-",
        f"{c.error_constant:.3g}", f"{c.evaluations * c.error_constant ** (1 / m.order):.3g}",
        "not defined" if c.symplecticity_defect is None
        else f"{'yes' if m.symplectic else 'no'}, {c.symplecticity_defect:.0e}",
        f"formula: {'yes' if m.symmetric else 'no'}" if c.reversal_defect is None
        else f"{'yes' if m.symmetric else 'no'}, {c.reversal_defect:.0e}",
        m.requires + " without velocity in the force" * m.velocity_free,
        f"{m.title}. {m.reference}",
    )  # fmt: skip


NOISE = """
## For equations with noise
From {paths:,} paths each, with 95 % intervals: the slopes, from step to half the step, of the
root mean square of y(h) - y(h/2) on the same path, and of the mean of the difference of
2 y_0^2 + y_1^2. (The tests compare paths with exact solutions, and with the same path 16 times
finer.) The intervals are of sampling alone; higher powers of the step add to a slope up to 0.1.
Equations and times (1/32 to 2) were chosen so that the leading power stands out: over a time of 1
the strong slope of `sra1` is 1.9. The order over a stationary law is that of means over times from
8 to 64, of one path in 32.
[Noise](noise.md) says which method is for what.

| method | noise | strong order | measured | weak order | measured | reference |
| --- | --- | --- | --- | --- | --- | --- |
"""


def noise_section(stored):
    """The orders of the methods with noise, from their certificates as plain data."""
    lines = []
    for c in stored:
        strong, weak = (
            "-" if found is None else "{:.3f} ± {:.3f}".format(*found)
            for found in (c["measured_strong_order"], c["measured_weak_order"])
        )
        order = f"{c['weak_order']}"
        if c["stationary_order"]:
            order += f"; stationary law {c['stationary_order']}"
            weak += "; {:.3f} ± {:.3f}".format(*c["measured_stationary_order"])
        lines.append(
            f"| `{c['name']}` | {c['noise']} | {c['strong_order'] or '-'} | {strong}"
            f" | {order} | {weak} | {c['title']}. {c['reference']} |\n"
        )
    return NOISE.format(paths=stored[0]["paths"]) + "".join(lines)


def page(certificates):
    wrong = [c.method.name for c in certificates if not c.holds]
    verdict = f"NOT AS DECLARED: {', '.join(wrong)}." if wrong else "All were found as declared."
    parts = [PAGE.format(count=len(certificates), verdict=verdict)]
    for family, members in groupby(certificates, key=lambda c: c.method.family):
        lines = [COLUMNS, ["---"] * len(COLUMNS), *map(row, members)]
        parts.append(f"## {TITLES.get(family, family)}")
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n")
    return "\n".join(parts)


def main():
    certificates = []
    for method in pi.methods.values():
        if (
            method.requires == "rigid_body"
        ):  # no table of numbers: tests/method/test_rigid_methods.py
            continue
        certificates.append(method.certificate())
        print(f"{certificates[-1]}\n", flush=True)
    noisy = [orders_with_noise.certify(m, PATHS) for m in pi.methods.noise.values()]
    stored = {c.method.name: as_dict(c) for c in certificates}
    stored |= {c.method.name: noise_as_dict(c) for c in noisy}
    (HERE / "certificates.json").write_text(json.dumps(stored, indent=1) + "\n")
    (HERE / "methods.md").write_text(
        page(certificates) + noise_section([noise_as_dict(c) for c in noisy])
    )
    draw(certificates, HERE / "stability_regions.png")
    draw_others(HERE)
    wrong = [c for c in (*certificates, *noisy) if not c.holds]
    for c in wrong:
        print(f"{c.method.name}: {'; '.join(c.failures)}", file=sys.stderr)
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
