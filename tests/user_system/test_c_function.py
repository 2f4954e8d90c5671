"""Compiled right-hand sides by pointer: every kind of owner, both prototypes, what is refused."""

import ctypes
import gc
import pickle
import shutil
import subprocess
import types

import numpy as np
import pytest

import pyintegrate as pi

PARAMS = {"sigma": 10.0, "rho": 28.0, "beta": 8 / 3}
SOURCE = """
#include <stdint.h>
int lorenz(double t, const double *y, double *d, const double *p) {
    d[0] = p[0] * (y[1] - y[0]);
    d[1] = y[0] * (p[1] - y[2]) - y[1];
    d[2] = y[0] * y[1] - p[2] * y[2];
    return t > 1e3 || y[0] > 100;
}
int many(int64_t n, int64_t s, const double *t, const double *y, double *d, const double *p) {
    for (int64_t i = 0; i < n; i++) {
        d[i] = p[i] * (y[s + i] - y[i]);
        d[s + i] = y[i] * (p[s + i] - y[2 * s + i]) - y[s + i];
        d[2 * s + i] = y[i] * y[s + i] - p[2 * s + i] * y[2 * s + i];
        if (t[i] > 1e3 || y[i] > 100) return 7;
    }
    return 0;
}
"""
DOUBLES = ctypes.POINTER(ctypes.c_double)
PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, DOUBLES, DOUBLES, DOUBLES)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.fail("these tests need a C compiler")
    folder = tmp_path_factory.mktemp("callback")
    (folder / "lorenz.c").write_text(SOURCE)
    command = ["cc", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "lorenz.c", "-o", "lorenz.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "lorenz.so"))


def lorenz_python(t, y, d, p):
    d[0] = p[0] * (y[1] - y[0])
    d[1] = y[0] * (p[1] - y[2]) - y[1]
    d[2] = y[0] * y[1] - p[2] * y[2]
    return 0


def capsule_of(function, name):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    return new(ctypes.cast(function, ctypes.c_void_p), name, None)


def kinds(library):
    address = ctypes.cast(library.lorenz, ctypes.c_void_p).value
    yield library.lorenz, {}
    yield PROTOTYPE(lorenz_python), {}
    yield capsule_of(library.lorenz, b"int (double, double *, double *, double *)"), {}
    yield capsule_of(library.lorenz, None), {}
    yield types.SimpleNamespace(address=address), {}
    yield types.SimpleNamespace(address=address, ctypes=library.lorenz), {}
    yield address, {"unsafe": True}
    yield library.many, {"batched": True}


def check(system):
    y0 = np.random.default_rng(0).normal(size=(3001, 3))
    rho = np.linspace(20, 30, 3001)
    expected = pi.systems.lorenz(rho=rho).rhs(0.0, y0)
    assert np.allclose(system(rho=rho).rhs(0.0, y0), expected, rtol=0, atol=2e-14)
    ours = pi.integrate(system(rho=rho), y0, dt=0.01, n_steps=5)
    theirs = pi.integrate(pi.systems.lorenz(rho=rho), y0, dt=0.01, n_steps=5)
    assert np.allclose(ours.y, theirs.y, rtol=0, atol=1e-12)


def test_every_kind_of_pointer(library):
    for pointer, options in kinds(library):
        check(pi.c_function(pointer, dim=3, params=PARAMS, **options))


def test_scipy_and_cffi(library):
    scipy = pytest.importorskip("scipy")
    signature = "int (double, double *, double *, double *)"
    low_level = scipy.LowLevelCallable(capsule_of(library.lorenz, signature.encode()))
    check(pi.c_function(low_level, dim=3, params=PARAMS))
    function = PROTOTYPE(lorenz_python)
    check(pi.c_function(scipy.LowLevelCallable(function), dim=3, params=PARAMS))
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("typedef int f(double, const double *, double *, const double *);")
    pointer = ffi.cast("f *", ctypes.cast(library.lorenz, ctypes.c_void_p).value)
    check(pi.c_function(pointer, dim=3, params=PARAMS))
    with pytest.raises(TypeError, match="takes 1 arguments, expected int"):
        pi.c_function(ffi.cast("int(*)(double)", pointer), dim=3)


def test_workers_share_the_work(library):
    y0 = np.random.default_rng(0).normal(size=(5000, 3))
    for pointer, batched in ((library.lorenz, False), (library.many, True)):
        system = pi.c_function(pointer, dim=3, params=PARAMS, batched=batched)
        one = pi.integrate(system, y0, dt=0.01, n_steps=60, save="final")
        four = pi.integrate(system, y0, dt=0.01, n_steps=60, save="final", workers=4)
        assert np.array_equal(one.final, four.final)


def test_owners_are_kept_alive():
    system = pi.c_function(PROTOTYPE(lorenz_python), dim=3, params=PARAMS)
    gc.collect()
    assert np.allclose(system.rhs(0.0, [1.0, 2.0, 3.0]), [10.0, 23.0, -6.0])


def test_failures(library):
    y0 = np.ones((50, 3))
    y0[7] = [200.0, 0.0, 0.0]
    one = pi.c_function(library.lorenz, dim=3, params=PARAMS)
    sol = pi.integrate(one, y0, dt=0.01, n_steps=5, on_failure="ignore")
    assert list(np.flatnonzero(sol.status)) == [7]
    assert sol.status[7] == pi.Status.NOT_FINITE
    many = pi.c_function(library.many, dim=3, params=PARAMS, batched=True)
    with pytest.raises(RuntimeError, match="has returned 7"):
        pi.integrate(many, y0, dt=0.01, n_steps=5)


def test_a_failure_in_one_stage_is_not_lost_in_the_next():
    @PROTOTYPE
    def until_2(t, y, d, p):
        d[0] = 1.0
        return y[0] > 2  # also false of what is no number

    run = {"dt": 0.25, "n_steps": 20, "method": "prince_dormand87", "on_failure": "ignore"}
    sol = pi.integrate(pi.c_function(until_2, dim=1), [0.0], **run)
    assert sol.status == pi.Status.NOT_FINITE
    assert sol.final[0] <= 2


def test_a_component_that_is_not_written_is_not_a_number():
    @PROTOTYPE
    def one(t, y, d, p):
        d[0] = -y[0]
        return 0

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int64, *[DOUBLES] * 4)
    def many(n, stride, t, y, d, p):
        for i in range(n):
            d[i] = -y[i]
        return 0

    for pointer, batched in ((one, False), (many, True)):
        system = pi.c_function(pointer, dim=2, batched=batched)
        assert np.isnan(system.rhs(0.0, [1.0, 2.0])).tolist() == [False, True]
        sol = pi.integrate(system, [1.0, 2.0], dt=0.1, n_steps=10, on_failure="ignore")
        assert sol.status == pi.Status.NOT_FINITE


