"""Pictures as users ask for them: what is left out is said, nothing is cut, every keyword works."""

import subprocess
import sys

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend comes first)
from matplotlib.colors import to_rgb  # noqa: E402

from pyintegrate.plots import curves, pictures, style  # noqa: E402

COLUMN = (3.4, 2.8)  # inches: one of two columns of a page
EULER = "semi_implicit_euler"


pytestmark = pytest.mark.usefixtures("no_side_effects")


def swings(count=1, **options):
    angle = np.linspace(0.1, 2.0, count) if count > 1 else 1.0
    run = {"dt": 0.05, "n_steps": 60} | options
    return pi.integrate(pi.systems.pendulum, angle, 0.0 * angle, **run)


def compared(**options):
    return pi.compare(pi.systems.pendulum, dt=0.05, n_steps=60, **options)


def orders():
    return pi.analysis.convergence(pi.systems.oscillator, ["rk4", "midpoint"])


def costs():
    return pi.analysis.work_precision(pi.systems.oscillator, ["rk4", "midpoint"], seconds=False)


def springs(**options):
    system = pi.systems.spring(k=np.linspace(1, 90, 7), b=np.linspace(0, 3, 5)[:, np.newaxis])
    return pi.integrate(system, **({"dt": 0.1, "n_steps": 60} | options))


def drawn_once(moving, frame=1):
    """An animation after a frame; Matplotlib warns of those that nobody has ever looked at."""
    moving._draw_was_started = True
    moving._draw_frame(frame)
    return moving


# Every picture, drawn with the keywords that the tests give.
PICTURES = {
    "energy": lambda **k: pi.plots.energy(compared(), **k),
    "error": lambda **k: pi.plots.error(compared(), **k),
    "phase_drift": lambda **k: pi.plots.phase_drift(compared(), **k),
    "trajectory": lambda **k: pi.plots.trajectory(compared(), **k),
    "phase_portrait": lambda **k: pi.plots.phase_portrait(compared(), **k),
    "stability_region": lambda **k: pi.plots.stability_region("rk4", EULER, **k),
    "convergence": lambda **k: orders().plot(**k),
    "work_precision": lambda **k: costs().plot(**k),
    "comparison": lambda **k: compared().plot(**({"panels": ["energy"]} | k)),
    "dashboard": lambda **k: pi.plots.dashboard(compared(), **({"panels": ["energy"]} | k)),
    "solution": lambda **k: swings().plot(**({"panels": ["energy"]} | k)),
    "heatmap": lambda **k: pi.plots.heatmap(springs(), **k),
    "stability_map": lambda **k: pi.plots.stability_map("rk4", points=9, **k),
}
OF_LINES = [name for name in PICTURES if name not in ("heatmap", "stability_map")]


def named(ax):
    """Names that a legend of these axes has, in order."""
    return ax.get_legend_handles_labels()[1]


def texts_of(figure):
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]


# ---- the same keywords everywhere ----------------------------------------------------------------


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_takes_a_title_a_size_and_axes(name):
    drawn = PICTURES[name](title="Seen from afar", figsize=COLUMN)
    assert tuple(drawn.figure.get_size_inches()) == COLUMN
    assert "Seen from afar" in " ".join(texts_of(drawn.figure))
    figure, ax = pyplot.subplots()
    again = PICTURES[name](ax=ax)
    assert (again.flat[0] if isinstance(again, np.ndarray) else again) is ax
    assert again.figure is figure
    with pyplot.rc_context({"figure.figsize": (5.0, 4.5)}):
        assert tuple(PICTURES[name]().figure.get_size_inches()) == (5.0, 4.5)


@pytest.mark.parametrize("name", OF_LINES)
def test_short_names_of_keywords_do_not_collide(name):
    drawn = PICTURES[name](lw=3.25, c="k")
    axes = drawn.ravel() if isinstance(drawn, np.ndarray) else [drawn]
    lines = [line for ax in axes for line in ax.get_lines() if line.get_label()[0] != "_"]
    wide = [line for line in lines if line.get_linewidth() == 3.25]
    assert wide
    assert all(to_rgb(line.get_color()) == (0, 0, 0) for line in wide)


