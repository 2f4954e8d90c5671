"""What is drawn: the data inside the artists, labels, limits, legends; no side effects."""

import sys

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend comes first)

from pyintegrate.analysis.side_by_side import Comparison  # noqa: E402
from pyintegrate.plots import curves, style  # noqa: E402

EULER = "semi_implicit_euler"
PLOTS = ["energy", "phase_drift", "trajectory", "phase_portrait"]


pytestmark = pytest.mark.usefixtures("no_side_effects")


def oscillate(method="rk4", n_steps=100, dt=0.1, omega=1.0, **options):
    system = pi.systems.oscillator(omega=omega)
    return pi.integrate(system, 1.0, 0.0, dt=dt, n_steps=n_steps, method=method, **options)


def line(ax, label):
    (found,) = (one for one in ax.get_lines() if one.get_label() == label)
    return found


def drawn(ax, solution):
    return line(ax, solution.method.title).get_xydata()


def test_energy_draws_the_relative_energy():
    sol = oscillate(EULER)
    ratio = pi.plots.energy(sol)
    error = pi.plots.energy(sol, quantity="error")
    plain = pi.plots.energy(sol, quantity="energy")
    assert np.array_equal(drawn(ratio, sol), np.column_stack([sol.t, sol.energy() / 0.5]))
    assert np.array_equal(drawn(error, sol)[:, 1], sol.energy_error())
    assert np.array_equal(drawn(plain, sol)[:, 1], sol.energy())
    assert ratio.get_ylabel() == "E(t) / E(0)"
    assert "E0" in error.get_ylabel()
    assert ratio.get_xlabel() == style.axis_label(sol.system, "t")
    assert "[s]" in ratio.get_xlabel()


def test_energy_chooses_the_quantity_in_which_the_change_is_seen():
    assert "error" in pi.plots.energy(oscillate(dt=0.01)).get_ylabel()
    assert "E(0)" in pi.plots.energy(oscillate(EULER)).get_ylabel()


def test_energies_that_overflow_are_left_out_without_a_warning():
    sol = pi.integrate(pi.systems.oscillator, 1e300, 0.0, dt=0.1, n_steps=5)
    (line,) = pi.plots.energy(sol, exact=False).get_lines()
    assert np.isnan(line.get_ydata()).all()


def test_the_energy_of_a_bound_orbit_falls_in_the_picture_where_it_is_lost():
    """E < 0: a ratio would rise. Beside it, from E0 = 0 nothing is relative."""
    lost = pi.integrate(pi.systems.kepler, dt=0.3, t_end=60.0)
    assert lost.energy()[-1] < 1.01 * lost.energy()[0] < 0
    ax = pi.plots.energy(lost)
    assert "E0" in ax.get_ylabel()
    assert drawn(ax, lost)[-1, 1] < -0.01
    driven = pi.integrate(pi.systems.acceleration_profile, dt=0.1, t_end=8.0)
    ax = pi.plots.energy(driven)
    assert ax.get_ylabel() == "energy E"
    assert np.array_equal(drawn(ax, driven)[:, 1], driven.energy())


def test_the_largest_error_so_far_is_not_that_of_later_steps():
    run = {"dt": 0.1, "t_end": 10.0, "watch": "energy_drift", "times": [1.0, 2.0, 3.0]}
    sol = pi.integrate(pi.systems.pendulum, **run)
    assert sol.watched["energy_drift.largest"] > 2 * np.abs(sol.energy_error()).max()
    ax = pi.plots.error(sol, quantity="energy")
    assert drawn(ax, sol)[-1, 1] == np.abs(sol.energy_error()).max()


def test_energy_shows_the_exact_energy_of_a_damped_spring():
    sol = pi.integrate(pi.systems.spring(b=0.5), dt=0.01, t_end=10.0)
    exact = line(pi.plots.energy(sol), "exact").get_xydata()
    held = np.interp(sol.t, *exact.T)
    # RK4 at this step is exact to 1e-6; interpolation between 2000 points to 1e-4.
    assert held == pytest.approx(sol.energy() / sol.energy()[0], abs=2e-4)


