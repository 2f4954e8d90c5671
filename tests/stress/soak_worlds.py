"""More random calls for the soak run: steppers, drives, user-defined systems and methods, bodies.

Each function takes a random generator and makes one call, or some on one object, a part of them
wrong. What is right is compared: a stepper and a driven run have the bits of ``pi.integrate``.
"""

import contextlib

import numpy as np
from hostile import hostile, pick
from reference import fits, states

import pyintegrate as pi

SYSTEMS = [*pi.systems.values(), pi.systems.n_body(n=3), pi.systems.n_body(n=2, softening=0.1)]
METHODS = list(pi.methods.values())


@pi.acceleration(k=1.0, b=0.1, length=1.0)
def traced(t, x, v, k, b, length):
    return -k * np.sin(x / length) - b * v * abs(v) + np.cos(t)


@pi.hamiltonian(dof=2, mu=1.0)
def from_energy(q, p, mu):
    return (p @ p) / 2 - mu / np.sqrt(q @ q + 0.01)


@pi.rhs(dim=2, matrix=np.eye(2), initial=[1.0, 0.5])
def by_matrix(t, y, matrix):
    return matrix @ y - np.where(y > 1, y, 0.0)


@pi.rhs(dim=1, rate=1.0, trace=False)
def called(t, y, rate):
    if np.any(rate < 0):
        raise ValueError("a callback that raises")
    return -rate * y


def batch_of(rng):
    """A system that fits a method, and states."""
    system = pick(rng, [*SYSTEMS, traced, from_energy, by_matrix, called])
    method = pick(rng, [m for m in METHODS if fits(m, system)])
    shape = pick(rng, [(), (1,), (5,), (2, 3), (70,)])
    if system is called:
        return system, method, np.ones((*shape, 1))
    if system.initial is None:
        return system, method, rng.normal(size=(*shape, system.dim))
    return system, method, states(system, shape, np.float64, int(rng.integers(1000)))


def some(rng, value, chance=0.1):
    """The value, or seldom a hostile one."""
    return hostile(rng) if rng.random() < chance else value


def stepper(rng, number):
    """Steps by hand, back, on: the bits of a run."""
    system, method, y = batch_of(rng)
    before = y.copy()
    one = pi.Stepper(some(rng, system, 0.02), some(rng, y), dt=some(rng, 0.01, 0.03),
                     method=some(rng, method, 0.02), bound=some(rng, None, 0.05))  # fmt: skip
    right = one.y.shape == y.shape and np.array_equal(one.y, y) and one.dt == 0.01
    right = right and one.system is system and one.method is method and one._options.bound == np.inf
    n = int(rng.integers(0, 8))
    one.step(n)
    kept = one.snapshot()
    one.step(3)
    there = one.y.copy()
    one.restore(kept)
    one.step(n=3)
    assert there.tobytes() == one.y.tobytes(), "a replay differs"
    if right and system.name != "rigid_body":
        run = pi.integrate(system, before, dt=0.01, n_steps=n + 3, method=method, save="final",
                           on_failure="ignore")  # fmt: skip
        assert run.final.tobytes() == there.tobytes(), "a stepper and a run differ"
    if method.name != "semi_implicit_euler" and rng.random() < 0.3:
        one = pi.Stepper(pi.systems.pendulum, np.ones(3), 0.0, dt=0.01)
    misuse(rng, one)


def misuse(rng, one):
    what = pick(rng, ["kick", "drift", "step", "reset", "assign", "params", "loop", "blend",
                      "restore", "previous", "repr"])  # fmt: skip
    if what in ("kick", "drift"):
        getattr(one, what)()
    elif what == "step":
        value = hostile(rng)
        if not isinstance(value, int | np.integer) or value < 100:
            one.step(value)
    elif what == "reset":
        one.reset(some(rng, True, 0.4), some(rng, None, 0.4), some(rng, None, 0.2))
    elif what == "assign":
        setattr(one, pick(rng, ["y", "x", "v", "previous"]), hostile(rng))
    elif what == "params" and one.params:
        with contextlib.suppress(OverflowError):  # of NumPy's assignment
            one.params[pick(rng, [*one.params])][...] = hostile(rng)
    elif what in ("loop", "blend"):
        loop = pi.FixedTimestep(some(rng, one, 0.1), some(rng, 4, 0.2))
        alpha = loop.advance(some(rng, 0.025, 0.5))
        loop.blend(some(rng, alpha, 0.5))
    elif what == "restore":
        one.restore(hostile(rng))
    elif what == "previous":
        one.previous  # noqa: B018
    else:
        repr(one)
    if rng.random() < 0.5:
        one.step(2)


