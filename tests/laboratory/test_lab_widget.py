"""The lab without a browser: states in, arrays out, equal to those of pi.integrate to the digit."""

import json
import sys

import numpy as np
import pytest

import pyintegrate as pi

pytest.importorskip("anywidget")
from pyintegrate.laboratory import front_end  # noqa: E402
from pyintegrate.laboratory.record import (  # noqa: E402
    describe_system,
    drawable,
    steps_of,  # noqa: E402
)

ARRAYS = ("t", "y", "ghost", "energy", "ghost_energy", "phase", "distance")


def array(run, name, dim=None):
    values = np.frombuffer(run[name])
    return values if dim is None else values.reshape(-1, dim)


def sent_by_the_browser(lab, **patch):
    """What a move in the front end does: a message of the widget's protocol."""
    number = lab.state.get("number", 0) + 1
    state = json.loads(json.dumps({**lab.state, **patch, "number": number}))
    message = {"method": "update", "state": {"state": state}, "buffer_paths": []}
    lab._handle_msg({"content": {"data": message}, "buffers": []})
    assert lab.record["number"] == number
    return lab.record


def test_steps_are_the_nearest_whole_number():
    """0.3 / 0.1 is a little less than 3 in doubles, and 0.7 / 0.1."""
    assert [steps_of(0.1, n / 10) for n in range(1, 50)] == list(range(1, 50))
    assert (steps_of(0.1, 1e-9), steps_of(1e-9, 1.0)) == (1, 20_000)


@pytest.mark.parametrize("name", sorted(drawable()))
def test_the_numbers_are_those_of_integrate(name):
    lab = pi.lab(name)
    sent_by_the_browser(lab, t_end=30 * lab.state["dt"])
    system = drawable()[name]
    assert [run["method"] for run in lab.record["runs"]] == lab.state["methods"]
    for run in lab.record["runs"]:
        sol = pi.integrate(
            system, lab.state["start"], dt=lab.state["dt"], n_steps=30, method=run["method"]
        )
        assert array(run, "y", system.dim).tobytes() == np.ascontiguousarray(sol.y).tobytes()
        assert array(run, "t").tobytes() == sol.t.tobytes()
        if system.has_energy:
            assert array(run, "energy").tobytes() == sol.energy_error().tobytes()
        if lab.record["ghost"] == "the exact solution":
            assert array(run, "ghost", system.dim).tobytes() == sol.exact().tobytes()


def test_phase_and_energy_are_the_articles():
    """RK4 loses 4 % of the energy, semi-implicit Euler runs 2.35 rad ahead: the first picture."""
    lab = pi.lab(dt=0.1)
    rk4, euler = lab.record["runs"]
    assert f"{array(rk4, 'energy')[-1]:.4f}" == "-0.0406"
    assert f"{array(euler, 'phase')[-1]:.4f}" == "2.3470"
    assert array(euler, "phase").tobytes() == (
        pi.analysis.phase_drift(lab.solution["semi_implicit_euler"]).tobytes()
    )


@pytest.mark.parametrize(("name", "relative"), [("pendulum", True), ("constant_force", False)])
def test_energies_are_shares_unless_the_first_is_zero(name, relative):
    """The front end writes shares as percentages; joules from 0 are none."""
    lab = pi.lab(name)
    assert {run["relative"] for run in lab.record["runs"]} == {relative}
    assert lab.solution["rk4"].energy()[0] == 0 or relative


def test_the_lines_make_the_same_numbers():
    lab = pi.lab(pi.systems.spring(k=3.0), 0.3, -0.1, methods=["rk4", "velocity_verlet"], dt=0.03)
    sent_by_the_browser(lab, params={"k": 7.123456789012345, "b": 0.0, "m": 1.0}, t_end=2.0,
                        equal_work=True)  # fmt: skip
    names: dict = {}
    exec(lab.python.replace("c.plot()", ""), names)
    for key, sol in names["c"].items():
        assert sol.y.tobytes() == lab.solution[key].y.tobytes()
        assert sol.dt == lab.solution[key].dt
    runs = lab.record["runs"]
    assert runs[0]["evaluations"] == runs[1]["evaluations"]
    assert runs[0]["dt"] == pytest.approx(2 * runs[1]["dt"])  # Verlet shares no force here


