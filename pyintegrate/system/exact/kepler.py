r"""Kepler's problem in the plane.   r'' = -mu r / |r|^3

One formula for every conic, and for mu < 0: from the pericentre, at distance q with angular
momentum h, in the universal variable s, ds = dt / |r|, with beta = 2 mu / |r| - v^2 and
Z = sqrt(mu^2 - beta h^2) (|mu| times the eccentricity),

    t = q s + Z G3,   |r| = q + Z G2,   r = (q - mu G2, h G1),   v = (-mu G1, h G0) / |r|.

G_n(beta, s) = s^n c_n(beta s^2) with Stumpff's functions c_n: G0 = cos(E), G1 = sin(E) /
sqrt(beta), G2 = (1 - G0) / beta and G3 = (s - G1) / beta, where E = sqrt(beta) s is the eccentric
anomaly. The sums for t and |r| have no cancellation, and t grows with s: Kepler's equation always
has one solution. The orientation comes from comparing the initial position with its position in
this frame, which also works on circles, whose pericentre is arbitrary. Radial orbits bounce.

References: Stumpff (1962), Himmelsmechanik I; Stiefel & Scheifele (1971), section 11;
Battin (1987), section 4.5.
"""

from collections import namedtuple

import numpy as np

from ._closed_form import closed_form

_Conic = namedtuple("_Conic", "mu beta h q Z s")  # s: of the initial state


@closed_form
def exact(t, y0, t0, *, mu):
    """Position and velocity at the times `t`.

    Parameters
    ----------
    t, t0 : array_like
        Times, leading axis time, and the initial time.
    y0 : tuple of array_like
        Initial x, y, vx and vy, of the batch shape.
    mu : array_like
        Broadcasts against the batch.

    Returns
    -------
    tuple of ndarray
        x, y, vx and vy, of shape ``(len(t), *batch)``.
    """
    x, y, vx, vy = y0
    conic = _conic(x, y, vx, vy, mu)
    X, Y, _, _ = _perifocal(conic, conic.s)
    distance = np.hypot(x, y) * np.hypot(X, Y)
    cos, sin = (x * X + y * Y) / distance, (y * X - x * Y) / distance

    h = t - t0
    since = conic.q * conic.s + conic.Z * _g3(conic.beta, conic.s)  # the pericentre
    X, Y, VX, VY = _perifocal(conic, _solve_kepler(conic, since + h))
    moved = cos * X - sin * Y, sin * X + cos * Y, cos * VX - sin * VY, sin * VX + cos * VY
    free = x + h * vx, y + h * vy, vx, vy
    return tuple(np.where(mu == 0, f, m) for f, m in zip(free, moved))


@closed_form
def phase(y, t, *, mu):
    """Mean longitude: the mean anomaly plus the direction of the pericentre, along the motion.

    It grows by 2 pi / period on an ellipse, in either sense, and unlike the mean anomaly alone is
    defined on a circle. nan if the orbit is not an ellipse. Has the broadcast shape.
    """
    x, y, vx, vy = y
    r = np.sqrt(x * x + y * y)
    beta = 2 * mu / r - (vx * vx + vy * vy)
    root, h = np.sqrt(beta), x * vy - y * vx
    # The eccentricity times cosine and sine of the eccentric anomaly, then these themselves.
    ec, es = 1 - r * beta / mu, (x * vx + y * vy) * root / mu
    e = np.sqrt(ec * ec + es * es)
    c, s = np.where(e == 0, 1, ec / e), np.where(e == 0, 0, es / e)
    # The true anomaly has the direction (c - e, flat s): it is computed from the same c and s, so
    # that their rounding cancels in E - f on nearly circular orbits. One arctangent of the product
    # of the directions gives E - f plus the polar angle.
    flat = np.abs(h) * root / mu
    re, im = c * (c - e) + flat * s * s, s * (c - e) - flat * s * c
    y = np.where(h < 0, -y, y)
    angle = np.arctan2(im * x + re * y, re * x - im * y) - es
    return np.where(beta > 0, angle, np.nan)


