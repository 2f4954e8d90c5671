"""What moves: every system, over the true motion, and no line across a jump."""

import shutil

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend comes first)

from pyintegrate.plots.moving import SHAPES, half_lengths  # noqa: E402
from pyintegrate.system.exact.rigid_body import rotation  # noqa: E402

BOX = pi.systems.rigid_body(gravity=(0, 0, 0), inverse_inertia=(1, 1 / 2, 1 / 3))
SPIN = [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0.1, 1, 0]


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def frame(moving, number):
    """An animation after a frame; Matplotlib warns of those that nobody has ever looked at."""
    moving._draw_was_started = True
    moving._draw_frame(number)
    return moving.figure.axes


@pytest.mark.parametrize("name", list(pi.systems))
def test_every_system_moves(name):
    start, method = (SPIN, "rigid_splitting2") if name == "rigid_body" else ((), "rk4")
    sol = pi.integrate(
        BOX if start else pi.systems[name], *start, dt=0.01, n_steps=5, method=method
    )
    axes = frame(pi.plots.animate(sol, seconds=0.1), 1)
    assert any(np.isfinite(line.get_xdata()).any() for ax in axes for line in ax.get_lines())


def test_a_pendulum_hangs_on_its_rod_beside_others_over_the_true_one():
    swings = pi.systems.pendulum(length=0.5)
    c = pi.compare(swings, 1.0, 0.0, methods=["rk4", "explicit_euler"], dt=0.1, n_steps=20)
    scenes = frame(pi.plots.animate(c, seconds=1), 19)[:2]
    for ax, sol in zip(scenes, c.values(), strict=True):
        ghost, _, rod, mass = ax.get_lines()
        theta, true = sol.x[-1], sol.exact()[-1, 0]
        assert rod.get_xydata()[0] == pytest.approx([0, 0])
        for drawn, angle in [(rod, theta), (mass, theta), (ghost, true)]:
            place = 0.5 * np.array([np.sin(angle), -np.cos(angle)])
            assert drawn.get_xydata()[-1] == pytest.approx(place)


@pytest.mark.parametrize("scenes", [1, 0])
def test_few_trajectories_move_in_colours_of_their_own(scenes):
    sol = pi.integrate(pi.systems.pendulum, [1.0, 2.0], 0.0, dt=0.1, n_steps=20)
    moving = pi.plots.animate(sol, seconds=1, components=None if scenes else "theta")
    axes = frame(moving, 19)
    names = [text.get_text() for text in moving.figure.legends[0].get_texts()]
    assert names == ["initial θ = 1 rad", "initial θ = 2 rad"]
    for ax in axes:
        assert len({line.get_color() for line in ax.get_lines()}) == 2
    for mass, theta in zip(axes[0].get_lines()[1::2], sol.x[-1], strict=True):
        if scenes:
            assert mass.get_xydata()[0] == pytest.approx([np.sin(theta), -np.cos(theta)])


def test_a_mass_hangs_on_its_spring():
    sol = pi.integrate(pi.systems.spring, dt=0.1, n_steps=20)
    scene = frame(pi.plots.animate(sol, seconds=1), 19)[0]
    _, _, spring, mass = scene.get_lines()
    assert mass.get_xdata()[0] == spring.get_xdata()[-1] == pytest.approx(sol.x[-1])


def test_a_box_turns_as_its_quaternion_says():
    sol = pi.integrate(BOX, *SPIN, dt=0.1, n_steps=20, method="rigid_splitting2")
    (ax,) = frame(pi.plots.animate(sol, seconds=1), 19)
    corners = np.transpose(ax.get_lines()[0].get_data_3d())
    corners = corners[np.isfinite(corners).all(axis=1)] - sol.x[-1, :3]
    half = half_lengths(np.diag([1, 1 / 2, 1 / 3]))
    in_the_body = corners @ rotation(sol.x[-1, 3:])
    assert np.abs(in_the_body) == pytest.approx(np.tile(half, (24, 1)))


def test_boxes_have_the_moments_of_their_bodies():
    a, b, c = half_lengths(np.diag([1 / 5, 1 / 10, 1 / 13]))
    moments = np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    assert moments / moments[0] == pytest.approx([1, 2, 13 / 5])
    assert half_lengths(np.zeros((3, 3))).tolist() == [1, 1, 1]


