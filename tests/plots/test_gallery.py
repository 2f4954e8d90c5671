"""The gallery draws what it says, its page shows it, and the command writes it."""

import numpy as np
import pytest
from places import ROOT

import pyintegrate as pi

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import image  # noqa: E402  (the backend comes first)

from pyintegrate.plots import gallery  # noqa: E402
from pyintegrate.plots.gallery import FIGURES  # noqa: E402

DOCS = ROOT / "docs"
PICTURES = [name for name in FIGURES if not name.endswith("_table")]
QUICK = ["car", "exploding_spring", "equal_work", "stability_regions", "population"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """All figures, drawn once."""
    folder = tmp_path_factory.mktemp("gallery")
    return {drawn.name: drawn for drawn in gallery.write(folder)}


def test_every_figure_is_drawn_into_its_file(written):
    assert list(written) == list(FIGURES)
    for name, drawn in written.items():
        kind = ".txt" if name.endswith("_table") else ".png"
        assert drawn.path.name == name + kind
        assert drawn.path.stat().st_size > 100


def test_pictures_in_the_docs_are_small_and_all_there():
    for name in PICTURES:
        assert (DOCS / "gallery" / f"{name}.png").stat().st_size < 120_000, name
    assert {path.stem for path in (DOCS / "gallery").glob("*.png")} == set(PICTURES)


@pytest.mark.parametrize("name", QUICK)
def test_pictures_look_like_those_in_the_docs(written, name):
    ours, stored = (
        image.imread(path)[..., :3]
        for path in (written[name].path, DOCS / "gallery" / f"{name}.png")
    )
    assert ours.shape == stored.shape
    # Fonts and Matplotlib versions move edges by a pixel: a hundredth of the light, on average.
    assert np.abs(ours - stored).mean() < 0.01


def test_every_picture_is_understood_without_its_caption(written):
    for name in PICTURES:
        understood(written[name].result)


def understood(result):
    """Of a picture that has been drawn."""
    figure = result.figure if hasattr(result, "figure") else result.flat[0].figure
    titles = [ax.get_title(loc) for ax in figure.axes for loc in ("left", "center")]
    said = figure._suptitle.get_text() if figure._suptitle else ""
    assert len(max([said, *titles], key=len)) > 10, "no title says what is to be seen"
    boxes = [ax.bbox for ax in figure.axes if ax.get_visible() and ax.get_lines()]
    legends = [*figure.legends, *filter(None, (ax.get_legend() for ax in figure.axes))]
    for legend in legends:
        place = legend.get_window_extent()
        assert not any(place.overlaps(box) for box in boxes), "the legend lies on the data"
    for ax in figure.axes:
        if ax.get_visible() and ax.get_lines():
            # Some panels share the label of their neighbour.
            assert ax.get_xlabel() or ax.get_shared_x_axes().get_siblings(ax) != [ax]
            assert ax.get_ylabel() or ax.get_shared_y_axes().get_siblings(ax) != [ax]
    edge = figure.bbox
    for text in [ax.title for ax in figure.axes] + [ax._left_title for ax in figure.axes]:
        box = text.get_window_extent()
        assert not text.get_text() or (box.x0 >= edge.x0 and box.x1 <= edge.x1), "a cut title"


def test_the_page_shows_every_figure_with_its_code():
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for name, figure in FIGURES.items():
        assert f"## {figure.title}\n{figure.text}" in page
        assert figure.code in page, "write the page anew: python -P docs/building/gallery.py"
        if name in PICTURES:
            assert f"(gallery/{name}.png)" in page
            assert (DOCS / "gallery" / f"{name}.png").is_file()


# Acceptance data: what the tables must say, to the digits known.
def test_the_tables_have_the_numbers_of_the_cases(written):
    car = np.array(written["car_table"].result.rows, dtype=float)
    assert car[:, 1].tolist() == [5.0 * t**2 for t in range(11)]
    assert car[:, 2].tolist() == [0, 0, 10, 30, 60, 100, 150, 210, 280, 360, 450]
    assert car[-1].tolist() == [10, 500, 450, 550, 500]
    text = str(written["phase_drift_table"].result)
    for number in ("0.959447735", "2.34697", "2.2242", "15.3638", "0.0746422", "-7.4732"):
        assert number in text
    text = str(written["spring_table"].result)
    for number in ("20.0098802", "4441.92118241", "49.675408904596", "49.3637384093"):
        assert number in text
    largest = {row[0]: float(row[1]) for row in written["max_stiffness_table"].result.rows}
    assert largest["semi_implicit_euler"] == pytest.approx(4 / 0.01**2, rel=1e-3)
    assert largest["rk4"] == pytest.approx(8 / 0.01**2, rel=1e-3)
    assert largest["explicit_euler"] == 0


def test_replayed_backwards_only_the_reversible_method_comes_back(written):
    lines = {
        one.get_label(): one.get_ydata() for one in written["reversibility"].result.get_lines()
    }
    assert lines["velocity Verlet"].max() < 1e-10  # rounding, on a stable orbit
    assert lines["classical Runge-Kutta"].max() > 1e-5
    assert lines["semi-implicit (symplectic) Euler"].max() > 0.1


def test_the_profile_is_three_graphs(written):
    acceleration, velocity, distance = written["profile"].result
    assert set(acceleration.get_lines()[0].get_ydata()) == {-2.0, 0.0, 2.0}
    assert velocity.get_lines()[0].get_ydata()[-1] == pytest.approx(0, abs=1e-12)
    assert distance.get_lines()[0].get_ydata()[-1] == pytest.approx(16.0)  # 2 x 4 s, half each


def test_unknown_figures_are_refused_before_anything_is_drawn(tmp_path):
    with pytest.raises(ValueError, match="figures must be some of .*'bus'"):
        list(gallery.write(tmp_path / "new", ["car", "bus"]))
    assert not (tmp_path / "new").exists()
    with pytest.raises(ValueError, match="'bus'"):
        gallery.draw("bus")


def test_the_same_method_has_its_colour_in_pictures_of_ones_own():
    assert pi.plots.colour_of("rk4") == pi.plots.colour_of(pi.methods["rk4"]) == "#0072B2"
