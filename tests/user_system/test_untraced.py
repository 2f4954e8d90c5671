"""A force that stays a Python function (trace=False), and numbers from outside of a traced one."""

import copy
import math
import pickle
import statistics
import warnings
from functools import partial

import numpy as np
import pytest

import pyintegrate as pi


@pi.acceleration(dof=2, k=2.0, scale=[1.0, 3.0], trace=False, energy=lambda t, x, v, k, scale: k)
def untraced(t, x, v, k, scale):
    return -k * scale * x if np.all(x > -1e9) else x


def test_functions_that_are_not_traced():
    y = np.random.default_rng(0).normal(size=(5, 4))
    k = np.arange(5.0)
    expected = np.concatenate([y[:, 2:], -k[:, None] * np.array([1.0, 3.0]) * y[:, :2]], axis=1)
    assert np.allclose(untraced(k=k).rhs(0.0, y), expected)
    assert np.allclose(untraced(k=k).energy(y), k)
    J = untraced.jacobian(0.0, y[0])
    assert np.allclose(J[2:, :2], np.diag([-2.0, -6.0]), rtol=1e-9, atol=0)
    assert np.allclose(J[:2, 2:], np.eye(2), rtol=1e-9)
    again = pickle.loads(pickle.dumps(untraced(k=k)))
    assert again == untraced(k=k)
    assert "Python function" in untraced._repr_html_()
    local = pi.rhs(dim=1, trace=False)(lambda t, y: -y)
    with pytest.raises((TypeError, AttributeError), match="trace=False|local"):
        pickle.dumps(local)
    wrong = pi.rhs(dim=2, trace=False)(lambda t, y: [y[0]] * (2 - (np.shape(y)[1] == 3)))
    with pytest.raises(ValueError, match="returns 1 components, expected 2"):
        wrong.rhs(0.0, np.ones((3, 2)))


@pytest.mark.parametrize("of", [lambda rows: rows, list])
def test_masked_items_are_no_slopes(of):
    force = pi.rhs(dim=2, trace=False)(lambda t, y: of(np.ma.masked_greater(y, 2.0)))
    assert force.rhs(0.0, np.ones(2)).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="returns masked items"):
        force.rhs(0.0, np.full(2, 3.0))


@pytest.mark.parametrize("together", [list, tuple])
def test_a_called_force_may_return_numbers_beside_arrays(together):
    fall = pi.rhs(dim=2, trace=False)(lambda t, y: together([y[1], -9.8]))
    assert fall.rhs(0.0, [[0.0, 1.0], [0.0, 2.0]]).tolist() == [[1.0, -9.8], [2.0, -9.8]]


def test_a_called_force_may_return_a_table_of_pandas():
    pandas = pytest.importorskip("pandas")
    swing = pi.rhs(dim=2, trace=False)(lambda t, y: pandas.DataFrame([y[1], -y[0]]))
    assert swing.rhs(0.0, [[1.0, 2.0], [3.0, 4.0]]).tolist() == [[2.0, -1.0], [4.0, -3.0]]


class Decay:
    """An object that is called, and has no name."""

    def __init__(self, k):
        self.k = k

    def __call__(self, t, y):
        return -self.k * y


@pytest.mark.parametrize("force", [Decay(2.0), partial(lambda k, t, y: -k * y, 2.0)])
@pytest.mark.parametrize("trace", [True, False])
def test_a_force_needs_no_name(force, trace):
    found, named = (
        pi.integrate(pi.rhs(one, dim=1, trace=trace), [1.0], dt=0.1, n_steps=3)
        for one in (force, lambda t, y: -2.0 * y)
    )
    assert found.y.tobytes() == named.y.tobytes()
    with pytest.raises(ValueError, match="returns 1 components, expected 2"):
        pi.rhs(partial(lambda t, y: [y[0]]), dim=2, trace=trace)
    if not trace:
        with pytest.raises(
            ValueError, match=r"returns an array of shape \(\d+,\), expected 2 comp"
        ):
            pi.rhs(partial(lambda t, y: y[0]), dim=2, trace=False)
        with pytest.raises(ValueError, match="returns None, expected 2 components, the batch last"):
            pi.rhs(partial(lambda t, y: None), dim=2, trace=False)
        assert "a Python function" in found.system._repr_html_()
        with pytest.raises(TypeError, match="trace=False"):
            pickle.dumps(found.system)


