"""Methods for equations with noise: each is the formula of one step, traced with the system.

A formula takes a ``Step`` (pyintegrate/stochastic/step.py) and returns the components of the next
state.
"""

from functools import partial, reduce
from operator import add

from .. import _core
from ..values.types import Any
from .method import Method

KINDS = ("additive", "diagonal", "commutative", "general")  # each is a case of the next


class StochasticMethod(Method):
    """A method for systems with noise: ``pi.sde`` and ``pi.langevin``.

    Attributes
    ----------
    strong_order, weak_order : float, int
        Of the error of single paths, and of expectations; `order` is the weak order. strong_order
        is None for a method of weak order only, which takes no ``substeps``.
    stationary_order : int or None
        Of expectations over the stationary law, where that is higher.
    noise : {"additive", "diagonal", "commutative", "general"}
        The most general noise for which it has these orders.
    interpretation : {"ito", "stratonovich"}
        The calculus in which it converges; equations in the other one are converted.
    langevin : bool
        Whether it takes a ``pi.langevin`` system and its damping exactly.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.methods["milstein"].strong_order, pi.methods["milstein"].noise
    (1.0, 'commutative')
    """

    strong_order: float | None
    weak_order: int
    stationary_order: int | None = None
    noise: str
    interpretation: str = "ito"
    langevin: bool = False
    step: Any  # the formula

    def __init__(self, step, *, evaluations, weak_order, **properties):
        name = step.__name__
        super().__init__(
            name=name, family="noise", order=weak_order, weak_order=weak_order, stages=1,
            evaluations=evaluations, symplectic=False, symmetric=False, coefficients={},
            handle=_core.make_method("noise", 1, evaluations, ()), written={}, step=step,
            made_by=(stochastic_method, (name,)), **properties,
        )  # fmt: skip


METHODS: dict[str, StochasticMethod] = {}


def stochastic_method(name):
    """The method for noise of this name: for pickles and files."""
    return METHODS[name]


def _method(**properties):
    def add(step):
        METHODS[step.__name__] = StochasticMethod(step, **properties)
        return step

    return add


class Components(tuple):
    """Components of a state, or numbers of the noises: a vector; those that are None are zero."""

    __array_ufunc__ = None  # a symbol leaves its products with them to this class

    def __add__(self, other):
        return Components(b if a is None else a if b is None else a + b
                          for a, b in zip(self, other))  # fmt: skip

    def __rmul__(self, factor):
        return Components(None if x is None else factor * x for x in self)

    def __truediv__(self, divisor):
        return Components(x / divisor for x in self)


# ---- strong order 1/2 and 1 ----------------------------------------------------------------------
@_method(strong_order=0.5, weak_order=1, noise="general", evaluations=1, title="Euler-Maruyama",
         formula="y += h f + g dW",
         reference="Maruyama (1955), Rend. Circ. Mat. Palermo 4, 48-90")  # fmt: skip
def euler_maruyama(s):
    return s.y + s.h * s.drift() + s.kick(s.dW)


@_method(strong_order=1.0, weak_order=1, noise="commutative", evaluations=1, title="Milstein",
         formula="y += h f + g dW + sum_jk L^j g_k (dW_j dW_k - delta_jk h) / 2",
         reference="Milstein (1974), Teor. Veroyatnost. i Primenen. 19, 583-588")  # fmt: skip
def milstein(s):
    y = euler_maruyama(s)
    for j, k, change in s.changes():
        square = s.dW[j] * s.dW[k]
        y += (square if j != k else 0.5 * (square - s.h)) * change
    return y


@_method(strong_order=1.0, weak_order=1, noise="commutative", evaluations=2,
         interpretation="stratonovich", title="Heun for Stratonovich equations",
         formula="Y = y + h f + g dW;  y += h (f + f(Y)) / 2 + (g + g(Y)) dW / 2",
         reference="Rumelin (1982), SIAM J. Numer. Anal. 19, 604-613")  # fmt: skip
def heun_stratonovich(s):
    f, kick, half = s.drift(), s.kick(s.dW), 0.5 * s.h
    there = s.y + s.h * f + kick
    return s.y + half * (f + s.drift(there, 1.0)) + 0.5 * (kick + s.kick(s.dW, there, 1.0))


