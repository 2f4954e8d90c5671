"""Those who come from SciPy are told what to write here; signatures stay as they are."""

import inspect
import pickle

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.values.keywords import _ELSEWHERE, RESULTS

OSCILLATOR = pi.systems.oscillator


def run_integrate(**wrong):
    return pi.integrate(OSCILLATOR, dt=0.1, n_steps=2, **wrong)


def run_compare(**wrong):
    return pi.compare(OSCILLATOR, dt=0.1, n_steps=2, **wrong)


def run_stepper(**wrong):
    return pi.Stepper(OSCILLATOR, dt=0.1, **wrong)


calls = pytest.mark.parametrize("call", [run_integrate, run_compare, run_stepper])
NAMES = {run_integrate: "integrate", run_compare: "compare", run_stepper: "Stepper"}


@calls
@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("y0", "x0"),
        ("x_0", "give the start as x0"),
        ("args", "parameters belong to the system"),
        ("t_eval", "times="),
        ("t_span", "t_end"),
        ("rtol", "the step is fixed"),
        ("atol", "the step is fixed"),
        ("tol", "the step is fixed"),
        ("fun", "@pi.rhs"),
        ("N", "n_steps"),
        ("dt0", "the step is fixed"),
        ("num_envs", "x0 of shape"),
        ("boundd", "did you mean bound?"),
        ("xyzzy", "it takes system, x0, v0"),
    ],
)
def test_a_word_of_scipy_is_answered_with_what_to_write_here(call, word, says):
    with pytest.raises(TypeError, match=f"^{NAMES[call]} takes no {word}: ") as caught:
        call(**{word: (1.0, 2.0)})
    assert says in str(caught.value)
    assert caught.value.__context__ is None  # one short traceback


def test_several_words_are_all_answered():
    with pytest.raises(TypeError) as caught:
        pi.integrate(fun=lambda t, y: -y, t_span=(0, 10), y0=[1.0], rtol=1e-6)
    for word in ("fun", "t_span", "y0", "rtol"):
        assert f"integrate takes no {word}: " in str(caught.value)


def decay(t, y):
    return -y


@pytest.mark.parametrize("call", [pi.integrate, pi.compare, pi.Stepper])
def test_a_plain_function_is_told_the_decorators(call):
    with pytest.raises(TypeError, match="must be a System, got function.*@pi.rhs.*@pi.accel"):
        call(decay, [1.0], dt=0.1)


@pytest.mark.parametrize("call", [pi.integrate, pi.compare, pi.Stepper])
def test_the_call_of_solve_ivp_is_told_apart(call):
    with pytest.raises(TypeError, match="not solve_ivp's") as caught:
        call(decay, (0, 10), [1.0])
    assert "t_end" in str(caught.value)
    assert "@pi.rhs" in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"events": pi.event("x")}, "events must map names to events"),
        ({"events": [pi.event("x")]}, "events must map names to events"),
        ({"events": decay}, r"events=\{'decay': pi.event\(decay\)\}"),
        ({"events": [decay]}, r"events=\{'decay': pi.event\(decay\)\}"),
        ({"watch": pi.watch.mean("x")}, "watch must map names to watches"),
    ],
    ids=["event", "list of events", "function", "list of functions", "watch"],
)
@pytest.mark.parametrize("step", [{}, {"dt": 0.1}], ids=["solve", "integrate"])
def test_two_positions_and_velocities_are_no_times(wrong, says, step):
    call = pi.integrate if step else pi.solve
    with pytest.raises(TypeError, match=f"^[^\n]*{says}"):
        call(pi.systems.henon_heiles, [0.1, 0.0], [0.0, 0.1], t_end=1.0, **step, **wrong)


@pytest.mark.parametrize("call", [pi.integrate, pi.Stepper, pi.lyapunov])
def test_a_missing_step_is_told_where_steps_are_found(call):
    with pytest.raises(TypeError, match="missing 1 required .*'dt': .*pi.solve.*pi.advise"):
        call(OSCILLATOR, t_end=1.0) if call is pi.lyapunov else call(OSCILLATOR)


