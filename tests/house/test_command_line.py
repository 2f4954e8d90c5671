"""The command line does what its help says; a mistake is one line on stderr and exit code 2."""

import builtins
import json
import os
import subprocess
import sys

import pytest
from reference import POINT_METHODS

import pyintegrate as pi
from pyintegrate.__main__ import EXAMPLES, main
from pyintegrate.command_line import printing
from pyintegrate.values.table import Table

COMPARE = "compare oscillator --dt 0.1 --n-steps 10"


def run(capsys, words):
    """Exit code, standard output and standard error of a command."""
    try:
        code = main(words.split() if isinstance(words, str) else words)
    except SystemExit as left:
        code = left.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_as_a_module(tmp_path):
    picture = tmp_path / "out.png"
    command = (
        "compare spring --set k=15 b=0 --x0 1 --v0 0 --methods rk4,semi_implicit_euler "
        f"--dt 0.1 --t-end 90 --output {picture}"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pyintegrate", *command.split()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "0.959447735" in done.stdout
    assert "+2.34697" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert done.stderr == ""


def test_compare_prints_the_table(capsys):
    code, out, _ = run(capsys, "compare oscillator --dt 0.1,0.25 --t-end 9")
    c = pi.compare(pi.systems.oscillator, dt=[0.1, 0.25], t_end=9.0)
    assert code == 0
    assert untimed(out) == untimed(f"{c.table()}\n")


def untimed(table):
    """The rows of a printed table without their last column, the seconds."""
    lines = str(table).splitlines()
    (rule,) = (i for i, line in enumerate(lines) if set(line) == {"-"})
    return [line.split()[:-1] for line in lines[rule + 1 :]]


def test_negative_and_small_numbers_are_numbers(capsys):
    code, out, err = run(capsys, COMPARE + " --x0 -1e-3 --v0 -.5")
    assert (code, err) == (0, "")
    expected = pi.compare(pi.systems.oscillator, -1e-3, -0.5, dt=0.1, n_steps=10)
    assert untimed(out) == untimed(f"{expected.table()}\n")
    assert run(capsys, COMPARE + " --x0 -1,-2.5")[0] == 0


def test_parameters_may_be_several(capsys):
    code, out, _ = run(capsys, "compare spring --set k=1,2,3 --set b=0 --dt 0.1 --n-steps 10")
    assert code == 0
    assert "3 trajectories" in out


def test_equal_work(capsys):
    _, out, _ = run(capsys, COMPARE + " --equal-work")
    assert "equal work" in out
    assert "0.025" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("compare oscilator --dt 0.1 --n-steps 1", "did you mean 'oscillator'"),
        ("compare oscilator", "did you mean 'oscillator'"),
        ("convergence oscilator", "did you mean 'oscillator'"),
        (COMPARE + " --methods rk4 velocity_verlet", "unrecognized arguments: velocity_verlet"),
        (COMPARE + " --methods rk5", "rk4"),
        (COMPARE + " --methods leapfrog", "velocity_verlet"),
        (COMPARE + " --methods ,", "methods is empty"),
        (COMPARE + " --set omga=1", "did you mean 'omega'"),
        (COMPARE + " --set omega", "NAME=VALUE"),
        (COMPARE + " --set omega=fast", "--set omega"),
        (COMPARE + " --x0 one", "'one'"),
        (COMPARE + " --x0 1 2", "unrecognized arguments: 2"),
        (COMPARE + " --x0 1,2,3", "x0"),
        (COMPARE + " --t-end 1", "not allowed with"),
        ("compare oscillator --dt 0.1", "--t-end"),
        ("compare oscillator --n-steps 3", "--dt"),
        ("compare oscillator --dt 0.1 --t-end 0.95", "t_end"),
        ("compare oscillator --dt 0 --n-steps 3", "dt"),
        (
            "compare lorenz --dt 0.1 --n-steps 3 --methods semi_implicit_euler",
            "semi_implicit_euler",
        ),
        (COMPARE + " --output nowhere/out.png", "nowhere"),
        (COMPARE + " --output out.doc", ".png"),
        ("stability rk5", "rk4"),
        ("stability rk4 --output out.doc", ".png"),
        ("convergence lorenz", "give t_end"),
        ("convergence kepler --methods rk4,rk4", "2 times"),
        ("figures", "--out"),
        ("figures --out out --only bus", "figures must be some of"),
        ("systems sprng", "did you mean 'spring'"),
        ("methods rkk4", "did you mean 'rk4'"),
        ("comapre", "choose from"),
        ("compare", "required"),
        ("info --quick", "--quick"),
    ],
)
def test_a_mistake_is_one_line_and_code_2(capsys, words, says):
    code, out, err = run(capsys, words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("pyintegrate")
    assert says in err


@pytest.mark.parametrize("command", EXAMPLES)
def test_help_shows_an_example(capsys, command):
    code, out, _ = run(capsys, f"{command} --help")
    assert code == 0
    assert EXAMPLES[command] in out


@pytest.mark.parametrize("command", [name for name in EXAMPLES if name != "lab"])  # a browser
def test_the_examples_run(capsys, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = EXAMPLES[command].split("-m pyintegrate ")[1]
    assert run(capsys, words)[0] == 0


def test_no_command_shows_the_help(capsys):
    code, out, _ = run(capsys, [])
    assert code == 0
    assert "compare" in out


def test_methods_lists_every_method(capsys):
    _, out, _ = run(capsys, "methods")
    assert all(name in out for name in pi.methods)


def test_systems_lists_every_system(capsys):
    _, out, _ = run(capsys, "systems")
    assert all(name in out for name in pi.systems)
    assert run(capsys, "systems --names")[1].split() == list(pi.systems)


def test_the_list_of_systems_fits_a_terminal(capsys):
    _, out, _ = run(capsys, "systems")
    assert max(map(len, out.splitlines())) <= 100


NARROW = [
    "compare rigid_body --dt 0.001 --n-steps 5", COMPARE + " --methods rk4,blanes_moan_srkn14a",
    "stability", "methods", "methods semi_implicit_euler", "systems", "systems rigid_body", "info",
    *(f"systems {name}" for name in pi.systems), *(f"methods {name}" for name in pi.methods),
]  # fmt: skip


def test_everything_fits_a_hundred_columns(capsys):
    for words in NARROW:
        lines = run(capsys, words)[1].splitlines()
        assert max(map(len, lines)) <= 100, words


def test_headings_break_before_cells_do():
    table = Table("t", ["name", "the largest error"], [["a long name", "0.25"]])
    assert table.text(100) == repr(table)
    assert table.text(20).splitlines()[-1] == "a long name     0.25"
    assert max(map(len, table.text(13).splitlines())) <= 13


@pytest.mark.parametrize("words", [*NARROW[:8], "convergence pendulum --methods midpoint"])
def test_scripts_get_json(capsys, words):
    code, out, err = run(capsys, words + " --json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told


@pytest.mark.parametrize("words", ["lab", "figures --out pictures"])
def test_what_has_no_json_to_print_does_not_offer_it(capsys, words):
    code, out, err = run(capsys, words + " --json")
    assert (code, out) == (2, "")
    assert "--json" in err


def test_bodies_are_counted_in_whole_numbers(capsys):
    words = "compare n_body --set n=2 --x0 0,0,0,1,0,0 --v0 0,0,0,0,1,0 --dt 0.1 --n-steps 3"
    assert run(capsys, words)[0] == 0


def test_json_has_the_numbers_of_the_table_unrounded(capsys):
    told = json.loads(run(capsys, "compare spring --dt 0.1 --t-end 90 --methods rk4 --json")[1])
    comparison = pi.compare(pi.systems.spring, dt=0.1, t_end=90.0, methods=["rk4"])
    (found,) = (row for row in told["rows"] if row["method"] == "rk4")
    assert found["evaluations"] == 3600
    measures = comparison.summary()["rk4"]
    assert found["max energy error"] == measures["max_energy_error"]
    assert found["phase error [rad]"] == measures["phase_error"]
    described = {method["name"]: method for method in json.loads(run(capsys, "methods --json")[1])}
    assert described["gauss4"]["implicit"] is True
    assert described["gauss4"]["stable to"] == "inf"


@pytest.mark.parametrize("words", ["methods", "systems spring", "info", COMPARE])
def test_a_terminal_gets_colours_where_rich_is_installed(capsys, monkeypatch, words):
    pytest.importorskip("rich", reason="rich draws tables in terminals: pip install rich")
    plain = run(capsys, words)[1]
    monkeypatch.setattr(printing, "_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    drawn = run(capsys, words)[1]
    assert "\x1b[" in drawn
    assert plain.split()[0].rstrip(":") in drawn
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[36m" not in run(capsys, words)[1]  # cyan


def test_a_terminal_without_rich_gets_plain_text(capsys, monkeypatch):
    plain = run(capsys, "systems")[1]
    load = builtins.__import__

    def without_rich(name, *rest):
        if name.startswith("rich"):
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(printing, "_terminal", lambda: True)
    monkeypatch.setattr(printing, "width", lambda: 100)
    monkeypatch.setattr(builtins, "__import__", without_rich)
    assert run(capsys, "systems")[1] == plain


@pytest.mark.parametrize("columns", [20, 80])
def test_a_narrow_terminal_cuts_no_number_and_needs_ascii_only(capsys, monkeypatch, columns):
    pytest.importorskip("rich", reason="rich draws tables in terminals: pip install rich")
    words = "compare kepler --methods rk4,dop853 --dt .01 --t-end 6"
    plain = run(capsys, words)[1].split()
    monkeypatch.setattr(printing, "_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    drawn = run(capsys, words)[1]
    assert drawn.isascii()
    cells = {cell for cell in plain if "e-" in cell}
    assert len(cells) > 5
    assert cells <= set(drawn.split())


@pytest.mark.parametrize("words", ["info", "systems --names", "methods", ""])
def test_a_closed_output_is_no_error(capsys, monkeypatch, words):
    monkeypatch.setattr(sys, "stdout", None)
    assert main(words.split()) == 0


def test_figures_without_matplotlib_say_what_to_install(capsys, monkeypatch):
    for name in [*sys.modules]:
        if name.startswith("pyintegrate.plots"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = run(capsys, "figures --out pictures")
    assert code == 2
    assert "pip install matplotlib" in err


@pytest.mark.parametrize(("given", "name"), [("rk4", "rk4"), ("RK45", "dormand_prince54")])
def test_methods_describes_one(capsys, given, name):
    code, out, _ = run(capsys, ["methods", given])
    method = pi.methods[name]
    assert code == 0
    for text in (name, method.title, method.family, method.reference, *method.aliases):
        assert text in " ".join(out.split())
    fields = dict(line.split(maxsplit=1) for line in out.splitlines()[3:])
    assert int(fields["order"]) == method.order


@pytest.mark.parametrize(
    ("name", "needs"), [("baoab", "a heat bath"), ("milstein", "an equation with commutative")]
)
def test_methods_for_noise_say_what_they_need(capsys, name, needs):
    out = " ".join(run(capsys, ["methods", name])[1].split())
    assert f"needs {needs}" in out
    assert "nan" not in out.split("reference")[0]


def test_the_order_where_the_force_depends_on_the_velocity_is_said(capsys):
    out = " ".join(run(capsys, ["methods", "yoshida6"])[1].split())
    assert "order 6, and 1 where the force depends on the velocity" in out
    found = pi.analysis.convergence(pi.systems.spring(b=0.3), ["yoshida6"], t_end=3.0)
    assert found["yoshida6"].order == pytest.approx(1, abs=0.05)


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"pyintegrate {pi.__version__}\n", "")


@pytest.mark.parametrize("system", ["lorenz", "rigid_body", "Double pendulum"])
def test_compare_needs_no_methods(capsys, system):
    code, out, _ = run(capsys, ["compare", system, "--dt", "0.001", "--n-steps", "5"])
    assert code == 0
    assert "rk4" in out


def test_noise_takes_the_seed_that_it_asks_for(capsys):
    words = ["compare", "double_well", "--dt", "0.1", "--t-end", "1"]
    code, _, told = run(capsys, words)
    assert code == 2
    assert "needs a seed" in told
    code, out, _ = run(capsys, [*words, "--seed", "1"])
    assert code == 0
    assert "milstein" in out


def test_info_says_what_the_build_is(capsys):
    _, out, _ = run(capsys, "info")
    lines = out.replace("n set", "n_set").replace("t for", "t_for").splitlines()
    fields = dict(line.split(maxsplit=1) for line in lines)
    assert set(fields) == {
        "version", "arithmetic", "compiler", "instruction_set", "built_for", "cores",
    }  # fmt: skip
    assert "baseline" in fields["built_for"]
    assert int(fields["cores"]) == os.cpu_count()


def test_one_number_is_the_state_of_one_component(capsys):
    words = "compare logistic --x0 2 --dt 0.1 --n-steps 9 --methods rk4 --json"
    row = json.loads(run(capsys, words)[1])["rows"][-1]
    sol = pi.integrate(pi.systems.logistic, [2.0], dt=0.1, n_steps=9)
    assert row["position error"] == pytest.approx(abs(sol.error()).max(), rel=1e-12)


def test_stability_prints_the_largest_springs(capsys):
    code, out, _ = run(capsys, "stability rk4,semi_implicit_euler --dt 0.1 --b 2")
    spring = pi.systems.spring(b=2.0)
    expected = pi.analysis.max_stiffness(["rk4", "semi_implicit_euler"], spring, dt=0.1)
    assert (code, out) == (0, f"{expected.table().text(100)}\n")
    for words in ("--methods rk4,semi_implicit_euler", "rk4 --methods semi_implicit_euler"):
        assert run(capsys, f"stability {words} --dt 0.1 --b 2")[1] == out
    everything = run(capsys, "stability")[1]
    assert all((m.name in everything) != m.velocity_free for m in POINT_METHODS)


def test_convergence_prints_orders(capsys):
    words = "convergence pendulum --set length=2 --methods midpoint --x0 1 --v0 0"
    code, out, _ = run(capsys, words)
    system = pi.systems.pendulum(length=2.0)
    expected = pi.analysis.convergence(system, ["midpoint"], 1.0, 0.0)
    assert (code, out) == (0, f"{expected.table().text(100)}\n")


def test_a_failed_trajectory_is_a_line_not_a_traceback(capsys):
    words = "compare spring --set k=1e300 --dt 1 --n-steps 100 --methods explicit_euler"
    code, out, err = run(capsys, words)
    assert code == 0
    assert "failed" in out
    assert len(err.splitlines()) == 1
    assert err.startswith("pyintegrate compare: ")


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m pyintegrate systems --names | head -n 1",
        shell=True, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.split() == list(pi.systems)[:1]
    assert done.stderr == ""