# ---- strong order 1.5 ----------------------------------------------------------------------------
# The numbers are those of Rossler's tables 6.1 and 6.3.
_of_rossler = partial(
    _method, strong_order=1.5, weak_order=2,
    reference="Rossler (2010), SIAM J. Numer. Anal. 48, 922-952",
)  # fmt: skip
_BETA = (
    (-1, -1, 2, -2),
    (4 / 3, 4 / 3, -4 / 3, 5 / 3),
    (2 / 3, -1 / 3, -2 / 3, -2 / 3),
    (0, 0, 0, 1),
)


@_of_rossler(noise="additive", evaluations=2, title="SRA1 of Rossler",
             formula="H = y + 3/4 h f + 3/2 g(t + h) I10 / h;"
             "  y += h (f + 2 f(H)) / 3 + g(t + h) dW - (g(t + h) - g) I10 / h")  # fmt: skip
def sra1(s):
    mean, f = s.I10 / s.h, s.drift()
    H = s.y + 3 / 4 * s.h * f + 3 / 2 * s.kick(mean, None, 1.0)
    y = s.y + 1 / 3 * s.h * f + 2 / 3 * s.h * s.drift(H, 3 / 4)
    return y + s.kick(s.dW + -1.0 * mean, None, 1.0) + s.kick(mean)


@_of_rossler(noise="additive", evaluations=3, title="SRA3 of Rossler",
             formula="H2 = y + h f;  H3 = y + h (f + f(H2)) / 4 + (g(t + h) + g / 2) I10 / h;"
             "  y += h (f + f(H2) + 4 f(H3)) / 6 + g(t + h) dW"
             " - (g(t + h) - g) I10 / h")  # fmt: skip
def sra3(s):
    mean, f, sixth = s.I10 / s.h, s.drift(), 1 / 6 * s.h
    late, early = s.kick(mean, None, 1.0), s.kick(mean)
    both = f + s.drift(s.y + s.h * f, 1.0)
    H3 = s.y + 1 / 4 * s.h * both + late + 1 / 2 * early
    y = s.y + sixth * both + 4.0 * sixth * s.drift(H3, 1 / 2)
    return y + s.kick(s.dW, None, 1.0) + -1.0 * late + early


@_of_rossler(noise="diagonal", evaluations=2, title="SRIW1 of Rossler",
             formula="four stages of g, two of f")  # fmt: skip
def sriw1(s):
    h, root, f1 = s.h, s.root_h, s.drift()
    integrals = (
        s.dW,
        Components(0.5 * (w * w - h) / root for w in s.dW),  # I11 / sqrt(h)
        s.I10 / h,
        Components(w * (w * w - 3.0 * h) / (6.0 * h) for w in s.dW),  # I111 / h
    )

    def g(weight, c, *others):
        """numbers -> their product with g at y + weight h f + sqrt(h) sum w g of other stages."""
        ones = [root] * len(s.dW)
        y = sum((w * k(ones) for w, k in others), s.y + weight * h * f1)
        return lambda numbers: s.kick(numbers, y, c)

    g1 = s.kick
    H = s.y + 3 / 4 * h * f1 + 3 / 2 * g1(integrals[2])
    g2 = g(1 / 4, 1 / 4, (1 / 2, g1))
    g3 = g(1.0, 1.0, (-1.0, g1))
    g4 = g(1 / 4, 1 / 4, (-5.0, g1), (3.0, g2), (1 / 2, g3))
    kicks = (
        k(reduce(add, (w * one for w, one in zip(row, integrals) if w)))
        for k, row in zip((g1, g2, g3, g4), _BETA)
    )
    return sum(kicks, s.y + 1 / 3 * h * f1 + 2 / 3 * h * s.drift(H, 3 / 4))


# ---- weak order 2 --------------------------------------------------------------------------------
@_method(strong_order=None, weak_order=2, noise="general", evaluations=2, title="RI6 of Rossler",
         formula="five stages of g for each noise, two of f; normals in place of numbers of three"
         " points, with the same moments to the fifth",
         reference="Rossler (2009), SIAM J. Numer. Anal. 47, 1713-1738")  # fmt: skip
