"""Byte code from a graph: sections of instructions, one for each question.

Values that depend only on parameters are computed once, in the section "prepare". A product used
once, in a sum or difference, is fused with it: one rounding instead of two, so that results agree
with NumPy's to rounding, not to the bit. Then pairs of operations become one instruction, which
changes no bit, and registers are freed at their last use.
"""

from collections import Counter
from functools import cached_property
from itertools import chain

import numpy as np

from .. import _core
from .graph import OPERATIONS

QUESTIONS = tuple(_core.questions)
_LIMITS = _core.limits
SCRATCH, Y, V, P, T, CONSTANT, OUT = (
    _LIMITS["banks"].index(name) for name in ("scratch", "y", "v", "p", "t", "constant", "out")
)
WORDS, BANK_SHIFT = _LIMITS["words"], _LIMITS["bank_shift"]
_NAMES = [name for name, _, _ in _core.operations]
_LETTERS = {SCRATCH: "r", Y: "y", P: "p", OUT: "out"}


class Program:
    """Byte code, as data.

    Attributes
    ----------
    code : ndarray of int32, shape (n, 6)
        Operation, target and four arguments; bank << 24 | number.
    constants : ndarray of float64
    sections : ndarray of int32, shape (len(QUESTIONS), 2)
        First and last instruction of each question; -1 for one that is not answered.
    sizes : tuple of int
        dim, dof, n_params, n_derived, n_invariants, n_registers.
    noises, second, tangents : int
        Of a step with noise; of a system with tangents: see PiSystem in csrc/pyintegrate.h.
    handle : capsule
        The verified program. Made when first needed.

    Raises
    ------
    ValueError
        From ``handle``, if the verifier refuses the code.
    """

    def __init__(self, code, constants, sections, sizes, noises=0, second=0, tangents=0):
        self.code = np.ascontiguousarray(code, dtype=np.int32).reshape(-1, WORDS)
        self.constants = np.ascontiguousarray(constants, dtype=np.float64)
        self.sections = np.ascontiguousarray(sections, dtype=np.int32).reshape(-1, 2)
        self.sizes = tuple(int(size) for size in sizes)
        self.noises, self.second, self.tangents = noises, second, tangents

    @cached_property
    def handle(self):
        code, constants, sections, sizes, *numbers = self.__reduce__()[1]
        return _core.make_program(code, constants, sections, *sizes, *numbers)

    @property
    def bits(self):
        """Bytes that are equal for equal programs."""
        return self.code.tobytes() + self.constants.tobytes()

    def __reduce__(self):
        numbers = self.noises, self.second, self.tangents
        return Program, (self.code, self.constants, self.sections, self.sizes, *numbers)

    def has(self, question):
        """Whether a question of QUESTIONS has a section."""
        return bool(self.sections[QUESTIONS.index(question)][0] >= 0)

    def __repr__(self):
        """Readable assembly: y the state, p parameters and d what is derived of them."""
        _, dof, n_params = self.sizes[:3]

        def name(word):
            bank, number = divmod(int(word), 1 << BANK_SHIFT)
            if bank == P and number >= n_params:
                return f"d{number - n_params}"
            if bank == V:
                return f"y{number + dof}"
            if bank == CONSTANT:
                return repr(float(self.constants[number]))
            return "t" if bank == T else f"{_LETTERS[bank]}{number}"

        lines = []
        for i in sorted(range(len(QUESTIONS)), key=lambda i: self.sections[i][0]):
            if not self.has(QUESTIONS[i]):
                continue
            lines.append(f"{QUESTIONS[i]}:")
            for operation, target, *arguments in self.code[slice(*self.sections[i])]:
                used = arguments[: OPERATIONS[_NAMES[operation]][1]]
                inside = ", ".join(map(name, used))
                lines.append(f"    {name(target):6} = {_NAMES[operation]:22} {inside}")
        return "\n".join(lines)


class _Assembler:
    def __init__(self, graph, n_params):
        self.graph, self.n_params = graph, n_params
        self.constants = {}  # their bits -> their numbers
        self.derived = {}  # nodes -> rows after the parameters
        self.n_registers = 0

    # ---- operands ----
    def leaf(self, node):
        """The operand of a leaf."""
        if node.operation == "constant":
            number = self.constants.setdefault(node.value.hex(), len(self.constants))
            return CONSTANT << BANK_SHIFT | number
        if node.operation == "parameter":
            return P << BANK_SHIFT | node.value
        if node.operation == "time":
            return T << BANK_SHIFT
        first = self.graph.dof or self.graph.dim  # past the state: the numbers of a step with noise
        if node.value >= first:
            return V << BANK_SHIFT | (node.value - first)
        return Y << BANK_SHIFT | node.value

    def prepared(self, node):
        """The operand of a node that depends only on parameters."""
        if not node.arguments:
            return self.leaf(node)
        row = self.derived.setdefault(node, len(self.derived))
        return P << BANK_SHIFT | (self.n_params + row)

    # ---- a section ----
    def section(self, outputs, prepare):
        """Instructions that compute the outputs; registers are numbered by last use."""

        def is_operand(node):
            return not node.arguments or (node.is_fixed and not prepare)

        operand = self.leaf if prepare else self.prepared
        order = _post_order(outputs, is_operand)
        if prepare:
            steps = [(n, n.operation, n.arguments) for n in order]
        else:
            steps = _paired(_fused(order, outputs), outputs)
        last_use = {a.number: at for at, (_, _, arguments) in enumerate(steps) for a in arguments}
        bank = (P << BANK_SHIFT | self.n_params) if prepare else OUT << BANK_SHIFT
        targets = {}
        for i, node in enumerate(outputs):
            targets.setdefault(node.number, bank + i)
        place = {}
        free = []
        used = 0
        code = []

        def where(node):
            return place[node.number] if node.number in place else operand(node)

        for at, (node, operation, arguments) in enumerate(steps):
            words = [where(a) for a in arguments]
            for a in {a.number for a in arguments}:
                if last_use[a] == at and place.get(a, -1) >> BANK_SHIFT == SCRATCH:
                    free.append(place[a])
            if node.number in targets:
                target = targets[node.number]
            elif free:
                target = free.pop()
            else:
                target, used = used, used + 1
            place[node.number] = target
            code.append(_instruction(operation, target, words))
        for i, node in enumerate(outputs):
            source = where(node)
            if source != bank + i:
                code.append(_instruction("copy", bank + i, [source]))
        self.n_registers = max(self.n_registers, used)
        return code


