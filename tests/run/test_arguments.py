"""Every wrong argument is refused before anything runs, by a message that names the argument, what
came and what was expected, and sizes that no machine has are refused with the cure.
"""

import re

import numpy as np
import pytest

import pyintegrate as pi

SPRING, KEPLER, LORENZ = pi.systems.spring, pi.systems.kepler, pi.systems.lorenz
NAN, INF = float("nan"), float("inf")


def run(system=SPRING, *state, dt=0.1, **options):
    if not {"n_steps", "t_end"} & set(options):
        options["n_steps"] = 3
    return pi.integrate(system, *state, dt=dt, **options)


# ---- wrong calls ---------------------------------------------------------------------------------

WRONG = [  # what is wrong, positional arguments, keyword arguments, exception, words of the message
    ("no system", [None], {}, TypeError, "system NoneType System"),
    ("a name", ["spring"], {}, TypeError, "system str System pi.systems['spring']"),
    ("a function", [len], {}, TypeError, "system builtin_function_or_method"),
    # the state
    ("scalar state", [SPRING, 1.0], {}, ValueError, "x0 () 2 components x v spring"),
    ("short state", [SPRING, [1.0]], {}, ValueError, "x0 (1,) 2 components"),
    ("long state", [SPRING, [1.0, 0, 0]], {}, ValueError, "x0 (3,) 2 components"),
    ("empty list", [SPRING, []], {}, ValueError, "x0 (0,) 2 components"),
    ("components first", [KEPLER, np.ones((4, 9))], {}, ValueError, "x0 (4, 9) last axis 4 kepler"),
    ("v0 alone", [SPRING, None, 0.0], {}, ValueError, "v0 x0 both"),
    ("v0 of first order", [LORENZ, np.ones(3), 0.0], {}, ValueError, "v0 lorenz first_order x0"),
    ("scalar x0", [KEPLER, 1.0, [0.0, 1]], {}, ValueError, "x0 () last axis 2 positions kepler"),
    ("whole x0", [KEPLER, np.ones(4), np.ones(2)], {}, ValueError, "x0 (4,) 2 positions"),
    ("long v0", [KEPLER, np.ones(2), np.ones(3)], {}, ValueError, "v0 (3,) 2 velocities"),
    ("unlike x0, v0", [SPRING, np.ones((3, 4)), np.ones(5)], {}, ValueError,
     "x0 (3, 4) v0 (5,) do not broadcast"),
    ("unlike x0, dt", [SPRING, np.ones((3, 2))], {"dt": [0.1] * 4}, ValueError,
     "x0 (3,) dt (4,) do not broadcast"),
    ("unlike x0, k", [SPRING(k=[1.0, 2]), np.ones((3, 2))], {}, ValueError,
     "x0 (3,) k (2,) do not broadcast"),
    ("unlike k, b", [SPRING(k=[1.0, 2], b=[1.0, 2, 3])], {}, ValueError,
     "k (2,) b (3,) do not broadcast"),
    ("unlike t0, dt", [SPRING], {"t0": [0.0] * 3, "dt": [0.1] * 2}, ValueError,
     "t0 (3,) dt (2,) do not broadcast"),
    ("unlike t_end, x0", [SPRING, np.ones((3, 2))], {"t_end": [0.1] * 2}, ValueError,
     "t_end (2,) x0 (3,) do not broadcast"),
    ("complex x0", [SPRING, [1j, 0]], {}, TypeError, "x0 real complex128"),
    ("complex v0", [SPRING, 1.0, 1j], {}, TypeError, "v0 real complex128"),
    ("object x0", [SPRING, [None, 1]], {}, TypeError, "x0 real object"),
    ("string x0", [SPRING, ["1", "2"]], {}, TypeError, "x0 real <U1"),
    ("bool x0", [SPRING, [True, False]], {}, TypeError, "x0 real bool"),
    ("dates", [SPRING, np.zeros(2, "M8[s]")], {}, TypeError, "x0 real datetime64"),
    ("records", [SPRING, np.zeros(2, "f8,f8")], {}, TypeError, "x0 real f0"),
    ("a set", [SPRING, {1.0, 2.0}], {}, TypeError, "x0 real object"),
    ("axes of x0", [SPRING, np.ones((1,) * 40)], {}, ValueError, "x0 40 axes 32"),
    ("axes of dt", [SPRING], {"dt": np.ones((1,) * 64)}, ValueError, "dt 64 axes 32"),
    ("ragged x0", [SPRING, [[1, 2], [3]]], {}, ValueError, "x0 regular"),
    ("ragged v0", [SPRING, 0.0, [[1, 2], [3]]], {}, ValueError, "v0 regular"),
    # the step
    ("dt zero", [SPRING], {"dt": 0}, ValueError, "dt finite non-zero 0.0"),
    ("dt nan", [SPRING], {"dt": NAN}, ValueError, "dt finite non-zero nan"),
    ("dt inf", [SPRING], {"dt": -INF}, ValueError, "dt finite non-zero -inf"),
    ("one dt zero", [SPRING], {"dt": [0.1, 0]}, ValueError, "dt finite non-zero 0.0"),
    ("one dt nan", [SPRING], {"dt": [[0.1], [NAN]]}, ValueError, "dt finite non-zero nan"),
    ("dt vanishes", [SPRING], {"dt": 1e-60, "dtype": "f4"}, ValueError, "dt 1e-60 float32"),
    ("dt overflows", [SPRING], {"dt": 1e60, "dtype": "f4"}, ValueError, "dt 1e+60 float32"),
    ("dt None", [SPRING], {"dt": None}, TypeError, "dt real object"),
    ("dt string", [SPRING], {"dt": "0.1"}, TypeError, "dt real <U3"),
    ("dt complex", [SPRING], {"dt": 1j}, TypeError, "dt real complex128"),
    ("dt bool", [SPRING], {"dt": True}, TypeError, "dt real bool"),
    ("t0 nan", [SPRING], {"t0": NAN}, ValueError, "t0 finite nan"),
    ("t0 inf", [SPRING], {"t0": [0.0, INF]}, ValueError, "t0 finite inf"),
    ("t0 overflows", [SPRING], {"t0": 1e60, "dtype": "f4"}, ValueError, "t0 1e+60 float32"),
    ("t0 single", [pi.systems.duffing], {"t0": 1e9, "dtype": "f4"}, ValueError,
     "dt = 0.1 t0 = 1000000000.0 float32 nearer dtype=np.float64"),
    ("t0 endless", [pi.systems.duffing], {"t0": [0.0, 1e18]}, ValueError, "t0 = 1e+18 float64"),
    ("t0 string", [SPRING], {"t0": "now"}, TypeError, "t0 real <U3"),
    # how many
    ("neither end", [SPRING], {"n_steps": None}, ValueError, "exactly one t_end n_steps neither"),
    ("two ends", [SPRING], {"n_steps": 3, "t_end": 1.0}, ValueError, "t_end n_steps both"),
    ("n_steps < 0", [SPRING], {"n_steps": -1}, ValueError, "n_steps at least 0 -1"),
    ("n_steps float", [SPRING], {"n_steps": 3.0}, TypeError, "n_steps integer 3.0"),
    ("n_steps bool", [SPRING], {"n_steps": True}, TypeError, "n_steps integer True"),
    ("n_steps array", [SPRING], {"n_steps": np.array([3])}, TypeError, "n_steps integer [3]"),
    ("n_steps string", [SPRING], {"n_steps": "3"}, TypeError, "n_steps integer '3'"),
    ("n_steps huge", [SPRING], {"n_steps": 10**30}, ValueError, "n_steps at most 9007199254740992"),
    ("t_end nan", [SPRING], {"t_end": NAN}, ValueError, "t_end finite nan"),
    ("t_end string", [SPRING], {"t_end": "1"}, TypeError, "t_end real <U1"),
    ("t_end between", [SPRING], {"t_end": 0.25}, ValueError,
     "t_end 0.25 2.5 dt 0.1 whole t_end = 0.2 (2 steps) t_end = 0.3 (3 steps)"),
    ("one t_end between", [SPRING], {"t_end": [0.2, 0.25]}, ValueError, "t_end 0.25 2.5 whole"),
    ("one of two axes between", [SPRING], {"dt": [[0.1], [0.25]], "t_end": [1.0, 2.0, 2.03]},
     ValueError, "t_end = 2.03 20.3 steps of dt = 0.1 nearest 2 (20 steps) 2.1 (21 steps)"),
    ("t_end behind", [SPRING], {"t_end": -1.0}, ValueError, "t_end -1 behind t0 0 dt 0.1"),
    ("t_end ahead", [SPRING], {"t_end": 1.0, "dt": -0.1}, ValueError, "t_end 1 behind t0 dt -0.1"),
    ("one behind", [SPRING], {"t_end": [1.0, -1.0]}, ValueError, "same number of steps t_end"),
    ("a map of steps", [SPRING], {"dt": [0.1, 0.2], "t_end": 2.0}, ValueError,
     "from 10 to 20 n_steps= one call for each dt pi.solve"),
    ("unequal steps", [SPRING], {"t_end": [0.3, 0.4]}, ValueError, "same number steps 3 4"),
    ("unequal by dt", [SPRING], {"t_end": 1.0, "dt": [0.1, 0.2]}, ValueError, "same number 5 10"),
    ("unequal by t0", [SPRING], {"t_end": 1.0, "t0": [0.1, 0.2]}, ValueError, "same number 8 9"),
    ("too many", [SPRING], {"t_end": 1e300, "dt": 1e-5}, ValueError, "t_end dt steps 2**53"),
    ("endless", [SPRING], {"t_end": 1e308, "dt": 1e-300}, ValueError, "t_end dt"),
    ("endless t", [SPRING], {"t_end": 1e308, "t0": -1e308}, ValueError, "t_end t0"),
    # the method
    ("unknown method", [SPRING], {"method": "rkk4"}, ValueError, "'rkk4' did you mean 'rk4'"),
    ("strange method", [SPRING], {"method": "zzz"}, ValueError, "method 'zzz' pi.methods.table()"),
    ("auto", [SPRING], {"method": "auto"}, ValueError, "'auto' pi.solve(system pi.advise(system"),
    ("leapfrog", [SPRING], {"method": "leapfrog"}, ValueError,
     "leapfrog ambiguous velocity_verlet kick-drift-kick position_verlet drift-kick-drift"),
    ("method None", [SPRING], {"method": None}, TypeError, "method name NoneType"),
    ("method list", [SPRING], {"method": ["rk4"]}, TypeError, "method name list"),
    ("method and system", [LORENZ], {"method": "velocity_verlet"}, ValueError,
     "velocity_verlet separable lorenz first_order rk4"),
    # the rest
    ("save 0", [SPRING], {"save": 0}, ValueError, "save at least 1 0"),
    ("save < 0", [SPRING], {"save": -5}, ValueError, "save at least 1 -5"),
    ("save float", [SPRING], {"save": 2.0}, TypeError, "save integer 2.0 times="),
    ("save bool", [SPRING], {"save": True}, TypeError, "save integer True"),
    ("save None", [SPRING], {"save": None}, TypeError, "save integer None"),
    ("save word", [SPRING], {"save": "some"}, ValueError, "save 'all' 'final' 'some'"),
    ("dtype int", [SPRING], {"dtype": int}, ValueError, "dtype float32 float64 int64"),
    ("dtype half", [SPRING], {"dtype": np.float16}, ValueError, "dtype float32 float64 float16"),
    ("dtype complex", [SPRING], {"dtype": complex}, ValueError, "dtype float32 complex128"),
    ("dtype swapped", [SPRING], {"dtype": ">f8"}, ValueError, "dtype float64 >f8"),
    ("dtype word", [SPRING], {"dtype": "real"}, TypeError, "dtype float32 float64 'real'"),
    ("workers 0", [SPRING], {"workers": 0}, ValueError, "workers at least 1 -1 all cores 0"),
    ("workers -2", [SPRING], {"workers": -2}, ValueError, "workers at least -1 -2"),
    ("workers float", [SPRING], {"workers": 1.0}, TypeError, "workers integer 1.0"),
    ("workers None", [SPRING], {"workers": None}, TypeError, "workers integer None"),
    ("progress 1", [SPRING], {"progress": 1}, TypeError, "progress True False callable 1"),
    ("progress None", [SPRING], {"progress": None}, TypeError, "progress callable None"),
    ("on_failure", [SPRING], {"on_failure": "stop"}, ValueError,
     "on_failure warn raise ignore 'stop'"),
    ("on_failure None", [SPRING], {"on_failure": None}, (TypeError, ValueError), "on_failure None"),
    ("on_failure array", [SPRING], {"on_failure": np.ones(2)}, (TypeError, ValueError),
     "on_failure warn"),
    ("bound 0", [SPRING], {"bound": 0.0}, ValueError, "bound positive 0.0"),
    ("bound < 0", [SPRING], {"bound": -1}, ValueError, "bound positive -1"),
    ("bound nan", [SPRING], {"bound": NAN}, ValueError, "bound positive nan"),
    ("bound array", [SPRING], {"bound": [1.0, 2.0]}, ValueError, "bound number [1.0, 2.0]"),
    ("bound string", [SPRING], {"bound": "1"}, TypeError, "bound real <U1"),
    ("unknown argument", [SPRING], {"steps": 3}, TypeError, "steps"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "words"),
    [row[1:] for row in WRONG],
    ids=[row[0].replace(" ", "-") for row in WRONG],
)
def test_a_wrong_call_is_refused_by_name(arguments, options, kind, words):
    called = []
    options = {"progress": lambda *call: called.append(call), **options}
    with pytest.raises(kind) as caught:
        run(*arguments, **options)
    message = str(caught.value)
    missing = [w for w in re.findall(r"'[^']*'|\([^)]*\)|\[[^]]*\]|\S+", words) if w not in message]
    assert missing == [], message
    assert called == []


