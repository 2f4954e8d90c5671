"""Runs with noise: the same bits however they are carried out, and refusals with their cure."""

import pickle
import warnings

import numpy as np
import pytest
from instruction_sets import printed_on_each

import pyintegrate as pi
from pyintegrate.solution import files

RUN = {"dt": 1 / 64, "n_steps": 60}
DRAW = np.random.default_rng(1)


@pi.sde(dim=1, mu=0.05, sigma=0.2)
def growth(t, y, mu, sigma):
    return mu * y, sigma * y


@pi.sde(dim=2, k=1.0, s=0.3)
def coupled(t, y, k, s):
    return [-k * y[0] + y[1], np.sin(t) - y[1]], [[s, 0.0, 0.2], [s * y[0], 0.1, y[1]]]


@pi.sde(dim=2, s=0.3)
def driven(t, y, s):
    return [-y[0] + y[1] ** 2, np.sin(t) - y[1]], [s, s * (1.0 + t)]


warm = pi.langevin(pi.systems.henon_heiles, friction=0.5, temperature=0.01)
# A system for every method.
RUNS = {
    "euler_maruyama": coupled, "milstein": growth, "heun_stratonovich": growth, "sra1": driven,
    "sra3": driven, "sriw1": growth, "baoab": warm, "gjf": warm, "obabo": warm,
    "brownian_baoab": driven, "ri6": coupled,
}  # fmt: skip


def test_there_is_a_run_for_every_method():
    assert set(RUNS) == set(pi.methods.noise)


def substeps(method):
    """None with a method of weak order only."""
    return 3 if pi.methods[method].strong_order else 1


def start(system, n=300):
    return np.broadcast_to(system.initial, (n, system.dim)) * np.linspace(0.9, 1.1, n)[:, None]


CROSSING = {
    "up": pi.event(lambda t, y: y[0] - 1.0, bridge=True, then=lambda t, y: [0.9 + 0 * y[0]])
}


def digests():
    """A digest for each method in both precisions; printed by a process for each set."""
    return [
        pi.integrate(growth, start(growth, 37), **RUN, seed=2, events=CROSSING).digest(),
    ] + [
        pi.integrate(
            system, start(system, 37), **RUN, method=method, seed=2, dtype=dtype, save=9
        ).digest()
        for method, system in RUNS.items()
        for dtype in (np.float32, np.float64)
    ]  # fmt: skip


def test_every_instruction_set_gives_the_same_bits():
    found = printed_on_each("import test_noisy_runs as t; print(t.digests())")
    assert found == dict.fromkeys(found, str(digests()))


