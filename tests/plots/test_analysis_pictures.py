"""The pictures of analysis hold the numbers of analysis: data in the artists, labels, limits."""

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend comes first)

from pyintegrate.analysis.stiffness import spring_growth  # noqa: E402
from pyintegrate.plots import style  # noqa: E402
from pyintegrate.plots.method_curves import simulated_growth  # noqa: E402

EULER = "semi_implicit_euler"


pytestmark = pytest.mark.usefixtures("no_side_effects")


def line(ax, label):
    (found,) = (one for one in ax.get_lines() if one.get_label() == label)
    return found


def oscillate(method="rk4", n_steps=200, **options):
    options = {"dt": 0.1} | options
    return pi.integrate(pi.systems.oscillator, n_steps=n_steps, method=method, **options)


# ---- error ---------------------------------------------------------------------------------------


def test_the_error_drawn_is_the_largest_so_far():
    sol = oscillate(EULER)
    off = np.abs(sol.error()[:, 0])
    drawn = line(pi.plots.error(sol), sol.method.title).get_xydata()
    assert drawn[1:] == pytest.approx(
        np.column_stack([sol.t, np.maximum.accumulate(off)])[1:], rel=1e-12
    )
    every = line(pi.plots.error(sol, so_far=False), sol.method.title).get_ydata()
    assert every[1:] == pytest.approx(off[1:], rel=1e-12)


@pytest.mark.parametrize("quantity", ["energy", "phase", "state"])
def test_other_errors(quantity):
    sol = oscillate(EULER)
    ax = pi.plots.error(sol, quantity=quantity)
    expected = {
        "energy": np.abs(sol.energy_error()),
        "phase": np.abs(pi.analysis.phase_drift(sol)),
        "state": np.linalg.norm(sol.error(), axis=-1),
    }[quantity]
    drawn = line(ax, sol.method.title).get_ydata()
    assert drawn[1:] == pytest.approx(np.maximum.accumulate(expected)[1:], rel=1e-12)
    assert quantity in ax.get_ylabel()
    assert ax.get_yscale() == "log"


def test_errors_need_a_truth():
    sol = pi.integrate(pi.systems.lorenz, dt=0.02, n_steps=50)
    with pytest.raises(ValueError, match="give error a reference"):
        pi.plots.error(sol)
    fine = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=100, save=2)
    drawn = line(pi.plots.error(sol, reference=fine, so_far=False), sol.method.title).get_ydata()
    assert drawn[1:] == pytest.approx(np.linalg.norm(sol.y - fine.y, axis=-1)[1:], rel=1e-12)
    with pytest.raises(ValueError, match="position, state, energy, phase"):
        pi.plots.error(sol, quantity="heat")


# ---- convergence and cost ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def orders():
    return pi.analysis.convergence(pi.systems.kepler, ["rk4", "midpoint"])


def test_convergence_draws_errors_and_fits(orders):
    ax = orders.plot()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["4.0   classical Runge-Kutta", "2.0   explicit midpoint"]
    drawn = line(ax, texts[0])
    good = orders.errors["rk4"] < 10
    assert drawn.get_xdata() == pytest.approx(orders.dt)
    assert drawn.get_ydata()[good] == pytest.approx(orders.errors["rk4"][good])
    fit = orders["rk4"]
    (fitted,) = (
        one
        for one in ax.get_lines()
        if len(one.get_xdata()) == 2 and one.get_color() == drawn.get_color()
    )
    assert fitted.get_xdata() == pytest.approx([fit.dt_min, fit.dt_max])
    slope = np.diff(np.log(fitted.get_ydata())) / np.diff(np.log(fitted.get_xdata()))
    assert slope[0] == pytest.approx(fit.order)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlabel() == "dt [s]"


def test_work_precision_draws_error_over_cost():
    names = ["rk4", "velocity_verlet"]
    found = pi.analysis.work_precision(pi.systems.kepler, names, steps=[128, 256, 512, 1024])
    for of, place in (("evaluations", 1), ("seconds", 2)):
        ax = found.plot(of=of)
        drawn = line(ax, "classical Runge-Kutta")
        assert drawn.get_xdata() == pytest.approx(found["rk4"][place])
        assert drawn.get_ydata() == pytest.approx(found["rk4"][3])
        assert of.split()[0] in ax.get_xlabel()
    quick = pi.analysis.work_precision(pi.systems.kepler, names, steps=[128], seconds=False)
    with pytest.raises(ValueError, match="no seconds were taken"):
        quick.plot(of="seconds")


@pytest.mark.parametrize("name", ["convergence", "work_precision"])
def test_results_are_drawn_and_nothing_else(name):
    with pytest.raises(TypeError, match="Solution"):
        getattr(pi.plots, name)(oscillate())
    assert not pyplot.get_fignums()


