"""A watch stands in at most 3 places and a kind of event in 4: made-up ones, patched into a copy.

`middle` lies halfway between the largest and the least value; an event with `period` occurs at each
multiple of it.
"""

import pytest
from copies import built_copy, run_in
from places import ROOT

WATCH = [
    (
        "pyintegrate/watching/reductions.py",
        "@of_quantity\ndef max_abs(",
        '''@of_quantity
def middle(rows):
    """Half way from the largest and the least value."""
    if rows.uneven:
        kept = [rows.timed(name) for name in ("maximum", "minimum")]
        return {"": (kept[0][0] + kept[1][0]) / 2}
    known = [rows.reduced(name) for name in ("maximum", "minimum")]
    return {"": (known[0].value + known[1].value) / 2}


@of_quantity
def max_abs(''',
    ),
]  # fmt: skip
RETURN = """\
    return Event(
        quantity,
        int(direction),
        int(stop) if isinstance(stop, bool | np.bool_) else integer("stop", stop, 1),
        integer("keep", keep, 0, MOST_KEPT),
        _function("then", then),
        _function("values", values),
        {name: floats(f"params[{name!r}]", value) for name, value in (params or {}).items()},
        integer("max_per_step", max_per_step, 1),
        _floats("after", after),
        _floats("level", level),
        truth("bridge", bridge),
    )
"""
EVENT = [
    (
        "pyintegrate/watching/events.py",
        "    bridge: bool = False,\n) -> Event:",
        "    bridge: bool = False,\n    period: float | None = None,\n) -> Event:",
    ),
    (
        "pyintegrate/watching/events.py",
        RETURN,
        RETURN.replace("return", "made =")
        + "    vars(made).update(period=period)\n    return made\n",
    ),
    (
        "pyintegrate/watching/events.py",
        "    if one.level is not None:",
        "    if one.period is not None:\n"
        "        symbol = np.sin(symbol * (np.pi / one.period))\n"
        "    if one.level is not None:",
    ),
    (
        "pyintegrate/watching/events.py",
        "    level : array_like, optional\n",
        "    period : float, optional\n        It occurs at each multiple of it.\n"
        "    level : array_like, optional\n",
    ),
]
USE = """
import pyintegrate as pi
watch = {"x": pi.watch.middle("x")}
events = {"tick": pi.event(lambda t, x, v: t, period=0.5, keep=0)}
for run in (pi.integrate(pi.systems.spring, dt=0.01, n_steps=1020, watch=watch, events=events),
            pi.solve(pi.systems.spring, t_end=10.2, watch=watch, events=events)):
    print(round(float(run.watched["x"]), 2), run.events["tick"].count)
"""


@pytest.mark.parametrize(("patch", "most"), [(WATCH, 3), (EVENT, 4)])
def test_it_takes_few_places(patch, most):
    assert len(patch) <= most
    for file, before, _ in patch:
        assert (ROOT / file).read_text().count(before) == 1, f"{file}: {before!r}"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return built_copy(tmp_path_factory)


def add_to(copy):
    """Both, added to a copy of the repository (copies.py)."""
    for file, before, after in WATCH + EVENT:
        text = (copy / file).read_text()
        (copy / file).write_text(text.replace(before, after))


@pytest.mark.long
def test_both_verbs_know_them(copy):
    done = run_in(copy, "-c", USE)
    assert done.returncode == 0, done.stderr
    # The spring swings from 1 to nearly -1, as its damping is light.
    assert done.stdout.split() == ["0.02", "20", "0.02", "20"]