SCALAR = {
    "if": lambda x: -x if x > 0 else -2.0 * x,
    "math": lambda x: -math.sin(x),
    "float": lambda x: -float(x),
}


@pytest.mark.parametrize("length", [1e-9, 1e-5, 1.0, 1e11])
@pytest.mark.parametrize("second", [1e-12, 1.0, 3e7])
def test_jacobians_are_as_good_in_any_unit(length, second):
    """Of two wells, beside a saddle: micrometres had slopes of 38 for 2, and false equilibria."""

    def wells(t, x, v):
        drag = 0.2 * v + 0.1 * v**3 * (second / length) ** 2
        return (x - x**3 / length**2) / second**2 - drag / second

    traced, called = (
        pi.acceleration(dof=1, trace=trace, initial=[0.5 * length, 0.0])(wells)
        for trace in (True, False)
    )
    y = np.array([[1.0, 0.0], [0.01, 0.3], [0.7, -0.2]]) * [length, length / second]
    assert np.allclose(called.jacobian(0.0, y), traced.jacobian(0.0, y), rtol=1e-6, atol=0)


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_jacobians_beside_a_large_force_are_not_its_rounding(offset):
    """Where the steps had become so short that nothing changed any more they agreed, at 0."""
    pushed = pi.rhs(
        lambda t, y: np.stack([offset + y[1] - np.sin(y[0]), -y[0]]), dim=2, trace=False
    )
    expected = [[-np.cos(0.3), 1], [-1, 0]]
    np.testing.assert_allclose(pushed.jacobian(0.0, [0.3, 0.2]), expected, atol=1e-10 * offset)


@pytest.mark.parametrize("unit", [1.0, 3e4, 1e6])
def test_jacobians_where_terms_cancel_are_not_their_rounding(unit):
    """At rest fast motions lost their damping, and a focus was a centre."""
    traced, called = (
        pi.acceleration(
            lambda t, x, v, u: (x - x**3 - 0.2 * v / u + 1) * u**2, trace=trace, dof=1, u=unit
        )
        for trace in (True, False)
    )
    rest = [1.324717957244746, 0.0]
    assert np.allclose(called.jacobian(0.0, rest), traced.jacobian(0.0, rest), rtol=1e-3, atol=0)


def test_jacobians_beside_what_is_narrow_are_not_those_across_it():
    """Of steps past a pole the slopes are smaller, and so are their differences."""
    pole = pi.rhs(dim=1, trace=False)(lambda t, y: 1 / (y - 1))
    near = 1 + 2.0**-30
    np.testing.assert_allclose(pole.jacobian(0.0, [near]), [[-(2.0**60)]], rtol=1e-3)


@pytest.mark.parametrize("name", SCALAR)
def test_scalar_code_runs_vectorized(name):
    """As the messages say: the function gets arrays, for which np.vectorize lends scalar code."""
    scalar = SCALAR[name]
    with pytest.raises(TypeError, match=r"trace=False call .* arrays .*np\.vectorize"):
        pi.acceleration(lambda t, x, v: scalar(x), dof=1)
    with pytest.raises((TypeError, ValueError)):  # not as it is
        pi.acceleration(lambda t, x, v: scalar(x), dof=1, trace=False)
    system = pi.acceleration(dof=1, trace=False)(lambda t, x, v: np.vectorize(scalar)(x))
    x = np.array([-1.0, 0.5, 2.0])
    assert np.array_equal(
        system.acceleration(0.0, x[:, None], x[:, None])[:, 0], [scalar(value) for value in x]
    )


def test_a_vectorized_function_is_a_force():
    rise = np.vectorize(lambda t, x, v, k: k * x if x > 0 else -x, otypes=[float])
    system = pi.acceleration(rise, k=2.0, trace=False)
    assert system.acceleration(0.0, [[-1.0], [3.0]], [[0.0], [0.0]]).tolist() == [[1.0], [6.0]]


