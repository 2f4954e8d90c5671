"""What a reader sees without a caption: coinciding lines, grey prints, axes of errors, titles."""

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend comes first)
from matplotlib.colors import to_rgb  # noqa: E402

from pyintegrate.plots import curves, heat_maps, method_curves, style  # noqa: E402

METHODS = ["rk4", "semi_implicit_euler", "velocity_verlet", "explicit_euler", "midpoint"]


def grey(colour):
    """Luminance of a colour, as a printer makes it (ITU-R BT.709)."""
    return float(np.dot([0.2126, 0.7152, 0.0722], to_rgb(colour)))


def labelled(ax):
    return {line.get_label(): line for line in ax.get_lines() if line.get_label()[0] != "_"}


def test_methods_differ_in_line_style_and_not_in_colour_only():
    c = pi.compare(pi.systems.oscillator, methods=METHODS, dt=0.1, t_end=20.0)
    lines = labelled(pi.plots.trajectory(c))
    exact = lines.pop("exact")
    # is_dashed and the pattern: what is left of a line in a grey print.
    patterns = {str(line._dash_pattern) for line in lines.values()}
    assert len(patterns) == len(METHODS) == len({line.get_color() for line in lines.values()})
    widest = max(line.get_linewidth() for line in lines.values())
    assert exact.get_linewidth() > 2 * widest  # seen on both sides of what lies on it
    assert exact.get_zorder() < min(line.get_zorder() for line in lines.values())
    assert grey(exact.get_color()) > 0.1 + max(grey(one.get_color()) for one in lines.values())


def test_a_method_looks_the_same_beside_any_others():
    c = pi.compare(pi.systems.oscillator, methods=METHODS, dt=0.1, t_end=20.0)
    together = labelled(pi.plots.energy(c, quantity="error"))
    for name, sol in c.items():
        alone = labelled(pi.plots.energy(sol, quantity="error"))[sol.method.title]
        beside = together[sol.method.title]
        assert alone.get_color() == beside.get_color() == style.colour_of(name)
        assert alone._dash_pattern == beside._dash_pattern


def test_fast_swings_are_drawn_without_dashes():
    euler = {"method": "semi_implicit_euler", "dt": 0.1}
    for t_end, dashed in ((30.0, True), (300.0, False)):
        sol = pi.integrate(pi.systems.oscillator, t_end=t_end, **euler)
        line = labelled(pi.plots.trajectory(sol))[sol.method.title]
        assert line.is_dashed() is dashed
    asked = pi.plots.trajectory(sol, linestyle=":")
    assert labelled(asked)[sol.method.title].get_linestyle() == ":"


def test_swings_are_counted_without_their_overtones():
    t = np.linspace(0, 1, 20_001)
    saw = np.remainder(30 * t, 1) + 0.01 * np.sin(2 * np.pi * 3000 * t)
    assert curves.swings_of(saw - 5 * t**2) == 30
    assert curves.swings_of(np.exp(-3 * t)) < 3
    assert curves.swings_of(np.append(saw, np.nan)) == 0
    assert curves.swings_of(np.ones(2)) == 0


@pytest.mark.parametrize("swings", [21, 60.5, 1000])
def test_the_band_holds_every_swing_to_the_end(swings):
    t = np.linspace(0, 1, 50_000)
    wave = np.sin(2 * np.pi * swings * t)
    middle, low, high = curves.running_band(t + wave + 0.2 * wave**3)
    # The extremes of a swing and a half around a point: they miss that much of the trend, and of a
    # crest what lies between the saves, (pi / 50)^2 / 2.
    assert (high - t).min() > 1.2 - 1.6 / swings - 0.005
    assert (low - t).max() < -1.2 + 1.6 / swings + 0.005
    assert np.nanmax(np.abs(middle - t)) < 0.05


def test_steps_are_marked_only_where_they_are_seen_one_by_one():
    for dt, marked in ((0.1, True), (0.01, False)):
        c = pi.compare(pi.systems.pendulum, dt=dt, t_end=40.0)
        lines = labelled(pi.plots.dashboard(c)[0, 0])
        assert (lines["classical Runge-Kutta"].get_marker() == ".") is marked


