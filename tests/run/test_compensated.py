"""Rounding on long runs: what adds up of it, and what compensated sums carry along instead.

A run in float32 whose numbers (step, coefficients, parameters) are all float32 has a twin of
extended precision: the same in float64. Errors are in units of 2**-24, half an ulp of 1.
"""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from conftest import same_bits
from reference import POINT_METHODS, states

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.run import output

OSCILLATOR, KEPLER, LORENZ = pi.systems.oscillator, pi.systems.kepler, pi.systems.lorenz
HALF_ULP = 2.0**-24

# One of each kind of step.
METHODS = [
    *("rk4", "dormand_prince54", "velocity_verlet", "forest_ruth4", "runge_kutta_nystrom4"),
    *("gauss4", "trbdf2", "adams_bashforth3", "adams_bashforth_moulton4", "bdf3", "stormer_verlet"),
    *("stormer_verlet_backward", "beeman", "numerov4", "quinlan8b"),
]
DTYPES = [np.float64, np.float32]


def run(method, y=None, *, system=KEPLER, dt=1 / 64, n_steps=40, **options):
    y = states(system, (5,)) if y is None else y
    options = {"compensated": True, **options}
    return pi.integrate(system, y, dt=dt, n_steps=n_steps, method=method, **options)


# ---- the same bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS)
def test_a_compensated_run_in_parts_is_one_run(method, dtype, tmp_path, monkeypatch):
    y = states(KEPLER, (5,), dtype)
    whole = run(method, y, n_steps=300)
    assert not same_bits(whole.y, run(method, y, n_steps=300, compensated=False).y)
    assert same_bits(run(method, y, n_steps=300, save="final").final, whole.final)
    assert same_bits(run(method, y, n_steps=300, save=7).y, whole.y[[*range(0, 300, 7), 300]])
    assert same_bits(run(method, y[1:3], n_steps=300).y, whole.y[:, 1:3])
    first = run(method, y, n_steps=100)
    first.save(tmp_path / "first.npz")
    for part in (first, pi.load(tmp_path / "first.npz"), pickle.loads(pickle.dumps(first))):
        later = part.resume(n_steps=1).resume(n_steps=199)
        assert same_bits(later.y, whole.y[101:])
        assert same_bits(pi.concatenate(part, part.resume(n_steps=200)).y, whole.y)
    monkeypatch.setattr(output, "PART_BYTES", 500)  # into an array part by part
    out = np.empty((5, 301, 4), dtype).swapaxes(0, 1)[:, ::-1]
    assert same_bits(run(method, y, n_steps=300, out=out).y, whole.y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", [*METHODS, "semi_implicit_euler"])
def test_a_stepper_carries_it(method, dtype):
    y = states(KEPLER, (5,), dtype)
    stepper = pi.Stepper(KEPLER, y, dt=1 / 64, method=method, compensated=True)
    stepper.step(20)
    before = pickle.loads(pickle.dumps(stepper.snapshot()))
    stepper.step(20)
    there = stepper.y.copy()
    assert same_bits(there, run(method, y).final)
    stepper.restore(before)
    stepper.step(20)
    assert same_bits(stepper.y.copy(), there)
    plain = pi.Stepper(KEPLER, y, dt=1 / 64, method=method)
    with pytest.raises(ValueError, match="compensated"):
        plain.restore(before)


def test_a_kick_and_a_drift_are_a_step():
    one, two = (
        pi.Stepper(KEPLER, states(KEPLER, (5,)), dt=1 / 64, compensated=True) for _ in range(2)
    )
    for _ in range(50):
        one.step()
        two.kick()
        two.drift()
    assert same_bits(one.y.copy(), two.y.copy())
    assert same_bits(one._rows, two._rows)


def test_a_reset_forgets_what_was_carried():
    y = states(KEPLER, (5,))
    stepper = pi.Stepper(KEPLER, y, dt=1 / 64, compensated=True)
    stepper.step(50)
    on = stepper.snapshot()
    stepper.reset([True, False, True, False, False])
    stepper.step(50)
    again = pi.Stepper(KEPLER, y, dt=1 / 64, compensated=True)
    again.step(50)
    assert same_bits(stepper.y[[0, 2]], again.y[[0, 2]])
    again.restore(on)
    again.step(50)
    assert same_bits(stepper.y[[1, 3, 4]], again.y[[1, 3, 4]])


@pytest.mark.parametrize("compensated", [True, False])
@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "stormer_verlet"])
def test_a_state_that_is_assigned_forgets_what_was_carried(method, compensated):
    """Half an ulp of 1e10 is 1e-6."""
    free = pi.acceleration(lambda t, x, v: 0 * x)
    options = {"dt": 0.1, "method": method, "compensated": compensated}
    far, near = (pi.Stepper(free, x, 0.1, **options) for x in (1e10, 1.0))
    for stepper in (far, near):
        stepper.step(7)
        if method == "stormer_verlet":
            stepper.x, stepper.previous = 0.0, -0.01
        else:
            stepper.y = [0.0, 0.1]
        stepper.step(9)
    assert same_bits(far.y, near.y)


