"""A batch that begins from one state gives the bits of that state written out for each."""

import numpy as np
import pytest
from conftest import same_bits
from reference import KERNELS, names, states

import pyintegrate as pi

LANES = 1003  # more than a tile of many components, and no whole number of registers
kernel = pytest.mark.parametrize(("method", "system"), KERNELS, ids=names(KERNELS))


def both(system, batch=(LANES,), y=None, dtype=np.float64, **options):
    """Runs from one state, and from an array of copies of it."""
    y = states(system, (), dtype) if y is None else np.asarray(y, dtype)
    options = {"n_steps": 20, "dtype": dtype, "on_failure": "ignore", **options}
    options["dt"] = np.broadcast_to(options.get("dt", 2.0**-8), batch)
    written_out = np.broadcast_to(y, (*batch, system.dim)).copy()
    return (pi.integrate(system, start, **options) for start in (y, written_out))


def assert_same(one, many):
    for name in ("y", "initial", "final", "status", "failed_step"):
        assert same_bits(getattr(one, name), getattr(many, name)), name
    assert same_bits(one.resume(n_steps=3).y, many.resume(n_steps=3).y)


@kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_kernel(method, system, dtype):
    assert_same(*both(system, method=method, save="final", dtype=dtype))


@pytest.mark.parametrize("save", ["all", 7, "final"])
@pytest.mark.parametrize("n_steps", [0, 1, 300, 1000])
@pytest.mark.parametrize("batch", [(LANES,), (17, 60)])
def test_records_blocks_and_batches(batch, n_steps, save):
    assert_same(*both(pi.systems.kepler, batch, n_steps=n_steps, save=save, workers=2))


@pytest.mark.parametrize("save", ["all", "final"])
@pytest.mark.parametrize("y", [(np.nan, 0, 0), (1, 1e300, 1), (1, 1, 30)])
def test_all_of_them_may_fail(y, save):
    one, many = both(pi.systems.lorenz, y=y, save=save, bound=25.0, n_steps=600)
    assert one.n_failed == LANES
    assert_same(one, many)


def test_what_is_kept_is_one_state():
    sol = pi.integrate(pi.systems.oscillator(omega=np.ones(10**5)), dt=0.1, n_steps=1, save="final")
    assert sol.initial.shape == (10**5, 2)
    assert not sol.initial.flags.writeable
    assert sol.initial.strides[0] == 0
    assert np.array_equal(sol.initial[-1], pi.systems.oscillator.initial)


def test_a_final_state_holds_no_other_memory():
    sol = pi.integrate(pi.systems.oscillator(omega=np.ones(10**5)), dt=0.1, n_steps=1, save="final")
    memory = sol.final
    while memory.base is not None:
        memory = memory.base
    assert memory.nbytes < 1.01 * sol.final.nbytes
