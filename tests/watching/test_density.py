"""A density is ``numpy.histogram2d`` of all trajectories at all steps, whatever the order."""

import numpy as np
import pytest

import pyintegrate as pi

ANGLES = np.linspace(0.1, 3.0, 150).reshape(10, 15)
N = 300
BINS = (7, 5), ((-2, 2), (-3, 4))
PLANE = pi.watch.density(("theta", "omega"), *BINS)
LINE = pi.watch.density(lambda t, x, v: x * x, 11, (0, 5))


def run(watch, n_steps=N, **options):
    options = {"save": "final"} | options
    return pi.integrate(
        pi.systems.pendulum, ANGLES, 0.0, dt=0.01, n_steps=n_steps, watch=watch, **options
    )


@pytest.fixture(scope="module")
def states():
    return run(None, save="all")


def check_plane(sol, y):
    edges = sol.watched["p.x_edges"], sol.watched["p.y_edges"]
    theta, omega = np.float64(y[..., 0].ravel()), np.float64(y[..., 1].ravel())
    expected, *bins = np.histogram2d(theta, omega, *BINS)
    assert np.array_equal(sol.watched["p"], expected)
    assert sol.watched["p"].dtype == np.int64
    assert all(map(np.array_equal, edges, bins))


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("save", ["final", "all", 7])
def test_a_plane_is_the_histogram_of_all_saves(states, save, workers):
    sol = run({"p": PLANE}, save=save, workers=workers)
    check_plane(sol, states.y)
    assert np.array_equal(sol.final, states.final)


def test_a_line_beside_other_watches(states):
    watch = {
        "l": LINE,
        "far": pi.watch.maximum("theta"),
        "p": PLANE,
        "w": pi.watch.windings("phase"),
    }
    sol = run(watch)
    expected, edges = np.histogram(states.x**2, 11, (0, 5))
    assert np.array_equal(sol.watched["l"], expected)
    assert np.array_equal(sol.watched["l.edges"], edges)
    assert np.array_equal(sol.watched["far"], states.x.max(axis=0))
    check_plane(sol, states.y)


def test_some_steps(states):
    late = pi.watch.density("theta", 9, (-3, 3), every=7, after=1.0)
    expected, _ = np.histogram(states.x[::7][states.t[::7] >= 1.0], 9, (-3, 3))
    assert np.array_equal(run({"l": late}).watched["l"], expected)


def test_values_at_edges_lie_where_those_of_numpy_lie():
    """Edges of 1/10 are no binary fractions: a bin is found by them, not by its width."""
    stay = pi.rhs(dim=1)(lambda t, y: (0 * y[0],))
    edges = np.linspace(-0.3, 0.7, 11)
    values = np.concatenate([edges, np.nextafter(edges, 9), np.nextafter(edges, -9), [np.nan]])
    sol = pi.integrate(
        stay, values[:-1, np.newaxis], dt=1.0, n_steps=0,
        watch={"d": pi.watch.density("y", 10, (-0.3, 0.7)),
               "h": pi.watch.histogram("y", 10, (-0.3, 0.7))},
    )  # fmt: skip
    expected, _ = np.histogram(values[:-1], 10, (-0.3, 0.7))
    assert np.array_equal(sol.watched["d"], expected)
    assert np.array_equal(sol.watched["h"].sum(axis=0), expected)


def test_more_notes_than_room_are_counted_too(states):
    """There is room for as many notes as bins: for one."""
    sol = run({"d": pi.watch.density("theta", 1, (-99, 99))}, workers=3)
    assert sol.watched["d"].tolist() == [states.y[..., 0].size]


def test_float32(states):
    check_plane(run({"p": PLANE}, dtype=np.float32), run(None, save="all", dtype=np.float32).y)


