"""A Solution answers what it is asked, in the shapes that it promises, and goes on from its end."""

import pickle

import numpy as np
import pytest
from reference import COVERING, KERNELS, POINT_METHODS, names, states

import pyintegrate as pi

OSCILLATOR, SPRING, KEPLER = pi.systems.oscillator, pi.systems.spring, pi.systems.kepler
LORENZ = pi.systems.lorenz
every_system = pytest.mark.parametrize("system", pi.systems.values(), ids=list(pi.systems))
kernel = pytest.mark.parametrize(("method", "system"), KERNELS, ids=names(KERNELS))
covering = pytest.mark.parametrize(("method", "system"), COVERING, ids=names(COVERING))


def run(system=OSCILLATOR, *state, dt=0.1, n_steps=10, **options):
    return pi.integrate(system, *state, dt=dt, n_steps=n_steps, **options)


def test_a_solution_is_taken_for_no_function():
    for sol in (run(), pi.solve(OSCILLATOR, t_end=1.0)):
        with pytest.raises(TypeError, match=r"not a solution: that of a solution is sol\.system$"):
            pi.solve(sol, t_end=1.0)
        with pytest.raises(TypeError, match="events must map names to events"):
            run(events=sol)


# ---- arrays --------------------------------------------------------------------------------------


@every_system
@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (1, 1, 4)])
@pytest.mark.parametrize(("save", "saved"), [("all", 8), ("final", 1), (3, 4)])
def test_arrays_have_the_shapes_of_the_contract(system, batch, save, saved):
    sol = run(system, states(system, batch), dt=1e-3, n_steps=7, save=save)
    assert sol.y.shape == (saved, *batch, system.dim)
    assert sol.initial.shape == sol.final.shape == (*batch, system.dim)
    assert sol.status.shape == sol.failed_step.shape == batch
    assert sol.valid.shape == (saved, *batch)
    assert sol.t.shape == sol.steps.shape == (saved,)
    assert len(sol) == saved
    assert (sol.status.dtype, sol.failed_step.dtype) == (np.int8, np.int64)
    assert sol.valid.dtype == bool
    assert np.issubdtype(sol.steps.dtype, np.integer)
    assert np.array_equal(sol.final, sol.y[-1])
    if batch and batch[-1] > 1:  # each component contiguous in memory
        assert sol.y[..., 0].strides[-1] == sol.y.itemsize
    with pytest.raises(ValueError, match="read-only"):
        sol.initial[...] = 0


@every_system
def test_components_have_names_and_vectors_attributes(system):
    sol = run(system, states(system, (4,)), dt=1e-3)
    for d, name in enumerate(system.state_names):
        assert np.array_equal(sol[name], sol.y[..., d])
        assert np.shares_memory(sol[name], sol.y)
    with pytest.raises(KeyError, match=system.state_names[0]):
        sol["nothing"]
    with pytest.raises(TypeError, match="name of a component"):
        sol[0]
    if system.dof == 0:
        with pytest.raises(AttributeError, match="first_order"):
            sol.x  # noqa: B018
        assert not hasattr(sol, "v")
        return
    halves = sol.y[..., : system.positions], sol.y[..., system.positions :]
    x, v = (half[..., 0] if system.dof == 1 else half for half in halves)
    assert np.array_equal(sol.x, x)
    assert np.array_equal(sol.v, v)


def test_times_are_products_and_have_the_batch_only_where_they_differ():
    y = np.ones((2, 3, 2))
    assert run(OSCILLATOR, y, t0=5.0).t.tolist() == [5.0 + n * 0.1 for n in range(11)]
    assert run(OSCILLATOR(omega=np.ones((2, 3))), y, dtype=np.float32).t.dtype == np.float64
    dt, t0 = np.array([0.1, 0.2, -0.3]), np.array([[1.0], [2.0]])
    assert run(OSCILLATOR, y, dt=dt).t.shape == (11, 2, 3)
    sol = run(OSCILLATOR, y, dt=dt, t0=t0, save=5)
    assert np.array_equal(sol.t, t0 + np.array([0, 5, 10])[:, None, None] * dt)


