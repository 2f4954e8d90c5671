"""Events, requested times and drives of paths with noise, on the chords between their states."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import pyintegrate as pi

WELL = pi.systems.double_well
RUN = {"dt": 0.01, "n_steps": 1200, "seed": 3}
LANES = 300
START = np.full((LANES, 1), -1.0)
warm = pi.langevin(pi.systems.oscillator, friction=0.5, temperature=0.3)
JUMPS = {
    "reset": pi.event("y", direction=1, then=lambda t, y: [-1.0 + 0 * y[0]], keep=20),
    "edge": pi.event("y", direction=1, then=lambda t, y: [-1e-9 + 0 * y[0]], keep=20),
    "bridged": pi.event("y", 1, then=lambda t, y: [-0.3 + 0 * y[0]], keep=20, bridge=True),
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


@pytest.mark.parametrize(
    ("name", "method"),
    [*product(JUMPS, ["milstein", "sra1"]), *product(["reset", "edge"], ["brownian_baoab"])],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
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


# ---- bridges -------------------------------------------------------------------------------------
@pi.sde(dim=1, mu=1.0, sigma=0.8)
def walk(t, y, mu, sigma):
    return mu + 0 * y, sigma + 0 * y


def reach(level=1.0, **options):
    return {"top": pi.event("y", 1, level=level, bridge=True, **options)}


def test_a_bridge_is_crossed_as_its_published_numbers_say():
    """Where r^2 > 4 a b: of a walk all is known, and repeated here."""
    dt, n, steps = 0.1, 400, 30
    path = pi.integrate(walk, np.zeros((n, 1)), dt=dt, n_steps=steps, seed=9)["y"]
    sol = pi.integrate(walk, np.zeros((n, 1)), dt=dt, n_steps=steps, seed=9, save="final",
                       events=reach(stop=True))  # fmt: skip
    a, b = ((1.0 - path[i:][:steps]) / (0.8 * np.sqrt(dt)) for i in (0, 1))
    lanes, n_th = np.arange(n), np.arange(steps)[:, None]
    z = [pi.noise(9, lanes, 2 * n_th + i, 0, stream=3) for i in (0, 1)]
    u = pi.noise(9, lanes, 2 * n_th, 0, stream=2)
    rest = z[0] ** 2 + z[1] ** 2 - np.maximum(4 * a * b, 0)
    crosses = rest > 0
    first = crosses.argmax(axis=0)
    assert np.array_equal(sol.status == pi.Status.STOPPED, crosses.any(axis=0))
    with np.errstate(all="ignore"):
        c = rest * z[0] ** 2 / (z[0] ** 2 + z[1] ** 2) / (2 * a * a)
        beta = abs(b / a)
        x = 1 / (beta + c + np.sqrt(c * (2 * beta + c)))
        x = np.where(u * (1 + beta * x) < 1, x, 1 / (beta * beta * x))
    tau = (n_th + x / (1 + x))[first, lanes] * dt
    stopped = crosses.any(axis=0)
    assert (path[first + 1, lanes] < 1)[stopped].sum() > 20  # that no chord crosses
    # Ends of bridges are rounded, and a short one amplifies that.
    assert np.max(abs(sol.stopped_at - tau)[stopped]) < 1e-9
    assert np.max(abs(sol.final[stopped] - 1.0)) < 4e-16


@pytest.mark.parametrize("dt", [0.02, 0.5])
def test_first_passages_have_the_exact_law_at_any_step(dt):
    """Of a walk with drift: inverse Gaussian, of mean 1 / mu; Kolmogorov and Smirnov."""
    sol = pi.integrate(walk, np.zeros((20_000, 1)), dt=dt, n_steps=int(40 / dt), seed=4,
                       save="final", events=reach(stop=True))  # fmt: skip
    assert np.all(sol.status == pi.Status.STOPPED)
    shape = 1 / 0.8**2
    law = stats.invgauss(1 / shape, scale=shape)
    assert stats.kstest(sol.stopped_at, law.cdf).pvalue > 1e-3
    found = pi.analysis.first_passages(walk, lambda t, y: y[0] - 1, np.zeros((20_000, 1)), dt=dt,
                                       t_end=40.0, seed=4, bridge=True)  # fmt: skip
    assert np.array_equal(found.t, sol.stopped_at)
    chords = pi.integrate(walk, np.zeros((20_000, 1)), dt=0.5, n_steps=80, seed=4, save="final",
                          events={"top": pi.event("y", 1, level=1.0, stop=True)})  # fmt: skip
    assert stats.kstest(chords.stopped_at, law.cdf).pvalue < 1e-9


def test_what_follows_a_jump_is_independent_of_what_led_to_it():
    """dy = mu dt + sigma dW, reset from 1 to 0, has E y(T) = mu T - E N exactly, at any step.

    A rest of the step that repeated its numbers would follow those that led to the level.
    """
    n, T = 20_000, 10
    sol = pi.integrate(walk, np.zeros((n, 1)), dt=0.2, n_steps=5 * T, seed=5, save="final",
                       events=reach(then=lambda t, y: [0 * y[0]], keep=0))  # fmt: skip
    surplus = sol.final[:, 0] + sol.events["top"].count - T
    assert abs(surplus.mean()) < 4 * 0.8 * np.sqrt(T / n)  # of sigma W(T)
    assert sol.events["top"].count.mean() > 8


def test_mean_first_passages_of_the_double_well():
    """From -1 to 0 against the double integral; 20,000 times scatter by 0.7 %, chords are 7 % late.

    The table of ten temperatures is benchmarks/first_passages.py.
    """
    n, kT = 20_000, 0.25
    sol = pi.integrate(WELL(temperature=kT), np.full((n, 1), -1.0), dt=0.01, n_steps=20_000, seed=3,
                       save="final", events=reach(0.0, stop=True, keep=0))  # fmt: skip
    assert abs(sol.stopped_at.mean() / 5.743437068 - 1) < 0.03


def test_a_distance_has_a_bridge_also_from_its_kink():
    """Out of the unit disc from its centre, where |y| has no slope: 1/2 on average, sd 0.354,
    within 4 standard errors of 20,000 paths."""
    plane = pi.sde(dim=2)(lambda t, y: (0 * y, [[1.0, 0.0], [0.0, 1.0]]))
    over = {"rim": pi.event(lambda t, y: np.sqrt(y @ y) - 1, 1, stop=True, bridge=True)}
    sol = pi.integrate(plane, np.zeros((20_000, 2)), dt=0.02, n_steps=400, seed=5, save="final",
                       events=over)  # fmt: skip
    assert abs(sol.stopped_at.mean() - 0.5) < 4 * 0.354 / np.sqrt(20_000)


def test_a_bridge_of_the_energy_by_name_is_that_of_its_formula():
    """To the bit, also where a function takes it by name."""
    well = pi.langevin(
        pi.potential(dof=1, k=2.0)(lambda x, k: k * x**2 / 2), friction=1.0, temperature=0.5
    )
    stops = []
    for q in (
        "energy",
        lambda t, x, v, energy: energy,
        lambda t, x, v, k: k * x**2 / 2 + v * v / 2,
    ):
        over = {"e": pi.event(q, 1, level=1.0, stop=True, bridge=True)}
        sol = pi.integrate(well, np.full(500, 0.3), 0.1, dt=0.05, n_steps=400, seed=3, save="final",
                           events=over)  # fmt: skip
        stops.append(sol.stopped_at)
    assert np.isfinite(stops[0]).mean() > 0.9
    assert np.array_equal(stops[0], stops[1], equal_nan=True)
    assert np.abs(stops[0] - stops[2])[np.isfinite(stops[0])].max() < 1e-9


def test_asking_for_crossings_changes_no_path():
    path = pi.integrate(WELL, START, **RUN)
    asked = pi.integrate(WELL, START, **RUN, events=reach(0.0, keep=3))
    assert np.array_equal(asked.y, path.y)
    chords = ((path["y"][:-1] < 0) & (path["y"][1:] >= 0)).sum()
    assert asked.events["top"].count.sum() > 1.2 * chords


def test_a_state_at_a_crossing_is_the_mean_of_the_bridge_there():
    """Correlated noises: the other component follows the one that is given."""
    system = pi.sde(dim=2)(lambda t, y: (0 * y, [[1.0, 0.0], [0.6, 0.8]]))
    n, dt = 50_000, 1.0
    up = {"up": pi.event(lambda t, y: y[0] - 0.7, 1, bridge=True, values=lambda t, y: (y[0], y[1]))}
    sol = pi.integrate(system, np.zeros((n, 2)), dt=dt, n_steps=1, seed=2, save="final", events=up)
    x, y = np.moveaxis(sol.events["up"].y[:, 0], -1, 0)
    found = ~np.isnan(x)
    assert np.max(abs(x[found] - 0.7)) < 1e-15
    assert np.array_equal(sol.events["up"].values[found, 0, 1], y[found])
    # y - 0.6 x is independent of the crossing: of mean 0 and a deviation below 0.8.
    assert abs(np.mean(y[found] - 0.6 * 0.7)) < 4 * 0.8 / np.sqrt(found.sum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bridge_without_noise_is_the_chord(dtype):
    """Noise may begin late, or end: until then paths are those of the drift, here lines."""

    @pi.sde(dim=1, s=0.01)
    def between(t, y, s):
        return -1.0 + 0 * y, s * np.where((t > 0.5) & (t < 1), 1.0, 0.0) + 0 * y

    start = np.array([[0.27], [1.53]])
    asked = {"z": pi.event("y", stop=True, bridge=True)}
    sol = pi.integrate(between, start, dt=0.1, n_steps=30, seed=1, dtype=dtype, events=asked)
    eps = np.finfo(dtype).eps
    assert abs(sol.stopped_at[0] - 0.27) < 8 * eps  # roundings of three steps and of the place
    assert abs(sol.stopped_at[1] - 1.53) < 0.1  # 14 deviations of the noise
    assert np.all(abs(sol.final) < 8 * eps)


@pytest.mark.parametrize(
    ("event", "system", "said"),
    [
        (pi.event(lambda t, y: y[0] > 1, bridge=True), walk, "a condition is no quantity"),
        (pi.event("x", bridge=True), pi.systems.spring, "has no noise: leave it out"),
        (pi.event("x", bridge=True), warm, "whose paths are smooth: leave bridge= out"),
    ],
)
def test_a_bridge_that_makes_no_sense_is_refused(event, system, said):
    seed = {} if system.noise is None else {"seed": 1}
    with pytest.raises(ValueError, match=said):
        pi.integrate(system, dt=0.01, n_steps=1, events={"e": event}, **seed)
    with pytest.raises(TypeError, match="bridge must be True or False"):
        pi.event("x", bridge=1)
    over = {"up": pi.event("y", bridge=True)}
    with pytest.raises(ValueError, match="bridge of event 'up': .*'brownian_baoab' have the mean"):
        pi.integrate(WELL, START, **RUN, method="brownian_baoab", events=over)
    fast = {"e": pi.event("v", bridge=True)}
    assert pi.integrate(warm, 0.0, 0.1, dt=0.01, n_steps=9, seed=1, events=fast).n_steps == 9


def test_a_bridge_waits_for_its_time():
    """Beside an event of another: its quantity, NaN before, passed at once in each such step."""
    events = {
        "jump": pi.event(lambda t, y: y[0] > 0.5, direction=1, then=lambda t, y: 0.8 * y),
        "low": pi.event("y", level=0.01, after=2.0, bridge=True),
    }
    run = {"dt": 0.125, "seed": 1, "events": events}
    system = pi.systems.geometric_brownian_motion
    sol = pi.integrate(system, np.ones((9, 1)), n_steps=40, save="final", **run)
    assert (sol.events["jump"].count > 0).all()
    assert (sol.events["low"].count == 0).all()
