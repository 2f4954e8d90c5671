"""What a user's function may be, and the error where it may not: its name, the line, the cure."""

import math
import pickle
import re
import sys
import warnings

import numpy as np
import pytest

import pyintegrate as pi

CURE = "trace=False"


def refused(kind, error=TypeError, **options):
    """The message with which a function is refused."""

    def check(function):
        with pytest.raises(error) as caught:
            getattr(pi, kind)(**options)(function)
        return str(caught.value)

    return check


# ---- what cannot be traced -----------------------------------------------------------------------
UNTRACEABLE = {
    "if x > 0": lambda t, x, v: -x if x > 0 else x,  # LINE if x > 0
    "while": lambda t, x, v: [x for _ in iter(lambda: x > 0, False)],  # LINE while
    "and": lambda t, x, v: x > 0 and v,  # LINE and
    "min": lambda t, x, v: min(x, v),  # LINE min
    "chained": lambda t, x, v: np.where(0 < x < 1, x, v),  # LINE chained
    "float": lambda t, x, v: float(x),  # LINE float
    "int": lambda t, x, v: int(x),  # LINE int
    "math": lambda t, x, v: math.sin(x),  # LINE math
    "range": lambda t, x, v: sum(range(x)),  # LINE range
    "index": lambda t, x, v: [1.0, 2.0][x],  # LINE index
    "float array": lambda t, x, v: np.array([x, v], dtype=float),  # LINE float array
    "fill": lambda t, x, v: np.zeros(2).__setitem__(0, x),  # LINE fill
    "unknown": lambda t, x, v: np.fft.fft(np.stack([x, v])),  # LINE unknown
    "i0": lambda t, x, v: np.i0(x),  # LINE i0
    "out": lambda t, x, v: np.sin(x, out=np.zeros(1)),  # LINE out
    "into numbers": lambda t, x, v: np.add(a := np.zeros(1), x, out=a)[0],  # LINE into numbers
    "complex": lambda t, x, v: x * 1j,  # LINE complex
    "string": lambda t, x, v: x + "1",  # LINE string
    "name": lambda t, x, v: x * strength,  # noqa: F821  LINE name
    "component": lambda t, x, v: x[0],  # LINE component
    "format": lambda t, x, v: f"{x:g}",  # LINE format
    "compared arrays": lambda t, x, v: np.minimum(np.array([x, v]), 0.0)[0],  # LINE compared arrays
    "bits": lambda t, x, v: x & v,  # LINE bits
    "argmax": lambda t, x, v: np.argmax(np.stack([x, v])),  # LINE argmax
    "norm": lambda t, x, v: np.linalg.norm(np.stack([x, v]), ord=1),  # LINE norm
    "matrix": lambda t, x, v: np.linalg.norm(np.stack([x, v])[None], 2, (0, 1)),  # LINE matrix
    "knots": lambda t, x, v: np.interp(t, np.stack([x, v]), [0.0, 1.0]),  # LINE knots
    "nonzero": lambda t, x, v: np.where(x > 0),  # LINE nonzero
}


@pytest.mark.parametrize("name", UNTRACEABLE)
def test_what_cannot_be_traced_is_named_with_its_line_and_cure(name):
    with open(__file__) as file:
        line = next(i for i, text in enumerate(file, 1) if text.endswith(f"LINE {name}\n"))
    function = UNTRACEABLE[name]
    function.__name__ = "swing"
    message = refused("acceleration", dof=1)(function)
    assert message.startswith("swing() cannot be traced: ")
    assert f"{__file__}:{line}" in message
    assert "\n  cure: " in message
    assert len(message) < 700


def test_the_line_is_that_of_a_helper():
    def helper(x):
        return 1.0 if x > 0 else 2.0  # LINE helper

    def swing(t, x, v):
        return helper(x) * v

    message = refused("acceleration")(swing)
    with open(__file__) as file:
        line = next(i for i, text in enumerate(file, 1) if text.endswith("LINE helper\n"))
    assert f"{__file__}:{line}: return 1.0 if x > 0 else 2.0" in message
    assert "np.where" in message
    assert CURE in message


