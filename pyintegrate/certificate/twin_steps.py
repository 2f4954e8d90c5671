"""The step of every family in plain Python, over any kind of number.

Arrays are left factors: mpf * array prints the array before it asks it to multiply.
"""

import numpy as np

from ..method.coefficients import nested
from ..run.starter import default_starter
from .number_kinds import COMPLEX, TINY

_STEPS_OF_NEWTON = 60
_STEPS_OF_KEPLER = 9  # each doubles the digits


def column(values):
    """An array of objects: arithmetic component by component."""
    return np.array([*values], object)


class Motion:
    """A problem in one kind of number; `calls` counts those of its force.

    Those by Newton's method on the way to a solution are not among them, only those of the step.
    """

    def __init__(self, problem, numbers):
        self.problem, self.numbers, self.calls = problem, numbers, 0

    def acceleration(self, q):
        self.calls += 1
        return column(self.problem.force(q, self.numbers))

    def velocity(self, p):
        return column(self.problem.velocity(p, self.numbers))

    def slope(self, y):
        """y' = f(y)"""
        dof = self.problem.dof
        if not dof:
            return self.acceleration(y)
        return np.concatenate([self.velocity(y[dof:]), self.acceleration(y[:dof])])

    def split(self, y):
        return y[: self.problem.dof], y[self.problem.dof :]

    def along(self, y, direction):
        """J(y) times a direction: the change of the slope along it. These calls are not counted."""
        motion, way = self.unwatched(), direction * self.numbers.small
        return (motion.slope(y + way) - motion.slope(y - way)) / (2 * self.numbers.small)

    def unwatched(self, numbers=None):  # its calls of the force are not counted
        return Motion(self.problem, numbers or self.numbers)

    def table(self, method):
        """The coefficients."""
        exact, _ = method.exact_coefficients
        return {name: nested(self.numbers.make, value) for name, value in exact.items()}


def _sum(weights, values, beside=0.0):
    """beside + sum of weight value, skipping zeros."""
    for weight, value in zip(weights, values):
        if weight:
            beside = beside + value * weight
    return beside


# ---- implicit equations --------------------------------------------------------------------------


def _float(x):
    """The double nearest to a number, or to each of an array or nested list."""
    return np.array(x, complex).real


def _solve(equations, guess, motion):
    """u with equations(u, motion, as_number) = 0, for any kind of number.

    Newton's method in doubles with the Jacobian by imaginary parts; then, with that Jacobian, as
    many corrections as the digits need: each adds those of a double. (One does for those parts.)
    """
    u = _float(guess)
    plain, beside = motion.unwatched(COMPLEX), 1j * TINY * np.eye(len(u))
    for _ in range(_STEPS_OF_NEWTON):
        rest = np.array([equations(column(u + one), plain, _float) for one in beside], complex)
        inverse = np.linalg.inv(rest.imag.T / TINY)
        change = inverse @ rest[0].real
        u = u - change
        if np.abs(change).max() <= 1e-15 * np.abs(u).max():
            break
    u, plain = column(map(motion.numbers.make, u.tolist())), motion.unwatched()
    return _corrected(u, inverse, lambda u: equations(u, plain, lambda x: x))


def _corrected(u, inverse, rest):
    """u with rest(u) = 0, from near, by the inverse of nearly its derivative in doubles."""
    before = np.inf
    for _ in range(_STEPS_OF_NEWTON):
        change = inverse.astype(object) @ rest(u)
        size = max(map(abs, change))
        if not size < before / 2:
            break
        u, before = u - change, size
    return u


# ---- Runge-Kutta ---------------------------------------------------------------------------------


def _explicit_rk(method, motion, h, n_steps, y):
    """k_s = f(y + h sum_j a_sj k_j),   y += h sum_s b_s k_s."""
    table = motion.table(method)
    A, b = table["A"], table["b"]
    last = max(s for s, weight in enumerate(b) if weight)  # others: an error estimate
    for _ in range(n_steps):
        k = []
        for row in A[: last + 1]:
            k.append(motion.slope(y + _sum(row, k) * h))
        y = y + _sum(b, k) * h
    return y