def test_what_explodes_beside_the_truth_leaves_the_picture():
    c = pi.compare(
        pi.systems.oscillator(omega=10.0), methods=["rk4", "explicit_euler"], dt=0.1, n_steps=900,
        on_failure="ignore",
    )  # fmt: skip
    axes = frame(pi.plots.animate(c, seconds=1), 19)
    assert axes[0].get_xlim() == axes[1].get_xlim()
    assert max(axes[1].get_xlim()) < 10


def bouncing(**span):
    bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, -v), keep=20)
    return pi.integrate(
        pi.systems.projectile, [0, 0, 1.0], [1.0, 0, 0], events={"floor": bounce}, **span
    )


@pytest.mark.parametrize("dt", [0.1, 0.003, -0.1])
def test_no_line_joins_two_saves_across_a_jump(dt):
    sol = bouncing(dt=dt, n_steps=int(2 / abs(dt)))
    jumps = sol.events["floor"].t[np.isfinite(sol.events["floor"].t)]
    assert len(jumps) >= 2
    pictures = [
        pi.plots.trajectory(sol, components="z", exact=False),
        pi.plots.trajectory(sol, components=("x", "z"), exact=False),
        pi.plots.energy(sol),
    ]
    for ax in pictures:
        x = next(one for one in ax.get_lines() if one.get_label() != "exact").get_xdata()
        assert np.count_nonzero(np.isnan(x)) == len(jumps)
    along = pictures[0].get_lines()[0].get_xdata()
    for gap in np.flatnonzero(np.isnan(along)):
        before, after = sorted((along[gap - 1], along[gap + 1]))
        assert np.count_nonzero((before <= jumps) & (jumps <= after)) == 1


def test_no_trail_joins_two_saves_across_a_jump():
    sol = bouncing(dt=0.05, n_steps=12)  # it lands at 0.45 s, after nine steps
    axes = frame(pi.plots.animate(sol, seconds=1), 18)
    trail = axes[0].get_lines()[0].get_xdata()
    assert np.isnan(trail).sum() == 1


def test_where_more_jumps_than_were_kept_may_be_nothing_is_joined():
    bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, -v), keep=1)
    sol = pi.integrate(
        pi.systems.projectile, [0, 0, 1.0], [0, 0, 0.0], dt=0.1, n_steps=20,
        events={"floor": bounce},
    )  # fmt: skip
    x = pi.plots.trajectory(sol, components="z", exact=False).get_lines()[0].get_xdata()
    known = sol.events["floor"].t[0]
    late = x[np.nanargmax(x > known) - 1 :]
    assert np.isnan(late[0::2]).all()
    assert not np.isnan(late[1::2]).any()


def test_every_shape_is_of_a_system_of_the_catalogue():
    assert set(SHAPES) <= set(pi.systems)


# ---- films ---------------------------------------------------------------------------------------


@pytest.fixture
def short():
    sol = pi.integrate(pi.systems.pendulum, dt=0.05, n_steps=10)
    return pi.plots.animate(sol, seconds=0.1, figsize=(3, 2))


def test_without_ffmpeg_a_film_says_what_to_install(short, tmp_path, monkeypatch):
    monkeypatch.setattr("matplotlib.animation.writers.is_available", lambda name: name == "pillow")
    short._draw_was_started = True
    with pytest.raises(OSError, match=r"a.mp4' is made by ffmpeg, .*apt-get install ffmpeg"):
        short.save(str(tmp_path / "a.mp4"))
    assert not any(tmp_path.iterdir())
    short.save(tmp_path / "a.gif")
    assert (tmp_path / "a.gif").read_bytes()[:6] == b"GIF89a"
    for name in ("a.png", "a.ogv", "a"):  # of which ffmpeg only says that it fails
        with pytest.raises(ValueError, match=rf"{name}' is no film: it ends in .gif, .*\.webm"):
            short.save(tmp_path / name)


