"""A user's own systems run like the built-in ones: every method, every split, the same bits."""

import pickle
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from instruction_sets import printed_on_each
from reference import fits

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.trace import compiler


@pi.acceleration(k=15.0, b=0.1, m=1.0, initial=[1.0, 0.0])
def spring(t, x, v, k, b, m):
    return -(k / m) * x - (b / m) * v


@pi.acceleration(dof=2, mu=1.0, initial=[0.7, 0.0, 0.0, np.sqrt(1.3 / 0.7)])
def kepler(t, x, v, mu):
    r2 = x @ x
    return -mu / (r2 * np.sqrt(r2)) * x


@pi.rhs(dim=3, sigma=10.0, rho=28.0, beta=8 / 3)
def lorenz(t, y, sigma, rho, beta):
    x, y, z = y
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


@pi.hamiltonian(dof=2, coupling=1.0, initial=[0.3, 0.0, 0.0, 0.4])
def henon_heiles(q, p, coupling):
    return (p @ p + q @ q) / 2 + coupling * (q[0] ** 2 * q[1] - q[1] ** 3 / 3)


@pi.acceleration(omega0=1.0, damping=0.1, amplitude=0.5, frequency=2 / 3, initial=[1.0, 0.0])
def driven_pendulum(t, x, v, omega0, damping, amplitude, frequency):
    return -(omega0**2) * np.sin(x) - damping * v + amplitude * np.cos(frequency * t)


@pi.hamiltonian(dof=1, m=1.0)
def mixed(q, p, m):
    return p**2 / (2 * m) * (1 + q**2) + q**2 / 2


SYSTEMS = [spring, kepler, lorenz, henon_heiles, driven_pendulum, mixed]
every = pytest.mark.parametrize("system", SYSTEMS, ids=[s.name for s in SYSTEMS])


def methods_for(system):
    structures = {"second_order": ("any", "second_order", "separable", "quadratic_kinetic")}
    structures |= {"separable": ("any", "separable"), "first_order": ("any",)}
    return [m for m in pi.methods.values() if m.requires in structures[system.structure]]


def batch(system, n):
    factors = np.linspace(0.9, 1.1, n)
    return system(**{name: value * factors for name, value in system.params.items()})


def run(system, method, n=7, **options):
    options = {"dt": 0.01, "n_steps": 12, "on_failure": "ignore", **options}
    try:
        return pi.integrate(batch(system, n), method=method, **options)
    except ValueError as error:
        message = str(error)
    assert "velocit" in message  # x'' = a(t, x) only, and the force sees the velocity
    assert system.velocity_dependent
    return None


@every
def test_every_method_moves_them_as_the_built_in_ones(system):
    """To rounding: sums may be fused otherwise. 12 steps of some 100 operations."""
    built_in = dict(pi.systems).get(system.name)
    moved = 0
    for method in methods_for(system):
        ours = run(system, method)
        if ours is None:
            continue
        moved += 1
        assert not ours.n_failed, method.name
        if built_in is None:
            accurate = run(system, pi.methods["dop853"])
            assert np.allclose(ours.y, accurate.y, rtol=0, atol=0.1), method.name
            continue
        other = pi.integrate(
            batch(built_in, 7), system.initial, dt=0.01, n_steps=12, method=method.name
        )
        scale = np.abs(other.y).max()
        assert np.allclose(ours.y, other.y, rtol=0, atol=1e-11 * scale), method.name
    assert moved > 25


@every
@pytest.mark.parametrize("method", ["rk4", "tsitouras54", "velocity_verlet"])
def test_bits_do_not_depend_on_the_split(system, method):
    if pi.methods[method] not in methods_for(system):
        method = "dop853"
    n = 2500
    y0 = system.initial * np.random.default_rng(0).uniform(0.9, 1.1, (n, system.dim))
    k = np.linspace(0.9, 1.1, n)
    name, value = next(iter(system.params.items()))
    varied = system(**{name: value * k})
    whole = pi.integrate(varied, y0, dt=0.01, n_steps=300, method=method, save=100)
    threads = pi.integrate(varied, y0, dt=0.01, n_steps=300, method=method, save=300, workers=3)
    assert np.array_equal(whole.final, threads.final)
    parts = [
        pi.integrate(
            system(**{name: value * k[i : i + 333]}),
            y0[i : i + 333],
            dt=np.full(len(k[i : i + 333]), 0.01),
            n_steps=300,
            method=method,
            save="final",
        ).final
        for i in range(0, n, 333)
    ]
    assert np.array_equal(whole.final, np.concatenate(parts))
    resumed = pi.integrate(varied, y0, dt=0.01, n_steps=170, method=method, save="final")
    assert np.array_equal(resumed.resume(n_steps=130).final, whole.final)


