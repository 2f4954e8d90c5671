"""A system with tangents is a System like others, and its force the derivative of the base's."""

import os
import pickle
import shutil
import warnings

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate.tangents.formulas import FORCES

EPSILON = np.finfo(float).eps


@pi.acceleration(dof=2, k=(2.0, 3.0), b=0.1)
def springs(t, x, v, k, b):
    return -k * x - b * v * np.cos(t)


@pi.hamiltonian(dof=2, mu=1.0)
def relativistic(q, p, mu):
    return np.sqrt(1 + p @ p) - mu / np.sqrt(q @ q)


@pi.hamiltonian(dof=1, c=0.5)
def not_separable(q, p, c):
    return (1 + c * q * q) * p * p / 2 + np.cos(q)


@pi.acceleration(k=2.0, dof=2, trace=False)
def called(t, x, v, k):
    return -k * x * (x[0] ** 2 + x[1] ** 2) + 0.1 * v


OWN = {s.name: s for s in (springs, relativistic, not_separable)}
BUILT_IN = {name: pi.systems[name] for name in pi.systems if name in FORCES}
SYSTEMS = BUILT_IN | OWN


def states(system, count=5, seed=1):
    return np.random.default_rng(seed).normal(size=(count, system.dim))


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_formula_is_the_force_of_the_core(name):
    system = BUILT_IN[name]
    both = system.tangent(1)
    y = states(both, 50)
    base, _ = both.parts(y)
    expected = system.rhs(0.3, base)
    # Roundings of some tens of operations, the largest of them of the size of the force.
    size = np.maximum(1.0, abs(expected).max(axis=1, keepdims=True))
    assert np.all(abs(both.parts(both.rhs(0.3, y))[0] - expected) <= 40 * EPSILON * size)


def test_every_built_in_system_has_a_formula_but_rigid_bodies():
    assert set(pi.systems) - set(FORCES) == {"rigid_body"}


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_tangents_change_by_the_jacobian(name):
    system = SYSTEMS[name]
    both = system.tangent(2)
    y = states(both)
    base, tangents = both.parts(y)
    expected = system.jacobian(0.3, base) @ tangents
    found = both.parts(both.rhs(0.3, y))[1]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * max(1, abs(expected).max()))


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.filterwarnings("ignore:the force of 'acceleration_profile'")
def test_parameters_add_the_derivative_by_them(name):
    """Sixth-order differences of the right-hand side, of which 1e-9 is the error."""
    system = SYSTEMS[name]
    both = system.tangent(0, tuple(system.params))
    y = states(both, 1)[0]
    base, tangents = both.parts(y)
    found = both.parts(both.rhs(0.3, y))[1] - system.jacobian(0.3, base) @ tangents
    h, column = 1e-3, 0
    for parameter, value in system.params.items():
        for index in np.ndindex(np.shape(value)):
            if parameter != "times":
                f = []
                for i in (-3, -2, -1, 1, 2, 3):
                    changed = np.array(value)
                    changed[index] += i * h
                    f.append(system(**{parameter: changed}).rhs(0.3, base))
                slope = (f[5] - f[0] - 9 * (f[4] - f[1]) + 45 * (f[3] - f[2])) / (60 * h)
                atol = 1e-9 * max(1.0, abs(slope).max())
                np.testing.assert_allclose(found[:, column], slope, rtol=0, atol=atol)
            column += 1
    assert column == len(both.directions)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_structure_is_that_of_the_base(name):
    system = SYSTEMS[name]
    both = system.tangent(1)
    assert (both.structure, both.dim, both.dof) == (
        system.structure, 2 * system.dim, 2 * system.dof)  # fmt: skip
    assert both.velocity_dependent == system.velocity_dependent
    assert both.state_names[: max(system.dof, 1)] == system.state_names[: max(system.dof, 1)]


