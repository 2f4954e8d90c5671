"""Random forces and random tables of coefficients against a plain loop in NumPy.

    python tests/stress/attack/differential.py [seconds] [seed]

The loop is the readable twin of the method's family (tests/reference), with the function itself,
untraced; it runs in the precision of the run and in the next wider one. The core fuses products
with sums, so its last digits differ: it may be off by a hundred times as much as the loop in the
same precision is, at the worst of its trajectories, or by a hundred roundings of each stage.
"""

import random
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import forces
import numpy as np
import reference

import pyintegrate as pi

WIDER = {np.float32: np.float64, np.float64: np.longdouble}
CATALOGUE = [m for m in reference.POINT_METHODS
             if m.family in ("explicit_rk", "composition", "nystrom")]  # fmt: skip
JUMPS = ("where", "between")  # a rounding may decide them: attack/programs.py has them, to the bit


def smooth_function(rng, inputs):
    while True:
        function = forces.random_function(rng, inputs, rng.choice([1, 2, 3, 4]))
        if not any(name in str(function) for name in JUMPS):
            return function


def random_force(rng):
    """A traced system, and the same as a plain function."""
    dof = rng.choice([0, 0, 1, 2, 3])
    dim = 2 * dof or rng.choice([1, 2, 3, 5])
    functions = [smooth_function(rng, dim + 3) for _ in range(dof or dim)]
    if not dof:

        def rhs(t, y, k, m):
            inputs = [t, k, m, *(y if np.ndim(y) else [y])]
            return [forces.compute(f, inputs) for f in functions]

        return pi.rhs(dim=dim, k=1.0, m=1.0)(rhs), functions

    def acceleration(t, x, v, k, m):
        inputs = [t, k, m, *(x if np.ndim(x) else [x]), *(v if np.ndim(v) else [v])]
        return [forces.compute(f, inputs) for f in functions]

    return pi.acceleration(dof=dof, k=1.0, m=1.0)(acceleration), functions


def plain(system, functions, params):
    """What a twin asks of a system; numbers stay in the precision of y."""

    def rates(t, y):
        real = y.dtype.type
        lanes = y.shape[:-1]
        inputs = [real(t), *(value.astype(real) for value in params), *np.moveaxis(y, -1, 0)]
        values = [np.broadcast_to(np.asarray(forces.compute(f, inputs), y.dtype), lanes)
                  for f in functions]  # fmt: skip
        return np.stack(values, axis=-1)

    if not system.dof:
        return SimpleNamespace(rhs=rates, dim=system.dim, dof=0)

    def acceleration(t, x, v):
        return rates(t, np.concatenate([x, v], axis=-1))

    def rhs(t, y):
        return np.concatenate([y[..., system.dof :], rates(t, y)], axis=-1)

    return SimpleNamespace(rhs=rhs, acceleration=acceleration, dim=system.dim, dof=system.dof)


def random_method(rng, system):
    kinds = ["table", "table", "catalogue", "composition"] if system.dof else ["table", "catalogue"]
    kind, n = rng.choice(kinds), rng.choice([1, 2, 3, 4, 6])
    if kind == "catalogue":
        return rng.choice([m for m in CATALOGUE if reference.fits(m, system)])
    weights = [rng.choice([0.0, rng.gauss(0, 0.5)]) for _ in range(n - 1)]
    weights.append(1 - sum(weights))
    if kind == "table":
        A = [[rng.choice([0.0, rng.gauss(0, 0.5)]) if j < i else 0.0 for j in range(n)]
             for i in range(n)]  # fmt: skip
        return pi.RungeKutta(A, weights, order=1)
    drifts = [rng.uniform(0.1, 1) for _ in range(n)]
    pairs = zip(weights, (d / sum(drifts) for d in drifts), strict=True)
    return pi.Composition([part for kick, drift in pairs
                           for part in (("kick", kick), ("drift", drift))], order=1)  # fmt: skip


def attack(rng):
    system, functions = random_force(rng)
    method, dtype = random_method(rng, system), rng.choice([np.float64, np.float64, np.float32])
    lanes, steps = rng.choice([1, 3, 20]), rng.choice([1, 5, 20])
    generator = np.random.default_rng(rng.randrange(1 << 30))
    y = generator.normal(size=(lanes, system.dim)).astype(dtype)
    params = [generator.uniform(0.5, 2, rng.choice([1, lanes])).astype(dtype) for _ in range(2)]
    h, t0 = dtype(rng.choice([0.125, 0.0625, 0.03, -0.05])), dtype(rng.choice([0.0, 0.7]))
    own = system(k=params[0].astype(float), m=params[1].astype(float))
    if not reference.fits(method, own):
        return "refused"
    sol = pi.integrate(own, y, dt=float(h), t0=float(t0), n_steps=steps, method=method,
                       save="final", on_failure="ignore")  # fmt: skip
    answers = []
    for real in (dtype, WIDER[dtype]):
        with np.errstate(all="ignore"):
            twin = plain(system, functions, params)
            answers.append(reference.TWINS[method.family](
                twin, y.astype(real), real(t0), real(h), steps, **method.coefficients))  # fmt: skip
    loop, truth = answers
    if not np.isfinite(loop).all():
        return "overflows"
    off, loop_off = (abs(a.astype(truth.dtype) - truth) for a in (sol.final, loop))
    rounding = steps * method.stages * np.finfo(dtype).eps * (1 + abs(truth).max())
    allowed = 100 * max(loop_off.max(), rounding)
    assert np.all(sol.status == 0)
    assert off.max() <= allowed, (method, off.max(), loop_off.max(), rounding, functions)
    return method.family


def main(seconds, seed):
    """Attack for so many seconds; the counts by family."""
    counts, case = Counter(), 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        case += 1
        try:
            counts[attack(random.Random(f"{seed}:{case}"))] += 1
        except BaseException:
            print(f"attack by differences: case {seed}:{case}")
            raise
    print(f"attack by differences, seed {seed}: {case} cases: {dict(sorted(counts.items()))}")
    return counts


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(60, 1)[len(given) :])
