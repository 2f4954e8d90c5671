"""A traced system as C: one file like those of csrc/systems, with the operations of its byte code.

Each instruction is a line, in the same order, so that the compiled kernels give the same bits.
"""

import re

import numpy as np

from .. import _core
from .program import BANK_SHIFT, CONSTANT, QUESTIONS, SCRATCH, P, T, V, Y

_LIMITS = _core.limits
KERNEL_COMPONENTS, KERNEL_PARAMETERS = _LIMITS["kernel_components"], _LIMITS["kernel_parameters"]
_OPERATIONS = _core.operations
_HEAVY = 16  # cost of a force above which specialised kernels gain nothing
_COSTS = {"divide": 4, "sqrt": 4}
# The questions, and the arrays that hold their answers (csrc/tiles.h).
_ANSWERS = {"prepare": "p", "rhs": "dydt", "acceleration": "a", "velocity": "v", "energy": "",
            "next": "dydt", "invariants": "values", "jacobian": "J"}  # fmt: skip
_LONG = 4  # cost of an operation above which only many registers hide its latency


def check_size(system, program):
    """Refuse what does not fit the registers of a kernel.

    Raises
    ------
    ValueError
    """
    dim, _, n_params, n_derived = program.sizes[:4]
    most = KERNEL_PARAMETERS * (4 if program.has("next") else 1)
    if max(dim, program.noises) > KERNEL_COMPONENTS or n_params + n_derived > most:
        raise ValueError(
            f"{system.name} has {dim} components and {n_params + n_derived} parameters ({n_derived}"
            f" of them derived from others): a compiled kernel holds {KERNEL_COMPONENTS} and"
            f" {most}; the byte code has no such limit"
        )


def source(system, program):
    """The file, as text; ``csrc/kernels/instances.h`` reads it instead of ``contents.h``.

    Parameters
    ----------
    system : TracedSystem
    program : Program

    Returns
    -------
    str
    """
    dim, dof, n_params, n_derived = program.sizes[:4]
    functions, members, cost, longest = [], [], 0, 0
    for question in _ANSWERS:
        if program.has(question):
            body, costs = _body(program, question, system.structure)
            functions.append(f"{question.upper()}(own) {{\n{body}}}\n")
            members.append(f".{question} = own_{question}")
            if question in ("rhs", "acceleration"):
                cost, longest = cost + sum(costs), max(longest, *costs, 0)
    if longest >= _LONG:
        members.append(".long_chain = 1")
    title = re.sub(r"[^ -~]", "?", system.name)
    structure = {"first_order": "PI_FIRST_ORDER", "separable": "PI_SEPARABLE"}
    noisy = program.has("next")  # its steps are on rows, and of first order
    order = structure.get("first_order" if noisy else system.structure, "PI_SECOND_ORDER")
    scales = _core.scales(program.handle)
    kind = "COMPACT_SYSTEM" if cost > _HEAVY else "SYSTEM"
    flags = {
        "noises": program.noises,
        "second": program.second,
        "tangents": program.tangents,
        "velocity_dependent": system.velocity_dependent,
        "time_dependent": system.definition.time_dependent,
    }
    return (
        f"/* {title.replace('*/', '* /')}, written by pyintegrate: the operations of its byte code"
        " in the same order. */\n"
        "#ifndef OWN_H\n#define OWN_H\n"
        + "#define PI_ROWS_ONLY\n" * noisy
        + "\n".join(functions)
        + "#endif\n"
        '#include "methods/rk4.h"\n#include "methods/tsitouras54.h"\n'
        '#include "methods/semi_implicit_euler.h"\n#include "methods/velocity_verlet.h"\n'
        f"{kind}(own, MATHEMATICS({', '.join(members)}),\n"
        f'       .title = "", .equation = "", .reference = "",\n'
        f"       .structure = {order}, .dim = {dim},"
        f" .dof = {dof},\n       "
        + ", ".join(f".{name} = {int(value)}" for name, value in flags.items())
        + f",\n       .scale = {{{', '.join(map(str, scales))}}},"
        + f" .n_params = {n_params}, .n_derived = {n_derived},\n"
        f"       .n_invariants = {program.sizes[4]})\n"
    )


def _constant(value):
    """A literal that is rounded once, to either precision."""
    if np.isnan(value):
        return "vset((real)NAN)"
    if np.isinf(value):
        return f"vset({'-' if value < 0 else ''}(real)INFINITY)"
    return f"vset(REAL({float(value).hex()}))"


def _body(program, question, structure):
    """The lines of a function, and the cost of each operation in additions."""
    dim, dof = program.sizes[:2]
    first, last = program.sections[QUESTIONS.index(question)]
    names = {}  # the variable of a register, a result or a derived parameter
    lines, answers, costs = [], {}, []
    halves = question in ("acceleration", "velocity")
    letters = {Y: "x" if halves else "y", V: "momentum" if question == "velocity" else "v", P: "p"}

    def operand(word):
        bank, number = divmod(word, 1 << BANK_SHIFT)
        if word in names:
            return names[word]
        if bank == CONSTANT:
            return _constant(program.constants[number])
        if bank == V and not halves:
            return f"y[{(dof or dim) + number}]"
        return "t" if bank == T else f"{letters[bank]}[{number}]"

    for k, row in enumerate(program.code[first:last].tolist()):
        name, arity, text = _OPERATIONS[row[0]]
        inputs = dict(zip("abcd", map(operand, row[2 : 2 + arity])))
        text = "".join(inputs.get(part, str(part)) for part in re.split(r"\b([abcd])\b", text))
        lines.append(f"    const vreal n{k} = {text};\n")
        names[row[1]] = f"n{k}"
        slow = re.search(r"v(sin|cos|tan|a|exp|log|pow)", text)
        costs.append(_COSTS.get(name, 10 if slow else 1))
        bank, number = divmod(row[1], 1 << BANK_SHIFT)
        if bank != SCRATCH:
            answers[number] = f"n{k}"
    lines += [_answer(question, *answer, dim, dof, structure) for answer in answers.items()]
    return "".join(lines), costs


def _answer(question, number, name, dim, dof, structure):
    """The line that stores a result."""
    if question == "energy":
        return f"    return {name};\n"
    if question != "jacobian":
        return f"    {_ANSWERS[question]}[{number}] = {name};\n"
    i, k = divmod(number, dim)
    if structure == "second_order":  # the upper half is known
        i -= dof
    return f"    J[{i}][{k}] = {name};\n" if i >= 0 else ""