def ri6(s):
    h, root, f, W, signs = s.h, s.root_h, s.drift(), s.dW, s.signs
    each = range(len(W))
    g = [s.column(k) for k in each]
    late = s.y + h * f
    y = s.y + 0.5 * h * (f + s.drift(late + s.kick(W), 1.0))

    def either_way(k, start, step, c):
        """g_k at start + step and at start - step: their sum, and their difference."""
        up, down = (s.column(k, start + sign * step, c) for sign in (1.0, -1.0))
        return up + down, up + -1.0 * down

    for k in each:
        double, slope = either_way(k, late, root * g[k], 1.0)
        y += 0.25 * W[k] * double
        y += 0.25 * (W[k] * W[k] - h) / root * slope
        # 2 I(k, l) / sqrt(h)
        mixed = {i: (W[k] * W[i] + h * (-signs[k] if k < i else signs[i])) / root
                 for i in each if i != k}  # fmt: skip
        double = 2.0 * g[k]
        if mixed:
            others = reduce(add, (0.5 * pair * g[i] for i, pair in mixed.items()))
            double, slope = either_way(k, s.y, others, 0.0)
            y += 0.5 * root * slope
        y += 0.25 * W[k] * double
    return y


# ---- Langevin equations --------------------------------------------------------------------------
_langevin = partial(
    _method, strong_order=1.0, weak_order=2, noise="additive", evaluations=2, langevin=True
)


@_langevin(title="BAOAB: half a kick, half a drift, friction and noise, and back",
           formula="v += h a / 2;  x += h v / 2;  v = c v + sqrt((1 - c^2) kT / m) R,"
           " c = exp(-friction h);  x += h v / 2;  v += h a(x) / 2",
           reference="Leimkuhler, Matthews (2013), Appl. Math. Res. Express 2013, 34-56",
           )  # fmt: skip
def baoab(s):
    half = 0.5 * s.h
    v = s.v + half * s.force(s.x, s.v)
    x = s.x + half * v
    v = s.bath(v, s.h, s.Z)
    x += half * v
    return [*x, *(v + half * s.force(x, v, 1.0))]


@_langevin(title="OBABO: friction and noise in two halves about a step of velocity Verlet",
           formula="v = c v + sqrt((1 - c^2) kT / m) R, c = exp(-friction h / 2);  v += h a / 2;"
           "  x += h v;  v += h a(x) / 2;  v = c v + sqrt((1 - c^2) kT / m) R'",
           reference="Bussi, Parrinello (2007), Phys. Rev. E 75, 056707")  # fmt: skip
def obabo(s):
    half = 0.5 * s.h
    v = s.bath(s.v, half, s.halves[0])
    v += half * s.force(s.x, v)
    x = s.x + s.h * v
    return [*x, *s.bath(v + half * s.force(x, v, 1.0), half, s.halves[1])]


@_langevin(title="Gronbech-Jensen and Farago",
           formula="x += b h v + b h^2 a / 2 + b h B / 2;  v = A v + h (A a + a(x)) / 2 + b B,"
           "  b = 1 / (1 + friction h / 2), A = (1 - friction h / 2) b,"
           " B = sqrt(2 friction kT h / m) R",
           reference="Gronbech-Jensen, Farago (2013), Mol. Phys. 111, 983-991")  # fmt: skip
def gjf(s):
    damped = 0.5 * (s.friction * s.h)
    b = 1.0 / (1.0 + damped)
    A = (1.0 - damped) * b
    a, push = s.force(s.x, s.v), Components(s.kick(s.dW)[len(s.x) :])
    x = s.x + b * s.h * s.v + 0.5 * b * s.h * s.h * a + 0.5 * b * s.h * push
    v = A * s.v + 0.5 * s.h * A * a + b * push
    return [*x, *(v + 0.5 * s.h * s.force(x, v, 1.0))]


@_method(strong_order=0.5, weak_order=1, stationary_order=2, noise="additive", evaluations=1,
         title="the overdamped limit of BAOAB: mean of two steps' noise",
         formula="y += h f + g (dW + dW of the next step) / 2: of weak order 2 for the stationary"
         " law of constant g",
         reference="Leimkuhler, Matthews (2013), Appl. Math. Res. Express 2013, 34-56")  # fmt: skip
def brownian_baoab(s):
    return s.y + s.h * s.drift() + s.kick(0.5 * (s.dW + s.next_dW))
