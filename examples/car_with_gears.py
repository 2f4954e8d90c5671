"""A car with five gears and a torque curve: which final drive is quickest?

    python examples/car_with_gears.py [car_with_gears.png]

The force is written in plain NumPy for one car; three hundred cars with different final drives
then start side by side.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import pyintegrate as pi

if "--help" in sys.argv:
    raise SystemExit(print(__doc__))

GEARS = (3.6, 2.1, 1.4, 1.0, 0.8)
SHIFT = 6200.0  # revolutions per minute at which the next gear is engaged
WHEEL = 0.31  # m
RPM = 60 / (2 * np.pi)


def engine(v, final_drive):
    """Ratio and engine speed [1/min] at a speed: the lowest gear that stays under SHIFT."""
    ratio = GEARS[-1] * final_drive
    for gear in GEARS[-2::-1]:
        lower = gear * final_drive
        ratio = np.where(v / WHEEL * lower * RPM < SHIFT, lower, ratio)
    return ratio, np.maximum(v / WHEEL * ratio * RPM, 1000.0)  # the clutch slips below


def torque(rpm):
    """The torque of the engine [N m]: 210 at 3800 revolutions per minute, less on both sides."""
    return 210.0 - 75.0 * ((rpm - 3800.0) / 2600.0) ** 2


@pi.acceleration(
    final_drive=4.0, mass=1300.0, drag=0.4, rolling=180.0, initial=(0.0, 0.0),
    units={"x": "m", "v": "m/s", "mass": "kg", "drag": "kg/m", "rolling": "N"},
)  # fmt: skip
def car(t, x, v, final_drive, mass, drag, rolling):
    ratio, rpm = engine(v, final_drive)
    thrust = np.minimum(0.9 * torque(rpm) * ratio / WHEEL, 0.5 * mass * 9.81)  # tyres slip beyond
    return (thrust - rolling - drag * v * v) / mass


def main(picture):
    drives = np.linspace(2.0, 7.0, 300)
    cars = pi.integrate(car(final_drive=drives), 0.0, 0.0, dt=0.01, t_end=40.0, save=5)
    to_100 = np.array([np.interp(100 / 3.6, v, cars.t, right=np.nan) for v in cars.v.T])
    to_km = np.array([np.interp(1000.0, x, cars.t, right=np.nan) for x in cars.x.T])
    quick, far = drives[np.nanargmin(to_100)], drives[np.nanargmin(to_km)]
    print(f"0 to 100 km/h: {np.nanmin(to_100):.2f} s with a final drive of {quick:.2f}")
    print(f"a kilometre:   {np.nanmin(to_km):.2f} s with a final drive of {far:.2f}")

    fig, (speed, rpm, best) = plt.subplots(3, figsize=(8, 9), layout="constrained")
    for drive in (2.5, far, quick):
        i = np.argmin(abs(drives - drive))
        v = cars.v[:, i]
        speed.plot(cars.t, 3.6 * v, label=f"final drive {drives[i]:.2f}")
        rpm.plot(cars.t, engine(v, drives[i])[1])
    speed.set(
        xlabel="t [s]",
        ylabel="speed [km/h]",
        title="A short drive is quick off the mark, a long one fast in the end",
    )
    speed.legend(frameon=False)
    rpm.set(xlabel="t [s]", ylabel="engine [1/min]", xlim=(0, 40))
    best.plot(drives, to_100 - np.nanmin(to_100), label="0 to 100 km/h")
    best.plot(drives, to_km - np.nanmin(to_km), label="a kilometre from rest")
    best.set(xlabel="final drive", ylabel="behind the best [s]")
    best.legend(frameon=False)
    fig.savefig(picture, dpi=110)
    print(f"picture written to {picture}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "car_with_gears.png")