def test_phase_drift_draws_the_drift_and_the_zero_line():
    sol = oscillate(EULER)
    ax = pi.plots.phase_drift(sol)
    assert np.array_equal(drawn(ax, sol)[:, 1], pi.analysis.phase_drift(sol))
    assert set(line(ax, "exact").get_ydata()) == {0.0}
    assert ax.get_ylabel() == "phase error [rad]"


def test_phase_drift_takes_a_reference():
    sol = pi.integrate(pi.systems.pendulum, dt=0.02, n_steps=50, method=EULER)
    fine = pi.integrate(pi.systems.pendulum, dt=0.01, n_steps=100, save=2)
    ax = pi.plots.phase_drift(sol, reference=fine)
    assert np.array_equal(drawn(ax, sol)[:, 1], pi.analysis.phase_drift(sol, fine))


def test_trajectory_draws_position_against_time_or_the_path():
    sol = oscillate()
    ax = pi.plots.trajectory(sol)
    assert np.array_equal(drawn(ax, sol), np.column_stack([sol.t, sol.x]))
    assert ax.get_ylabel() == style.axis_label(sol.system, "x")
    ax = pi.plots.trajectory(sol, components="v")
    assert np.array_equal(drawn(ax, sol)[:, 1], sol.v)
    orbit = pi.integrate(pi.systems.kepler, dt=0.02, n_steps=300)
    ax = pi.plots.trajectory(orbit)
    assert np.array_equal(drawn(ax, orbit), orbit.x)
    assert ax.get_aspect() == 1  # a circle is a circle
    thrown = pi.integrate(pi.systems.projectile, dt=0.01, n_steps=100)
    assert hasattr(pi.plots.trajectory(thrown), "get_zlim")
    assert not hasattr(pi.plots.trajectory(thrown, components=("x", "z")), "get_zlim")


def test_how_a_body_turns_is_drawn_in_the_plane_where_it_shows():
    """Of a box that turns over, about y in space: w L = 2 E keeps wy, and wx and wz go round."""
    box = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1 / 2, 1 / 3))
    start = [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.01, 1, 0]
    sol = pi.integrate(box, *start, dt=0.02, t_end=30.0, method="rigid_splitting2")
    assert np.ptp(sol["wy"]) < 0.01 < min(np.ptp(sol["wx"]), np.ptp(sol["wz"]))
    ax = pi.plots.trajectory(sol)
    assert np.array_equal(drawn(ax, sol), np.column_stack([sol["wx"], sol["wz"]]))
    assert "exact" not in [one.get_label() for one in ax.get_lines()]  # known of its centre alone
    falling = pi.integrate(pi.systems.rigid_body, dt=0.1, t_end=1.0, method="rigid_splitting2")
    assert not falling.v[:, 3:].any()
    assert np.ptp(drawn(pi.plots.trajectory(falling), falling)[:, 1]) == np.ptp(falling["z"]) > 1


def test_the_exact_motion_is_smooth_where_the_steps_are_coarse():
    sol = oscillate(dt=0.5)
    exact = line(pi.plots.trajectory(sol), "exact")
    assert len(exact.get_xdata()) >= 10 * len(sol.t)
    assert exact.get_ydata() == pytest.approx(np.cos(exact.get_xdata()), abs=1e-12)


def test_no_exact_line_stands_for_another_motion():
    ax = pi.plots.trajectory(oscillate(), oscillate(omega=2.0))
    assert "exact" not in [one.get_label() for one in ax.get_lines()]


def test_phase_portrait_draws_velocity_against_position():
    sol = oscillate()
    ax = pi.plots.phase_portrait(sol)
    assert np.array_equal(drawn(ax, sol), sol.y)
    names = [style.axis_label(sol.system, name) for name in ("x", "v")]
    assert [ax.get_xlabel(), ax.get_ylabel()] == names