def test_what_is_given_by_name_is_told_to_those_who_give_it_by_place():
    with pytest.raises(
        TypeError, match="integrate takes system, x0, v0 by place, all.*: dt=..., t"
    ):
        pi.integrate(OSCILLATOR, 1.0, 0.0, 0.01, 10.0)
    with pytest.raises(TypeError, match="fit takes system, t, data by place, all .*: free=..., x0"):
        pi.fit(OSCILLATOR, [0.0, 1.0], [1.0, 0.5], ["omega"])
    with pytest.raises(TypeError, match="not solve_ivp's"):
        pi.solve(OSCILLATOR, (0, 10), [1.0, 0.0], "RK45")
    with pytest.raises(TypeError, match="chaos_map.. missing 2 required .* 'dt' and 't_end'"):
        pi.chaos_map(OSCILLATOR, x0=(-3, 3), v0=(-3, 3))
    with pytest.raises(TypeError, match="'axis' and 'quantity'$"):  # not: give dt
        pi.analysis.bifurcation(OSCILLATOR)


@pytest.mark.parametrize("name", ["convergence", "work_precision", "quality", "max_stiffness"])
def test_measures_of_methods_explain_keywords(name):
    with pytest.raises(TypeError, match=f"{name} takes no method: did you mean methods"):
        getattr(pi.analysis, name)(OSCILLATOR, method="rk4")
    with pytest.raises(TypeError, match="advise takes no tmax: the last time is t_end"):
        pi.advise(OSCILLATOR, tmax=9.0)


def test_what_belongs_to_another_function_is_named():
    with pytest.raises(TypeError, match=r"methods=\[\('dop853', pi.tolerance\(1e-9\)\)\]"):
        run_compare(rtol=1e-9)
    with pytest.raises(TypeError, match="Stepper takes no sensitivity: pi.integrate and pi.solve"):
        pi.Stepper(OSCILLATOR, dt=0.1, sensitivity=("x0",))
    with pytest.raises(
        TypeError, match="no value: what is crossed is subtracted.*; an event takes"
    ):
        pi.analysis.first_passages(OSCILLATOR, "x", value=0.5, dt=0.1, t_end=1.0)
    with pytest.raises(AttributeError, match=r"'save': .*sol.save\(path\)"):
        pi.save("a.npz")
    with pytest.raises(AttributeError, match="'ode': pi.solve_ivp, or pi.Stepper"):
        pi.ode(None)


def test_what_others_take_is_said_by_those_who_do_not():
    with pytest.raises(TypeError, match="resume takes no max_steps: pi.solve does"):
        pi.solve(OSCILLATOR, t_end=1.0).resume(t_end=2.0, max_steps=5)
    with pytest.raises(TypeError, match="resume takes no max_steps: pi.solve .* by n_steps="):
        pi.integrate(OSCILLATOR, dt=0.1, n_steps=2).resume(t_end=2.0, max_steps=5)
    for word in ("dt", "rtol", "y0", "method"):
        for run in (pi.integrate(OSCILLATOR, dt=0.1, n_steps=2), pi.solve(OSCILLATOR, t_end=0.2)):
            with pytest.raises(TypeError, match=f"resume takes no {word}: a run goes on as it beg"):
                run.resume(t_end=2.0, **{word: 0.5})
    with pytest.raises(TypeError, match="lyapunov takes no t_eval: pi.integrate and pi.solve take"):
        pi.lyapunov(OSCILLATOR, dt=0.1, t_end=1.0, t_eval=[1.0])
    with pytest.raises(TypeError, match="event takes no dt: it takes quantity"):
        pi.event("x", dt=0.1)
    with pytest.raises(TypeError, match="solve takes no step_size: its steps are found"):
        pi.solve(OSCILLATOR, t_end=1.0, step_size=0.1)
    with pytest.raises(TypeError, match="lyapunov takes no n_steps: runs end at t_end="):
        pi.lyapunov(OSCILLATOR, dt=0.1, n_steps=5)
    with pytest.raises(TypeError, match="RungeKutta takes no b_hat: .*b_embedded="):
        pi.RungeKutta([[0, 0], [1, 0]], [0.5, 0.5], b_hat=[1, 0])
    with pytest.raises(TypeError, match=r"pi.dask.integrate takes no n_step: did you mean n_steps"):
        pi.dask.integrate(OSCILLATOR, dt=0.1, n_step=5)
    with pytest.raises(TypeError, match=r"pi.dask.solve takes no sensitivity: pi.integrate and pi"):
        pi.dask.solve(OSCILLATOR, t_end=1.0, sensitivity="omega")