@pytest.mark.parametrize("name", [*OF_LINES, "heatmap", "equilibria"])
def test_a_keyword_of_the_axes_is_refused_with_the_cure(name):
    found = pi.analysis.equilibria(pi.systems.pendulum, ((-1, 1), (-1, 1)))
    draw = (PICTURES | {"equilibria": found.plot})[name]
    with pytest.raises(TypeError, match=r"'xlim'.* ax\.set\("):
        draw(xlim=(0, 1))


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_is_cut_in_a_column_of_a_paper(name):
    """By savefig as it is, without bbox_inches: texts and legends lie inside the figure."""
    figure = PICTURES[name](figsize=COLUMN, title="How wrong is each of the methods?").figure
    figure.canvas.draw()
    edge = figure.bbox
    shown = [text for text in figure.findobj(matplotlib.text.Text) if text.get_visible()]
    titles = [*figure.texts, *(t for ax in figure.axes for t in (ax.title, ax._left_title))]
    outer = [
        *(ax.xaxis.label for ax in figure.axes),
        *(ax.yaxis.label for ax in figure.axes),
        *figure.legends,
        *filter(None, (ax.get_legend() for ax in figure.axes)),
        *(text for text in titles if text in shown and text.get_text()),
    ]
    for one in outer:
        box = one.get_window_extent()
        assert box.x0 >= edge.x0 - 1, one
        assert box.y0 >= edge.y0 - 1, one
        assert box.x1 <= edge.x1 + 1, one
        assert box.y1 <= edge.y1 + 1, one
    for ax in figure.axes:
        if ax.get_visible() and ax.get_label() != "<colorbar>":
            # The data keep a fifth of each side; a stability region is high and narrow.
            assert ax.bbox.width > 0.2 * edge.width
            assert ax.bbox.height > 0.2 * edge.height


@pytest.mark.parametrize("draw", [
    lambda: pi.plots.stability_region("rk4", EULER, pi.Composition(
        [("kick", 0.5), ("drift", 1.0), ("kick", 0.5)])),
    lambda: pi.plots.trajectory(pi.compare(pi.systems.kepler, dt=0.05, n_steps=50)),
])  # fmt: skip
def test_a_legend_beside_axes_of_one_scale_is_not_cut(draw):
    figure = draw().figure
    figure.canvas.draw()
    for legend in [*figure.legends, *filter(None, (ax.get_legend() for ax in figure.axes))]:
        box = legend.get_window_extent()
        assert box.x1 <= figure.bbox.x1
        assert not box.overlaps(figure.axes[0].bbox)


def test_in_axes_of_ones_own_the_legend_is_inside():
    figure, ax = pyplot.subplots()  # no layout makes room beside them
    pi.plots.energy(compared(), ax=ax)
    figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.x1 <= ax.bbox.x1
    assert box.x0 >= ax.bbox.x0


# ---- several panels ------------------------------------------------------------------------------


def test_panels_are_chosen_by_name_and_drawn_into_axes_given():
    c = compared()
    axes = c.plot(panels=["energy", "motion"])
    assert [ax.get_title("left") for ax in axes[0]] == ["energy", "position"]
    figure, own = pyplot.subplots(1, 2, layout="constrained")
    assert list(c.plot(panels=["energy", "motion"], ax=own)[0]) == list(own)
    assert list(pi.plots.dashboard(c, panels=["energy", "motion"], ax=own)[0]) == list(own)
    assert len(pyplot.get_fignums()) == 2
    for draw in (c.plot, lambda **k: pi.plots.dashboard(c, **k)):
        with pytest.raises(ValueError, match="panels must be some of motion, .*heat"):
            draw(panels=["heat"])
        with pytest.raises(ValueError, match="ax has 2 axes, and the picture 1 panels"):
            draw(panels="energy", ax=own)
    lorenz = pi.compare(pi.systems.lorenz, methods=["rk4"], dt=0.01, n_steps=50)
    with pytest.raises(ValueError, match="no data for the panel 'energy', only 'motion'"):
        lorenz.plot(panels=["energy"])
    with pytest.raises(ValueError, match="no data for the panel 'energy', only 'motion'"):
        pi.plots.dashboard(lorenz, panels=["energy"])


