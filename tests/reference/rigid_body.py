"""Rigid motion once more, as plainly as it can be: bodies (..., 13), one rule a function."""

import numpy as np

import pyintegrate as pi


def product(a, b):
    """The product of quaternions w x y z."""
    a, b = np.broadcast_arrays(a, b)
    w = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    v = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w, v], axis=-1)


def spinning(w):
    """(0, w)"""
    return np.concatenate([np.zeros_like(w[..., :1]), w], axis=-1)


def exponential(a):
    """exp((0, a) / 2): the rotation by abs(a) about a."""
    half = np.linalg.norm(a, axis=-1, keepdims=True) / 2
    return np.concatenate([np.cos(half), a / 2 * np.sinc(half / np.pi)], axis=-1)


def matrix(q):
    """Columns q e_k q*: the rotation, times |q|^2."""
    back = q * np.array([1, -1, -1, -1])
    columns = [product(product(q, spinning(e)), back)[..., 1:] for e in np.eye(3)]
    return np.stack(columns, axis=-1)


def times(M, a):
    return np.einsum("...ik,...k->...i", M, a)


def normalised(q):
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


class Body:
    """Parameters of a RigidBody, broadcast against bodies (..., 13)."""

    def __init__(self, system):
        for name, value in system.params.items():
            own = np.ndim(value) - len(system.batch_shapes[name])
            setattr(self, name, np.asarray(value) if own else np.asarray(value)[..., np.newaxis])
        self.inertia = np.linalg.inv(self.inverse_inertia)

    def loads(self, y, drag=True):
        """Linear acceleration in world axes and torque in body axes, without damping."""
        x, q, v = y[..., :3], y[..., 3:7], y[..., 7:10]
        M = matrix(q)
        force, torque = self.force, self.torque
        for i in range(self.stiffness.shape[-1]):
            arm = times(M, self.attachments[..., i, :])
            d = x + arm - self.anchors[..., i, :]
            length = np.linalg.norm(d, axis=-1, keepdims=True)
            pull = -self.stiffness[..., i : i + 1] * (
                1 - self.rest_lengths[..., i : i + 1] / length
            )
            force = force + pull * d
            torque = torque + np.cross(arm, pull * d)
        if drag:
            force = force - self.drag * np.linalg.norm(v, axis=-1, keepdims=True) * v
        return self.gravity + self.inverse_mass * force, times(M.swapaxes(-1, -2), torque) + (
            self.torque_body
        )

    def euler(self, w, torque):
        """Euler's equation in body axes."""
        gyroscopic = np.cross(w, times(self.inertia, w))
        return times(self.inverse_inertia, torque - gyroscopic)

    def momentum(self, q, w):
        M = matrix(q)
        return times(M, times(self.inertia, times(M.swapaxes(-1, -2), w)))

    def velocity(self, q, L):
        M = matrix(q)
        return times(M, times(self.inverse_inertia, times(M.swapaxes(-1, -2), L)))

    def rhs(self, y):
        q, v, w = y[..., 3:7], y[..., 7:10], y[..., 10:]
        a, torque = self.loads(y)
        M = matrix(q)
        turning = times(M, self.euler(times(M.swapaxes(-1, -2), w), torque))
        return np.concatenate(
            [
                v,
                product(spinning(w), q) / 2,
                a - self.linear_damping * v,
                turning - self.angular_damping * w,
            ],
            axis=-1,
        )

    def damp(self, v, w, h, factors):
        v, w = v * np.exp(-self.linear_damping * h), w * np.exp(-self.angular_damping * h)
        return (v * self.linear_factor, w * self.angular_factor) if factors else (v, w)


def velocities_first(body, y, h, term, exponential_map):
    x, q, v, w = np.split(y, [3, 7, 10], axis=-1)
    a, torque = body.loads(y)
    M = matrix(q)
    inside = times(M.swapaxes(-1, -2), w)
    if term == "explicit":
        rate = body.euler(inside, torque)
    elif term == "implicit":  # by fixed-point iteration, which meets Newton's answer
        new = inside
        for _ in range(200):
            new = inside + h * body.euler(new, torque)
        rate = (new - inside) / h
    else:
        rate = times(body.inverse_inertia, torque)
    v, w = body.damp(v + h * a, w + h * times(M, rate), h, True)
    L = body.momentum(q, w)
    turned = product(exponential(h * w), q) if exponential_map else (
        q + h / 2 * product(spinning(w), q)
    )  # fmt: skip
    q = normalised(turned)
    if term == "momentum":
        w = body.velocity(q, L)
    return np.concatenate([x + h * v, q, v, w], axis=-1)