def test_coarse_orbits_are_dots_and_fine_ones_lines():
    # 31 steps a turn joined by lines would be a polygon; 628 are a circle.
    for dt, marker in ((0.2, "o"), (0.01, "None")):
        sol = oscillate(dt=dt, n_steps=1000)
        assert line(pi.plots.phase_portrait(sol), sol.method.title).get_marker() == marker


def test_a_solved_attractor_is_a_line_however_many_steps_it_took():
    sol = pi.solve(pi.systems.lorenz, t_end=40.0)
    assert len(sol) > 300
    path = line(pi.plots.trajectory(sol), sol.method.title)
    assert path.get_marker() == "None"
    assert len(path.get_xdata()) > 8 * 300


@pytest.mark.parametrize("plot", PLOTS)
def test_draws_into_the_axes_given_and_passes_keywords(plot):
    _, ax = pyplot.subplots()
    sol = oscillate()
    assert getattr(pi.plots, plot)(sol, ax=ax, linewidth=3.5, legend=False) is ax
    assert line(ax, sol.method.title).get_linewidth() == 3.5
    assert ax.get_legend() is None
    assert len(pyplot.get_fignums()) == 1


@pytest.mark.parametrize("plot", PLOTS)
def test_takes_several_solutions_and_comparisons(plot):
    both = [oscillate(), oscillate(EULER)]
    c = pi.compare(pi.systems.oscillator, dt=0.1, n_steps=100)
    colours = []
    for sources in (both, [both], [c]):
        ax = getattr(pi.plots, plot)(*sources)
        colours.append([line(ax, sol.method.title).get_color() for sol in both])
        legend = ax.get_legend()
        assert legend is not None
        ax.figure.canvas.draw()
        assert legend.get_window_extent().x0 >= ax.get_window_extent().x1  # beside the data
    assert colours == [[style.BLUE, style.VERMILLION]] * 3


@pytest.mark.parametrize("plot", PLOTS)
def test_a_long_run_is_drawn_with_few_points(plot):
    sol = oscillate(EULER, n_steps=200_000)
    ax = getattr(pi.plots, plot)(sol)
    assert sum(len(one.get_xdata()) for one in ax.get_lines()) <= 2.2 * curves.POINTS


@pytest.mark.parametrize("plot", PLOTS)
def test_a_batch_is_sampled(plot):
    sol = oscillate(omega=np.linspace(1, 2, 500), n_steps=20)
    ax = getattr(pi.plots, plot)(sol, exact=False)
    assert len(ax.get_lines()) == curves.TRAJECTORIES
    named = [one for one in ax.get_lines() if not one.get_label().startswith("_")]
    assert len(named) == 1
    assert 0 < named[0].get_alpha() < 1


def test_an_overview_of_some_components_names_their_picture():
    with pytest.raises(TypeError, match=r"pi\.plots\.trajectory\(solution, components="):
        pi.integrate(pi.systems.spring, dt=0.1, n_steps=9).plot(components="x")


@pytest.mark.parametrize("plot", PLOTS)
def test_refuses_what_it_cannot_draw(plot):
    with pytest.raises(TypeError, match="ndarray"):
        getattr(pi.plots, plot)(np.zeros(3))
    with pytest.raises(TypeError, match="nothing to draw"):
        getattr(pi.plots, plot)()
    assert not pyplot.get_fignums()  # and leaves no empty figure behind


def test_refuses_by_name():
    sol = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=10)
    with pytest.raises(ValueError, match="lorenz.*no energy"):
        pi.plots.energy(sol)
    with pytest.raises(ValueError, match="x, y, z.*'w'"):
        pi.plots.trajectory(sol, components="w")
    with pytest.raises(ValueError, match="ratio, error, energy"):
        pi.plots.energy(oscillate(), quantity="heat")
    with pytest.raises(ValueError, match="two components"):
        pi.plots.phase_portrait(sol, components=("x", "y", "z"))


