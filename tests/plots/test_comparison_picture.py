"""The picture of a comparison: the right panels with the right data, nothing on top of another."""

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from pyintegrate.plots.pages import last_periods  # noqa: E402

EULER = "semi_implicit_euler"


def drawn(ax, solution):
    label = solution.method.title
    (found,) = (one for one in ax.get_lines() if one.get_label() == label)
    return found.get_xydata()


@pytest.fixture(scope="module")
def comparison():
    return pi.compare(pi.systems.oscillator(omega=15**0.5), dt=[0.1, 0.25], t_end=90.0)


def test_a_motion_that_dies_away_is_shown_from_its_beginning():
    """Of one solution: its last five periods, a twentieth as wide, would be all that one sees."""
    for b, shown in [(0.1, 60.0), (0.01, 5 * 2 * np.pi / 15**0.5)]:
        sol = pi.integrate(pi.systems.spring(k=15.0, b=b), 1.0, 0.0, dt=0.01, t_end=60.0)
        x = drawn(sol.plot()[0], sol)[:, 0]
        assert x[-1] - x[0] == pytest.approx(shown, abs=0.01)  # to a step
    both = pi.compare(pi.systems.spring(b=0.1), methods=["rk4", EULER], dt=0.1, t_end=60.0)
    assert "the last" in both.plot()[0, 0].get_title("left")


def test_the_picture_of_a_comparison(comparison):
    axes = comparison.plot()
    assert axes.shape == (2, 4)
    for row, dt in zip(axes, (0.1, 0.25), strict=True):
        rk4, euler = comparison["rk4", dt], comparison[EULER, dt]
        position, phase, energy, portrait = row
        x = drawn(position, rk4)
        start, end = last_periods(rk4)
        assert end == 90.0
        assert end - start == pytest.approx(5 * 2 * np.pi / 15**0.5)
        inside = rk4.t >= start
        assert np.array_equal(x, np.column_stack([rk4.t, rk4.x])[inside])
        assert position.get_xlim() == pytest.approx((start, end))
        assert np.array_equal(drawn(phase, rk4)[:, 1], pi.analysis.phase_drift(rk4))
        assert np.array_equal(drawn(energy, rk4)[:, 1], rk4.energy() / rk4.energy()[0])
        assert np.array_equal(drawn(portrait, euler), euler.y)
        heading = [text.get_text() for text in position.texts]
        assert any(f"dt = {dt:g} s" in text for text in heading)
        assert f"{comparison.summary()[EULER, dt]['phase_error']:+.3g}" in [
            text.get_text() for text in phase.texts
        ]
        assert "no drift" in [text.get_text() for text in energy.texts]
    (legend,) = axes[0, 0].figure.legends
    assert [text.get_text() for text in legend.get_texts()][0] == "exact"


def test_panels_do_not_overlap(comparison):
    axes = comparison.plot()
    figure = axes[0, 0].figure
    figure.canvas.draw()
    boxes = [ax.get_tightbbox() for ax in axes.ravel()]
    legend = figure.legends[0].get_window_extent()
    for i, one in enumerate(boxes):
        assert not one.overlaps(legend)
        assert not any(one.overlaps(other) for other in boxes[i + 1 :])
        assert one.x0 >= 0
        assert one.y0 >= 0
        assert one.x1 <= figure.bbox.width
        assert one.y1 <= figure.bbox.height


def test_the_head_of_a_comparison_says_what_is_shown():
    c = pi.compare(pi.systems.oscillator(omega=[1.0, 2.0]), dt=0.1, t_end=20.0)
    titles = {(2, 4): "2 to 4 s", (15, 20): "the last 5 s", None: ""}
    for window, text in titles.items():
        axes = c.plot(window=window)
        assert axes[0, 0].get_title("left") == ", ".join(filter(None, ["position", text]))
        heads = [one.get_text() for one in axes[0, 0].texts]
        assert heads == ["dt = 0.1 s\n31.4 to 62.8 steps a period"]


def test_many_methods_and_explosions_stay_readable():
    oscillator = pi.systems.oscillator(omega=15**0.5)
    symplectic = [
        EULER,
        f"{EULER}_drift_kick",
        "velocity_verlet",
        "position_verlet",
        "forest_ruth4",
    ]
    others = ["explicit_euler", "midpoint", "heun2", "rk4", "rk38", "tsitouras54"]
    methods = symplectic + others
    c = pi.compare(oscillator, methods=methods, dt=0.1, n_steps=100_000, on_failure="ignore")
    axes = c.plot()
    figure = axes[0, 0].figure
    figure.canvas.draw()
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= 0
    assert legend.x1 <= figure.bbox.width
    _, _, energy, _ = axes[0]
    low, high = energy.get_ylim()
    assert low < 0 < 1 < high < 10
    says = [text.get_text() for text in energy.texts]
    assert len(says) == len(c)
    # The symplectic ones only swing. Order two has |R|^2 = 1 + z^4/4 and explodes, slowly; RK4 and
    # its 3/8 twin have (1 - z^6/72 + z^8/576)^100000 = 0.01 left.
    assert says.count("no drift") == len(symplectic)
    assert sum(text.startswith(("×", "exploded")) for text in says) == 3
    assert says.count("\N{MINUS SIGN}99 %") == 2