def rk4(body, y, h, unnormalised):
    k1 = body.rhs(y)
    k2 = body.rhs(y + h / 2 * k1)
    k3 = body.rhs(y + h / 2 * k2)
    k4 = body.rhs(y + h * k3)
    x, q, v, w = np.split(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), [3, 7, 10], axis=-1)
    q = q if unnormalised else normalised(q)
    return np.concatenate([x, q, v * body.linear_factor, w * body.angular_factor], axis=-1)


def splitting(body, y, h, substeps):
    """The principal axes are those of the body: its inverse inertia must be diagonal."""
    x, q, v, w = np.split(y, [3, 7, 10], axis=-1)

    def slowed(v, h):
        speed = np.linalg.norm(v, axis=-1, keepdims=True)
        return v / (1 + body.drag * body.inverse_mass * speed * h)

    def kick(x, q, v, w, h):
        a, torque = body.loads(np.concatenate([x, q, v, w], axis=-1), drag=False)
        return v + h * a, w + h * times(matrix(q), times(body.inverse_inertia, torque))

    for part in substeps:
        s = part * h
        v, w = body.damp(v, w, s / 2, False)
        v, w = kick(x, q, slowed(v, s / 2), w, s / 2)
        x, L = x + s * v, body.momentum(q, w)
        for i, share in ((0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)):
            axis = matrix(q)[..., i]
            turning = body.inverse_inertia[..., i, i, np.newaxis] * np.sum(
                axis * L, axis=-1, keepdims=True
            )
            q = product(exponential(share * s * turning * axis), q)
        q = normalised(q)
        v, w = kick(x, q, v, body.velocity(q, L), s / 2)
        v, w = body.damp(slowed(v, s / 2), w, s / 2, False)
    return np.concatenate([x, q, v * body.linear_factor, w * body.angular_factor], axis=-1)


STEPS = {
    "rigid_semi_implicit_euler": lambda b, y, h: velocities_first(b, y, h, "explicit", False),
    "rigid_exponential_map": lambda b, y, h: velocities_first(b, y, h, "explicit", True),
    "rigid_implicit_gyroscopic": lambda b, y, h: velocities_first(b, y, h, "implicit", False),
    "rigid_angular_momentum": lambda b, y, h: velocities_first(b, y, h, "momentum", True),
    "rigid_no_gyroscopic": lambda b, y, h: velocities_first(b, y, h, "none", False),
    "rigid_rk4": lambda b, y, h: rk4(b, y, h, False),
    "rigid_rk4_unnormalised": lambda b, y, h: rk4(b, y, h, True),
    "rigid_splitting2": lambda b, y, h: splitting(b, y, h, (1.0,)),
    "rigid_splitting4": lambda b, y, h: splitting(b, y, h, (W, 1 - 2 * W, W)),
}
W = 1 / (2 - 2 ** (1 / 3))


def integrate(name, system, y, h, n_steps):
    """The state after n steps by the rule of that name."""
    body = Body(system)
    for _ in range(n_steps):
        y = STEPS[name](body, y, h)
    return y


# ---- bodies to try -------------------------------------------------------------------------------

FREE = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1 / 2, 1 / 3))
LOADED = pi.systems.rigid_body(
    inverse_inertia=(1, 1 / 2, 1 / 3), inverse_mass=0.8, force=(0.3, -0.2, 0.1),
    torque=(0.02, 0.1, -0.05), torque_body=(0.1, 0.03, 0.04), drag=0.05, linear_damping=0.1,
    angular_damping=0.2, anchors=[[0, 0, 1.0], [1, 0, 0.5]], stiffness=(3.0, 2.0),
    attachments=[[0.1, 0.2, 0.5], [0.4, -0.1, 0]], rest_lengths=(0.3, 0.0),
)  # fmt: skip


def bodies(n, seed=1):
    """Poses (n, 7) with unit quaternions, and twists (n, 6)."""
    random = np.random.default_rng(seed)
    pose, twist = random.normal(size=(n, 7)), random.normal(size=(n, 6))
    pose[:, 3:] = normalised(pose[:, 3:])
    return pose, twist
