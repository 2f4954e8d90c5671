"""Array parameters: a value is (*batch, *shape), where shape is that of the default."""

import pickle

import numpy as np
import pytest
from conftest import same_bits
from numpy.testing import assert_array_equal

import pyintegrate as pi

PROFILE, SPRING, BODIES = (
    pi.systems[name] for name in ("acceleration_profile", "spring_3d", "three_body")
)


# ---- what a value may be -------------------------------------------------------------------------


def test_defaults_are_read_only_arrays():
    assert PROFILE.params["times"].tolist() == [0, 2, 4, 6, 8]
    assert PROFILE.params["accelerations"].tolist() == [0, 2, 0, -2, 0]
    assert SPRING.params["gravity"].tolist() == [0, 0, 0]
    assert BODIES.params["masses"].tolist() == [1, 1, 1]
    assert BODIES.params["g"] == 1.0
    assert not BODIES.params["masses"].flags.writeable


def test_values_are_copied():
    masses = np.array([1.0, 2.0, 3.0])
    system = BODIES(masses=masses)
    masses[0] = 7.0
    assert system.params["masses"][0] == 1.0


@pytest.mark.parametrize(
    ("shape", "batch"),
    [((3,), ()), ((5, 3), (5,)), ((1, 3), (1,)), ((2, 4, 3), (2, 4)), ((0, 3), (0,))],
)
def test_the_leading_axes_are_the_batch(shape, batch):
    system = BODIES(masses=np.ones(shape))
    assert system.batch_shapes == {"g": (), "masses": batch}
    assert system.energy(system.initial).shape == batch
    assert system.rhs(0.0, system.initial).shape == (*batch, 12)
    assert pi.integrate(system, dt=0.1, n_steps=2).y.shape == (3, *batch, 12)


def test_batches_of_several_parameters_broadcast():
    system = SPRING(k=np.linspace(1, 2, 4), gravity=np.zeros((3, 1, 3)))
    assert pi.integrate(system, dt=0.1, n_steps=1, save="final").final.shape == (3, 4, 6)
    with pytest.raises(ValueError, match=r"k has batch shape \(4,\) and gravity \(3,\)"):
        pi.integrate(SPRING(k=np.ones(4), gravity=np.zeros((3, 3))), dt=0.1, n_steps=1)


@pytest.mark.parametrize("value", [1.0, [1.0, 2.0], np.ones((3, 2)), np.ones((3, 1)), []])
def test_a_wrong_last_axis_is_refused(value):
    with pytest.raises(ValueError, match=r"masses has shape .* must hold the 3 elements"):
        BODIES(masses=value)


@pytest.mark.parametrize(
    ("value", "error"),
    [([[1.0, 2, 3], [1.0]], ValueError), (["a", "b", "c"], TypeError), ([1j, 0, 0], TypeError)],
)
def test_what_is_no_number_is_refused(value, error):
    with pytest.raises(error, match="masses"):
        BODIES(masses=value)


def test_equality_hash_and_pickle():
    system = BODIES(masses=[1.0, 2.0, 3.0])
    assert system == BODIES(masses=(1, 2, 3))
    assert system != BODIES(masses=[1.0, 2.0, np.nextafter(3.0, 4.0)])
    assert system != BODIES(masses=[[1.0, 2.0, 3.0]])
    assert pickle.loads(pickle.dumps(system)) == system
    with pytest.raises(TypeError, match="masses"):
        hash(BODIES)


def test_short_arrays_are_printed():
    assert repr(BODIES) == "three_body(g=1, masses=(1, 1, 1))"
    assert "masses=array of shape (2, 3) from 1 to 1" in repr(BODIES(masses=np.ones((2, 3))))
    assert "(0, 2, 4, 6, 8)" in PROFILE._repr_html_()
    assert repr(BODIES(masses=np.ones((0, 3)))) == "three_body(g=1, masses=array of shape (0, 3))"