@pytest.mark.parametrize("word", ["steps", "renormalise"])
def test_what_the_package_sets_itself_is_no_argument(word):
    """Unchecked steps were saves of anything: NaN, what memory held."""
    for value in (np.array([3, 1]), None):
        with pytest.raises(TypeError, match=f"integrate takes no {word}: "):
            pi.integrate(pi.systems.pendulum, dt=0.1, n_steps=5, **{word: value})


def test_methods_in_the_place_of_the_start_are_seen():
    once = r"^x0 must hold [\w ,]+<U6: x0 is the start; name the methods=\[...\]; \S+ shows them$"
    with pytest.raises(TypeError, match=once):
        pi.compare(OSCILLATOR, ["rk4", "verlet"], dt=0.1, t_end=1.0)
    with pytest.raises(TypeError, match=r"x0 is the start; name the method=\.\.\."):
        pi.integrate(OSCILLATOR, "rk4", dt=0.1, t_end=1.0)


def test_a_component_that_is_no_attribute_says_where_it_is():
    for sol in (
        pi.integrate(pi.systems.lorenz, dt=0.1, n_steps=2),
        pi.solve(pi.systems.lorenz, t_end=0.1),
    ):
        for one in (sol, pickle.loads(pickle.dumps(sol))):
            with pytest.raises(AttributeError, match=r"a component is sol\['z'\]"):
                one.z  # noqa: B018
            with pytest.raises(AttributeError, match="no attribute 'nothing'"):
                one.nothing  # noqa: B018


def test_words_of_noise_and_portraits_are_answered():
    well = pi.systems.double_well
    with pytest.raises(
        TypeError, match="solve takes no seed: pi.integrate takes systems with noise"
    ):
        pi.solve(well, t_end=1.0, seed=1)
    with pytest.raises(TypeError, match="integrate takes no rng: noise has a seed"):
        pi.integrate(well, dt=0.1, n_steps=2, rng=1)
    with pytest.raises(TypeError, match="escape_times takes no bridge: .*bridge=True"):
        pi.analysis.escape_times(well, "y", dt=0.1, t_end=1.0, seed=1, bridge=True)
    with pytest.raises(TypeError, match="langevin takes no gamma: it takes system, friction, temp"):
        pi.langevin(OSCILLATOR, gamma=1.0, temperature=1.0)
    with pytest.raises(TypeError, match="lab takes no method: did you mean methods"):
        pi.lab(OSCILLATOR, method="rk4")
    with pytest.raises(TypeError, match="fit takes no bounds: free={'k'"):
        pi.fit(OSCILLATOR, [0.0, 1.0], [[1.0], [0.5]], bounds=(0, 1))
    with pytest.raises(TypeError, match="lyapunov takes no T: the last time is t_end"):
        pi.lyapunov(OSCILLATOR, dt=0.1, T=9.0)
    with pytest.raises(TypeError, match="periodic_orbits takes no T: it takes system, x0, period"):
        pi.analysis.periodic_orbits(OSCILLATOR, [1.0, 0.0], T=6.0)