def test_the_state_is_the_base_first_then_the_tangents():
    both = springs.tangent(2, ["b", "k"])
    assert both.directions == ("1", "2", "b", "k[0]", "k[1]")
    x = [f"{prefix}{name}{suffix}" for prefix, suffix in (
        ("", ""), ("d", "_1"), ("d", "_2"), ("d", "_db"), ("d", "_dk[0]"), ("d", "_dk[1]"))
        for name in "xy"]  # fmt: skip
    assert list(both.state_names[:12]) == x
    first = pi.systems.lorenz.tangent(1)
    assert first.state_names == ("x", "y", "z", "dx_1", "dy_1", "dz_1")
    assert first.initial.tolist() == [1, 1, 1, 1, 0, 0]
    assert pi.systems.spring.tangent(0, "k").units["dx_dk"] == "m / (N/m)"


def test_parameters_change_the_base_as_well():
    both = pi.systems.spring.tangent(1)(k=4.0)
    assert both == pi.systems.spring(k=4.0).tangent(1)
    assert both.base == pi.systems.spring(k=4.0)
    assert pickle.loads(pickle.dumps(both)) == both
    assert pickle.loads(pickle.dumps(both)).base == both.base


@pytest.mark.parametrize("kind", ["npz", "zarr"])
@pytest.mark.parametrize(
    "both",
    [
        pi.systems.spring(k=[4.0, 5.0]).tangent(2, ("k", "m")), pi.systems.three_body.tangent(1),
        pi.acceleration(k=15.0)(lambda t, x, v, k: -k * x).tangent(1, "k"),
        pi.systems.ornstein_uhlenbeck.tangent(1),
    ],
    ids=lambda both: both.name,
)  # fmt: skip
def test_a_loaded_one_is_the_one_that_was_saved(both, kind, tmp_path):
    seed = {} if both.noise is None else {"seed": 1}
    sol = pi.integrate(both, both.initial_state(), dt=0.01, n_steps=5, **seed)
    sol.save(tmp_path / f"run.{kind}")
    loaded = pi.load(tmp_path / f"run.{kind}")
    assert loaded.system == both
    assert same_bits(loaded.system.parts(loaded.y)[1], both.parts(sol.y)[1])
    assert loaded.digest() == sol.digest()


def test_a_batch_has_the_bits_of_its_parts(tmp_path):
    """Splits, workers, saves, resumed runs, a Stepper, compensated sums and files."""
    both = pi.systems.henon_heiles(coupling=np.linspace(0.5, 1, 37)).tangent(2)
    options = {"dt": 0.01, "method": "yoshida6"}
    whole = pi.integrate(both, n_steps=60, save="final", **options).final
    for i in (0, 36):
        one = both(coupling=both.params["coupling"][i])
        assert same_bits(pi.integrate(one, n_steps=60, **options).final, whole[i])
    assert same_bits(pi.integrate(both, n_steps=60, save=7, workers=2, **options).final, whole)
    half = pi.integrate(both, n_steps=23, save="final", **options)
    assert same_bits(half.resume(n_steps=37).final, whole)
    stepper = pi.Stepper(both, **options)
    stepper.step(60)
    assert same_bits(stepper.y, whole)
    half.save(tmp_path / "half.npz")
    assert same_bits(pi.load(tmp_path / "half.npz").resume(n_steps=37).final, whole)


def test_driven_runs_and_single_precision_run():
    both = pi.systems.spring.tangent(1, "k")
    drive = {"k": np.linspace(10, 20, 50)}
    sol = pi.integrate(both, dt=0.01, n_steps=50, drive=drive)
    plain = pi.integrate(pi.systems.spring, dt=0.01, n_steps=50, drive=drive)
    np.testing.assert_allclose(both.parts(sol.y)[0], plain.y, rtol=0, atol=1e-14)
    single = pi.integrate(both, dt=0.01, n_steps=50, dtype=np.float32)
    assert single.final.dtype == np.float32


