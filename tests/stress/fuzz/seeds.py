"""Seeds for the fuzzers, from real programs and tables: python tests/stress/fuzz/seeds.py folder"""

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent.parent))
from families import CLOSED, FAMILIES

import pyintegrate as pi


@pi.acceleration(k=1.0, b=0.1, length=1.0)
def damped(t, x, v, k, b, length):
    return -k / length * np.sin(x) - b * v * abs(v) + np.cos(t)


@pi.hamiltonian(dof=2, mu=1.0)
def kepler(q, p, mu):
    return (p @ p) / 2 - mu / np.sqrt(q @ q + 0.01)


@pi.hamiltonian(dof=1, mass=2.0)
def relativistic(q, p, mass):
    return np.sqrt(p**2 + mass**2) + q**4


@pi.rhs(dim=3, sigma=10.0, rho=28.0, beta=8 / 3)
def lorenz(t, y, sigma, rho, beta):
    x, y, z = y
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


@pi.rhs(dim=2, matrix=np.eye(2))
def switched(t, y, matrix):
    grown = np.where((y > 0.5) & (y != 2), np.exp(-y), np.arctan2(y, 1.0) ** 2)
    return matrix @ y - grown + np.cbrt(np.hypot(y[0], y[1]))


def programs():
    for system in (damped, kepler, relativistic, lorenz, switched):
        for implicit in (False, True):  # with and without a Jacobian
            program = system.traced.program(implicit)
            head = [*program.sizes, len(program.constants), *program.sections.ravel()]
            parts = (np.array(head, np.int32), program.constants, program.code)
            yield f"{system.name}_{implicit:d}", b"".join(part.tobytes() for part in parts)


def tables():
    for number, method in enumerate(pi.methods.values()):
        if method.family in CLOSED:
            continue
        shape = [list(FAMILIES).index(method.family), method.stages, method.evaluations,
                 method.derivative, number % 3 == 0, 100, number % 16]  # fmt: skip
        rows = [method.coefficients[row["name"]] for row in FAMILIES[method.family]]
        flat = np.concatenate([np.ravel(row) for row in rows])
        yield method.name, np.array(shape, np.int8).tobytes() + flat.astype(np.float64).tobytes()


for kind in (programs, tables):
    folder = Path(sys.argv[1], kind.__name__)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in kind():
        (folder / name).write_bytes(content)