@pytest.mark.parametrize("draw", [
    lambda: pi.integrate(pi.systems.pendulum, dt=0.05, n_steps=40),
    pytest.param(lambda: pi.integrate(pi.systems.n_body(initial="outer_solar_system"), dt=50.0,
                                      n_steps=40), marks=pytest.mark.long),
])  # fmt: skip
def test_a_film_shows_what_the_figure_shows(draw, tmp_path):
    from io import BytesIO

    moving = pi.plots.animate(draw(), seconds=0.2, figsize=(4, 3))
    canvas, dpi = moving.figure.canvas, moving.figure.dpi
    moving.save(tmp_path / "a.gif", dpi=100)
    assert (moving.figure.canvas, moving.figure.dpi) == (canvas, dpi)
    assert "savefig" not in vars(moving.figure)
    moving.show(moving.count - 1)
    page = BytesIO()
    moving.figure.savefig(page, format="png", dpi=100)
    from PIL import Image

    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == moving.count
        film.seek(film.n_frames - 1)
        last = np.asarray(film.convert("RGB"), dtype=int)
    assert tuple(last[0, 0]) == (255, 255, 255)
    with Image.open(page) as png:
        off = abs(last - np.asarray(png.convert("RGB"), dtype=int)).max(axis=2)
    # 256 colours stand for all; lines over one another blend in another order where they cross.
    assert np.mean(off > 60) < 1e-3
    page = moving.to_jshtml()
    assert page.count("data:image/png") == moving.count


def test_a_page_is_written(short, tmp_path):
    short.save(tmp_path / "a.html", fps=10)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count("data:image/png") == short.count


def test_a_ball_stays_in_the_picture_when_its_exact_motion_ends():
    bounce = pi.event("z", direction=-1, then=lambda t, x, v: (x, v * [1, 1, -0.8]))
    start = [0, 0, 2.0], [1, 0, 0.0]
    run = {"dt": 0.02, "t_end": 3.0, "events": {"floor": bounce}}
    moving = pi.plots.animate(pi.integrate(pi.systems.projectile, *start, **run))
    assert moving.figure.axes[0].get_xlim()[1] > 3.0  # at 1 m/s


def test_a_trajectory_that_explodes_leaves_the_picture_of_the_others():
    hill = pi.systems.duffing(beta=-1.0, alpha=1.0, gamma=0.0)
    run = {"dt": 0.01, "t_end": 10.0, "on_failure": "ignore"}
    moving = pi.plots.animate(pi.integrate(hill, [0.5, 1.5], 0.0, **run))
    assert max(map(abs, moving.figure.axes[1].get_xlim())) < 5
    assert max(map(abs, moving.figure.axes[1].get_ylim())) < 5


def test_the_clock_of_a_short_motion_moves():
    fast = pi.integrate(pi.systems.oscillator(omega=1e6), dt=1e-8, n_steps=300)
    moving = pi.plots.animate(fast, seconds=2)
    moving.show(moving.count - 1)
    assert moving.figure.axes[0].get_title("left") == "t = 0.00000300 s"


def clocks(moving):
    """What the clock of a film says at its first and at its last frame."""
    return [frame(moving, n)[0].get_title("left") for n in (0, moving.count - 1)]


def test_a_film_begins_at_the_first_save_and_ends_with_the_longest_run():
    late = pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=100, save=range(50, 101))
    assert clocks(pi.plots.animate(late, seconds=1)) == ["t = 5.00 s", "t = 10.00 s"]
    back = [pi.integrate(pi.systems.oscillator, dt=-0.1, n_steps=n) for n in (10, 30)]
    assert clocks(pi.plots.animate(*back, seconds=1)) == ["t = 0.00 s", "t = -3.00 s"]


def test_a_motion_of_femtoseconds_begins_at_its_start():
    fast = pi.integrate(pi.systems.oscillator(omega=1e15), dt=1e-17, n_steps=300)
    phase = frame(pi.plots.animate(fast, seconds=2), 0)[1]
    assert phase.get_lines()[-2].get_xdata() == [1.0]


@pytest.mark.skipif(not shutil.which("ffmpeg"), reason="no ffmpeg")
def test_with_ffmpeg_a_film_is_written(short, tmp_path):
    short.save(tmp_path / "a.mp4")
    assert (tmp_path / "a.mp4").read_bytes()[4:8] == b"ftyp"


def test_an_animation_at_the_end_of_a_cell_moves_by_itself(short, monkeypatch):
    monkeypatch.setattr("matplotlib.get_backend", lambda: "inline")
    page = short._repr_html_()
    assert page.count("data:image/png") == short.count
    assert not pyplot.fignum_exists(short.figure.number)  # no still picture beside it
    monkeypatch.setattr("matplotlib.get_backend", lambda: "qtagg")
    assert short._repr_html_() is None  # its window moves


