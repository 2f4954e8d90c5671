"""A box that spins about its middle axis turns over, again and again: the Dzhanibekov effect.

    python examples/spinning_box.py [spinning_box.png]

compares methods for the rotation of a rigid body at the step of a game, 1/60 s: which turn the box
over at all, and their errors of energy and angular momentum.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import pyintegrate as pi
from pyintegrate.analysis import Table

if "--help" in sys.argv:
    raise SystemExit(print(__doc__))

RULES = {
    "rigid_no_gyroscopic": "no gyroscopic term",
    "rigid_semi_implicit_euler": "explicit gyroscopic term",
    "rigid_implicit_gyroscopic": "implicit gyroscopic term",
    "rigid_angular_momentum": "angular momentum kept",
    "rigid_rk4": "Runge-Kutta",
    "rigid_splitting2": "splitting, order 2",
}
SIDES, MASS = np.array([0.3, 0.2, 0.1]), 1.0  # m, kg
DT, T_END = 1 / 60, 30.0


def make_box():
    """The box in weightlessness: moments m (b^2 + c^2) / 12."""
    squares = SIDES**2
    moments = MASS * (squares.sum() - squares) / 12
    return pi.systems.rigid_body(
        gravity=(0, 0, 0), inverse_mass=1 / MASS, inverse_inertia=1 / moments
    )


def middle_axis(solution):
    """The world z component of the body's middle axis, which starts along z."""
    w, x, y, z = (solution[name] for name in ("qw", "qx", "qy", "qz"))
    return 2 * (y * z + w * x)


def main(picture):
    box = make_box()
    # The middle axis, y of the body, along z of the world: a quarter turn about x.
    pose = [0, 0, 0, np.sqrt(0.5), np.sqrt(0.5), 0, 0]
    twist = [0, 0, 0, 0.02, 0, 4.0]
    exact = pi.integrate(box, pose, twist, dt=DT / 16, t_end=T_END, method="verner98", save=16)
    runs = {m: pi.integrate(box, pose, twist, dt=DT, t_end=T_END, method=m) for m in RULES}

    rows = []
    for method, sol in runs.items():
        L = np.linalg.norm(box.angular_momentum(sol.y), axis=-1)
        rows.append(
            [RULES[method], f"{sol.energy_error()[-1]:+.2e}", f"{L[-1] / L[0] - 1:+.2e}",
             f"{count_turns(sol)}"]
        )  # fmt: skip
    rows.append(["exact", "0", "0", f"{count_turns(exact)}"])
    title = f"A box of {SIDES} m at 4 rad/s about its middle axis, {T_END:g} s at dt = 1/60 s"
    print(Table(title, ["rule", "energy", "angular momentum", "turns over"], rows, ""))

    fig, axes = plt.subplots(len(runs), 2, figsize=(10, 9), sharex=True, layout="constrained")
    for (flip, energy), (method, sol) in zip(axes, runs.items(), strict=True):
        flip.plot(exact.t, middle_axis(exact), color="0.6", label="exact")
        flip.plot(sol.t, middle_axis(sol), color="C0", label="rule")
        flip.set_title(RULES[method], loc="left", fontsize=10)
        flip.set(ylim=(-1.15, 1.15), ylabel="axis")
        energy.plot(sol.t, sol.energy_error(), color="C1")
        energy.ticklabel_format(axis="y", scilimits=(-2, 2))
        energy.set_ylabel("(E - E0)/E0")
    above = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.2}
    axes[0, 0].legend(frameon=False, ncols=2, fontsize=8, **above)
    for ax in axes[-1]:
        ax.set_xlabel("t [s]")
    fig.suptitle("The middle axis of a spinning box, and its energy, by six rules")
    fig.savefig(picture, dpi=110)
    print(f"picture written to {picture}")


def count_turns(solution):
    """How often the middle axis changes sides."""
    return int(np.count_nonzero(np.diff(np.sign(middle_axis(solution)))))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "spinning_box.png")