def test_a_stepper_refuses_steps_that_take_no_time_and_runs_of_no_steps_take_any():
    late = {"dt": 0.1, "t0": 1e9, "dtype": np.float32}
    with pytest.raises(ValueError, match="dt = 0.1 is lost"):
        pi.Stepper(pi.systems.duffing, **late)
    assert len(pi.integrate(pi.systems.duffing, n_steps=0, **late)) == 1
    assert len(pi.integrate(SPRING, n_steps=3, **late)) == 4  # which asks for no time


def test_dt_must_be_given():
    with pytest.raises(TypeError, match="dt"):
        pi.integrate(SPRING, n_steps=3)


WRONG_PARAMETERS = [
    ("oscillator", {"omga": 1.0}, TypeError, "oscillator 'omga' did you mean 'omega'"),
    ("spring", {"stiff": 1.0}, TypeError, "spring 'stiff' b k m"),
    ("spring", {"k": 1j}, TypeError, "k real complex128"),
    ("spring", {"k": "3"}, TypeError, "k real <U1 '3'"),
    ("spring", {"k": {"a": 1}}, TypeError, "k real object {'a': 1}"),
    ("spring", {"k": None}, TypeError, "k real object"),
    ("spring", {"k": "15"}, TypeError, "k real <U2"),
    ("spring", {"k": True}, TypeError, "k real bool"),
    ("spring", {"k": [[1, 2], [3]]}, ValueError, "k regular"),
    ("spring", {"k": np.ones((1,) * 33)}, ValueError, "k 33 axes 32"),
]