def test_arguments_are_not_changed():
    def indexed(t, x, v):
        x[0] = 1.0
        return x

    def added(t, x, v):
        x += v
        return x

    def parameter(t, x, v, k):
        k[1] = 3.0
        return x * k

    assert "changes its arguments" in refused("acceleration", dof=2)(indexed)
    assert "changes its arguments" in refused("acceleration", dof=2)(added)
    assert "changes its arguments" in refused("acceleration", dof=2, k=[1.0, 2.0])(parameter)
    untraced = refused("acceleration", ValueError, dof=2, trace=False)
    assert "indexed() changes its arguments" in untraced(indexed)

    def middle(t, y):  # of so many that NumPy prints the first and the last ones only
        y[1000] = 0.0
        return -y

    assert "changes its arguments" in refused("rhs", ValueError, dim=2000, trace=False)(middle)


def test_an_error_of_the_tracer_that_is_caught_is_told():
    """Near t = 0 the table is 0, as it is past its end: nothing else would tell."""

    def pushed(t, x, v):
        try:
            return [0.0, 0.0, 5.0][int(t)]
        except Exception:
            return 0.0

    assert "it needs a whole number" in refused("acceleration", dof=1)(pushed)

    def parted(t, y):
        try:
            return [1.0] if y > 1 else [2.0]
        except TypeError:
            return [3.0]

    assert "it decides by the truth" in refused("rhs", dim=1)(parted)


def test_recursion_and_endless_work():
    def recursive(t, x, v):
        return recursive(t, x, v) + 1

    assert "calls itself without end" in refused("acceleration", dof=1)(recursive)

    turns = []

    def endless(t, x, v):
        for i in range(10**7):
            turns.append(i)
            x = np.sin(x) + i
        return x

    message = refused("acceleration", dof=1)(endless)
    assert "more than 200000 operations" in message
    assert "x = np.sin(x) + i" in message
    assert max(turns) <= 200_000
    turns.clear()  # nor is it traced for one guess of dof after the other
    assert "tried without dof=" in refused("acceleration")(endless)
    assert len(turns) <= 200_000

    def steep(x):
        return sum(np.sin(x + i) * np.cos(x * i) for i in range(15_000))

    message = refused("potential")(steep)  # the gradient is too long
    assert "more than 200000 operations\n  cure: write loops" in message


def test_results_are_real_and_of_the_right_number():
    wrong = [
        (lambda t, x, v: (x, v), {"dof": 1}, "returns 2 components, expected 1 component (dof=1)"),
        (lambda t, x, v: x, {"dof": 3, "k": 1}, "which <lambda>() does not take"),
        (lambda t, x, v: x[:2], {"dof": 3}, "returns 2 components, expected 3 components (dof=3)"),
        (lambda t, x, v: None, {"dof": 2}, "returns None, expected 2 components"),
        (lambda t, x, v: x[0], {"dof": 2}, "returns a scalar, expected 2 components"),
        (lambda t, x, v: np.nan, {"dof": 1}, "returns NaN"),
        (lambda t, x, v: np.log(-(x**2) - 1), {"dof": 1}, "returns NaN at every point"),
        (lambda t, x, v: 1j, {"dof": 1}, "returns what is no real number"),
        (lambda t, x, v: [[1, 2], [3, 4]], {"dof": 2}, "returns an array of shape (2, 2)"),
        (lambda t, x, v: np.eye(2) @ x.reshape(2, 1), {"dof": 2}, "an array of shape (2, 1), exp"),
        (lambda t, x, v: {"x": x[0]}, {"dof": 2}, "returns a dict, expected 2 components"),
        (lambda t, x, v: [x, 1.0], {"dof": 2}, "returns a ragged array, expected 2 components"),
        (lambda t, x, v: [[1], [3, 4]], {"dof": 2}, "returns a ragged array"),
        (lambda t, x, v: "abc", {"dof": 1}, "real number"),
    ]
    for function, options, message in wrong:
        with pytest.raises((TypeError, ValueError), match=re.escape(message)):
            pi.acceleration(**options)(function)
    with pytest.raises(ValueError, match=re.escape("f() returns 2 components, expected 3")):

        @pi.rhs(dim=3)
        def f(t, y):
            return y[0], y[1]


