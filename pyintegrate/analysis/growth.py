"""Growth of a motion in one step: the eigenvalues of the step."""

import numpy as np

from ..integration import integrate
from ..method.catalogue import find_method
from ..run.arguments import check_structure
from ..system.catalogue import systems
from ..theory import multistep_stability, stability

GROWING = 1e-12  # growth in a step beyond which a motion explodes: twenty times what rounding adds
SOLVED = 1e-9  # the same for implicit methods, whose equations are solved to a tolerance
MEETING = 1e-7  # the same for double roots


def step_growth(system, method, dt):
    """Largest factor by which one step can make a motion of a linear system grow.

    This is the spectral radius of the matrix of one step, found by taking the step from each unit
    vector. A method that remembers earlier steps has no such matrix; the roots of its
    characteristic polynomial at the eigenvalues of the system take its place.

    Parameters
    ----------
    system : System
        Linear, with parameters of the batch shape.
    method : str or Method
    dt : array_like
        Step, (*batch).

    Returns
    -------
    ndarray
        (*batch); inf if the step overflows.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(f"{step_growth(pi.systems.oscillator, 'explicit_euler', 0.1):.6f}")  # sqrt(1.01)
    1.004988
    """
    method = find_method(method)
    if method.self_starting:
        matrix, failed = _matrix(system, method, dt, 1)
        return np.where(failed, np.inf, _spectral_radius(matrix))[()]
    return _root_growth(system, method, dt)


def _root_growth(system, method, dt):
    """Growth of a multistep method, for every eigenvalue of the Jacobian, times dt."""
    check_structure(method, system)
    batch = np.broadcast_shapes(np.shape(dt), *system.batch_shapes.values())
    J, dt = system.jacobian(0.0, np.zeros((*batch, system.dim))), np.asarray(dt)[..., np.newaxis]
    if method.derivative == 2:
        z = -np.linalg.eigvals(J[..., system.dof :, : system.dof]) * dt**2
    else:
        z = np.linalg.eigvals(J) * dt
    return multistep_stability.growth(method, z).max(axis=-1)


def step_excess(system, method, dt):
    """How far the step of a linear system is outside stability: positive if it explodes.

    For two components, with trace T and determinant D of the step, the larger of D - 1 and
    (|T| - 1 - D) / 2 (Jury's conditions): smooth where eigenvalues meet, unlike their size, so
    that a narrow gap of instability shows from afar. Otherwise the growth minus one.

    Parameters
    ----------
    system, method, dt
        As in `step_growth`.

    Returns
    -------
    ndarray
        (*batch), inf if the step overflows.

    References
    ----------
    Jury (1964), Theory and Application of the z-Transform Method.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> bool(step_excess(pi.systems.oscillator, "velocity_verlet", 1.9) < 0)
    True
    """
    method = find_method(method)
    if system.dim != 2 or not method.self_starting:
        return step_growth(system, method, dt) - 1
    matrix, failed = _matrix(system, method, dt, 1)
    with np.errstate(all="ignore"):
        (a, b), (c, d) = np.moveaxis(matrix, (-2, -1), (0, 1))
        product = a * d - b * c
        real = (np.abs(a + d) - 1 - product) / 2
        # For an undamped spring D = 1 up to rounding, which must not hide the other condition.
        excess = np.where(product - 1 > GROWING / 100, np.maximum(product - 1, real), real)
    return np.where(failed | np.isnan(excess), np.inf, excess)[()]


def spring_growth(method, stiffness, damping):
    """Largest growth of a damped spring in one step.

    Runge-Kutta: the larger of |R(z)| at the eigenvalues z of the spring times dt, with
    R(z) = 1 + z b (1 - z A)^-1 1. Multistep: the largest root of the characteristic polynomial
    at these z. Other methods: the eigenvalues of the step itself.

    Parameters
    ----------
    method : str or Method
    stiffness, damping : array_like
        k dt^2 / m and b dt / m, which broadcast.

    Returns
    -------
    ndarray
        Of the broadcast shape; the spring explodes if it is larger than 1.

    Raises
    ------
    ValueError
        Damping, with a method whose force must not depend on the velocity.

    References
    ----------
    Hairer, Wanner (1996), Solving Ordinary Differential Equations II, IV.2-3.

    Examples
    --------
    >>> print(f"{spring_growth('semi_implicit_euler', 4.01, 0.0):.3f}")  # stable up to 4
    1.105
    """
    method = find_method(method)
    shape = np.broadcast_shapes(np.shape(stiffness), np.shape(damping))
    stiffness, damping = (np.broadcast_to(a, shape or (1,)) for a in (stiffness, damping))
    if method.velocity_free:
        if np.any(damping):
            raise ValueError(
                f"damping must be 0: method {method.name!r} is for forces that do not depend on"
                " the velocity"
            )
        return _undamped(method, stiffness).reshape(shape)[()]
    root = np.sqrt(damping.astype(complex) ** 2 / 4 - stiffness)
    z = -damping / 2 + root
    if method.family == "multistep":
        found = multistep_stability.growth(method, z)
        real = root.imag == 0  # else the other eigenvalue is the mirror image
        found[real] = np.maximum(found, multistep_stability.growth(method, z - 2 * root))[real]
        return found.reshape(shape)[()]
    if method.family in ("explicit_rk", "implicit_rk", "rosenbrock"):
        z = np.stack([z, z - 2 * root])
        return np.abs(amplification(method, z)).max(axis=0).reshape(shape)[()]
    spring = systems["spring"](k=stiffness, b=damping, m=1.0)
    return step_growth(spring, method, 1.0).reshape(shape)[()]


