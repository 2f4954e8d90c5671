"""Stepping by hand gives the bits of a run, and can be interfered with, undone and replayed."""

import pickle
import threading

import numpy as np
import pytest
from conftest import pairs, same_bits
from reference import DTYPES, states

import pyintegrate as pi

METHODS = ["semi_implicit_euler", "rk4", "velocity_verlet", "forest_ruth4", "verner98"]
BATCHES = [(), (5,), (3, 70)]


@pytest.mark.parametrize(
    ("name", "method", "batch", "dtype"),
    pairs(["pendulum", "kepler", "duffing", "driven_pendulum"], METHODS, BATCHES, DTYPES),
)
def test_steps_have_the_bits_of_a_run(name, method, batch, dtype):
    system, y = pi.systems[name], states(pi.systems[name], batch)
    stepper = pi.Stepper(system, y, dt=0.01, t0=0.5, method=method, dtype=dtype)
    stepper.step()
    stepper.step(n=299)
    stepper.step(300)
    sol = pi.integrate(
        system, y, dt=0.01, t0=0.5, n_steps=600, method=method, dtype=dtype, save="final"
    )
    assert same_bits(stepper.y, sol.final)
    assert stepper.n == 600
    assert stepper.t == sol.t[-1]


@pi.hamiltonian(dof=2, mu=1.0)
def traced(q, p, mu):
    return (p @ p) / 2 - mu / np.sqrt(q @ q + 0.01)


@pytest.mark.parametrize("method", ["implicit_midpoint", "gauss4", "sdirk2", "bdf3", "rk4"])
def test_steps_of_ones_own_system_have_the_bits_of_a_run(method):
    """Newton's method has the same Jacobian in both."""
    y = np.random.default_rng(3).uniform(-0.2, 0.2, (100, 4)) + [1, 0, 0, 0]
    stepper = pi.Stepper(traced, y, dt=0.01, method=method)
    stepper.step(7)
    stepper.step(3)
    sol = pi.integrate(traced, y, dt=0.01, n_steps=10, method=method, save="final")
    assert same_bits(stepper.y, sol.final)


@pytest.mark.parametrize("name", ["oscillator", "spring", "kepler", "momentum_spring", "pendulum"])
def test_a_kick_and_a_drift_are_a_step(name):
    system = pi.systems[name]
    y = states(system, (9,))
    whole, parts = pi.Stepper(system, y, dt=0.02), pi.Stepper(system, y, dt=0.02)
    for n in range(50):
        whole.step()
        before = parts.x.copy()
        parts.kick()
        assert np.array_equal(parts.x, before)
        assert parts.n == n
        parts.drift()
        assert parts.n == n + 1
    assert same_bits(whole.y, parts.y)


def test_only_semi_implicit_euler_comes_apart():
    stepper = pi.Stepper(pi.systems.oscillator, dt=0.1, method="rk4")
    with pytest.raises(ValueError, match="no kick and drift.*'semi_implicit_euler' has"):
        stepper.kick()
    with pytest.raises(ValueError, match="no kick and drift"):
        stepper.drift()


def test_the_views_are_live():
    stepper = pi.Stepper(pi.systems.spring_3d, states(pi.systems.spring_3d, (4,)), dt=0.01)
    view = stepper.x
    stepper.x = [1.0, 2.0, 3.0]
    assert np.array_equal(view, np.broadcast_to([1.0, 2.0, 3.0], (4, 3)))
    stepper.v[:, 2] = 0.0
    assert np.all(stepper.y[:, 5] == 0)
    stepper.y = np.zeros(6)
    assert not stepper.x.any()
    with pytest.raises(ValueError, match=r"x has shape \(5,\)"):
        stepper.x = np.zeros(5)
    with pytest.raises(TypeError, match="x must hold real numbers"):
        stepper.x = "there"
    single = pi.Stepper(pi.systems.spring, 1.0, 0.0, dt=0.01)
    single.x[...] = 3.0
    assert single.y[0] == 3.0
    with pytest.raises(AttributeError, match="first_order"):
        _ = pi.Stepper(pi.systems.lorenz, dt=0.01, method="rk4").x