@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "stormer4", "gauss4"])
def test_workers_and_tiles_do_not_matter(method):
    y = states(KEPLER, (3333,))
    # Threads are made for two million components x evaluations x steps.
    n_steps = 2_100_000 // y.size + 1
    one, three = (run(method, y, n_steps=n_steps, save="final", workers=w).final for w in (1, 3))
    assert same_bits(one, three)


def test_a_failed_trajectory_ends_alone():
    y = states(LORENZ, (7,))
    well = run("rk4", y, system=LORENZ, dt=0.01, n_steps=600)
    y[3] = 1e200, 0, 0
    sol = run("rk4", y, system=LORENZ, dt=0.01, n_steps=600, on_failure="ignore")
    assert sol.status.tolist() == [0, 0, 0, 1, 0, 0, 0]
    rest = [0, 1, 2, 4, 5, 6]
    assert same_bits(sol.y[:, rest], well.y[:, rest])
    assert same_bits(sol.resume(n_steps=5).final[rest], well.resume(n_steps=5).final[rest])


# ---- what it is for ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_small_state_survives_a_large_increment(dtype):
    """Whichever of the two is larger: 1, half an ulp, and a hundredth of that are an ulp more."""

    @pi.rhs(dim=1, rate=0.0)
    def steady(t, y, rate):
        return [rate]

    half = np.finfo(dtype).eps / 2
    run = {"dt": 1.0, "n_steps": 2, "method": "explicit_euler"}
    run["drive"] = {"rate": np.array([1.0, half], dtype)}
    y = np.array([half / 128], dtype)
    assert pi.integrate(steady, y, **run).final == 1
    assert pi.integrate(steady, y, **run, compensated=True).final == 1 + 2 * half


def test_a_long_sum_is_the_exact_one():
    """v += h a, a million times, with h a = 1/10 in exact arithmetic of the doubles h and a."""
    n, h, force = 1_000_000, 0.1, 1.0
    exact = float(n * Fraction(h) * Fraction(force))
    for method in ("explicit_euler", "rk4", "semi_implicit_euler", "adams_bashforth_moulton4"):
        options = {"system": pi.systems.constant_force(force=force), "dt": h, "n_steps": n}
        carried, plain = (
            run(method, [0.0, 0.0], **options, save="final", compensated=c).final[1]
            for c in (True, False)
        )
        # The weights of a step sum to 1 within an ulp, which adds up; the sums themselves do not.
        allowed = n * 2.0**-53 * h if method in ("rk4", "adams_bashforth_moulton4") else 0.0
        assert abs(carried - exact) <= np.spacing(exact) / 2 + allowed, method
        assert abs(plain - exact) > 1000 * np.spacing(exact), method


def rounded_to_float32(method):
    """The same with coefficients that are float32, for runs that are to agree in both."""
    c = {key: np.float32(row).astype(float).tolist() for key, row in method.coefficients.items()}
    rows = tuple(tuple(c[key]) for key in ("alpha", "beta", "predictor", "velocity"))
    handle = _core.make_method("multistep", method.stages, method.evaluations, rows, 2)
    changed = object.__new__(type(method))
    changed.__dict__.update(method.__dict__, coefficients=c, handle=handle)
    return changed


