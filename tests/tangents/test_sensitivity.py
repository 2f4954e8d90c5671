"""``sensitivity=`` of integrate and solve: derivatives of all saved states."""

import pickle
import warnings

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

SPRING = pi.systems.spring(k=np.linspace(5, 20, 4), b=0.3)


def differences(system, x0, v0, name, h=1e-4, **options):
    """Sixth-order differences of all saved states by one number."""

    def states(shift):
        x, v, s = x0, v0, system
        if name == "x0":
            x = x0 + shift
        elif name == "v0":
            v = v0 + shift
        else:
            s = system(**{name: system.params[name] + shift})
        return pi.integrate(s, x, v, **options).y

    f = {i: states(i * h) for i in (-3, -2, -1, 1, 2, 3)}
    return (f[3] - f[-3] - 9 * (f[2] - f[-2]) + 45 * (f[1] - f[-1])) / (60 * h)


@pytest.mark.parametrize("method", ["rk4", "velocity_verlet", "gauss4", "adams_bashforth4"])
def test_sensitivities_are_the_derivatives_of_the_saved_states(method):
    x0, v0 = np.linspace(0.5, 1, 4), np.zeros(4)
    options = {"dt": 0.05, "n_steps": 40, "save": 3, "method": method}
    sol = pi.integrate(SPRING, x0, v0, sensitivity=("x0", "k", "v0", "b"), **options)
    plain = pi.integrate(SPRING, x0, v0, **options)
    np.testing.assert_allclose(sol.y, plain.y, rtol=0, atol=1e-14)
    assert list(sol.sensitivity) == ["x0", "k", "v0", "b"]
    for name, found in sol.sensitivity.items():
        expected = differences(SPRING, x0, v0, name, **options)
        found = found[..., 0] if name in ("x0", "v0") else found
        # Rounding of the quotient: that of the motion over h.
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_shapes():
    system = pi.systems.three_body
    sol = pi.integrate(
        system, np.broadcast_to(system.initial, (2, 5, 12)), dt=0.01, n_steps=4, save=2,
        sensitivity=["masses", "v0", "x0", "g"],
    )  # fmt: skip
    shapes = {name: value.shape for name, value in sol.sensitivity.items()}
    assert shapes == {
        "masses": (3, 2, 5, 12, 3), "v0": (3, 2, 5, 12, 6), "x0": (3, 2, 5, 12, 6),
        "g": (3, 2, 5, 12),
    }  # fmt: skip
    first = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=4, sensitivity="x0")
    assert first.sensitivity["x0"].shape == (5, 3, 3)
    assert same_bits(first.sensitivity["x0"][0], np.eye(3))
    assert first.system == pi.systems.lorenz
    assert first.final.shape == (3,)


def test_a_hamiltonian_that_is_not_separable_has_both_starts():
    h = pi.hamiltonian(dof=1, c=0.5)(lambda q, p, c: (1 + c * q * q) * p * p / 2 + np.cos(q))
    sol = pi.integrate(h, 1.0, 0.5, dt=0.1, n_steps=20, method="implicit_midpoint",
                       sensitivity=("x0", "v0"))  # fmt: skip
    M = np.concatenate([sol.sensitivity["x0"][-1], sol.sensitivity["v0"][-1]], axis=-1)
    assert abs(np.linalg.det(M) - 1) < 1e-12


def test_going_on_joining_and_pickling():
    call = {"dt": 0.05, "method": "yoshida6", "sensitivity": [*np.array(["v0", "k"])]}
    whole = pi.integrate(SPRING, 1.0, 0.0, n_steps=30, **call)
    part = pi.integrate(SPRING, 1.0, 0.0, n_steps=12, **call)
    rest = part.resume(n_steps=18)
    assert same_bits(rest.sensitivity["k"][-1], whole.sensitivity["k"][-1])
    assert same_bits(rest.origin, whole.origin)
    joined = pi.concatenate(part, rest)
    assert same_bits(joined.y, whole.y)
    assert same_bits(joined.sensitivity["v0"], whole.sensitivity["v0"])
    again = pickle.loads(pickle.dumps(whole))
    assert same_bits(again.sensitivity["k"], whole.sensitivity["k"])
    named = pi.integrate(SPRING, 1.0, 0.0, n_steps=30, **call | {"sensitivity": ("v0", "k")})
    assert whole.digest() == named.digest()
    final = pi.integrate(SPRING, 1.0, 0.0, n_steps=30, save="final", **call)
    assert same_bits(final.sensitivity["k"], whole.sensitivity["k"][-1:])