def test_watches_and_stops_run():
    both = pi.systems.pendulum.tangent(1)
    sol = pi.integrate(
        both, dt=0.01, n_steps=1000, save="final",
        watch={"far": pi.watch.maximum(lambda t, x, v: np.log(x[1] ** 2 + v[1] ** 2))},
        events={"down": pi.event("theta", direction=-1, stop=True)},
    )  # fmt: skip
    assert abs(float(sol.final[0])) < 1e-12
    assert np.isfinite(sol.stopped_at)
    assert sol.watched["far"] > 0


def test_a_force_that_turns_says_so_and_takes_the_branch():
    @pi.acceleration(k=1.0)
    def corner(t, x, v, k):
        return -k * abs(x)

    with pytest.warns(UserWarning, match=r"absolute.*branch") as told:
        both = corner.tangent(1)
    assert told[0].filename == __file__
    assert both.parts(both.rhs(0.0, [-2.0, 1.0, 0.0, 0.0]))[1].tolist() == [[0.0], [1.0]]

    @pi.acceleration(k=1.0)
    def switched(t, x, v, k):
        return np.where(t > 1, -k * x, 0.0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        switched.tangent(1, "k")  # it jumps in time, at the same time for all neighbours
    saw = pi.rhs(lambda t, y, T: -y * np.fmod(t, T), dim=1, T=1.0)
    with pytest.warns(UserWarning, match="fmod"):
        saw.tangent(0, "T")
    wound = pi.rhs(lambda t, y, k: [-y[1], -k * np.arctan2(y[1], y[0])], dim=2, k=1.0)
    with pytest.warns(UserWarning, match="arctan2"):
        wound.tangent(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pi.rhs(lambda t, y: [-y[1], np.cos(3 * np.arctan2(y[1], y[0]))], dim=2).tangent(1)


def test_a_called_force_has_differences():
    traced = pi.acceleration(k=2.0, dof=2)(lambda t, x, v, k: -k * x * (x @ x) + 0.1 * v)
    with pytest.warns(UserWarning, match="central differences"):
        both = called.tangent(2, "k")
    exact = traced.tangent(2, "k")
    assert both.state_names == exact.state_names
    start = states(exact)
    a = pi.integrate(both, start, dt=0.01, n_steps=50).final
    b = pi.integrate(exact, start, dt=0.01, n_steps=50).final
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-8)
    assert pickle.loads(pickle.dumps(both)) == both


@pytest.mark.filterwarnings("ignore:the force of")
@pytest.mark.parametrize(
    ("length", "second"), [(1e-3, 1.0), (1e-9, 1e-12), (1.0, 3e7), (1e11, 3e7)]
)
@pytest.mark.parametrize(("x", "v"), [(0.7, 0.3), (0.7, 0.0), (0.0, 0.3)])
def test_differences_are_as_good_in_any_unit(length, second, x, v):
    """From rest, and from 0, as well: the motion itself tells how far to go."""

    def force(t, x, v, k):
        return -k * (x + x**3 / length**2) - 0.1 * v / second

    def rates(t, y, k):
        return [y[1], force(t, y[0], y[1], k)]

    start, k = [x * length, v * length / second], 1 / second**2
    run = {"dt": second / 20, "n_steps": 30, "sensitivity": ("x0", "k"), "save": "final"}
    for one, options in ((pi.acceleration, {"dof": 1}), (pi.rhs, {"dim": 2, "initial": start})):
        function = rates if one is pi.rhs else force
        exact, found = (
            pi.integrate(one(k=k, trace=trace, **options)(function), start, **run).sensitivity
            for trace in (True, False)
        )
        for name, expected in exact.items():
            np.testing.assert_allclose(found[name], expected, rtol=1e-7)


@pytest.mark.filterwarnings("ignore:the force of")
@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e9])
def test_differences_where_all_is_zero_find_their_step(size):
    """Nothing tells how far to go: 0.0 and -inf were among the derivatives of a step of size 1."""

    def force(t, y, k, c):
        return [-k * y[0] / (size + y[0]), np.exp(-y[0] / size) + c * (y[1] / size) ** 3]

    for y in ([0.0, 0.0], [0.0, size]):
        found, exact = (
            system.parts(system.rhs(0.0, system.initial_state(y)))[1]
            for trace in (False, True)
            for system in [pi.rhs(force, dim=2, k=size, c=0.0, trace=trace).tangent(2, "c")]
        )
        np.testing.assert_allclose(found, exact, rtol=1e-7, atol=0)


