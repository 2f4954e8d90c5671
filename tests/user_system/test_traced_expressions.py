"""What a plain function computes, its byte code computes: random expressions, every function.

A bound is carried along with each random expression: the error of a result is that of its
arguments, magnified by the derivative, and ULPS units in the last place of its own. Fused
multiply-adds and functions good to 2 ulp (NumPy's to 4) stay below.
"""

import warnings
from fractions import Fraction
from math import factorial

import numpy as np
import pytest

import pyintegrate as pi

ULPS = 4
COMPONENTS, SYSTEMS, DEPTH = 20, 50, 5  # 1,000 expressions


def unary(f, slope):
    return lambda a: (f(a), [slope(a)])


def wide(name):
    return getattr(np, name)


# name -> function of values that gives the value and its partial derivatives
OPERATIONS = {
    "add": lambda a, b: (a + b, [1, 1]),
    "subtract": lambda a, b: (a - b, [1, 1]),
    "multiply": lambda a, b: (a * b, [b, a]),
    "divide": lambda a, b: (a / (1.5 + b * b), [1 / (1.5 + b * b), 2 * a * b / (1.5 + b * b) ** 2]),
    "square": unary(lambda a: a**2, lambda a: 2 * a),
    "cube": unary(lambda a: a**3, lambda a: 3 * a**2),
    "sqrt": unary(lambda a: np.sqrt(1 + abs(a)), lambda a: 1),
    "sin": unary(np.sin, np.cos),
    "cos": unary(np.cos, np.sin),
    "exp": unary(lambda a: np.exp(-(a * a)), lambda a: 2 * a * np.exp(-(a * a))),
    "log1p": unary(lambda a: np.log1p(a * a), lambda a: 1),
    "tanh": unary(np.tanh, lambda a: 1 - np.tanh(a) ** 2),
    "arctan": unary(np.arctan, lambda a: 1 / (1 + a * a)),
    "power": unary(lambda a: (1 + a * a) ** 0.3, lambda a: abs(a)),
    "absolute": unary(abs, lambda a: 1),
    "negative": unary(lambda a: -a, lambda a: 1),
    "minimum": lambda a, b: (np.minimum(a, b), [1, 1]),
    "maximum": lambda a, b: (np.maximum(a, b), [1, 1]),
    "hypot": lambda a, b: (np.hypot(a, b), [1, 1]),
    "arctan2": lambda a, b: (np.arctan2(a, 1 + b * b), [1, 2 * abs(a * b)]),
}
# operations inside one of the above, whose errors count too
INNER = {"divide": 3, "sqrt": 2, "exp": 3, "log1p": 3, "power": 3, "arctan2": 3, "cube": 2}


def random_tree(generator, depth):
    """A leaf ("y", i), ("c", value) or an operation on trees."""
    if depth == 0 or generator.random() < 0.1:
        if generator.random() < 0.2:
            return ("c", float(generator.normal()))
        return ("y", int(generator.integers(COMPONENTS)))
    if generator.random() < 0.08:
        i = int(generator.integers(COMPONENTS))
        return ("where", i, random_tree(generator, depth - 1), random_tree(generator, depth - 1))
    name = str(generator.choice(list(OPERATIONS)))
    arity = OPERATIONS[name].__code__.co_argcount
    return (name, *(random_tree(generator, depth - 1) for _ in range(arity)))


def value(tree, y):
    """Plain NumPy, or symbols."""
    kind, *rest = tree
    if kind == "y":
        return y[rest[0]]
    if kind == "c":
        return rest[0]
    if kind == "where":
        return np.where(y[rest[0]] > 0.25, value(rest[1], y), value(rest[2], y))
    arguments = [value(part, y) for part in rest]
    if all(isinstance(a, float) for a in arguments):
        arguments[0] = arguments[0] + 0 * y[0]
    return OPERATIONS[kind](*arguments)[0]


def bounded(tree, y, eps):
    """(value, bound of the error) in wide numbers."""
    kind, *rest = tree
    if kind == "y":
        return y[rest[0]], 0
    if kind == "c":
        return np.longdouble(rest[0]), abs(rest[0]) * eps
    if kind == "where":
        (a, ea), (b, eb) = (bounded(part, y, eps) for part in rest[1:])
        return np.where(y[rest[0]] > 0.25, a, b), np.where(y[rest[0]] > 0.25, ea, eb)
    parts = [bounded(part, y, eps) for part in rest]
    result, slopes = OPERATIONS[kind](*(v for v, _ in parts))
    error = sum(abs(s) * e for s, (_, e) in zip(slopes, parts, strict=True))
    size = abs(result) + sum(abs(s * v) for s, (v, _) in zip(slopes, parts, strict=True))
    return result, error + ULPS * INNER.get(kind, 1) * eps * size