def test_an_object_that_holds_a_function_has_its_own_arguments():
    class Scaled:
        def __init__(self, pyfunc):
            self.pyfunc = pyfunc

        def __call__(self, t, x, v, k):
            return k * self.pyfunc(x)

    assert pi.acceleration(Scaled(lambda x: -x), k=2.0).rhs(0.0, [1.0, 0.0]).tolist() == [0.0, -2.0]


@pytest.mark.parametrize(
    ("dim", "mixed", "apart"),
    [
        (2, lambda t, y: -y / np.linalg.norm(y), lambda t, y: -y / np.linalg.norm(y, axis=0)),
        (2, lambda t, y: y - y.sum(), lambda t, y: y - y.sum(axis=0)),
        (1, lambda t, y: [-y.max()], lambda t, y: [-y.max(axis=0)]),
        (1, lambda t, y: -y * t[0], lambda t, y: -y * t),
    ],
)
def test_a_force_that_mixes_trajectories_is_refused(dim, mixed, apart):
    with pytest.raises(ValueError, match=r"(?s)another value .* reduce the first one") as refused:
        pi.rhs(mixed, dim=dim, trace=False)
    assert __file__ in str(refused.value)
    batch = np.random.default_rng(1).normal(size=(3, dim))
    system = pi.rhs(apart, dim=dim, trace=False)
    together = pi.integrate(system, batch, dt=0.1, n_steps=2).final
    alone = [pi.integrate(system, one, dt=0.1, n_steps=2).final for one in batch]
    assert np.array_equal(together, alone)


def test_a_random_force_is_not_taken_for_one_that_mixes_trajectories():
    noise = np.random.default_rng(1)
    pushed = pi.rhs(lambda t, y: noise.normal(size=y.shape), dim=2, trace=False)
    assert pi.integrate(pushed, np.zeros((3, 2)), dt=0.1, n_steps=2).final.all()


def test_rounding_is_not_taken_for_a_mixture():
    pi.rhs(lambda t, y: y / 0.0, dim=1, trace=False)
    nothing = pi.acceleration(lambda t, x, v: np.sin(x) ** 2 + np.cos(x) ** 2 - 1, trace=False)
    assert abs(nothing.acceleration(0.0, [0.3], [0.0])) < 1e-15


def test_an_energy_that_mixes_trajectories_is_refused():
    def energy_of_all(t, x, v):
        return np.sum(v * v + x * x) / 2

    with pytest.raises(ValueError, match="energy_of_all.* gives a trajectory another value"):
        pi.acceleration(lambda t, x, v: -x, dof=2, trace=False, energy=energy_of_all)


def test_scalar_code_says_how_it_can_be_called():
    with pytest.raises((TypeError, ValueError)) as refused:
        pi.acceleration(lambda t, x, v: -1.0 if x > 0 else 1.0, dof=1, trace=False)
    assert "np.vectorize(f, otypes=[float])(x)" in refused.value.__notes__[0]


def test_a_line_in_a_library_is_not_the_place():
    def quantile(p):
        return statistics.NormalDist().inv_cdf(p)

    with pytest.raises(TypeError, match=r": return statistics\.NormalDist") as refused:
        pi.rhs(lambda t, y: -quantile(y), dim=1)
    assert statistics.__file__ not in str(refused.value)


def test_an_array_of_numbers_has_a_cure_that_works():
    def filled(t, x, v):
        a = np.zeros(12)
        for i in range(12):
            a[i] = -x[i]
        return a

    with pytest.raises(TypeError, match=r"np\.zeros_like\(x\) instead of np\.zeros") as caught:
        pi.acceleration(filled, dof=12)
    assert ": a[i] = -x[i]" in str(caught.value)

    def cured(t, x, v):
        a = np.zeros_like(x) + np.zeros(12)  # vectors of numbers, so far
        for i in range(12):
            a[i] = -x[i]
        return a

    assert np.array_equal(pi.acceleration(cured, dof=12).initial[:1], [1.0])