def _undamped(method, stiffness):
    if method.family == "multistep":
        return multistep_stability.growth(method, stiffness)
    rows = [[np.polyval([float(c) for c in reversed(p)], stiffness) for p in row]
            for row in stability.nystrom_step(method)]  # fmt: skip
    return _spectral_radius(np.moveaxis(np.array(rows), (0, 1), (-2, -1)))


def amplification(method, z):
    """Stability function R(z) of a Runge-Kutta or Rosenbrock method: a step of y' = z / dt y.

    Parameters
    ----------
    method : Method
        With a table A, b (and the inverse of gamma).
    z : array_like of complex

    Returns
    -------
    ndarray of complex
        Of the shape of z.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> print(f"{amplification(pi.methods['midpoint'], -1.0).real:.3f}")  # 1 + z + z^2/2
    0.500
    """
    z = np.asarray(z, dtype=complex)
    A, b = (np.asarray(method.coefficients[name], dtype=float) for name in "Ab")
    if method.family == "rosenbrock":  # alpha + gamma, and the weights of slopes
        gamma = np.linalg.inv(np.asarray(method.coefficients["inverse"]))
        A, b = A @ gamma + gamma, b @ gamma
    with np.errstate(all="ignore"):
        if not np.any(np.triu(A)):  # explicit: a polynomial
            R, k, power = np.ones_like(z), np.ones(len(b)), np.ones_like(z)
            for _ in b:
                power = power * z
                R = R + (b @ k) * power
                k = A @ k
            return R
        matrix = np.eye(len(b)) - z[..., np.newaxis, np.newaxis] * A
        poles = np.linalg.det(matrix) == 0
        matrix[poles] = np.eye(len(b))
        stages = np.linalg.solve(matrix, np.ones((*z.shape, len(b), 1)))
        return np.where(poles, np.inf, 1 + z * (stages[..., 0] @ b))


def tolerance(method):
    """Growth in a step that exceeds rounding and the errors of implicit solvers.

    Double roots on the unit circle, as in symmetric methods and in all methods for second
    derivatives, move by the square root of rounding.
    """
    if method.family == "multistep" and (method.symmetric or method.derivative == 2):
        return MEETING
    return SOLVED if method.implicit else GROWING


# ---- the matrix of a step ------------------------------------------------------------------------


def _matrix(system, method, dt, n_steps):
    """Matrix of several steps (*batch, dim, dim), and where they failed."""
    batch = np.broadcast_shapes(np.shape(dt), *system.batch_shapes.values())
    unit = np.eye(system.dim).reshape(system.dim, *(1,) * len(batch), system.dim)
    options = {"dt": dt, "n_steps": n_steps, "method": method, "save": "final"}
    solution = integrate(system, unit, **options, on_failure="ignore")
    failed = np.any(solution.status != 0, axis=0)
    return np.moveaxis(solution.final, 0, -1).astype(float), failed


def _spectral_radius(matrix):
    """Largest absolute value of the eigenvalues of (..., n, n)."""
    with np.errstate(all="ignore"):
        if matrix.shape[-1] == 2:  # exact on the unit circle, where a general solver rounds
            half = (matrix[..., 0, 0] + matrix[..., 1, 1]) / 2
            product = matrix[..., 0, 0] * matrix[..., 1, 1] - matrix[..., 0, 1] * matrix[..., 1, 0]
            inside = half**2 - product
            real = np.abs(half) + np.sqrt(np.maximum(inside, 0))
            return np.where(inside < 0, np.sqrt(np.abs(product)), real)
        return np.abs(np.linalg.eigvals(matrix)).max(axis=-1)