def test_saves_by_number_and_times_between_the_steps():
    call = {"dt": 0.05, "n_steps": 40, "sensitivity": ("x0", "k")}
    whole = pi.integrate(SPRING, 1.0, 0.0, **call)
    some = pi.integrate(SPRING, 1.0, 0.0, save=[0, 7, 30, 40], **call)
    assert same_bits(some.sensitivity["k"], whole.sensitivity["k"][[0, 7, 30, 40]])
    t = np.array([0.0, 0.125, 1.0, 1.99])
    between = pi.integrate(SPRING, 1.0, 0.0, times=t, **call)
    np.testing.assert_array_equal(between.t, t)
    assert same_bits(between.y[2], whole.y[20])
    assert same_bits(between.sensitivity["k"][2], whole.sensitivity["k"][20])
    h = 1e-4
    up, down = (pi.integrate(SPRING(k=SPRING.params["k"] + s), 1.0, 0.0, dt=0.05, n_steps=40,
                             times=t).y for s in (h, -h))  # fmt: skip
    # The derivative of the interpolant; of the quotient h^2.
    np.testing.assert_allclose(between.sensitivity["k"], (up - down) / (2 * h), rtol=0, atol=1e-8)


def test_tangents_to_a_tolerance():
    """A system with tangents is one for pi.solve as well: of Kepler's ellipse, det M = 1."""
    both = pi.systems.kepler.tangent(4)
    sol = pi.solve(both, t_end=7.0, rtol=1e-12, atol=1e-13)
    M = both.parts(sol.final)[1]
    assert abs(np.linalg.det(M) - 1) < 1e-12
    fixed = pi.integrate(both, dt=0.001, t_end=7.0, save="final")
    np.testing.assert_allclose(M, both.parts(fixed.final)[1], rtol=0, atol=1e-11 * abs(M).max())


@pytest.mark.parametrize(
    "method", ["auto", "dop853", "bogacki_shampine32", "kvaerno54", "radau_iia5", "rodas5p"]
)
def test_sensitivities_to_a_tolerance_go_the_steps_of_the_motion(method):
    """The tangents of a method, not of its estimate: the derivative of steps that are held fast."""
    x0, v0 = np.linspace(0.5, 1, 4), np.zeros(4)
    call = {"t_end": 3.0, "rtol": 1e-7, "atol": [1e-9, 1e-8], "method": method}
    plain = pi.solve(SPRING, x0, v0, save="all", **call)
    sol = pi.solve(SPRING, x0, v0, save="all", sensitivity=("x0", "k", "v0", "b"), **call)
    np.testing.assert_array_equal(sol.steps_taken, plain.steps_taken)
    np.testing.assert_array_equal(sol.rejected, plain.rejected)
    np.testing.assert_array_equal(sol.rtol, plain.rtol)
    # Steps are chosen by logarithms to 2.4e-4, which differ where the tolerances do.
    np.testing.assert_allclose(sol.t, plain.t, rtol=0, atol=3e-3)
    assert sol.system == SPRING
    assert sol.sensitivity["x0"].shape == (*sol.y.shape, 1)
    # x is linear in its start: x = M (x0, 0): x0 dx/dx0 = x.
    moved = sol.sensitivity["x0"][..., 0] * x0[:, np.newaxis]
    # Roundings of 40 steps, slopes to 20 times weights to 100; what Newton's iteration leaves.
    atol = 1e-8 if pi.methods.get(method, pi.methods["rk4"]).implicit else 1e-11
    np.testing.assert_allclose(moved, sol.y, rtol=0, atol=atol)