@pytest.mark.filterwarnings("ignore:the force of")
@pytest.mark.parametrize("k", [1e-5, 1e-8, 1e-12])
def test_differences_by_a_parameter_that_hardly_matters_find_their_step(k):
    """A share of k was less than rounding, and the derivative off by 4 %, or zero."""

    def force(t, x, v, k):
        return -x - k * x**3 * (1 + v * v)

    exact, found = (
        pi.integrate(pi.acceleration(force, k=k, trace=trace), 1.0, 0.0, dt=0.02, n_steps=100,
                     sensitivity="k", save="final").sensitivity["k"]
        for trace in (True, False)
    )  # fmt: skip
    np.testing.assert_allclose(found, exact, rtol=1e-4)


def test_a_compiled_pointer_has_differences():
    import ctypes

    doubles = ctypes.POINTER(ctypes.c_double)

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, doubles, doubles, doubles)
    def square(t, y, dydt, p):
        dydt[0] = -p[0] * y[0] * y[0]
        return 0

    system = pi.c_function(square, dim=1, params={"rate": 2.0})
    with pytest.warns(UserWarning, match="central differences"):
        both = system.tangent(1, "rate")
    sol = pi.integrate(both, [1.0, 1.0, 0.0], dt=0.01, t_end=1.0)
    # y = 1 / (1 + r t), dy/dy0 = 1 / (1 + r t)^2, dy/dr = -t / (1 + r t)^2
    np.testing.assert_allclose(sol.final, [1 / 3, 1 / 9, -1 / 9], rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: pi.systems.rigid_body.tangent(1), "rotation is no vector"),
        (lambda: pi.systems.spring.tangent(0), "k must be at least 1"),
        (lambda: pi.systems.spring.tangent(-1), "k must be"),
        (lambda: pi.systems.spring.tangent(1, "mass"), "some of k, b, m, .* got 'mass'"),
        (lambda: pi.systems.spring.tangent(1, ("k", "k")), "each once"),
        (lambda: pi.systems.spring.tangent(1).tangent(1), "has tangents already"),
        (lambda: pi.systems.spring.tangent(10**7), "fewer directions"),
        (lambda: pi.systems.lorenz.tangent(30_000), "fewer directions"),
    ],
)
def test_wrong_arguments_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_compiled_tangents_have_the_bits_of_the_byte_code():
    if shutil.which(os.environ.get("CC", "cc").split()[0]) is None:
        pytest.skip("no C compiler")
    both = pi.systems.lorenz.tangent(1)
    a = pi.integrate(both, dt=0.01, n_steps=100)
    b = pi.integrate(both.compile(), dt=0.01, n_steps=100)
    assert same_bits(a.y, b.y)


# ---- where to begin ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*OWN, "lorenz", "kepler", "pendulum"])
def test_the_initial_state_is_what_parts_takes_apart(name):
    base = SYSTEMS[name]
    system = base.tangent(2, [*base.params][:1])
    rng = np.random.default_rng(3)
    y, free = rng.normal(size=(4, 1, base.dim)), rng.normal(size=(3, base.dim, 2))
    start = system.initial_state(y, tangents=free)
    assert start.shape == (4, 3, system.dim)
    again, dy = system.parts(start)
    assert same_bits(again, np.broadcast_to(y, again.shape))
    assert same_bits(dy[..., :2], np.broadcast_to(free, dy[..., :2].shape))
    assert not dy[..., 2:].any()
    assert same_bits(system.initial_state(), np.array(system.initial))
    assert same_bits(system.parts(system.initial_state(y, tangents=dy[0]))[1][0], dy[0])