def test_what_is_missing_or_belongs_to_the_system_is_told():
    pendulum, rossler = pi.systems.pendulum, pi.systems.rossler
    with pytest.raises(TypeError, match=r"^integrate\(\) missing .* 'dt': the step is fixed"):
        pi.integrate(pendulum, t_end=1.0)
    with pytest.raises(TypeError, match=r"^solve\(\) missing .* 't_end': the last time is t_end"):
        pi.solve(rossler, [1, 1, 1], (0, 10))
    with pytest.raises(TypeError, match="solve takes no tol: it takes rtol, atol"):
        pi.solve(pendulum, t_end=1.0, tol=1e-9)  # type: ignore[call-arg]
    for word, cure in (("RelTol", "it takes rtol, atol"), ("Events", "did you mean events?")):
        with pytest.raises(TypeError, match=f"solve takes no {word}: {cure}"):  # of MATLAB's odeset
            pi.solve(pendulum, t_end=1.0, **{word: 1e-9})
    with pytest.raises(TypeError, match=r"takes no omega: .*; the state is \(theta, omega\)"):
        pi.integrate(pendulum, theta=1.0, omega=0.0, dt=0.1, n_steps=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"takes no length: .*: pendulum\(length=...\)"):
        pi.integrate(pendulum, length=2.0, dt=0.1, n_steps=2)  # type: ignore[call-arg]


def test_methods_and_systems_are_told_where_they_are():
    for name, place in (("Tsit5", "pi.methods.tsitouras54"), ("lorenz", "pi.systems.lorenz")):
        with pytest.raises(AttributeError, match=f"no attribute '{name}': it is {place}"):
            getattr(pi, name)
    with pytest.raises(AttributeError, match="no attribute 'xyzzy'$"):
        getattr(pi, "xyzzy")  # noqa: B009


def test_a_solution_is_no_system():
    sol = pi.integrate(OSCILLATOR, dt=0.1, n_steps=2)
    for call in (pi.analysis.escape_times, pi.integrate):
        with pytest.raises(TypeError, match=f"{call.__name__} takes a system, not a solution"):
            call(sol)


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_solve_ivp_have_their_names_here(name):
    runs = pi.integrate(OSCILLATOR, dt=0.1, n_steps=2), pi.solve(OSCILLATOR, t_end=1.0)
    for sol in runs:
        assert not hasattr(sol, name)
        with pytest.raises(AttributeError, match=f"^this Solution has no '{name}': sol"):
            getattr(sol, name)
        with pytest.raises(AttributeError, match="object has no attribute 'xyzzy'"):
            getattr(sol, "xyzzy")  # noqa: B009


def test_what_is_no_component_is_told_where_it_is():
    sol = pi.integrate(OSCILLATOR, dt=0.1, n_steps=2)
    for name, place in (("t", "sol.t"), ("energy", r"sol.energy\(\)")):
        with pytest.raises(KeyError, match=f"not '{name}': {place}"):
            sol[name]
    with pytest.raises(KeyError, match="not 'xyzzy'\"$"):
        sol["xyzzy"]


def test_other_errors_stay_as_they_are():
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'dt'"):
        pi.integrate(OSCILLATOR, (1.0, 0.0), n_steps=3)
    with pytest.raises(TypeError, match="boom"):
        pi.integrate(OSCILLATOR, dt=0.1, n_steps=3, progress=boom)
    with pytest.raises(TypeError, match="method= belongs to integrate"):
        pi.compare(OSCILLATOR, dt=0.1, n_steps=3, method="rk4")


def boom(done, total):
    raise TypeError("boom")


def test_signatures_stay_visible():
    assert list(inspect.signature(pi.integrate).parameters)[:4] == ["system", "x0", "v0", "dt"]
    assert "equal_work" in inspect.signature(pi.compare).parameters
    assert list(inspect.signature(pi.Stepper).parameters)[:4] == ["system", "x0", "v0", "dt"]
    assert pickle.loads(pickle.dumps(pi.integrate)) is pi.integrate


def test_the_words_are_not_keywords_here():
    """An answer for a keyword that every function takes would never be given."""
    calls = pi.integrate, pi.Stepper, pi.solve, pi.lyapunov
    taken = [set(inspect.signature(call).parameters) for call in calls]
    assert not set.intersection(*taken) & set(_ELSEWHERE)
    assert np.all([text[0].islower() or text[0] == "{" for text in _ELSEWHERE.values()])