def drive(rng, number):
    """A parameter that changes with each step."""
    system, method, y = batch_of(rng)
    numbers = [name for name, value in system.params.items() if np.ndim(value) == 0]
    if not numbers:
        return
    name, n = pick(rng, numbers), int(rng.integers(1, 12))
    values = system.params[name] * rng.uniform(0.9, 1.1, (n, *pick(rng, [(), y.shape[:-1]])))
    options = {"method": method, "on_failure": "ignore", "workers": pick(rng, [1, 2]), "dt": 0.01}
    given = some(rng, {some(rng, name, 0.05): some(rng, values, 0.05)}, 0.05)
    whole = pi.integrate(some(rng, system, 0.02), y, n_steps=n, drive=given,
                         save=pick(rng, ["all", "final", 3]), **options)  # fmt: skip
    right = isinstance(given, dict) and given.get(name) is values and whole.system is system
    if not right:
        return
    one = pi.Stepper(system, np.broadcast_to(y, whole.final.shape), dt=0.01, method=method)
    for k in range(n):
        one.params[name][...] = values[k]
        one.step()
    assert one.y.tobytes() == whole.final.tobytes(), "a drive and steps by hand differ"


def own_system(rng, number):
    """A function becomes a system, or is refused."""
    kind = int(rng.integers(5))
    constant = some(rng, float(rng.normal()), 0.2)
    if kind == 0:
        made = pi.rhs(dim=some(rng, 2, 0.2), k=constant)(lambda t, y, k: (y[1], -k * y[0]))
    elif kind == 1:
        made = pi.acceleration(k=constant)(lambda t, x, v, k: some(rng, -k * x, 0.2))
    elif kind == 2:
        made = pi.hamiltonian(dof=some(rng, 1, 0.2))(lambda q, p: p * p / 2 + np.cosh(q))
    elif kind == 3:
        made = pi.potential(k=constant)(lambda x, k: k * x**4)
    else:
        made = pick(rng, [traced, by_matrix, called, from_energy])
        name = pick(rng, [*made.params])
        made = made(**{name: some(rng, made.params[name], 0.5)})
    sol = pi.integrate(made, some(rng, np.full((4, made.dim), 0.5)), dt=0.01, n_steps=5,
                       workers=pick(rng, [1, 2]), method=pick(rng, ["rk4", "gauss4", "bdf2"]),
                       on_failure="ignore")  # fmt: skip
    repr(made), sol.final


def own_method(rng, number):
    """Implicit tables and multistep formulas with random numbers: refused, or run."""
    n = int(rng.integers(1, 5))
    if rng.random() < 0.5:
        A = rng.normal(size=(n, n)) * pick(rng, [1, 1, 0])
        b = rng.normal(size=n)
        one = pi.RungeKutta(some(rng, A), some(rng, b / b.sum(), 0.05))
    else:
        good = pick(rng, [m for m in METHODS if m.family == "multistep"])
        parts = {k: np.array(v) for k, v in good.coefficients.items() if len(v) and np.any(v)}
        if rng.random() < 0.5:
            parts[pick(rng, [*parts])] = some(rng, rng.normal(size=n + 1), 0.5)
        one = pi.Multistep(**parts, derivative=some(rng, good.derivative))
    system = pi.systems.oscillator
    pi.integrate(system, np.ones((3, 2)), dt=0.01, n_steps=6, method=one, on_failure="ignore")


def world(rng, number):
    """Bodies, rigid or many, their parameters right and wrong."""
    if rng.random() < 0.5:
        one = pi.systems.n_body(n=some(rng, int(rng.integers(1, 6)), 0.2))
        one = one(masses=some(rng, rng.uniform(0, 2, one.n), 0.3), softening=some(rng, 0.1, 0.2))
        y = rng.normal(size=(3, one.dim))
    else:
        names = ["inverse_mass", "inverse_inertia", "force", "torque", "gravity", "drag"]
        one = pi.systems.rigid_body(**{pick(rng, names): some(rng, np.ones(3), 0.5)})
        y = rng.normal(size=(3, 13))
    methods = [m for m in METHODS if fits(m, one)]
    sol = pi.integrate(one, some(rng, y), dt=0.01, n_steps=4, method=pick(rng, methods),
                       on_failure="ignore")  # fmt: skip
    sol.energy(), one.invariants(sol.y)


KINDS = [stepper] * 3 + [drive] * 2 + [own_system, own_method, world]