@pytest.mark.parametrize("method", RUNS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_do_not_depend_on_how_a_run_is_carried_out(method, dtype):
    """Splits of the batch and of time, workers, saves, substeps' parity, the Stepper, packing."""
    system, x = RUNS[method], start(RUNS[method]).astype(dtype)
    run = RUN | {"method": method, "seed": 7, "dtype": dtype, "substeps": substeps(method)}
    whole = pi.integrate(system, x, **run)
    for save in (7, "final"):
        other = pi.integrate(system, x, **run, save=save, workers=2)
        assert np.array_equal(other.final, whole.final)
    part = pi.integrate(system, x[100:133], **run, first_trajectory=100)
    assert np.array_equal(part.y, whole.y[:, 100:133])
    backwards = pi.integrate(system, x[::-1], **run, first_trajectory=np.arange(300)[::-1])
    assert np.array_equal(backwards.y[:, ::-1], whole.y)
    first = pi.integrate(system, x, **run | {"n_steps": 17})
    assert np.array_equal(first.resume(n_steps=43).final, whole.final)
    stepper = pi.Stepper(
        system, x, dt=RUN["dt"], method=method, dtype=dtype, seed=7, substeps=run["substeps"]
    )
    stepper.step(5)
    before = stepper.snapshot()
    stepper.step(20)
    stepper.restore(before)
    stepper.step(55)
    assert np.array_equal(stepper.y, whole.final)
    bounded = pi.integrate(system, x, **run, bound=1e6)  # one step a call
    assert np.array_equal(bounded.y, whole.y)


def test_an_equation_with_noise_has_the_energy_that_is_given():
    def energy(t, y, k):
        return (k * y[0] ** 2 + y[1] ** 2) / 2

    noisy = pi.sde(dim=2, k=3.0, energy=energy)(lambda t, y, k: ((y[1], -k * y[0]), (0.0, 0.1)))
    watch = {"named": pi.watch.mean("energy"), "given": pi.watch.mean(energy)}
    sol = pi.integrate(noisy, [[1.0, 0.0]], dt=0.1, n_steps=20, seed=1, watch=watch)
    own = energy(0.0, np.moveaxis(sol.y, -1, 0), 3.0)
    np.testing.assert_allclose(sol.energy(), own, rtol=4e-16)  # products are fused with sums
    assert np.array_equal(sol.watched["named"], sol.watched["given"])


def test_a_comparison_has_one_path_of_noise_for_steps_of_any_length():
    """Substeps of one length; methods of weak order only have no path, and take none."""
    methods = ["milstein", "heun_stratonovich", "ri6"]
    work = pi.compare(growth, methods=methods, dt=0.1, n_steps=8, seed=3, equal_work=True)
    for (name, n), substeps in zip(
        (("milstein", 8), ("heun_stratonovich", 4), ("ri6", 4)), (1, 2, 1)
    ):
        alone = pi.integrate(growth, dt=0.8 / n, n_steps=n, seed=3, method=name, substeps=substeps)
        assert np.array_equal(work[name].y, alone.y)

    two = pi.compare(growth, methods="milstein", dt=[0.2, 0.3], t_end=1.2, seed=3, substeps=5)
    for (_, dt), substeps in zip(two, (10, 15), strict=True):
        alone = pi.integrate(growth, dt=dt, t_end=1.2, seed=3, substeps=substeps)
        assert np.array_equal(two["milstein", dt].y, alone.y)

    with pytest.raises(
        ValueError, match=r"steps of 0.01, 0.0101234 have no common .* path of noise"
    ):
        pi.compare(growth, methods="milstein", dt=[0.01, 0.0101234], n_steps=3, seed=3)


def test_parts_of_other_noise_are_told_apart():
    parts = [pi.integrate(growth, **RUN, seed=seed) for seed in (1, 2)]
    with pytest.raises(ValueError, match=r"its noise is that of seed=2, .*, not that of seed=1, "):
        pi.concatenate(parts[0], parts[1].resume(n_steps=1))


def test_a_reset_with_a_seed_goes_on_with_that_noise():
    system, runs = RUNS["baoab"], []
    for first, given in ((2, {}), (1, {"seed": 2})):
        stepper = pi.Stepper(system, start(system), dt=RUN["dt"], method="baoab", seed=first)
        before = stepper.snapshot()
        stepper.step(3)
        stepper.reset(**given)
        stepper.step(4)
        runs.append(stepper.y.copy())
    assert np.array_equal(*runs)
    stepper.restore(before)  # with its own seed
    stepper.step(7)
    run = RUN | {"n_steps": 7, "method": "baoab", "seed": 1, "save": "final"}
    assert np.array_equal(stepper.y, pi.integrate(system, start(system), **run).final)
    with pytest.raises(ValueError, match="seed is of all trajectories"):
        stepper.reset(np.arange(300) < 5, seed=3)
    with pytest.raises(ValueError, match="seed was given, and 'pendulum' has no noise"):
        pi.Stepper(pi.systems.pendulum, 1.0, 0.0, dt=0.1).reset(seed=3)


quartic = pi.langevin(pi.potential(k=2.0)(lambda x, k: k * x**4), friction=0.5, temperature=1.0)


@pytest.mark.parametrize(("method", "system"), [("euler_maruyama", coupled), ("obabo", quartic)])
def test_a_compiled_system_has_the_bits_of_the_byte_code(method, system):
    """Three noises, and second numbers; a step of its own for each method; watches of energy."""
    compiled = system.compile()
    assert compiled.compiled
    assert "own_next" in compiled.to_c()
    watch = {"E": pi.watch.mean("energy")} if system.has_energy else {}
    for dtype in (np.float64, np.float32):
        run = RUN | {"method": method, "seed": 7, "dtype": dtype, "substeps": 3, "watch": watch}
        a, b = (pi.integrate(s, start(system).astype(dtype), **run) for s in (system, compiled))
        assert np.array_equal(a.y, b.y)
        assert all(np.array_equal(a.watched[name], b.watched[name]) for name in watch)
    assert not pickle.loads(pickle.dumps(compiled)).compiled


def test_lanes_that_fail_leave_the_others_as_they_are():
    """One that blows up is frozen alone; its neighbours keep the bits of a run without it."""
    wild = pi.sde(dim=1, c=np.array(0.0))(lambda t, y, c: (c * y**3 - y, 0.3 + 0.0 * y))
    c = np.zeros(50)
    c[13] = 1e3
    y = np.full((50, 1), 2.0)
    with pytest.warns(pi.IntegrationWarning):
        found = pi.integrate(wild(c=c), y, **RUN, seed=1)
    calm = pi.integrate(wild, y, **RUN, seed=1)
    others = np.arange(50) != 13
    assert np.array_equal(found.y[:, others], calm.y[:, others])
    assert found.status[13] == pi.Status.NOT_FINITE


def test_leaving_a_bound_makes_room_without_a_trace():
    """The batch is packed as lanes leave; each stays with the path of its own number."""
    drift = pi.sde(dim=1)(lambda t, y: (0.0 * y, 1.0 + 0.0 * y))
    run = {"dt": 0.01, "n_steps": 400, "seed": 5}
    path = pi.integrate(drift, np.zeros((1000, 1)), **run)
    left = pi.integrate(drift, np.zeros((1000, 1)), **run, bound=1.0, on_failure="ignore",
                        save="final")  # fmt: skip
    outside = abs(path["y"]) > 1.0
    first = np.where(outside.any(axis=0), outside.argmax(axis=0), -1)
    assert np.array_equal(left.failed_step, first)


def test_the_numbers_are_those_of_noise():
    """A step of Euler-Maruyama repeated with pi.noise, to a rounding of each operation."""
    system = pi.sde(dim=2)(lambda t, y: (-y, [[1.0, y[1]], [y[0], 2.0]]))
    y, dt, k = start(system, 20), 0.1, 3
    found = pi.integrate(system, y, dt=dt, n_steps=2, seed=8, substeps=k).y
    lanes = np.arange(20)
    for n in range(2):
        z = [sum(pi.noise(8, lanes, k * n + j, i) for j in range(k)) for i in (0, 1)]
        dW = np.sqrt(dt / k) * np.array(z)
        a, b = found[n].T
        expected = np.stack([a - dt * a + dW[0] + b * dW[1], b - dt * b + a * dW[0] + 2 * dW[1]])
        assert np.abs(found[n + 1] - expected.T).max() < 1e-14


def test_the_same_numbers_for_many_parameters():
    """An array of numbers of trajectories: common random numbers."""
    sigma = np.linspace(0.1, 0.2, 5)
    sol = pi.integrate(growth(sigma=sigma), **RUN, seed=1, first_trajectory=np.zeros(5, int))
    alone = pi.integrate(growth(sigma=0.2), **RUN, seed=1)
    assert np.array_equal(sol.y[:, -1], alone.y)


@pytest.mark.parametrize("method", RUNS)
def test_files_pickles_and_digests_keep_the_noise(method, tmp_path):
    system = RUNS[method]
    first = np.arange(6)[::-1] + 2**40
    sol = pi.integrate(system, start(system, 6), **RUN, method=method, seed=2**64 - 1,
                       substeps=substeps(method), first_trajectory=first, save=20)  # fmt: skip
    sol.save(tmp_path / "run.npz")
    long = sol.resume(n_steps=9)
    for again in (pi.load(tmp_path / "run.npz"), pickle.loads(pickle.dumps(sol))):
        assert again.seed == sol.seed == 2**64 - 1
        assert again.digest() == sol.digest()
        assert np.array_equal(again.resume(n_steps=9).y, long.y)
        assert again.system == system
    other = pi.integrate(system, start(system, 6), **RUN, method=method, seed=1, save=20)
    assert other.digest() != sol.digest()


@pytest.mark.parametrize(
    "system", [growth, pi.langevin(pi.systems.oscillator, friction=1.0, temperature=1.0)]
)
@pytest.mark.parametrize("wrong", ["parameter", "noises"])
def test_a_program_that_does_not_fit_is_no_solution(system, wrong, tmp_path):
    """A parameter beyond those of the system is a row of the run: its seed, a random number."""
    x = start(system, 2)
    pi.integrate(system, x, **RUN, seed=1).save(tmp_path / "a.npz")
    header, arrays = files.read(tmp_path / "a.npz")
    *_, nodes, outputs = header["system"]["made_by"]["args"][0]["dict"]["traced"]["args"][0][
        "tuple"
    ]
    if wrong == "parameter":
        leaf = next(n["tuple"] for n in nodes["tuple"] if n["tuple"][0] == "parameter")
        leaf[2] = len(system.params)
    else:
        outputs["tuple"][0]["tuple"][1]["tuple"] = []  # of "diffusion", or of "acceleration"
    files.write(tmp_path / "b.npz", header, arrays)
    with pytest.raises(ValueError, match="is damaged: system: "):
        pi.load(tmp_path / "b.npz")


def test_dask_has_the_bits_of_one_run():
    da = pytest.importorskip("dask.array")
    x = start(growth, 50)
    whole = pi.integrate(growth, x, **RUN, seed=4, first_trajectory=7, save="final")
    lazy = pi.dask.integrate(growth, da.from_array(x, chunks=(13, 1)), **RUN, seed=4,
                             first_trajectory=7, save="final")  # fmt: skip
    assert np.array_equal(lazy.final.compute(), whole.final)
    assert lazy.compute().digest() == whole.digest()
    common = {"seed": 4, "first_trajectory": np.arange(50) % 5, "save": "final"}
    common["across"] = {"mean": pi.across.mean("y")}  # chunks with the noise of others
    whole = pi.integrate(growth, x, **RUN, **common).across
    lazy = pi.dask.integrate(growth, da.from_array(x, chunks=(13, 1)), **RUN, **common)
    assert np.array_equal(lazy.across.compute()["mean"], whole["mean"])


def test_compare_takes_a_seed():
    c = pi.compare(growth, dt=0.01, n_steps=10, seed=1)
    assert list(c) == ["milstein", "euler_maruyama"]


def test_watches_see_the_steps_of_a_noisy_path():
    watch = {"top": pi.watch.maximum("y"), "first": pi.watch.first_time(lambda t, y: y[0] > 1.01)}
    full = pi.integrate(growth, start(growth, 40), **RUN, seed=3, watch=watch)
    assert np.array_equal(full.watched["top"], full["y"].max(axis=0))
    above = full["y"] > 1.01
    times = np.where(above.any(axis=0), full.t[above.argmax(axis=0)], np.nan)
    assert np.array_equal(full.watched["first"], times, equal_nan=True)


def test_states_between_the_steps_lie_on_a_chord():
    sol = pi.integrate(growth, start(growth, 5), **RUN, seed=3)
    half = sol.at((sol.t[7] + sol.t[8]) / 2)
    assert np.abs(half - (sol.y[7] + sol.y[8]) / 2).max() < 1e-15


def test_the_method_follows_from_the_noise():
    general = pi.sde(dim=2)(lambda t, y: (-y, [y[1], y[0]]))
    meant = pi.sde(dim=1, interpretation="stratonovich")(lambda t, y: (-y, y))
    both = pi.sde(dim=2, interpretation="stratonovich")(lambda t, y: (-y, [y[1], y[0]]))
    expected = {growth: "milstein", driven: "milstein", general: "euler_maruyama"}
    expected |= {meant: "heun_stratonovich", both: "euler_maruyama", warm: "baoab"}
    for system, name in expected.items():
        assert pi.integrate(system, dt=0.1, n_steps=1, seed=1).method.name == name


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pi.integrate(growth, **RUN), r"needs a seed, a whole number: seed=1"),
        (lambda: pi.integrate(pi.systems.spring, **RUN, seed=1), "has no noise: leave it out"),
        (lambda: pi.integrate(pi.systems.spring, **RUN, substeps=2), "substeps was given"),
        (lambda: pi.integrate(growth, **RUN, seed=-1), "seed must be at least 0"),
        (lambda: pi.integrate(growth, **RUN, seed=1.0), "seed must be an integer"),
        (lambda: pi.integrate(growth, dt=-0.1, n_steps=1, seed=1), "dt must be positive"),
        (lambda: pi.integrate(growth, **RUN, seed=1, substeps=0), "substeps must be at least 1"),
        (lambda: pi.integrate(growth, **RUN, seed=1, first_trajectory=[1, 2], x0=np.ones((3, 1))),
         "x0 has batch shape .* and first_trajectory"),
        (lambda: pi.integrate(growth, **RUN, seed=1, first_trajectory=-1),
         "first_trajectory must be from 0"),
        (lambda: pi.integrate(growth, **RUN, seed=1, method="rk4"), "use euler_maruyama, milstein"),
        (lambda: pi.integrate(growth, **RUN, seed=1, method="sra1"), "takes additive noise.*sriw1"),
        (lambda: pi.integrate(growth, **RUN, seed=1, method="baoab"), "takes pi.langevin systems"),
        (lambda: pi.integrate(warm, **RUN, seed=1, method="brownian_baoab"), "is for overdamped"),
        (lambda: pi.integrate(pi.systems.spring, **RUN, method="milstein"), "by @pi.sde or"),
        (lambda: pi.integrate(growth, **RUN, seed=1, compensated=True), "compensated= does not go"),
        (lambda: pi.solve(growth, t_end=1.0), "use pi.integrate"),
        (lambda: pi.lyapunov(growth, dt=0.1, t_end=1.0), "has noise: integrate system.tangent"),
        (lambda: pi.integrate(growth.tangent(1), **RUN, seed=1, events={
            "up": pi.event("y", level=2.0, then=lambda t, y: 0.5 * y)}), "give a condition"),
        (lambda: pi.advise(growth, t_end=1.0, error=1e-3), "has noise"),
        (lambda: pi.analysis.convergence(growth, ["milstein"]), "a start has many motions"),
        (lambda: pi.analysis.work_precision(growth, ["milstein"]), "a start has many motions"),
        (lambda: pi.integrate(warm(), **RUN, seed=1, watch={"e": pi.watch.mean("energy")}),
         "has no formula: give a function"),
        (lambda: pi.integrate(growth, **RUN, seed=1, method="ri6", substeps=2),
         "of weak order only"),
        (lambda: pi.sde(dim=2)(lambda t, y: -y), "must return the drift and the diffusion"),
        (lambda: pi.sde(dim=2)(lambda t, y: (-y, [[1.0, 2.0]])), r"shape \(1, 2\) with dim=2"),
        (lambda: pi.sde(dim=1, interpretation="Ito")(lambda t, y: (-y, y)), "interpretation must"),
        (lambda: pi.sde(dim=1)(lambda t, y: (-y, DRAW.normal() * y)), "it is random"),
        (lambda: pi.concatenate(a := pi.integrate(growth, **RUN, seed=1),
                                pi.integrate(growth, a.final, **RUN, seed=2)), "noise|begins"),
    ],
)  # fmt: skip
def test_refusals_name_the_remedy(call, said):
    with pytest.raises((TypeError, ValueError), match=said):
        call()