def test_what_was_asked_for_is_kept():
    sol = run(SPRING(k=2.0), dt=0.25, n_steps=3, t0=1.5, method="velocity_verlet")
    assert sol.system == SPRING(k=2.0)
    assert sol.method is pi.methods["velocity_verlet"]
    assert (sol.dt, sol.t0, sol.n_steps) == (0.25, 1.5, 3)


# ---- force evaluations ---------------------------------------------------------------------------


def counted(method, system, n_steps):
    """How often the force must be evaluated, followed by hand.

    A stage of a Runge-Kutta method must if the step depends on it. A kick must if the position has
    changed since the last evaluation, or if the force sees the velocity.
    """
    c = method.coefficients
    if method.family == "multistep":
        return counted_multistep(method, n_steps)
    if method.family == "implicit_rk":  # in one iteration; the last stage may be the next first
        shared = not any(c["A"][0]) and c["A"][-1] == c["b"]
        return n_steps * (method.stages - shared) + (shared and n_steps > 0)
    if method.family in ("explicit_rk", "nystrom", "rosenbrock"):
        weights = zip(c["b"], c.get("velocity", c["b"]), strict=True)
        needed = {s for s, both in enumerate(weights) if any(both)}
        for s in reversed(range(method.stages)):
            needed |= {j for j, a in enumerate(c["A"][s]) if a and s in needed}
        return n_steps * len(needed)
    count, fresh = 0, False
    for kick, drift in [*zip(c["kick"], c["drift"], strict=True)] * n_steps:
        if kick:
            count += not fresh or system.velocity_dependent
            fresh = True
        if drift:
            fresh = False
    return count


def counted_multistep(method, n_steps):
    """Steps of another method, each with the force it starts from, then its own."""
    c, steps = method.coefficients, method.stages
    kept, count = False, 0
    for n in range(n_steps):
        if n < steps - 1 and not method.starts_from_positions:
            orders = method.order + method.derivative
            other = "verner87" if orders > 7 else "dormand_prince54"
            count += 1 + pi.methods["radau_iia5" if method.implicit else other].evaluations
            continue
        needed = any(c["beta"][:-1]) or any(c["predictor"]) or method.derivative == 2
        count += needed and not kept
        count += bool(c["beta"][-1]) and not c["velocity"]  # at the new state, or predicted
        kept = method.derivative == 2 and not method.backward  # the force at the end: the velocity
        count += kept
        if method.implicit and method.derivative == 1:  # what Newton ended with
            kept = True
    return count


@covering
def test_evaluations_are_counted_with_those_that_steps_share(method, system):
    for n_steps in (0, 1, 2, 50):
        sol = run(system, dt=1e-3, n_steps=n_steps, method=method)
        assert sol.evaluations == counted(method, system, n_steps)


@pytest.mark.parametrize("method", POINT_METHODS, ids=str)
def test_evaluations_a_step_are_those_of_a_long_run(method):
    assert counted(method, KEPLER, 1001) - counted(method, KEPLER, 1000) == method.evaluations


# ---- energy and error ----------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-150, 1e-100, 1e100, 1e150, 1e160, 1e300])
def test_the_energy_error_of_the_same_motion_at_any_scale_is_the_same_or_unknown(scale):
    """E ~ x^2: beyond 1e154 it overflows, below 1e-154 it has lost digits or is 0."""
    spring = pi.systems.spring(k=15.0, b=0.1)
    one, other = (pi.integrate(spring, x, 0.0, dt=0.01, n_steps=300) for x in (1.0, scale))
    error = other.energy_error()
    if 1e-154 < scale < 1e154:
        # Damped to 0.73: some roundings of E, each of 1e-16, and of the motion over 300 steps.
        assert error == pytest.approx(one.energy_error(), abs=300 * 1e-16)
    elif scale == 1e-300:
        assert np.all(other.energy() == 0)  # E - E0, as documented
        assert np.all(error == 0)
    else:
        assert np.all(np.isnan(error))
        assert np.isnan(pi.analysis.energy_drift(other).largest)


