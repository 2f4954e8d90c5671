"""pi.advise tells the kinds of motion apart, and every step that it names keeps the error."""

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.analysis.accuracy import distance, follow
from pyintegrate.analysis.advice import TIMES, nature

S = pi.systems
ERROR = 1e-5


@pi.rhs(dim=3, initial=[1.0, 0.0, 0.0])
def robertson(t, y):
    a, b, c = y
    return -0.04 * a + 1e4 * b * c, 0.04 * a - 1e4 * b * c - 3e7 * b * b, 3e7 * b * b


@pi.hamiltonian(dof=1, initial=[0.5, 0.0])
def product(q, p):
    return (q * q + p * p) / 2 + q * q * p * p / 4


STIFF = {
    "robertson": (robertson, 10.0),
    "van der Pol, mu = 1000": (S.van_der_pol(mu=1000.0), 1.0),
    "spring, critically damped": (S.spring(k=1e6, b=2e3), 1.0),
    "spring, over-damped": (S.spring(k=1e4, b=1e3), 1.0),
}
EASY = {
    "lorenz": (S.lorenz, 5.0),
    "kepler": (S.kepler, 6.0),
    "van der Pol, mu = 1": (S.van_der_pol, 20.0),
    "spring": (S.spring, 20.0),
    "fast oscillator": (S.oscillator(omega=1e3), 1.0),
    "logistic": (S.logistic, 10.0),
    "at rest": (S.spring(k=100.0)(b=0.0), 1.0),
}


def advice_of(system, t_end, **options):
    return pi.advise(system, t_end=t_end, **{"error": ERROR} | options)


def keeps_its_promises(advice, error=ERROR):
    """Runs of their own end where a far finer run ends."""
    system, span = advice.system, advice.t_end - advice.t0
    truth = follow(system, None, None, advice.t0, advice.t_end, TIMES, error)
    for name, one in advice.items():
        sol = pi.integrate(
            system, dt=one.dt, t0=advice.t0, n_steps=one.n_steps, method=name,
            save=one.n_steps // TIMES, on_failure="ignore",
        )  # fmt: skip
        assert one.dt * one.n_steps == pytest.approx(span)
        assert np.all(sol.status == 0), name
        assert distance(sol.y, truth.truth, system.positions, truth.size) <= error * (1 + 1e-6), (
            name
        )
        assert sol.evaluations == one.evaluations


def worst(advice):
    """The largest error of any step of the recommended run."""
    one = advice[advice.best]
    run = {"dt": one.dt, "n_steps": one.n_steps, "method": advice.best}
    sol = pi.integrate(advice.system, **run)
    return np.max(np.abs(sol.x - sol.exact()[:, 0]))


def test_of_a_motion_that_dies_out_it_says_what_was_not_looked_at():
    advice = pi.advise(pi.systems.spring, t_end=2000.0, error=ERROR)
    (told,) = (line for line in advice.reasons if "at rest" in line)
    assert worst(advice) > 5 * ERROR
    again = pi.advise(pi.systems.spring, t_end=float(told.partition("t_end=")[2]), error=ERROR)
    assert "at rest" not in str(again)
    assert worst(again) < 3 * ERROR
    for found in (
        pi.analysis.advise_dt(pi.systems.spring, ERROR, "rk4", t_end=2000.0),
        pi.analysis.convergence(pi.systems.spring, "rk4", t_end=2000.0),
        pi.analysis.work_precision(pi.systems.spring, "rk4", t_end=2000.0, seconds=False),
    ):
        assert "for the way there give t_end=" in str(found)
    assert "at rest" not in str(pi.analysis.convergence(pi.systems.spring, "rk4", t_end=20.0))


@pytest.mark.parametrize("name", STIFF)
def test_a_stiff_motion_gets_implicit_methods(name):
    advice = advice_of(*STIFF[name])
    assert advice.nature.stiff
    assert not advice.nature.chaotic
    assert pi.methods[advice.best].implicit
    assert "stiff" in str(advice)
    explicit = [one.n_steps for name, one in advice.items() if not pi.methods[name].implicit]
    assert min(explicit) > 3 * advice[advice.best].n_steps  # what stability costs
    keeps_its_promises(advice)


