"""Boost.odeint on wide registers, compiled for this machine where its headers are installed."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

from .steps import TSITOURAS_A, TSITOURAS_B

NAME = "Boost, lanes"
FUNCTIONS = {
    "oscillator, semi-implicit Euler": "oscillator_euler",
    "pendulum, semi-implicit Euler": "pendulum_euler",
    "oscillator, RK4": "oscillator_rk4",
    "pendulum, RK4": "pendulum_rk4",
    "driven pendulum, RK4": "driven_pendulum_rk4",
    "Lorenz, RK4": "lorenz_rk4",
    "Lorenz, Tsitouras 5": "lorenz_tsitouras",
    "Kepler, velocity Verlet": "kepler_leapfrog",
    "Kepler, Forest-Ruth 4": "kepler_forest_ruth",
}
SOURCE = Path(__file__).with_suffix(".cpp")
LIBRARY = SOURCE.parents[2] / "build" / "bench" / "boost_lanes.so"


def _compile():
    compiler = shutil.which("c++")
    if compiler is None:
        raise ImportError("no C++ compiler")
    LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    table = ",".join(repr(a) for row in TSITOURAS_A for a in row)
    flags = ["-Ofast", "-march=native", "-mprefer-vector-width=512", "-std=c++17", "-shared",
             "-fPIC", "-Wno-psabi", f"-DTSITOURAS_A={table}",
             f"-DTSITOURAS_B={','.join(map(repr, TSITOURAS_B))}"]  # fmt: skip
    done = subprocess.run([compiler, *flags, str(SOURCE), "-o", str(LIBRARY)], capture_output=True)
    if done.returncode:
        raise ImportError("Boost.odeint is not installed")
    return ctypes.CDLL(str(LIBRARY))


_library = _compile()


def prepare(workload):
    name = FUNCTIONS.get(workload.step)
    if name is None or workload.kind == "calls":
        return None
    function = getattr(_library, name if workload.n > 1 else f"one_{name}", None)
    if function is None:
        return None
    function.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_double,
        ctypes.c_long,
    ]  # fmt: skip
    y, p = np.ascontiguousarray(workload.state), workload.parameter

    def run(out=None):
        z = y.copy()
        record = None if out is None else out.ctypes.data
        function(z.ctypes.data, p.ctypes.data, record, workload.n, workload.h, workload.steps)
        return z if out is None else out

    return run