def test_float32_is_refused(library):
    system = pi.c_function(library.lorenz, dim=3, params=PARAMS)
    with pytest.raises(TypeError, match="computes in float64"):
        pi.integrate(system, np.ones(3, np.float32), dt=0.01, n_steps=1)


def test_implicit_methods_take_differences(library):
    system = pi.c_function(library.lorenz, dim=3, params=PARAMS)
    y = np.array([1.0, 2.0, 3.0])
    assert np.allclose(
        system.jacobian(0.0, y), pi.systems.lorenz.jacobian(0.0, y), atol=1e-8, rtol=0
    )


@pytest.mark.parametrize("changed", ["parameters", "times"])
def test_a_jacobian_is_that_of_each_of_a_batch(library, changed):
    """One state, and arrays of parameters or of times: these ended in a ValueError of NumPy."""
    system, y, t = pi.c_function(library.lorenz, dim=3, params=PARAMS), [1.0, 2.0, 3.0], 0.0
    if changed == "times":
        t = [0.0, 1.0]
        assert np.array_equal(system.jacobian(t, y), [system.jacobian(0.0, y)] * 2)
        return
    rho = np.array([20.0, 28.0, 35.0])
    each = [system(rho=one).jacobian(t, y) for one in rho]
    assert np.array_equal(system(rho=rho).jacobian(t, y), each)