def phase_is_uniform(*, mu):
    """Always."""
    return True


@closed_form
def period(y0, *, mu):
    """Period of an ellipse, inf for the other conics; of the batch shape."""
    x, y, vx, vy = y0
    return _period(_conic(x, y, vx, vy, mu))


def _conic(x, y, vx, vy, mu):
    """The orbit through a state, and where on it the state is."""
    r = np.hypot(x, y)
    beta = 2 * mu / r - (vx * vx + vy * vy)
    h = x * vy - y * vx
    eta = x * vx + y * vy
    root = np.sqrt(np.abs(beta))
    Z = np.where(beta > 0, np.hypot(mu - beta * r, eta * root), np.sqrt(mu * mu - beta * h * h))
    q = np.where(mu > 0, h * h / (mu + Z), (mu - Z) / beta)
    s = np.where(
        beta > 0,
        np.arctan2(eta * root, mu - beta * r) / root,
        np.where(beta < 0, np.arcsinh(eta * root / Z) / root, eta / Z),
    )
    return _Conic(mu, beta, h, q, Z, s)


def _period(conic):
    beta, size = conic.beta, np.abs(conic.beta)
    span = 2 * np.pi * conic.mu / (size * np.sqrt(size))
    return np.where(beta > 0, span, np.where(beta <= 0, np.inf, np.nan))


def _perifocal(conic, s):
    """Position and velocity, the first axis through the pericentre."""
    mu, beta, h, q, Z, _ = conic
    g1, g2 = _g1(beta, s), _g2(beta, s)
    g0 = 1 - beta * g2
    if np.any(beta > 0):
        g0 = np.where(beta > 0, np.cos(np.sqrt(np.abs(beta)) * s), g0)
    r = q + Z * g2
    return q - mu * g2, h * g1, -mu * g1 / r, h * g0 / r


def _solve_kepler(conic, time):
    """The s of a time since the pericentre, by Newton's method on a convex function.

    Between 0 and the apocentre t(s) is convex. The first step from anywhere lands above the root
    (or beyond the apocentre, and is clipped); from there the steps descend to it and cannot
    pass it. The start is the smaller of two bounds that are exact for q = 0 and Z = 0 on a
    parabola; on hyperbolas also sinh E <= 2 (sinh E - E), E > 2.2, since E may be large there.
    """
    mu, beta, _, q, Z, _ = conic
    period = _period(conic)
    turns = np.round(time / period)
    time = time - np.where(turns == 0, 0, turns * period)

    root = np.sqrt(np.abs(beta))
    last = np.where(beta > 0, np.pi, np.fmax(2.2, np.arcsinh(2 * np.abs(time) * root**3 / Z)))
    last = last / root
    s = np.fmin(np.fmin(np.abs(time) / q, np.cbrt(6 * np.abs(time) / Z)), last)
    for _ in range(50):
        step = (q * s + Z * _g3(beta, s) - np.abs(time)) / (q + Z * _g2(beta, s))
        s = np.fmin(s - step, last)
        if not np.any(np.abs(step) > 1e-9 * s):  # the next one would be below rounding
            break
    return np.copysign(s, time)


def _g1(beta, s):
    """G1: sin, or sinh if the orbit is not an ellipse."""
    root = np.sqrt(np.abs(beta))
    if np.all(beta > 0):
        return np.sin(root * s) / root
    sine = np.where(beta > 0, np.sin(root * s), np.sinh(root * s))
    return np.where(beta == 0, s, sine / root)


def _g2(beta, s):
    return 2 * _g1(beta, s / 2) ** 2


def _g3(beta, s):
    """G3 = (s - G1) / beta, by its series where that cancels; terms to z^9 / 21! at |z| = 1."""
    z = beta * s * s
    series = np.ones_like(z)
    for n in range(20, 2, -2):
        series = 1 - z / (n * (n + 1)) * series
    return np.where(np.abs(z) < 1, s**3 / 6 * series, (s - _g1(beta, s)) / beta)
