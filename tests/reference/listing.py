"""Byte code as readable assembly."""

from pyintegrate.trace.graph import OPERATIONS
from pyintegrate.trace.program import BANK_SHIFT, CONSTANT, OUT, QUESTIONS, P, T, V, Y

NAMES = list(OPERATIONS)


def listing(program, state, params):
    """A line for each instruction, in the names of components and parameters."""
    dof, n_params = program.sizes[1:3]

    def name(word):
        bank, number = divmod(int(word), 1 << BANK_SHIFT)
        if bank == P:
            return params[number] if number < n_params else f"d{number - n_params}"
        if bank in (Y, V):
            return state[number + (dof if bank == V else 0)]
        if bank == CONSTANT:
            return repr(float(program.constants[number]))
        return "t" if bank == T else f"{'out' if bank == OUT else 'r'}{number}"

    lines = []
    for i in sorted(range(len(QUESTIONS)), key=lambda i: program.sections[i][0]):
        first, last = program.sections[i]
        if first < 0:
            continue
        lines.append(f"{QUESTIONS[i]}:")
        for operation, target, *arguments in program.code[first:last]:
            used = arguments[: OPERATIONS[NAMES[operation]][1]]
            inside = ", ".join(name(word) for word in used)
            lines.append(f"    {name(target):6} = {NAMES[operation]:22} {inside}")
    return "\n".join(lines)