def test_sensitivities_of_tight_runs_are_differences_of_tight_runs():
    tight = {"t_end": 4.0, "rtol": 1e-13, "atol": 1e-14, "times": [1.0, 2.5, 4.0]}
    system, start, h = pi.systems.pendulum, [1.0, 0.3], 1e-3

    def end(name, i):
        if name in ("x0", "v0"):
            return pi.solve(system, *np.add(start, np.array([name == "x0", name == "v0"]) * i * h),
                            **tight).y  # fmt: skip
        return pi.solve(system(**{name: system.params[name] + i * h}), *start, **tight).y

    sol = pi.solve(system, *start, sensitivity=("x0", "v0", "g", "length"), **tight)
    for name, found in sol.sensitivity.items():
        f = {i: end(name, i) for i in (-4, -3, -2, -1, 1, 2, 3, 4)}
        weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
        expected = sum(w * (f[i] - f[-i]) for i, w in weights.items()) / h
        found = found[..., 0] if name in ("x0", "v0") else found
        # Roundings of the quotient, 1e-14 / h, and the errors of 40 steps to 1e-13.
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-10)


@pytest.mark.parametrize("method", ["radau_iia5", "rodas5p"])
def test_sensitivities_of_stiff_motions_are_the_same_in_small_units(method):
    """The Oregonator: second derivatives, 2^50 in that unit, came before the Jacobian as pivots."""

    @pi.rhs(dim=3, s=77.27, w=0.161, u=1.0)
    def oregonator(t, y, s, w, u):
        a, b, c = y / u
        return s * (b + a * (1 - 8.375e-6 * a - b)) * u, (c - (1 + a) * b) / s * u, w * (a - c) * u

    def run(u):
        sol = pi.solve(oregonator(u=u), [1 * u, 2 * u, 3 * u], t_end=30.0, rtol=1e-5, atol=1e-7 * u,
                       method=method, sensitivity=("x0", "w"), max_steps=1000)  # fmt: skip
        return sol.y / u, sol.sensitivity["x0"], sol.sensitivity["w"] / u

    for small, one in zip(run(2.0**-50), run(1.0), strict=True):
        np.testing.assert_array_equal(small, one)


def test_sensitivities_of_a_stiff_force_that_is_called_are_those_of_its_formula():
    """The equations of its tangents were not known as such: they grew to 1e239, with status OK."""

    def law(t, x, v):
        a, b, c, d = *x, *v
        return np.stack([-300 * (a + a**3 + c) + 0.3 * a * d + np.sin(t),
                         a + b * d - 9e3 * (b + b**3 + d)])  # fmt: skip

    def run(trace):
        force = pi.acceleration(dof=2, trace=trace)(law)
        sol = pi.solve(force, [0.7, 0.7], [0.2, 0.2], t_end=0.1, rtol=1e-8, atol=1e-11,
                       method="radau_iia5", save="final", sensitivity=("x0", "v0"))  # fmt: skip
        return np.concatenate([sol.sensitivity["x0"][-1], sol.sensitivity["v0"][-1]], axis=1)

    with pytest.warns(UserWarning, match="central differences"):
        found = run(False)
    np.testing.assert_allclose(found, run(True), rtol=0, atol=1e-7)  # differences to ten digits


def test_files_of_one_run_of_a_called_force_have_the_same_bytes(tmp_path):
    """Columns of the tangents, which have no differences, were what the memory had held."""
    force = pi.rhs(dim=2, trace=False)(lambda t, y: (-50 * (y[0] - np.cos(t)), y[0] - y[1] ** 3))
    files = []
    for name in ("first.npz", "second.npz"):
        with pytest.warns(UserWarning, match="central differences"):
            sol = pi.solve(force, [1.0, 0.5], t_end=1.0, method="radau_iia5", rtol=1e-6,
                           sensitivity=("x0",))  # fmt: skip
        sol.save(tmp_path / name)
        with np.load(tmp_path / name) as file:
            files.append({key: file[key].tobytes() for key in file.files})
        start = np.linspace(1, 2, 600).reshape(300, 2)
        pi.solve(pi.systems.van_der_pol, start, t_end=20.0, method="radau_iia5", save="final")
    assert files[0] == files[1]