def test_own_systems_and_methods():
    @pi.acceleration(k=2.0, b=0.1)
    def cubic(t, x, v, k, b):
        return -k * x**3 - b * v

    mine = pi.Composition([("drift", 0.5), ("kick", 1.0), ("drift", 0.5)], name="mine")
    lab = pi.lab(cubic, 1.0, 0.0, methods=["rk4", mine], dt=0.05, t_end=10.0)
    assert lab.about["systems"]["cubic"]["scene"]["kind"] == "bead"
    assert "mine" in lab.about["systems"]["pendulum"]["fitting"]
    sol = pi.integrate(cubic, 1.0, 0.0, dt=0.05, n_steps=200, method=mine)
    assert lab.solution["mine"].y.tobytes() == sol.y.tobytes()
    assert "given to pi.lab" in lab.python
    assert array(lab.record["runs"][0], "phase").shape == (201,)  # it goes to and fro


def test_the_lines_name_an_own_method_though_the_catalogue_has_its_name():
    lab = pi.lab(methods=[pi.RungeKutta([[0]], [1], name="rk4")], dt=0.05, t_end=10.0)
    assert "# rk4: the method that was given to pi.lab" in lab.python


def test_a_rigid_body_turns_as_a_box():
    tumbling = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1 / 2, 1 / 3))
    start = [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.01, 1, 0]
    lab = pi.lab(tumbling, *start, methods=["rigid_rk4", "rigid_splitting2"], dt=0.1, t_end=20.0)
    assert lab.about["systems"]["rigid_body"]["scene"]["kind"] == "box"
    inertia = lab.about["systems"]["rigid_body"]["params"]["inverse_inertia"]
    assert np.array(inertia["value"]).shape == (3, 3)
    assert inertia["high"] == [3.0, 1.5, 1.0]  # three times the diagonal
    assert lab.record["ghost"].startswith("pi.solve")
    for run in lab.record["runs"]:
        y, true = (array(run, name, 13)[:, 3:7] for name in ("y", "ghost"))
        turned = abs((y * true).sum(axis=-1)) / np.linalg.norm(y, axis=-1)
        # cos of half the angle: 1 - angle^2 / 8, so that a few roundings are 1e-7 of an angle
        assert array(run, "distance") == pytest.approx(
            2 * np.arccos(np.minimum(turned, 1)), abs=3e-7
        )
    names: dict = {}
    exec(lab.python.replace("c.plot()", ""), names)
    assert names["c"]["rigid_rk4"].y.tobytes() == lab.solution["rigid_rk4"].y.tobytes()


def test_a_system_without_a_default_start_begins_at_the_given_one():
    bodies, start = pi.systems.n_body(n=4), np.random.default_rng(1).normal(size=24)
    assert bodies.initial is None
    lab = pi.lab(bodies, start)
    assert lab.state["start"] == start.tolist()
    sent_by_the_browser(lab, t_end=5 * lab.state["dt"])
    lab.state = {**lab.state, "start": (2 * start).tolist()}
    assert lab.solution["rk4"].y[0].tolist() == (2 * start).tolist()


def test_matrices_have_sliders_only_on_a_diagonal():
    hung = pi.systems.rigid_body(anchors=[[0, 0, 1]])
    params = describe_system(hung)["params"]
    assert {name: len(params[name]["low"]) for name in ("anchors", "stiffness", "torque")} == {
        "anchors": 0, "stiffness": 1, "torque": 3
    }  # fmt: skip