@pytest.mark.parametrize(("system", "params", "kind", "words"), WRONG_PARAMETERS)
def test_a_wrong_parameter_is_refused_by_name(system, params, kind, words):
    with pytest.raises(kind) as caught:
        pi.systems[system](**params)
    assert [w for w in words.split() if w not in str(caught.value)] == []


# ---- sizes that cannot be ------------------------------------------------------------------------


def wide(*shape):
    """An array of that shape which takes eight bytes."""
    return np.broadcast_to(1.0, shape)


@pytest.mark.parametrize(
    "call",
    [
        lambda: run(n_steps=2**53),
        lambda: run(n_steps=2**52, save=2),
        lambda: run(SPRING, wide(1 << 42), 0.0),
        lambda: run(SPRING, wide(1 << 42, 1), wide(1 << 42), save="final"),
        lambda: run(SPRING, wide(1 << 21, 1, 1), wide(1 << 21, 1), t0=np.zeros(1 << 21)),
        lambda: run(SPRING, wide(1 << 20, 2), n_steps=1 << 30),
        lambda: run(n_steps=1).resume(n_steps=1 << 53),
        lambda: pi.solve(pi.systems.spring, wide(1 << 42), 0.0, t_end=1.0),
    ],
    ids=["steps", "saves", "batch", "product", "three", "record", "resume", "solve"],
)
def test_an_impossible_size_is_a_memory_error_with_the_cure(call):
    with pytest.raises(MemoryError, match=r"\d.*in parts"):
        call()