def test_parameters_may_change_between_steps():
    k = np.array([5.0, 10.0, 15.0])
    stepper = pi.Stepper(pi.systems.spring(k=k), np.ones(3), 0.0, dt=0.01)
    stepper.step(10)
    stepper.params["k"][1] = 20.0
    stepper.params["b"][...] = 0.5
    stepper.step(10)
    first = pi.integrate(
        pi.systems.spring(k=k), np.ones(3), 0.0, dt=0.01, n_steps=10, method="semi_implicit_euler"
    )
    changed = pi.systems.spring(k=[5.0, 20.0, 15.0], b=0.5)
    second = pi.integrate(
        changed, first.final, dt=0.01, n_steps=10, method="semi_implicit_euler", save="final"
    )
    assert same_bits(stepper.y, second.final)
    with pytest.raises(TypeError, match=r"write its numbers, stepper.params\['k'\]\[...\] = value"):
        stepper.params["k"] = 3.0
    with pytest.raises(TypeError, match="no 'q'; it has k, b, m"):
        stepper.params["q"] = 3.0
    for place, name in ((stepper.params, "k"), (stepper, "k"), (stepper, "params")):
        with pytest.raises(TypeError, match=r"write .*, stepper.params\[.*\]\[...\] = value"):
            setattr(place, name, {"k": 3.0})  # which no step would read


def test_array_parameters_are_live_too():
    stepper = pi.Stepper(pi.systems.spring_3d, dt=0.01)
    stepper.params["gravity"][...] = [0.0, 0.0, -9.81]
    stepper.step(5)
    system = pi.systems.spring_3d(gravity=(0.0, 0.0, -9.81))
    sol = pi.integrate(system, dt=0.01, n_steps=5, method="semi_implicit_euler", save="final")
    assert same_bits(stepper.y, sol.final)


def test_each_trajectory_may_have_parameters_of_no_elements():
    bodies = pi.systems.rigid_body(anchors=np.zeros((2, 0, 3)))
    stepper = pi.Stepper(bodies, np.zeros((2, 7)) + [0, 0, 0, 1, 0, 0, 0], np.zeros((2, 6)), dt=0.1)
    stepper.step(3)
    run = {"dt": 0.1, "n_steps": 3, "method": stepper.method}
    assert same_bits(stepper.y[1], pi.integrate(pi.systems.rigid_body, **run).final)


@pytest.mark.parametrize("method", ["rk4", "velocity_verlet"])
def test_rollback_and_replay_give_the_same_bits(method):
    stepper = pi.Stepper(pi.systems.pendulum, states(pi.systems.pendulum, (11,)), dt=0.01,
                         method=method)  # fmt: skip
    stepper.y[3] = np.nan
    stepper.step(7)
    before = stepper.snapshot()
    stepper.params["length"][2] = 2.0
    stepper.y[5] = np.nan
    stepper.step(20)
    there, status = stepper.y.copy(), stepper.status
    assert status.tolist() == [int(i in (3, 5)) for i in range(11)]
    stepper.restore(before)
    assert stepper.n == 7
    assert np.flatnonzero(stepper.status).tolist() == [3]
    stepper.params["length"][2] = 2.0
    stepper.y[5] = np.nan
    stepper.step(20)
    assert same_bits(stepper.y, there)
    assert np.array_equal(stepper.failed_step[[3, 5]], [1, 8])
    with pytest.raises(TypeError, match="snapshot"):
        stepper.restore(stepper.y)
    with pytest.raises(ValueError, match="not like this Stepper"):
        pi.Stepper(pi.systems.pendulum, dt=0.01, method=method).restore(before)