def test_arrays_of_axes_know_their_figure():
    for axes in (compared().plot(), pi.plots.dashboard(swings()), swings().plot(),
                 pi.plots.stability_map(["rk4", EULER], points=9)):  # fmt: skip
        assert axes.figure is axes.flat[0].figure


def test_solutions_and_comparisons_draw_themselves():
    assert [ax.get_title("left") for ax in swings().plot()] == ["position", "energy"]
    lorenz = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=50)
    assert [ax.get_title("left") for ax in lorenz.plot()] == ["path"]
    table = swings().table()
    assert table.columns[0] == "method"
    assert [row[0] for row in table.rows] == ["exact", "rk4"]
    moving = drawn_once(compared().animate(seconds=0.1))
    assert isinstance(moving, matplotlib.animation.FuncAnimation)


# ---- what is left out ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plot", ["energy", "error", "phase_drift", "trajectory", "phase_portrait", "dashboard"]
)
def test_a_picture_says_how_many_trajectories_it_shows(plot):
    def said(count):
        return " ".join(texts_of(getattr(pi.plots, plot)(swings(count)).figure))

    assert "30 of 1,000 trajectories" in said(1000)
    assert "30 of" not in said(30)


def test_comparisons_and_animations_say_it_too():
    several = {"x0": np.linspace(0.1, 1, 50), "v0": np.zeros(50)}
    c = compared(**several)
    assert "30 of 50 trajectories" in " ".join(texts_of(c.plot().figure))
    moving = drawn_once(c.animate(seconds=0.1))
    assert "30 of 50 trajectories" in texts_of(moving.figure)


@pytest.mark.parametrize("plot", ["trajectory", "phase_portrait", "energy"])
def test_final_states_are_called_so(plot):
    few = getattr(pi.plots, plot)(swings(20, save="final"))
    assert "final states only" in texts_of(few.figure)


def test_states_before_the_end_are_not_called_final():
    few = pi.plots.phase_portrait(swings(20, save=[5]))
    assert "single states only" in texts_of(few.figure)


@pytest.mark.parametrize("figsize", [(6.8, 4.2), (2.5, 4.0)])
def test_colours_of_small_dots_are_seen_in_the_legend(figsize):
    rosettes = pi.compare(
        pi.systems.henon_heiles, methods=["rk4", "velocity_verlet"], dt=0.1, t_end=2000.0
    )
    ax = pi.plots.phase_portrait(rosettes, figsize=figsize)
    assert min(line.get_markersize() for line in ax.get_lines()) < 3
    (legend,) = ax.figure.legends or [ax.get_legend()]
    assert min(sample.get_markersize() for sample in legend.legend_handles) > 4


def test_the_legend_says_that_stiff_parts_were_solved_by_another_method():
    stiff, soft = (
        pi.solve(pi.systems.van_der_pol(mu=mu), [2.0, 0.0], t_end=10.0, save="all")
        for mu in (1000.0, 0.1)
    )
    ax = pi.plots.trajectory(stiff, soft)
    texts = [line.get_label() for line in ax.get_lines()]
    assert [pi.methods.radau_iia5.title in text for text in texts] == [True, False]


def test_final_states_of_those_that_landed_are_drawn():
    thrown = np.stack([np.linspace(1, 20, 9)] * 3, axis=-1)
    ground = {"ground": pi.event("z", direction=-1, stop=True)}
    throw = pi.systems.projectile_drag, [0.0, 0, 0], thrown
    for sol in (
        pi.solve(*throw, t_end=10.0, events=ground),
        pi.integrate(*throw, dt=0.01, t_end=10.0, save="final", events=ground),
    ):
        (places,) = pi.plots.trajectory(sol, components=("x", "y")).get_lines()
        assert places.get_xdata().tolist() == sol.final[:, 0].tolist()
        moments = [float(line.get_xdata()[0]) for line in pi.plots.energy(sol).get_lines()]
        assert sorted(moments)[-9:] == pytest.approx(sol.stopped_at)


