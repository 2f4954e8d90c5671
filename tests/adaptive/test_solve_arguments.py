"""Wrong arguments of solve are refused before anything runs, by their names."""

import numpy as np
import pytest

import pyintegrate as pi

X0 = np.ones((4, 3))


def refusal(error, match, *args, **options):
    with pytest.raises(error, match=match):
        pi.solve(pi.systems.lorenz, *args, **{"t_end": 1.0, **options})


def test_values():
    refusal(ValueError, "rtol must be finite and not negative", rtol=-1.0)
    refusal(ValueError, "atol must be finite and not negative", atol=np.nan)
    refusal(TypeError, "rtol must hold real numbers", rtol="small")
    refusal(ValueError, "t_end must be finite", t_end=np.inf)
    lost = "t_end = 1000000010.0 is lost in the rounding of t0 = 1000000000.0 to float32"
    refusal(ValueError, lost, t_end=1e9 + 10, t0=1e9, dtype=np.float32)
    refusal(ValueError, "first_step must be positive", first_step=0.0)
    refusal(ValueError, "max_step must be positive", max_step=-1.0)
    refusal(ValueError, "max_steps must be at least 1", max_steps=0)
    refusal(ValueError, "bound must be a positive number", bound=-1)
    refusal(ValueError, "save must be 'all'", save=5)
    refusal(ValueError, "save or times, not both", save="all", times=[0.5])
    refusal(ValueError, "components must be some of", components=["q"])
    with pytest.raises(TypeError, match="system must be a System"):
        pi.solve("lorenz", t_end=1.0)


def test_shapes():
    refusal(ValueError, "do not broadcast", X0, t_end=np.ones(5))
    refusal(ValueError, "do not broadcast", X0, rtol=np.full(5, 1e-6))
    refusal(ValueError, r"its last axis holds the \d+ components \(without v0\)", np.ones((4, 2)))
    refusal(ValueError, r"times has shape \(3, 5\)", X0, times=np.ones((3, 5)) / 2)
    refusal(ValueError, "times must be an array", times=0.5)
    refusal(ValueError, "times must lie between t0 and t_end", times=[0.5, 1.5])
    own = {"t0": np.array([0.0, 0.9]), "times": [0.7, 1.0]}
    refusal(ValueError, r"got 0\.7 for 0\.9 \.\. 1\.0$", **own)  # of the trajectory
    refusal(ValueError, "times must be in order", times=[0.5, 0.2])


def test_methods_without_an_estimate():
    with pytest.raises(ValueError, match="no error estimate, .* solve takes .*verner87"):
        pi.solve(pi.systems.lorenz, t_end=1.0, method="rk4")
    with pytest.raises(ValueError, match="velocity_verlet|estimate"):
        pi.solve(pi.systems.oscillator, t_end=1.0, method="velocity_verlet")


@pytest.mark.parametrize("name", ["LSODA", "BDF", "ode15s", "odeint"])
def test_solvers_of_other_packages_are_answered_with_what_solve_takes(name):
    with pytest.raises(ValueError, match=f"'{name}'.* solve takes 'auto', or .*'radau_iia5'"):
        pi.solve(pi.systems.lorenz, t_end=1.0, method=name)


def test_what_is_not_there_is_refused():
    for one in (pi.watch.total("x"), pi.watch.count("x")):
        refusal(ValueError, f"pi.watch.{one.name} counts steps", watch={"w": one})
    refusal(ValueError, "includes each accepted step", watch={"w": pi.watch.mean("x", every=2)})
    refusal(ValueError, "events has 0 events", events={})
    refusal(ValueError, "do not broadcast", X0, watch={"w": pi.watch.mean("x", after=np.ones(3))})
    with pytest.raises(TypeError, match="t_eval"):
        pi.solve(pi.systems.lorenz, t_end=1.0, t_eval=[1.0])
    for word, cure in (("drive", "has the time as t, and breaks="), ("start", "pi.integrate and")):
        with pytest.raises(TypeError, match=f"solve takes no {word}: .*{cure}"):
            pi.solve(pi.systems.lorenz, t_end=1.0, **{word: 1})
    sol = pi.solve(pi.systems.lorenz, X0, t_end=1.0)
    for question in (lambda: sol.dt, lambda: sol.resume(n_steps=5)):
        with pytest.raises(ValueError, match="steps of one length"):
            question()
    with pytest.raises(ValueError, match="all accepted steps"):
        sol.at(0.5)


def test_a_tolerance_below_rounding_is_raised_with_a_warning():
    with pytest.warns(UserWarning, match="rtol = 1e-16 is below 100 rounding units of float64"):
        sol = pi.solve(pi.systems.oscillator, t_end=1.0, rtol=1e-16)
    assert sol.rtol == 100 * np.finfo(np.float64).eps


def test_an_estimate_that_does_not_see_the_time_is_told_of():
    """Of y' = cos(8 t) the error may be a million times the tolerance."""
    driven = pi.rhs(dim=1)(lambda t, y: (np.cos(8 * t),))
    with pytest.warns(UserWarning, match="estimate of 'fehlberg78' is zero for y' = f"):
        pi.solve(driven, [0.0], t_end=1.0, method="fehlberg78")
    pi.solve(pi.systems.kepler, t_end=1.0, method="fehlberg78")  # in silence


def test_out_takes_the_states():
    out = np.empty((3, 4, 3))
    sol = pi.solve(pi.systems.lorenz, X0, t_end=1.0, times=[0.0, 0.5, 1.0], out=out)
    plain = pi.solve(pi.systems.lorenz, X0, t_end=1.0, times=[0.0, 0.5, 1.0])
    assert np.array_equal(out, plain.y)
    assert np.shares_memory(sol.y, out)
    refusal(ValueError, "out has shape", X0, times=[0.0, 1.0], out=out)
    refusal(ValueError, "save='all'", X0, save="all", out=out)


def test_an_empty_batch_and_components():
    sol = pi.solve(pi.systems.lorenz, np.ones((0, 3)), t_end=1.0)
    assert sol.y.shape == (1, 0, 3)
    assert sol.status.shape == (0,)
    sol = pi.solve(pi.systems.lorenz, X0, t_end=1.0, components=["z"])
    assert sol.y.shape == (1, 4, 1)
    assert sol.final.shape == (4, 3)