@pytest.mark.parametrize("method", ["radau_iia5", "gauss6", "sdirk4", "bdf2", "lobatto_iiic4"])
@pytest.mark.parametrize(("dtype", "unit"), [("float32", 2.0**-26), ("float64", 2.0**-60)])
def test_sensitivities_by_implicit_methods_are_the_same_in_units_of_each(method, dtype, unit):
    """Derivatives in other units were pivots of the motion, and corrections were compared with the
    largest component: states were off by all of their size with status 0, or NOT_CONVERGED.
    """
    robertson = pi.rhs(
        lambda t, y, a, u, s: (
            s * (-0.04 * a * y[0] + 1e4 / u * y[1] * y[2]),
            s * (0.04 * a * u * y[0] - 1e4 * y[1] * y[2] - 3e7 / u * y[1] * y[1]),
            s * 3e7 / u / u * y[1] * y[1],
        ),
        dim=3, a=1.0, u=1.0, s=1.0,
    )  # fmt: skip

    def run(unit, rate):
        sol = pi.integrate(
            robertson(u=unit, s=rate), np.array([1.0, 0, 0], dtype), dt=0.01 / rate,
            n_steps=100, method=method, save="final", sensitivity=("x0", "a"),
        )  # fmt: skip
        units = np.array([1.0, unit, 1.0])
        from_x0 = sol.sensitivity["x0"][-1] / units[:, np.newaxis] * units
        return np.vstack([sol.final / units, from_x0.T, sol.sensitivity["a"][-1] / units])

    plain = run(1.0, 1.0)
    np.testing.assert_allclose(run(unit, 2.0**10), plain, rtol=1000 * np.finfo(dtype).eps)


def test_sensitivities_to_a_tolerance_go_on_and_are_pickled():
    call = {"rtol": 1e-10, "atol": 1e-12, "sensitivity": ("x0", "mu")}
    whole = pi.solve(pi.systems.kepler, t_end=9.0, **call)
    part = pi.solve(pi.systems.kepler, t_end=4.0, **call)
    rest = part.resume(t_end=9.0)
    for name, found in whole.sensitivity.items():
        assert same_bits(rest.sensitivity[name][-1], found[-1])
    assert same_bits(rest.origin, whole.origin)
    assert rest.at(5.0).shape == (4,)
    again = pickle.loads(pickle.dumps(whole))
    assert same_bits(again.sensitivity["mu"], whole.sensitivity["mu"])
    assert again.digest() == whole.digest()
    assert whole.digest() != pi.solve(pi.systems.kepler, t_end=9.0, rtol=1e-10).digest()


def test_a_batch_to_a_tolerance_has_the_bits_of_its_trajectories():
    """Also where the tolerance alone makes the batch, and one fails."""
    growth = pi.rhs(dim=1, r=1.0)(lambda t, y, r: r * y * y)
    rtol = [1e-5, 1e-9]
    call = {"t_end": 1.0, "sensitivity": "r", "times": [0.25, 1.0], "method": "dop853"}
    both = pi.solve(growth, [0.5], rtol=rtol, **call)
    for i in range(2):
        one = pi.solve(growth, [0.5], rtol=rtol[i], **call)
        assert same_bits(both.sensitivity["r"][:, i], one.sensitivity["r"])
    # y = 1 / (2 - r t), dy/dr = t y^2, to the tolerance
    for i in range(2):
        found = both.sensitivity["r"][:, i, 0]
        np.testing.assert_allclose(found, both.t / (2 - both.t) ** 2, rtol=0, atol=1e-4)
    with pytest.raises(pi.IntegrationError) as caught:
        pi.solve(growth, [[0.5], [2.0]], t_end=1.0, sensitivity="r", on_failure="raise")
    assert caught.value.solution.system == growth
    assert (caught.value.solution.status == 0).tolist() == [True, False]
    assert caught.value.solution.sensitivity["r"].shape == (1, 2, 1)
    with pytest.raises(ValueError, match="exclude each other"):
        pi.solve(growth, [0.5], t_end=1.0, sensitivity="r", bound=3.0)