# ---- methods for x'' = a(t, x) -------------------------------------------------------------------
def swing(**options):
    return pi.acceleration(dof=1, k=4.0, trace=False, **options)(lambda t, x, v, k: -k * np.sin(x))


@pytest.mark.parametrize(
    "method",
    ["velocity_verlet", "stormer4", "runge_kutta_nystrom4", "rk4", "numerov4", "quinlan8a"],
)
def test_a_force_that_does_not_use_the_velocity_says_so(method):
    """It moves as the traced one does, which is known not to, at the same cost."""
    system = swing(velocity_dependent=False)
    assert not system.velocity_dependent
    assert swing().velocity_dependent
    traced = pi.acceleration(dof=1, k=4.0)(lambda t, x, v, k: -k * np.sin(x))
    x0 = np.linspace(0.1, 1.5, 5)
    for dtype in (np.float64, np.float32):
        run = {"dt": 0.05, "n_steps": 100, "method": method, "dtype": dtype}
        sol, expected = pi.integrate(system, x0, 0.0, **run), pi.integrate(traced, x0, 0.0, **run)
        # Rounding of 100 steps, and of NumPy's sine.
        assert np.allclose(sol.y, expected.y, rtol=0, atol=500 * np.finfo(dtype).eps)
        assert sol.evaluations == expected.evaluations


def test_methods_without_a_velocity_refuse_one_that_has_not_said_so():
    with pytest.raises(ValueError, match="sees the velocity"):
        pi.integrate(swing(), 1.0, 0.0, dt=0.1, n_steps=5, method="stormer4")


def test_what_is_said_of_the_velocity_is_checked():
    with pytest.raises(ValueError, match="changes with the velocity"):
        pi.acceleration(dof=1, trace=False, velocity_dependent=False)(lambda t, x, v: -x - v)
    with pytest.raises(TypeError, match="velocity_dependent must be True or False, got 0"):
        swing(velocity_dependent=0)
    with pytest.raises(TypeError, match="is for @pi.acceleration with trace=False"):
        pi.acceleration(velocity_dependent=False)(lambda t, x, v: -x)
    with pytest.raises(TypeError, match="is for @pi.acceleration with trace=False"):
        pi.rhs(dim=1, trace=False, velocity_dependent=False)(lambda t, y: -y)


# ---- numbers from outside ------------------------------------------------------------------------
strength, table = 3.0, np.array([1.0, 2.0])
label, settings = "one", {"k": 1.0}


def helper(x):
    return strength * x


USES = {
    "integrate": lambda system: pi.integrate(system, dt=0.1, n_steps=1),
    "Stepper": lambda system: pi.Stepper(system, dt=0.1),
    "compile": lambda system: system.to_c() and system.compile(),
}


def told(use, system):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        use(system)
    assert all(w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught]


FORCES = {
    "global": lambda t, x, v: -strength * x,
    "in a helper": lambda t, x, v: -helper(x),
    "inside": lambda t, x, v: sum([-strength * x for _ in range(2)]),
}


@pytest.mark.parametrize("use", ["integrate", "Stepper"])
@pytest.mark.parametrize("name", FORCES)
def test_a_global_number_that_has_changed_is_told_once(name, use, monkeypatch):
    system = pi.acceleration(FORCES[name], dof=1, name="spring")
    assert told(USES[use], system) == []
    monkeypatch.setitem(globals(), "strength", 4.0)
    (message,) = told(USES[use], system)
    assert "strength was 3.0 and is 4.0 now" in message
    assert "Make strength a parameter (spring(strength=...))" in message
    assert told(USES[use], system) == []
    assert system.acceleration(0.0, [1.0], [0.0]) == FORCES[name](0, 1.0, 0) * 3 / 4


def test_closures_arrays_and_energies_are_watched(monkeypatch):
    k, weights = 2, np.array([1.0, 2.0])

    def force(t, x, v):
        return -k * weights * x

    system = pi.acceleration(dof=2, energy=lambda t, x, v: strength * x[0])(force)
    run = USES["integrate"]
    assert told(run, system) == []
    k, weights[1] = 5, 3.0
    monkeypatch.setitem(globals(), "strength", np.float32(9))
    (message,) = told(run, system)
    assert "k was 2 and is 5" in message
    assert "weights was array([1., 2.]) and is array([1., 3.])" in message
    assert "strength was 3.0 and is 9.0" in message
    assert told(run, system(**{})) == []