# ---- stability -----------------------------------------------------------------------------------


def test_methods_are_labelled_by_name_or_in_their_order():
    region = pi.plots.stability_region
    for labels in ({"explicit_euler": "E", "rk4": "R"}, ["E", "R"]):
        ax = region("explicit_euler", "rk4", labels=labels)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["E", "R"]
    with pytest.raises(ValueError, match="labels: expected 2 texts"):
        region("explicit_euler", "rk4", labels=["E"])


def test_the_region_drawn_is_the_boundary():
    ax = pi.plots.stability_region("explicit_euler", "rk4")
    disc = line(ax, "explicit Euler").get_xydata()
    assert np.abs(np.hypot(disc[:, 0] + 1, disc[:, 1]) - 1).max() < 1e-4  # the disc |1 + z| = 1
    assert disc[0] == pytest.approx(disc[-1])  # in one piece
    assert ax.get_aspect() == 1
    assert ax.get_ylim()[1] > 8**0.5
    with pytest.raises(TypeError, match="nothing to draw"):
        pi.plots.stability_region()


def test_the_map_shows_simulation_and_theory():
    def assert_agrees(method):
        ax = pi.plots.stability_map(method, dt=0.5, points=60)
        (mesh,) = ax.collections
        (boundary,) = {one.get_label() for one in ax.get_lines()}
        assert boundary == "boundary of theory"
        grown = np.asarray(mesh.get_array()).reshape(60, 60)
        b, k = np.meshgrid(np.linspace(*ax.get_xlim(), 60), np.linspace(*ax.get_ylim(), 60))
        theory = np.log(spring_growth("semi_implicit_euler", k * 0.25, b * 0.5))
        sure = (np.abs(theory) > 0.02) & (k > 0)  # 400 steps then leave no doubt
        assert np.array_equal((grown > 0)[sure], (theory > 0)[sure])

    assert_agrees(EULER)
    with pytest.raises(AssertionError):  # and would not agree for a mutated method
        assert_agrees(pi.Composition([("kick", 0.45), ("drift", 1.0), ("kick", 0.55)]))


def test_growth_by_simulation_is_growth_by_theory():
    k, b = np.array([100.0, 100.0, 450.0]), np.array([0.0, 2.0, 0.0])
    for name in ("explicit_euler", EULER):
        grown = simulated_growth(pi.methods[name], k, b, 0.1)
        theory = np.log(spring_growth(name, k * 0.01, b * 0.1))
        # Within a period the size of the motion swings by a few times: log of that over 400 steps.
        assert grown == pytest.approx(theory, abs=0.01)


def test_several_methods_get_a_panel_each():
    axes = pi.plots.stability_map(["rk4", EULER], points=12)
    assert [ax.get_title("left") for ax in axes] == [
        pi.methods[name].title for name in ("rk4", EULER)
    ]
    _, ax = pyplot.subplots()
    with pytest.raises(ValueError, match="ax has 1 axes, and the picture 2 panels"):
        pi.plots.stability_map(["rk4", EULER], ax=ax)


# ---- batches -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def springs():
    system = pi.systems.spring(k=np.linspace(1, 90, 7), b=np.linspace(0, 3, 5)[:, np.newaxis])
    return pi.integrate(system, dt=0.1, n_steps=60)