@pytest.mark.parametrize(
    ("save", "entries"), [("all", 10**15 + 1), (10**3, 10**12 + 1), (7, 142857142857144)]
)
def test_an_impossible_size_counts_the_states_that_would_be_saved(save, entries):
    with pytest.raises(MemoryError, match=f"^{entries} saved states of"):
        run(n_steps=10**15, save=save)


class Quantity(np.ndarray):
    """As in astropy, whose unit numpy.asarray takes away in silence."""

    def to_value(self):
        return self.view(np.ndarray)


def test_quantities_with_a_unit_are_no_numbers():
    thirty = np.array(30.0).view(Quantity)
    for name in ("x0", "v0", "dt", "t0"):
        run = {"x0": 1.0, "v0": 0.0, "dt": 0.1} | {name: thirty}
        with pytest.raises(TypeError, match=f"{name} has a unit"):
            pi.integrate(pi.systems.spring, **run, n_steps=1)
    with pytest.raises(TypeError, match="k has a unit"):
        pi.systems.spring(k=thirty)
    with pytest.raises(TypeError, match="which has a unit"):
        pi.acceleration(lambda t, x, v: -thirty * x, dof=2)


def test_masked_items_are_no_numbers():
    masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    for name in ("x0", "v0", "dt", "t0"):
        right = {"x0": 1.0, "v0": 0.0, "dt": 0.1, "t0": 0.0}
        with pytest.raises(ValueError, match=f"{name} has masked items"):
            pi.integrate(pi.systems.spring, **{**right, name: masked}, n_steps=1)
    with pytest.raises(ValueError, match=r"\bk\b.*masked items"):
        pi.systems.spring(k=masked)
    with pytest.raises(ValueError, match="x0 has masked items"):
        pi.integrate(pi.systems.spring, [masked[:2], masked[1:]], dt=0.1, n_steps=1)
    whole = np.ma.masked_array([1.0, 2.0])
    assert pi.integrate(pi.systems.spring, whole, 0.0, dt=0.1, n_steps=1).final.shape == (2, 2)


