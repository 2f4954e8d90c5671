"""A graph as readable formulas."""

from .graph import below
from .program import count_uses

_INFIX = {
    "add": (1, "{} + {}"),
    "subtract": (1, "{} - {}"),
    "multiply": (2, "{} {}"),
    "divide": (2, "{}/{}"),
    "less": (0, "{} < {}"),
    "less_equal": (0, "{} <= {}"),
    "equal": (0, "{} = {}"),
    "not_equal": (0, "{} != {}"),
    "logical_and": (-1, "{} and {}"),
    "logical_or": (-1, "{} or {}"),
    "logical_xor": (-1, "{} xor {}"),
}
_MOST_LINES = 24
_WORTH_A_NAME = 2  # operations in a shared part


def formulas(outputs, names, state_names, param_names):
    """Lines such as "v' = -k x - b v"; repeated parts get names below.

    Parameters
    ----------
    outputs : list of Node
    names : list of str
        Left-hand sides.

    Returns
    -------
    list of str
    """
    needed = below(outputs)
    uses = count_uses(outputs, *(node.arguments for node in needed))
    text = {}
    cost: dict[int, int] = {}
    shared, leaves = [], {"state": state_names, "parameter": param_names, "time": {None: "t"}}
    for node in needed:
        number = node.number
        cost[number] = bool(node.arguments) + sum(cost[a.number] for a in node.arguments)
        level, line = _one(node, text, leaves)
        if uses[number] > 1 and cost[number] >= _WORTH_A_NAME or len(line) > 120:
            shared.append(f"r{len(shared) + 1} = {line}")
            level, line = 3, f"r{len(shared)}"
        text[number] = (level, line)
    lines = [f"{name} = {text[node.number][1]}" for name, node in zip(names, outputs)]
    lines += shared
    return lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], "..."]


def _one(node, text, leaves):
    """(binding strength, text) of a node."""
    operation = node.operation
    if operation == "constant":
        return (3 if node.value >= 0 else 1), f"{node.value:.12g}"
    if operation in leaves:
        return 3, leaves[operation][node.value]
    inside = [text[a.number] for a in node.arguments]
    if operation == "negative":
        return 1, f"-{_bracket(inside[0], 2)}"
    if operation == "multiply" and (negative := _negative_factor(node)) is not None:
        other = node.arguments[1 - negative]
        factor = node.arguments[negative]
        if factor.is_constant:
            left = "" if factor.value == -1 else f"{-factor.value:.12g} "
        else:
            left = _bracket(text[factor.arguments[0].number], 2) + " "
        return 1, f"-{left}{_bracket(text[other.number], 2)}"
    if operation in _INFIX:
        level, pattern = _INFIX[operation]
        strict = operation in ("subtract", "divide") or level <= 0
        left = _bracket(inside[0], level)
        right = _bracket(inside[1], level + strict)
        if operation == "multiply" and node.arguments[0] is node.arguments[1]:
            return 3, f"{_bracket(inside[0], 3)}^2"
        if operation == "multiply" and right[:1].isdigit():
            left, right = right, left
        return level, pattern.format(left, right)
    return 3, f"{operation}({', '.join(part for _, part in inside)})"


def _negative_factor(node):
    """Which argument of a product is a negative number or a change of sign, or None."""
    for i, a in enumerate(node.arguments):
        if a.operation == "negative" or (a.is_constant and a.value < 0):
            return i
    return None


def _bracket(part, level):
    strength, line = part
    return f"({line})" if strength < level else line
