"""A game's aiming line: where a stone will go is simulated, drawn, and undone, to the last bit.

    python examples/aim_and_throw.py [aim_and_throw.png]

The angle is changed until the line meets the target; each try is a snapshot, some steps and a
restore. The real throw then goes exactly where the line went.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import pyintegrate as pi

if "--help" in sys.argv:
    raise SystemExit(print(__doc__))

TARGET, SPEED = 14.0, 15.0  # metres, metres per second


def throw(stone, angle):
    """Steps until it lands: the path, and where the last two states cross the ground."""
    stone.v[...] = SPEED * np.cos(angle), 0.0, SPEED * np.sin(angle)
    path = [stone.x.copy()]
    while path[-1][2] >= 0:
        stone.step()
        path.append(stone.x.copy())
    (x0, _, z0), (x1, _, z1) = path[-2:]
    return np.array(path), x0 + (x1 - x0) * z0 / (z0 - z1)


stone = pi.Stepper(
    pi.systems.projectile_drag(c=0.02), [0.0, 0, 0], [0.0, 0, 0], dt=1 / 60, method="midpoint"
)
before = stone.snapshot()
low, high, angle = 0.0, np.pi / 5, 0.0
tries: list[np.ndarray] = []
while len(tries) < 12:
    path, landed = throw(stone, angle := (low + high) / 2)
    tries.append(path)
    low, high = (angle, high) if landed < TARGET else (low, angle)
    stone.restore(before)
path, landed = throw(stone, angle)
print(f"aimed in {len(tries)} tries: {landed:.3f} m for {TARGET:g} m")
print("thrown as aimed, to the last bit:", np.array_equal(path, tries[-1]))

fig, ax = plt.subplots(figsize=(8, 3), layout="constrained")
for one in tries:
    ax.plot(one[:, 0], one[:, 2], color="0.8", lw=1)
ax.plot(path[:, 0], path[:, 2], ".-", markersize=3)
ax.plot(TARGET, 0, "x", color="C3", markersize=10)
ax.set(xlabel="x [m]", ylabel="height [m]", aspect="equal", ylim=(-0.3, None))
ax.set_title(f"{len(tries)} tries in grey, and the throw", loc="left")
fig.savefig(picture := sys.argv[1] if len(sys.argv) > 1 else "aim_and_throw.png", dpi=110)
print(f"picture written to {picture}")
