"""States within the steps: one polynomial a step, the same for times= and for at()."""

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi

PAIRS = [name for name, m in pi.methods.items() if m.embedded and not m.implicit]


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize("system", ["henon_heiles", "pendulum"])
def test_between_the_steps_the_error_is_at_most_three_times_theirs(method, system):
    """At eleven places in each step; a tenth of the tolerance, and rounding, are no error."""
    starts = {"henon_heiles": [0.1, 0.15, 0.2, 0.1], "pendulum": [2.0, 0.5]}
    start, end = starts[system], 20.0
    order = pi.methods[method].order
    for rtol in [1e-3, 1e-4] if order < 4 else [1e-4, 1e-6, 1e-8]:
        run = {"t_end": end, "rtol": rtol, "atol": rtol, "method": method}
        steps = pi.solve(pi.systems[system], start, save="all", **run)
        part = np.linspace(0, 1, 12, endpoint=False)
        times = (steps.t[:-1, np.newaxis] + np.diff(steps.t)[:, np.newaxis] * part).ravel()
        sol = pi.solve(pi.systems[system], start, times=times, **run)
        exact = pi.solve(pi.systems[system], start, t_end=end, times=times, rtol=1e-13, atol=1e-13,
                         method="verner98")  # fmt: skip
        errors = np.linalg.norm(sol.y - exact.y, axis=-1).reshape(-1, 12)
        assert errors.max() <= 3 * errors[:, 0].max() + 0.1 * rtol + 1e-12


@pytest.mark.parametrize("name", ["bogacki_shampine32", "zonneveld43", "cash_karp45", "verner65"])
def test_an_own_pair_is_as_good_between_its_steps(name):
    """The numbers of a pair of the catalogue, of which only these are known: bootstrapped."""
    m = pi.methods[name]
    own = pi.RungeKutta(**m.coefficients, b_embedded=m.embedded["b"])
    run = {"t_end": 10.0, "rtol": 1e-6, "atol": 1e-6, "method": own}
    start = [0.1, 0.15, 0.2, 0.1]
    steps = pi.solve(pi.systems.henon_heiles, start, save="all", **run)
    part = np.linspace(0, 1, 12, endpoint=False)
    times = (steps.t[:-1, np.newaxis] + np.diff(steps.t)[:, np.newaxis] * part).ravel()
    sol = pi.solve(pi.systems.henon_heiles, start, times=times, **run)
    exact = pi.solve(pi.systems.henon_heiles, start, t_end=10.0, times=times, rtol=1e-13,
                     atol=1e-13)  # fmt: skip
    errors = np.linalg.norm(sol.y - exact.y, axis=-1).reshape(-1, 12)
    assert errors.max() <= 3 * errors[:, 0].max() + 1e-7