def test_explosions_are_shown():
    """Beyond its limit a method leaves every picture; the record says where, and nothing raises."""
    lab = pi.lab(pi.systems.oscillator, dt=2.5, t_end=20_000.0,
                 methods=["rk4", "semi_implicit_euler", "explicit_euler"])  # fmt: skip
    rk4, euler, explicit = lab.record["runs"]
    assert rk4["stability"]["oscillation"] == pytest.approx(8**0.5)
    assert rk4["failed"] == -1
    assert 0 < euler["failed"] < 8000
    assert explicit["stability"]["oscillation"] == 0
    assert np.isfinite(array(euler, "y")).all()  # the last good state, repeated
    assert lab.record["turning"] == [[0.0, 1.0], [0.0, -1.0]]


def test_a_state_that_cannot_be_carried_out_says_why():
    lab = pi.lab(dt=0.1, t_end=1.0)
    before = lab.solution
    assert "dt" in sent_by_the_browser(lab, dt=0.0)["error"]
    assert "separable" in sent_by_the_browser(lab, dt=0.1, system="lorenz", start=[1.0, 1, 1],
                                              params={})["error"]  # fmt: skip
    assert lab.solution is before
    assert (lab.state["system"], lab.state["dt"], lab.state["number"]) == ("oscillator", 0.1, 2)
    assert "runs" in sent_by_the_browser(lab, system="oscillator", start=[1.0, 0.0])


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"dt": -1}, ValueError, "dt and t_end must be positive"),
        ({"dt": "0.1"}, TypeError, "dt must hold real numbers"),
        ({"dt": [0.1, 0.2]}, ValueError, "dt must be one number"),
        ({"dtt": 0.1}, ValueError, "dtt is too much"),
        ({"methods": ["rk4x"]}, ValueError, "'rk4x' is not known"),
        ({"methods": ["rk4", "midpoint", "heun2", "heun3", "kutta3"]}, ValueError, "4 methods"),
        ({"start": [1.0, 0.0, 0.0]}, ValueError, "start|x0"),
        ({"start": [[1.0, 0.0], [2.0, 0.0]]}, ValueError, "one start"),
        ({"params": {"omegaa": 1.0}}, TypeError, "omega"),
        ({"params": {"omega": [1.0, 2.0]}}, ValueError, "batch"),
        ({"system": "oscilator"}, ValueError, "oscillator"),
        ({"equal_work": "no"}, TypeError, "equal_work must be True or False"),
    ],
)
def test_a_wrong_state_from_python_raises_and_changes_nothing(change, error, says):
    lab = pi.lab(dt=0.1, t_end=1.0, methods=["rk4"])
    state, solution, record = lab.state, lab.solution, lab.record
    with pytest.raises(error, match=says):
        lab.state = {**lab.state, **change}
    assert (lab.state, lab.solution, lab.record) == (state, solution, record)
    with pytest.raises(ValueError, match=r"system.* is too much or missing; .*\{\*\*lab.state"):
        lab.state = {"dt": 0.1}


def test_a_state_from_python_is_carried_out_once_and_written_plainly(monkeypatch):
    lab, carried = pi.lab(dt=0.1, t_end=1.0, methods=["rk4"]), []
    once = lab._carry_out
    monkeypatch.setattr(lab, "_carry_out", lambda state: carried.append(state) or once(state))
    lab.state = {**lab.state, "methods": "RK45", "start": np.array([2.0, 0.0])}
    assert (lab.state["methods"], lab.state["start"]) == (["dormand_prince54"], [2.0, 0.0])
    assert carried == [lab.state]
    assert array(lab.record["runs"][0], "y", 2)[0].tolist() == [2.0, 0.0]
    assert [*lab.solution] == ["dormand_prince54"]


def test_the_lab_says_in_plain_python_what_it_is():
    text = repr(pi.lab(dt=0.1, t_end=1.0, methods=["rk4"]))
    for part in ("oscillator", "rk4", "dt = 0.1", "lab.solution", "lab.python"):
        assert part in text


