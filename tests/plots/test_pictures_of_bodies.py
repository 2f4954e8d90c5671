"""Bodies and motions: names, paths, frames; and with some components only."""

import re

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend comes first)


def drawn_once(moving, frame=1):
    """An animation after a frame; Matplotlib warns of those that nobody has ever looked at."""
    moving._draw_was_started = True
    moving._draw_frame(frame)
    return moving


# ---- components ----------------------------------------------------------------------------------


def test_pictures_work_with_the_components_that_were_saved():
    sol = pi.integrate(pi.systems.kepler, dt=0.05, n_steps=100, components=["y", "x"])
    whole = pi.integrate(pi.systems.kepler, dt=0.05, n_steps=100)
    ax = pi.plots.trajectory(sol, exact=False)
    assert np.array_equal(ax.get_lines()[0].get_xydata(), whole.x)
    only = pi.integrate(pi.systems.kepler, dt=0.05, n_steps=100, components=["y"])
    assert pi.plots.trajectory(only).get_ylabel() == "y [m]"
    drawn = pi.plots.phase_portrait(sol, components=("y", "x"), exact=False).get_lines()[0]
    assert np.array_equal(drawn.get_xydata(), whole.x[:, ::-1])
    shown = [ax.get_title("left") for ax in pi.plots.dashboard(sol).ravel() if ax.get_visible()]
    assert shown == ["path", "position error"]
    drawn_once(pi.plots.animate(sol, seconds=0.1))
    assert pi.plots.error(sol).get_lines()[0].get_ydata()[1:] == pytest.approx(
        pi.plots.error(whole).get_lines()[0].get_ydata()[1:]
    )


def test_a_motion_whose_truth_is_nan_has_no_panel_of_errors():
    box = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1 / 2, 1 / 3))
    sol = pi.integrate(box, [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.01, 1, 0], dt=0.1, n_steps=9)
    shown = [ax.get_title("left") for ax in pi.plots.dashboard(sol).ravel() if ax.get_visible()]
    assert shown == ["path", "phase portrait", "energy", "energy error"]
    assert pi.plots.error(sol).get_title("right") == "no error is known"


@pytest.mark.parametrize(("call", "needed"), [
    (lambda sol: pi.plots.phase_portrait(sol), "vx was not saved"),
    (lambda sol: pi.plots.trajectory(sol, components=("x", "vy")), "vy was not saved"),
    (lambda sol: pi.plots.energy(sol), "all components"),
    (lambda sol: pi.analysis.poincare_section(sol, "x"), "all components .x, y, vx, vy."),
    (lambda sol: pi.plots.dashboard(sol, panels=["energy"]), "no data for the panel 'energy'"),
])  # fmt: skip
def test_what_was_not_saved_is_named(call, needed):
    sol = pi.integrate(pi.systems.kepler, dt=0.05, n_steps=100, components=["x", "y"])
    with pytest.raises(ValueError, match=needed):
        call(sol)


# ---- moving --------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_page_holds_all_frames_below_the_limit():
    c = pi.compare(pi.systems.kepler, dt=0.02, t_end=12.0)
    with pyplot.rc_context({"animation.embed_limit": 0.4}):
        page = c.animate(seconds=0.5).to_jshtml()
    frames = re.findall(r"frames\[(\d+)\] = \"data:image/png", page)
    assert len(frames) == 10
    assert len(page) < 0.4 * 2**20
    default = drawn_once(c.animate(seconds=10))
    room = 20 * 2**20 * 3 / 4 / default.count
    assert default._dpi(20.0) >= 60  # still sharp
    assert default._bytes(0.9, default._dpi(20.0)) < room


@pytest.mark.parametrize("inertia", [(1, 1, 1), (1, 1 / 2, 1 / 3)])
def test_a_body_at_rest_can_be_animated(inertia):
    body = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=inertia)
    sol = pi.integrate(body, dt=0.1, n_steps=10, method="rigid_splitting2")
    moving = drawn_once(pi.plots.animate(sol, seconds=0.1))
    moving.figure.canvas.draw()


# ---- bodies --------------------------------------------------------------------------------------


PLANETS = pi.systems.n_body(initial="outer_solar_system")
NAMES = ["Sun", "Jupiter", "Saturn", "Uranus", "Neptune", "Pluto"]


def named(ax):
    """Names in the legend of the axes or of its figure, in order."""
    handles, names = ax.get_legend_handles_labels()
    return names


@pytest.mark.parametrize("components", [None, ("x", "y"), ("y", "z")])
def test_bodies_have_their_paths_and_names(components):
    sol = pi.integrate(PLANETS, dt=50.0, n_steps=40)
    ax = pi.plots.trajectory(sol, components=components)
    assert named(ax) == NAMES == list(PLANETS.bodies)
    assert hasattr(ax, "get_zlim") is (components is None)
    letters = components or ("x", "y", "z")
    ends = {line.get_label(): line for line in ax.get_lines()}
    for number, name in enumerate(NAMES, 1):
        last = [sol[f"{letter}{number}"][-1] for letter in letters]
        held = ends[name].get_data_3d() if components is None else ends[name].get_data()
        assert np.concatenate(held) == pytest.approx(last)
    assert "AU" in ax.get_xlabel()
    assert len({line.get_color() for line in ends.values()}) == 6
    moving = drawn_once(pi.plots.animate(sol, components=components, seconds=0.1))
    assert named(moving.figure.axes[0]) == NAMES


def test_bodies_in_a_plane_are_drawn_in_it():
    for system in (pi.systems.n_body, pi.systems.three_body):
        sol = pi.integrate(system, dt=0.01, n_steps=50)
        ax = pi.plots.trajectory(sol)
        assert named(ax) == ["body 1", "body 2", "body 3"]
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")
    assert pi.plots.trajectory(sol, components="x2").get_ylabel() == "x2 [m]"
    assert pi.plots.trajectory(sol, components=("x1", "y2")).get_xlabel() == "x1 [m]"


def test_methods_of_bodies_differ_in_line_style():
    c = pi.compare(PLANETS, methods=["rk4", "velocity_verlet"], dt=50.0, n_steps=20)
    ax = pi.plots.trajectory(c, components=("x", "y"))
    assert named(ax) == [*NAMES, "classical Runge-Kutta", "velocity Verlet"]
    assert c.plot()[0, 0].get_title("left") == "path"


def test_names_of_bodies_survive_pickling_and_other_masses():
    import pickle

    assert pickle.loads(pickle.dumps(PLANETS)).bodies == tuple(NAMES)
    assert PLANETS(softening=0.1).bodies == tuple(NAMES)
    assert pi.systems.n_body(n=2).bodies == ("body 1", "body 2")