RUNS = {
    "history": lambda: pi.integrate(
        pi.systems.kepler(mu=[1.0, 2.0]), dt=0.01, n_steps=30, save=7, sensitivity=("v0", "mu"),
        method="adams_bashforth4", compensated=True),
    "times": lambda: pi.integrate(SPRING, dt=0.1, n_steps=9, times=[0.05, 0.12], sensitivity="k"),
    "noise": lambda: pi.integrate(
        pi.systems.ornstein_uhlenbeck, dt=0.01, n_steps=30, seed=3, sensitivity="x0"),
    "steps": lambda: pi.solve(pi.systems.kepler, t_end=3.0, sensitivity=("x0", "mu")),
    # Per component, where a batch has the length of the components; and of each trajectory.
    "components": lambda: pi.solve(
        SPRING(k=[15.0, 20.0, 30.0, 50.0]), t_end=3.0, rtol=[1e-4, 1e-8], sensitivity=("x0", "k")),
    "batch": lambda: pi.solve(
        SPRING(k=[15.0, 20.0]), t_end=3.0, rtol=[[1e-4], [1e-12]], sensitivity="k", save="all"),
    "resumed": lambda: pi.solve(
        pi.systems.lorenz, t_end=1.0, dtype="f4", rtol=1e-4, sensitivity="x0").resume(t_end=2.0),
    "corners": lambda: pi.solve(
        pi.systems.acceleration_profile, t_end=3.0, sensitivity="accelerations", max_step=0.1),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:the force of")
@pytest.mark.parametrize("kind", ["npz", "zarr"])
@pytest.mark.parametrize("run", RUNS)
def test_a_file_holds_them(run, kind, tmp_path):
    sol = RUNS[run]()
    sol.save(tmp_path / f"run.{kind}")
    with warnings.catch_warnings(action="error"):
        loaded = pi.load(tmp_path / f"run.{kind}")
    assert loaded.system == sol.system
    assert loaded.digest() == sol.digest()
    for name, found in sol.sensitivity.items():
        assert same_bits(loaded.sensitivity[name], found)
    further = {"n_steps": 9} if hasattr(sol, "dt") else {"t_end": 4.0}
    assert loaded.resume(**further).digest() == sol.resume(**further).digest()


@pytest.mark.filterwarnings("ignore:the force of")
def test_a_file_of_a_function_takes_its_system(tmp_path):
    called = pi.rhs(dim=2, trace=False, k=2.0)(lambda t, y, k: (y[1], -k * y[0]))
    sol = pi.integrate(called, [1.0, 0.0], dt=0.01, n_steps=30, sensitivity=("x0", "k"))
    sol.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match=f"give it, as pi.load.path, system={called.name}."):
        pi.load(tmp_path / "run.npz")
    assert pi.load(tmp_path / "run.npz", system=called).digest() == sol.digest()