def test_rates_for_the_line_of_formulas():
    lab, sent = pi.lab(pi.systems.pendulum, dt=0.1, t_end=1.0), []
    lab.send = sent.append
    question = {"ask": "rates", "t": [0.0, 0.0], "y": [[1.0, 0.5], [0.0, 2.0]], "number": 3}
    lab._handle_msg({"content": {"data": {"method": "custom", "content": question}}, "buffers": []})
    rates = pi.systems.pendulum.rhs([0.0, 0.0], question["y"])
    assert sent == [{"number": 3, "rates": rates.tolist()}]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: pi.lab(pi.systems.oscillator(omega=[1.0, 2.0])), "batch"),
        (lambda: pi.lab(pi.systems.oscillator, [1.0, 2.0], 0.0), "one start"),
        (lambda: pi.lab(lambda t, y: -y), "pi.rhs"),
        (lambda: pi.lab("oscilator"), "oscillator"),
        (lambda: pi.lab(dt=0), "dt and t_end must be positive"),
        (lambda: pi.lab(t_end=0.0), "dt and t_end must be positive"),
        (lambda: pi.lab(dt=[0.1, 0.2]), "dt must be one number"),
        (lambda: pi.lab(dt="0.1"), "dt must hold real numbers"),
        (lambda: pi.lab(methods=["rk4", "midpoint", "heun2", "heun3", "kutta3"]), "4 methods"),
        (lambda: pi.lab(pi.systems.lorenz, methods=["velocity_verlet"]), "separable"),
    ],
)
def test_what_the_lab_cannot_show_is_refused(call, says):
    with pytest.raises((TypeError, ValueError, KeyError), match=says):
        call()


def test_without_anywidget_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match="pip install anywidget$"):
        pi.lab()


def test_without_the_page_it_says_where_the_lab_is(monkeypatch, tmp_path):
    monkeypatch.setattr(front_end, "STATIC", tmp_path)
    with pytest.raises(OSError, match="pip install anywidget"):
        front_end.page()


def test_the_front_end_is_one_module_that_knows_the_record():
    text = front_end.notebook_module()
    assert "\nimport " not in text
    assert [line for line in text.splitlines() if line.startswith("export")] == [
        "export default { render };"
    ]
    lab = pi.lab(dt=0.1, t_end=1.0)
    json.dumps(lab.about)  # plain data
    for name in ARRAYS:
        assert f'"{name}"' in text
        assert len(lab.record["runs"][0][name]) % 8 == 0
    for path in front_end.STATIC.glob("*.js"):
        assert len(path.read_text().splitlines()) <= 450


def test_a_fan_of_noise_is_that_of_the_law():
    """x of an oscillator in a heat bath is normal in the end, of the variance kT / omega^2."""
    lab = pi.lab(pi.systems.oscillator(omega=2.0), dt=0.1, t_end=60.0)
    fan = sent_by_the_browser(lab, fan={"noise": 0.8, "friction": 1.0})["fan"]
    t, rows = array(fan, "t"), array(fan, "rows", 301)
    assert (fan["method"], t[1], t[-1]) == ("baoab", 0.2, 60.0)  # 500 times at most
    normal = 0.8**0.5 / 2 * np.array([-1.6449, -0.6745, 0.0, 0.6745, 1.6449])
    late = rows[:, t > 20].mean(axis=1)
    # a quantile of 1,000 has the deviation sqrt(q (1 - q) / 1000) / density: 0.03 at most; each
    # second is a new sample
    assert late == pytest.approx(normal, abs=4 * 0.03 / 40**0.5)