@pytest.mark.parametrize("number", range(SYSTEMS))
def test_random_expressions_agree_with_numpy(number):
    generator = np.random.default_rng(number)
    trees = [random_tree(generator, DEPTH) for _ in range(COMPONENTS)]

    @pi.rhs(dim=COMPONENTS, initial=generator.normal(size=COMPONENTS))
    def system(t, y):
        return [value(tree, y) for tree in trees]

    for dtype in (np.float64, np.float32):
        y = generator.normal(size=(37, COMPONENTS)).astype(dtype)
        traced = system.rhs(0.0, y)
        assert traced.dtype == dtype
        with np.errstate(all="ignore"):
            for i, tree in enumerate(trees):
                exact, error = bounded(tree, y.T.astype(np.longdouble), np.finfo(dtype).eps)
                close = abs(traced[:, i] - exact) <= error + np.finfo(dtype).tiny
                assert np.all(close | ~np.isfinite(exact) | (exact > 1e30)), tree


# ---- every function ------------------------------------------------------------------------------
ONE = """
sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh exp exp2 expm1 log log2 log10
log1p sqrt cbrt square reciprocal absolute fabs negative positive sign floor ceil trunc rint
radians degrees deg2rad rad2deg sinc fix
""".split()  # noqa: SIM905
TWO = """
add subtract multiply divide power float_power arctan2 hypot minimum maximum fmin fmax copysign
remainder fmod floor_divide heaviside logaddexp
""".split()  # noqa: SIM905
TESTS = "less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor"


def ask(function, x, **options):
    """function(x) for each number of x, through byte code."""
    system = pi.rhs(dim=1, initial=[x[0]], **options)(function)
    return system.rhs(0.0, np.reshape(x, (-1, 1)))[:, 0]


@pytest.mark.filterwarnings("ignore:numpy.fix:DeprecationWarning")
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name):
    x = np.linspace(-0.97, 0.97, 40)
    if name.startswith("log") or name == "sqrt":
        x = x + 0.98
    expected = getattr(np, name)(x)
    assert np.allclose(ask(lambda t, y: [getattr(np, name)(y[0])], x), expected, rtol=2e-15, atol=0)
    if name == "absolute":
        assert np.array_equal(ask(lambda t, y: [abs(y[0])], x), expected)


@pytest.mark.parametrize("other", [-1.0, -0.0, 0.0, 2.0, np.inf, np.nan])
@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal"])
def test_magnitudes_are_compared_from_both_sides(name, other):
    """With no corner where what has the magnitude is zero."""
    x = np.array([-np.inf, -2.0, -1.0, -0.0, 0.0, 0.5, 2.0, 3.0, np.inf, np.nan])
    compare = getattr(np, name)
    for first in (True, False):

        def holds(a, first=first):
            return compare(abs(a), other) if first else compare(other, abs(a))

        def rate(t, y):
            return [np.where(holds(y[0]), 1.0, 0.0)]

        system = pi.rhs(rate, dim=1)
        assert np.array_equal(system.rhs(0.0, x[:, np.newaxis])[:, 0], holds(x))
        assert "absolute" not in str(system.program)


@pytest.mark.parametrize("extreme", [np.maximum, np.minimum])
@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal"])
def test_extremes_are_compared_one_by_one(name, extreme):
    """As the magnitudes are, unless one may be a NaN, which an extreme would hand on."""
    y = np.random.default_rng(4).integers(-2, 3, (60, 3)) * 1.0
    compare = getattr(np, name)

    def rate(t, y):
        extremes = extreme(extreme(abs(y[0]), y[1]), -0.5), extreme(abs(y[2]), y[0])
        holds = compare(extremes[0], y[2]), compare(1.0, extremes[1]), compare(*extremes)
        return [np.where(one, 1.0, 0.0) for one in holds]

    system = pi.rhs(rate, dim=3)
    assert np.array_equal(system.rhs(0.0, y), np.transpose(rate(0.0, y.T)))
    assert not {"maximum", "minimum", "absolute"} & {*str(system.program).split()}
    system = pi.rhs(lambda t, y: [np.where(extreme(np.sqrt(y[0]), 1.0) > -9, 1.0, 0.0)], dim=1)
    assert system.rhs(0.0, [[4.0], [-4.0]])[:, 0].tolist() == [1, 0]


