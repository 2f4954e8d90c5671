"""The rigid body as a system: formulas, parameters, states, and what is refused."""

import copy
import pickle
import re

import numpy as np
import pytest
from reference import rigid_body as twin
from reference.rigid_body import FREE, LOADED, bodies

import pyintegrate as pi

BODY = pi.systems.rigid_body
POSE, TWIST = ("x", "y", "z", "qw", "qx", "qy", "qz"), ("vx", "vy", "vz", "wx", "wy", "wz")
DIFFERENCE = 1e-10  # central differences of order 8 with a width of 1/64, of numbers to 10


def states(n):
    return np.concatenate(bodies(n), axis=-1)


def along(system, f, y, h=2.0**-7):
    """The rate of change of f along the motion, by central differences of order 8."""
    slope = system.rhs(0.0, y)
    weights = ((4 / 5, 1), (-1 / 5, 2), (4 / 105, 3), (-1 / 280, 4))
    return sum(w * (f(y + k * h * slope) - f(y - k * h * slope)) for w, k in weights) / h


# ---- the contract --------------------------------------------------------------------------------


def test_the_default_body_is_at_rest_in_gravity():
    assert BODY.structure == "rigid_body"
    assert BODY.state_names == (*POSE, *TWIST)
    assert BODY.initial.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert BODY.params["gravity"].tolist() == [0, 0, -9.81]
    assert BODY.params["inverse_mass"] == 1
    assert BODY.params["inverse_inertia"].tolist() == np.eye(3).tolist()
    for name in ("linear_factor", "angular_factor"):
        assert BODY.params[name] == 1
    sol = pi.integrate(BODY, dt=0.01, n_steps=100)  # by the default method
    assert sol["z"][-1] == pytest.approx(-9.81 / 2, rel=1e-12)
    assert (sol.x.shape, sol.v.shape) == ((101, 7), (101, 6))


def test_bodies_are_copied_pickled_and_compared():
    for again in (pickle.loads(pickle.dumps(LOADED)), copy.deepcopy(LOADED)):
        assert again == LOADED
        assert np.array_equal(again.rhs(0, states(5)), LOADED.rhs(0, states(5)))
    assert LOADED(drag=0.06) != LOADED


def test_parameters_may_be_those_of_each_body():
    pose, twist = bodies(6)
    B = np.random.default_rng(2).uniform(0.5, 2, (6, 1, 3))
    m = np.linspace(0.5, 3, 6)
    many = LOADED(inverse_inertia=B[:, 0], inverse_mass=m)
    run = {"dt": 0.01, "n_steps": 50, "method": "rigid_rk4"}
    together = pi.integrate(many, pose, twist, **run).final
    for i in range(6):
        one = LOADED(inverse_inertia=B[i, 0], inverse_mass=m[i])
        assert np.array_equal(pi.integrate(one, pose[i], twist[i], **run).final, together[i])


def test_no_bodies_at_all_are_stored(tmp_path):
    none = BODY(inverse_inertia=np.empty((0, 3, 3)), gravity=np.empty((0, 3)))
    sol = pi.integrate(none, dt=0.1, n_steps=2)
    sol.save(tmp_path / "none.npz")
    assert pi.load(tmp_path / "none.npz").digest() == sol.digest()


# ---- the mathematics once more -------------------------------------------------------------------


@pytest.mark.parametrize("system", [BODY, FREE, LOADED], ids=["falling", "free", "loaded"])
def test_the_right_hand_side_is_the_formula(system):
    y = states(40)
    expected = twin.Body(system).rhs(y)
    assert abs(system.rhs(0.3, y) - expected).max() < 1e-14 * max(1, abs(expected).max())
    y32 = y.astype(np.float32)
    expected = twin.Body(system).rhs(y32.astype(float))
    assert abs(system.rhs(0.3, y32) - expected).max() < 1e-5 * max(1, abs(expected).max())
    assert np.array_equal(system.acceleration(0, y[:, :7], y[:, 7:]), system.rhs(0, y)[:, 7:])