@pytest.mark.parametrize(("dt", "t_end"), [(0.005, 20.0), (0.1, 94.0)], ids=["curve", "band"])
def test_the_change_of_the_energy_is_that_of_the_summary(dt, t_end):
    """Damped motion. The middle of a band begins a swing later, when energy is lost already."""
    c = pi.compare(pi.systems.spring(k=15.0), methods=[EULER], dt=dt, t_end=t_end)
    energy = np.ravel(c.plot(panels=["energy"]))[0]
    (text,) = [text.get_text() for text in energy.texts if "%" in text.get_text()]
    assert "e" not in text
    number = float(text.removesuffix(" %").replace("\N{MINUS SIGN}", "-"))
    change = 100 * (c.summary()[EULER]["energy_ratio"] - 1)
    assert number == pytest.approx(change, rel=0.05)  # two digits


def test_energy_gained_on_a_bound_orbit_has_a_plus_and_energy_gone_is_no_swing():
    """Explicit Euler's orbit widens. RK4 brakes a spring near its limit within a few steps."""
    wider = pi.compare(pi.systems.kepler, methods=["explicit_euler"], dt=0.05, t_end=50.0)
    says = [text.get_text() for text in np.ravel(wider.plot(panels=["energy"]))[0].texts]
    gained = 100 * wider["explicit_euler"].energy_error()[-1]
    assert gained > 1
    assert f"+{gained:.0f} %" in says  # 73
    braked = pi.compare(pi.systems.spring(k=500.0), methods=["rk4"], dt=0.1, t_end=9.0)
    assert braked["rk4"].energy_error()[-1] < -0.999
    says = [text.get_text() for text in np.ravel(braked.plot(panels=["energy"]))[0].texts]
    assert "\N{MINUS SIGN}100 %" in says


def test_the_exact_motion_stays_in_the_picture_beside_one_that_died_out():
    """RK4 is left with 1e-18 of the spring, velocity Verlet explodes: neither is the scale."""
    c = pi.compare(
        pi.systems.spring(k=500.0), methods=["rk4", "velocity_verlet"], dt=0.1, t_end=9.0
    )
    position = np.ravel(c.plot(panels=["motion"]))[0]
    low, high = position.get_ylim()
    assert low < -0.6
    assert 0.6 < high < 10


@pytest.mark.parametrize(
    ("name", "methods", "panels"),
    [("kepler", ["rk4", EULER], 3), ("lorenz", ["rk4", "midpoint"], 1), ("pendulum", ["rk4"], 3)],
)
def test_panels_are_those_that_a_system_has(name, methods, panels):
    system = pi.systems[name]
    exact = system.exact is not None and system.phase is not None
    has_phase = exact and system.phase(system.initial) is not None
    if has_phase:
        sol = pi.integrate(system, dt=0.01, n_steps=2)
        try:
            has_phase = sol.exact() is not None
        except ValueError:
            has_phase = False
    c = pi.compare(system, methods=methods, dt=0.01, n_steps=100)
    assert c.plot().shape == (1, panels + bool(has_phase))


# ---- in a column of a journal --------------------------------------------------------------------


@pytest.mark.parametrize(("height", "count"), [(2.6, 1), (3.8, 2), (6.4, 4)])
def test_in_a_column_panels_lie_below_one_another(height, count):
    c = pi.compare(pi.systems.oscillator(omega=15**0.5), dt=0.1, t_end=90.0)
    axes = c.plot(figsize=(3.4, height))
    assert axes.shape == (1, count)
    figure = axes.figure
    figure.canvas.draw()
    boxes = [ax.get_tightbbox() for ax in axes.ravel()]
    for above, below in zip(boxes, boxes[1:], strict=False):
        assert above.y0 >= below.y1
    for ax, box in zip(axes.ravel(), boxes, strict=True):
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y0 >= 0
        assert ax.bbox.height > 0.55 * figure.dpi
        assert ax.bbox.width > 0.55 * figure.bbox.width
        assert max(tick.get_fontsize() for tick in ax.get_yticklabels()) <= 8
    says = " ".join(text.get_text() for text in figure.texts)
    assert ("of 4 panels" in says) is (count < 4)
    titles = " ".join(ax.get_title("left") for ax in axes.ravel())
    assert "16.2 steps a period" in (says + titles).replace("\n", " ")
    (legend,) = figure.legends
    assert not any(legend.get_window_extent().overlaps(box) for box in boxes)


def test_steps_and_panels_that_are_asked_for_are_all_in_the_column(comparison):
    axes = comparison.plot(figsize=(3.4, 7.5), panels=["energy", "phase error"])
    assert axes.shape == (2, 2)
    lefts = {round(ax.get_subplotspec().colspan.start) for ax in axes.ravel()}
    assert lefts == {0}
    assert "dt = 0.25 s" in axes[1, 0].get_title("left").replace("\n", " ")