def rounding(method, n_steps, compensated, system=OSCILLATOR, h=2.0**-6):
    """Root mean square of what float32 makes of 64 motions, in half ulps of 1."""
    y = states(system, (64,), np.float32)
    if method.family == "multistep" and not method.starts_from_positions:
        method = rounded_to_float32(method)
    options = {"system": system, "dt": h, "n_steps": n_steps, "save": "final"}
    single = run(method, y, **options, compensated=compensated).final
    double = run(method, y.astype(float), **options, compensated=False).final
    return float(np.sqrt(np.mean((single - double) ** 2))) / HALF_ULP


TWO_POSITIONS = [m for m in POINT_METHODS if m.derivative == 2]
STABLE = [m for m in TWO_POSITIONS if m.name not in ("stormer5", "stormer6")]  # at any step


@pytest.mark.parametrize("method", STABLE, ids=str)
def test_positions_of_two_steps_before_keep_their_digits(method):
    """Rounding of order 1/2 in the number of steps, and not h**-1 times as much.

    A position that is rounded moves the motion by half an ulp, at random: n**(1/2) of them. Were
    the difference of two rounded positions the velocity of the motion, each of them would move
    that by 1/h times as much.
    """
    n, h = 30_000, 2.0**-6
    found = rounding(method, n, False, h=h)
    assert found < 3 * n**0.5
    assert found < n**0.5 / h / 10


@pytest.mark.parametrize(
    "name", ["semi_implicit_euler", "velocity_verlet", "stormer_verlet", "quinlan8b"]
)
def test_compensated_sums_take_rounding_away(name):
    method, n = pi.methods[name], 30_000
    plain, carried = (rounding(method, n, compensated) for compensated in (False, True))
    assert plain > 10
    assert carried < plain / 10  # increments are h times as large as the state, and so is theirs


def test_rounding_of_symplectic_steps_grows_as_the_square_root():
    """Brouwer's law, of the energy of Kepler's orbits, by steps that are exact in float32."""
    y = states(KEPLER, (64,), np.float32)

    def energy(n_steps, compensated):
        options = {"dt": 2.0**-6, "n_steps": n_steps, "save": "final", "method": "velocity_verlet"}
        single = pi.integrate(KEPLER, y, **options, compensated=compensated).final
        double = pi.integrate(KEPLER, y.astype(float), **options).final
        difference = KEPLER.energy(single.astype(float)) - KEPLER.energy(double)
        return np.sqrt(np.mean(difference**2)) / HALF_ULP

    short, long, carried = energy(2_000, False), energy(128_000, False), energy(128_000, True)
    # 64 times as many steps: 8 times as much, and 64 if rounding had a direction. Of 64 orbits the
    # root mean square is known to a tenth.
    assert 4 < long / short < 16
    assert carried < long / 10


# ---- the argument --------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1, 0, "yes", None, [True]])
def test_it_is_true_or_false(value):
    for function in (pi.integrate, pi.Stepper):
        steps = {"n_steps": 3} if function is pi.integrate else {}
        with pytest.raises(TypeError, match="compensated must be True or False"):
            function(KEPLER, dt=0.1, compensated=value, **steps)


def test_rules_of_rigid_motion_carry_nothing():
    box = pi.systems.rigid_body
    for method in pi.methods.values():
        if method.requires == "rigid_body":
            with pytest.raises(ValueError, match=f"compensated=True: {method.name}.*'rk4'"):
                pi.integrate(box, dt=0.1, n_steps=3, method=method, compensated=True)
    sol = pi.integrate(box, dt=0.1, n_steps=3, method="rk4", compensated=True)
    assert np.isfinite(sol.y).all()
    problem = sol._problem.changed(method=pi.methods["rigid_rk4"])
    with pytest.raises(ValueError, match="carry no rounding"):  # the core has its own check
        output.begin(problem, sol._options)


def test_every_other_method_can():
    for method in POINT_METHODS:
        system = KEPLER if method.requires != "any" else LORENZ
        carried, plain = (
            run(method, states(system, (3,)), system=system, n_steps=20, compensated=c).final
            for c in (True, False)
        )
        assert np.allclose(carried, plain, rtol=1e-12, atol=0), method.name


def test_what_is_carried_is_watched():
    watched = run("velocity_verlet", watch={"far": pi.watch.maximum("x")})
    assert same_bits(watched.watched["far"], watched["x"].max(axis=0))
