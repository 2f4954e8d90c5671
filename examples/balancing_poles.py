"""A learning environment: five hundred poles on hinges, each balanced by its own controller.

    python examples/balancing_poles.py [balancing_poles.png]

A pole that falls is reset, and the others are not affected. After ten seconds the picture shows how
often each fell: which gains hold a pole upright.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import pyintegrate as pi

if "--help" in sys.argv:
    raise SystemExit(print(__doc__))


@pi.acceleration(g=9.81, length=1.0, torque=0.0)
def pole(t, x, v, g, length, torque):
    """Angle from the upright; the torque is that of the motor per moment of inertia."""
    return g / length * np.sin(x) + torque


def main(picture):
    stiffness, damping = np.meshgrid(np.linspace(0, 40, 25), np.linspace(-1, 4, 20))
    rng = np.random.default_rng(1)
    falls = np.zeros(stiffness.shape, dtype=int)
    start = rng.normal(0, 0.1, stiffness.shape)
    poles = pi.Stepper(pole(torque=np.zeros(stiffness.shape)), start, 0 * start, dt=1 / 50)
    for _ in range(500):
        poles.params["torque"][...] = -stiffness * poles.x - damping * poles.v
        poles.step()
        fallen = np.abs(poles.x) > 0.8
        falls += fallen
        if fallen.any():
            poles.reset(fallen, rng.normal(0, 0.1, fallen.shape), np.zeros(fallen.shape))
    print(f"{np.count_nonzero(falls == 0)} of {falls.size} controllers never let a pole fall")

    fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    image = ax.pcolormesh(stiffness, damping, np.where(falls, falls, np.nan))
    fig.colorbar(image, label="falls in ten seconds (white: none)")
    ax.set(xlabel="torque for an angle [1/s²]", ylabel="torque for a speed [1/s]")
    ax.set_title("stiffer than gravity, and damped: that balances a pole", loc="left", fontsize=10)
    fig.savefig(picture, dpi=110)
    print(f"picture written to {picture}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "balancing_poles.png")