@pytest.mark.parametrize("draw", [
    lambda: pi.plots.error(pi.integrate(pi.systems.oscillator, dt=0.1, t_end=9.0)),
    lambda: pi.analysis.convergence(pi.systems.oscillator, ["rk4"]).plot(),
    lambda: pi.analysis.work_precision(pi.systems.oscillator, ["rk4"], seconds=False).plot(),
], ids=["error", "convergence", "work_precision"])  # fmt: skip
def test_errors_live_on_logarithmic_axes(draw):
    ax = draw()
    assert ax.get_yscale() == "log"


def test_what_explodes_is_darker_than_what_decays():
    colours = method_curves.GROWTH
    decays, neither, explodes = (grey(colours(share)[:3]) for share in (0.0, 0.5, 1.0))
    assert explodes < decays - 0.2
    assert decays < neither - 0.2


def test_the_first_classes_of_a_map_are_dark_and_light():
    assert abs(grey(heat_maps.CLASSES[0]) - grey(heat_maps.CLASSES[1])) > 0.2
    assert len(set(heat_maps.CLASSES)) == len(heat_maps.CLASSES)


def overlapping(axes):
    """Texts of a figure that cover each other, by their boxes in pixels."""
    axes.figure.draw_without_rendering()
    texts = [text for ax in axes.flat for text in (ax.title, ax._left_title, ax.xaxis.label)]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return sum(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize(("size", "figsize"), [(16, None), (10, (6.0, 3.0))])
def test_titles_of_a_comparison_do_not_overlap_in_large_text_or_a_small_figure(size, figsize):
    c = pi.compare(pi.systems.oscillator(omega=15**0.5), dt=0.1, t_end=90.0)
    with matplotlib.rc_context({"font.size": size}):
        axes = c.plot(figsize=figsize)
        assert overlapping(axes) == 0


@pytest.mark.parametrize("figsize", [(3.4, 6), (3.4, 2.4), (7, 2.2)])
def test_final_values_in_a_small_figure_do_not_overlap(figsize):
    c = pi.compare(pi.systems.pendulum, 2.0, 0.0, methods=METHODS[:3], dt=0.05, t_end=20.0)
    axes = c.plot(figsize=figsize)
    axes.figure.draw_without_rendering()
    for ax in axes.flat:
        boxes = [text.get_window_extent() for text in ax.texts if "\n" not in text.get_text()]
        middles = np.sort([(box.y0 + box.y1) / 2 for box in boxes])
        if len(boxes):
            assert (np.diff(middles) > 0.9 * min(box.height for box in boxes)).all()


def test_a_figure_fits_the_cell_of_a_notebook_that_shows_its_pixels(monkeypatch):
    """ipympl does: 900 of them are what JupyterLab has beside its files on a small screen."""
    c = pi.compare(pi.systems.oscillator, dt=0.1, t_end=9.0)
    wide = c.plot().figure
    monkeypatch.setattr(matplotlib, "get_backend", lambda: "module://ipympl.backend_nbagg")
    fitted = c.plot().figure
    assert (fitted.get_size_inches() == wide.get_size_inches()).all()
    assert fitted.bbox.width <= 900 < wide.bbox.width


def test_a_legend_does_not_take_the_room_of_axes_in_a_mosaic():
    c = pi.compare(pi.systems.oscillator, dt=0.1, t_end=9.0)
    figure, axes = pyplot.subplot_mosaic("AB;CC", layout="constrained", figsize=(9, 6))
    for ax in axes.values():
        pi.plots.energy(c, ax=ax)
    figure.draw_without_rendering()
    half = axes["C"].get_position().width / 2
    assert axes["A"].get_position().width > 0.8 * half


def named_curves(ax):
    return [line for line in ax.get_lines() if line.get_label()[0] != "_"]


def test_every_curve_has_its_own_name_and_colour():
    runs = [pi.integrate(pi.systems.pendulum, x, 0.0, dt=0.02, t_end=2.0) for x in (1.0, 2.0)]
    one = pi.plots.trajectory(runs[0], label="1 rad", exact=False)
    pi.plots.trajectory(runs[1], label="2 rad", exact=False, ax=one)
    both = pi.plots.trajectory(*runs, exact=False)
    named = pi.plots.phase_portrait(*runs, labels=["one", "two"], exact=False)
    many = pi.integrate(pi.systems.pendulum(length=[1.0, 2.0, 3.0]), dt=0.02, t_end=2.0)
    batch = pi.plots.energy(many, exact=False)
    expected = [["1 rad", "2 rad"], [f"classical Runge-Kutta, initial θ = {x} rad" for x in (1, 2)],
                ["one", "two"], [f"length = {x} m" for x in (1, 2, 3)]]  # fmt: skip
    for ax, names in zip((one, both, named, batch), expected, strict=True):
        assert [line.get_label() for line in named_curves(ax)] == names
        assert len({line.get_color() for line in named_curves(ax)}) == len(names)
    steps = pi.integrate(pi.systems.pendulum, 1.0, 0.0, dt=[0.1, 0.2], n_steps=20)
    labels = [line.get_label() for line in named_curves(pi.plots.energy(steps, exact=False))]
    assert labels == ["dt = 0.1 s", "dt = 0.2 s"]
    alike = pi.integrate(pi.systems.pendulum, [1.0, 1.0], 0.0, dt=0.02, t_end=2.0)
    labels = [line.get_label() for line in named_curves(pi.plots.energy(alike, exact=False))]
    assert labels == ["classical Runge-Kutta"]
    near = pi.integrate(pi.systems.pendulum, [2.0, 2.0001], 0.0, dt=0.02, t_end=2.0)
    labels = [line.get_label() for line in named_curves(pi.plots.energy(near, exact=False))]
    assert labels == ["initial θ = 2 rad", "initial θ = 2.0001 rad"]
    with pytest.raises(ValueError, match="labels: expected 2 texts"):
        pi.plots.energy(*runs, labels=["one"])


def test_the_legend_of_a_picture_in_space_stands_beside_the_numbers_of_its_axes():
    planets = pi.systems.n_body(initial="outer_solar_system")
    ax = pi.plots.trajectory(pi.integrate(planets, dt=100.0, n_steps=3000, save=10))
    ax.figure.draw_without_rendering()
    place = ax.bbox  # of which the numbers of the third axis stick out by a tenth
    assert ax.get_legend().get_window_extent().x0 > place.x0 + 1.1 * place.width


def test_numbers_of_a_portrait_do_not_run_together():
    """-1.00 and -0.75 were a pixel or two apart."""
    sol = pi.integrate(pi.systems.kepler, dt=0.05, t_end=6.0)
    swing = pi.integrate(pi.systems.oscillator(omega=2.0), dt=0.1, t_end=20.0)
    pi.plots.animate(sol)
    for ax in pyplot.gcf().axes[1], pi.plots.phase_portrait(swing):
        ax.figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
        assert min(b.x0 - a.x1 for a, b in zip(boxes, boxes[1:])) > 8


def test_angles_are_no_lengths():
    swings = pi.integrate(pi.systems.double_pendulum, dt=0.01, n_steps=10)
    assert pi.plots.trajectory(swings).get_aspect() == "auto"


def test_trajectories_that_rest_or_are_nan_are_told_from_others():
    starts = [0.0, -1.0, np.nan]
    sol = pi.integrate(pi.systems.pendulum, starts, 0.0, dt=0.02, t_end=2.0, on_failure="ignore")
    rest, swing, _ = named_curves(ax := pi.plots.phase_portrait(sol, exact=False))
    assert (rest.get_marker(), swing.get_marker()) == ("o", "None")
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [f"initial θ = {x} rad" for x in ("0", "\N{MINUS SIGN}1", "nan")]


@pytest.mark.parametrize("name", ["my_kutta", "mine"])
def test_methods_of_ones_own_have_their_names_in_every_picture(name):
    mine = pi.RungeKutta([[0, 0], [1, 0]], [1 / 2, 1 / 2], name=name)
    found = pi.analysis.convergence(pi.systems.oscillator, [mine, "rk4"])
    texts = [text.get_text() for text in found.plot().get_legend().get_texts()]
    assert texts == ["4.0   classical Runge-Kutta", f"2.0   {name}"]
    sol = pi.integrate(pi.systems.oscillator, dt=0.1, t_end=2.0, method=mine)
    assert named_curves(pi.plots.energy(sol, exact=False))[0].get_label() == name


def test_crosses_of_ones_own_are_seen_where_steps_are_coarse():
    sol = pi.integrate(pi.systems.pendulum, 2.0, 0.0, dt=0.2, t_end=9.0)
    (line,) = named_curves(pi.plots.phase_portrait(sol, marker="x", exact=False))
    assert line.get_markeredgewidth() > 0


def test_panels_save_their_figure_and_print_in_a_word(tmp_path):
    axes = pi.compare(pi.systems.oscillator, dt=0.1, t_end=9.0).plot()
    axes.savefig(tmp_path / "panels.png")
    assert (tmp_path / "panels.png").stat().st_size > 0
    assert repr(axes) == "<1 x 4 panels>"
    assert repr(axes[:, 0]) == "<1 panel>"


@pytest.mark.parametrize("figsize", [(3, 2), (3, 1.6), (2.5, 2), (2, 1.5), (4, 3)])
def test_the_label_of_a_small_picture_is_whole(figsize):
    c = pi.compare(pi.systems.kepler, methods=["rk4", "velocity_verlet"], dt=0.05, t_end=5.0)
    ax = pi.plots.error(c, quantity="energy", figsize=figsize)
    ax.figure.draw_without_rendering()
    label = ax.yaxis.label.get_window_extent()
    assert label.y0 >= 0
    assert label.y1 <= ax.figure.bbox.y1 + 1  # a pixel of rounding


def test_the_label_of_many_components_is_whole():
    names = ["susceptible", "exposed", "infected_individuals", "recovered", "vaccinated_or_dead"]
    decay = pi.rhs(dim=5, state_names=names, initial=[1.0] * 5)(lambda t, y: -y)
    sol, ax = pi.integrate(decay, dt=0.1, n_steps=9), None
    for name in names:
        ax = pi.plots.trajectory(sol, components=name, ax=ax, label=name)
    ax.figure.draw_without_rendering()
    label = ax.yaxis.label.get_window_extent()
    assert 0 <= label.y0 < label.y1 <= ax.figure.bbox.y1
    assert ax.get_ylabel().replace("\n", " ") == ", ".join(names)


def many(count):
    fit = [name for name, method in pi.methods.items() if method.requires in ("any", "second_order")
           and method.self_starting and not method.implicit]  # fmt: skip
    return fit[:count]


def test_three_dozen_methods_look_different():
    c = pi.compare(pi.systems.pendulum, methods=many(36), dt=0.05, n_steps=20)
    lines = list(pi.plots.energy(c, exact=False).get_lines())
    assert len({(line.get_color(), str(line._dash_pattern)) for line in lines}) == 36
    found = style.looks(many(36)).values()
    assert len({(one["color"], str(one["linestyle"])) for one in found}) == 36
    rk4 = labelled(pi.plots.energy(c["rk4"], exact=False))[c["rk4"].method.title]
    beside = labelled(pi.plots.energy(c, exact=False))[c["rk4"].method.title]
    assert rk4._dash_pattern == beside._dash_pattern
    assert rk4.get_color() == beside.get_color()


@pytest.mark.parametrize("count", [16, 36])
@pytest.mark.parametrize("draw", [
    lambda c: c.plot(), lambda c: pi.plots.dashboard(c), lambda c: pi.plots.energy(c),
    lambda c: pi.plots.phase_portrait(c), lambda c: c.animate()._fig.axes[0],
    lambda c: pi.plots.trajectory(c, labels=[str(i) for i in range(len(c))]),
], ids=["comparison", "dashboard", "energy", "portrait", "animation", "short names"])  # fmt: skip
def test_a_picture_has_room_for_the_names_of_many_methods(draw, count):
    c = pi.compare(pi.systems.pendulum, methods=many(count), dt=0.05, n_steps=20)
    figure = draw(c).figure
    figure.draw_without_rendering()  # a layout that does not fit is a warning, here an error
    (legend,) = [*figure.legends, *filter(None, (ax.get_legend() for ax in figure.axes))]
    assert len(legend.get_texts()) >= count
    boxes = [text.get_window_extent() for ax in figure.axes for text in ax.texts]
    for box in [legend.get_window_extent(), *boxes]:
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    for ax in figure.axes:
        if ax.get_visible():
            assert ax.bbox.height > figure.dpi * 1.2  # inches: as few methods have
            taken = ax.bbox if legend is ax.get_legend() else ax.get_tightbbox()
            assert not taken.overlaps(legend.get_window_extent())
    pyplot.close(figure)