def test_energy_error_is_signed_and_relative_to_the_start():
    sol = run(OSCILLATOR(omega=[1.0, 2.0]), 1.0, 0.0, method="explicit_euler")
    energy = sol.energy()
    assert energy.shape == (11, 2)
    assert np.allclose(energy[1:] / energy[:-1], 1 + 0.01 * np.array([1, 4]), rtol=1e-14, atol=0)
    assert np.allclose(sol.energy_error(), energy / energy[0] - 1, atol=1e-15, rtol=0)
    down = run(pi.systems.kepler, method="explicit_euler")  # a negative energy that grows
    assert down.energy()[0] < 0
    assert np.all(np.diff(down.energy_error()) > 0)


def test_energy_error_is_absolute_where_the_energy_is_zero():
    sol = run(pi.systems.constant_force, 0.0, 0.0, method="explicit_euler", dt=1.0)
    assert sol.energy()[0] == 0
    assert np.array_equal(sol.energy_error(), sol.energy())


@every_system
def test_the_exact_solution_begins_with_the_initial_state(system):
    sol = run(system, states(system, (2, 3)), dt=[1e-3, 2e-3, -1e-3], t0=0.5, method="rk4")
    if system.exact([0.0], system.initial) is None:
        for question in (sol.exact, sol.error):
            with pytest.raises(ValueError, match=f"{system.name}.*no exact solution"):
                question()
        return
    assert sol.exact().shape == sol.error().shape == sol.y.shape
    assert np.array_equal(sol.error(), sol.y - sol.exact())
    # rk4 leaves (lambda h)^5 of 1e-12 a step; the exact solution some ulps of up to 10.
    assert abs(sol.error()).max() < 1e-10


def test_questions_without_an_answer_are_value_errors():
    sol = run(LORENZ, dt=1e-3)
    for question in (sol.energy, sol.energy_error):
        with pytest.raises(ValueError, match="lorenz.*no energy"):
            question()


# ---- between the saves ---------------------------------------------------------------------------


@pytest.mark.parametrize("save", ["all", 2, 3])
@pytest.mark.parametrize("dt", [0.125, -0.125, np.array([0.125, 0.25])])
def test_at_gives_the_saved_states_at_their_times(save, dt):
    sol = run(KEPLER, states(KEPLER, (2,)), dt=dt, t0=1.0, save=save)
    if np.ndim(dt) == 0:
        assert sol.at(sol.t) == pytest.approx(sol.y, abs=1e-14)
    for i in range(2):
        t = sol.t if sol.t.ndim == 1 else sol.t[: len(sol) // 2, i]
        assert sol.at(t)[:, i] == pytest.approx(sol.y[: len(t), i], abs=1e-14)


def test_between_distant_saves_at_is_exact_for_parabolas_and_of_order_four_otherwise():
    fall = run(pi.systems.projectile, save=5)
    t = np.linspace(0, 1, 37)
    assert fall.at(t) == pytest.approx(pi.systems.projectile.exact(t, fall.initial), abs=1e-13)
    errors = []
    for n in (20, 40, 80):
        sol = run(n_steps=n, dt=1 / n, method="tsitouras54", save=2)
        errors.append(abs(sol.at(t) - OSCILLATOR.exact(t, sol.initial)).max())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders == pytest.approx([4, 4], abs=0.2)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (0,)])
def test_at_takes_times_of_any_shape(shape):
    for batch in [(), (4,), (2, 2)]:
        sol = run(OSCILLATOR, np.ones((*batch, 2), np.float32))
        found = sol.at(np.full(shape, 0.55))
        assert found.shape == (*shape, *batch, 2)
        assert found.dtype == np.float32
        assert sol.at(np.full(shape, 0.55), derivative=True).shape == found.shape


def test_the_derivative_at_a_time_is_that_of_the_states():
    system, h = pi.systems.driven_pendulum(omega0=[1.0, 2.0, 3.0]), 1e-5
    sol = run(system, states(system, (3,)), t0=np.array([0.0, 0.0, 0.5]), n_steps=10, dt=0.1)
    t = np.array([[0.55, 0.61], [0.72, 0.93]])
    slopes = (sol.at(t + h) - sol.at(t - h)) / (2 * h)
    # A cubic's slope is wrong by sqrt(3) / 216 dt^3 w^4 |y|, w = 3 and its overtones.
    assert sol.at(t, derivative=True) == pytest.approx(slopes, abs=2e-3 * abs(sol.y).max())
    assert sol.at(sol.t[0, 2], derivative=True)[2] == pytest.approx(
        system.rhs(sol.t[0], sol.initial)[2], abs=1e-14)  # fmt: skip
    driven = pi.integrate(OSCILLATOR, dt=0.1, n_steps=5, drive={"omega": np.ones(5)})
    with pytest.raises(ValueError, match="derivative=True gives f.*drive="):
        driven.at(0.2, derivative=True)
    with pytest.raises(TypeError, match="derivative must be True or False, got 'yes'"):
        sol.at(0.6, derivative="yes")


