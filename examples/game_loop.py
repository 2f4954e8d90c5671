"""A game loop: a fixed step, frames at varying times, and how blending smooths the motion.

    python examples/game_loop.py [game_loop.png]

A ball on an elastic string goes round at 12 steps a second, drawn at about 60 frames a second. The
picture shows what the screen shows: the last step, which stutters, or a blend of the last two. One
frame takes a second and a half; the loop drops the steps that are too many, and counts them.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import pyintegrate as pi

if "--help" in sys.argv:
    raise SystemExit(print(__doc__))

DT = 1 / 12
HICCUP = 110  # the index of the frame that takes too long


def main(picture):
    stepper = pi.Stepper(
        pi.systems.spring_3d(k=12.0, rest_length=0.2), [1.5, 0, 0], [0, 3.5, 0], dt=DT,
        method="velocity_verlet",
    )  # fmt: skip
    loop = pi.FixedTimestep(stepper, max_steps=4)
    frames = np.random.default_rng(4).uniform(0.010, 0.024, 150)
    frames[HICCUP] = 1.5
    steps, blends = [], []
    for frame in frames:
        alpha = loop.advance(frame)
        steps.append(loop.stepper.x.copy())
        blends.append(loop.blend(alpha)[:3])
    stepped, blended = np.array(steps), np.array(blends)
    print(
        f"{loop.stepper.n} steps in {len(frames)} frames, {loop.dropped} dropped after the hiccup"
    )

    moved = [np.linalg.norm(np.diff(path, axis=0), axis=1) for path in (stepped, blended)]
    fig = plt.figure(figsize=(9, 7), layout="constrained")
    grid = fig.add_gridspec(2, 2, height_ratios=(5, 4))
    for column, (path, title) in enumerate(
        [(stepped, "The last step: the ball stands, and jumps"), (blended, "Blended: it moves")]
    ):
        ax = fig.add_subplot(grid[0, column])
        ax.plot(path[:HICCUP, 0], path[:HICCUP, 1], ".", markersize=5, color=f"C{column}")
        ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        ax.set_title(title, loc="left", fontsize=10)
    ax = fig.add_subplot(grid[1, :])
    number = np.arange(1, len(frames))
    ax.plot(number, moved[0], drawstyle="steps-mid", label="the last step")
    ax.plot(number, moved[1], label="blended")
    ax.annotate(
        f"a frame of 1.5 s: {loop.dropped} steps\ndropped, {loop.max_steps} taken",
        (HICCUP, moved[1][HICCUP - 1]), (-150, -15), textcoords="offset points",
        arrowprops={"arrowstyle": "-"},
    )  # fmt: skip
    ax.set(xlabel="frame", ylabel="moved since\nthe frame before [m]")
    ax.legend(frameon=False, loc="upper left")
    fig.savefig(picture, dpi=110)
    print(f"picture written to {picture}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "game_loop.png")
