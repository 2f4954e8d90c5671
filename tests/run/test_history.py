"""What a method remembers and what drives a run survive files, parts, and other arrays."""

import numpy as np
import pytest
from conftest import same_bits
from reference import states

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.method.catalogue import find_method
from pyintegrate.method.method import Method
from pyintegrate.run import output

LORENZ, SPRING = pi.systems.lorenz, pi.systems.spring


def multistep(name, alpha, beta):
    """sum alpha_j y_(n+j) = h sum beta_j f_(n+j), oldest first."""
    steps = len(alpha) - 1
    return Method(
        name=name, title=name, family="multistep", order=steps, stages=steps, evaluations=1,
        symplectic=False, symmetric=False, self_starting=False, derivative=1, written="",
        made_by=(find_method, (name,)),
        coefficients={"alpha": list(alpha), "beta": list(beta), "predictor": [], "velocity": []},
        handle=_core.make_method("multistep", steps, 1, (alpha, beta, (), ()), 1),
    )  # fmt: skip


METHODS = [
    multistep("adams_bashforth2_here", (0.0, -1.0, 1.0), (-0.5, 1.5, 0.0)),
    multistep("adams_bashforth3_here", (0.0, 0.0, -1.0, 1.0), (5 / 12, -16 / 12, 23 / 12, 0.0)),
]


@pytest.fixture(params=METHODS, ids=str, name="method")
def _method(request, monkeypatch):
    monkeypatch.setitem(pi.methods._made, request.param.name, request.param)
    monkeypatch.setattr(output, "PART_BYTES", 500)
    return request.param


def run(method, **options):
    options = {"dt": 1e-2, "n_steps": 40, "save": 3, **options}
    return pi.integrate(LORENZ, states(LORENZ, (5,)), method=method, **options)


@pytest.mark.parametrize("start", [None, "rk4"])
@pytest.mark.parametrize("save", ["all", "final", 3, 17])
def test_a_run_in_parts_is_one_run(method, save, start, tmp_path):
    whole = run(method, save=save, start=start)
    further = run(method, n_steps=51, save="final", start=start)
    sol = run(method, save=save, start=start, out=np.empty(whole.y.shape))
    assert same_bits(sol.y, whole.y)
    assert same_bits(sol.resume(n_steps=11).final, further.final[...])
    sol.save(tmp_path / "a.npz")
    assert same_bits(pi.load(tmp_path / "a.npz").resume(n_steps=11).final, further.final)
    part = run(method, save=save, start=start, components=["y"])
    assert same_bits(part.resume(n_steps=11).final, further.final)
    part.save(tmp_path / "b.npz")
    assert same_bits(pi.load(tmp_path / "b.npz").resume(n_steps=11).final, further.final)
    whole.save(tmp_path / "c.npz")
    assert same_bits(pi.load(tmp_path / "c.npz").resume(n_steps=11).final, further.final)


@pytest.mark.parametrize("n_steps", [0, 1, 2, 3])
def test_a_run_shorter_than_the_memory_goes_on_too(method, n_steps, tmp_path):
    run(method, n_steps=n_steps, save="all", start="rk4").save(tmp_path / "a.npz")
    loaded = pi.load(tmp_path / "a.npz").resume(n_steps=9)
    assert same_bits(loaded.final, run(method, n_steps=n_steps + 9, start="rk4").final)


def test_an_interrupted_run_into_an_array_can_always_go_on(method):
    hands = [1]

    def progress(done, total):
        if done > 10_000 and hands:
            raise KeyboardInterrupt(hands.pop())

    n_steps = 2000 * 100_003  # seconds, and the first look at the time is after 50 ms
    options = {"n_steps": n_steps, "dt": 1e-4, "save": 100_003}
    with pytest.raises(KeyboardInterrupt) as caught:
        run(method, out=np.empty((2001, 5, 3)), progress=progress, **options)
    sol = caught.value.solution
    assert 10_000 <= sol.n_steps < n_steps
    further = run(method, dt=1e-4, n_steps=sol.n_steps + 50, save="final")
    assert same_bits(sol.resume(n_steps=50).final, further.final)


def test_a_past_that_is_lost_stays_lost_in_a_file(method, tmp_path):
    sol = run(method)
    sol._last = None  # as after an interrupt between two saves
    sol.save(tmp_path / "a.npz")
    loaded = pi.load(tmp_path / "a.npz")
    assert same_bits(loaded.y, sol.y)
    with pytest.raises(ValueError, match="the rounding error that it carries, is lost"):
        loaded.resume(n_steps=3)


# ---- drives --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (5,)])
@pytest.mark.parametrize("save", ["all", 4, "final"])
def test_a_driven_run_in_parts_is_one_run(save, shape, monkeypatch, tmp_path):
    monkeypatch.setattr(output, "PART_BYTES", 500)
    drive = {"k": np.random.default_rng(1).uniform(1, 20, (41, *shape))}
    options = {"dt": 0.01, "n_steps": 41, "save": save, "drive": drive}
    y = states(SPRING, (5,))
    whole = pi.integrate(SPRING, y, **options)
    sol = pi.integrate(SPRING, y, **options, out=np.empty(whole.y.shape))
    assert same_bits(sol.y, whole.y)
    for one in (sol, whole):
        one.save(tmp_path / "a.npz")
        loaded = pi.load(tmp_path / "a.npz")
        assert same_bits(loaded.y, whole.y)
        further = {"k": np.full((3, *shape), 7.0)}
        expected = whole.resume(n_steps=3, drive=further)
        assert same_bits(loaded.resume(n_steps=3, drive=further).y, expected.y)
        with pytest.raises(ValueError, match="resume needs `drive`"):
            loaded.resume(n_steps=3)


def test_out_may_not_overlap_a_drive():
    out = np.ones((11, 5, 2))
    with pytest.raises(ValueError, match="out overlaps k"):
        pi.integrate(SPRING, dt=0.01, n_steps=10, drive={"k": out[:10, :, 0]}, out=out)
