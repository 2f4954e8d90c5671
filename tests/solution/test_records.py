"""What needs more saves than there are is NaN with one warning; what has no answer is NaN."""

import warnings

import matplotlib
import numpy as np
import pytest

import pyintegrate as pi

matplotlib.use("Agg")
EULER = "semi_implicit_euler"
FAST = pi.systems.oscillator(omega=15**0.5)


def told(function):
    """A result, and the warnings that came with it."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        result = function()
    assert all(one.category is pi.RecordWarning for one in caught)
    assert all(one.filename == __file__ for one in caught)
    return result, [str(one.message) for one in caught]


def coarse(**options):
    """It turns by 0.0427 rad too many a step: 15.36 rad in all."""
    return pi.integrate(FAST, dt=0.25, t_end=90.0, method=EULER, **options)


# ---- phases --------------------------------------------------------------------------------------


@pytest.mark.parametrize("save", [100, "final"])
def test_turns_that_were_not_saved_are_not_guessed(save):
    drift, messages = told(lambda: pi.analysis.phase_drift(coarse(save=save)))
    assert np.isnan(drift[-1])
    (message,) = messages
    assert 'save="all"' in message


def test_the_interval_that_the_warning_names_is_enough():
    _, (message,) = told(lambda: pi.analysis.phase_drift(coarse(save=100)))
    k = int(message.split("up to ")[1].split(",")[0])
    drift, messages = told(lambda: pi.analysis.phase_drift(coarse(save=k)))
    assert not messages
    assert drift[-1] == pytest.approx(15.3638, abs=1e-4)


def motions(rng, name):
    """Eight motions of a system and about how fast they turn."""
    if name == "pendulum":  # some swing, some turn over
        start = np.stack([rng.uniform(-3, 3, 8), rng.uniform(-9, 9, 8)], axis=-1)
        return pi.systems.pendulum, start, 2.0
    if name == "kepler":  # from the pericentre of orbits of eccentricity up to 0.95, to anywhere
        e, where = rng.uniform(0, 0.95, 8), rng.uniform(0, 6.3, 8)
        start = np.stack([1 - e, 0 * e, 0 * e, ((1 + e) / (1 - e)) ** 0.5], axis=-1)
        orbit = pi.systems.kepler.exact(where[np.newaxis], start)[0]
        return pi.systems.kepler, orbit, 1.0
    k, b = rng.uniform(0.3, 15, 8), rng.uniform(0, 1, 8) * (name == "damped")
    return pi.systems.spring(k=k, b=b), rng.normal(size=(8, 2)), 2.0


@pytest.mark.parametrize("name", ["spring", "damped", "pendulum", "kepler"])
def test_a_phase_from_few_saves_is_that_of_all_or_nan(name):
    rng = np.random.default_rng(3)
    methods = ["rk4", EULER, "midpoint", "explicit_euler", "forest_ruth4", "adams_bashforth2"]
    right = lost = 0
    for _ in range(25):
        system, start, rate = motions(rng, name)
        n_steps = int(10 ** rng.uniform(2, 3.5))
        run = {"dt": 10 ** rng.uniform(-2.5, 0) / rate, "n_steps": n_steps}
        run |= {"method": str(rng.choice(methods)), "on_failure": "ignore"}
        every = pi.integrate(system, start, **run)
        full, _ = told(lambda every=every: pi.analysis.phase_drift(every))
        for save in ("final", int(10 ** rng.uniform(0.5, 2.5))):
            sol = pi.integrate(system, start, **run, save=save)
            drift, messages = told(lambda sol=sol: pi.analysis.phase_drift(sol))
            known = np.isfinite(drift)
            finite = known & np.isfinite(full[sol.steps])  # it may be lost and come back between
            # The same states: rounding of angles to 1e4 rad, where a turn lost would be 6 rad.
            assert drift[finite] == pytest.approx(full[sol.steps][finite], abs=1e-9)
            lost_here = np.isfinite(full[-1]) & ~known[-1]
            assert len(messages) >= lost_here.any()
            right, lost = right + known[-1].sum(), lost + lost_here.sum()
    assert right > 100  # of 400: the test is not empty in either way
    assert lost > 10


def test_a_reference_needs_saves_too():
    fine = pi.integrate(FAST, dt=0.025, t_end=90.0, save="final")
    drift, messages = told(lambda: pi.analysis.phase_drift(coarse(save="final"), fine))
    assert np.isnan(drift).all()
    assert len(messages) == 1
    good = pi.integrate(FAST, dt=0.025, t_end=90.0, method="velocity_verlet", save="final")
    drift, messages = told(lambda: pi.analysis.phase_drift(good, fine))
    # Velocity Verlet turns by 2 arcsin(z / 2) a step of z; RK4 lags by z^5 / 120.
    z = 15**0.5 * 0.025
    assert not messages
    assert drift[-1] == pytest.approx(3600 * (2 * np.arcsin(z / 2) - z), abs=0.01)


def test_a_period_needs_several_saves():
    error, messages = told(lambda: pi.analysis.period_error(coarse(save="final")))
    assert np.isnan(error)
    (message,) = messages
    assert "one save" in message
    spring = pi.systems.duffing(alpha=15.0, beta=0.0, delta=0.0, gamma=0.0)
    few = pi.integrate(spring, dt=0.25, t_end=90.0, save=100, method="semi_implicit_euler")
    fine = pi.integrate(spring, dt=0.025, t_end=90.0, save=1000)
    error, messages = told(lambda: pi.analysis.period_error(few, fine))
    assert np.isnan(error)
    assert len(messages) == 1


# ---- largest errors ------------------------------------------------------------------------------


def compared(save):
    return pi.compare(FAST, dt=0.25, t_end=90.0, save=save)


@pytest.mark.parametrize(
    ("save", "heading"),
    [
        ("all", "max energy error"),
        (100, "max energy error of the saves"),
        ("final", "max energy error"),  # which a comparison watches
    ],
)
def test_a_table_says_what_its_errors_are(save, heading):
    table, messages = told(lambda: compared(save).table())
    assert heading in table.columns
    assert len(messages) == (save == 100)
    row = dict(zip(table.columns, table.rows[2], strict=True))
    sol = coarse(save="all" if save == "final" else save)
    assert float(row[heading]) == pytest.approx(np.abs(sol.energy_error()).max(), rel=1e-5)


def test_the_largest_error_of_a_run_of_which_the_end_was_saved_is_not_known():
    summary, _ = told(lambda: compared("final").summary()[EULER])
    assert np.isnan(summary["max_position_error"])  # nobody watches where the exact motion is
    assert summary["max_energy_error"] == np.abs(coarse().energy_error()).max()
    drift, messages = told(lambda: pi.analysis.energy_drift(coarse(save="final")))
    assert len(messages) == 1
    assert np.isnan([drift.largest, drift.largest_time, drift.slope]).all()
    assert drift.final == coarse(save="final").energy_error()[-1]


@pytest.mark.parametrize(("save", "words"), [(100, " of the saves")])
def test_pictures_say_what_their_errors_are(save, words):

    for draw in (pi.plots.dashboard, pi.plots.comparison):
        axes, messages = told(lambda draw=draw: draw(compared(save)))
        assert len(messages) == 1
        if draw is pi.plots.dashboard:
            labels = [" ".join(ax.get_ylabel().split()) for ax in axes[1, 1:]]  # lines are broken
            assert all(words in label for label in labels)


def test_heat_maps_of_a_run_of_which_the_end_was_saved():

    springs = pi.systems.spring(k=np.linspace(1, 15, 5), b=np.zeros((4, 1)))
    run = {"dt": 0.25, "n_steps": 360, "method": EULER}
    sol, all_saved = (pi.integrate(springs, **run, save=save) for save in ("final", "all"))
    drift = np.abs(pi.analysis.phase_drift(all_saved)[-1])
    for quantity, words in [
        ("energy_error", "energy error at the end"),
        ("position_error", "position error at the end"),
        ("phase_error", "phase error at the end"),
        ("period_error", "error of the period"),
    ]:
        ax, messages = told(lambda quantity=quantity: pi.plots.heatmap(sol, quantity))
        assert len(messages) == (quantity in ("phase_error", "period_error"))
        assert words in ax.figure.axes[-1].get_ylabel()
        drawn = np.ma.filled(ax.collections[0].get_array().astype(float), np.nan).reshape(4, 5)
        if quantity == "phase_error":
            known = np.isfinite(drawn)
            assert drawn[known] == pytest.approx(drift[known], rel=1e-9)
            assert not known[drift > np.pi].any()
        elif quantity == "period_error":
            assert np.isnan(drawn).all()


# ---- no answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("system", [pi.systems.oscillator, pi.systems.spring, pi.systems.pendulum])
def test_what_rests_has_no_phase_and_no_period(system, dtype):
    sol = pi.integrate(system, [0.0, 1.0], 0.0, dt=0.01, n_steps=1000, dtype=dtype)
    drift, error = pi.analysis.phase_drift(sol), pi.analysis.period_error(sol)
    assert np.isnan(drift[:, 0]).all()
    assert np.isnan(error[0])
    assert np.abs(drift[:, 1]).max() < 0.01
    assert abs(error[1]) < 1e-3
    alone = pi.integrate(system, 0.0, 0.0, dt=0.01, n_steps=10)
    assert np.isnan(pi.analysis.phase_drift(alone)).all()
    assert np.isnan(pi.analysis.period_error(alone))
    fine = pi.integrate(system, [0.0, 1.0], 0.0, dt=0.005, n_steps=2000, save=2, dtype=dtype)
    assert np.isnan(pi.analysis.phase_drift(sol, fine)[:, 0]).all()


def test_a_motion_that_has_died_has_no_phase():
    # Implicit Euler divides by about 1000 a step: 1e-45 is the least of float32.
    stiff = pi.systems.spring(k=1e6, b=1.0)
    sol = pi.integrate(stiff, dt=1.0, n_steps=40, method="implicit_euler", dtype=np.float32)
    rest = ~sol.y.any(axis=-1)
    assert rest[-1]
    with pytest.warns(pi.RecordWarning, match="the motion has died"):
        assert np.isnan(pi.analysis.phase_drift(sol)[rest]).all()


@pytest.mark.parametrize("theta", [0.0, 1.0, -2.5, np.pi])
def test_the_separatrix_has_no_period(theta):
    # omega = 2 omega0 cos(theta / 2): it comes to the top, and never over it.
    omega = 2 * 9.81**0.5 * np.cos(theta / 2) * (theta != np.pi)
    assert pi.systems.pendulum.period([theta, omega]) == np.inf
    sol = pi.integrate(pi.systems.pendulum, theta, omega, dt=0.01, n_steps=500)
    assert np.isnan(pi.analysis.period_error(sol))
    assert np.isnan(pi.analysis.phase_drift(sol)).all()


@pytest.mark.parametrize("dt", [0.01, -0.01])
def test_a_section_counts_crossings_in_the_order_of_the_steps(dt):
    # Both ways in time x = cos(t): the steps first take it down, then up.
    sol = pi.integrate(pi.systems.oscillator, dt=dt, n_steps=1000)
    up, down = (pi.analysis.poincare_section(sol, "x", direction=d) for d in (1, -1))
    # RK4 lags by 1e-10 of the time, the cubic is off by 1e-10 / 384.
    assert up.t == pytest.approx(np.sign(dt) * np.array([1.5]) * np.pi, abs=1e-8)
    assert down.t == pytest.approx(np.sign(dt) * np.array([0.5, 2.5]) * np.pi, abs=1e-8)