def test_failures_are_those_of_the_base():
    system = pi.rhs(dim=1, r=1.0)(lambda t, y, r: r * y * y)
    x0 = [[0.1], [1.0]]
    with pytest.warns(pi.IntegrationWarning):
        sol = pi.integrate(system, x0, dt=0.01, n_steps=400, sensitivity="r")
    assert sol.status.tolist()[0] == 0
    assert sol.status.tolist()[1] != 0
    with pytest.raises(pi.IntegrationError) as caught:
        pi.integrate(system, x0, dt=0.01, n_steps=400, sensitivity="r", on_failure="raise")
    assert caught.value.solution.system == system


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sensitivity": "m0"}, ValueError, "some of x0, v0, k, b, m, .* got 'm0'"),
        ({"sensitivity": ("k", "k")}, ValueError, "each once"),
        ({"sensitivity": ()}, ValueError, "each once"),
        ({"sensitivity": 3}, TypeError, "sensitivity must be some of"),
        ({"sensitivity": "k", "bound": 1.0}, ValueError, "exclude each other"),
        ({"sensitivity": "k", "watch": "energy_drift"}, ValueError, "exclude each other"),
    ],
)
def test_wrong_arguments_are_named(options, error, message):
    with pytest.raises(error, match=message):
        pi.integrate(pi.systems.spring, dt=0.1, n_steps=1, **options)


def test_a_parameter_named_as_a_start_is_not_mistaken_for_it():
    disc = pi.acceleration(lambda t, x, v, v0: -v0 * v0 * x, v0=1.0)
    sol = pi.solve(disc, 1.0, 0.0, t_end=1.0, sensitivity="x0")
    assert sol.sensitivity["x0"].shape[1:] == (2, 1)
    with pytest.raises(ValueError, match="'v0' is the start and a parameter of"):
        pi.integrate(disc, 1.0, 0.0, dt=0.1, n_steps=1, sensitivity=("x0", "v0"))


def test_least_squares_fits_a_pendulum():
    """The Jacobian of a fit is the sensitivities of its states."""
    least_squares = pytest.importorskip("scipy.optimize").least_squares
    truth = np.array([9.81, 0.8])
    noise = np.random.default_rng(0).normal(scale=0.01, size=201)

    def run(p, **options):
        system = pi.systems.pendulum(g=p[0], length=1.0)
        return pi.integrate(system, p[1], 0.0, dt=0.02, t_end=4.0, **options)

    data = run(truth)["theta"] + noise

    def jacobian(p):
        s = run(p, sensitivity=("g", "x0")).sensitivity
        return np.stack([s["g"][:, 0], s["x0"][:, 0, 0]], axis=-1)

    fit = least_squares(lambda p: run(p)["theta"] - data, [9.0, 1.0], jacobian)
    # Within four standard deviations of the noise.
    errors = 0.01 * np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac)))
    assert np.all(abs(fit.x - truth) < 4 * errors)
    assert fit.nfev < 10


def test_sensitivities_of_a_motion_at_rest_are_told_to_need_steps_of_their_own():
    """Its own steps have any length; with shorter ones dtheta/dtheta0 is cos(t)."""
    still, moving = pi.systems.pendulum(g=1.0), pi.systems.driven_pendulum
    call = {"t_end": 5.0, "sensitivity": "x0"}
    with pytest.warns(UserWarning, match="2 of 3 trajectories stay where they begin.*max_step="):
        pi.solve(still, [0.0, 1e-12, 0.1], 0.0, **call)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sol = pi.solve(still, 0.0, 0.0, max_step=0.1, **call)
        pi.solve(moving, 0.0, 0.0, **call)
        pi.solve(still, 0.0, 0.0, **call | {"t_end": 0.0})
        later = pi.acceleration(lambda t, x, v: np.sin(t) - x)  # begins to move
        pi.solve(later, 0.0, 0.0, **call)
        found = pi.analysis.periodic_orbits(pi.systems.van_der_pol, [0.0, 0.0], 6.5)
    assert found.failures == "resting point"
    assert sol.sensitivity["x0"][-1, 0, 0] == pytest.approx(np.cos(5.0), abs=1e-6)


