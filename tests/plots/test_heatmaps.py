"""Colours of a batch: failures, decades, ends, classes."""

import numpy as np
import pytest

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def springs(**options):
    system = pi.systems.spring(k=np.linspace(1, 90, 7), b=np.linspace(0, 3, 5)[:, np.newaxis])
    return pi.integrate(system, **({"dt": 0.1, "n_steps": 60} | options))


def colours_of(ax):
    (mesh,) = ax.collections
    return mesh, np.ma.asarray(mesh.get_array()).reshape(5, 7)


def test_a_heatmap_shows_when_trajectories_failed():
    sol = springs(method="explicit_euler", n_steps=3000, on_failure="ignore", bound=1e6)
    assert 0 < sol.n_failed < 35
    ax = pi.plots.heatmap(sol, "failed_step")
    _, shown = colours_of(ax)
    failed = sol.failed_step >= 0
    assert np.array_equal(~np.ma.getmaskarray(shown), failed)
    assert np.array_equal(np.asarray(shown)[failed], sol.failed_step[failed])
    assert "did not fail" in ax.collections[0].colorbar.ax.get_ylabel()
    pi.plots.heatmap(springs(), "failed_step").figure.canvas.draw()  # none: all grey


def scale(values, **keywords):
    ax = pi.plots.heatmap(springs(save="final"), values, log=True, **keywords)
    ax.figure.canvas.draw()
    mesh, _ = colours_of(ax)
    return mesh.norm.vmin, mesh.norm.vmax, mesh.colorbar.extend


def test_a_logarithmic_map_says_that_it_leaves_out_what_is_negative():
    ax = pi.plots.heatmap(springs(), np.linspace(-1, 1, 35).reshape(5, 7), log=True)
    assert "grey: none, failed, negative" in ax.collections[0].colorbar.ax.get_ylabel()


def test_logarithmic_colours_show_the_top_decades_with_arrows():
    numbers = np.logspace(-85, np.log10(493), 35).reshape(5, 7)
    low, high, arrows = scale(numbers)
    assert (high, arrows) == (pytest.approx(493), "min")
    assert high / low == pytest.approx(1e12)
    numbers[0, :3] = [1e280, 1e100, 0.0]  # exploded, and no error at all
    low, high, arrows = scale(numbers)
    assert high == 1e4
    assert high / low == pytest.approx(1e12)
    assert arrows == "both"
    assert scale(np.logspace(-3, 2, 35).reshape(5, 7)) == (pytest.approx(1e-3), 100, "neither")


@pytest.mark.parametrize("values", ["x", "energy_error", np.arange(35).reshape(5, 7)])
@pytest.mark.parametrize("log", [None, True])
def test_the_ends_of_colours_can_be_given(values, log):
    ax = pi.plots.heatmap(springs(), values, log=log, vmin=0.02, vmax=0.05)
    mesh, _ = colours_of(ax)
    if isinstance(values, str):
        assert (mesh.norm.vmin, mesh.norm.vmax) == (0.02, 0.05)
        assert mesh.colorbar.extend == "both"
    ax.figure.canvas.draw()


def test_what_was_watched_is_drawn_by_its_name():
    speed = np.linspace(1.0, 8.0, 3)[:, np.newaxis]
    turned = {"turned": pi.watch.windings("phase")}
    sol = pi.integrate(pi.systems.pendulum, [0.1, 0.2], speed, dt=0.1, n_steps=9, watch=turned)
    (mesh,) = pi.plots.heatmap(sol, "turned").collections
    assert mesh.colorbar.ax.get_ylabel() == "turned"
    assert np.array_equal(np.ravel(mesh.get_array()), sol.watched["turned"].ravel())
    with pytest.raises(ValueError, match=r"theta, omega, turned.*, got 'xyzzy'"):
        pi.plots.heatmap(sol, "xyzzy")


def test_classes_between_ends():
    classes = np.arange(35).reshape(5, 7) % 6
    mesh, _ = colours_of(pi.plots.heatmap(springs(), classes, vmin=1, vmax=3))
    assert mesh.cmap.N == 3
    assert mesh.colorbar.extend == "both"


@pytest.mark.parametrize("least", [-1, -3, 0, 5])
def test_every_class_has_a_colour_of_its_own(least):
    for count in (3, 6, 7, 24):
        classes = least + np.arange(35).reshape(5, 7) % count
        mesh, _ = colours_of(pi.plots.heatmap(springs(), classes))
        found = mesh.cmap(mesh.norm(np.unique(classes)))
        assert len(np.unique(found, axis=0)) == count
        grey = np.ptp(found[:, :3], axis=1) == 0
        assert grey.tolist() == [True] * (least == -1) + [False] * (count - (least == -1))


@pytest.mark.parametrize("shape", [(5, 1), (1, 7), (1, 1)])
def test_a_single_row_or_column_is_visible(shape):
    k, b = np.linspace(1, 90, shape[1]), np.linspace(0, 3, shape[0])
    found = pi.scan(pi.systems.spring, {"k": k, "b": b}, pi.watch.rms("x"), dt=0.1, n_steps=9)
    ax = found.plot()
    (mesh,) = ax.collections
    corners = mesh.get_coordinates()
    assert (np.diff(corners[..., 0], axis=1) > 0).all()
    assert (np.diff(corners[..., 1], axis=0) > 0).all()
    assert set(np.ravel(mesh.get_array())) == set(found.values.flat)
    (line,) = pi.scan(pi.systems.spring, {"k": k[:1]}, pi.watch.rms("x"), dt=0.1, n_steps=9).plot(
    ).get_lines()  # fmt: skip
    assert line.get_marker() == "o"


def test_parameters_in_any_order_have_their_own_cells():
    k, b = np.array([4, 1, 7, 2, 6, 3, 5.0]), np.array([2, 0, 4, 1, 3.0])
    values = 10 * b[:, np.newaxis] + k
    mesh, shown = colours_of(pi.plots.heatmap(springs(save="final"), values, x=k, y=b))
    assert np.array_equal(shown, 10 * np.arange(5)[:, np.newaxis] + np.arange(1, 8))
    assert (np.diff(mesh.get_coordinates()[0, :, 0]) > 0).all()
    (line,) = pi.scan(pi.systems.spring, {"k": k}, pi.watch.rms("x"), dt=0.1, n_steps=9).plot(
    ).get_lines()  # fmt: skip
    assert (np.diff(line.get_xdata()) > 0).all()