@pytest.mark.parametrize("t", [-0.01, 1.01, np.nan, np.inf, [0.5, 1.01]])
def test_at_refuses_times_outside_the_saved_ones(t):
    with pytest.raises(ValueError, match=r"outside the saved times 0\.0 \.\. 1\.0"):
        run().at(t)


def test_at_needs_two_saves_and_real_times():
    with pytest.raises(ValueError, match=r"two saved states.*save="):
        run(save="final").at(1.0)
    with pytest.raises(TypeError, match="t must hold real numbers"):
        run().at("noon")


# ---- going on ------------------------------------------------------------------------------------


def test_resume_begins_with_the_old_end_and_numbers_onwards():
    first = run(SPRING, states(SPRING, (3,)), t0=2.0, save=4)
    more = first.resume(t_end=4.5)
    assert first.steps.tolist() == [0, 4, 8, 10]
    assert more.steps.tolist() == [10, 14, 18, 22, 25]
    assert more.n_steps == 15
    assert more.t[-1] == 2.0 + 25 * 0.1
    assert np.array_equal(more.initial, first.final)
    assert np.array_equal(more.y[0], first.final)
    assert more.y.dtype == first.y.dtype
    assert np.array_equal(more.origin, first.initial)
    assert np.array_equal(more.energy_error()[0], first.energy_error()[-1])
    assert np.array_equal(more.error()[0], first.error()[-1])


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({}, ValueError, "exactly one"),
        ({"n_steps": 1, "t_end": 2.0}, ValueError, "exactly one"),
        ({"n_steps": -1}, ValueError, "n_steps must be at least 0"),
        ({"n_steps": 1.0}, TypeError, "n_steps must be an integer"),
        ({"t_end": 0.5}, ValueError, "5 steps before"),
        ({"t_end": 1.25}, ValueError, "not a whole"),
        ({"t_end": -1.0}, ValueError, "behind"),
        ({"t_end": [1.5, 2.0]}, ValueError, "same number of steps"),
        ({"t_end": "2"}, TypeError, "t_end must hold real numbers"),
        ({"t_end": float("nan")}, ValueError, "t_end must be finite"),
        ({"t_end": [1.5] * 3, "n_steps": None}, ValueError, "t_end.*broadcast"),
    ],
)
def test_resume_refuses_wrong_arguments_by_name(options, kind, words):
    with pytest.raises(kind, match=words):
        run(OSCILLATOR, np.ones((2, 2))).resume(**options)


def test_resume_does_not_modify_the_solution():
    sol = run(save="final")
    before = sol.final.copy()
    sol.resume(n_steps=5)
    assert np.array_equal(sol.final, before)


# ---- printing and pickling -----------------------------------------------------------------------


@kernel
def test_a_solution_prints_itself(method, system):
    sol = run(system, states(system, (2, 3)), dt=1e-3, method=method)
    text, html = repr(sol), sol._repr_html_()
    for part in (system.name, method.name, "10 steps", "dt = 0.001", "11 saved", "6 trajectories"):
        assert part in text
    assert "failed" not in text
    assert method.name in html
    assert html.count("<tr>") == html.count("</tr>") > 3


def test_a_solution_prints_its_failures_and_its_single_trajectory():
    sol = run(OSCILLATOR, [[1.0, np.nan], [1.0, 0.0]], on_failure="ignore", dt=[0.1, 0.2])
    assert "1 failed" in repr(sol)
    assert "dt = 0.1 .. 0.2" in repr(sol)
    assert "1 NOT_FINITE" in sol._repr_html_()
    assert "1 trajectory>" in repr(run())