@pytest.mark.parametrize("name", EASY)
def test_what_is_not_stiff_is_not_called_so(name):
    advice = advice_of(*EASY[name])
    assert not advice.nature.stiff
    assert not any(pi.methods[name].implicit for name in advice)
    keeps_its_promises(advice)


@pytest.mark.parametrize(
    ("system", "t_end"), [(S.kepler, 500.0), (S.pendulum, 300.0), (product, 300.0)], ids=str
)
def test_a_long_run_that_conserves_energy_gets_a_symplectic_method(system, t_end):
    advice = advice_of(system, t_end, error=1e-4)
    assert advice.nature.conservative
    assert advice.nature.turns > 30
    assert pi.methods[advice.best].symplectic
    assert "long run" in str(advice)
    keeps_its_promises(advice, 1e-4)


def test_turns_are_revolutions():
    turns = nature(follow(S.oscillator(omega=2 * np.pi), None, None, 0.0, 40.0, TIMES, ERROR)).turns
    assert turns == pytest.approx(40, rel=1e-6)


def test_no_system_with_an_energy_is_said_to_have_none():
    """In the coordinates of a double pendulum its flow does not conserve volumes."""
    assert "no energy" not in str(pi.advise(S.double_pendulum, t_end=2.0))
    assert "no energy" in str(pi.advise(S.lotka_volterra(a=1.0), [1.1, 1.0], t_end=2.0))


def test_a_short_smooth_run_gets_a_high_order():
    for system in (S.kepler, S.lorenz):
        assert pi.methods[advice_of(system, 5.0, error=1e-8).best].order >= 6


def test_chaos_is_told_from_stiffness_and_from_length():
    advice = advice_of(S.lorenz, 60.0)
    assert advice.nature.chaotic
    assert not advice.nature.stiff
    assert 0.6 < advice.nature.lyapunov < 1.3  # 0.906 over long times
    assert advice.t_end < 60.0  # e^(0.9 60) times rounding is more than the motion
    assert "chaotic" in str(advice)
    keeps_its_promises(advice)
    assert not nature(follow(S.kepler, None, None, 0.0, 1000.0, TIMES, ERROR)).chaotic


def test_a_rigid_body_gets_a_rule_for_rigid_bodies():
    body = S.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1 / 2, 1 / 3))
    start = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0.01, 1, 0]
    advice = pi.advise(body, start, t_end=5.0, error=1e-4)
    assert pi.methods[advice.best].requires == "rigid_body"


def test_the_table_has_reasons_and_exact_steps():
    advice = advice_of(S.kepler, 5.0)
    assert advice.table().columns == ("method", "dt [s]", "steps", "evaluations", "error", "why")
    assert all(reason in str(advice) for reason in advice.why.values())
    assert "<table>" in advice._repr_html_()
    assert list(advice) == [row[0] for row in advice.table().rows]


def test_advise_dt_says_that_a_motion_is_stiff_and_not_chaotic(monkeypatch):
    """Where the truth is not known well enough; where it is, it gives steps, if tiny ones."""
    found = pi.analysis.advise_dt(robertson, 1e-4, ["radau_iia5", "rk4"], t_end=10.0)
    assert found.best == "radau_iia5"
    monkeypatch.setattr("pyintegrate.analysis.accuracy.CLOSEST", 1e-9)
    with pytest.raises(ValueError, match="it is stiff.*'radau_iia5'") as caught:
        pi.analysis.advise_dt(robertson, 1e-12, ["rk4"], t_end=1e3)
    assert "chaotic" not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"error": 2.0}, ValueError, "error must be between"),
        ({"t_end": 0.0}, ValueError, "t_end must be one finite time"),
        ({"t_end": [1.0, 2.0]}, ValueError, "t_end must be one finite time"),
        ({"x0": [1.0, 2.0, 3.0]}, ValueError, "x0 has shape"),
    ],
    ids=str,
)
def test_wrong_arguments_are_named(wrong, error, words):
    with pytest.raises(error, match=words):
        pi.advise(S.kepler, **{"t_end": 1.0} | wrong)


def test_a_plain_function_is_told_the_decorators():
    with pytest.raises(TypeError, match="@pi.rhs"):
        pi.advise(lambda t, y: -y, [1.0], t_end=1.0)