class Law:
    """A force that holds its numbers."""

    def __init__(self, k):
        self.k, self.calls = k, 0

    def __call__(self, t, x, v):
        return -self.k * x

    force = __call__


def calls(helper):
    return lambda t, x, v: helper(x)


HELD = {
    "item": ({"k": 3.0, "b": 0.0}, lambda held: lambda t, x, v: -held["k"] * x),
    "attribute": (Law(3.0), lambda held: lambda t, x, v: -held.k * x),
    "called within": (Law(3.0), lambda held: lambda t, x, v: held(t, x, v)),
    "held by what is held": (Law(Law(3.0)), lambda held: lambda t, x, v: -held.k.k * x),
    "called": (Law(3.0), lambda held: held),
    "method": (Law(3.0), lambda held: held.force),
    "partial": (Law(3.0), lambda held: partial(lambda t, x, v: -held.k * x)),
    "default": ({"k": 3.0, "b": 0.0}, lambda held: calls(lambda x, law=held: -law["k"] * x)),
    "named default": (Law(3.0), lambda held: calls(lambda x, *, law=held: -law.k * x)),
    "argument": (Law(3.0), lambda held: calls(partial(lambda law, x: -law.k * x, held))),
    "keyword": (Law(3.0), lambda held: calls(partial(lambda x, law: -law.k * x, law=held))),
}


@pytest.mark.parametrize("name", HELD)
def test_numbers_that_objects_hold_are_watched_if_the_code_names_them(name):
    held, define = copy.deepcopy(HELD[name])
    system = pi.acceleration(define(held), dof=1, name="spring")
    items = held if isinstance(held, dict) else vars(held)
    items["calls"] = items["b"] = 7.0
    assert told(USES["integrate"], system) == []
    inner = vars(items["k"]) if isinstance(items["k"], Law) else items
    inner["k"] = 4.0
    (message,) = told(USES["integrate"], system)
    assert "k was 3.0 and is 4.0 now. Make k a parameter (spring(k=...))" in message


def test_what_a_force_counts_itself_is_no_number_of_its_trace():
    class Counted:
        def __init__(self):
            self.k, self.calls = 3.0, 0

        def __call__(self, t, x, v):
            nonlocal seen
            seen += 1
            self.calls += 1
            return -self.k * x

    seen, force = 0, Counted()
    system = pi.acceleration(force, dof=1)
    assert told(USES["integrate"], system) == []
    force.k = 4.0
    assert "k was 3.0 and is 4.0" in told(USES["integrate"], system)[0]


def test_another_object_of_the_same_name_and_lists_are_watched():
    settings, masses = {"k": 1.0}, [1.0, 2.0]
    system = pi.acceleration(lambda t, x, v: -settings["k"] * x / masses[1], dof=1)
    settings, masses[1] = {"k": 5.0}, 3.0
    (message,) = told(USES["integrate"], system)
    assert "k was 1.0 and is 5.0" in message
    assert "masses was [1.0, 2.0] and is [1.0, 3.0]" in message


class Held:
    """Numbers in a slot, of the class, of a property and of a method."""

    __slots__ = ("k",)
    b = 2.0

    def __init__(self):
        self.k = 1.0

    @property
    def twice(self):
        return 2 * self.k

    @property
    def again(self):  # without end
        return Held()

    def named(self, x):
        return [self.b * x for _ in range(1)][0]

    def force(self, t, x, v):
        return -self.named(x)