def test_the_jacobian_is_the_derivative_of_the_right_hand_side():
    y, e = states(10), np.random.default_rng(5).normal(size=(10, 13))
    h = 2.0**-8
    along_e = (8 * (LOADED.rhs(0, y + h * e) - LOADED.rhs(0, y - h * e)) - (
        LOADED.rhs(0, y + 2 * h * e) - LOADED.rhs(0, y - 2 * h * e)
    )) / (12 * h)  # fmt: skip
    found = np.einsum("nik,nk->ni", LOADED.jacobian(0, y), e)
    assert abs(found - along_e).max() < 1e-5 * abs(along_e).max()  # h^4 of these differences


def test_energy_is_kept_by_forces_with_a_potential_and_lost_to_the_others():
    y = states(30)
    bound = LOADED(torque=(0, 0, 0), torque_body=(0, 0, 0), drag=0, linear_damping=0,
                   angular_damping=0)  # fmt: skip
    assert abs(along(bound, bound.energy, y)).max() < DIFFERENCE
    v, w, speed = y[:, 7:10], y[:, 10:], np.linalg.norm(y[:, 7:10], axis=-1)
    dragged = bound(drag=0.3)
    assert abs(along(dragged, bound.energy, y) + 0.3 * speed**3).max() < DIFFERENCE
    turned = bound(torque=(0.2, 0.3, -0.1))
    assert abs(along(turned, bound.energy, y) - w @ [0.2, 0.3, -0.1]).max() < DIFFERENCE
    damped = bound(linear_damping=0.4)
    rate = -0.4 / 0.8 * np.sum(v * v, axis=-1)
    assert abs(along(damped, bound.energy, y) - rate).max() < DIFFERENCE


def test_what_nothing_changes_is_an_invariant():
    y = states(30)
    assert set(BODY.invariants(y)) == {"quaternion_norm"} | {
        f"angular_momentum_{axis}" for axis in "xyz"
    }
    assert set(LOADED.invariants(y)) == {"quaternion_norm"}
    assert len(FREE.invariants(y)) == 7
    assert len(FREE(linear_factor=0.9).invariants(y)) == 4
    assert set(FREE(linear_factor=0.9, angular_factor=0.9).invariants(y)) == {"quaternion_norm"}
    for system in (BODY, FREE, LOADED):
        for name in system.invariants(y):
            rate = along(system, lambda y, s=system, name=name: s.invariants(y)[name], y)
            assert abs(rate).max() < DIFFERENCE
    momentum = twin.Body(FREE).momentum(y[:, 3:7], y[:, 10:])
    assert abs(FREE.angular_momentum(y) - momentum).max() < 1e-13


def test_the_closed_form_is_a_solution_and_nan_where_there_is_none():
    top = BODY(inverse_inertia=(1.5, 1.5, 0.3), force=(0.1, 0.2, 0.3))
    y = states(10)
    assert top.exact([0.4], y, 0.4)[0] == pytest.approx(y, abs=1e-13)
    longer = np.where((np.arange(13) > 2) & (np.arange(13) < 7), 3 * y, y)
    assert top.exact([1.4], longer) == pytest.approx(top.exact([1.4], y), abs=1e-13)
    h = 2.0**-9
    weights = ((4 / 5, 1), (-1 / 5, 2), (4 / 105, 3), (-1 / 280, 4))
    slope = sum(
        w * (top.exact([1 + k * h], y)[0] - top.exact([1 - k * h], y)[0]) for w, k in weights
    ) / h  # fmt: skip
    assert abs(slope - top.rhs(0, top.exact([1.0], y)[0])).max() < 1e-10
    slower = top(drag=0.1), top(angular_damping=0.1), top(linear_factor=0.9), top(angular_factor=2)
    for system in (*slower, top(torque=(0, 0, 1))):
        assert np.isnan(system.exact([1.0], y)).all()
    asymmetric = FREE.exact([1.0], y)[0]  # it moves on, and turns as only Jacobi could tell
    assert np.array_equal(asymmetric[:, :3], y[:, :3] + y[:, 7:10])
    assert np.isnan(asymmetric[:, 3:7]).all()