@pytest.mark.parametrize("of", ["length", "theta", "omega"])
def test_a_fan_of_a_spread_is_of_the_motions_themselves(of):
    """A thousand, even to both sides; where the value is zero, by so much of 1."""
    lab = pi.lab(pi.systems.pendulum(length=2.0), 0.5, 0.0, methods="velocity_verlet", dt=0.05)
    fan = sent_by_the_browser(lab, t_end=3.0, fan={"of": of, "spread": 0.2})["fan"]
    many = np.linspace(-0.2, 0.2, 1000)
    system = pi.systems.pendulum(length=2.0 * (1 + many) if of == "length" else 2.0)
    x0 = 0.5 * (1 + many) if of == "theta" else 0.5
    v0 = many if of == "omega" else 0.0
    sol = pi.integrate(system, x0, v0, dt=0.05, n_steps=60, method="velocity_verlet")
    ranks = np.array([50, 250, 500, 750, 950]) - 1
    expected = np.sort(sol.y[..., 0], axis=1)[:, ranks].T
    # 2 (1 + u) and 2 + 2 u differ by rounding, which a minute of swinging does not grow
    assert array(fan, "rows", 61) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("system", "method"),
    [
        (pi.systems.double_well(temperature=0.3), "milstein"),
        (pi.systems.noisy_van_der_pol, "sra1"),
        (pi.langevin(pi.systems.oscillator, friction=0.5, temperature=0.2), "gjf"),
    ],
)
def test_a_system_with_noise_over_the_same_noise_at_finer_steps(system, method):
    """Its runs, its ghost and the fan are those of pi.integrate, with seed 1."""
    lab = pi.lab(system, methods=[method, "euler_maruyama"], dt=0.05, t_end=2.0)
    run, fan = lab.record["runs"][0], lab.record["fan"]
    how = {"dt": 0.05, "n_steps": 40, "seed": 1, "method": method}
    sol = pi.integrate(system, substeps=16, **how)
    fine = how | {"dt": 0.05 / 16, "n_steps": 640, "method": system.default_method}
    assert array(run, "y").tobytes() == sol.y.tobytes()
    assert array(run, "ghost").tobytes() == pi.integrate(system, save=16, **fine).y.tobytes()
    many = pi.integrate(system, np.tile(system.initial, (1000, 1)), **how)
    middle = np.sort(many.y[..., 0], axis=1)[:, 499]  # the fan has no substeps
    assert array(fan, "rows", 41)[2].tobytes() == middle.tobytes()
    assert run["stability"] is None
    assert lab.about["systems"][system.name]["heat"] is None
    names: dict = {system.name: system}
    exec(lab.python.replace("c.plot()", ""), names)
    assert names["c"][method].y.tobytes() == sol.y.tobytes()


def test_no_fan_where_none_is_asked_for():
    lab = pi.lab(dt=0.1, t_end=1.0)
    assert lab.record["fan"] == {}
    lab.state = {**lab.state, "fan": {"noise": 0.0, "friction": 0.3}}
    assert lab.record["fan"] == {}
    assert lab.about["systems"]["lorenz"]["heat"] is None  # no energy, no heat
    assert set(lab.about["systems"]["oscillator"]["heat"]) == {"noise", "friction"}


@pytest.mark.parametrize(
    ("system", "fan", "says"),
    [
        ("oscillator", {"nois": 1.0}, "fan must be one of noise"),
        ("oscillator", {"noise": -1.0}, "noise must be a number from 0 on"),
        ("oscillator", {"noise": float("nan")}, "noise must be a number from 0 on"),
        ("oscillator", {"spread": "x"}, "spread must hold real numbers"),
        ("oscillator", {"spread": 1.0, "of": "z"}, "of must be one of x, v, omega"),
        ("three_body", {"spread": 1.0, "of": "masses"}, "of must be one of"),
        ("lorenz", {"noise": 1.0}, "a heat bath needs"),
    ],
)
def test_a_fan_that_cannot_be_is_refused(system, fan, says):
    lab = pi.lab(system, t_end=1.0)
    before = lab.state
    with pytest.raises((TypeError, ValueError), match=says):
        lab.state = {**lab.state, "fan": fan}
    assert lab.state == before