def test_a_heatmap_shows_its_numbers_over_what_varies(springs):
    ax = pi.plots.heatmap(springs, "x")
    mesh = ax.collections[0]
    assert np.asarray(mesh.get_array()).reshape(5, 7) == pytest.approx(springs.x[-1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("k [N/m]", "b [kg/s]")
    assert ax.get_xlim()[0] < 1 < 90 < ax.get_xlim()[1]
    error = np.asarray(pi.plots.heatmap(springs).collections[0].get_array()).reshape(5, 7)
    assert error == pytest.approx(np.abs(springs.energy_error()).max(axis=0))
    own = pi.plots.heatmap(springs, lambda sol: sol.y[-1, ..., 1] ** 2, x=np.arange(7), label="v²")
    assert np.asarray(own.collections[0].get_array()).reshape(5, 7) == pytest.approx(
        springs.v[-1] ** 2
    )


def test_a_heatmap_of_classes_has_a_colour_for_each(springs):
    label = (springs.x[-1] > 0).astype(int)
    label[0, 0] = -1
    ax = pi.plots.heatmap(springs, label)
    mesh = ax.collections[0]
    assert mesh.cmap.N == 3
    assert np.array_equal(np.asarray(mesh.get_array()).reshape(5, 7), label)


def test_a_heatmap_finds_starts_and_refuses_the_rest(springs):
    swings = pi.integrate(
        pi.systems.pendulum, np.linspace(0.1, 1, 4), np.linspace(0, 1, 3)[:, None], dt=0.1,
        n_steps=10,
    )  # fmt: skip
    ax = pi.plots.heatmap(swings, "phase_error")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("initial θ [rad]", "initial ω [rad/s]")
    for call, message in [
        (lambda: pi.plots.heatmap(oscillate()), "two axes"),
        (lambda: pi.plots.heatmap(springs, "heat"), "energy_error"),
        (lambda: pi.plots.heatmap(springs, np.zeros((7, 5))), r"\(7, 5\)"),
        (lambda: pi.plots.heatmap(springs, "x", x="b"), "b does not vary"),
        (lambda: pi.plots.heatmap(springs, np.full((5, 7), "a")), "real numbers, got .* <U1"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            call()


def test_the_curves_of_a_fit_have_signs_and_units():
    t = np.linspace(0, 2, 20)
    seen = pi.solve(pi.systems.pendulum, 0.5, 0.0, t_end=2.0, times=t).y
    about = {"observe": ["theta", "omega"], "free": ["length"], "x0": 0.5, "v0": 0.0}
    found = pi.fit(pi.systems.pendulum, t, seen, **about)
    texts = [text.get_text() for text in found.plot().get_legend().get_texts()]
    assert texts == ["θ [rad]", "ω [rad/s]"]


# ---- moving and all together ---------------------------------------------------------------------


def test_an_animation_shows_where_the_motion_is():
    sol = pi.integrate(pi.systems.kepler, dt=0.05, n_steps=400)
    moving = pi.plots.animate(sol, seconds=4)
    assert isinstance(moving, matplotlib.animation.FuncAnimation)
    path, phase = moving._fig.axes
    moving._draw_frame(79)  # of 80: the end
    dots = [line(ax, sol.method.title).get_xydata()[0] for ax in (path, phase)]
    assert dots[0] == pytest.approx(sol.x[-1])
    assert dots[1] == pytest.approx([sol.x[-1, 0], sol.v[-1, 0]])
    moving._draw_frame(0)
    assert line(path, sol.method.title).get_xydata()[0] == pytest.approx(sol.x[0])
    assert "exact" in [one.get_label() for one in path.get_lines()]
    assert path.get_aspect() == 1


def test_an_animation_of_several_methods_and_of_a_batch():
    c = pi.compare(pi.systems.pendulum, dt=0.05, t_end=5.0)
    moving = pi.plots.animate(c)
    moving._draw_frame(3)
    *_, right = moving._fig.axes
    assert len(moving._fig.axes) == 3  # a pendulum for each method, and their phase space
    assert right.get_ylabel() == "ω [rad/s]"
    batch = pi.plots.animate(
        pi.integrate(pi.systems.pendulum, [0.5, 1.0], [0.0, 0.0], dt=0.1, n_steps=9)
    )
    batch._draw_frame(5)
    assert len(line(batch._fig.axes[1], "initial θ = 1 rad").get_xdata()) == 1
    with pytest.raises(ValueError, match="two saves"):
        pi.plots.animate(oscillate(save="final"))


def test_the_dashboard_holds_what_the_single_pictures_hold():
    c = pi.compare(pi.systems.pendulum, dt=0.05, t_end=60.0)
    axes = pi.plots.dashboard(c)
    assert axes.shape == (2, 3)
    sol = c["rk4"]
    portrait, error = axes[0, 1], axes[1, 1]
    assert line(portrait, sol.method.title).get_xydata() == pytest.approx(sol.y)
    off = np.maximum.accumulate(np.abs(sol.error()[:, 0]))
    assert line(error, sol.method.title).get_ydata()[1:] == pytest.approx(off[1:], rel=1e-9)
    assert len(axes[0, 0].figure.legends) == 1
    plain = pi.plots.dashboard(pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=500))
    assert [ax.get_visible() for ax in plain.ravel()] == [True, False, False, False, False, False]


def test_a_dashboard_of_a_million_states_draws_some_thousand_points():
    names = [m.name for m in pi.methods.values() if m.stability_limit > 0.1][:10]
    c = pi.compare(pi.systems.oscillator, methods=names, dt=0.05, n_steps=100_000)
    axes = pi.plots.dashboard(c)
    assert max(len(one.get_xdata()) for ax in axes.ravel() for one in ax.get_lines()) < 10_000


def test_looks_tell_more_methods_apart_than_there_are_colours():
    names = [f"method{i}" for i in range(20)]
    looks = style.looks(names)
    assert len({tuple(look.values()) for look in looks.values()}) == 20