@pytest.mark.parametrize(
    ("word", "define"),
    [
        ("k", lambda one: lambda t, x, v: -one.k * x),
        ("twice", lambda one: lambda t, x, v: -one.twice * x),
        ("k", lambda one: lambda t, x, v: -one.again.again.k * one.k * x),
        ("b", lambda one: lambda t, x, v: -one.b * x),
        ("b", lambda one: lambda t, x, v: -one.named(x)),
        ("b", lambda one: one.force),
    ],
)
def test_numbers_of_classes_and_methods_are_watched(word, define, monkeypatch):
    one = Held()
    system = pi.acceleration(define(one), dof=1, name="spring")
    assert told(USES["integrate"], system) == []
    one.k = 5.0
    monkeypatch.setattr(Held, "b", 7.0)
    assert [f"Make {word} a parameter" in line for line in told(USES["integrate"], system)] == [
        True
    ]


def test_tuples_and_lists_of_lists_are_watched():
    pair, rows = (1.0, 2.0), [[1.0, 2.0], [3.0]]
    system = pi.acceleration(lambda t, x, v: -pair[0] * rows[0][1] * x, dof=1)
    assert told(USES["integrate"], system) == []
    pair, rows[0][1] = (4.0, 2.0), 5.0
    (message,) = told(USES["integrate"], system)
    assert "pair was (1.0, 2.0) and is (4.0, 2.0)" in message
    assert "rows was [[1.0, 2.0], [3.0]] and is [[1.0, 5.0], [3.0]]" in message


def test_a_variable_may_be_deleted():
    k = 2.0
    system = pi.acceleration(lambda t, x, v: -k * x, dof=1)  # noqa: F821
    del k
    assert told(USES["integrate"], system) == []


def test_a_compiled_force_is_watched_too(monkeypatch):
    system = pi.acceleration(FORCES["global"], dof=1)
    monkeypatch.setitem(globals(), "strength", 4.0)
    assert len(told(lambda system: system.compile(), system)) == 1


def test_nothing_is_said_of_what_is_no_number_or_the_same(monkeypatch):
    def force(t, x, v):
        return -x * len(settings) * strength * table * (1.0 if label == "one" else 2.0)

    system = pi.acceleration(force, dof=2)
    monkeypatch.setitem(globals(), "label", "two")
    monkeypatch.setitem(globals(), "settings", {"k": 2.0})
    monkeypatch.setitem(globals(), "strength", np.float64(3))
    monkeypatch.setitem(globals(), "table", table.copy())
    assert told(USES["integrate"], system) == []
    monkeypatch.setitem(globals(), "strength", "weak")
    monkeypatch.delitem(globals(), "table")
    assert told(USES["integrate"], system) == []


def test_saved_and_pickled_systems_have_left_the_variables_behind(monkeypatch, tmp_path):
    system = pi.acceleration(FORCES["global"], dof=1)
    sol = pi.integrate(system, dt=0.1, n_steps=3)
    sol.save(tmp_path / "kept.npz")
    again = pickle.loads(pickle.dumps(system))
    monkeypatch.setitem(globals(), "strength", 4.0)
    loaded = pi.load(tmp_path / "kept.npz")
    assert loaded.system == again == system
    assert told(USES["integrate"], again) == []
    assert told(USES["integrate"], loaded.system) == []


def test_a_column_of_a_table_that_has_changed_is_told():
    table = pytest.importorskip("pandas").DataFrame({"height": [0.0, 10.0], "wind": [1.0, 3.0]})
    blown = pi.acceleration(lambda t, x, v: np.interp(x, table.height, table["wind"]))
    table.loc[1, "wind"] = 30.0
    with pytest.warns(UserWarning, match="wind was 0 1.0 1 3.0 .* and is 0 1.0 1 30.0"):
        pi.integrate(blown, 5.0, 0.0, dt=0.1, n_steps=1)


class Stored:
    """An array of dask, or in a file: to read it may take minutes."""

    dtype, shape = np.dtype(float), (3,)

    def __array__(self, *types, **more):
        pytest.fail("it was read")


def test_an_array_that_is_not_in_memory_is_not_read():
    stored = Stored()
    force = pi.acceleration(lambda t, x, v: -stored.shape[0] * x)
    stored = Stored()
    sol = pi.integrate(force, 1.0, 0.0, dt=0.5, n_steps=1, method="explicit_euler")
    assert sol.final.tolist() == [1.0, -1.5]