@pytest.mark.parametrize("method", ["rigid_splitting2", "rigid_splitting4"])
def test_there_is_no_velocity_before_drag_made_it_finite(method):
    run = {"dt": -0.3, "n_steps": 1, "method": method, "on_failure": "ignore"}
    sol = pi.integrate(BODY(drag=1.0), BODY.initial[:7], [10.0, 0, 0, 0, 0, 0], **run)
    assert sol.status == pi.Status.NOT_FINITE  # v' = -v^2: infinite 0.1 before


# ---- immovable bodies ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rigid_semi_implicit_euler", "rigid_splitting2", "rk4"])
def test_zero_inverses_are_not_moved_by_forces(method):
    y = states(5)
    fixed = LOADED(inverse_mass=0, inverse_inertia=np.zeros((3, 3)), linear_damping=0,
                   angular_damping=0)  # fmt: skip
    sol = pi.integrate(fixed, y, dt=0.01, n_steps=100, method=method)
    assert sol.n_failed == 0
    assert sol.final[:, 7:] == pytest.approx(y[:, 7:], abs=1e-14)  # not even by gravity
    assert sol.final[:, :3] == pytest.approx(y[:, :3] + y[:, 7:10], abs=1e-13)


# ---- bad input -----------------------------------------------------------------------------------


def test_a_part_of_a_name_is_enough_for_a_hint():
    with pytest.raises(TypeError, match=r"'mass': did you mean 'inverse_mass'\?"):
        BODY(mass=2.0)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"inverse_mass": -1.0}, "inverse_mass negative"),
        ({"inverse_mass": [1.0, -1.0]}, "inverse_mass negative"),
        ({"inverse_inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "inverse_inertia symmetric"),
        ({"inverse_inertia": (1, 1, 0)}, "inverse_inertia singular"),
        ({"inverse_inertia": (1, 1, -1)}, "inverse_inertia negative"),
        ({"inverse_inertia": np.ones((3, 3))}, "inverse_inertia singular"),
        ({"inverse_inertia": (1, 1)}, "inverse_inertia (2,) (3, 3)"),
        ({"gravity": -9.81}, "gravity () 3"),
        ({"anchors": (0, 0, 1)}, "anchors (3,) (..., n, 3)"),
        ({"stiffness": (1.0, 2.0)}, "stiffness (2,)"),
    ],
)
def test_wrong_parameters_are_refused_by_name(params, words):
    with pytest.raises(ValueError, match=words.split()[0]) as caught:
        BODY(**params)
    for word in re.findall(r"\([^)]*\)|\S+", words):
        assert word in str(caught.value)


def test_wrong_states_and_methods_are_refused():
    pose, twist = bodies(3)
    pose[1, 3:] = 0
    with pytest.raises(ValueError, match=r"quaternion of x0 is zero in trajectory \(1,\)"):
        pi.integrate(BODY, pose, twist, dt=0.1, n_steps=1)
    with pytest.raises(ValueError, match=r"v0 .*\(3, 7\).*6 velocities"):
        pi.integrate(BODY, pose, pose, dt=0.1, n_steps=1)
    with pytest.raises(ValueError, match=r"'velocity_verlet' needs .* 'rigid_body' is rigid_body"):
        pi.integrate(BODY, dt=0.1, n_steps=1, method="velocity_verlet")
    with pytest.raises(ValueError, match=r"'rigid_rk4' needs .* \(position and orientation\)"):
        pi.integrate(pi.systems.projectile, dt=0.1, n_steps=1, method="rigid_rk4")
    with pytest.raises(ValueError, match="'rk4' knows no linear_factor"):
        pi.integrate(BODY(linear_factor=0.9), dt=0.1, n_steps=1, method="rk4")
    with pytest.raises(ValueError, match="read-only"):
        pi.Stepper(BODY, dt=0.1, method="rk4").params["angular_factor"][...] = 0.9
    with pytest.raises(ValueError, match="no kick"):
        pi.Stepper(BODY, dt=0.1, method="rigid_rk4").kick()