def test_random_functions_are_noticed():
    generator = np.random.default_rng(0)

    def noisy(t, x, v):
        return -x + generator.normal()

    assert "it is random" in refused("acceleration", ValueError, dof=1)(noisy)
    draw, again = generator.normal, "it gives another formula when it is called again"
    with pytest.raises(TypeError, match=again):
        pi.hamiltonian(lambda q, p: p * p / 2 + draw() * q * q)
    with pytest.raises(TypeError, match=again):
        pi.potential(lambda x: draw() * x * x)
    with pytest.raises(TypeError, match=again):
        pi.acceleration(energy=lambda t, x, v: draw() * x)(lambda t, x, v: -x)


@pytest.mark.parametrize("made", [
    lambda q: np.zeros_like(q, dtype=int), lambda q: np.full_like(q > 0, True),
], ids=["int", "bool"])  # fmt: skip
def test_arrays_that_would_round_are_noticed(made):
    """In NumPy an array of truth values or whole numbers rounds what is written into it."""

    def energy(q, p):
        kept = made(q)
        kept[0] = 1.5 * q[0]
        return p @ p / 2 + kept @ kept

    with pytest.raises(TypeError, match="a whole number|the truth of a symbol"):
        pi.hamiltonian(dof=2)(energy)
    pi.potential(dof=2)(lambda q: (made(q) * q) @ q)


def test_numbers_in_an_array_of_truth_values_are_noticed():
    def energy(q, p):
        inside = q > 0
        inside[0] = 2 * q[0]  # True, in NumPy
        return p @ p / 2 + inside @ q

    with pytest.raises(TypeError, match="writes a number into an array of truth values"):
        pi.hamiltonian(dof=2)(energy)


def test_names_in_a_function_make_no_module_warn():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pi.rhs(dim=1)(lambda t, y: np.multiply(y, len("object")))  # np.object is deprecated
    assert not caught


# ---- arguments and options -----------------------------------------------------------------------
def test_arguments_of_the_function_are_checked():
    cases = [
        ("acceleration", lambda t, x: x, "expected <lambda>(t, x, v, ...)"),
        ("acceleration", lambda t, x, k: x, "<lambda>(t, x, k) has the wrong arguments"),
        ("rhs", lambda t: t, "expected <lambda>(t, y, ...)"),
        ("hamiltonian", lambda q: q, "expected <lambda>(q, p, ...) or <lambda>(t, q, p, ...)"),
        ("potential", lambda: 1.0, "expected <lambda>(x, ...) or <lambda>(t, x, ...)"),
        ("acceleration", lambda *a: a, "takes *a"),
        ("acceleration", lambda t, x, v, **k: x, "takes **k"),
        ("acceleration", lambda self, t, x, v: x, "take the method of an object, outside of its"),
        ("acceleration", lambda t, x, v, b: x, "'b', which has no default value"),
        ("rhs", lambda t, x, v: x, "; x'' = a(t, x, v) is for @pi.acceleration"),
    ]
    for kind, function, message in cases:
        options = {"k": 1.0} if "(t, x, k)" in message else {}
        assert message in refused(kind, **options)(function)
    assert "takes a function, got 3" in str(pytest.raises(TypeError, pi.rhs, 3).value)
    told = str(pytest.raises(TypeError, pi.sde, lambda t, y: -y, lambda t, y: 1, dim=1).value)
    assert "from one function that returns f and g" in told


