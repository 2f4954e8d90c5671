"""Errors without a closed form: measured from a run to a tolerance, whose own error is said."""

import numpy as np
import pytest

import pyintegrate as pi

METHODS = ["rk4", "velocity_verlet"]


@pi.acceleration(k=3.0)
def spring(t, x, v, k):
    return -k * x


@pytest.mark.parametrize("save", ["all", "final", 7])
@pytest.mark.parametrize("k", [3.0, np.array([1.0, 3.0])], ids=["one", "batch"])
def test_errors_are_those_from_the_closed_form(k, save):
    """The same motion is known as a system of the catalogue: both errors agree to the doubt."""
    run = {"methods": METHODS, "dt": 0.05, "t_end": 7.0, "save": save}
    own = pi.compare(spring(k=k), 1.0, 0.0, **run).summary()
    known = pi.compare(pi.systems.spring(k=k, b=0.0), 1.0, 0.0, **run).summary()
    for name in METHODS:
        doubt = own[name]["reference_error"]
        assert np.all(doubt < 1e-11)  # steps at 1e-11 and 1e-13, over 7 periods
        assert known[name]["reference_error"] is None
        for measure in ("position_error", "max_position_error"):
            one, other = own[name][measure], known[name][measure]
            assert np.all(np.isnan(one) == np.isnan(other))
            assert np.all(np.isnan(one) | (np.abs(one - other) <= 2 * doubt + 1e-14))


def test_the_table_has_the_column_and_says_how_good_it_is():
    table = pi.compare(spring, 1.0, 0.0, methods=METHODS, dt=0.05, t_end=7.0).table()
    assert "position error" in table.columns
    assert "the true position is that of pi.solve at rtol 1e-13, to " in table.note
    known = pi.compare(pi.systems.oscillator, methods=METHODS, dt=0.05, t_end=7.0)
    assert "pi.solve" not in known.table().note


def test_tolerances_are_judged_too():
    c = pi.compare(spring, 1.0, 0.0, methods=["rk4", ("dop853", pi.tolerance(1e-6))], dt=0.05,
                   t_end=7.0)  # fmt: skip
    errors = [m["max_position_error"] for m in c.summary().values()]
    assert all(1e-9 < error < 1e-3 for error in errors)


@pytest.mark.parametrize("what", ["float32", "jump", "drive", "large"])
def test_what_a_tolerance_cannot_follow_is_not_judged(what):
    x, options = 1.0, {}
    if what == "float32":
        x = np.float32(1.0)
    elif what == "jump":
        options = {"events": {"wall": pi.event("x", then=lambda t, x, v: (x, -v))}}
    elif what == "drive":
        options = {"drive": {"k": np.linspace(1, 2, 20)}}
    else:
        x = np.ones(1 << 13)
    c = pi.compare(spring, x, np.zeros_like(x), methods=METHODS, dt=0.05, n_steps=20, **options)
    assert c.summary()["rk4"]["position_error"] is None


def test_the_note_says_how_well_the_truth_is_known():
    """Weather after ten times its memory is not known at all."""
    run = {"methods": ["rk4", "dop853"], "dt": 0.01}
    for t_end, low, high in ((100.0, 1, 100), (5.0, 1e-14, 1e-9)):
        note = pi.compare(pi.systems.lorenz, t_end=t_end, **run).table().note
        assert note.startswith("the true position is that of pi.solve at rtol 1e-13, to ")
        assert low < float(note.split()[-1]) < high
    assert not pi.compare(pi.systems.spring(b=0.0), dt=0.05, t_end=7.0).table().note
