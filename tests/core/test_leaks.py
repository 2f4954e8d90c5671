"""No entry point of the C core, nor any public function, keeps memory: good calls and bad ones.

Each call is repeated; what the C library and Python hold must not grow with the repetitions. A leak
of 64 bytes in one call of two would be seen.
"""

import contextlib
import ctypes
import gc
import sys
import sysconfig
import warnings

import numpy as np
import pytest
from reference import states

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.values.memory import aligned

pytestmark = [
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="asks the C library of Linux what it holds"
    ),
    pytest.mark.skipif(
        bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        reason="without a lock Python keeps types, and NumPy what frompyfunc makes",
    ),
]
LORENZ, SPRING = pi.systems.lorenz, pi.systems.spring
REPEATS = 60
SEEN = 32  # bytes for each call


@pytest.fixture(scope="module", autouse=True)
def _frozen():
    """What other tests hold is not searched again and again."""
    gc.freeze()
    yield
    gc.unfreeze()


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "abcdefg"] + [
        (name, ctypes.c_size_t) for name in ("uordblks", "fordblks", "keepcost")
    ]


def in_use():
    """Bytes that the C library has handed out, and blocks that Python has."""
    gc.collect()
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = Mallinfo2
    info = ask()
    return np.array([info.uordblks + info.e, sys.getallocatedblocks() * 64])


def growth(call):
    """Bytes that a call leaves behind, at the least of several measurements."""

    def repeat():
        for _ in range(REPEATS):
            with contextlib.suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call()

    repeat()  # caches fill
    least = np.inf
    for _ in range(20):  # lists of free objects take some time to fill
        before = in_use()
        repeat()
        least = min(least, (in_use() - before).max() / REPEATS)
        if least < SEEN:  # a leak would be there every time
            break
    return least


def integrated(**options):
    options = {"dt": 1e-3, "n_steps": 20, "on_failure": "ignore", **options}
    y = states(LORENZ, (300,))
    y[7], y[250] = np.nan, 1e200
    return pi.integrate(LORENZ, y, **options)


def interrupted():
    def stop(done, total):
        raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        integrated(n_steps=3000, progress=stop)


def core_run(**changes):
    """A run by the raw entry point, some arguments replaced."""
    arguments = {
        "system": "lorenz", "method": pi.methods["rk4"].handle, "bits": 64, "lanes": 16, "first": 0,
        "n_steps": 9, "save_every": 1, "bound": np.inf, "workers": 1, "t0": np.zeros(1),
        "dt": np.full(1, 0.01), "params": (np.ones(1),) * 3, "initial": aligned((3, 16), float),
        "state_a": aligned((3, 16), float), "state_b": aligned((3, 16), float),
        "record": aligned((10, 3, 16), float), "saved": (0, 1, 2), "stream": 0,
    }  # fmt: skip
    arguments["initial"][...] = 1.0
    arguments |= {"status": np.zeros(16, np.int8), "failed": np.zeros(16, np.int64)}
    arguments["status"][3] = 1
    run = _core.Run(**{**arguments, **changes})
    run.work()
    run.outcome()
    return run


def rows(count, n=3):
    return tuple(tuple(float(i > j) for j in range(n)) for i in range(count))


def stepped(**options):
    stepper = pi.Stepper(LORENZ, states(LORENZ, (20,)), dt=1e-3, method="rk4", **options)
    stepper.step(5)
    stepper.restore(stepper.snapshot())
    return stepper


@pi.acceleration(k=1.0)
def traced(t, x, v, k):
    return -k * np.sin(x)


@pi.rhs(dim=1, rate=1.0, trace=False)
def called(t, y, rate):
    if np.any(rate < 0):
        raise ValueError("a callback that raises")
    return -rate * y


def defined():
    @pi.rhs(dim=2, k=1.0)
    def system(t, y, k):
        return y[1], -k * y[0]

    return pi.integrate(system, dt=0.1, n_steps=3)