def test_of_a_million_final_states_thousands_are_drawn_and_said():
    sol = swings(20_000, save="final")
    ax = pi.plots.phase_portrait(sol, exact=False)
    (dots,) = ax.get_lines()
    assert len(dots.get_xdata()) == curves.POINTS
    assert f"final states of {curves.POINTS:,} of 20,000 trajectories" in texts_of(ax.figure)


def test_orbits_keep_all_their_revolutions():
    for turns in (100, 2000):
        sol = pi.integrate(pi.systems.kepler, [1.0, 0, 0, 1.0], dt=0.02, t_end=6.28 * turns)
        ax = pi.plots.trajectory(sol, exact=False)
        (line,) = ax.get_lines()
        x, y = line.get_data()
        places = np.searchsorted(sol["x"][np.argsort(sol["x"])], x)
        times = sol.t[np.argsort(sol["x"])][places]
        assert len(np.unique((times / (2 * np.pi)).astype(int))) >= turns - 1
        assert len(x) <= curves.LINE
        said = "states" in ax.get_title("right")
        assert said is (line.get_linestyle() == "None")


# ---- dark ground ---------------------------------------------------------------------------------


def luminance(colour):
    """Relative luminance of sRGB (WCAG 2.2)."""
    part = np.array(to_rgb(colour))
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("name", OF_LINES)
def test_colours_are_readable_on_a_dark_ground(name):
    with pyplot.style.context("dark_background"):
        figure = PICTURES[name]().figure
        for ax in figure.axes:
            ground = luminance(ax.get_facecolor())
            for line in ax.get_lines():
                if line.get_label() == "exact" or line.get_label()[0] == "_":
                    continue  # the exact motion stands back
                # WCAG 2.2, 1.4.11: three to one for graphics; five is asked for of a thin line.
                assert (luminance(line.get_color()) + 0.05) / (ground + 0.05) > 5, line
            for text in ax.texts + [ax.title, ax.xaxis.label]:
                assert (luminance(text.get_color()) + 0.05) / (ground + 0.05) > 4.5
        assert pi.plots.colour_of("rk4") == style.ON_DARK[style.BLUE]
    assert pi.plots.colour_of("rk4") == style.BLUE
    assert len(set(style.ON_DARK.values()) | set(style.PALETTE)) == len(style.PALETTE) + 2


# ---- user-defined methods ------------------------------------------------------------------------


def test_methods_of_ones_own_keep_their_names():
    mine = pi.RungeKutta([[0, 0], [0.5, 0]], [0, 1], name="mine")
    assert named(pi.plots.stability_region("rk4", mine)) == ["classical Runge-Kutta", "mine"]
    twice = pi.plots.stability_region("rk4", "rk4", labels=["one", "other"])
    assert named(twice) == ["one", "other"]
    assert len({line.get_linestyle() for line in twice.get_lines()[2:]}) == 2
    both = pi.plots.energy(swings(), swings(method=mine))
    assert named(both)[-1] == "mine"
    assert pi.plots.stability_map(mine, points=9).get_title("left") == "mine"


def test_texts_are_folded_to_the_width_that_there_is():
    folded = pictures.wrapped("a title that is far too long for a column", 1.5, "axes.titlesize")
    assert len(folded.split("\n")) >= 2
    assert pictures.wrapped("short", 1.5, "axes.titlesize") == "short"


@pytest.mark.long
def test_pictures_are_there_without_docstrings():
    """python -OO, which leaves them out: shared parameters are told in them."""
    program = "import pyintegrate as pi\nfor name in dir(pi.plots): getattr(pi.plots, name)"
    subprocess.run([sys.executable, "-OO", "-c", program], check=True)