def _implicit_rk(method, motion, h, n_steps, y):
    """k_s = f(y + h sum_j a_sj k_j) for all s at once,   y += h sum_s b_s k_s.

    A last stage equal to the end of the step is reused if the next first stage is its beginning.
    """
    table = motion.table(method)
    A, b = table["A"], table["b"]
    stages, dim, last = len(b), len(y), None
    shared = not any(A[0]) and A[-1] == b

    def states(k, y, number):
        rows, step = number(A), number(h)
        return [number(y) + _sum(row, k) * step for row in rows]

    def equations(u, motion, number):
        k = u.reshape(stages, dim)
        found = [motion.slope(state) for state in states(k, y, number)]
        return u - np.concatenate(found)

    for _ in range(n_steps):
        k = _solve(equations, np.concatenate([motion.unwatched().slope(y)] * stages), motion)
        k = k.reshape(stages, dim)
        fixed = [last] if shared and last is not None else []
        k = fixed + [motion.slope(x) for x in states(k, y, lambda x: x)[len(fixed) :]]
        y, last = y + _sum(b, k) * h, k[-1]
    return y


def _rosenbrock(method, motion, h, n_steps, y):
    """(m_ss - h J) u_s = h f(y + sum a_sj u_j) - sum_j<s m_sj u_j,   y += sum_s b_s u_s."""
    table = motion.table(method)
    inverse, unit = table["inverse"], np.eye(len(y))
    for _ in range(n_steps):
        along = [motion.along(y, column(map(motion.numbers.make, row))) for row in unit.tolist()]
        M = inverse[0][0] * unit - np.stack(along, axis=-1) * h
        near, u = np.linalg.inv(_float(M)), []
        for row, before in zip(table["A"], inverse):
            right = motion.slope(_sum(row, u, y)) * h - _sum(before, u)
            u.append(_corrected(0.0 * y, near, lambda u, right=right, M=M: M @ u - right))
        y = _sum(table["b"], u, y)
    return y


# ---- positions and velocities --------------------------------------------------------------------


def _kicks_and_drifts(method, motion, h, n_steps, y, force, drifted):
    """Kick p += w h force(q), drift q and p for w h; a force is reused until q has moved."""
    table, (q, p), now = motion.table(method), motion.split(y), None
    for _ in range(n_steps):
        for kick, drift in zip(table["kick"], table["drift"]):
            if kick:
                now = force(q) if now is None else now
                p = p + now * (h * kick)
            if drift:
                (q, p), now = drifted(q, p, h * drift), None
    return np.concatenate([q, p])


def _composition(method, motion, h, n_steps, y):
    """Kicks by the force, and q += w h velocity(p)."""

    def drifted(q, p, t):
        return q + motion.velocity(p) * t, p

    return _kicks_and_drifts(method, motion, h, n_steps, y, motion.acceleration, drifted)


def _nystrom(method, motion, h, n_steps, y):
    """k_s = a(x + c_s h v + h^2 sum_j a_sj k_j), x += h v + h^2 sum b_s k_s, v += h sum w_s k_s."""
    table, (x, v) = motion.table(method), motion.split(y)
    c, A = (table[name][: method.evaluations] for name in ("c", "A"))
    for _ in range(n_steps):
        k = []
        for node, row in zip(c, A):
            k.append(motion.acceleration(x + v * (node * h) + _sum(row, k) * (h * h)))
        x = x + v * h + _sum(table["b"], k) * (h * h)
        v = v + _sum(table["velocity"], k) * h
    return np.concatenate([x, v])


def _wisdom_holman(method, motion, h, n_steps, y):
    """Kick p += w h (force - Kepler's), and Kepler's motions for w h in Jacobi coordinates.

    All masses and g are 1: q_i = x_i - (x_0 + ... + x_(i-1)) / i about a centre of i + 1, and
    q_0 = (x_0 + ... + x_(n-1)) / n.
    """
    n = motion.problem.dof // 3

    def jacobi(x):
        x = x.reshape(n, 3)
        return [x.sum(axis=0) / n, *(x[i] - x[:i].sum(axis=0) / i for i in range(1, n))]

    def back(q):
        x, centre = [], q[0]
        for i in range(n - 1, 0, -1):
            centre = centre - q[i] / (i + 1)
            x.insert(0, centre + q[i])
        return np.concatenate([centre, *x])

    def perturbation(x):
        pull = [np.multiply(q, (i + 1) / ((q @ q) * motion.numbers.sqrt(q @ q)))
                for i, q in enumerate(jacobi(x))]  # fmt: skip
        return motion.acceleration(x) + back([0.0 * pull[0], *pull[1:]])

    def drifted(x, v, t):
        (R, *q), (V, *u) = jacobi(x), jacobi(v)
        moved = [_kepler(i + 2, t, q[i], u[i], motion) for i in range(n - 1)]
        return back([R + V * t, *(one for one, _ in moved)]), back([V, *(one for _, one in moved)])

    return _kicks_and_drifts(method, motion, h, n_steps, y, perturbation, drifted)