@pytest.mark.parametrize("method", ["auto", "dormand_prince54", "dop853", "radau_iia5"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
def test_the_error_between_the_steps_is_that_of_the_steps(method, rtol):
    """An orbit at 2000 times, of which each step sees some dozen; few times are shorter steps."""
    start, end = [0.5, 0.0, 0.0, np.sqrt(3.0)], 2 * np.pi
    run = {"t_end": end, "rtol": rtol, "atol": rtol, "method": method}
    times = np.linspace(0.0, end, 2001)
    many = pi.solve(pi.systems.kepler, start, times=times, **run)
    few = [pi.solve(pi.systems.kepler, start, times=times[i::400], **run) for i in (30, 170, 333)]
    error = max(abs(sol.error()).max() for sol in few)
    assert abs(many.error()).max() < 2 * error + rtol / 10
    for sol in few:
        i = np.searchsorted(times, sol.t)
        assert abs(many.y[i] - sol.y).max() < rtol


def test_a_stiff_motion_between_its_steps():
    """Steps of implicit pairs are longer than the motion is smooth: theirs are made shorter."""
    stiff = pi.rhs(dim=1)(lambda t, y: (-1e6 * (y[0] - np.cos(t)),))
    times = np.linspace(0.5, 3.0, 1000)
    for method in ("kvaerno54", "radau_iia5"):
        sol = pi.solve(stiff, [1.0], t_end=3.0, times=times, rtol=1e-6, atol=1e-6, method=method)
        assert abs(sol.y[:, 0] - np.cos(times) - 1e-6 * np.sin(times)).max() < 3e-6


@pi.acceleration
def pushed(t, x, v):
    return -x - x**3 + np.cos(t)


@pi.acceleration
def rubbed(t, x, v):
    return -(x**3) - 0.1 * v + np.cos(2 * t)


@pytest.mark.filterwarnings("ignore:the error estimate of 'fehlberg78':UserWarning")
@pytest.mark.parametrize("method", ["auto", *(n for n, m in pi.methods.items() if m.embedded)])
@pytest.mark.parametrize("jumps", [False, True])
def test_kept_steps_have_the_bits_of_saved_times(method, jumps):
    """Autonomous or not, in Nystrom form or not, forwards and backwards, past jumps and breaks."""
    nystrom = method != "auto" and pi.methods[method].family == "nystrom"
    bounce = pi.event("x", then=lambda t, x, v: (x, -0.9 * v))
    for system, start in [(pi.systems.lorenz, [1.0, 2.0, 20.0]), (rubbed, [1.0, 0.0]),
                          (pushed, [1.0, 0.0])]:  # fmt: skip
        if (nystrom and system is not pushed) or (jumps and system is pi.systems.lorenz):
            continue
        run = {"method": method, "rtol": 1e-5, "breaks": [1.1, -0.2]}
        run |= {"events": {"bounce": bounce}} if jumps else {}
        for end in [2.0, -0.3]:
            kept = pi.solve(system, start, save="all", t_end=end, **run)
            times = np.concatenate([np.linspace(0, end, 41), kept.t])
            times = times[np.argsort(abs(times))]
            saved = pi.solve(system, start, times=times, t_end=end, **run)
            assert same_bits(kept.at(times), saved.y)
            assert same_bits(kept.at(times[7]), saved.y[7])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kept_steps_of_a_batch_of_which_some_become_stiff(dtype, tmp_path):
    """Two pairs of "auto" and Radau's method, a part that goes on, and a file."""
    mu = np.array([1.0, 300.0, 3.0])
    run = {"rtol": np.array([1e-9, 1e-6, 1e-5]) if dtype is np.float64 else 1e-4, "dtype": dtype}
    system = pi.systems.van_der_pol(mu=mu)
    kept = pi.solve(system, t_end=20.0, save="all", **run)
    times = np.linspace(0, 20, 333)
    saved = pi.solve(system, t_end=20.0, times=times, **run)
    assert np.isfinite(kept.stiff_since).tolist() == [False, True, False]
    assert same_bits(kept.at(times), saved.y)
    kept.save(tmp_path / "kept.npz")
    assert same_bits(pi.load(tmp_path / "kept.npz").at(times), saved.y)
    parts = pi.concatenate(kept, kept.resume(t_end=30.0))
    times = np.linspace(0, 30, 333)
    assert same_bits(parts.at(times), pi.solve(system, t_end=30.0, times=times, **run).y)


def test_steps_without_their_numbers_are_made_anew():
    """As in files that were written before there were any: equal to rounding."""
    for method in ("dormand_prince54", "verner87", "radau_iia5"):
        kept = pi.solve(pi.systems.lorenz, t_end=2.0, rtol=1e-6, method=method)
        times = np.linspace(0, 2, 50)
        before = kept.at(times)
        kept._within = None
        assert abs(kept.at(times) - before).max() < 1e-13 * 30  # states are up to 30


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_changes_no_bit_of_the_steps_and_no_neighbour(dtype):
    """Some trajectories have many times in each step, others one, others none in most."""
    start = np.random.default_rng(0).normal(size=(40, 3)).astype(dtype) + np.array(
        [0, 0, 20], dtype
    )
    run = {"t_end": 2.0, "rtol": 2e-5, "atol": 1e-6, "dtype": dtype}
    ends = np.geomspace(0.02, 2.0, 40)
    times = np.linspace(0.0, 1.0, 100)[:, np.newaxis] * ends
    plain = pi.solve(pi.systems.lorenz, start, **run)
    whole = pi.solve(pi.systems.lorenz, start, times=times, **run)
    assert same_bits(plain.final, whole.final)
    assert same_bits(plain.steps_taken, whole.steps_taken)
    order = np.random.default_rng(1).permutation(40)
    for i, workers in [(order, 1), (slice(3, 4), 1), (slice(20, 33), 1), (slice(None), 3)]:
        part = pi.solve(pi.systems.lorenz, start[i], times=times[:, i], workers=workers, **run)
        assert same_bits(whole.y[:, i], part.y)


def test_backwards_and_at_the_ends_of_steps():
    run = {"rtol": 1e-9, "atol": 1e-9}
    there = pi.solve(pi.systems.pendulum, t_end=5.0, save="all", **run)
    times = np.sort(np.concatenate([there.t, np.linspace(0.0, 5.0, 900)]))
    saved = pi.solve(pi.systems.pendulum, t_end=5.0, times=times, **run)
    for t, y in zip(there.t, there.y, strict=True):
        assert same_bits(saved.y[np.flatnonzero(times == t)[0]], y)
    back = pi.solve(pi.systems.pendulum, there.final, t0=5.0, t_end=0.0, times=times[::-1], **run)
    assert abs(back.y[::-1] - saved.y).max() < 1e-7


def test_a_jump_ends_the_polynomial():
    """x'' = -9.81, thrown back at 0: nothing interpolates across the bounce."""
    floor = pi.event("z", direction=-1, then=lambda t, x, v: (x, -v))
    times = np.linspace(0.0, 1.0, 500)
    sol = pi.solve(pi.systems.projectile, [0.0, 0, 1], [0.0, 0, 0], t_end=1.0, times=times,
                   rtol=1e-9, atol=1e-9, events={"floor": floor})  # fmt: skip
    period = 2 * np.sqrt(2 / 9.81)
    phase = (times + period / 2) % period - period / 2
    assert abs(sol["z"] - (1 - 9.81 / 2 * phase**2)).max() < 1e-7


def test_many_times_cost_a_few_steps():
    """Calls of the force: some shorter steps in each, where each time would be one."""
    calls = 0

    def force(t, x, v):
        nonlocal calls
        calls += 1
        return -x

    system = pi.acceleration(trace=False)(force)
    run = {"t_end": 20.0, "rtol": 1e-9, "atol": 1e-9, "method": "verner87"}
    plain = pi.solve(system, 1.0, 0.0, save="final", **run)
    without, calls = calls, 0
    saved = pi.solve(system, 1.0, 0.0, times=np.linspace(0.0, 20.0, 3000), **run)
    assert same_bits(plain.final, saved.final)
    assert calls < 6 * without < 2 * 3000  # and not 12 for each of 3000


def test_the_derivative_is_that_of_the_states():
    """Central differences of the states, h^2 off and the error between the steps over h."""
    system = pi.systems.duffing(gamma=[0.2, 0.3])
    sol = pi.solve(system, [1.0, 0.0], t0=2.0, t_end=12.0, rtol=1e-11, atol=1e-12, save="all")
    times, h = np.linspace(2.5, 11.5, 40).reshape(8, 5), 1e-4
    slopes = sol.at(times, derivative=True)
    assert slopes.shape == (8, 5, 2, 2)
    assert abs((sol.at(times + h) - sol.at(times - h)) / (2 * h) - slopes).max() < 1e-6


def test_slopes_of_a_stiff_motion_do_not_enlarge_its_errors():
    """f of a state that is off by 1e-8 is off by 1e-2; the slope of the states errs by rtol."""
    rate = pi.rhs(dim=1, initial=[1.0])(lambda t, y: (-1e6 * (y[0] - np.cos(t)) - np.sin(t),))
    times = np.linspace(0.5, 2.9, 50)
    for method in ("auto", "radau_iia5", "kvaerno54", "rodas5p"):
        sol = pi.solve(rate, t_end=3.0, rtol=1e-4, atol=1e-6, method=method)
        slopes = sol.at(times, derivative=True)[:, 0]
        assert abs(slopes + np.sin(times)).max() < 1e-4
        later, earlier = sol.at(1.7 + 1e-5), sol.at(1.7 - 1e-5)
        assert sol.at(1.7, derivative=True) == pytest.approx((later - earlier) / 2e-5, abs=1e-7)


@pytest.mark.parametrize("method", ["auto", "radau_iia5"])
def test_slopes_at_the_ends_of_steps_and_beside_jumps(method):
    bounce = {"g": pi.event("z", direction=-1, then=lambda t, x, v: (x, -0.5 * v))}
    sol = pi.solve(pi.systems.projectile, t_end=3.0, method=method, events=bounce)
    slopes = sol.at(sol.t, derivative=True)  # dx/dt = v: of the later side at the jump
    assert slopes[:, :3] == pytest.approx(sol.at(sol.t)[:, 3:], abs=1e-6)
    still = pi.solve(pi.systems.pendulum, t_end=0.0, method=method, save="all")
    assert still.at(0.0, derivative=True) == pytest.approx(still.system.rhs(0.0, still.final))