def test_names_have_no_hidden_characters():
    with pytest.raises(ValueError, match="rk4"):
        pi.methods["rk4\0"]


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "a\0", "a\x9bb"])
def test_names_that_cannot_be_printed_are_refused(name):
    """They stand in tables and messages: one could move the cursor, or hide what follows."""
    oscillator = pi.systems.oscillator
    short = {"dt": 0.1, "n_steps": 1}
    for call in (
        lambda: pi.acceleration(name=name)(lambda t, x, v: -x),
        lambda: pi.acceleration(title=name)(lambda t, x, v: -x),
        lambda: pi.acceleration(state_names=("x", name))(lambda t, x, v: -x),
        lambda: pi.RungeKutta([[0]], [1], name=name),
        lambda: pi.Composition([("kick", 1.0), ("drift", 1.0)], name=name),
        lambda: pi.Multistep([-1, 1], [1, 0], name=name),
        lambda: pi.integrate(oscillator, **short, watch={name: pi.watch.mean("x")}),
        lambda: pi.integrate(oscillator, **short, events={name: pi.event("x")}),
        lambda: pi.integrate(oscillator, **short, across={name: pi.across.mean("x")}),
        lambda: pi.integrate(oscillator, **short, method=name),
    ):
        with pytest.raises(ValueError, match="name|title|method") as told:
            call()
        assert name not in str(told.value)  # shown by its escapes


def test_parameters_are_given_by_name():
    bath = pi.langevin(pi.systems.oscillator, friction=0.5, temperature=1.0)
    for system in [*pi.systems.values(), bath, pi.systems.spring.tangent(1)]:
        if system.name != "n_body":  # which takes the number of bodies
            with pytest.raises(TypeError, match=f"{system.name} takes its parameters by name"):
                system(15.0, 0.1)
    with pytest.raises(TypeError, match=r"its force is fall.rhs\(t, y\)"):
        pi.rhs(dim=1, name="fall")(lambda t, y: -y)(0.0, [1.0])


def test_a_name_that_is_none_is_answered_with_those_there_are():
    spring, t = pi.systems.spring, np.linspace(0, 1, 9)
    watched = {"watch": {"far": pi.watch.maximum("x")}, "events": {"top": pi.event("x")}}
    sol = pi.integrate(spring, dt=0.1, n_steps=9, **watched)
    moved = pi.integrate(spring, dt=0.1, n_steps=9, sensitivity=("x0", "k"))
    fit = pi.fit(spring, t, np.cos(4 * t), free={"k": (0, 20)}, observe="x")
    for found, known in [
        (sol, "x, v"), (sol.watched, "far, far.time"), (sol.events, "top"),
        (sol.events["top"], "x, v"), (moved.sensitivity, "x0, k"), (spring.params, "k, b, m"),
        (spring.units, "x, v, k, b, m, t"), (pi.Stepper(spring, dt=0.1).params, "k, b, m"),
        (fit.parameters, "k"), (fit.standard_errors, "k"),
    ]:  # fmt: skip
        with pytest.raises(KeyError, match=f"{known}.*'g1'|'g1'.*{known}"):
            found["g1"]