@pytest.mark.parametrize("wrong", [5, (1, 2, 3), (np.nan, 1), "wide", None, [[1, 2]]])
@pytest.mark.parametrize("name", ["figsize", "window"])
def test_a_pair_of_numbers_is_two_numbers(name, wrong):
    c = pi.compare(pi.systems.oscillator, methods=["rk4", "euler"], dt=0.1, t_end=9.0)
    for draw in (c.plot, lambda **given: pi.plots.energy(c, **given)):
        if wrong is None:
            draw(**{name: (4, 6)})
            continue
        with pytest.raises((TypeError, ValueError), match=f"{name} must (be two fin|hold real)"):
            draw(**{name: wrong})
    with pytest.raises(TypeError, match="panels must be some of .*, got 3"):
        c.plot(panels=3)


def test_an_exploded_trajectory_does_not_flatten_the_others():
    sol = oscillate("explicit_euler", omega=[0.1, 1000.0], n_steps=400, on_failure="ignore")
    low, high = pi.plots.trajectory(sol).get_ylim()
    assert -10 < low < -0.5
    assert 0.5 < high < 10


def test_an_exploded_energy_does_not_flatten_other_errors():
    well = pi.systems.duffing(beta=-1.0, alpha=1.0, gamma=0.0)
    run = {"dt": 0.01, "t_end": 10.0, "on_failure": "ignore"}
    sol = pi.integrate(well, [0.5, 1.5], 0.0, **run)
    assert sol.n_failed == 1
    most = np.abs(sol.energy_error()[:, 0]).max()
    assert pi.plots.energy(sol, quantity="error").get_ylim() == pytest.approx((-2 * most, 2 * most))
    alone = pi.integrate(pi.systems.kepler, [1e-3, 0], [0, 40.0], dt=0.01, t_end=1.0)
    most = np.abs(alone.energy_error()).max()
    assert most > 1e3
    low, high = pi.plots.energy(alone).get_ylim()
    assert max(-low, high) > most  # nothing else is to be seen


def test_an_energy_that_rises_to_a_limit_cycle_stays_in_the_picture():
    sol = pi.integrate(pi.systems.van_der_pol(mu=5.0), [0.1, 0.0], dt=0.01, t_end=30.0)
    assert pi.plots.energy(sol).get_ylim()[1] > (sol.energy() / sol.energy()[0]).max() > 5000
    spring = pi.integrate(pi.systems.oscillator, dt=0.5, t_end=50.0, method="explicit_euler")
    assert pi.plots.energy(spring, exact=False).get_ylim()[1] == 2.0


def test_an_exploded_run_leaves_room_for_the_errors_and_paths_of_others(caplog):
    methods = ["rk4", "explicit_euler"]
    run = {"dt": 0.1, "t_end": 100.0, "on_failure": "ignore"}
    c = pi.compare(pi.systems.henon_heiles, methods=methods, **run)
    assert c["explicit_euler"].n_failed == 1
    low, high = (ax := pi.plots.error(c, quantity="energy")).get_ylim()
    least = min(np.nanmin(line.get_ydata()) for line in ax.get_lines())
    assert (low, high) == pytest.approx((least / 10, 1e30 * least))
    ax.figure.draw_without_rendering()
    axes = c.plot()
    axes.figure.draw_without_rendering()
    assert "exploded" in [text.get_text() for text in axes[0, 1].texts]
    assert not caplog.records  # of Matplotlib: limits that it ignores


