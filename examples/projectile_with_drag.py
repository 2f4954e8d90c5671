"""How to throw farthest: quadratic drag compared with the parabola in vacuum.

    python examples/projectile_with_drag.py [projectile_with_drag.png]

Ninety angles fly at once, with and without air; the run without is compared with the exact path.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import pyintegrate as pi

if "--help" in sys.argv:
    raise SystemExit(print(__doc__))

SPEED = 30.0  # m/s
DRAGS = (0.0, 0.002, 0.01)  # kg/m, for a ball of 0.145 kg


def throw(drag, angles):
    """Solutions of all angles [rad], 7 seconds long."""
    start = np.zeros((len(angles), 3))
    velocity = SPEED * np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=-1)
    system = pi.systems.projectile_drag(c=drag, m=0.145) if drag else pi.systems.projectile
    return pi.integrate(system, start, velocity, dt=0.01, t_end=7.0)


def range_of(sol):
    """Where each lands: the first pair of states around the ground, joined by a line."""
    x, z = sol["x"], sol["z"]
    down = np.argmax((z[1:] <= 0) & (z[:-1] >= 0) & (sol.t[1:, np.newaxis] > 0.02), axis=0)
    lane = np.arange(x.shape[1])
    x0, x1, z0, z1 = x[down, lane], x[down + 1, lane], z[down, lane], z[down + 1, lane]
    return x0 + (x1 - x0) * z0 / (z0 - z1)


def main(picture):
    angles = np.deg2rad(np.linspace(2, 88, 87))
    fig, (paths, ranges) = plt.subplots(2, figsize=(8, 7), layout="constrained")
    for drag, colour in zip(DRAGS, ("C7", "C0", "C3"), strict=True):
        sol = throw(drag, angles)
        reach = range_of(sol)
        best = int(np.argmax(reach))
        label = f"drag {drag:g} kg/m" if drag else "vacuum"
        print(
            f"{label:16s} farthest {reach[best]:6.2f} m at {np.rad2deg(angles[best]):.0f} degrees"
        )
        for i in (28, 43, 58):  # 30, 45 and 60 degrees
            flying = sol["z"][:, i] >= 0
            line = {"color": colour, "label": label if i == 28 else None}
            paths.plot(sol["x"][flying, i], sol["z"][flying, i], **line)
        ranges.plot(np.rad2deg(angles), reach, color=colour, label=label)
        ranges.plot(np.rad2deg(angles[best]), reach[best], "o", color=colour)
        if not drag:
            error = abs(sol.error()[..., :3]).max()
            print(f"{'':16s} largest distance from the exact parabola: {error:.1e} m")
    paths.set(xlabel="x [m]", ylabel="height [m]", aspect="equal")
    paths.set_title("30, 45 and 60 degrees: air takes most from those that fly long", loc="left")
    paths.legend(frameon=False)
    ranges.set(xlabel="angle [degrees]", ylabel="range [m]")
    ranges.set_title("With air one throws lower", loc="left")
    fig.savefig(picture, dpi=110)
    print(f"picture written to {picture}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "projectile_with_drag.png")