def undefined():
    pi.rhs(dim=1)(lambda t, y: 1.0 if y[0] > 0 else 2.0)


def program(**changes):
    one = traced.program
    arguments = {"code": one.code, "constants": one.constants, "sections": one.sections}
    return _core.make_program(*{**arguments, **changes}.values(), *one.sizes)


CALLS = {
    "method": lambda: _core.method("gauss4"),
    "method: wrong unknown": lambda: _core.method("gauss"),
    "shielded": lambda: _core.shielded(lambda: None, lambda error: None),
    "shielded: wrong": lambda: _core.shielded(lambda: 1 / 0, lambda error: None),
    "to_nearest": lambda: _core.to_nearest(np.float32, 0.1),
    "to_nearest: wrong": lambda: _core.to_nearest(np.float32, "x"),
    "history_rows": lambda: _core.history_rows("lorenz", pi.methods["rk4"].handle),
    "history_rows: wrong": lambda: _core.history_rows("lorenz", None),
    "scales": lambda: _core.scales(traced.program.handle),
    "scales: wrong": lambda: _core.scales("no system"),
    "make_program": program,
    "make_program: wrong code": lambda: program(code=np.full((4, 6), 77, np.int32)),
    "make_program: wrong short": lambda: program(sections=np.zeros(3, np.int32)),
    "make_callback": lambda: pi.integrate(called, dt=0.1, n_steps=3),
    "make_callback: wrong raises": lambda: pi.integrate(called(rate=-1.0), dt=0.1, n_steps=3),
    "make_callback: wrong": lambda: _core.make_callback(print, 99, -1, 0, 0, 0),
    "traced": lambda: pi.integrate(traced(k=np.ones(9)), dt=0.1, n_steps=3),
    "defined": defined,
    "defined: wrong": undefined,
    "Stepper": stepped,
    "stepper: wrong": lambda: stepped().step(-1),
    "stepper: wrong no kick": lambda: stepped().kick(),
    "stepper: bound": lambda: stepped(bound=0.1),
    "make_system": lambda: _core.make_system("n_body", 3),
    "make_system: wrong": lambda: _core.make_system("n_body", -1),
    "make_compiled: wrong": lambda: _core.make_compiled(None, 0, 0, None),
    "rigid_phases": lambda: _core.rigid_phases(pi.methods["rigid_semi_implicit_euler"].handle),
    "rigid_phases: wrong": lambda: _core.rigid_phases(None),
    "info": _core.info,
    "noise": lambda: _core.noise(1, 0, np.zeros((3, 3), np.uint64), np.empty(3)),
    "noise: wrong": lambda: _core.noise(1, 0, np.zeros((3, 3), np.uint64), np.empty(2)),
    "method: by its handle": lambda: _core.method(pi.methods["bdf3"].handle),
    "method: wrong": lambda: _core.method(None),
    "make_method": lambda: _core.make_method("explicit_rk", 3, 3, rows(5)),
    "make_method: wrong row": lambda: _core.make_method("explicit_rk", 3, 3, (*rows(4), (0,))),
    "make_method: wrong number": lambda: _core.make_method("composition", 1, 1, ((1.0,), ("x",))),
    "make_method: wrong stages": lambda: _core.make_method("composition", 10**6, 1, ((1.0,),) * 2),
    "evaluate": lambda: LORENZ.rhs(0.0, states(LORENZ, (100,))),
    "evaluate: wrong too short": lambda: _core.evaluate(
        "lorenz", 64, 0, 9, np.zeros(1), (np.zeros(1),) * 3, (np.ones(1),) * 3, np.zeros(3)
    ),
    "evaluate: wrong no rows": lambda: _core.evaluate("lorenz", 64, 0, 9, np.ones(1), (), (), b""),
    "evaluate: wrong system": lambda: _core.evaluate("x", 64, 0, 9, None, (), (), None),
    "Run": core_run,
    "Run: wrong system": lambda: core_run(system="x"),
    "Run: wrong method": lambda: core_run(method=None),
    "Run: wrong bits": lambda: core_run(bits=16),
    "Run: wrong lanes": lambda: core_run(lanes=-1),
    "Run: wrong short": lambda: core_run(initial=np.zeros(5)),
    "Run: wrong record": lambda: core_run(record=np.zeros(3)),
    "Run: wrong saved": lambda: core_run(saved=(0, 1, 3)),
    "Run: wrong params": lambda: core_run(params=(np.ones(1), None, np.ones(1))),
    "Run: wrong read-only": lambda: core_run(state_a=b"x" * 400),
    "Run: wrong unaligned": lambda: core_run(state_a=np.frombuffer(bytearray(500), np.uint8)[1:]),
    "Run: wrong unknown": lambda: core_run(nothing=0),
    "Run: wrong number": lambda: core_run(n_steps="1"),
    "Run: wrong composition": lambda: core_run(method=pi.methods["velocity_verlet"].handle),
    "Run: wrong few statuses": lambda: core_run(status=np.zeros(15, np.int8)),
    "Run: wrong few failed": lambda: core_run(failed=np.zeros(15, np.int64)),
    "integrate": integrated,
    "integrate: final": lambda: integrated(save="final"),
    "integrate: workers": lambda: integrated(workers=2, n_steps=3000, save="final"),
    "integrate: float32": lambda: integrated(dtype=np.float32),
    "integrate: bound": lambda: integrated(bound=20.0),
    "integrate: wrong": lambda: integrated(dt=np.nan),
    "integrate: wrong lane": lambda: integrated(on_failure="raise"),
    "integrate: warn": lambda: integrated(on_failure="warn"),
    "integrate: out": lambda: integrated(out=np.empty((21, 300, 3)), components=["x", "y", "z"]),
    "integrate: interrupted": interrupted,
    "AdaptiveRun": lambda: pi.solve(LORENZ, states(LORENZ, (30,)), t_end=0.3, times=[0.1, 0.2]),
    "adaptive: all steps": lambda: pi.solve(LORENZ, states(LORENZ, (3,)), t_end=0.3, save="all"),
    "adaptive: watched": lambda: pi.solve(
        LORENZ, states(LORENZ, (30,)), t_end=0.3, watch={"m": pi.watch.mean("x")},
        events={"x": pi.event("x", then=lambda t, y: 2 * y)}),
    "adaptive: stiff": lambda: pi.solve(pi.systems.van_der_pol(mu=[1.0, 1e3]), t_end=10.0,
                                       times=np.linspace(0, 10, 90)),
    "adaptive: wrong": lambda: _core.AdaptiveRun(nothing=0),
    "resume": lambda: integrated().resume(n_steps=3),
    "own methods": lambda: integrated(method=pi.RungeKutta([[0.0]], [1.0], order=1)),
    "parameters": lambda: SPRING(k=np.ones(50)).energy(np.ones((50, 2))),
    "at": lambda: integrated().at(0.0015),
    "exact": lambda: pi.integrate(SPRING, dt=0.1, n_steps=5).error(),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_kept(name):
    assert growth(CALLS[name]) < SEEN
    try:
        CALLS[name]()
    except Exception:
        assert "wrong" in name
    else:
        assert "wrong" not in name


def test_a_leak_would_be_seen():
    kept = []
    assert growth(lambda: kept.append(np.zeros(100) if len(kept) % 2 else None)) >= SEEN
    allocate = ctypes.CDLL(None).malloc
    assert growth(lambda: allocate(64)) >= 64


def test_every_entry_point_is_called():
    named = {name.split(":")[0] for name in CALLS}
    core = {name for name, one in vars(_core).items() if callable(one) and name[0] != "_"}
    assert core <= named, f"add {core - named} to CALLS"
