"""Results show their values as a table: text, HTML, and a DataFrame of pandas with all digits."""

import pickle

import numpy as np
import pytest

import pyintegrate as pi
from pyintegrate.values.table import MOST, Table, number

SPRING = pi.systems.spring
K = np.linspace(1.0, 2.0, 7) ** 2
RUN = {"dt": 0.1, "t_end": 3.0}


def thrown():
    ground = pi.event("z", direction=-1, keep=3, stop=True)
    return pi.integrate(
        pi.systems.projectile, [0.0, 0.0, 2.0], [[1.0, 0.0, 0.0], [2.0, 0.0, 40.0]], dt=0.01,
        n_steps=200, events={"ground": ground}, watch={"top": pi.watch.maximum("z")},
    )  # fmt: skip


MADE = {
    "scan": lambda: (pi.scan(SPRING, {"k": K}, pi.watch.last("x"), **RUN), "value"),
    "exponents": lambda: (pi.lyapunov(SPRING(k=K), k=2, **RUN), "exponent 2"),
    "chaos map": lambda: (pi.chaos_map(SPRING(k=K), **RUN), "fli"),
    "drift": lambda: (pi.analysis.energy_drift(pi.integrate(SPRING(k=K), **RUN)), "slope [1/s]"),
    "comparison": lambda: (pi.compare(SPRING, **RUN), "energy_ratio"),
    "event": lambda: (thrown().events["ground"], "t"),
    "first event": lambda: (thrown().events["ground"].first, "t"),
}


@pytest.mark.parametrize("what", MADE)
def test_a_result_shows_its_values_and_gives_them_to_pandas(what):
    pytest.importorskip("pandas")
    made, name = MADE[what]()
    frame = made.to_pandas()
    assert made.table()._repr_html_() == made._repr_html_()
    values = [f"{value:.6g}" for value in frame[name]]
    printed = str(made.table())
    assert values
    if what == "comparison":  # which prints more digits
        printed, values = made.table().to_pandas()["E(end)/E(0)"].tolist()[1:], frame[name].tolist()
    assert all(value in printed for value in values)


def test_pandas_has_every_digit_and_every_row():
    pytest.importorskip("pandas")
    b = np.linspace(0, 1, 2 * MOST)
    found = pi.scan(SPRING, {"k": K, "b": b}, pi.watch.last("x"), **RUN)
    frame = found.to_pandas()
    assert np.array_equal(frame["value"], found.values.ravel())
    assert np.array_equal(frame["k"], np.repeat(K, len(b)))
    assert np.array_equal(frame["b"], np.tile(b, len(K)))
    assert str(found).count("\n") == MOST + 3  # title, headings, a rule, and a note at the end
    assert f"{MOST} of {found.values.size} rows" in str(found)


@pytest.mark.parametrize("n", [21, 41, 2001])
def test_the_middle_of_an_odd_number_of_rows_is_shown(n):
    """Where a profile has its least."""
    table = Table.of("", {"value": range(n)}, {"rise": np.zeros(n)})
    assert str(n // 2) in [row[0] for row in table.rows]


def test_an_axis_with_the_name_of_a_result_is_kept():
    table = Table.of("", {"value": [1, 2]}, {"value": [0.5, 0.25]})
    assert table.to_pandas().to_dict("list") == {"value": [1, 2], "value (2)": [0.5, 0.25]}


def test_only_events_that_occurred_have_a_row():
    log = thrown().events["ground"]
    assert len(log.table().rows) == 1  # the other is in the air
    assert f"{log.first.t[0]:.6g}" in repr(log.first)
    assert "1 event of 2 trajectories" in repr(thrown().events)
    assert "top.time" in thrown().watched._repr_html_()


def test_printed_numbers_are_numbers():
    pytest.importorskip("pandas")
    frame = Table("", ["name", "n"], [["a", "24,000"], ["b", "-"]]).to_pandas()
    assert frame["n"][0] == 24000
    assert [number(cell) for cell in ("1.5e-3", "inf", "-", "rk4")] == [1.5e-3, np.inf, None, "rk4"]


@pytest.mark.parametrize(
    "measure",
    [pi.watch.max_abs("energy_error"), pi.watch.last(lambda t, x, v: x * v), pi.event("x"),
     lambda sol: sol.final[..., 0]],
    ids=["watch", "watch of a function", "event", "function"],
)  # fmt: skip
def test_a_scan_is_pickled_with_what_its_picture_says(measure):
    pytest.importorskip("matplotlib")
    found = pi.scan(SPRING, {"k": K}, measure, **RUN)
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.values, found.values, equal_nan=True)
    assert again.plot().get_ylabel() == found.plot().get_ylabel()


def test_rates_say_their_unit():
    slow = pi.rhs(lambda t, y: (y[1], -y[0]), dim=2, units={"t": "h"}, initial=[1, 0], name="slow")
    found = pi.lyapunov(slow, dt=0.1, t_end=1.0)
    assert str(found.table()).startswith("Lyapunov exponents of slow [1/h]")
    lines = pi.analysis.frequencies(pi.integrate(slow, dt=0.1, n_steps=500))
    assert str(lines.table()).startswith("Frequencies of slow [rad/h]")


def test_a_table_is_pickled_with_the_values_of_its_numbers():
    table = pi.compare(pi.systems.spring, methods="rk4", dt=0.1, n_steps=9).table()
    again = pickle.loads(pickle.dumps(table))
    assert repr(again) == repr(table)
    assert [getattr(cell, "value", cell) for cell in again.rows[0]] == [
        getattr(cell, "value", cell) for cell in table.rows[0]
    ]