def test_an_error_of_zero_is_told_where_the_axis_cannot_show_it():
    methods = ["explicit_euler", "velocity_verlet"]
    run = {"dt": 1 / 8, "t_end": 4.0}  # without rounding
    c = pi.compare(pi.systems.constant_force, methods=methods, **run)
    assert pi.plots.error(c).get_title("right") == "no error: velocity Verlet"
    assert pi.plots.error(c["explicit_euler"]).get_title("right") == ""
    step = pi.plots.error(pi.integrate(pi.systems.spring, 1.0, 0.0, dt=0.1, n_steps=1)).lines[0]
    assert step.get_marker() == "o"  # the only error that is not zero


def test_a_fast_oscillation_becomes_a_band_with_its_mean():
    sol = oscillate(EULER, n_steps=20_000)
    ax = pi.plots.energy(sol, quantity="error")
    (band,) = ax.collections
    error = sol.energy_error()
    vertices = band.get_paths()[0].vertices[:, 1]
    assert vertices.min() == pytest.approx(error.min(), rel=1e-6)
    assert vertices.max() == pytest.approx(error.max(), rel=1e-6)
    mean = drawn(ax, sol)[:, 1]
    # Over three swings a running mean lets through about a hundredth of the swing.
    assert np.nanmax(np.abs(mean - error.mean())) < 0.02 * np.ptp(error)


def test_methods_keep_their_colours_and_newcomers_get_free_ones():
    names = ["mine", "rk4", "yours", EULER]
    chosen = style.colours(names)
    assert chosen["rk4"] == style.BLUE
    assert chosen[EULER] == style.VERMILLION
    assert len(set(chosen.values())) == 4


def test_steps_of_one_method_differ_in_colour_and_line_style():
    ax = pi.plots.trajectory([oscillate(dt=0.1), oscillate(dt=0.2)])
    lines = [one for one in ax.get_lines() if "dt = " in one.get_label()]
    assert len({one.get_linestyle() for one in lines}) == 2
    assert len({one.get_color() for one in lines}) == 2


def test_thinning_keeps_extremes_and_ends():
    values = np.random.default_rng(1).normal(size=123_457)
    values[777], values[99_999] = 50.0, -50.0
    chosen = curves.envelope(values)
    assert len(chosen) <= curves.POINTS
    assert {0, 777, 99_999, 123_456} <= set(chosen.tolist())
    assert np.all(np.diff(chosen) > 0)


@pytest.mark.parametrize("turns", [1, 100, 200, 2000])
def test_an_orbit_keeps_every_revolution(turns):
    t = np.linspace(0, 2 * np.pi * turns, 300_001)
    x, y = np.cos(t), np.exp(-t / 20_000) * np.sin(t)
    chosen, joined = curves.orbit(x, y)
    assert len(chosen) <= (curves.LINE if joined else curves.POINTS)
    assert np.all(np.diff(chosen) > 0)
    assert (chosen[0], chosen[-1]) == (0, 300_000)
    drawn = np.bincount((t[chosen[:-1]] / (2 * np.pi)).astype(int), minlength=turns)
    assert drawn.min() > 0
    # The way round is pi widths of the picture; of the points a line has, a turn gets its share.
    assert joined is (turns <= curves.LINE * curves.ROUND / np.pi)
    if joined:  # the picture is two units wide; a point may come a save late
        longest = 2 * curves.ROUND + t[1]
        assert np.hypot(np.diff(x[chosen]), np.diff(y[chosen])).max() < longest
    else:  # and the dots keep no step with the turns: they are all round
        angle = np.arctan2(y[chosen], x[chosen])
        assert np.histogram(angle, 36, (-np.pi, np.pi))[0].min() > 0.5 * len(chosen) / 36


def test_a_band_needs_an_oscillation():
    t = np.linspace(0, 1, 1000)
    assert curves.running_band(t) is None
    assert curves.running_band(np.sin(20 * t)) is None
    assert curves.running_band(np.sin(1000 * t)) is not None