def test_a_solved_motion_moves_within_its_long_steps():
    """An orbit of some twenty steps is a circle in every frame, not the chords of its steps."""
    sol = pi.solve(pi.systems.kepler, [1.0, 0.0], [0.0, 1.0], t_end=6.0)
    assert len(sol) < 40
    moving = pi.plots.animate(sol, seconds=2)
    shown = []
    for number in range(5, 40):
        trail, dot = frame(moving, number)[0].get_lines()[:2]
        radius = np.hypot(*trail.get_xydata().T)
        middle = np.hypot(*(trail.get_xydata()[1:] + trail.get_xydata()[:-1]).T / 2)
        # A chord over 1/200 of the run sags by (6/200)^2 / 8 = 1e-4.
        assert radius == pytest.approx(1, abs=1e-5)
        assert middle == pytest.approx(1, abs=2e-4)
        shown.append(dot.get_xydata()[0])
    assert np.hypot(*np.diff(shown, axis=0).T).min() > 0.5 * 6.0 / 40  # it never stands still


def test_a_solved_pendulum_swings_within_its_long_steps():
    sol = pi.solve(pi.systems.pendulum, 1.0, 0.0, t_end=4.0)
    moving = pi.plots.animate(sol, seconds=2)
    angles = []
    for number in range(40):
        mass = frame(moving, number)[0].get_lines()[3]
        x, y = mass.get_xydata()[0]
        angles.append(np.arctan2(x, -y))
    true = sol.at(np.linspace(0.0, 4.0, 40))[:, 0]
    # The last state at or before the moment: behind by at most 1/200 of the run, at 3 rad/s.
    assert angles == pytest.approx(true, abs=4.0 / 200 * 3.01)


def test_a_stone_that_has_landed_stays_there_and_so_does_its_true_path():
    floor = {"floor": pi.event("z", direction=-1, stop=True)}
    sol = pi.integrate(
        pi.systems.projectile, [0.0, 0, 1], [1.0, 0, 0], dt=0.01, n_steps=100, events=floor
    )
    moving = pi.plots.animate(sol, seconds=1)
    ax = frame(moving, 19)[0]
    dot, ghost = ([one for one in ax.get_lines() if one.get_label() == name] for name in
                  (sol.method.title, "exact"))  # fmt: skip
    # At 1 m/s.
    assert dot[0].get_xydata()[0] == pytest.approx([float(sol.stopped_at), 0.0])
    x = ghost[0].get_xdata()
    assert sol.stopped_at - 0.01 <= x[np.isfinite(x)].max() <= sol.stopped_at


def test_a_long_narrow_path_has_room_beside_it(caplog):
    @pi.acceleration(dof=2)
    def narrow(t, x, v):
        return -x

    figure = pi.plots.animate(pi.integrate(narrow, [1e-3, 1], [0, 0], dt=0.1, t_end=3.0))._fig
    figure.draw_without_rendering()
    assert not caplog.text
    place = figure.axes[0].get_position()
    wide, high = figure.get_size_inches() * (place.width, place.height)
    assert wide == pytest.approx(high / 2, rel=1e-3)


def test_an_angle_is_not_as_long_as_a_metre():
    @pi.acceleration(dof=2, state_names=["x", "angle", "vx", "omega"], units={"angle": "rad"})
    def cart(t, x, v):
        return -x

    sol = pi.integrate(cart, [1e-3, 1], [0, 0], dt=0.1, t_end=3.0)
    assert pi.plots.animate(sol)._fig.axes[0].get_aspect() == "auto"
    assert pi.plots.trajectory(sol).get_aspect() == "auto"


@pytest.mark.parametrize("start", [np.zeros((0, 2)), [[np.nan, 1.0]]])
def test_nothing_moves_where_no_state_is_finite(start):
    sol = pi.integrate(pi.systems.oscillator, start, dt=0.1, n_steps=5, on_failure="ignore")
    with pytest.raises(ValueError, match="animate needs a trajectory"):
        pi.plots.animate(sol)
    with pytest.raises(TypeError, match=r"takes no fps: seconds= .*save\('motion.gif', fps"):
        pi.plots.animate(sol, fps=10)
    for seconds in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="seconds must be a positive number"):
            pi.plots.animate(
                pi.integrate(pi.systems.oscillator, dt=0.1, n_steps=5), seconds=seconds
            )


@pytest.mark.parametrize("system", [pi.systems.three_body, pi.systems.projectile])
def test_an_empty_batch_in_space_has_empty_pictures(system):
    sol = pi.integrate(system, np.zeros((0, system.dim)), dt=0.1, n_steps=5)
    assert len(pi.plots.trajectory(sol).lines) == 0
    assert all(len(ax.collections) == 0 for ax in pi.plots.overview(sol))