def test_extremes_that_share_extremes_are_compared_once():
    """Else a sorted list of 30 numbers has millions of comparisons."""

    def rate(t, y):
        a = [*y]
        for i in range(30):
            for j in range(29 - i):
                a[j : j + 2] = np.minimum(a[j], a[j + 1]), np.maximum(a[j], a[j + 1])
        return [np.where(a[15] > 0.0, 1.0, 0.0)] * 30

    y = np.random.default_rng(0).normal(size=(20, 30))
    system = pi.rhs(rate, dim=30)
    assert np.array_equal(system.rhs(0.0, y)[:, 0], np.sort(y)[:, 15] > 0)
    assert len(system.traced.graph.nodes) < 5000


def test_sinc_at_zero_and_beyond():
    """The argument is rounded as NumPy rounds it; near zeros of the sine that is what counts."""
    x = np.array([-2.5, -1.0, -1e-9, 0.0, 5e-324, 1.0, 7.25, 100.0])
    assert np.allclose(ask(lambda t, y: [np.sinc(y[0])], x), np.sinc(x), rtol=4e-15, atol=1e-30)
    well = pi.potential(lambda q: -np.sinc(q), dof=1)
    assert well.acceleration(0.0, [[0.0], [1.0]], np.zeros((2, 1))).tolist() == [[0.0], [-1.0]]


@pytest.mark.parametrize("other", [-np.inf, 0.0, 800.0, np.inf])
def test_logaddexp_of_large_and_infinite_numbers(other):
    x = np.array([-np.inf, -800.0, 0.0, 800.0, np.inf])
    system = pi.rhs(lambda t, y: [np.logaddexp(y[0], other)], dim=1)
    assert np.allclose(
        system.rhs(0.0, x[:, None])[:, 0], np.logaddexp(x, other), rtol=4e-15, atol=0
    )


@pytest.mark.parametrize("kind", [divmod, np.divmod])
def test_quotients_with_remainders(kind):
    x = np.array([-7.5, 0.3, 6.5])
    for system, expected in (
        (pi.rhs(lambda t, y: kind(y[0], 2.0), dim=2), np.divmod(x, 2.0)),
        (pi.rhs(lambda t, y: kind(2.0, y[0]), dim=2), np.divmod(2.0, x)),
    ):
        got = system.rhs(0.0, np.stack([x, x], axis=1))
        assert np.allclose(got, np.transpose(expected), rtol=4e-15, atol=0)


@pytest.mark.parametrize(
    "force",
    [
        lambda t, y: y * np.where(np.all(y > 0), 2.0, np.any(y > 0)),
        lambda t, y: y * np.where((y > 0).all(), 2.0, (y > 0).any()),
    ],
    ids=["functions", "methods"],
)
def test_whole_conditions(force):
    system = pi.rhs(force, dim=2)
    y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    assert system.rhs(0.0, y).tolist() == [[2.0, 2.0], [1.0, -1.0], [0.0, 0.0]]


def test_arccosh():
    x = np.concatenate([1 + np.geomspace(1e-10, 1, 20), np.linspace(2, 50, 10)])
    assert np.allclose(ask(lambda t, y: [np.arccosh(y[0])], x), np.arccosh(x), rtol=2e-15, atol=0)


def of_first(function):
    return lambda t, y: [function(y[0])]


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("other", [0.7, -1.3, 2.0])
def test_functions_of_two_numbers(name, other):
    x = np.array([-7.5, -1.3, -0.5, 0.0, 0.25, 0.7, 1.0, 2.0, 6.5])
    function = getattr(np, name)
    if name in ("power", "float_power"):
        x = abs(x) + 0.25
    for forward in (True, False):
        if name in ("divide", "remainder", "fmod", "floor_divide") and not forward:
            x = x[x != 0]
        if "power" in name and not forward and other < 0:
            continue  # NaN for most exponents

        def compute(y, forward=forward):
            return function(y, other) if forward else function(other, y)

        with np.errstate(all="ignore"):
            expected = compute(x)
            got = ask(of_first(compute), x)
        assert np.allclose(got, expected, rtol=4e-15, atol=1e-15), (forward, got, expected)


