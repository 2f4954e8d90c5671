"""Byte code is data: the verifier refuses what would read or write elsewhere, and never runs it."""

import pickle

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.trace.graph import Graph
from pyintegrate.trace.program import CONSTANT, OUT, QUESTIONS, SCRATCH, P, Program, T, V, Y
from pyintegrate.trace.tracing import Traced

NUMBERS = {name: i for i, (name, _, _) in enumerate(_core.operations)}
LIMITS = {"dim": 2, "dof": 1, "n_params": 1, "n_derived": 1, "n_invariants": 0, "n_registers": 2}


def at(bank, number=0):
    return bank << 24 | number


GOOD = [
    (NUMBERS["negative"], at(P, 1), at(P, 0), 0, 0, 0),  # prepare
    (NUMBERS["sin"], at(SCRATCH, 0), at(Y, 0), 0, 0, 0),  # acceleration
    (NUMBERS["fma"], at(SCRATCH, 1), at(SCRATCH, 0), at(P, 1), at(V, 0), 0),
    (NUMBERS["add"], at(OUT, 0), at(SCRATCH, 1), at(CONSTANT, 0), 0, 0),
]
SECTIONS = {"prepare": (0, 1), "acceleration": (1, 4)}


def make(code=GOOD, sections=SECTIONS, constants=(0.5,), **sizes):
    table = np.full((len(QUESTIONS), 2), -1, np.int32)
    for question, section in sections.items():
        table[QUESTIONS.index(question)] = section
    return Program(np.array(code), np.array(constants), table, {**LIMITS, **sizes}.values())


def answer(program, y, p=3.0):
    rows = [np.full(1, value) for value in y]
    out = np.empty(program.sizes[1])
    _core.evaluate(program.handle, 64, 1, 1, np.zeros(1), tuple(rows), (np.full(1, p),), out)
    return out


def test_answers_of_many_lanes_are_those_of_each():
    """Whole registers, a rest, and parameters of their own or shared: the same bits, no overrun."""
    program, y = make(), np.random.default_rng(0).normal(size=(2, 80))
    for lanes in (1, 3, 4, 31, 32, 33, 70):
        for p in (np.full(1, 3.0), np.linspace(1, 2, lanes)):
            whole = np.full(program.sizes[1] * lanes + 1, 77.0)
            rows = tuple(np.ascontiguousarray(row[:lanes]) for row in y)
            _core.evaluate(program.handle, 64, 1, lanes, np.zeros(1), rows, (p,), whole[:-1])
            each = [answer(program, y[:, i], p[i % len(p)]) for i in range(lanes)]
            assert whole[:-1].tobytes() == np.array(each).T.tobytes()
            assert whole[-1] == 77.0


def test_a_program_runs():
    assert answer(make(), [0.3, 2.0])[0] == pytest.approx(np.sin(0.3) * -3 + 2 + 0.5, rel=1e-15)


def changed(instruction, word, value):
    code = [list(row) for row in GOOD]
    code[instruction][word] = value
    return code


HOSTILE = {
    "no operation 250": changed(1, 0, 250),
    "no operation -1": changed(1, 0, -1),
    r"reads y\[1\] of 1": changed(1, 2, at(Y, 1)),
    r"reads p\[2\] of 2": changed(2, 3, at(P, 2)),
    r"reads constant\[1\]": changed(3, 3, at(CONSTANT, 1)),
    r"reads v\[16777215\]": changed(2, 4, at(V, (1 << 24) - 1)),
    r"reads t\[1\]": changed(1, 2, at(T, 1)),
    r"reads scratch\[1\], which is not written": changed(2, 2, at(SCRATCH, 1)),
    r"reads out\[0\], which is not written": changed(2, 2, at(OUT, 0)),
    "no bank 7": changed(1, 2, at(7)),
    "no bank": changed(1, 2, -1),
    "writes where it must not": changed(1, 1, at(Y, 0)),
    "instruction 3 writes": changed(3, 1, at(OUT, 1)),
    "instruction 2 writes": changed(2, 1, at(SCRATCH, 2)),
    "instruction 1 writes": changed(1, 1, at(P, 1)),
    "instruction 0 writes": changed(0, 1, at(P, 0)),
    "instruction 0 reads y": changed(0, 2, at(Y, 0)),
    "sin takes 1 arguments": changed(1, 3, at(Y, 0)),
    "row 0 of the answer is never written": changed(3, 1, at(SCRATCH, 0)),
}