def test_resumed_runs_parts_and_files(states, tmp_path):
    part = run({"p": PLANE}, n_steps=130)
    whole = part.resume(n_steps=170)
    check_plane(whole, states.y)
    check_plane(part, states.y[:131])
    check_plane(pi.concatenate(part, whole), states.y)
    whole.save(tmp_path / "run.npz")
    check_plane(pi.load(tmp_path / "run.npz"), states.y)
    assert whole.to_xarray()["watched.p"].shape == (7, 5)


def test_blocks_of_a_foreign_array(states, monkeypatch):
    monkeypatch.setattr("pyintegrate.run.output.PART_BYTES", 20_000)
    out = np.empty((N + 1, 10, 20, 2))[:, :, :15]
    check_plane(run({"p": PLANE}, save="all", out=out), states.y)


def test_an_interrupted_run_counts_the_steps_that_all_have_made():
    """Threads are ahead of one another, by what does not count."""
    slow = pi.acceleration(trace=False, initial=[1.0, 0.0], state_names=("theta", "omega"))(
        lambda t, x, v: -np.sin(x)
    )
    options = {"dt": 0.01, "workers": 2, "save": "final", "watch": {"p": PLANE}}
    angles = ANGLES.ravel()[:40]
    for stop in (1, 40, 120):

        def halt(done, total, stop=stop):
            if done >= stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as caught:
            pi.integrate(slow, angles, 0.0, n_steps=100_000, progress=halt, **options)
        part = caught.value.solution
        assert part.n_steps < 100_000
        again = pi.integrate(slow, angles, 0.0, dt=0.01, n_steps=part.n_steps)
        check_plane(part, again.y)


def test_a_trajectory_that_fails_or_stops_counts_until_then():
    grow = pi.rhs(dim=1)(lambda t, y: (y[0] * y[0],))
    watch = {"d": pi.watch.density("y", 6, (0, 3))}
    options = {"dt": 0.1, "n_steps": 30, "on_failure": "ignore", "watch": watch}
    sol = pi.integrate(grow, [[0.1], [1.0]], **options)
    assert sol.n_failed == 1
    expected, _ = np.histogram(sol.y[..., 0][sol.valid], 6, (0, 3))
    assert np.array_equal(sol.watched["d"], expected)
    # The last valid state lies in a bin, and is counted once.
    stop = {"stop": pi.event(lambda t, y: y[0] - 2, stop=True)}
    for end in ({"bound": 2.0}, {"events": stop}):
        sol = pi.integrate(grow, [[0.1], [1.0]], **options, **end)
        expected, _ = np.histogram(sol.y[..., 0][sol.valid], 6, (0, 3))
        assert np.array_equal(sol.watched["d"], expected)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pi.watch.density(("x", "v", "x"), 3, (0, 1)), "one quantity or two"),
        (lambda: pi.watch.density(("x", "v"), (3, 4, 5), ((0, 1), (0, 1))), "for each quantity"),
        (lambda: pi.watch.density(("x", "v"), 3, (0, 1)), "for each quantity"),
        (lambda: pi.watch.density("x", 3, (1, 0)), "smaller first"),
        (lambda: pi.watch.density("x", 0, (0, 1)), "bins"),
        (lambda: pi.watch.density(("x", "v"), 1 << 15, ((0, 1), (0, 1))), "at most"),
        (lambda: pi.watch.density("x", 10, (1.0, np.nextafter(1.0, 2))), "coincide"),
    ],
)
def test_what_is_no_density_is_refused(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_where_a_density_cannot_be():
    with pytest.raises(ValueError, match="whole batch"):
        pi.Stepper(pi.systems.pendulum, dt=0.1, watch={"p": PLANE})
    with pytest.raises(ValueError, match="no quantity 'nothing'"):
        run({"p": pi.watch.density(("theta", "nothing"), 3, ((0, 1), (0, 1)))})
    lazy = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="whole batch"):
        pi.dask.integrate(
            pi.systems.pendulum, lazy.ones(4), 0.0, dt=0.1, n_steps=3, watch={"p": PLANE}
        )