@pytest.mark.parametrize("in_phase", [False, True])
def test_sensitivities_of_a_part_at_rest_are_told_to_need_steps_of_their_own(in_phase):
    """Two modes, of which the fast one rests: its derivatives were up to 1e68. They are the
    coordinates, or the sum and the difference of two masses on springs."""
    S = np.array([[1.0, 1.0], [1.0, -1.0]]) if in_phase else np.eye(2)
    T = np.linalg.inv(S)
    two = pi.acceleration(lambda t, x, v, w: T @ (S @ x * [-1.0, -w * w]), dof=2, w=50.0)
    slow, both = T @ [1.0, 0.0], T @ [1.0, 0.1]
    call = {"v0": [0.0, 0.0], "t_end": 5.0, "sensitivity": "x0"}
    with pytest.warns(UserWarning, match="1 of 2 trajectories stay.* or the fastest parts"):
        pi.solve(two, [slow, both], **call)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pi.solve(two(w=2.0), slow, **call)
        pi.solve(pi.systems.n_body, t_end=5.0, sensitivity="x0")  # in a plane
        sol = pi.solve(two, slow, rtol=1e-9, max_step=0.01, **call)
    modes = S @ sol.sensitivity["x0"][-1, :2] @ T
    np.testing.assert_allclose(modes, np.diag(np.cos([5.0, 250.0])), rtol=0, atol=1e-6)


@pytest.mark.parametrize("names", ["mu", "x0", ("x0", "v0")])
def test_sensitivities_after_sudden_changes_of_a_stiff_motion_are_told_to_be_off(names):
    """They were 1,600 times as large as those of a tight run, the state right to 1e-5."""
    call = {"t_end": 2000.0, "sensitivity": names}
    with pytest.warns(UserWarning, match="sensitivities of 1 of 1 trajectories are off"):
        sol = pi.solve(pi.systems.van_der_pol(mu=1000.0), rtol=1e-3, **call)
    with warnings.catch_warnings(action="error"):
        tight = pi.solve(pi.systems.van_der_pol(mu=1000.0), rtol=1e-9, **call)
    np.testing.assert_allclose(sol.final, tight.final, rtol=0, atol=1e-4)
    for name, found in sol.sensitivity.items():
        assert (abs(found[-1] / tight.sensitivity[name][-1]) > 100).all(), name


def test_sensitivities_after_a_close_encounter_are_told_to_be_off():
    """Orbits of eccentricity 0.1 and 0.9999 from apocentre to apocentre. Derivatives of the second
    were off by twenty times their size, its state by 1e-6."""
    e = np.array([0.1, 0.9999])
    start = np.stack([-1 - e, 0 * e, 0 * e, -np.sqrt((1 - e) / (1 + e))], axis=-1)
    call = {"t_end": 2 * np.pi, "atol": 1e-15, "sensitivity": ("v0", "x0")}
    with pytest.warns(UserWarning, match="sensitivities of 1 of 2 trajectories are off"):
        sol = pi.solve(pi.systems.kepler, start, rtol=1e-8, **call)
    assert abs(sol.final - start).max() < 1e-5
    with pytest.warns(UserWarning, match="sensitivities of 1 of 2 trajectories are off"):
        pi.solve(pi.systems.kepler, start, rtol=1e-8, **call | {"t_end": 1.0}).resume(t_end=6.0)
    with warnings.catch_warnings(action="error"):
        sol = pi.solve(pi.systems.kepler, start, rtol=3e-14, **call)
        pi.solve(pi.systems.double_pendulum, rtol=1e-8, **call | {"t_end": 60.0})  # it is chaotic
        pi.solve(pi.systems.logistic, [1.0], t_end=40.0, sensitivity="x0")  # it comes to rest
        pi.solve(pi.systems.projectile_drag, **call | {"t_end": 20.0})  # it falls evenly
        push = pi.acceleration(lambda t, x, v: np.where(abs(t - 1) < 0.2, 5.0, 0.0) - x)
        pi.solve(push, rtol=1e-8, **call)  # for a short time
    M = np.concatenate([sol.sensitivity["x0"], sol.sensitivity["v0"]], axis=-1)[-1]
    np.testing.assert_allclose(np.linalg.det(M), 1, rtol=0, atol=1e-4)