@pytest.mark.parametrize("unit", [0.1, -0.7, 3.0])
def test_remainders_where_the_quotient_rounds_to_a_whole_number(unit):
    x = np.nextafter(np.arange(-40, 41) * unit, 0)
    expected = np.remainder(x, unit)
    assert np.allclose(ask(lambda t, y: [y[0] % unit], x), expected, rtol=1e-14, atol=0)
    assert np.allclose(
        ask(lambda t, y: [np.fmod(y[0], unit)], x), np.fmod(x, unit), rtol=1e-14, atol=0
    )


@pytest.mark.parametrize("name", TESTS.split())
def test_comparisons_and_logic(name):
    x = np.array([-1.0, 0.0, 0.5, 1.0, np.inf])
    function = getattr(np, name)
    expected = np.where(function(x, 0.5), 3.0, -2.0)
    assert np.array_equal(
        ask(lambda t, y: [np.where(function(y[0], 0.5), 3.0, -2.0)], x[:-1]), expected[:-1]
    )


def test_truth_values_are_numbers_and_combine():
    x = np.linspace(-2, 2, 9)

    def f(t, y):
        a = y[0]
        inside = (a > -1) & ~(a >= 1) | (a == 2)
        return [inside * 3.0 + np.where(np.logical_not(inside), a, 0.0) - (a < 0)]

    def g(a):
        inside = (a > -1) & ~(a >= 1) | (a == 2)
        return inside * 3.0 + np.where(inside, 0.0, a) - (a < 0)

    assert np.array_equal(ask(f, x), g(x))


@pytest.mark.parametrize(
    "force",
    [
        lambda y: (y[0] > 5) + (y[1] > 5),
        lambda y: (y > 5) @ (y > 5),
        lambda y: np.sum([y[0] > 5, y[1] > 5]),
        lambda y: np.sum(np.diff(y > 5)),
    ],
)
def test_a_sum_of_truth_values_is_refused(force):
    """NumPy's is a truth value or a number; near the default state nothing tells them apart."""
    with pytest.raises(TypeError, match=r"[+-] of two truth values.*\n.*\n.*np.where"):
        pi.rhs(dim=2, initial=[1.0, 1.0])(lambda t, y: [-1.0 * force(y), 0.0])


def test_products_of_truth_values_are_truth_values():
    both = pi.rhs(dim=2)(lambda t, y: [(y[0] > 0) * (y[1] > 0) | (y[0] > 5), y[0]])
    assert both.rhs(0.0, [[1.0, 1.0], [1.0, -1.0], [6.0, -1.0]])[:, 0].tolist() == [1, 0, 1]


def test_one_number_alone_is_all_and_any_as_a_truth_value():
    one = pi.rhs(dim=1)(lambda t, y: [np.any(y) + 2.0 * np.all(y[0]) + 4.0 * y.any()])
    assert one.rhs(0.0, [[3.0], [0.0]]).ravel().tolist() == [7, 0]


def test_an_array_of_a_vector_is_the_vector():
    """Where NumPy copies nothing: of a Hamiltonian nothing but its trace is looked at."""

    def energy(q, p):
        z = np.zeros_like(q)
        np.asarray(z)[0], np.array(z)[1] = q[0] ** 2, q[1]
        return p @ p + z.sum()

    assert pi.hamiltonian(energy, dof=2).energy([3.0, 1.0, 0.0, 0.0]) == 9


def test_special_values_follow_numpy():
    """Infinities, zeros and NaN go through comparisons, minimum, sign and rounding as in NumPy."""
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e-300, 2.5, -3.5])
    functions = [
        lambda a: np.minimum(a, 1.0),
        lambda a: np.maximum(0.0, a),
        np.sign,
        np.floor,
        np.ceil,
        np.rint,
        np.trunc,
        lambda a: np.where(np.isnan(a), 5.0, np.where(np.isinf(a), 6.0, 7.0)),
        lambda a: np.where(np.isfinite(a), 1.0, 2.0),
        lambda a: np.clip(a, -2.0, 3.0),
        lambda a: np.fmax(a, 2.0),
        lambda a: np.heaviside(a, 0.5),
        lambda a: a**2,
    ]
    system = pi.rhs(dim=len(functions))(lambda t, y: [f(y[0]) for f in functions])
    y = np.zeros((len(x), len(functions)))
    y[:, 0] = x
    with np.errstate(all="ignore"):
        expected = np.stack([f(x) for f in functions], axis=-1)
    assert np.array_equal(system.rhs(0.0, y), expected, equal_nan=True)


