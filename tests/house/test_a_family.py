"""A family stands in few files: a made-up one is patched into a copy, built, used and certified.

Taylor's method, y += sum_s b_s h^(s+1) J^s f with the Jacobian J of the force, on y' = f(y): with
b = 1, 1/2 two derivatives of the solution, order 2.
"""

import re

import pytest
from copies import built_copy, run_in
from places import ROOT

MOST_FILES = 6

# Its own files: the step, and one method.
KERNEL = """\
/* y += sum_s b_s h^(s+1) J^s f, with the Jacobian J of the force f, which does not see the time. */
#pragma once
#include "newton.h"

static void taylor_rows_step(Chunk *c, const PiMethod *m, int64_t n) {
    const int64_t R = c->R;
    const int dim = c->dim;
    const vreal *t = times(c, n, 0);
    vreal *const free = c->free, *f = take_rows(c, dim), *next = take_rows(c, dim),
                 *J = take_rows(c, dim * dim), *shifted = take_rows(c, dim),
                 *here = take_rows(c, 1), *sum = take_rows(c, dim);
    rhs_rows(c, t, c->y, f);
    jacobian_rows(c, t, c->y, f, J, shifted, here);
    for (int64_t i = 0; i < dim * R; i++) f[i] *= c->h[i % R], sum[i] = c->y[i];
    for (int s = 0; s < m->stages; s++) {
        add_rows(c, dim, m->b[s], 0, f, sum);
        for (int d = 0; d < dim; d++)
            for (int64_t u = 0; u < R; u++) {
                vreal product = vset(0);
                for (int e = 0; e < dim; e++)
                    product = vfma(J[(d * dim + e) * R + u], f[e * R + u], product);
                next[d * R + u] = product * c->h[u];
            }
        copy_rows(c, dim, next, f);
    }
    copy_rows(c, dim, sum, c->y);
    c->free = free;
}
"""
METHOD = """\
/* Taylor, order 2: two derivatives of the solution. */
TAYLOR(taylor2, .order = 2, .stages = 2, .evaluations = 1, .title = "Taylor, order 2",
       .formula = "y += h f + h^2/2 J f", .aliases = "", .reference = "Taylor (1715)",
       .b = {1, 1/2.})
"""
TWIN = """\
from .rosenbrock import jacobian


def integrate(system, y, t0, h, n_steps, b):
    for n in range(n_steps):
        term, J = h * system.rhs(t0 + n * h, y), h * jacobian(system, t0 + n * h, y)
        for weight in b:
            y, term = y + weight * term, (J @ term[..., None])[..., 0]
    return y
"""
OWN = {
    "csrc/kernels/rows/taylor.h": KERNEL,
    "csrc/methods/taylor2.h": METHOD,
    "tests/reference/taylor.py": TWIN,
}
CONTENTS = ("csrc/contents.h", '#include "methods/taylor2.h"\n')

# File, what stands there, what is put before it: a place each.
PLACES = [
    ("csrc/pyintegrate.h", "    PI_RIGID_MOTION, /*", "    PI_TAYLOR,\n"),
    ("csrc/pyintegrate.h", "#define RIGID_MOTION(",
     "#define TAYLOR(id, ...) METHOD(id, PI_TAYLOR, __VA_ARGS__)\n"),
    ("csrc/run/families.c", "\n/* ---- the table",
     "/* Two slopes, the Jacobian, its differences, the sum. */\n"
     "static int64_t taylor_workspace(const PiMethod *m, const PiSystem *system) {\n"
     "    (void)m;\n"
     "    return 4 * (int64_t)system->dim + (int64_t)system->dim * system->dim + 1;\n}\n"),
    ("csrc/run/families.c", "    [PI_RIGID_MOTION] = {",
     '    [PI_TAYLOR] = {.name = "taylor", .requirement = &any, .numbers = {LIST(b)},\n'
     "                   .most_stages = PI_MAX_STAGES, .jacobian = 1,\n"
     "                   .workspace_rows = taylor_workspace},\n"),
    ("csrc/kernels/rows/loop.h", "\n/* ---- loading and storing", '#include "taylor.h"\n'),
    ("csrc/kernels/rows/loop.h", "/* The steps of a chunk, by",
     "static void run_taylor(Chunk *c) {\n    const PiTile *tile = c->tile;\n"
     "    for (int64_t n = tile->first; n < tile->first + tile->steps && !c->stopped; n++)\n"
     "        taylor_rows_step(c, tile->method, n);\n}\n"),
    ("csrc/kernels/rows/loop.h", "[PI_RIGID_MOTION] = rigid_motion}",
     "[PI_TAYLOR] = run_taylor, "),
    ("pyintegrate/theory/order_conditions.py", "_FAMILIES = {",
     "def _taylor(exact, rounding):\n"
     '    """b_n = 1 / n! for the tree without branches; others have no term."""\n'
     "    for number in count(1):\n"
     "        b = exact['b'][number - 1] if number <= len(exact['b']) else Fraction(0)\n"
     "        tall = [t for t in trees(number) if density(t) == factorial(number)]\n"
     "        sums = [(b if t in tall else Fraction(0), t) for t in trees(number)]\n"
     "        yield collect(number, rounding, [(x - Fraction(1, density(t)), abs(x), symmetry(t))\n"
     "                                         for x, t in sums])\n\n\n"),
    ("pyintegrate/theory/order_conditions.py", '    "explicit_rk": _', '    "taylor": _taylor,\n'),
    ("pyintegrate/theory/stability_function.py", '"explicit_rk": _',
     '"taylor": lambda method: ([Fraction(1), *method.exact_coefficients[0]["b"]],\n'
     '    [Fraction(1)]), '),
    ("pyintegrate/certificate/twin_steps.py", "RUNS = {",
     "def _taylor(method, motion, h, n_steps, y):\n"
     '    """y += sum_s b_s h^(s+1) J^s f"""\n'
     "    for _ in range(n_steps):\n"
     "        now, term = y, h * motion.slope(y)\n"
     '        for b in motion.table(method)["b"]:\n'
     "            y, term = _sum([b], [term], y), h * motion.along(now, term)\n"
     "    return y\n\n\n"),
    ("pyintegrate/certificate/twin_steps.py", '    "explicit_rk": _', '    "taylor": _taylor,\n'),
]  # fmt: skip