def digest():
    """Bits of runs, right-hand sides and Jacobians, as text."""
    import hashlib

    found = hashlib.sha256()
    for system in SYSTEMS:
        for dtype in (np.float64, np.float32):
            y = (system.initial * np.linspace(0.8, 1.2, 37)[:, None]).astype(dtype)
            found.update(pi.integrate(system, y, dt=0.01, n_steps=40).y.tobytes())
            found.update(system.rhs(0.3, y).tobytes())
            found.update(system.jacobian(0.3, y).tobytes())
    return found.hexdigest()


def test_every_instruction_set_gives_the_same_bits():
    found = printed_on_each("import test_own_systems as t; print(t.digest())")
    assert found == dict.fromkeys(found, digest())


def test_a_bad_trajectory_fails_alone():
    y0 = np.ones((300, 2))
    y0[17] = [np.nan, 0.0]
    k = np.full(300, 15.0)
    k[123] = -1e300
    sol = pi.integrate(spring(k=k), y0, dt=0.01, n_steps=50, on_failure="ignore")
    assert sorted(np.flatnonzero(sol.status)) == [17, 123]
    good = pi.integrate(spring, np.ones((1, 2)), dt=0.01, n_steps=50)
    assert np.array_equal(sol.final[0], good.final[0])


def test_symplectic_methods_keep_the_energy_of_a_hamiltonian():
    sol = pi.integrate(henon_heiles, dt=0.1, n_steps=5000, method="forest_ruth4", save=50)
    assert np.abs(sol.energy_error()).max() < 1e-4
    with pytest.raises(ValueError, match="needs a separable system"):
        pi.integrate(mixed, dt=0.1, n_steps=1, method="velocity_verlet")


def test_many_components_and_parameters():
    """More than the registers of a kernel hold."""
    n = 40

    @pi.acceleration(dof=n, stiffness=np.linspace(1.0, 2.0, n + 1), initial=np.zeros(2 * n))
    def chain(t, x, v, stiffness):
        padded = np.concatenate([[0.0], x, [0.0]])
        pull = stiffness * (padded[1:] - padded[:-1])
        return pull[1:] - pull[:-1]

    y0 = np.random.default_rng(0).normal(size=(5, 2 * n))
    matrix = chain.jacobian(0.0, y0)[0]
    assert np.array_equal(matrix, chain.jacobian(0.0, 0 * y0)[0])
    values, vectors = np.linalg.eig(matrix)
    exact = (vectors * np.exp(values * 0.5)) @ np.linalg.solve(vectors, y0.T.astype(complex))
    sol = pi.integrate(chain, y0, dt=0.01, n_steps=50, method="dop853", save="final")
    assert np.allclose(sol.final.T, exact.real, atol=1e-12, rtol=0)


def test_a_stepper_takes_them():
    stepper = pi.Stepper(spring, 1.0, 0.0, dt=0.01, method="rk4")
    stepper.step(n=12)
    sol = pi.integrate(spring, 1.0, 0.0, dt=0.01, n_steps=12)
    assert np.array_equal(stepper.y, sol.final)


# ---- functions that are not traced ---------------------------------------------------------------
@pi.acceleration(dof=1, k=15.0, trace=False)
def untraced(t, x, v, k):
    return -k * x if isinstance(x, np.ndarray) else np.nan


def test_untraced_functions_give_the_same_motion():
    k = np.linspace(1, 20, 20001)
    for method in ("rk4", "velocity_verlet", "dop853"):
        slow = pi.integrate(untraced(k=k), 1.0, 0.0, dt=0.01, n_steps=20, method=method)
        fast = pi.integrate(
            spring(k=k, b=0.0), 1.0, 0.0, dt=0.01, n_steps=20, method=method, workers=2
        )
        assert np.allclose(slow.y, fast.y, rtol=0, atol=1e-13)
    single = pi.integrate(untraced, np.float32([1.0, 0.0]), dt=0.01, n_steps=20)
    assert single.y.dtype == np.float32


SCRIPT = """
import sys, cloudpickle, pyintegrate as pi

factor = 2.0

@pi.acceleration(dof=1, k=15.0, trace=False)
def pulled(t, x, v, k):
    return -factor * k * x

sys.stdout.buffer.write(cloudpickle.dumps(pulled(k=3.0)))
"""


