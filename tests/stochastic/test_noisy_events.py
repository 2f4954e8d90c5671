"""Events, requested times and drives of paths with noise, on the chords between their states."""

import numpy as np
import pytest

import pyintegrate as pi

WELL = pi.systems.double_well
RUN = {"dt": 0.01, "n_steps": 1200, "seed": 3}
LANES = 300
START = np.full((LANES, 1), -1.0)
warm = pi.langevin(pi.systems.oscillator, friction=0.5, temperature=0.3)
JUMPS = {
    "reset": pi.event("y", direction=1, then=lambda t, y: [-1.0 + 0 * y[0]], keep=20),
    "edge": pi.event("y", direction=1, then=lambda t, y: [-1e-9 + 0 * y[0]], keep=20),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_stop_lies_where_the_chord_crosses(dtype):
    path = pi.integrate(WELL, START, **RUN, dtype=dtype)
    stopped = pi.integrate(WELL, START, **RUN, dtype=dtype, save="final",
                           events={"top": pi.event("y", direction=1, stop=True)})  # fmt: skip
    y = path["y"].astype(float)
    crosses = (y[:-1] < 0) & (y[1:] >= 0)
    any_, k = crosses.any(axis=0), crosses.argmax(axis=0)
    a, b = (np.take_along_axis(y, k[None] + i, axis=0)[0] for i in (0, 1))
    expected = np.where(any_, (k + a / (a - b)) * RUN["dt"], np.nan)
    assert np.array_equal(np.isnan(stopped.stopped_at), ~any_)
    rounding = np.finfo(dtype).eps
    assert np.nanmax(abs(stopped.stopped_at - expected)) < 40 * rounding * 12  # times up to 12
    assert abs(stopped.final[any_]).max() < 2 * rounding
    assert np.array_equal(stopped.final[~any_], path.final[~any_])


def test_a_quantity_that_is_no_component_is_zero_there():
    far = pi.event(lambda t, x, v: x * x + v * v - 1.5, direction=1, keep=4)
    sol = pi.integrate(warm, np.zeros(LANES), 0.0, **RUN, events={"far": far})
    x, v, t = sol.events["far"]["x"], sol.events["far"]["v"], sol.events["far"].t
    found = ~np.isnan(t)
    assert found.sum() > LANES
    assert np.nanmax(abs(x * x + v * v - 1.5)) < 1e-13
    lanes = np.flatnonzero(found[:, 0])[:20]
    on_chord = sol.at(t[lanes, 0])[range(len(lanes)), lanes]
    assert np.max(abs(on_chord[:, 0] - x[lanes, 0])) < 1e-13


@pytest.mark.parametrize("method", ["milstein", "sra1", "brownian_baoab"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", JUMPS)
def test_jumps_do_not_depend_on_how_a_run_is_carried_out(name, method, dtype):
    """What is left of a step has numbers of its own, whichever lanes make it together."""
    events, run = {name: JUMPS[name]}, RUN | {"method": method, "dtype": dtype}
    whole = pi.integrate(WELL, START, **run, events=events)
    times, count = whole.events[name].t, whole.events[name].count
    part = pi.integrate(WELL, START[:37], **run, events=events, workers=2, first_trajectory=111)
    assert np.array_equal(part.y, whole.y[:, 111:148])
    assert np.array_equal(part.events[name].t, times[111:148], equal_nan=True)
    half = pi.integrate(WELL, START, **run | {"n_steps": 533}, events=events, save=40)
    assert np.array_equal(half.resume(n_steps=667).final, whole.final)
    stepper = pi.Stepper(WELL, START, dt=0.01, seed=3, events=events, method=method, dtype=dtype)
    stepper.step(RUN["n_steps"])
    assert np.array_equal(stepper.y, whole.final)
    assert count.max() > 3
    assert whole.y.max() <= 0


def test_requested_times_lie_on_the_chords():
    times = np.array([0.0, 0.005, 0.3333, 1.0, 11.999])
    path = pi.integrate(WELL, START, **RUN)
    asked = pi.integrate(WELL, START, **RUN, times=times)
    assert np.array_equal(asked.y, path.at(times))
    jumped = pi.integrate(WELL, START, **RUN, times=times, events={"reset": JUMPS["reset"]})
    assert jumped.y.max() <= 0


def test_a_drive_is_the_parameter_of_each_step():
    kT = np.linspace(0.0, 0.5, 40)
    driven = pi.integrate(WELL, START, dt=0.01, n_steps=40, seed=1, drive={"temperature": kT})
    y = START
    for n, one in enumerate(kT):
        z = pi.noise(1, np.arange(LANES), n)[:, None]
        y = y + 0.01 * (y - y**3) + np.sqrt(2 * one) * np.sqrt(0.01) * z
    assert np.abs(driven.final - y).max() < 40 * 4e-16 * 4  # roundings of each step