def _instruction(operation, target, words):
    return (OPERATIONS[operation][0], target, *words, *(0,) * (WORDS - 2 - len(words)))


def _post_order(outputs, is_operand):
    """Operations that outputs need, arguments first, each as late as its first use allows."""
    order, seen = [], set()
    for output in outputs:
        stack = [(output, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                order.append(node)
            elif node.number not in seen and not is_operand(node):
                seen.add(node.number)
                stack.append((node, True))
                stack.extend((a, False) for a in reversed(node.arguments))
    return order


def count_uses(*lists):
    """How often each node stands in some lists, by its number."""
    return Counter(node.number for node in chain(*lists))


# Operations on a product: the place of the product, and both in one.
_FUSED = {
    "add": ((1, "fma"), (0, "fma")),
    "subtract": ((1, "fnma"), (0, "fms")),
    "negative": ((0, "multiply_negative"),),
}


def _fused(order, outputs):
    """(node, operation, arguments) with a b + c, a b - c, c - a b and -(a b) in one operation."""
    uses = count_uses(outputs, *(node.arguments for node in order))
    inside = {node.number for node in order}
    gone, steps = set(), []

    def fuses(node):
        return node.operation == "multiply" and node.number in inside and uses[node.number] == 1

    for node in order:
        operation, arguments = node.operation, node.arguments
        for place, fused in _FUSED.get(operation, ()):
            if fuses(product := arguments[place]):
                gone.add(product.number)
                rest = (a for k, a in enumerate(arguments) if k != place)
                operation, arguments = fused, (*product.arguments, *rest)
                break
        steps.append((node, operation, arguments))
    return [step for step in steps if step[0].number not in gone]


_FIRST = {"add", "subtract", "multiply", "fma", "fms", "fnma"}


def _paired(steps, outputs):
    """Steps in which an operation whose only use is another one is combined with that."""
    uses = count_uses(outputs, *(arguments for _, _, arguments in steps))
    done = {}  # in order
    for node, operation, arguments in steps:
        for i, a in enumerate(arguments):
            first = done.get(a.number)
            if first is None or uses[a.number] != 1 or first[1] not in _FIRST:
                continue
            pair = _pair(first, operation, arguments, i)
            if pair is not None:
                del done[a.number]
                operation, arguments = pair
                break
        done[node.number] = (node, operation, arguments)
    return list(done.values())


def _pair(first, second, arguments, i):
    """(name, arguments) of a second operation on the result of a first, its argument i, or None."""
    _, name, inner = first
    others = [a for k, a in enumerate(arguments) if k != i]
    if second in ("multiply", "add", "subtract"):
        then = "from" if second == "subtract" and i == 1 else second
    elif second in ("fma", "fms", "fnma"):
        then = second if i < 2 else _ADDEND[second]
    else:
        return None
    pair = f"{name}_{then}"
    return (pair, (*inner, *others)) if pair in OPERATIONS else None


_ADDEND = {"fma": "plus_product", "fms": "from_product", "fnma": "minus_product"}


def assemble(graph, outputs, n_params, noises=0, second=0):
    """Byte code.

    Parameters
    ----------
    graph : Graph
    outputs : dict
        Question -> list of nodes, its result row by row.
    n_params : int
        Rows of parameters.
    noises, second : int
        Of a step with noise.

    Returns
    -------
    Program
    """
    assembler = _Assembler(graph, n_params)
    code = []
    sections = np.full((len(QUESTIONS), 2), -1, dtype=np.int32)
    for i, question in enumerate(QUESTIONS):
        prepare = question == "prepare"  # the last: what the others have derived
        nodes = ([*assembler.derived] or None) if prepare else outputs.get(question)
        if nodes is not None:
            first = len(code)
            code += assembler.section(nodes, prepare)
            sections[i] = first, len(code)
    sizes = (
        graph.dim, graph.dof, n_params, len(assembler.derived),
        len(outputs.get("invariants", ())), assembler.n_registers,
    )  # fmt: skip
    constants = [*map(float.fromhex, assembler.constants)]
    return Program(code, constants, sections, sizes, noises, second, graph.tangents)
