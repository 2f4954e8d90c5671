"""A cloth of springs: a hundred points, six hundred components, a force in plain NumPy.

    python examples/cloth.py [cloth.png]

The cloth hangs from two corners and falls from the horizontal. Three cloths of different stiffness
swing side by side in one batch.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import pyintegrate as pi

if "--help" in sys.argv:
    raise SystemExit(print(__doc__))

N, SPACING = 10, 0.1  # points a side; m
STIFFNESS = (60.0, 200.0, 800.0)  # N/m


def make_springs():
    """Pairs of points, and rest lengths: neighbours, and diagonals against shear."""
    number = np.arange(N * N).reshape(N, N)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:]),
             (number[:-1, :-1], number[1:, 1:]), (number[1:, :-1], number[:-1, 1:])]  # fmt: skip
    first, second = (np.concatenate([p[k].ravel() for p in pairs]) for k in (0, 1))
    lengths = SPACING * np.repeat([1, np.sqrt(2)], [2 * N * (N - 1), 2 * (N - 1) ** 2])
    return first, second, lengths


FIRST, SECOND, LENGTHS = make_springs()
PINNED = (0, N - 1)


@pi.acceleration(dof=3 * N * N, k=200.0, b=1.2, mass=0.01)
def cloth(t, x, v, k, b, mass):
    points, speeds = x.reshape(N * N, 3), v.reshape(N * N, 3)
    force = [[0.0, 0.0, -9.81 * mass] - b * mass * speed for speed in speeds]
    for i, j, length in zip(FIRST, SECOND, LENGTHS, strict=True):
        d = points[j] - points[i]
        pull = k * (1 - length / np.sqrt(d @ d)) * d
        force[i] = force[i] + pull
        force[j] = force[j] - pull
    for corner in PINNED:
        force[corner] = 0 * force[corner]
    return np.concatenate(force) / mass


def main(picture):
    along, across = np.meshgrid(np.arange(N), np.arange(N), indexing="xy")
    flat = np.stack([along, -across, 0 * along], axis=-1).reshape(-1) * SPACING
    sol = pi.integrate(
        cloth(k=np.array(STIFFNESS)), flat, 0 * flat, dt=1e-3, t_end=3.0, method="velocity_verlet",
        save=200,
    )  # fmt: skip
    points = sol.x.reshape(len(sol), len(STIFFNESS), N, N, 3)
    shown = (0, 2, 4, 15)
    fig, axes = plt.subplots(
        len(STIFFNESS), len(shown), figsize=(11, 8.5), layout="constrained",
        subplot_kw={"projection": "3d"},
    )  # fmt: skip
    for row, (stiffness, line) in enumerate(zip(STIFFNESS, axes, strict=True)):
        middle = points[:, row, :, N // 2]
        length = np.linalg.norm(np.diff(middle, axis=1), axis=-1).sum(axis=1) / (N - 1) / SPACING
        print(f"{stiffness:5g} N/m: the middle is drawn to {length.max():.2f} times its length")
        for ax, save in zip(line, shown, strict=True):
            x, y, z = np.moveaxis(points[save, row], -1, 0)
            ax.plot_surface(x, y, z, color="C0", edgecolor="k", linewidth=0.3, alpha=0.8)
            ax.set(xlim=(-0.1, 1.0), ylim=(-0.9, 0.5), zlim=(-1.5, 0.1), xticks=(), yticks=())
            ax.set_title(f"{stiffness:g} N/m, t = {sol.t[save]:.1f} s", fontsize=9)
    fig.savefig(picture, dpi=110)
    print(f"picture written to {picture}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cloth.png")
