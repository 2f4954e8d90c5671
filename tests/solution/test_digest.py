"""A digest is one for all machines and ways to the same solution, and another for any other."""

import copy

import numpy as np
import pytest
from conftest import same_bits

import pyintegrate as pi
from pyintegrate.errors import Status

KEPLER = pi.systems.kepler
BODIES = np.arange(36.0).reshape(2, 18) * 0.37 % 1
START = np.array([0.7, 0.0, 0.0, 1.3]) * np.linspace(0.9, 1.1, 5)[:, np.newaxis]


@pi.acceleration(k=15.0, b=0.1)
def spring(t, x, v, k, b):
    return -k * np.sin(x) - b * v


def run(system=KEPLER, y=START, **options):
    return pi.integrate(system, y, **{"dt": 0.01, "n_steps": 20, "save": 5, **options})


def watched(**options):
    return pi.integrate(
        pi.systems.projectile, [0.0, 0.0, 1.0], [[2.0, 0.0, 0.0], [2.0, 0.0, 9.0]], dt=0.01,
        n_steps=60, save=20, watch={"top": pi.watch.maximum("z")},
        events={"ground": pi.event("z", direction=-1, stop=True)}, **options,
    )  # fmt: skip


PUBLISHED = {
    "states": (run, "7b2f630c9bc4c068893fa022"),
    "single": (
        lambda: run(dtype=np.float32, compensated=True, method="velocity_verlet"),
        "ed2f041c034cd3ea49cfbc49",
    ),
    "watched": (watched, "6338b355ec7f33bd9af7dfb7"),
    "traced": (
        lambda: run(spring(k=[1.0, 20.0]), [1.0, 0.0], method="gauss4"),
        "0fdc00fd6771558964cc0e48",
    ),
    "solved": (lambda: pi.solve(KEPLER, START, t_end=1.0, rtol=1e-10), "28ed06e7e5367b2e69e85647"),
    "bodies": (
        lambda: run(pi.systems.n_body(n=3), BODIES, method="yoshida6"),
        "418600aac3e849315e2f057f",
    ),
    "rigid": (
        lambda: run(pi.systems.rigid_body, None, method="rigid_splitting2"),
        "7a4ab080a48beeaddc94cd54",
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_digests_are_those_of_every_other_machine(name):
    made, published = PUBLISHED[name]
    assert made().digest()[:24] == published


@pytest.mark.parametrize("kind", ["npz", "zarr"])
@pytest.mark.parametrize("name", sorted({*PUBLISHED} - {"solved"}))
def test_a_loaded_solution_has_its_digest(name, kind, tmp_path):
    sol = PUBLISHED[name][0]()
    sol.save(tmp_path / f"a.{kind}")
    assert pi.load(tmp_path / f"a.{kind}").digest() == sol.digest()


def test_interrupted_and_resumed_solutions_keep_theirs(tmp_path):
    hands = [1]

    def stop(done, total):
        if hands:
            raise KeyboardInterrupt(hands.pop())

    with pytest.raises(KeyboardInterrupt) as caught:
        run(n_steps=1 << 23, save=100, progress=stop)
    whole = run()
    for sol in (caught.value.solution, whole.resume(n_steps=20)):
        sol.save(tmp_path / "a.npz")
        assert pi.load(tmp_path / "a.npz").digest() == sol.digest()
    part = caught.value.solution
    assert part.digest() != run(n_steps=part.n_steps, save=100).digest()


def test_the_way_to_a_solution_is_not_in_it():
    whole = run(method="adams_bashforth4").digest()
    assert run(method="adams_bashforth4", workers=2, bound=1e6).digest() == whole
    first = run(method="adams_bashforth4", n_steps=10)
    assert pi.concatenate(first, first.resume(n_steps=10)).digest() == whole
    elsewhere = np.empty((5, 5, 4))
    assert run(method="adams_bashforth4", out=elsewhere).digest() == whole


@pytest.mark.parametrize(
    "other",
    [
        {"y": START * (1 + 2.0**-52)}, {"y": START[:4]}, {"y": START[:, np.newaxis]},
        {"dtype": np.float32}, {"dt": 0.02}, {"t0": 1.0}, {"n_steps": 25}, {"save": 10},
        {"method": "rk38"}, {"compensated": True}, {"system": KEPLER(mu=np.ones(5))},
        {"system": KEPLER(mu=2.0)}, {"components": ["x", "y"]}, {"components": ["y", "x"]},
        {"watch": "energy_drift"}, {"events": {"a": pi.event("x", keep=0)}},
        {"sensitivity": ["mu"]},
    ],
    ids=lambda other: "-".join(other),
)  # fmt: skip
def test_whatever_matters_changes_it(other):
    assert run(**other).digest() != run().digest()


def test_systems_with_the_same_motion_are_told_apart():
    start = {"y": [[1.0, 0.0]]}
    named = pi.acceleration(k=15.0, b=0.1, name="another")(lambda t, x, v, k, b: -k * x - b * v)
    plain = pi.acceleration(k=15.0, b=0.1)(lambda t, x, v, k, b: -k * x - b * v)
    a, b = run(named, **start), run(plain, **start)
    assert same_bits(a.y, b.y)
    assert a.digest() != b.digest()


def bent(name, change):
    """A solution whose attribute has been changed."""
    sol = watched()
    sol.__dict__[name] = change(getattr(sol, name))
    return sol.digest()


def test_every_bit_of_what_is_saved_counts():
    sol = watched()
    whole = sol.digest()
    for where in [(0, 0, 0), (1, 1, 2), (3, 1, 5)]:
        other = copy.copy(sol)
        other._states = sol.y.copy()
        other._states[where] = np.nextafter(other._states[where], np.inf)
        assert other.digest() != whole, where


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("steps", lambda steps: steps + 1),
        ("t", lambda t: t + 1e-15),
        ("status", lambda status: status + np.int8(1)),
        ("failed_step", lambda step: step + 1),
        ("stopped_at", lambda t: t + 1e-9),
        ("stopped_by", lambda names: names[::-1]),
        ("n_steps", lambda n: n - 1),
        ("initial", lambda y: y + 1e-9),
        ("origin", lambda y: y + 1e-9),
    ],
)
def test_every_result_counts(name, change):
    assert bent(name, change) != watched().digest()