def test_an_untraced_function_of_a_script_goes_to_workers_with_another_main():
    pytest.importorskip("cloudpickle")
    made = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True).stdout
    again = pickle.loads(made)
    assert again.acceleration(0.0, [1.0], [0.0]) == -6.0
    assert pickle.loads(pickle.dumps(untraced)) == untraced


@pytest.mark.parametrize("workers", [1, 3])
def test_an_exception_of_a_function_stops_the_run(workers):
    calls = []

    @pi.rhs(dim=1, trace=False)
    def fragile(t, y):
        calls.append(y.shape)
        if len(calls) > 20:
            raise KeyError("the user's own")
        return -y

    before = threading.active_count()
    with pytest.raises(KeyError, match="the user's own") as caught:
        pi.integrate(fragile, np.ones((50_000, 1)), dt=0.01, n_steps=1000, workers=workers)
    assert caught.traceback[-1].name == "fragile"
    assert threading.active_count() == before
    assert len(calls) < 40
    assert calls[-1][0] == 1


def test_a_function_may_keep_what_it_was_given():
    kept, copies = [], []

    @pi.rhs(dim=2, trace=False)
    def keeper(t, y):
        kept.extend((t, y))
        copies.extend((t.copy(), y.copy()))
        return -y

    pi.integrate(keeper, np.ones((100, 2)), dt=0.01, n_steps=5)
    assert all(np.array_equal(a, b) for a, b in zip(kept, copies, strict=True))


def test_an_exception_in_another_thread_reaches_the_caller():
    helper_came = threading.Event()

    @pi.rhs(dim=1, trace=False)
    def fragile(t, y):
        if threading.current_thread() is not threading.main_thread():
            helper_came.set()
            raise KeyError("in a helper")
        if y.shape[-1] > 4:  # a definition is tried on four lanes, before there are helpers
            assert helper_came.wait(60)
        return -y

    with pytest.raises(KeyError, match="in a helper"):
        pi.integrate(fragile, np.ones((100_000, 1)), dt=0.01, n_steps=200, workers=3)


def test_wrong_answers_of_a_function_are_named():
    shape = {"rows": 2}

    @pi.rhs(dim=2, trace=False)
    def wrong(t, y):
        return [y[0]] * shape["rows"]

    shape["rows"] = 3
    with pytest.raises(ValueError, match=r"wrong\(\) returns 3 components, expected 2"):
        pi.integrate(wrong, np.ones((10, 2)), dt=0.01, n_steps=5)


def test_ctrl_c_in_a_function():
    @pi.rhs(dim=1, trace=False)
    def interrupted(t, y):
        if t[0] > 0.995:
            raise KeyboardInterrupt
        return -y

    with pytest.raises(KeyboardInterrupt) as caught:
        pi.integrate(interrupted, np.ones((10, 1)), dt=0.001, n_steps=2000)
    assert 0 <= caught.value.solution.n_steps < 1000


# ---- compiled kernels ----------------------------------------------------------------------------
@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYINTEGRATE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("system", [kepler, driven_pendulum, lorenz], ids=lambda s: s.name)
def test_compiled_systems_have_the_bits_of_the_byte_code(system):
    compiled = system.compile()
    assert compiled.compiled
    assert compiled == system
    y0 = system.initial * np.linspace(0.8, 1.2, 101)[:, None]
    for dtype in (np.float64, np.float32):
        y = y0.astype(dtype)
        assert np.array_equal(compiled.rhs(0.2, y), system.rhs(0.2, y))
        assert np.array_equal(compiled.jacobian(0.2, y), system.jacobian(0.2, y))
        for method in methods_for(system):
            options = {"dt": 0.01, "n_steps": 10, "method": method, "on_failure": "ignore"}
            if not fits(method, system):
                continue
            slow = pi.integrate(system, y, **options)
            assert np.array_equal(pi.integrate(compiled, y, **options).y, slow.y), method.name


def test_the_energy_of_a_compiled_system_may_depend_on_time_alone():
    system = pi.acceleration(
        lambda t, x, v: -x, dof=1, initial=[1.0, 0.2], energy=lambda t, x, v: v * v + t
    )
    run = {"dt": 0.1, "n_steps": 20, "watch": {"most": pi.watch.max_abs("energy")}}
    for own in (system, system.compile()):
        sol = pi.integrate(own, **run)
        assert sol.watched["most"] == sol.energy().max()
        assert sol.watched["most.time"] == sol.t[sol.energy().argmax()]