@pytest.mark.parametrize(("other", "words"), [
    ({"dt": 0.2}, "whose dt is 0.1, not 0.2"), ({"t0": 1.0}, "whose t0 is 0, not 1"),
    ({"dt": [0.1, 0.2]}, "not like this Stepper"), ({"method": "HEUN"}, "with the name 'rk'"),
])  # fmt: skip
def test_a_snapshot_of_other_steps_is_refused(other, words):
    """Its n would be another time, and the steps from there others."""
    midpoint = pi.RungeKutta([[0, 0], [0.5, 0]], [0, 1], [0, 0.5], name="rk")
    heun = pi.RungeKutta([[0, 0], [1, 0]], [0.5, 0.5], [0, 1], name="rk")
    made = {"dt": 0.1, "method": midpoint}
    snapshot = pi.Stepper(pi.systems.pendulum, **made).snapshot()
    other = {"method": heun} if "method" in other else other
    with pytest.raises(ValueError, match=words):
        pi.Stepper(pi.systems.pendulum, **made | other).restore(snapshot)
    pi.Stepper(pi.systems.pendulum, **made).restore(snapshot)
    many = {"dt": [0.1, 0.2], "method": midpoint}
    snapshot = pi.Stepper(pi.systems.pendulum, **many).snapshot()
    with pytest.raises(ValueError, match="whose dt is another one"):
        pi.Stepper(pi.systems.pendulum, **many | {"dt": [0.1, 0.3]}).restore(snapshot)


def test_a_snapshot_of_another_system_of_the_same_name_is_refused():
    def stepper(force, **params):
        return pi.Stepper(pi.acceleration(force, name="mine", **params), 1.0, 0.0, dt=0.1)

    one = stepper(lambda t, x, v, k: -k * x, k=2.0)
    snapshot = pickle.loads(pickle.dumps(one.snapshot()))
    stepper(lambda t, x, v, k: -k * x, k=3.0).restore(snapshot)
    for other in (
        stepper(lambda t, x, v, k: k * x, k=2.0),
        stepper(lambda t, x, v, k, b: -k * x, k=2.0, b=1.0),
    ):
        with pytest.raises(ValueError, match="another system with the name 'mine'"):
            other.restore(snapshot)


def test_a_reset_rounds_the_bound_as_a_new_stepper_does():
    start = np.float32([0.1, 0.0])  # a little more than 0.1
    stepper = pi.Stepper(pi.systems.oscillator, start, dt=0.01, bound=0.1)
    stepper.reset(True, start)
    stepper.step()
    assert stepper.status == pi.Status.OK


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_a_memory_that_is_rolled_back_is_made_again(n):
    """Also to before a multistep method had all its past."""
    stepper = pi.Stepper(pi.systems.pendulum, dt=0.01, method="adams_bashforth4")
    stepper.step(n)
    before = stepper.snapshot()
    stepper.step(9)
    there = stepper.y.copy()
    stepper.restore(before)
    stepper.step(9)
    assert same_bits(stepper.y, there)


PAST = [name for name, method in pi.methods.items() if method.family == "multistep"]


@pytest.mark.parametrize("method", PAST)
def test_a_state_without_its_past_is_refused(method):
    """A method of several steps would go on from forces, or states, of another motion."""
    options = {"dt": 0.01, "method": method}
    stepper = pi.Stepper(pi.systems.pendulum, 1.0, 0.0, **options)
    view = stepper.x
    stepper.x, stepper.v = 2.0, 0.5  # which has no past yet
    stepper.step(9)
    other = pi.Stepper(pi.systems.pendulum, 2.0, 0.5, **options)
    other.step(9)
    assert same_bits(stepper.y, other.y)
    names = ["x", "v", "y"]
    if pi.methods[method].starts_from_positions:  # its past is `previous`, which is assigned too
        stepper.x = other.x
        names.remove("x")
    else:
        with pytest.raises(ValueError, match="read-only"):  # also through a view of before
            view[...] = 0.3
    for name in names:
        with pytest.raises(ValueError, match=f"{name}: the method remembers.*new Stepper"):
            setattr(stepper, name, 0.3)
        with pytest.raises(ValueError, match="read-only"):
            getattr(stepper, name)[...] = 0.3
    assert same_bits(stepper.y, other.y)


