"""pi.solve_ivp against what SciPy's own tests of solve_ivp ask for (restated), and SciPy itself."""

import math
import pickle
import warnings
from collections import deque

import numpy as np
import pytest
import scipy.integrate

import pyintegrate as pi
from pyintegrate import initial_values

METHODS = ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]
START = [1 / 3, 2 / 9]
pytestmark = pytest.mark.filterwarnings("error")


def rational(t, y):
    return np.array([y[1] / t, y[1] * (y[0] + 2 * y[1] - 1) / (t * (y[0] - 1))])


def rational_in_columns(t, y):
    assert y.ndim == 2
    return np.vstack((y[1] / t, y[1] * (y[0] + 2 * y[1] - 1) / (t * (y[0] - 1))))


def exact_rational(t):
    return np.asarray((t / (t + 10), 10 * t / (t + 10) ** 2))


def error(y, exact, rtol=1e-3, atol=1e-6):
    """In units of the tolerance, in the root mean square over components."""
    return np.linalg.norm((y - exact) / (atol + rtol * np.abs(exact)), axis=0) / np.sqrt(len(y))


def called(function):
    """The same function, which cannot be traced: it wants a number for the time."""

    def untraced(t, y):
        return function(float(t), y)

    return untraced


def first(t, y):
    return y[0] - y[1] ** 0.7


def second(t, y):
    return y[1] ** 0.6 - y[0]


def late(t, y):
    return t - 7.4


@pytest.fixture(autouse=True)
def _plain_events():
    yield
    for event in (first, second, late):
        vars(event).clear()