def test_systems_of_pointers_are_systems(library):
    system = pi.c_function(
        library.lorenz, dim=3, params={**PARAMS, "extra": [1.0, 2.0]}, name="mine",
        state_names="a b c", units={"a": "m"}, initial=[1.0, 2.0, 3.0],
    )  # fmt: skip
    assert repr(system) == "mine(sigma=10, rho=28, beta=2.66667, extra=(1, 2))"
    assert system.units["a"] == "m"
    assert "compiled" in system._repr_html_()
    assert system == system()
    assert system.energy([1.0, 2.0, 3.0]) is None
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(system)


@pytest.mark.parametrize(
    ("pointer", "options", "message"),
    [
        (0x1234, {}, "0x1234 is a bare integer: .*unsafe=True"),
        (0, {"unsafe": True}, "address is zero"),
        (None, {}, "None is no pointer"),
        (1.5, {}, "no pointer"),
        (True, {"unsafe": True}, "no pointer"),
        ("lorenz", {}, "no pointer"),
        (lorenz_python, {}, "is a Python function: use @pi.rhs"),
        (types.SimpleNamespace(address="x"), {}, "is no pointer to a function"),
        (pi.systems.lorenz, {}, "is a System already"),
        (PROTOTYPE(lorenz_python), {"batched": True}, "takes 4 arguments, expected int f.int64_t"),
        (ctypes.CFUNCTYPE(None)(lambda: None), {}, "returns no int, expected int f.double t"),
        (
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, *[ctypes.POINTER(ctypes.c_float)] * 3)(
                0
            ),
            {},
            "takes floats, expected int f.double t",
        ),
        (
            types.SimpleNamespace(address=1, ctypes=ctypes.CFUNCTYPE(ctypes.c_double)(lambda: 0.0)),
            {},
            "returns no int, expected int f.double t",  # as numba's cfunc
        ),
        (PROTOTYPE(lorenz_python), {"dim": 0}, "dim must be at least 1"),
        (PROTOTYPE(lorenz_python), {"params": [1.0]}, "params must be a dictionary"),
        (PROTOTYPE(lorenz_python), {"params": {"y": 1.0}}, "params has 'y'"),
        (PROTOTYPE(lorenz_python), {"params": {"k": "a"}}, "parameter k must hold real numbers"),
        (PROTOTYPE(lorenz_python), {"state_names": "a b"}, "state_names must be 3"),
        (PROTOTYPE(lorenz_python), {"units": {"z": "m"}}, "units has 'z'"),
        (PROTOTYPE(lorenz_python), {"initial": [1.0]}, "initial"),
        (PROTOTYPE(lorenz_python), {"batched": 1}, "batched must be True or False"),
        (PROTOTYPE(lorenz_python), {"exact": 1}, "exact must be a function"),
    ],
)
def test_wrong_pointers_and_options_are_refused(pointer, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pi.c_function(pointer, **{"dim": 3, **options})


@PROTOTYPE
def decay(t, y, dydt, p):
    dydt[0] = -y[0]
    return 0


@pytest.mark.parametrize(
    ("system", "traced"),
    [
        (pi.c_function(decay, dim=1), False),
        (pi.rhs(lambda t, y: -y, dim=1, trace=False), False),
        (pi.rhs(lambda t, y: -y, dim=1), True),
    ],
)
def test_a_system_has_only_what_it_can_do(system, traced):
    for name in set(dir(system)) - set(dir(pi.systems.lorenz)):
        value = getattr(system, name)
        if name == "to_c":
            assert "own_rhs" in value()
    assert hasattr(system, "to_c") == hasattr(system, "compile") == traced