def test_velocities_beside_a_past_are_refused_before_the_first_step():
    """They were taken, and no step read them."""
    stepper = pi.Stepper(pi.systems.pendulum, 1.0, 0.0, dt=0.01, method="stormer_verlet")
    stepper.v = 0.5
    stepper.previous = 0.995
    with pytest.raises(ValueError, match="v: the method remembers"):
        stepper.v = 0.3


def test_reset_restarts_some_and_leaves_the_others():
    y = states(pi.systems.pendulum, (6,))
    stepper = pi.Stepper(pi.systems.pendulum, y, dt=0.01)
    alone = pi.Stepper(pi.systems.pendulum, y, dt=0.01)
    stepper.step(5)
    alone.step(5)
    stepper.y[4] = np.inf
    stepper.step()
    alone.step()
    assert stepper.status[4] == pi.Status.NOT_FINITE
    mask = np.array([True, False, False, False, True, False])
    stepper.reset(mask, 0.5, 0.0)
    assert np.all(stepper.x[mask] == 0.5)
    assert same_bits(stepper.y[~mask], alone.y[~mask])
    assert not stepper.status.any()
    stepper.step()
    assert np.all(stepper.x[mask] != 0.5)
    stepper.reset()
    assert same_bits(stepper.y, y)
    with pytest.raises(TypeError, match="mask must hold truth values"):
        stepper.reset([1, 0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="does not fit the batch"):
        stepper.reset([True, False])


def test_a_start_of_the_selected_alone_is_refused_whatever_differs_over_the_batch():
    mask = np.arange(6) < 2
    for system in (pi.systems.pendulum, pi.systems.pendulum(length=np.arange(1.0, 7.0))):
        stepper = pi.Stepper(system, np.zeros(6), 0.0, dt=0.01)
        with pytest.raises(ValueError, match=r"\(2,\): they do not fit the whole batch \(6,\)"):
            stepper.reset(mask, np.ones(2), np.zeros(2))


def test_a_bad_neighbour_changes_no_bits():
    y = states(pi.systems.kepler, (20,))
    bad = y.copy()
    bad[7] = 0.0  # in the centre: no direction
    one = pi.Stepper(pi.systems.kepler, bad, dt=0.01, method="rk4")
    other = pi.Stepper(pi.systems.kepler, y, dt=0.01, method="rk4")
    for stepper in (one, other):
        stepper.step(30)
    good = np.arange(20) != 7
    assert same_bits(one.y[good], other.y[good])
    assert one.status[7] == pi.Status.NOT_FINITE
    assert one.failed_step[7] == 1
    assert np.array_equal(one.y[7], bad[7])


def test_a_bound_stops_a_trajectory():
    stepper = pi.Stepper(pi.systems.projectile, dt=0.1, bound=15.5)
    stepper.step(100)
    assert stepper.status == pi.Status.OUT_OF_BOUNDS
    assert stepper.failed_step == 16
    assert abs(stepper.y).max() <= 15.5


@pytest.mark.parametrize("batch", [(), (7,), (2, 3)])
def test_a_bad_start_of_a_reset_fails_as_that_of_a_new_stepper(batch):
    system, bad = pi.systems.oscillator, np.zeros((*batch, 2))
    bad.flat[::3], bad.flat[-1] = 2.0, np.nan
    new = pi.Stepper(system, bad, dt=-1.0, bound=1.9)
    again = pi.Stepper(system, np.zeros((*batch, 2)), dt=-1.0, bound=1.9)
    again.reset(True, bad)
    new.step()
    again.step()  # from 2 to -0.0
    assert new.status.any()
    assert same_bits(again.y, new.y)
    assert np.array_equal(again.status, new.status)
    assert np.array_equal(again.failed_step, new.failed_step)


@pytest.mark.parametrize("n", [-1, 2**54])
def test_a_wrong_number_of_steps_is_refused(n):
    stepper = pi.Stepper(pi.systems.spring, dt=0.1)
    with pytest.raises(ValueError, match="n must be from 0"):
        stepper.step(n)
    with pytest.raises(TypeError, match=r"n must be an integer, how many steps of dt, got 1\.5"):
        stepper.step(1.5)
    with pytest.raises(TypeError, match="n must be an integer"):
        stepper.step(True)
    with pytest.raises(TypeError, match="number of steps n only"):
        stepper.step(m=1)
    assert stepper.n == 0


def test_an_empty_batch_and_pickling_are_refused():
    import pickle

    with pytest.raises(ValueError, match="is empty"):
        pi.Stepper(pi.systems.spring, np.ones(0), 0.0, dt=0.1)
    stepper = pi.Stepper(pi.systems.spring, dt=0.1)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(stepper)
    again = pickle.loads(pickle.dumps(stepper.snapshot()))
    stepper.step(3)
    stepper.restore(again)
    assert stepper.n == 0


def test_two_threads_do_not_step_at_once():
    within, tried = threading.Event(), threading.Event()
    tried.set()

    def force(t, y):
        within.set()
        assert tried.wait(60)
        return -y

    stepper = pi.Stepper(pi.rhs(force, dim=1, trace=False), [1.0], dt=0.1, method="explicit_euler")
    within.clear(), tried.clear()
    thread = threading.Thread(target=stepper.step)
    thread.start()
    assert within.wait(60)
    with pytest.raises(RuntimeError, match="another thread"):
        stepper.step()
    tried.set()
    thread.join()
    assert stepper.n == 1


# ---- the game loop -------------------------------------------------------------------------------


def test_frames_of_any_length_make_steps_of_a_fixed_one():
    loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=1 / 64))
    rng = np.random.default_rng(5)
    frames = rng.integers(0, 5, 200) / 128  # sums of these are exact
    alphas = [loop.advance(frame) for frame in frames]
    assert loop.stepper.n == int(frames.sum() * 64)
    assert alphas[-1] == pytest.approx(frames.sum() * 64 % 1, abs=1e-9)
    assert all(0 <= alpha <= 1 for alpha in alphas)
    sol = pi.integrate(pi.systems.spring, dt=1 / 64, n_steps=loop.stepper.n,
                       method="semi_implicit_euler", save="all")  # fmt: skip
    assert same_bits(loop.stepper.y, sol.final)
    assert same_bits(loop.blend(0.0), sol.y[-2])
    np.testing.assert_allclose(loop.blend(0.25), 0.75 * sol.y[-2] + 0.25 * sol.y[-1], rtol=1e-14)