def test_the_recipe_names_these_files():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = re.search(r"^## Add a family.*?(?=^## )", page, re.MULTILINE | re.DOTALL)[0]
    named = re.findall(r"^\| `([\w/.]+\.\w+)` \|", recipe, re.MULTILINE)
    assert set(named) == {file for file, _, _ in PLACES}
    assert len(named) <= MOST_FILES


def test_what_the_recipe_changes_is_there():
    for file, before, _ in PLACES:
        assert (ROOT / file).read_text().count(before) == 1, f"{file}: {before!r}"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return built_copy(tmp_path_factory)


def add_to(copy):
    """The family, added to a copy of the repository (copies.py)."""
    for file, text in OWN.items():
        (copy / file).write_text(text)
    with (copy / CONTENTS[0]).open("a") as lines:
        lines.write(CONTENTS[1])
    for file, before, added in PLACES:
        text = (copy / file).read_text()
        (copy / file).write_text(text.replace(before, added + before))


# Each step rounds a few times, by half a unit of the last place of a number below 1: 4 units.
DECAY = """
h, n = 0.1, 50
decay = pi.rhs(lambda t, y: -y, dim=1)
y = pi.integrate(decay, [1.0], dt=h, n_steps=n, method="taylor2").y[..., 0]
assert np.allclose(y, (1 - h + h * h / 2) ** np.arange(n + 1), rtol=n * 4 * 2.0**-52, atol=0)
"""
OSCILLATOR = """
h, n, y = 0.1, 50, [np.array([1.0, 0.25])]
J = np.array([[0, 1], [-4.0, 0]])
for _ in range(n):
    f = J @ y[-1]
    y.append(y[-1] + h * f + h * h / 2 * (J @ f))
traced = pi.acceleration(lambda t, x, v: -4.0 * x, dof=1)
for system in (pi.systems.spring(k=4.0, m=1.0, b=0.0), traced):
    found = pi.integrate(system, y[0], dt=h, n_steps=n, method="taylor2").y
    assert np.abs(found - y).max() <= n * 4 * 2.0**-52 * np.abs(y).max()
"""
CERTIFICATE = """
found = pi.methods["taylor2"].certificate()
assert found.holds, found.failures
assert (found.computed_order, found.stability_limit, found.real_stability_limit) == (2, 0, 2)
assert found.a_stable is False
wrong = pi.Method(**{name: getattr(found.method, name) for name in pi.Method.__annotations__}
                  | {"written": found.method.written.replace("1/2.", "1/3.")})
assert not wrong.certificate().holds
assert "taylor" in pi._core.limits["jacobian"]
"""


@pytest.mark.long
@pytest.mark.parametrize("text", [DECAY, OSCILLATOR, CERTIFICATE],
                         ids=["decay", "oscillator", "certificate"])  # fmt: skip
def test_a_method_of_the_family(copy, text):
    done = run_in(copy, "-c", "import numpy as np, pyintegrate as pi\n" + text)
    assert done.returncode == 0, done.stderr
