"""No bit depends on the rounding mode of the caller, nor on what a callback does to it; and the
caller has its own again afterwards."""

import ctypes
import platform
import sys

import numpy as np
import pytest
from reference import states

import pyintegrate as pi

if sys.platform == "win32":
    pytest.skip("modes are set by functions of the C library", allow_module_level=True)
libm = ctypes.CDLL(None)
pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or not hasattr(libm, "fesetround"),
    reason="the numbers of modes are those of x86-64",
)
NEAREST, DOWN, UP, ZERO = 0, 0x400, 0x800, 0xC00
foreign = pytest.mark.parametrize("mode", [DOWN, UP, ZERO])


class Environment(ctypes.Structure):
    """fenv_t of x86-64: the last word is mxcsr."""

    _fields_ = [("x87", ctypes.c_uint32 * 7), ("mxcsr", ctypes.c_uint32)]


def mxcsr():
    environment = Environment()
    libm.fegetenv(ctypes.byref(environment))
    return environment.mxcsr


def set_flush(on):
    """Subnormal numbers are zeros, in and out."""
    environment = Environment()
    libm.fegetenv(ctypes.byref(environment))
    environment.mxcsr = environment.mxcsr | 0x8040 if on else environment.mxcsr & ~0x8040
    libm.fesetenv(ctypes.byref(environment))


@pytest.fixture(autouse=True)
def _mode_is_ours_again():
    yield
    libm.fesetround(NEAREST)
    set_flush(False)


LORENZ = pi.systems.lorenz


def run(**options):
    options = {"dt": 1e-3, "n_steps": 3000, "save": 100, **options}
    return pi.integrate(LORENZ, states(LORENZ, (600,)), **options)


def bits(sol):
    return np.ascontiguousarray(sol.y).tobytes()


@foreign
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("method", ["rk4", "adams_bashforth4"])
def test_progress_may_change_the_mode(mode, workers, method):
    n_steps = 1 << (14 if method == "rk4" else 12)
    options = {"n_steps": n_steps, "save": "final", "method": method, "workers": workers}
    expected = run(**options)
    told = []

    def progress(done, total):
        told.append(done)
        libm.fesetround(mode)
        set_flush(True)

    found = run(**options, progress=progress)
    libm.fesetround(NEAREST)
    set_flush(False)
    assert told
    assert bits(found) == bits(expected)


@foreign
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arguments_are_rounded_to_nearest(mode, dtype):
    rng = np.random.default_rng(3)
    y, k, dt = rng.normal(size=(50, 2)), rng.uniform(1, 9, 50), rng.uniform(0.001, 0.002, 50)
    springs = pi.systems.spring(k=k, b=1 / 3)

    def one():
        sol = pi.integrate(springs, y, dt=dt, t0=0.1, n_steps=50, dtype=dtype)
        driven = pi.integrate(pi.systems.spring, y, dt=0.001, n_steps=3, dtype=dtype,
                              drive={"k": k[:3]})  # fmt: skip
        stepper = pi.Stepper(pi.systems.spring(k=k), y, dt=1 / 300, dtype=dtype)
        stepper.step(5)
        stepper.y = y[::-1]
        stepper.reset([True] + [False] * 49, y)
        stepper.step(5)
        return bits(sol), bits(driven), stepper.y.tobytes()

    expected = one()
    libm.fesetround(mode)
    found = one()
    assert libm.fegetround() == mode
    assert found == expected


@foreign
def test_a_traced_force_has_the_same_constants(mode):
    def one():
        system = pi.rhs(dim=1)(lambda t, y: -y / 3 + 0.1)
        return bits(pi.integrate(system, np.ones((5, 1), np.float32), dt=0.1, n_steps=30))

    expected = one()
    libm.fesetround(mode)
    assert one() == expected


@foreign
def test_a_force_may_change_the_mode(mode):
    changing = []

    @pi.rhs(dim=1, trace=False)
    def decay(t, y):
        dydt = -y
        if changing:
            libm.fesetround(mode)
            set_flush(True)
        return dydt

    def one():
        return bits(pi.integrate(decay, np.linspace(1, 2, 40).reshape(40, 1), dt=0.1, n_steps=50))

    expected = one()
    changing.append(1)
    found = one()
    assert mxcsr() & 0x6000 == 0
    assert found == expected


@foreign
def test_a_compiled_function_may_change_the_mode(mode):
    doubles = ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, doubles, doubles, doubles)
    changing = []

    @kind
    def decay(t, y, dydt, p):
        dydt[0] = -y[0]
        if changing:
            libm.fesetround(mode)
        return 0

    system = pi.c_function(decay, dim=1)

    def one():
        return bits(pi.integrate(system, np.linspace(1, 2, 9).reshape(9, 1), dt=0.1, n_steps=50))

    expected = one()
    changing.append(1)
    assert one() == expected


@foreign
def test_every_way_out_gives_the_mode_back(mode):
    y = states(LORENZ, (50,))

    def stop(done, total):
        raise KeyboardInterrupt

    libm.fesetround(mode)
    set_flush(True)
    run(n_steps=3)
    with pytest.raises(ValueError, match="dt"):
        run(dt=0.0)
    with pytest.raises(KeyboardInterrupt):
        run(n_steps=1 << 40, save="final", progress=stop)
    stepper = pi.Stepper(LORENZ, y, dt=0.01, method="rk4")
    stepper.step(3)
    LORENZ.rhs(0.0, y)
    assert mxcsr() & 0x6000 == mode << 3
    assert mxcsr() & 0x8040 == 0x8040


def test_a_digest_knows_subnormals_where_the_caller_has_switched_them_off():
    sol = pi.integrate(pi.systems.oscillator, 1e-308, 1e-309, dt=0.01, n_steps=300)
    expected = sol.digest()
    set_flush(True)
    assert sol.digest() == expected