def test_a_blended_body_is_turned_not_stretched():
    spin = np.array([0, 0, 0, 0.0, 3.0, 0.0])
    body = pi.systems.rigid_body(inverse_mass=1.0, inverse_inertia=(1, 1, 1), gravity=(0, 0, 0))
    loop = pi.FixedTimestep(pi.Stepper(body, [0, 0, 0, 1, 0, 0, 0], spin, dt=0.125))
    half = loop.blend(loop.advance(0.1875))[3:7]
    assert np.linalg.norm(half) == pytest.approx(1, abs=1e-15)
    assert 2 * np.arctan2(half[2], half[0]) == pytest.approx(3 * 0.0625, abs=1e-2)


def test_a_loop_takes_the_steps_of_a_game():
    """Contacts between the kick and the drift of each step, also of several in a frame."""

    def play(floor):
        ball = pi.Stepper(pi.systems.projectile, [0.0, 0, 1], [0.0, 0, 0], dt=1 / 64)

        def step():
            ball.kick()
            if ball.x[2] < floor:
                ball.v[2] = abs(ball.v[2])
            ball.drift()

        loop = pi.FixedTimestep(ball, step=step)
        lowest = min(loop.blend(loop.advance(3 / 128))[2] for _ in range(100))
        return ball, loop.blend(0.0), lowest

    ball, before, lowest = play(floor=0.0)
    assert ball.n == 150
    assert -0.1 < lowest < 0.1  # a step at 4.4 m/s
    plain = pi.FixedTimestep(pi.Stepper(pi.systems.projectile, [0, 0, 1.0], [0, 0, 0.0], dt=1 / 64))
    for _ in range(100):
        plain.advance(3 / 128)
    ball, before, lowest = play(floor=-np.inf)
    assert same_bits(ball.y, plain.stepper.y)
    assert same_bits(before, plain.blend(0.0))
    with pytest.raises(TypeError, match="step must be a function without arguments, got 3"):
        pi.FixedTimestep(ball, step=3)