@pytest.mark.parametrize("message", HOSTILE)
def test_hostile_code_is_refused(message):
    with pytest.raises(ValueError, match=f"byte code refused: .*{message}"):
        make(HOSTILE[message]).handle  # noqa: B018


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dim": 0}, "dim is 0"),
        ({"dim": 3}, "dim is 3 and dof 1"),
        ({"dof": -1}, "dof is -1"),
        ({"dim": 1 << 40, "dof": 1 << 39}, "dim is"),
        ({"n_params": -1}, "n_params is -1"),
        ({"n_registers": 1 << 40}, "n_registers is"),
        ({"n_derived": 1 << 20}, "n_derived is"),
        ({"sections": {**SECTIONS, "acceleration": (1, 5)}}, "no section 1 to 5"),
        ({"sections": {**SECTIONS, "acceleration": (3, 1)}}, "no section 3 to 1"),
        ({"sections": {**SECTIONS, "acceleration": (-5, 3)}}, "no section -5 to 3"),
        ({"sections": {"acceleration": (1, 4)}}, "derived parameters, and no section"),
        ({"sections": {**SECTIONS, "rhs": (0, 1)}}, "right-hand side follows"),
        ({"sections": {**SECTIONS, "energy": (0, 0)}}, "row 0 of the answer is never written"),
        ({"dof": 0, "dim": 2}, "first order, and a section"),
    ],
)
def test_hostile_sizes_are_refused(change, words):
    with pytest.raises(ValueError, match=f"byte code refused.*{words}"):
        make(**change).handle  # noqa: B018


@pytest.mark.parametrize("tangents", [-1, 2, 4])
def test_tangents_share_the_components_of_a_system(tangents):
    program = make()
    program.tangents = tangents
    with pytest.raises(ValueError, match="byte code refused.*tangents"):
        program.handle  # noqa: B018
    with pytest.raises(ValueError, match="tangents out of range"):
        _core.make_callback(print, 0, 4, 0, 0, 0, None, 0, tangents)