def test_quaternions_are_normalised_before_the_run_and_kept_where_they_are():
    pose, twist = bodies(20)
    run = {"dt": 0.01, "n_steps": 0}
    assert np.array_equal(pi.integrate(BODY, pose, twist, **run).initial[:, :7], pose)
    long = pose * np.array([1, 1, 1, 7, 7, 7, 7.0])
    assert pi.integrate(BODY, long, twist, **run).x[0] == pytest.approx(pose, abs=1e-15)


@pytest.mark.parametrize("method", ["rk4", "rigid_rk4", "rigid_splitting2"])
def test_quaternions_are_normalised_after_a_jump_too(method):
    hung = BODY(anchors=[[0, 0, 5.0]], attachments=[[0.5, 0.2, 0]], stiffness=[20.0])
    start = [0, 0, 3, 1, 0, 0, 0], [0, 0, 0, 0.1, 0.2, 0.3]

    def run(then):
        late = {"late": pi.event(lambda t, x, v: t - 0.5, then=then)}
        return pi.integrate(hung, *start, dt=0.01, n_steps=100, method=method, events=late).final

    plain = run(lambda t, x, v: (x, v))
    longer = run(lambda t, x, v: (x * np.array([1, 1, 1, 3, 3, 3, 3]), v))
    # Roundings of 50 steps; rk4 loses the length, (w dt)^5 a step, that the jump restores.
    assert longer == pytest.approx(plain, abs=2e-6 if method == "rk4" else 1e-13)


@pytest.mark.parametrize("batch", [(), (5,)])
def test_quaternions_that_a_stepper_is_assigned_are_normalised(batch):
    hung = BODY(anchors=[[0, 0, 5.0]], attachments=[[0.5, 0.2, 0]], stiffness=[20.0])
    start = np.full((*batch, 13), np.arange(13.0) / 10)
    other = 0 * start + 1
    new, whole, parts = (pi.Stepper(hung, y, dt=0.01, method="rk4") for y in (start, other, other))
    whole.y = start
    parts.x, parts.v = start[..., :7], start[..., 7:]
    for stepper in (new, whole, parts):
        stepper.step(5)
    assert new.y.tolist() == whole.y.tolist() == parts.y.tolist()
    before = whole.y.tolist()
    with pytest.raises(ValueError, match="the quaternion of x is zero"):
        whole.x = np.zeros(7)
    assert whole.y.tolist() == before


def test_nan_and_explosions_are_statuses_of_their_bodies():
    pose, twist = bodies(4)
    pose[0, 4] = np.nan
    mass = np.array([1, np.nan, 1, 1.0])
    twist[2, 3:] = 1e200
    system = LOADED(inverse_mass=mass, inverse_inertia=(1, 1 / 2, 1 / 3))
    for method in ("rigid_semi_implicit_euler", "rigid_implicit_gyroscopic", "rigid_splitting4"):
        sol = pi.integrate(
            system, pose, twist, dt=0.01, n_steps=50, method=method, on_failure="ignore"
        )
        assert sol.failed_step[0] == 0
        assert sol.failed_step[1] == 1
        assert (sol.status[:2] == pi.Status.NOT_FINITE).all()
        assert sol.status[2] == pi.Status.OK or "splitting" not in method  # it only turns
        assert sol.status[3] == pi.Status.OK
        assert np.isfinite(sol.final[3]).all()


def test_springs_without_length_may_meet_their_anchors():
    hung = BODY(anchors=[[0.0, 0, 0]], stiffness=(9.0,))  # the centre at its anchor
    sol = pi.integrate(hung, dt=0.01, n_steps=100, method="rigid_splitting4")
    assert sol.n_failed == 0
    assert sol["z"] == pytest.approx(-9.81 / 9 * (1 - np.cos(3 * sol.t)), abs=1e-6)