def test_a_trajectory_that_is_reset_does_not_glide_to_its_new_place():
    loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, np.ones(2), 0.0, dt=0.125))
    alpha = loop.advance(0.3125)
    other = loop.blend(alpha)[1]
    loop.stepper.reset([True, False], 5.0, 0.0)
    then = loop.snapshot()
    for _ in range(2):
        assert same_bits(loop.blend(alpha), np.array([[5.0, 0.0], other]))
        loop.advance(0.015625)  # no step is due
    loop.advance(0.125)
    assert same_bits(loop.blend(0.0)[0], np.array([5.0, 0.0]))
    assert same_bits(loop.blend(1.0), loop.stepper.y)
    loop.restore(then)
    assert same_bits(loop.blend(alpha), np.array([[5.0, 0.0], other]))


def test_a_slow_frame_drops_what_it_cannot_do():
    loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=0.125), max_steps=4)
    assert loop.advance(10.0625) == pytest.approx(0.5)
    assert (loop.stepper.n, loop.dropped) == (4, 76)
    assert loop.advance(0.0625) == 0.0
    assert (loop.stepper.n, loop.dropped) == (5, 76)


def test_wrong_frames_are_refused():
    stepper = pi.Stepper(pi.systems.spring, dt=0.1)
    loop = pi.FixedTimestep(stepper)
    for wrong in (-0.1, np.nan, np.inf, 1e308, 10**400):
        with pytest.raises(ValueError, match="frame_time"):
            loop.advance(wrong)
    with pytest.raises(TypeError, match="frame_time"):
        loop.advance("soon")
    with pytest.raises(TypeError, match="frame_time"):
        loop.advance(np.complex64(1))
    with pytest.raises(ValueError, match="alpha"):
        loop.blend(1.5)
    with pytest.raises(TypeError, match="stepper must be .*pi.Stepper.system, dt="):
        pi.FixedTimestep(pi.systems.spring)
    with pytest.raises(TypeError, match="FixedTimestep takes no dt: it takes stepper, max_steps"):
        pi.FixedTimestep(stepper, dt=0.1)
    with pytest.raises(ValueError, match="positive dt"):
        pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=-0.1))
    with pytest.raises(ValueError, match="max_steps"):
        pi.FixedTimestep(stepper, max_steps=0)


def test_a_restored_loop_replays_its_frames():
    loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=1 / 100), max_steps=2)
    frames = np.random.default_rng(1).uniform(0, 0.03, 250)

    def play(some):
        alphas = [loop.advance(frame) for frame in some]
        return [*alphas, loop.dropped, loop.stepper.n], loop.blend(alphas[-1])

    play(frames[:100])
    then = pickle.loads(pickle.dumps(loop.snapshot()))
    numbers, drawn = play(frames[100:])
    loop.restore(then)
    again = play(frames[100:])
    assert numbers == again[0]
    assert same_bits(drawn, again[1])


def test_a_stepper_restored_without_its_loop_is_noticed():
    loop = pi.FixedTimestep(pi.Stepper(pi.systems.spring, dt=1 / 64))
    start = loop.stepper.snapshot()
    loop.advance(0.1)
    loop.stepper.restore(start)
    for call in (lambda: loop.advance(0.1), lambda: loop.blend(0.5), loop.snapshot):
        with pytest.raises(ValueError, match=r"stepper was restored.*loop\.restore"):
            call()


def test_another_step_is_another_stepper():
    stepper = pi.Stepper(pi.systems.driven_pendulum, dt=0.01)
    stepper.step(10)
    with pytest.raises(AttributeError, match=r"pi.FixedTimestep.*t0=stepper.t\)"):
        stepper.dt = 0.005
    finer = pi.Stepper(stepper.system, stepper.x, stepper.v, dt=0.005, t0=stepper.t)
    finer.step(2)
    assert finer.t == pytest.approx(0.11)
    assert stepper.t == pytest.approx(0.10)