@pytest.mark.parametrize(
    "exponent", [0, 1, 2, 3, 5, 10, -1, -2, -3, 0.5, 1.5, 2.5, -0.5, -1.5, 0.3]
)
def test_powers(exponent):
    x = np.geomspace(1e-3, 1e3, 31)
    assert np.allclose(ask(lambda t, y: [y[0] ** exponent], x), x**exponent, rtol=3e-15, atol=0)


# ---- arrays --------------------------------------------------------------------------------------
A = np.arange(9.0).reshape(3, 3) / 7 - 0.5

ARRAYS = {
    "unpacking": lambda x: (lambda a, b, c: [b * c, a - c, a * b])(*x),
    "slices": lambda x: np.concatenate([x[1:], x[:1]]) * x[::-1],
    "matrix times vector": lambda x: A @ x,
    "vector times matrix": lambda x: x @ A,
    "scalar products": lambda x: x * (x @ x) + np.dot(x, x) - np.inner(x, x) + np.vdot(x, x),
    "cross": lambda x: np.cross(x, np.array([1.0, 2.0, 3.0])) + np.cross(A[0], x),
    "norm": lambda x: x / np.linalg.norm(x) ** 3,
    "norms of rows": lambda x: np.linalg.norm(np.stack([x, x * 2, x - 1]), axis=1),
    "stack": lambda x: np.stack([x[2], x[0] * x[1], 1.0]),
    "array": lambda x: np.array([x[2], x[0] * x[1], 1.0]) * 2 + x,
    "nested array": lambda x: np.array([[x[0], 1.0, 0.0], [0.0, x[1], 2.0], [3.0, 0.0, x[2]]]) @ x,
    "list of vectors": lambda x: np.array([x, 2 * x, x * x]).sum(axis=0),
    "sums": lambda x: x.sum() + np.sum(x * x) - x.mean() + np.prod(x) + np.cumsum(x),
    "clip": lambda x: np.clip(x, -0.3, 0.4) + x.clip(0.0, 0.1),
    "extremes": lambda x: x * np.max(x) - x.min() + np.maximum.reduce(x),
    "where": lambda x: np.where(x > 0, x, 2 * x) + np.where(x[0] > x[1], x, A[1]),
    "interp": lambda x: np.interp(x, [-1.0, 0.0, 0.5, 2.0], [0.0, 1.0, -1.0, 3.0]),
    "interp outside": lambda x: np.interp(3 * x, [-0.5, 0.5], [1.0, 2.0], left=-7.0, right=9.0),
    "piecewise": lambda x: np.stack(
        [np.piecewise(c, [c < 0, c >= 0.2], [lambda z: -z, 2.0, 0.5]) for c in x]
    ),
    "select": lambda x: np.select([x < 0, x < 0.3], [x, x * x], 7.0),
    "polyval": lambda x: np.polyval([1.0, -2.0, 3.0], x),
    "einsum": lambda x: np.einsum("i,ij,j->i", x, A, x),
    "outer and trace": lambda x: np.outer(x, x) @ x + np.trace(np.outer(x, A[0])),
    "assignment": lambda x: assigned(x),
    "in place": lambda x: in_place(x),
    "loops": lambda x: [sum(x[j] * (j - i) for j in range(3)) for i in range(3)],
    "shapes": lambda x: x.reshape(3, 1).ravel() + x.T + np.roll(x, 1) + np.flip(x),
    "diff": lambda x: np.append(np.diff(x), x[-1:]),
    "broadcasting": lambda x: (x[:, np.newaxis] - x[np.newaxis, :]).sum(axis=1) + x[..., :] * 2,
    "ghost cells": lambda x: np.diff(np.pad(x, 1, mode="wrap"), 2) + np.pad(x, (0, 1))[1:],
    "convolve": lambda x: np.convolve(x, [1, -2, 1], "same"),
    "statistics": lambda x: [np.var(x), np.std(x * x), np.trapezoid(x, dx=0.1)],
    "methods": lambda x: x.take([2, 0, 1]) * x.var() + x.cumprod() * x.repeat(2).std() + x.round(),
    "block": lambda x: np.block([[x], [2 * x]])[1] + np.meshgrid(x, x)[1][2],
    "filled": lambda x: np.full_like(x, fill_value=x[0]) - np.zeros_like(x, shape=(1,)),
    "counts": lambda x: x * np.sum(x > 0) + np.mean(x > 0.1) + np.cumsum(x > 0.2),
    "stacked numbers": lambda x: x + np.vstack([np.ones_like(x), np.zeros_like(x)])[0],
    "flatten": lambda x: flattened(x),
    "copy": lambda x: x.copy().astype(float) ** 2,
    "mixed": lambda x: 2 / (3 + abs(x)) - x // 0.25 + x % 0.25 + (-x) ** 2 + +x,
    "numpy scalars": lambda x: np.float64(2.0) * x + x * np.int64(3) + np.float32(0.5) * x,
    "array on the left": lambda x: A[0] * x - A[1] / (2 + x * x) + A[2] ** 2,
}