def _kepler(mu, t, x, v, motion):
    """x, v after a time t about a centre of mu: csrc/mechanics/kepler_motion.h, by Newton alone."""
    r0, eta = motion.numbers.sqrt(x @ x), x @ v
    beta, zeta, X = 2 * mu / r0 - v @ v, (v @ v) * r0 - mu, t / r0
    for _ in range(_STEPS_OF_KEPLER):
        G, first = [], 1.0 + 0.0 * X
        for k in range(4):
            term = total = first
            for n in range(k + 2, k + 60, 2):
                term = term * (-beta * X * X) / (n * (n - 1))
                total = total + term
            G, first = [*G, total], first * X / (k + 1)
        r = r0 + eta * G[1] + zeta * G[2]
        X = X - (r0 * X + eta * G[2] + zeta * G[3] - t) / r
    change = [
        np.multiply(x, -mu * a) + np.multiply(v, b)
        for a, b in ((G[2] / r0, t - mu * G[3]), (G[1] / (r0 * r), -mu * G[2] / r))
    ]
    return x + change[0], v + change[1]


# ---- multistep -----------------------------------------------------------------------------------


def _multistep(method, motion, h, n_steps, y):
    """sum alpha_j y_j = h sum beta_j f_j, after steps of the starter.

    A predictor is y + h sum predictor_j f_j; its f stands for the new one, which is not known.
    Of positions alone: sum alpha_j x_j = h^2 sum beta_j a_j; v += h sum velocity_j a_j, or
    differences of x.
    """
    table, second = motion.table(method), method.derivative == 2
    beta, predictor = table["beta"], table["predictor"]
    alpha = [-a for a in table["alpha"][:-1]]
    force, power = (Motion.acceleration, h * h) if second else (Motion.slope, h)
    values = states = _first_steps(method, motion, h, n_steps, y)
    if second:
        values, v = [motion.split(state)[0] for state in states], motion.split(states[-1])[1]
    slopes = [force(motion, one) for one in values]
    for _ in range(n_steps + 1 - len(states)):
        known = _sum(alpha, values) + _sum(beta[:-1], slopes) * power
        if predictor:
            guess = values[-1] + _sum(predictor, slopes) * h
            new = known + force(motion, guess) * (power * beta[-1])
        else:
            new = _implicit(known, power, beta[-1], force, values[-1], motion)
        values, slopes = [*values[1:], new], [*slopes, force(motion, new)]
        if second:
            v = v + _sum(table["velocity"], slopes) * h
        slopes = slopes[1:]
    if not second:
        return values[-1]
    if not table["velocity"] and n_steps:
        v = (values[-1] - values[-2]) / h
        if not method.backward:  # (x1 - x-1) / (2 h), which needs the next step
            v = v + slopes[-1] * h * 0.5
    return np.concatenate([values[-1], v])


def _first_steps(method, motion, h, n_steps, y):
    """The states before the first step of a multistep method, or all if the run is shorter."""
    one_step, states, motion = default_starter(method), [y], motion.unwatched()
    while len(states) < min(method.stages, n_steps + 1):
        if one_step is None:
            x, v = motion.split(y)
            y = np.concatenate([x + h * v + h * h * 0.5 * motion.acceleration(x), v])
        else:
            y = RUNS[one_step.family](one_step, motion, h, 1, y)
        states.append(y)
    return states


def _implicit(known, h, beta, force, guess, motion):
    """u = known + h beta force(u), which is known if beta is 0."""
    if not beta:
        return known

    def equations(u, motion, number):
        return u - number(known) - force(motion, u) * (number(h) * number(beta))

    return _solve(equations, guess, motion)


RUNS = {
    "explicit_rk": _explicit_rk,
    "implicit_rk": _implicit_rk,
    "rosenbrock": _rosenbrock,
    "composition": _composition,
    "nystrom": _nystrom,
    "wisdom_holman": _wisdom_holman,
    "multistep": _multistep,
}
