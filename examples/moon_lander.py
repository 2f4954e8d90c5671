"""A game: land on the moon with the arrow keys (with pygame), or let an autopilot do it.
python examples/moon_lander.py [moon_lander.png]
"""

import sys
from importlib.util import find_spec

import matplotlib.pyplot as plt

import pyintegrate as pi

if "--help" in sys.argv:
    raise SystemExit(print(__doc__))

DT, MAIN, SIDE = 1 / 60, 4.0, 1.5  # a step in seconds, accelerations of the two engines in m/s^2


@pi.acceleration(dof=2, side=0.0, up=0.0, moon=1.62)
def lander(t, x, v, side, up, moon):
    return side, up - moon


def pilot(ship):
    """Brake at the last moment to land at a metre per second, and drift towards the pad at 0."""
    (x, height), (vx, sinking) = ship.x, ship.v
    late = sinking < -((2 * (MAIN - 1.62) * 0.8 * max(height, 0.01)) ** 0.5) - 0.3
    return SIDE * max(-1, min(1, -0.25 * x - vx)), MAIN * late


def fly(commands):
    ship, path = pi.Stepper(lander, [-60.0, 80.0], [12.0, 0.0], dt=DT), []
    while ship.x[1] > 0 and ship.t < 60:
        ship.params["side"][...], ship.params["up"][...] = commands(ship)
        ship.step()
        path.append(ship.x.copy())
    return ship, path


def player():
    import pygame  # pyright: ignore[reportMissingImports]

    screen, clock = pygame.display.set_mode((640, 480)), pygame.time.Clock()

    def keys(ship):
        screen.fill("black")
        pygame.draw.circle(screen, "white", (320 + 4 * ship.x[0], 460 - 4 * ship.x[1]), 6)
        pygame.display.flip()
        clock.tick(60)
        pygame.event.pump()
        down = pygame.key.get_pressed()
        return SIDE * (down[pygame.K_RIGHT] - down[pygame.K_LEFT]), MAIN * down[pygame.K_UP]

    return keys


ship, path = fly(player() if len(sys.argv) == 1 and find_spec("pygame") else pilot)
fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.plot(*zip(*path, strict=True), ".", markersize=2)
ax.set(xlabel="x [m]", ylabel="height [m]", aspect="equal")
ax.set_title(f"down in {ship.t:.1f} s at {-ship.v[1]:.1f} m/s, {abs(ship.x[0]):.1f} m off")
fig.savefig(picture := sys.argv[1] if len(sys.argv) > 1 else "moon_lander.png", dpi=110)
print(f"picture written to {picture}")
