"""Kernels for any force give the bits of those that are compiled for each built-in system."""

import numpy as np
import pytest
from reference import fits, states

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.run import core

# One of each kind: spelled out, short, with stages left out, long; and the compositions likewise.
METHODS = [
    *("rk4", "explicit_euler", "rk38", "zonneveld43", "dormand_prince54", "verner98"),
    *("semi_implicit_euler", "semi_implicit_euler_drift_kick", "velocity_verlet"),
    *("forest_ruth4", "blanes_moan_srkn6b", "mclachlan_atela4"),
]


class _RowsOnly:
    """The C core, asked for the kernels for any force."""

    def __getattr__(self, name):
        return getattr(_core, name)

    asked = 0

    def Run(self, **fields):
        self.asked += 1
        return _core.Run(**fields, use_row_kernels=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", list(pi.systems))
def test_rows_give_the_bits_of_registers(name, dtype, monkeypatch):
    system = pi.systems[name]
    y = states(system, (77,))  # no whole number of registers, nor of chunks
    for method in METHODS:
        if not fits(pi.methods[method], system):
            continue
        for dt in (0.01, np.linspace(0.01, 0.02, 77)):
            options = {"dt": dt, "n_steps": 50, "method": method, "save": 7, "dtype": dtype}
            here = pi.integrate(system, y, **options)
            rows = _RowsOnly()
            with monkeypatch.context() as patch:
                patch.setattr(core, "_core", rows)
                there = pi.integrate(system, y, **options)
            assert rows.asked
            assert here.y.tobytes() == there.y.tobytes(), (name, method)