def test_compiling_is_cached_and_pickles_as_byte_code(monkeypatch):
    lorenz.compile()
    monkeypatch.setattr(compiler, "_build", lambda *_: pytest.fail("compiled a second time"))
    again = lorenz(rho=3.0).compile()  # other parameters, the same library
    assert again.params["rho"] == 3.0
    loaded = pickle.loads(pickle.dumps(again))
    assert loaded == again
    assert not loaded.compiled
    assert again(beta=0.0).compiled


def test_an_empty_CC_is_none(monkeypatch):
    """The library of the compiler that is named by nothing is the one that is loaded."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    monkeypatch.delenv("CC", raising=False)
    lorenz.compile()
    monkeypatch.setenv("CC", "")
    monkeypatch.setattr(compiler, "_build", lambda *_: pytest.fail("by another compiler"))
    assert lorenz.compile().compiled


def test_compiling_needs_a_compiler_that_works(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(RuntimeError, match="no C compiler 'no-such-compiler' here: install"):
        spring.compile()
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho this one fails\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(RuntimeError, match="this one fails"):
        spring.compile()
    assert not list(cache.glob("*.so"))


def test_large_systems_are_not_compiled():
    large = pi.rhs(dim=13)(lambda t, y: -y)
    with pytest.raises(ValueError, match="has 13 components .*holds 12"):
        large.compile()
    with pytest.raises(ValueError, match="a compiled kernel holds"):
        large.to_c()
    assert "own_acceleration" in spring.to_c()


def test_libraries_of_other_versions_are_refused():
    import ctypes

    prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint64)
    other = prototype(lambda layout: None)
    address = ctypes.cast(other, ctypes.c_void_p).value
    with pytest.raises(ValueError, match="another pyintegrate"):
        _core.make_compiled(spring.program.handle, address, address, other)


@pytest.mark.parametrize("n", [3, 70_000])
@pytest.mark.filterwarnings("error")
def test_a_force_that_vanishes_in_float32_is_told(n):
    """Beyond 7e12 m |x|^3 is infinite: the motion was a straight line. In astronomical units, in
    balance, and where a phase is rounded, all is well."""
    AU = 1.5e11
    here = np.repeat(np.array([1, 40, 60], np.float32) * AU, [1, 1, n - 2])
    system, call = kepler(mu=np.full(n, 1.3e20)), {"dt": 1e5, "n_steps": 2, "save": "final"}
    x0 = np.stack([here, 0 * here], axis=-1)
    with pytest.warns(UserWarning, match="end where the force of 'kepler' is smaller in float32"):
        pi.integrate(system, x0, 0 * x0, **call)
    with pytest.warns(UserWarning, match="1 of 3 trajectories end where"):
        pi.solve(system(mu=1.3e20), x0[:3], 0 * x0[:3], t_end=1e5, rtol=1e-4)
    pi.integrate(system, x0.astype(float), 0 * x0, **call)
    pi.integrate(system(mu=4e-14), x0 / np.float32(AU), 0 * x0, **call)
    soft = pi.acceleration(lambda t, x, v: -1e-3 * x)
    pi.integrate(soft, np.float32(3e-43), 0.0, dt=1e-3, n_steps=1)  # its force is subnormal
    rest = pi.acceleration(lambda t, x, v: 1 / (1 + np.exp(-x)) - 0.25)  # at -log 3
    pi.integrate(rest, np.array([-np.log(3), -90.0], np.float32), 0.0, dt=1e-3, n_steps=1)
    wave = pi.acceleration(lambda t, x, v: np.sin(12.57 * x))
    pi.integrate(wave, np.linspace(2e4, 6e4, n, dtype=np.float32), 0.0, dt=1e-3, n_steps=1)


@pytest.mark.parametrize(
    ("system", "x", "dt"),
    [
        (pi.systems.kepler(mu=1e-50), [1e-10, 0], 1e10),  # mu is 0: it moved straight on
        (pi.systems.constant_force(force=1.9e-45, mass=1e-45), [0], 0.1),  # both are the same
    ],
)
def test_a_force_of_the_catalogue_beyond_float32_is_told(system, x, dt):
    with pytest.warns(UserWarning, match=f"force of '{system.name}' is smaller in float32"):
        pi.integrate(system, np.float32(x), np.zeros(len(x), np.float32), dt=dt, n_steps=2)