def test_torn_arrays_are_refused():
    code, constants = np.zeros(6, np.int32), np.zeros(0)
    sections = np.full((len(QUESTIONS), 2), -1, np.int32)
    for words, *arrays in (
        ("code ends within an instruction", code[:3], constants, sections),
        ("code has items of 2 bytes", code.astype(np.int16), constants, sections),
        ("constants has items of 4 bytes", code, constants.astype(np.float32), sections),
        ("sections has 24 bytes", code, constants, sections[:3]),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            _core.make_program(*arrays, 1, 0, 0, 0, 0, 0)


def test_mutated_code_is_refused_or_harmless():
    """Whatever the verifier lets through reads its inputs and writes its answer, nothing else."""
    generator = np.random.default_rng(0)

    @pi.acceleration(dof=2, k=2.0, m=3.0)
    def force(t, x, v, k, m):
        r = np.linalg.norm(x)
        return -k / m * x / r**3 - np.where(x > t, v, np.sin(x)) * m

    program = force.traced.program(jacobian=True)
    ran = refused = 0
    for _ in range(4000):
        code, sections, sizes = program.code.copy(), program.sections.copy(), list(program.sizes)
        for _ in range(generator.integers(1, 4)):
            kind = generator.random()
            if kind < 0.8:
                i, j = generator.integers(len(code)), generator.integers(6)
                code[i, j] = _mutated(generator, code[i, j])
            elif kind < 0.9:
                i, j = generator.integers(len(sections)), generator.integers(2)
                sections[i, j] += generator.integers(-2, 3)
            else:
                i = generator.integers(6)
                sizes[i] += generator.integers(-2, 3)
        mutant = Program(code, program.constants, sections, sizes)
        try:
            handle = mutant.handle
        except ValueError:
            refused += 1
            continue
        ran += 1
        dim, _, n_params = sizes[:3]
        for question, answers in ((0, dim), (4, dim * dim)):
            lanes = 5
            rows = tuple(generator.normal(size=lanes) for _ in range(dim))
            params = tuple(np.ones(1) for _ in range(n_params))
            guarded = np.full((answers + 2, lanes), 77.0)
            out = guarded[1:-1]
            _core.evaluate(handle, 64, question, lanes, np.zeros(1), rows, params, out)
            assert np.all(guarded[[0, -1]] == 77.0)
    assert ran > 50
    assert refused > 1000


def _mutated(generator, word):
    kind = generator.integers(4)
    if kind == 0:
        return word ^ np.int32(1 << int(generator.integers(31)))
    if kind == 1:
        return np.int32(generator.integers(-(2**31), 2**31))
    if kind == 2:
        return np.int32(at(int(generator.integers(8)), int(generator.integers(6))))
    return word + np.int32(generator.integers(-2, 3))


def test_random_words_are_refused():
    generator = np.random.default_rng(1)
    for _ in range(2000):
        code = generator.integers(-(2**31), 2**31, (4, 6)).astype(np.int32)
        if generator.random() < 0.7:
            code = np.stack([at(*generator.integers((7, 3))) for _ in range(24)]).reshape(4, 6)
            code[:, 0] = generator.integers(len(NUMBERS), size=4)
        with pytest.raises(ValueError, match="byte code refused"):
            make(code).handle  # noqa: B018


# ---- what the assembler does ---------------------------------------------------------------------
def test_parameters_are_prepared_once():
    @pi.acceleration(k=15.0, m=2.0)
    def spring(t, x, v, k, m):
        return -(k / m) * x + np.sqrt(k) * np.sin(m)

    text = repr(spring.traced.program())
    prepare = text[text.index("prepare:") :]
    for operation in ("divide", "sqrt", "sin"):
        assert operation in prepare
        assert operation not in text[: text.index("prepare:")]


def test_products_are_fused_and_registers_given_back():
    @pi.rhs(dim=8)
    def chain(t, y):
        return [y @ y * c for c in y]

    program = chain.traced.program()
    names = [name for name, _, _ in _core.operations]
    used = [names[i] for i in program.code[:, 0]]
    assert used.count("fma") == 6
    assert used.count("multiply_plus_product") == 1
    assert used.count("multiply") == 8
    assert program.sizes[-1] == 1


def test_dead_code_and_repeated_code_are_left_out():
    @pi.rhs(dim=2)
    def twice(t, y):
        np.exp(y[0]) * 3
        return np.sin(y[0] + y[1]) + y[0], np.sin(y[1] + y[0]) - 0.0

    used = [name for name, _, _ in _core.operations]
    operations = [used[i] for i in twice.traced.program().code[:, 0]]
    assert sorted(operations) == ["add", "add", "sin"]


def test_exact_rewrites_keep_every_bit():
    """What the graph rewrites is bit-equal; what it may not, it leaves."""
    functions = [
        lambda a: a * 1 + 0.0,
        lambda a: np.negative(-a),
        lambda a: a + (-abs(a)),
        lambda a: a / 4 / 0.125,
        lambda a: a - 0.0,
        lambda a: 0.0 - a,
        lambda a: a * -1.0,
        lambda a: -a * -a,
        lambda a: a + a,
        lambda a: (a * 0) + 1,
        lambda a: a - a,
        lambda a: a**1 * a**2,
        lambda a: abs(-a),
        lambda a: 2 * (a * 3) / 2,
    ]
    system = pi.rhs(dim=len(functions))(lambda t, y: [f(y[0]) for f in functions])
    x = np.array([0.0, -0.0, 1.0, -3.7, 1e-310, np.inf, -np.inf, np.nan, 1e300, -0.1])
    y = np.zeros((len(x), len(functions)))
    y[:, 0] = x
    with np.errstate(all="ignore"):
        expected = np.stack([f(x) for f in functions], axis=-1)
        got = system.rhs(0.0, y)
    for i in range(len(functions)):
        assert np.array_equal(got[:, i], expected[:, i], equal_nan=True), i
        finite = ~np.isnan(expected[:, i])
        assert np.array_equal(np.signbit(got[finite, i]), np.signbit(expected[finite, i])), i


def test_constants_are_folded_where_that_is_exact():
    """A sum that rounds would round otherwise in single precision."""
    g = Graph(1, 0)
    fold = {name: lambda a, b, name=name: g.make(name, *map(g.constant, (a, b))) for name in
            ("add", "subtract", "multiply", "divide")}  # fmt: skip
    assert fold["add"](0.5, 0.25).value == 0.75
    assert fold["divide"](3.0, 8.0).value == 0.375
    rounded = [("add", 0.1, 0.2), ("subtract", 1.0, 0.1), ("multiply", 0.1, 0.3),
               ("divide", 1.0, 3.0), ("multiply", 1e300, 1e300)]  # fmt: skip
    assert [fold[name](a, b).operation for name, a, b in rounded] == [name for name, *_ in rounded]


def test_lanes_do_not_see_each_other():
    """The bits of a lane depend neither on how many there are nor on where it is."""

    @pi.rhs(dim=2, k=3.0)
    def system(t, y, k):
        return np.sin(y[1] * k) + np.where(y[0] > t, y[0] ** 3, -y[1]), y[0] / (k + y[1] ** 2)

    generator = np.random.default_rng(2)
    for dtype in (np.float64, np.float32):
        y = generator.normal(size=(301, 2)).astype(dtype)
        k = generator.normal(size=301)
        t = generator.normal(size=301)
        together = system(k=k).rhs(t, y)
        apart = np.stack([system(k=k[i]).rhs(t[i], y[i]) for i in range(301)])
        assert np.array_equal(together, apart)
        J = system(k=k).jacobian(t, y)
        assert np.array_equal(J[7:19], system(k=k[7:19]).jacobian(t[7:19], y[7:19]))


@pytest.mark.parametrize("own", ["t0", "dt"])
@pytest.mark.parametrize("parameters", ["shared", "own", "mixed"])
def test_what_all_lanes_share_is_computed_once_with_the_same_bits(parameters, own):
    """Times and parameters as one number or as a row of it; and where the lanes differ, the bits of
    each alone."""

    @pi.rhs(dim=2, a=1.5, w=2.0)
    def driven(t, y, a, w):
        phase = np.cos(w * t)
        wave = phase * y[0] ** 2 + (1 - 2 * phase) * y[0]
        slope = 2 * phase * y[0] + 1 - 2 * phase
        return y[1] * phase + a * (2 * t + w), np.sin(a * t) - slope * np.sin(wave)

    n, y = 70, np.random.default_rng(1).normal(size=(70, 2))
    system = driven(**{
        "shared": {},
        "own": {"a": np.full(n, 1.5), "w": np.full(n, 2.0)},
        "mixed": {"a": np.full(n, 1.5)},
    }[parameters])  # fmt: skip
    times = {"t0": 0.25, "dt": 0.01}
    for method in ("rk4", "gauss4", "adams_bashforth4"):
        run = {"n_steps": 9, "method": method, "save": "final"}
        one = pi.integrate(driven, y, **times, **run).final
        np.testing.assert_array_equal(pi.integrate(system, y, **times, **run).final, one)
        several = times | {own: np.full(n, times[own])}
        np.testing.assert_array_equal(pi.integrate(system, y, **several, **run).final, one)
        differ = times | {own: np.linspace(0.01, 0.02, n)}
        found = pi.integrate(system, y, **differ, **run).final
        for i in (0, 1, n - 1):
            alone = pi.integrate(driven, y[i], **times | {own: differ[own][i]}, **run).final
            np.testing.assert_array_equal(found[i], alone)


def test_programs_and_graphs_pickle_as_data():
    @pi.acceleration(dof=2, mu=1.0)
    def kepler(t, x, v, mu):
        return -mu * x / (x @ x) ** 1.5

    program = kepler.program
    again = pickle.loads(pickle.dumps(program))
    assert repr(again) == repr(program)
    data = pickle.dumps(kepler)
    for word in (b"kepler(", b"test_byte_code", b"function"):
        assert word not in data.replace(b"trace.tracing", b"")
    system = pickle.loads(data)
    assert system == kepler
    assert repr(system.program) == repr(program)
    y = np.random.default_rng(0).normal(size=(9, 4))
    assert np.array_equal(system.rhs(0.0, y), kepler.rhs(0.0, y))
    assert np.array_equal(system.jacobian(0.0, y), kepler.jacobian(0.0, y))


@pytest.mark.parametrize(
    "nodes",
    [
        [("sin", (3,), None)],
        [("sin", (0,), None)],
        [("system", (), None)],
        [("time", (), None), ("add", (0,), None)],
        [("time", (), None), ("sin", (-1,), None)],
    ],
)
def test_hostile_graphs_are_refused(nodes):
    with pytest.raises(ValueError, match="operation"):
        Traced.from_data((1, 0, 0, nodes, (("rhs", (0,)),)))


def test_hostile_leaves_reach_the_verifier():
    for operation, value in (("state", 7), ("parameter", 3), ("state", -1)):
        traced = Traced.from_data((1, 0, 1, [(operation, (), value)], (("rhs", (0,)),)))
        with pytest.raises(ValueError, match="refused"):
            traced.program().handle  # noqa: B018