def assigned(x):
    out = np.zeros_like(x)
    out[0] = x[1]
    out[1:] = x[:2] * 2
    return out


def in_place(x):
    total = x.copy()
    total += x * x
    total[1] -= 3 * x[0]
    total *= 2.0
    return total


def flattened(x):
    """A copy, unlike ravel()."""
    one, two = x.copy(), x.copy()
    one.flatten()[0], two.ravel()[0] = 7.0, 7.0
    return one + two


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name):
    function = ARRAYS[name]
    system = pi.rhs(dim=3, initial=[0.1, 0.2, 0.3])(lambda t, y: function(y))
    y = np.random.default_rng(1).normal(size=(50, 3))
    expected = np.array([function(row) for row in y])
    assert np.allclose(system.rhs(0.0, y), expected, rtol=1e-13, atol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pi.acceleration(dof=3)(lambda t, x, v: function(x))


def test_parameters_may_be_arrays():
    masses, matrix = np.array([1.0, 2.0, 4.0]), np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])

    @pi.rhs(dim=2, masses=masses, matrix=matrix, g=2.0)
    def system(t, y, masses, matrix, g):
        return matrix @ masses * g + y * t

    y = np.ones((4, 2))
    assert np.allclose(system.rhs(1.0, y), matrix @ masses * 2 + 1)
    factors = np.arange(4.0)
    many = system(masses=factors[:, np.newaxis] * masses, g=factors)
    expected = (factors**2)[:, np.newaxis] * (matrix @ masses)
    assert np.allclose(many.rhs(0.0, y), expected)


def test_whole_numbers_of_any_size_and_fractions():
    """30! and 1/3 as Python has them, as plain functions compute with them."""

    def series(t, y):
        terms = ((-1) ** k * y[0] ** (2 * k + 1) / factorial(2 * k + 1) for k in range(15))
        return [sum(terms) + Fraction(1, 3) * y[0]]

    y = np.linspace(-3, 3, 7)[:, np.newaxis]
    assert np.allclose(pi.rhs(series, dim=1).rhs(0.0, y), np.sin(y) + y / 3, rtol=1e-14, atol=0)
    alone = pi.rhs(lambda t, y: (factorial(30), Fraction(1, 3)), dim=2)
    assert alone.rhs(0.0, [1.0, 1.0]).tolist() == [float(factorial(30)), 1 / 3]
    with pytest.raises(TypeError, match="computes with 10+, which is not real"):
        pi.rhs(lambda t, y: [10**400], dim=1)


def test_explicit_time_and_closures():
    table_t, table_a = np.array([0.0, 1.0, 2.0]), np.array([0.0, 5.0, -5.0])
    strength = 3.0

    def helper(t):
        return strength * np.cos(2 * t) + np.interp(t, table_t, table_a)

    @pi.acceleration(dof=1)
    def driven(t, x, v):
        return helper(t) - x

    t = np.linspace(-1, 3, 9)
    got = driven.acceleration(t, np.ones((9, 1)), np.zeros((9, 1)))[:, 0]
    assert np.allclose(
        got, 3 * np.cos(2 * t) + np.interp(t, table_t, table_a) - 1, rtol=1e-14, atol=0
    )
    assert driven.definition.time_dependent
    assert not driven.velocity_dependent
