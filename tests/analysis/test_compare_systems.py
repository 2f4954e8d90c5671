"""Several systems and parameters at once, the time that each took, and who wins where."""

import numpy as np
import pytest

import pyintegrate as pi

EULER = "semi_implicit_euler"


def springs(*stiffness):
    return [pi.systems.spring(k=k, b=0.0) for k in stiffness]


def test_several_systems_are_compared_each():
    c = pi.compare(springs(1.0, 15.0), dt=[0.1, 0.2], t_end=9.0)
    assert list(c) == ["k = 1", "k = 15"]
    for name, system in zip(c, springs(1.0, 15.0), strict=True):
        alone = pi.compare(system, dt=[0.1, 0.2], t_end=9.0)
        assert list(c[name]) == list(alone)
        assert all(np.array_equal(c[name][key].y, alone[key].y) for key in alone)
    assert [row[0] for row in c.table().rows] == ["k = 1", *[""] * 4, "k = 15", *[""] * 4]
    assert c.table()._repr_html_().count("<tr>") == 11
    assert str(c) == str(c.table())


def test_systems_may_be_named_or_of_different_kinds():
    c = pi.compare({"orbit": pi.systems.kepler, "swing": pi.systems.pendulum}, dt=0.1, t_end=3.0)
    assert list(c) == ["orbit", "swing"]
    assert "position error [rad]" in str(c)
    mixed = pi.compare([pi.systems.kepler, pi.systems.pendulum], dt=0.1, t_end=3.0)
    assert list(mixed) == ["kepler", "pendulum"]
    with pytest.raises(KeyError, match="nothing compared is named 'moon'; there are .*orbit"):
        c["moon"]


def test_several_systems_are_drawn_row_by_row():
    pytest.importorskip("matplotlib").use("Agg")

    axes = pi.compare(springs(1.0, 15.0), dt=[0.1, 0.2], t_end=9.0).plot()
    headings = [row[0].texts[0].get_text().splitlines()[0] for row in axes]
    assert headings == ["k = 1", "k = 1", "k = 15", "k = 15"]
    # A pendulum has all panels, a thrown stone no phase: what both have is drawn.
    mixed = pi.compare([pi.systems.pendulum, pi.systems.projectile], dt=0.1, t_end=1.0).plot()
    assert mixed.shape == (2, 3)


@pytest.mark.parametrize(
    ("systems", "error", "message"),
    [
        ([], ValueError, "one at least"),
        (springs(1.0, 1.0), ValueError, "must differ"),
        ([pi.systems.spring, "kepler"], TypeError, "got str"),
    ],
)
def test_wrong_systems_are_refused(systems, error, message):
    with pytest.raises(error, match=message):
        pi.compare(systems, dt=0.1, n_steps=3)


def test_the_table_says_how_long_it_took():
    c = pi.compare(pi.systems.oscillator, dt=0.1, t_end=9.0)
    assert all(0 < measured["seconds"] < 10 for measured in c.summary().values())
    assert c.table().columns[-1] == "seconds"


def test_at_equal_work_rk4_wins_short_and_the_symplectic_method_long():
    def best(t_end, measure):
        methods = ["rk4", EULER, "velocity_verlet"]
        summary = pi.compare(
            pi.systems.oscillator(omega=15**0.5), methods=methods, dt=0.1, t_end=t_end,
            equal_work=True,
        ).summary()  # fmt: skip
        return min(summary, key=lambda name: summary[name][measure])

    assert best(2.5, "max_position_error") == "rk4"
    assert best(2500.0, "max_energy_error") == "velocity_verlet"