# ---- what it does --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f64", "f32"])
@pytest.mark.parametrize(
    ("system", "name"),
    [(PROFILE, "times"), (PROFILE, "accelerations"), (SPRING, "gravity"), (BODIES, "masses")],
    ids=str,
)
def test_a_batch_has_the_bits_of_its_trajectories(system, name, dtype):
    """21 is no whole number of registers; the elements of a trajectory are its own."""
    noise = np.random.default_rng(7).uniform(0.5, 1.5, (3, 7, *system.params[name].shape))
    values = np.sort(noise * 2, axis=-1) if name == "times" else noise + system.params[name]
    options = {"dt": 0.1, "n_steps": 30, "dtype": dtype, "method": "rk4"}
    whole = pi.integrate(system(**{name: values}), **options)
    for index in np.ndindex(3, 7):
        alone = pi.integrate(system(**{name: values[index]}), **options)
        assert same_bits(whole.y[:, *index], alone.y)
    half = pi.integrate(system(**{name: values[1:]}), **options)
    assert same_bits(half.y, whole.y[:, 1:])
    exchanged = pi.integrate(system(**{name: values.swapaxes(0, 1)}), **options)
    assert same_bits(exchanged.y.swapaxes(1, 2), whole.y)
    assert not same_bits(whole.y[:, 0, 0], whole.y[:, 0, 1])


def test_questions_take_the_elements_of_each_trajectory():
    masses = np.random.default_rng(3).uniform(1, 2, (4, 3))
    y = BODIES.initial + np.linspace(0, 0.1, 4)[:, np.newaxis]
    system = BODIES(masses=masses)
    for i in range(4):
        one = BODIES(masses=masses[i])
        assert_array_equal(system.rhs(0.0, y)[i], one.rhs(0.0, y[i]))
        assert_array_equal(system.jacobian(0.0, y)[i], one.jacobian(0.0, y[i]))
        assert_array_equal(system.energy(y)[i], one.energy(y[i]))
        for name, values in system.invariants(y).items():
            assert_array_equal(values[i], one.invariants(y[i])[name])


def test_a_failed_trajectory_takes_its_elements_along():
    """Finding the step of a failure packs the parameters of the failed trajectories."""
    gravity = np.zeros((40, 3))
    gravity[17, 1] = 1e307
    gravity[30, 2] = 1e305
    sol = pi.integrate(SPRING(gravity=gravity), dt=1.0, n_steps=60, on_failure="ignore")
    assert np.flatnonzero(sol.status == pi.Status.NOT_FINITE).tolist() == [17, 30]
    for i in (17, 30):
        alone = pi.integrate(SPRING(gravity=gravity[i]), dt=1.0, n_steps=60, on_failure="ignore")
        assert sol.failed_step[i] == alone.failed_step
        assert same_bits(sol.y[:, i], alone.y)


def test_resumed_runs_keep_their_elements():
    system = PROFILE(accelerations=np.random.default_rng(1).normal(size=(6, 5)))
    long = pi.integrate(system, dt=0.1, n_steps=50)
    short = pi.integrate(system, dt=0.1, n_steps=20).resume(n_steps=30)
    assert same_bits(short.y, long.y[20:])


# ---- the profile's knots -------------------------------------------------------------------------


def test_the_acceleration_is_that_of_the_last_knot_reached():
    before, after = np.nextafter([0, 2, 4, 6, 8], -np.inf), np.array([0.0, 2, 4, 6, 8])
    system = PROFILE(accelerations=[1.0, 2.0, 3.0, 4.0, 5.0])
    rest = np.zeros(2)
    assert system.rhs(before, rest)[:, 1].tolist() == [0, 1, 2, 3, 4]
    assert system.rhs(after, rest)[:, 1].tolist() == [1, 2, 3, 4, 5]
    assert system.rhs([-100.0, 100.0], rest)[:, 1].tolist() == [0, 5]


def test_knots_that_never_come_are_infinite():
    system = PROFILE(times=[1.0, 2.0, np.inf, np.inf, np.inf], accelerations=[2.0, 4.0, 9, 9, 9])
    # A quarter is a sum of powers of two: semi-implicit Euler's velocities are exact.
    sol = pi.integrate(system, dt=0.25, t_end=4.0, method="semi_implicit_euler")
    assert_array_equal(sol.v, sol.exact()[:, 1])
    assert sol.v[-1] == 2 * 1 + 4 * 2


def test_exact_solutions_take_the_elements_of_each_trajectory():
    generator = np.random.default_rng(9)
    times = np.sort(generator.uniform(0, 8, (3, 2, 5)))
    system = PROFILE(times=times, accelerations=generator.normal(size=(2, 5)))
    t = np.linspace(-1, 9, 6)
    y0 = generator.normal(size=(3, 1, 2))
    y = system.exact(t, y0)
    assert y.shape == (6, 3, 2, 2)
    for i, j in np.ndindex(3, 2):
        one = PROFILE(times=times[i, j], accelerations=system.params["accelerations"][j])
        assert_array_equal(y[:, i, j], one.exact(t, y0[i, 0]))
