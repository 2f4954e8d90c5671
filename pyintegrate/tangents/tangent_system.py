"""A system and directions as one System: its force is that of the system and its derivative.

If M is a step of a method on x' = f(x), the same method on x' = f(x), d' = f'(x) d makes the step
(x, d) -> (M(x), M'(x) d), because every method consists of linear operations and evaluations of the
force: the tangents are exactly the derivative of the discrete motion, symplectic if the method
is. A parameter p among the directions adds df/dp to d'.

References
----------
Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, VI.2 (lemma 4.1: the diagram
commutes). Skokos (2010), Lect. Notes Phys. 790, 63-135.
"""

from functools import lru_cache
from itertools import chain, islice

from ..errors import warn_caller
from ..trace.borders import turns
from ..trace.derivative import directional, forward
from ..trace.errors import TraceError
from ..trace.graph import MOST_NODES, PARAMETER, POSITION, VELOCITY, Graph, below, placed
from ..trace.tracing import Traced
from ..user_system.own_system import OwnSystem
from ..user_system.traced import TracedSystem
from ..values.checks import MOST_COMPONENTS, integer
from ..values.parameters import elements_of
from .directions import Directions, described, places_of
from .formulas import FORCES, built_in_force

# Where these turn, or jump, the derivative is that of the branch taken.
_CORNERS = {"where", "absolute", "minimum", "maximum", "sign", "copysign", "floor", "rint",
            "fmod"}  # fmt: skip
_ENTRIES = 32  # components up to which products with the Jacobian are tried as well


class TangentSystem(Directions, TracedSystem):
    """A System of a motion and its tangents; made by ``System.tangent``."""


def tangent(system, k, parameters=()):
    """See ``System.tangent``."""
    if isinstance(system, Directions):
        raise ValueError(f"{system.name} has tangents already: take those of its base")
    k = integer("k", k, 0)
    elements = elements_of(system, parameters)
    n = k + len(elements)
    if n == 0:
        raise ValueError("k must be at least 1 where no parameters are named, got 0")
    if system.dim * (1 + n) > MOST_COMPONENTS:
        raise ValueError(
            f"{n} tangents of {system.dim} components are {system.dim * (1 + n)} with the state,"
            f" and a system has at most {MOST_COMPONENTS}: take fewer directions at a time"
        )
    if system.structure == "rigid_body":
        raise ValueError(
            f"{system.name!r} moves rigid bodies: a rotation is no vector, and its rules of motion"
            " have no tangents here; write the equations of the angles with @pi.acceleration"
        )
    traced = force_of(system)
    if traced is None:
        from .differences import by_differences

        return by_differences(system, k, elements)
    _tell_of_corners(system, traced, elements)
    try:
        made = _smaller(traced, k, tuple(elements))
    except TraceError:
        raise ValueError(
            f"{n} tangents of {system.name!r} take more than {MOST_NODES} operations: take fewer"
            " directions at a time"
        ) from None
    definition = described(
        system,
        k,
        elements,
        traced=made,
        velocity_dependent=bool(system.dof and made.velocity_dependent),
        time_dependent=made.time_dependent,
        frozen=system.definition.frozen,
        interpretation=system.definition.interpretation,
    )
    made.program().handle  # noqa: B018  (the verifier agrees)
    kind = TangentSystem if system.noise is None else system.with_tangents
    return kind(definition, system.params)


def force_of(system):
    """The operations of a system's force, as a Traced; None if it is not a formula."""
    if isinstance(system, OwnSystem):
        return system.traced
    if system.name in FORCES:
        return built_in_force(system)
    raise ValueError(f"{system.name!r} has no formula to differentiate")


def _tell_of_corners(system, traced, elements):
    """Warn if a derivative is that of the branch taken, in a user-defined force."""
    moving = POSITION | VELOCITY | (PARAMETER if elements else 0)
    outputs = [n for q, nodes in traced.outputs.items() if q != "energy" for n in nodes]
    found = set()
    for node in below(outputs):
        chosen = node.arguments[:1] if node.operation == "where" else node.arguments
        cut = node.operation == "arctan2" and not turns(node, outputs)  # at half a turn
        if (cut or node.operation in _CORNERS) and any(a.depends & moving for a in chosen):
            found.add(node.operation)
    if found:
        warn_caller(
            f"the force of {system.name!r} turns or jumps ({', '.join(sorted(found))}): its"
            " tangents are the derivative of the branch taken, and miss the jump itself"
        )


# ---- the force -----------------------------------------------------------------------------------
@lru_cache(8)
def _smaller(traced, k, elements):
    """A Traced with its tangents, by propagation or by entries of the Jacobian, as is smaller."""
    made = traced_with_tangents(traced, k, elements, directional)
    if traced.graph.dim > _ENTRIES:
        return made
    other = traced_with_tangents(traced, k, elements, _by_entries)
    return other if len(other.graph.nodes) < len(made.graph.nodes) else made


def traced_with_tangents(traced, k, elements, derivatives):
    """A Traced, and its derivatives along k vectors and along elements of parameters."""
    n, base = k + len(elements), traced.graph
    graph = Graph(base.dim * (1 + n), base.dof * (1 + n))
    places = places_of(base.dim, base.dof, n)
    made, seeds = widened(graph, places, [*chain(*traced.outputs.values())], k, elements)
    made = iter(made)
    kept = {question: [*islice(made, len(nodes))] for question, nodes in traced.outputs.items()}
    for question in ("rhs", "acceleration", "velocity"):
        if question in kept:
            force = kept[question]
            own = places_of(len(force), 0, n)
            kept[question] = laid_out(own, force, derivatives(force, seeds))
    if "diffusion" in kept:
        g, m = kept["diffusion"], len(kept["diffusion"]) // base.dim
        changes = derivatives(g, seeds)
        columns = [laid_out(places, g[i::m], changes[i::m]) for i in range(m)]
        kept["diffusion"] = [*chain(*zip(*columns))]
        kept = {question: kept[question] for question in kept if question not in ("force", "bath")}
    made = Traced(graph, kept, traced.n_params).without_dead_code()
    made.graph.tangents = n
    return made


def widened(graph, places, nodes, k, elements):
    """Nodes of a graph without tangents in one with them, and the change of each leaf."""
    dim = len(places)

    def state(i):  # past the state: the numbers of a step with noise
        return graph.state(places[i, 0] if i < dim else i - dim + places.size)

    made = placed(graph, nodes, state)
    seeds = {
        state(i).number: dict(enumerate(map(graph.state, row[1:]))) for i, row in enumerate(places)
    }
    for j, (_, row) in enumerate(elements, k):
        seeds[graph.parameter(row).number] = {j: graph.constant(1.0)}
    return made, seeds


def laid_out(places, nodes, changes):
    """Components and their changes along each direction, in the order of the state."""
    zero, directions = nodes[0].graph.constant(0.0), range(places.shape[1] - 1)
    flat = []
    for node, change in zip(nodes, changes):
        flat += [node, *(change.get(j, zero) for j in directions)]
    return [flat[i] for i in places.ravel().argsort()]


def _by_entries(nodes, seeds):
    """Each partial derivative times the change of its variable."""
    variables = [nodes[0].graph.nodes[number] for number in seeds]
    found = []
    for entries in forward(nodes, variables):
        change = {}
        for number, entry in entries.items():
            for j, seed in seeds[number].items():
                term = entry * seed
                change[j] = change[j] + term if j in change else term
        found.append(change)
    return found