def test_options_are_checked():
    def f(t, x, v, k=1.0):
        return -k * x

    cases = [
        ({"units": {"z": "m"}}, ValueError, "units has 'z'"),
        ({"units": "m"}, TypeError, "units must be a dictionary"),
        ({"state_names": ("x",)}, ValueError, "state_names must be 2 different names"),
        ({"state_names": ("x", "x")}, ValueError, "state_names must be 2 different names"),
        ({"state_names": ("x", "k")}, ValueError, "none of a parameter"),
        ({"state_names": ("x", "t")}, ValueError, "or of the time, t"),
        ({"initial": [1.0, 2.0, 3.0]}, ValueError, "initial must be 2 finite numbers"),
        ({"initial": [1.0, np.nan]}, ValueError, "initial must be 2 finite numbers"),
        ({"energy": 3.0}, TypeError, "energy must be a function"),
        ({"energy": int}, TypeError, "no signature that Python can read"),
        ({"energy": lambda t, x, v: x}, TypeError, "expected the arguments of f(), t, x, v, k"),
        ({"energy": lambda t, x, v, k: (x, v)}, ValueError, "expected one number"),
        ({"exact": lambda t, x, k: x}, TypeError, "expected the arguments of f()"),
        ({"trace": 1}, TypeError, "trace must be True or False"),
        ({"dof": 0}, ValueError, "dof must be at least 1"),
        ({"dof": 1.5}, TypeError, "dof must be an integer"),
        ({"name": 3}, TypeError, "name must be a string"),
        ({"k": "stiff"}, TypeError, "parameter k must hold real numbers"),
        ({"k": [[1.0], [1.0, 2.0]]}, ValueError, "parameter k must be"),
        ({"q": 1.0}, TypeError, "got 'q', which f() does not take"),
        ({"dim": 2}, TypeError, "its parameters are k, the options dof, name"),
    ]
    for options, error, message in cases:
        assert message in refused("acceleration", error, **{"dof": 1, **options})(f), options
    assert "knows its energy" in refused("hamiltonian", energy=f)(lambda q, p: q)
    assert "the options dim, name" in refused("rhs", dof=1)(lambda t, y: y)
    assert "needs a trace" in refused("hamiltonian", trace=False)(lambda q, p: q)


# ---- a system like the others --------------------------------------------------------------------
@pi.acceleration(
    k=15.0,
    b=0.1,
    title="a spring",
    state_names=("position", "speed"),
    units={"position": "m", "speed": "m/s", "k": "1/s^2", "t": "s"},
    initial=[2.0, 0.0],
    energy=lambda t, x, v, k, b: v**2 / 2 + k * x**2 / 2,
)
def damped(t, x, v, k, b):
    """A spring of unit mass."""
    return -k * x - b * v


def test_options_show():
    assert damped.title == "a spring"
    assert damped.name == "damped"
    assert damped.reference == "A spring of unit mass."
    assert damped.state_names == ("position", "speed")
    assert dict(damped.units) == {
        "position": "m", "speed": "m/s", "k": "1/s^2", "b": "1", "t": "s",
    }  # fmt: skip
    assert np.array_equal(damped.initial, [2.0, 0.0])
    assert (damped.dim, damped.dof, damped.structure) == (2, 1, "second_order")
    assert damped.velocity_dependent
    assert repr(damped(k=np.arange(3.0))) == "damped(k=(0, 1, 2), b=0.1)"
    html = damped._repr_html_()
    assert "speed&#x27; = -k position - b speed" in html
    assert "1/s^2" in html
    assert damped.equation.startswith("position' = speed; speed' = -k position - b speed; E = ")
    assert "multiply_minus_product" in repr(damped.program)
    assert "y0, d0" in repr(damped.program)


def test_energy_and_exact():
    y = np.array([[1.0, 2.0], [0.0, 1.0]])
    assert np.allclose(damped(k=[2.0, 3.0]).energy(y), [3.0, 0.5])
    assert damped.has_energy
    free = pi.acceleration(dof=1)(lambda t, x, v: -x)
    assert not free.has_energy
    assert free.energy([1.0, 0.0]) is None
    assert free.exact([0.0], [1.0, 0.0]) is None

    def swing(t, x, v, omega):
        c, s = np.cos(omega * t), np.sin(omega * t)
        return x * c + v / omega * s, v * c - omega * x * s

    @pi.acceleration(omega=2.0, exact=swing)
    def oscillator(t, x, v, omega):
        return -(omega**2) * x

    omega = np.array([1.0, 2.0, 3.0])
    ours = oscillator(omega=omega).exact([1.0, 2.5], [[1.0, 0.5]] * 3, t0=0.5)
    theirs = pi.systems.oscillator(omega=omega).exact([1.0, 2.5], [[1.0, 0.5]] * 3, t0=0.5)
    assert ours.shape == (2, 3, 2)
    assert np.allclose(ours, theirs, rtol=1e-13, atol=0)


