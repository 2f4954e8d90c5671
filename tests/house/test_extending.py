"""A method and a system of one's own take one file and one line each: built and run on a copy."""

import os
import shutil
import subprocess
import sys

import numpy as np
from places import ROOT

METHOD = """
/* Ralston, order 2. Ralston (1962), Math. Comp. 16, 431-437. */
EXPLICIT_RK(made_up_method, .order = 2, .stages = 2, .evaluations = 2, .title = "made up",
            .formula = "", .aliases = "", .reference = "", .c = {0, 2/3.},
            .a = {{0}, {2/3.}}, .b = {1/4., 3/4.})
"""
SYSTEM = """
#ifndef MADE_UP_SYSTEM_H
#define MADE_UP_SYSTEM_H
/* y' = -rate y */
INLINE void made_up_system_rhs(vreal t, const vreal *y, const vreal *p, vreal *dydt) {
    (void)t;
    dydt[0] = -p[0] * y[0];
}
INLINE void made_up_system_jacobian(vreal t, const vreal *y, const vreal *p,
                                    vreal J[PI_MAX_DIM][PI_MAX_DIM]) {
    (void)t, (void)y;
    J[0][0] = -p[0];
}
#endif
SYSTEM(made_up_system, MATHEMATICS(.rhs = made_up_system_rhs, .jacobian = made_up_system_jacobian),
       .title = "decay", .equation = "y' = -rate y", .reference = "", .structure = PI_FIRST_ORDER,
       .dim = 1,
       .state = {{"y", "1", 1, "amount"}}, .n_params = 1, .params = {{"rate", "1/s", 2, "rate"}})
"""
USE = """
import numpy as np, pyintegrate as pi
system, method = pi.systems.made_up_system, pi.methods["made_up_method"]
sol = pi.integrate(system, np.ones((5, 1)), dt=0.1, n_steps=10, method=method)
print(repr(float(sol.final[0, 0])), method.order, system.jacobian(0.0, [1.0]))
"""


def test_a_method_and_a_system_take_one_file_and_one_line_each(tmp_path):
    copy = tmp_path / "copy"
    ignore = shutil.ignore_patterns("*.so", "__pycache__", "vmath_driver*")
    for folder in ("csrc", "pyintegrate"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignore)
    for file in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, copy)
    (copy / "csrc/methods/made_up_method.h").write_text(METHOD)
    (copy / "csrc/systems/made_up_system.h").write_text(SYSTEM)
    with (copy / "csrc/contents.h").open("a") as contents:
        contents.write('#include "methods/made_up_method.h"\n#include "systems/made_up_system.h"\n')
    # Barely optimised: it is built to be run once. The bits do not depend on it.
    flags = "-O1 -DPI_ROLLED -Wno-psabi"
    env = {**os.environ, "PYINTEGRATE_CFLAGS": flags, "PYINTEGRATE_LDFLAGS": ""}
    env.pop("LD_PRELOAD", None)
    build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    done = subprocess.run(build, cwd=copy, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    out = subprocess.run(
        [sys.executable, "-c", USE], cwd=copy, env=env, check=True, capture_output=True, text=True
    )
    value, order, jacobian = out.stdout.split(maxsplit=2)
    # Order 2 on y' = -2 y: each step multiplies by 1 - z + z^2/2 with z = 0.2; ten roundings.
    np.testing.assert_allclose(float(value), (1 - 0.2 + 0.02) ** 10, rtol=1e-14)
    assert order == "2"
    assert jacobian.strip() == "[[-2.]]"