@pytest.mark.parametrize("call", [
    lambda: pi.fit(growth, [0.0, 1.0], [1.0, 2.0], observe="y", free=["mu"]),
    lambda: pi.analysis.attractors(growth, {"y": (-2, 2)}, dt=0.1, seed=1),
    lambda: pi.analysis.periodic_orbits(growth, [1.0], 6.0),
])  # fmt: skip
def test_what_asks_for_the_motion_of_a_start_takes_no_noise(call):
    with pytest.raises(ValueError, match="'growth' has noise, and a start has many motions"):
        call()


def test_kinds_of_noise_are_proved_from_the_program():
    """By dependence, not by shape; commutativity as an identity."""

    def kind(g, dim=2):
        return pi.sde(dim=dim)(lambda t, y: (-y, g(t, y))).noise

    assert kind(lambda t, y: [1.0, 2.0 + t]) == "additive"
    assert kind(lambda t, y: [y[0], np.sin(y[1]) * t]) == "diagonal"
    assert kind(lambda t, y: [[y[0], 0.0], [0.0, y[1]]]) == "diagonal"
    assert kind(lambda t, y: [y[0] * np.sqrt(y[1]), y[1]]) == "general"  # Heston's shape
    assert kind(lambda t, y: [[0.1 * y[0], 0.2 * y[0]], [0.1 * y[1], 0.2 * y[1]]]) == "commutative"
    assert kind(lambda t, y: [[y[0] ** 2 + y[1]], [y[0]]]) == "commutative"  # a single noise
    assert kind(lambda t, y: [[1.0, 0.0], [0.0, y[0]]]) == "general"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert warm.noise == "additive"