@pytest.mark.parametrize("batch", [(), (2,), (3, 1)])
@pytest.mark.parametrize("n", [1, 2, 3])  # as many times as components, too
def test_exact_may_compute_with_vectors(batch, n):
    def exact(t, x, v, w):
        return x * np.cos(w * t) + v / w * np.sin(w * t), v * np.cos(w * t) - w * x * np.sin(w * t)

    swing = pi.acceleration(dof=2, w=[1.0, 2.0], exact=exact)(lambda t, x, v, w: -w * w * x)
    y = np.random.default_rng(0).uniform(1, 2, (*batch, 4))
    t = np.linspace(1.0, 2.0, n)
    one = [pi.systems.oscillator(omega=w).exact(t, y[..., i::2]) for i, w in enumerate((1.0, 2.0))]
    np.testing.assert_allclose(swing.exact(t, y), np.stack(one, -1).reshape(n, *batch, 4), 1e-12)


@pytest.mark.parametrize(
    ("exact", "told"),
    [
        (lambda t, y: 1j * y, "returns complex"),
        (lambda t, y: None, "returns 1 components"),
        (lambda t, y: y[0] * np.exp(-t), "returns 1 components"),
    ],
)
def test_exact_is_real_and_whole(exact, told):
    decay = pi.rhs(dim=2, exact=exact)(lambda t, y: -y)
    with pytest.raises((TypeError, ValueError), match=told):
        decay.exact([0.0, 1.0], [1.0, 1.0])


def test_exact_of_one_component_needs_no_list():
    decay = pi.rhs(dim=1, exact=lambda t, y: y[0] * np.exp(-t))(lambda t, y: -y)
    assert decay.exact([0.0, np.log(2.0)], [1.0]).tolist() == [[1.0], [0.5]]


def test_components_are_found_where_possible():
    assert pi.rhs(lambda t, y: [y[1] * y[2], -y[0], y[0]]).dim == 3
    assert pi.acceleration(lambda t, x, v: -x).dof == 1
    assert pi.acceleration(lambda t, x, v: (x[1], -x[0])).dof == 2
    assert pi.rhs(initial=[1.0, 2.0])(lambda t, y: -y).dim == 2
    assert pi.acceleration(state_names="x y u v")(lambda t, x, v: -x).dof == 2
    with pytest.raises(ValueError, match="works with 1, 2, .*: give dim="):
        pi.rhs(lambda t, y: -y)
    with pytest.raises(TypeError, match="tried without dof="):
        pi.acceleration(lambda t, x, v: math.sin(x[0]))


def test_systems_are_values():
    def make(factor):
        return pi.acceleration(name="f", k=1.0)(lambda t, x, v, k: factor * k * x)

    assert make(2.0) == make(2.0)
    assert make(2.0) != make(3.0)
    assert make(2.0)(k=2.0) != make(2.0)
    assert hash(make(2.0)) == hash(make(2.0))
    assert make(2.0) != pi.systems.oscillator
    for system in (damped, damped(k=np.arange(3.0))):
        again = pickle.loads(pickle.dumps(system))
        assert again == system
        assert repr(again.program) == repr(system.program)
        assert np.array_equal(again.rhs(0.0, again.initial), system.rhs(0.0, system.initial))
    with pytest.raises(AttributeError, match="immutable"):
        damped.name = "other"
    with pytest.raises(TypeError, match="no parameter 'kk': did you mean 'k'"):
        damped(kk=1.0)
    with pytest.raises(TypeError, match="not hashable"):
        hash(damped(k=[1.0, 2.0]))


# ---- costs ---------------------------------------------------------------------------------------
def calls_to_define(operations):
    """Calls of Python functions while a force of so many operations is defined."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    def force(t, x, v):
        for i in range(operations // 2):
            x = np.sin(x) + 0.1 * i
        return x

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        pi.acceleration(dof=1)(force)
    finally:
        sys.setprofile(before)
    return calls


def test_the_work_of_a_definition_is_proportional_to_its_operations():
    calls_to_define(100)  # what is imported and kept once
    few, many, most = map(calls_to_define, (100, 1000, 2000))
    assert many < 10 * few
    assert most - many == pytest.approx((many - few) * 1000 / 900, rel=0.1)


def test_module_is_light():
    code = "import sys, pyintegrate; print('pyintegrate.trace.graph' in sys.modules)"
    import subprocess

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
