"""The automatic choice of a pair by the tolerance."""

from functools import cache

import numpy as np

from ..method.catalogue import methods
from .decay import STIFF, border

# Verner's pairs of order 8 and 9 need the fewest operations on smooth, eccentric and chaotic
# problems from 1e-3 to 1e-12; the Nystrom pairs of order 8 and 12, where they apply, fewer still.
# At these tolerances their costs are equal (docs/tolerance.md).
_TIGHT, _NYSTROM_TIGHT = 1e-8, 1e-5


def automatic_pairs(system):
    """Two pairs, and the rtol below which "auto" takes the second.

    Verner's efficient 8(7) and 9(8) pairs; the first at no rtol if the force may have a steep place
    that its estimate misses. On x'' = a(t, x) the Nystrom pairs of Dormand, El-Mikkawy and Prince,
    8(6) and 12(10).
    """
    if system.structure == "second_order" and not system.velocity_dependent:
        return methods["dormand_prince_rkn86"], methods["dormand_prince_rkn1210"], _NYSTROM_TIGHT
    return methods["verner87"], methods["verner98"], _TIGHT if system.gentle else np.inf


def pairs_of(problem, control):
    """The pairs that a run begins with, each with a mask over the lanes: "auto" may have two."""
    if control.loose is None:
        return [(problem.method, np.ones(problem.lanes, bool))]
    loose, tight, _ = automatic_pairs(problem.system)
    return [(loose, control.loose), (tight, ~control.loose)]


def implicit_method():
    """The method for trajectories that turn out to be stiff: Radau IIA of order 5."""
    return methods["radau_iia5"]


_CALM = 0.5  # of the limit


@cache
def leaving_rate(pair, method):
    """The h |lambda| at which a trajectory leaves to the other method; 0 if none does.

    A trajectory leaves the pair if its fastest decay is at least this, and the implicit method if
    all its rates are below. Motions of x'' = a(t, x) grow as fast as they decay, if they do: these
    are not stiff.
    """
    if pair.family == "nystrom":
        return 0.0
    return (STIFF if method is pair else _CALM) * border(pair)


def with_estimates():
    """The names of the methods with an error estimate, in words: explicit, then others."""
    names = [name for name in methods if methods[name].embedded]
    implicit = [name for name in names if methods[name].implicit]
    nystrom = [name for name in names if methods[name].family == "nystrom"]
    explicit = [name for name in names if name not in (*implicit, *nystrom)]
    return (
        f"{', '.join(explicit)}; on x'' = a(t, x) {', '.join(nystrom)}; for stiff problems"
        f" {', '.join(implicit)}"
    )
