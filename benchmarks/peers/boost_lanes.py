"""Boost.odeint on wide registers, compiled for this machine where its headers are installed."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

NAME = "Boost, lanes"
FUNCTIONS = {"oscillator, RK4": "oscillator", "pendulum, RK4": "pendulum", "Lorenz, RK4": "lorenz"}
SOURCE = Path(__file__).with_suffix(".cpp")
LIBRARY = SOURCE.parents[2] / "build" / "bench" / "boost_lanes.so"


def _compile():
    compiler = shutil.which("c++")
    if compiler is None:
        raise ImportError("no C++ compiler")
    LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-Ofast", "-march=native", "-std=c++17", "-shared", "-fPIC", "-Wno-psabi"]
    done = subprocess.run([compiler, *flags, str(SOURCE), "-o", str(LIBRARY)], capture_output=True)
    if done.returncode:
        raise ImportError("Boost.odeint is not installed")
    return ctypes.CDLL(str(LIBRARY))


_library = _compile()


def prepare(workload):
    name = FUNCTIONS.get(workload.step)
    if name is None or workload.kind != "final" or workload.n < 16:
        return None
    function = getattr(_library, name)
    function.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_double, ctypes.c_long,
    ]  # fmt: skip
    y, p = np.ascontiguousarray(workload.state), workload.parameter

    def run():
        z = y.copy()
        function(z.ctypes.data, p.ctypes.data, workload.n, workload.h, workload.steps)
        return z

    return run