def test_results_of_watches_and_events_count():
    whole = watched().digest()
    for place in ("top", "top.time"):
        sol = watched()
        sol.watched[place][0] += 1e-9
        assert sol.digest() != whole
    for part in ("t", "y", "count"):
        sol = watched()
        getattr(sol.events["ground"], part)[0] += 1
        assert sol.digest() != whole


def test_zeros_have_no_sign_and_what_is_no_number_is_one():
    sol = run()
    digests = set()
    payload = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    for zero, none in ((0.0, np.nan), (-0.0, -np.nan), (-0.0, payload)):
        other = copy.copy(sol)
        other._states = sol.y.copy()
        other._states[1, 2, 3], other._states[2, 2, 3] = zero, none
        digests.add(other.digest())
    assert len(digests) == 1


def test_big_endian_states_are_those_of_every_machine():
    sol = run()
    other = copy.copy(sol)
    other._states = sol.y.astype(">f8")
    assert other.digest() == sol.digest()


def test_failures_are_in_it():
    start = START * 1.0
    start[2] = 0
    sol = run(y=start, on_failure="ignore")
    assert sol.status[2] != Status.OK
    other = copy.copy(sol)
    other.status = np.zeros_like(sol.status)
    assert sol.digest() != other.digest()


def test_a_tolerance_counts():
    one = pi.solve(KEPLER, t_end=1.0, rtol=1e-6)
    assert one.digest() == pi.solve(KEPLER, t_end=1.0, rtol=1e-6, workers=2).digest()
    assert one.digest() != pi.solve(KEPLER, t_end=1.0, rtol=1.001e-6).digest()


def test_functions_are_known_by_name_and_parameters():
    @pi.rhs(dim=2, k=1.0, trace=False)
    def called(t, y, k):
        return y[1], -k * y[0]

    start = {"y": [[1.0, 0.0]]}
    assert len(run(called, **start).digest()) == 64
    assert run(called, **start).digest() != run(called(k=1 + 1e-15), **start).digest()
