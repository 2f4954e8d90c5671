"""Jumps whose quantity passes on: impulses at a time or a place happen once, bounces as ever."""

import numpy as np
import pytest

import pyintegrate as pi

FREE = pi.acceleration(lambda t, x, v: 0 * x, dof=1)


def kick_at(when, **options):
    return {"kick": pi.event(lambda t, x, v: t - when, then=lambda t, x, v: (x, v + 1), **options)}


@pytest.mark.parametrize("when", [1.0, 1.003, 0.99])
@pytest.mark.parametrize("options", [{}, {"save": 7}, {"dtype": np.float32}], ids=str)
def test_an_impulse_at_a_time_happens_once(when, options):
    """On the grid of steps and between them."""
    run = {"dt": 0.01, "n_steps": 300} | options
    sol = pi.integrate(FREE, np.zeros(5), np.arange(5.0), events=kick_at(when), **run)
    assert (sol.status == pi.Status.OK).all()
    assert (sol.events["kick"].count == 1).all()
    # 300 additions to numbers up to 14, each to half a rounding.
    close = 300 * 7 * np.finfo(sol.y.dtype).eps
    assert abs(sol.final[:, 0] - (3 * np.arange(5) + 3 - when)).max() < close


def test_an_impulse_at_a_place_happens_whenever_it_comes_by():
    """An oscillator that is kicked at each passage: its speed there grows by the same each time."""
    push = {"push": pi.event("x", then=lambda t, x, v: (x, v + 0.1 * np.sign(v)), keep=9)}
    sol = pi.integrate(
        pi.systems.oscillator, 1.0, 0.0, dt=0.02, n_steps=1450, method="dop853", events=push
    )
    assert sol.status == pi.Status.OK
    assert sol.events["push"].count == 9
    assert abs(sol.events["push"].t - (0.5 + np.arange(9)) * np.pi).max() < 1e-10
    assert abs(abs(sol.events["push"]["v"]) - 1 - 0.1 * np.arange(9)).max() < 1e-10


@pytest.mark.parametrize("cut", [99, 100, 101])
def test_a_run_that_is_cut_at_an_impulse_is_resumed_to_the_same_bits(cut):
    run = {"dt": 0.01, "events": kick_at(1.0, keep=3)}
    whole = pi.integrate(FREE, 0.0, 1.0, n_steps=200, **run)
    parts = pi.integrate(FREE, 0.0, 1.0, n_steps=cut, **run).resume(n_steps=200 - cut)
    stepper = pi.Stepper(FREE, 0.0, 1.0, **run)
    stepper.step(cut)
    stepper.step(200 - cut)
    assert np.array_equal(parts.final, whole.final)
    assert np.array_equal([stepper.x, stepper.v], whole.final)
    assert parts.events["kick"].count == whole.events["kick"].count == 1


def test_a_jump_to_before_the_place_comes_by_again():
    """A thousandth of a step away from zero is not at zero."""
    back = {"b": pi.event("x", direction=1, then=lambda t, x, v: (x - 1e-5, 0.25 * v), keep=9)}
    sol = pi.integrate(FREE, -0.005, 1.0, dt=0.01, n_steps=1, events=back)
    assert sol.events["b"].count == 5
    flights = 1e-5 * 4.0 ** np.arange(1, 5)
    assert np.allclose(np.diff(sol.events["b"].t[:5]), flights, rtol=1e-6)


def test_what_comes_to_rest_does_not_fall_through():
    floor = {"floor": pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.5]))}
    sol = pi.integrate(
        pi.systems.projectile, [0.0, 0, 1], 0.0, dt=0.05, n_steps=200, events=floor,
        on_failure="ignore",
    )  # fmt: skip
    assert sol.status == pi.Status.ZENO
    assert (sol["z"] >= 0).all()