def test_matplotlib_is_imported_only_to_draw():
    import subprocess

    code = (
        "import sys, pyintegrate as pi; c = pi.compare(pi.systems.oscillator, dt=0.1, n_steps=3);"
        "c.table(); pi.analysis; print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_missing_matplotlib_names_the_cure():
    import subprocess

    code = "import sys; sys.modules['matplotlib'] = None; import pyintegrate.plots"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install matplotlib" in done.stderr.splitlines()[-1]


def final_only():
    return oscillate(save="final")


def no_steps():
    return oscillate(n_steps=0)


def no_trajectories():
    return oscillate(omega=np.empty((0, 2)), n_steps=5)


def backwards():
    return oscillate(EULER, dt=-0.1)


def resumed():
    return oscillate(EULER).resume(n_steps=50)


def single_precision():
    return oscillate(EULER, dtype=np.float32)


def step_per_trajectory():
    return oscillate(EULER, dt=np.array([0.1, 0.2, 0.3]))


def not_a_number():
    return pi.integrate(
        pi.systems.oscillator, [np.nan, 1.0], [0.0, 0.0], dt=0.1, n_steps=9, on_failure="ignore"
    )


def unbound():
    return pi.integrate(pi.systems.kepler, [1.0, 0.0, 0.0, 2.0], dt=0.01, n_steps=100)


ODD = [
    final_only,
    no_steps,
    no_trajectories,
    backwards,
    resumed,
    single_precision,
    step_per_trajectory,
    not_a_number,
    unbound,
]


@pytest.mark.parametrize("size", [10, 20])
def test_a_figure_grows_with_its_text(size):
    """So that a label beside an axis is no longer than the axis."""
    with matplotlib.rc_context({"font.size": size}):
        page = oscillate().plot()
        page.figure.canvas.draw()
        for ax in page.flat:
            assert ax.yaxis.label.get_window_extent().height <= ax.bbox.height


@pytest.mark.filterwarnings("ignore::pyintegrate.RecordWarning")
@pytest.mark.parametrize("make", ODD)
def test_odd_solutions_are_drawn(make):
    sol = make()
    for plot in PLOTS:
        assert getattr(pi.plots, plot)(sol).get_xlabel()
    c = Comparison(sol.system, {sol.method.name: sol})
    assert sol.method.name in str(c.table())
    c.plot()[0, 0].figure.draw_without_rendering()  # the same pictures in one


def test_the_energy_of_a_resumed_run_does_not_jump():
    first = oscillate(method="semi_implicit_euler")
    sol = first.resume(n_steps=50)
    ax = pi.plots.energy(first, sol, quantity="error", exact=False)
    before, after = (drawn.get_ydata() for drawn in ax.get_lines())
    assert before[-1] == after[0] != 0


def test_the_exact_motion_of_a_resumed_run_starts_where_it_does():
    sol = resumed()
    exact = line(pi.plots.trajectory(sol), "exact").get_xydata()
    assert exact[0] == pytest.approx([10.0, sol.exact()[0, 0]])
    assert exact[-1] == pytest.approx([15.0, sol.exact()[-1, 0]])


def test_axes_of_several_components_name_them_all():
    sol, ax = pi.integrate(pi.systems.lorenz, dt=0.01, n_steps=20), None
    for name in ("x", "z", "x"):
        ax = pi.plots.trajectory(sol, components=name, ax=ax, label=name)
    assert ax.get_ylabel() == "x, z"
    assert len({text.get_text() for text in ax.get_legend().get_texts()}) == 2


@pytest.mark.parametrize("draw", ["trajectory", "phase_portrait"])
def test_a_keyword_of_the_axes_is_for_the_axes(draw):
    sol = pi.integrate(pi.systems.duffing, dt=0.1, n_steps=20)
    with pytest.raises(TypeError, match=r"'xlim' is a keyword neither .* ax\.set\("):
        getattr(pi.plots, draw)(sol, xlim=(0, 1))
    line = getattr(pi.plots, draw)(sol, lw=3, zorder=7, dashes=(2, 1), mec="k").lines[0]
    assert (line.get_linewidth(), line.get_zorder()) == (3, 7)