@pytest.mark.parametrize("save", ["all", "final", 3])
@pytest.mark.parametrize("method", ["rk4", "mine", "ours"])
def test_a_solution_can_be_pickled_and_goes_on(save, method):
    method = {
        "mine": pi.RungeKutta([[0, 0], [0.5, 0]], [0, 1]),
        "ours": pi.Composition([("drift", 0.3), ("kick", 1.0), ("drift", 0.7)]),
    }.get(method, method)
    y = states(SPRING, (5,))
    y[2, 0] = np.nan
    sol = run(SPRING(k=np.arange(1.0, 6.0)), y, save=save, method=method, on_failure="ignore",
              progress=lambda done, total: None)  # fmt: skip
    again = pickle.loads(pickle.dumps(sol))
    for name in ("t", "steps", "y", "initial", "final", "status", "failed_step", "valid"):
        assert getattr(again, name).tobytes() == getattr(sol, name).tobytes()
    assert repr(again) == repr(sol)
    assert again.evaluations == sol.evaluations
    longer = sol.resume(n_steps=20)
    assert again.resume(n_steps=20).y.tobytes() == longer.y.tobytes()


# ---- both kinds ----------------------------------------------------------------------------------


def both_kinds():
    y = np.array([[1.0, 0.0], [2.0, 0.5]])
    return [
        pi.integrate(pi.systems.oscillator, y, dt=0.1, n_steps=9),
        pi.solve(pi.systems.oscillator, y, t_end=0.9, save="all"),
    ]


def test_fixed_steps_and_steps_to_a_tolerance_are_siblings():
    fixed, adaptive = both_kinds()
    assert isinstance(fixed, pi.Solution)
    assert isinstance(adaptive, pi.Solution)
    assert type(fixed).__bases__ == type(adaptive).__bases__ == (pi.Solution,)


@pytest.mark.parametrize("which", [0, 1])
def test_no_attribute_raises_because_the_other_kind_has_it(which):
    """But for what a run was not asked for: sensitivities."""
    sol = both_kinds()[which]
    public = [name for name in dir(sol) if name[0] != "_" and name != "sensitivity"]
    assert {"t", "steps", "y", "n_steps", "evaluations", "events", "seed"} <= {*public}
    for name in public:
        getattr(sol, name)


def test_what_only_the_other_kind_has_is_missing_and_says_where_to_look():
    fixed, adaptive = both_kinds()
    assert not hasattr(adaptive, "dt")
    assert "dt" not in dir(adaptive)
    with pytest.raises(AttributeError, match=r"no 'dt': every trajectory took its own steps"):
        adaptive.dt  # noqa: B018
    with pytest.raises(ValueError, match="no 'dt'"):  # so that what needs it is refused
        adaptive.dt  # noqa: B018
    assert not hasattr(fixed, "rtol")
    with pytest.raises(TypeError, match=r"resume takes no drive"):
        adaptive.resume(t_end=2.0, drive={})


@pytest.mark.parametrize("which", [0, 1])
def test_a_file_takes_three_modules(which, tmp_path):
    """Besides those of the solution itself, of numbers and of systems."""
    import cProfile
    import pstats
    from pathlib import Path

    sol = both_kinds()[which]
    pi.load(sol.save(tmp_path / "a.npz") or tmp_path / "a.npz")  # all is imported
    profile = cProfile.Profile()
    profile.runcall(lambda: pi.load(sol.save(tmp_path / "a.npz") or tmp_path / "a.npz"))
    seen = {Path(file) for file, _, _ in pstats.Stats(profile).stats}
    folder = Path(pi.__file__).parent / "solution"
    names = {file.name for file in seen if file.parent == folder}
    of_solutions = {"solution.py", "fixed_steps.py", "jumps.py", "origin.py"}
    assert names - of_solutions == {"files.py", "plain_data.py", "storage.py"}


def test_the_energy_of_a_stopped_state_is_that_of_its_time():
    @pi.acceleration(energy=lambda t, x, v: v * v / 2 + x * np.cos(t))
    def pushed(t, x, v):
        return -np.cos(t)

    stop = {"half": pi.event(lambda t, x, v: x - 0.5, stop=True)}
    sol = run(pushed, 1.0, 0.0, n_steps=40, events=stop)
    (x, v), t = sol.final, sol.stopped_at
    assert t < 2
    assert sol.energy()[-1] == v * v / 2 + x * np.cos(t)