# SciPy asks for an error below 5 tolerances, here at steps and in between.
@pytest.mark.parametrize("t_span", [(5, 9), (5, 1)])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["traced", "called", "vectorized"])
def test_integration(method, t_span, kind):
    fun = {"traced": rational, "called": called(rational), "vectorized": rational_in_columns}[kind]
    res = pi.solve_ivp(
        fun, t_span, START, method=method, dense_output=True, vectorized=kind == "vectorized"
    )
    assert res.t[0] == t_span[0]
    assert res.t[-1] == t_span[1]
    assert res.t_events is None
    assert res.y_events is None
    assert res.success
    assert res.status == 0
    assert res.nfev < 60
    assert (res.njev > 0) == (res.nlu > 0) == (method in ("Radau", "BDF"))
    assert np.all(error(res.y, exact_rational(res.t)) < 5)
    between = np.linspace(*t_span)
    assert np.all(error(res.sol(between), exact_rational(between)) < 5)
    assert res.sol(between[20]).shape == (2,)
    assert res.sol(between).shape == (2, 50)
    np.testing.assert_array_equal(res.sol(res.t), res.y)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_a_stiff_problem_takes_no_more_evaluations_than_scipy_allows(method):
    def robertson(t, y):
        return [
            -0.04 * y[0] + 1e4 * y[1] * y[2],
            0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] * y[1],
            3e7 * y[1] * y[1],
        ]

    res = pi.solve_ivp(robertson, [0, 1e8], [1e4, 0, 0], method=method, rtol=1e-6, atol=1e-6)
    assert res.success
    assert method == "LSODA" or (res.nfev < 5000 and res.njev < 700)
    assert np.isclose(res.y[:, -1].sum(), 1e4, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("way", [1, -1])
def test_events_and_their_directions(method, way):
    t_span = (5, 8) if way > 0 else (8, 5)
    start = exact_rational(t_span[0])
    for direction in (0, way, -way):
        first.direction = second.direction = direction
        res = pi.solve_ivp(rational, t_span, start, method=method, events=(first, second))
        assert res.status == 0
        got = tuple(len(times) for times in res.t_events)
        signs = [np.sign(e(8.0, exact_rational(8.0)) - e(5.0, exact_rational(5.0))) for e in
                 (first, second)]  # fmt: skip
        expected = tuple(int(direction == 0 or way * s == np.sign(direction)) for s in signs)
        assert got == expected
        for times, states, event in zip(res.t_events, res.y_events, (first, second), strict=True):
            assert states.shape == ((1, 2) if len(times) else (0,))
            if len(times):
                assert np.isclose(event(times[0], states[0]), 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_terminal_event_ends_the_run(method):
    late.terminal = True
    res = pi.solve_ivp(
        rational, [5, 8], START, method=method, events=(first, second, late), dense_output=True
    )
    assert res.status == 1
    assert res.success
    assert res.message == "A termination event occurred."
    assert [len(times) for times in res.t_events] == [1, 0, 1]
    assert 5.3 < res.t_events[0][0] < 5.7
    assert abs(res.t_events[2][0] - 7.4) < 1e-14
    assert res.t[-1] == res.t_events[2][0]
    np.testing.assert_array_equal(res.y[:, -1], res.y_events[2][0])
    between = np.linspace(res.t[0], res.t[-1])
    assert np.all(error(res.sol(between), exact_rational(between)) < 5)


def test_a_run_without_an_end_stops_at_its_event():
    def cannon(t, y):
        return [y[1], -9.80665]

    def ground(t, y):
        return y[0]

    ground.terminal, ground.direction = True, -1
    res = pi.solve_ivp(
        cannon, [0, np.inf], [0, 0.01], max_step=0.05 * 0.001 / 9.80665, events=ground
    )
    np.testing.assert_allclose(res.t_events, [[2 * 0.01 / 9.80665]], rtol=1e-9)
    np.testing.assert_allclose(res.y_events, [[[0, -0.01]]], atol=1e-12, rtol=0)
    assert res.status == 1
    assert np.diff(res.t).max() <= 0.05 * 0.001 / 9.80665 * (1 + 1e-9)


def test_attributes_of_an_event_may_be_those_of_its_class():
    class Late:
        terminal, direction = True, 1

        def __call__(self, t, y):
            return late(t, y)

    res = pi.solve_ivp(rational, (5, 9), START, events=Late())
    assert (res.status, res.t[-1]) == (1, pytest.approx(7.4))


@pytest.mark.parametrize("count", [3, 4])
def test_a_terminal_attribute_counts(count):
    def event(t, y):
        return y[0]

    event.terminal = count
    res = pi.solve_ivp(lambda t, y: [y[1], -y[0]], (0, 100), [1, 0], events=event)
    assert len(res.t_events[0]) == len(res.y_events[0]) == count
    np.testing.assert_allclose(res.y_events[0][:, 0], 0, atol=1e-14)


def test_a_terminal_attribute_of_none_or_0_ends_nothing_and_others_are_refused():
    def event(t, y):
        return y[0]

    both = []
    for event.terminal in (None, 0):
        both.append(pi.solve_ivp(lambda t, y: [y[1], -y[0]], (0, 100), [1, 0], events=event))
    np.testing.assert_array_equal(both[0].t_events, both[1].t_events)
    assert both[0].status == 0
    for event.terminal in (-1, 3.5):
        with pytest.raises((TypeError, ValueError), match="stop"):
            pi.solve_ivp(lambda t, y: [y[1], -y[0]], (0, 100), [1, 0], events=event)


# Where the quantity is 0 at the start: the same events as SciPy's, for all attributes.
@pytest.mark.parametrize("terminal", [False, True, 2, 3])
@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize("velocity", [-1.0, 1.0])
def test_events_at_the_start_are_those_of_scipy(terminal, direction, velocity):
    def event(t, y):
        return y[0]

    event.terminal, event.direction = terminal, direction
    ours, theirs = (
        module.solve_ivp(
            lambda t, y: [y[1], -y[0]], (0, 10), [0, velocity], rtol=1e-8, atol=1e-8, events=event
        )
        for module in (pi, scipy.integrate)
    )
    assert ours.status == theirs.status
    assert ours.message == theirs.message
    np.testing.assert_allclose(ours.t_events[0], theirs.t_events[0], atol=1e-5)
    np.testing.assert_allclose(ours.t[-1], theirs.t[-1], atol=1e-5)


def test_more_events_than_are_kept_at_first():
    res = pi.solve_ivp(
        lambda t, y: [y[1], -y[0]], (0, 1000), [1, 0], events=lambda t, y: y[0], rtol=1e-9
    )
    assert len(res.t_events[0]) == int(1000 / np.pi + 0.5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("t_span", [(5, 9), (5, 1)])
def test_first_and_largest_step(method, t_span):
    res = pi.solve_ivp(rational, t_span, START, method=method, max_step=0.5, first_step=0.1)
    assert np.isclose(abs(res.t[1] - 5), 0.1, rtol=1e-7)
    assert np.all(abs(np.diff(res.t)) <= 0.5 + 1e-15)
    for wrong in ({"max_step": -1}, {"first_step": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            pi.solve_ivp(rational, t_span, START, method=method, **wrong)


@pytest.mark.parametrize(
    ("t_span", "t_eval"),
    [
        ([5, 9], np.linspace(5, 9, 10)),
        ([5, 1], np.linspace(5, 1, 10)),
        ([5, 9], [5, 5.01, 7, 8, 8.01, 9]),
        ([5, 1], [5, 4.99, 3, 1.5, 1.1, 1.01, 1]),
        ([5, 9], [5.01, 7, 8, 8.01]),
        ([5, 1], [4.99, 3, 1.5, 1.1, 1.01]),
    ],
)
def test_t_eval(t_span, t_eval):
    res = pi.solve_ivp(rational, t_span, START, t_eval=t_eval)
    np.testing.assert_array_equal(res.t, t_eval)
    assert res.success
    assert np.all(error(res.y, exact_rational(res.t)) < 5)
    dense = pi.solve_ivp(rational, t_span, START, t_eval=t_eval, dense_output=True)
    np.testing.assert_array_equal(res.y, dense.y)


@pytest.mark.parametrize("end", [3, 2.5, 1 / 3, -7])
def test_t_eval_at_the_time_of_a_terminal_event_is_kept(end):
    def late(t, y):
        return t - end

    late.terminal = True
    times = [0, end / 2, end, 2 * end]
    given = lambda t, y: [y[1], -y[0]], (0, 3 * end), [1, 0]
    ours, theirs = (
        solve(*given, events=late, t_eval=times)
        for solve in (pi.solve_ivp, scipy.integrate.solve_ivp)
    )
    np.testing.assert_array_equal(ours.t, theirs.t)
    np.testing.assert_allclose(ours.y, theirs.y, atol=0.02)


def test_t_eval_beyond_a_terminal_event_is_empty():
    late.terminal = True
    res = pi.solve_ivp(rational, [5, 9], START, t_eval=np.linspace(7.5, 9, 16), events=late)
    assert res.status == 1
    assert res.t.size == 0
    assert res.y.size == 0
    assert len(res.t_events) == 1
    assert abs(res.t_events[0][0] - 7.4) < 1e-14


@pytest.mark.parametrize("method", METHODS)
def test_an_interval_of_no_length(method):
    res = pi.solve_ivp(lambda t, y: -y, [4, 4], [2, 3], method=method, dense_output=True)
    np.testing.assert_array_equal(res.sol(4), [2, 3])
    np.testing.assert_array_equal(res.y[:, -1], [2, 3])
    assert res.success


@pytest.mark.parametrize("method", METHODS)
def test_a_zero_right_hand_side(method):
    res = pi.solve_ivp(lambda t, y: np.zeros_like(y), [0, 10], np.ones(3), method=method)
    np.testing.assert_array_equal(res.y, 1.0)


@pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "Radau", "BDF"])
@pytest.mark.parametrize("end", [1e-4, 1.0])
def test_the_force_is_not_evaluated_outside_of_the_interval(method, end):
    def fun(t, y):
        if not 0 <= t <= end:
            raise AssertionError(t)
        return 2 * y

    assert pi.solve_ivp(fun, (0.0, end), [1], method=method).success


def test_args_go_to_the_force_and_to_the_events():
    def moving(t, w, omega, k, z_final):
        x, y, z = w
        return [-omega * y, omega * x, k * z * (1 - z)]

    def x_is_0(t, w, omega, k, z_final):
        return w[0]

    def z_arrives(t, w, omega, k, z_final):
        return w[2] - z_final

    z_arrives.terminal = True
    omega, k, z_final, z0 = 2, 4, 0.99, 1e-3
    res = pi.solve_ivp(
        moving, (0, 100), [1.0, 0, z0], args=(omega, k, z_final), events=[x_is_0, z_arrives],
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip
    arrival = np.log(z_final * (1 - z0) / (z0 * (1 - z_final))) / k
    np.testing.assert_allclose(res.t_events[1], [arrival], rtol=1e-6)
    quarter = np.pi / 2 / omega
    np.testing.assert_allclose(res.t_events[0], np.arange(quarter, arrival, 2 * quarter), rtol=1e-6)
    matrix = np.array([[-1.0, 2.0], [0.0, -3.0]])
    for args in ((matrix,), matrix[np.newaxis], iter([matrix])):
        res = pi.solve_ivp(lambda t, y, a: a @ y, (0, 1), [1, 1], "DOP853", args=args, rtol=1e-9)
        np.testing.assert_allclose(res.y[1, -1], np.exp(-3), rtol=1e-6)


def test_what_a_force_keeps_outside_of_it_is_of_the_run():
    class Kept:
        def force(self, t, y):
            self.last = t, y.copy()
            return -y

    def counted(t, y):
        nonlocal calls
        calls += 1
        return -y

    def noted(t, y):
        times.append(t)
        seen["last"] = y[0]
        rows[0].append(y[0])
        recent.append(t)
        count[0] += 1
        return -y

    times, seen, rows, recent, count = [], {}, [[]], deque(), np.zeros(1)
    res = pi.solve_ivp(noted, (0, 2), [1.0])
    assert abs(len(times) - res.nfev) <= 1
    assert len(rows[0]) == len(times) == count[0]
    assert [*recent] == times
    assert np.isclose(seen["last"], np.exp(-times[-1]), rtol=0.01)
    kept, calls = Kept(), 0
    res = pi.solve_ivp(kept.force, (0, 2), [1.0])
    assert np.allclose(kept.last[1], np.exp(-kept.last[0]), rtol=0.01)
    assert pi.solve_ivp(counted, (0, 2), [1.0]).nfev in (calls, calls - 1)
    traced = pi.solve_ivp(lambda t, y: [-y[i] for i in range(1)], (0, 2), [1.0])
    assert np.allclose(traced.y, res.y, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_force_of_scalars_is_called_where_the_run_is(method):
    """Other lanes of a register are at the start, or anywhere: math.exp of it may overflow."""

    def force(t, y):
        seen.append(t)
        return [-50 * y[0] + math.sin(t), -math.exp(y[1]) * y[0]]

    for _ in range(4):
        seen = []
        res = pi.solve_ivp(force, (0.5, 2), [1.0, 2.0], method)
        assert res.success
    assert len(seen) <= 1.1 * res.nfev or method in ("Radau", "BDF")


def test_the_type_of_the_numbers():
    for fun in (lambda t, y: -y, called(lambda t, y: -y)):
        res = pi.solve_ivp(fun, (0, 1), [1.0], rtol=1e-4, dtype=np.float32, t_eval=[1])
        assert res.y.dtype == np.float32
        assert np.isclose(res.y, np.exp(-1), rtol=1e-4)


def test_functions_of_large_arrays_are_called_and_loops_traced(monkeypatch):
    """To trace 5,000 products takes as long as a thousand calls of NumPy, or ten loops."""
    made, call = [], initial_values._called
    monkeypatch.setattr(initial_values, "_called", lambda *a: made.append(a) or call(*a))

    def of_loops(t, y, a):
        return [sum(a[i, j] * y[j] for j in range(len(y))) for i in range(len(y))]

    for n, most in ((10, 0), (70, 2)):
        for fun in (of_loops, lambda t, y, a: a @ y, lambda t, y, a: (a * y).sum(axis=1)):
            args = (np.eye(n) - 1,)
            res = pi.solve_ivp(fun, (0, 1 / (n - 1)), np.ones(n), args=args, rtol=1e-6)
            assert np.allclose(res.y[:, -1], np.exp(-1), rtol=1e-4)
        assert len(made) == most


def test_a_tolerance_for_each_component():
    def fun(t, y):
        return y[0], y[1]

    errors = []
    for rtol in ([1e-1, 1e-1], [1e-1, 1e-10]):
        res = pi.solve_ivp(fun, (0, 1), [1.0, 1.0], rtol=rtol)
        errors.append(np.linalg.norm(res.y[:, -1] - np.e))
    assert errors[1] < errors[0]
    with pytest.warns(UserWarning, match="rtol"):
        pi.solve_ivp(fun, (0, 1), [1.0, 1.0], rtol=[1e-1, 1e-16])


def test_a_motion_that_ends_early_says_so():
    res = pi.solve_ivp(lambda t, y: y * y, (0, 2), [1.0])
    assert res.status == -1
    assert not res.success
    assert res.message == "Required step size is less than spacing between numbers."
    assert 0.999 < res.t[-1] <= 1
    res = pi.solve_ivp(lambda t, y: -y, (0, 2), [1.0], max_steps=2)
    assert res.status == -1
    assert "max_steps" in res.message


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"y0": [np.nan, 1]}, "y0"),
        ({"y0": [[1.0, 1.0]]}, "y0"),
        ({"y0": [1, [2, 3]]}, "y0 must be a regular array of numbers"),
        ({"y0": [1j, 1]}, r"y0 is complex: let u = \(y.real, y.imag\) be the state"),
        ({"args": -1}, "args"),
        ({"t_eval": [4, 6]}, "t_eval"),
        ({"t_eval": [7, 6]}, "t_eval"),
        ({"method": "nothing"}, "nothing"),
        ({"rtoll": 1}, "solve_ivp takes no rtoll: did you mean rtol"),
        ({"first_stepp": 1}, "solve_ivp takes no first_stepp: did you mean first_step"),
        ({"max_step": "long"}, "max_step must"),
        ({"atol": [1e-6] * 3}, r"atol has shape \(3,\): a number or 2 of them"),
        ({"first_step": [0.1, 0.2]}, r"first_step has shape \(2,\)"),
        ({"t_span": (np.nan, 1)}, "t0"),
        ({"t_span": (0, 1, 2)}, "t_span must be the first and the last time"),
        ({"fun": pi.systems.spring}, "fun must be a function of .*; pi.solve takes a System"),
        ({"fun": lambda t, y: None}, r"<lambda>\(\) returns None, y0 has 2 numbers"),
        ({"events": 3}, "events must be functions"),
        ({"events": [rational, "x"]}, "events must be functions of .*, got 'x'"),
        ({"save": "final"}, "solve_ivp takes no save, which is an argument of pi.solve"),
        ({"times": [6.0]}, "solve_ivp takes no times"),
        ({"watch": {}}, "solve_ivp takes no watch"),
    ],
)
def test_wrong_arguments_are_named(wrong, told):
    given = {"fun": rational, "t_span": (5, 9), "y0": START} | wrong
    with pytest.raises((TypeError, ValueError), match=told):
        pi.solve_ivp(**given)


def test_what_scipy_is_told_of_the_jacobian_changes_nothing():
    told = {"jac": lambda t, y: np.eye(2), "jac_sparsity": np.ones((2, 2)), "lband": 1, "uband": 1}
    for method in ("Radau", "LSODA"):
        one, other = (pi.solve_ivp(rational, (5, 9), START, method, **some) for some in ({}, told))
        assert np.array_equal(one.y, other.y)
    with pytest.raises(TypeError, match="no min_step: steps are as small as .*max_steps="):
        pi.solve_ivp(rational, (5, 9), START, "LSODA", min_step=1e-6)


def test_an_event_that_cannot_be_traced_says_what_to_type():
    with pytest.raises(TypeError, match=r"np\.sin, not math\.sin"):
        pi.solve_ivp(rational, (5, 9), START, events=called(lambda t, y: y[0]))


def test_classes_name_methods_and_results_have_brackets_and_pickle():
    res = pi.solve_ivp(rational, (5, 9), START, method=scipy.integrate.RK45, dense_output=True)
    theirs = scipy.integrate.solve_ivp(rational, (5, 9), START)
    np.testing.assert_array_equal(res["t"], res.t)
    assert {*res} == {*theirs}
    assert "nfev" in res
    assert "unknown" not in res
    np.testing.assert_allclose(res.y[:, -1], theirs.y[:, -1], rtol=1e-3)
    assert set(vars(res)) == set(theirs)
    again = pickle.loads(pickle.dumps(res))
    np.testing.assert_array_equal(again.sol(6.0), res.sol(6.0))
    np.testing.assert_array_equal(again.sol.ts, res.t)
    assert (again.sol.t_min, again.sol.t_max) == (5, 9)
    for name in ("LSODA", "BDF"):
        runs = [pi.solve_ivp(rational, (5, 9), START, word) for word in (name, name.lower())]
        assert np.array_equal(runs[0].y, runs[1].y)


def test_the_message_for_odeint_works():
    with pytest.raises(AttributeError, match="pi.solve_ivp") as caught:
        pi.odeint  # noqa: B018

    def f(y, t):
        return -y

    y0, t = [1.0], np.linspace(0, 2, 5)
    code = str(caught.value).split(": ", 1)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(
            eval(code, {"pi": pi, "f": f, "y0": y0, "t": t})[:, 0], np.exp(-t), rtol=1e-6
        )