@pytest.mark.parametrize("start", [(0.3, 0.0), ([0.3, 0.0],)])
def test_a_start_of_the_motion_alone_is_told_what_adds_tangents(start):
    with pytest.raises(ValueError, match=r"system.initial_state\(x0, v0\) adds tangents"):
        pi.integrate(pi.systems.pendulum.tangent(2), *start, dt=0.1, n_steps=1)
    with pytest.raises(ValueError, match=r"the 2 components \(without v0\) of 'pendulum'"):
        pi.integrate(pi.systems.pendulum, [0.3], dt=0.1, n_steps=1)


def test_an_initial_state_takes_positions_and_velocities():
    system = pi.systems.kepler.tangent(1)
    start = system.initial_state([1.0, 0.0], 0.5, tangents=[0.0, 0, 1, 0])
    y, dy = system.parts(start)
    assert (y.tolist(), dy[:, 0].tolist()) == ([1.0, 0, 0.5, 0.5], [0, 0, 1, 0])
    swing = pi.systems.pendulum.tangent(1)
    assert swing.parts(swing.initial_state([0.1, 0.2], 0.0))[0].tolist() == [[0.1, 0], [0.2, 0]]
    assert system.initial_state(np.float32([1, 0, 0, 1])).dtype == np.float32


@pytest.mark.parametrize(("arguments", "says"), [
    (([1.0, 0, 0],), r"x0 has shape \(3,\): its last axis holds the \d+ components \(without v0\)"),
    (([1.0, 0, 0], 0.0), "holds the 2 positions of 'kepler'"),
    ((1.0, 0.0), "holds the 2 positions of 'kepler'"),
    ((None, None, np.ones((4, 5))), r"tangents has shape \(4, 5\): expected \(..., 4, 2\)"),
    ((None, None, np.ones(4)), "the 2 vectors as columns, or 3 columns"),
    ((np.ones((2, 4)), None, np.ones((3, 4, 2))), "do not broadcast"),
])  # fmt: skip
def test_an_initial_state_of_another_shape_is_refused(arguments, says):
    system = pi.systems.kepler.tangent(2, "mu")
    x0, v0, tangents = (*arguments, None, None)[:3]
    with pytest.raises(ValueError, match=says):
        system.initial_state(x0, v0, tangents=tangents)


@pytest.mark.parametrize("r", [7e6, 1e11, 1e14])
@pytest.mark.filterwarnings("error")
def test_tangents_in_single_precision_and_metres(r):
    """mu / r^5 is less than the least float, and r^6 more than the largest."""
    v = 0.9 * np.sqrt(1.3e20 / r)
    kepler = pi.systems.kepler(mu=1.3e20)
    bodies = pi.systems.n_body(n=2, g=6.5e-11, masses=[2e30, 1e20])
    for system, x0, v0 in (
        (kepler, [r, 0], [0, v]), (bodies, [0, 0, 0, r, 0, 0], [0, 0, 0, 0, v, 0]),
    ):  # fmt: skip
        both = system.tangent(system.dim)
        call = {"dt": 0.01 * r / v, "n_steps": 300, "save": "final"}
        ends = [
            both.parts(pi.integrate(both, both.initial_state(x0, v0), dtype=dtype, **call).final)[1]
            for dtype in (np.float32, np.float64)
        ]
        # 300 steps, each of some roundings of 6e-8; rows and columns in units of r and v.
        unit = np.repeat([r, v], system.dof)
        single, double = (M * unit / unit[:, np.newaxis] for M in ends)
        np.testing.assert_allclose(single, double, rtol=0, atol=1e-4 * abs(double).max())
