"""Pictures of the gallery, pixel by pixel: bare of text, beside those that were looked at.

    python tests/plots/test_baseline_pictures.py

draws tests/plots/baseline/ anew. Look at every picture before it is committed.
"""

from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend comes first)
from matplotlib.testing.compare import compare_images  # noqa: E402
from matplotlib.text import Text  # noqa: E402

from pyintegrate.plots import gallery  # noqa: E402
from pyintegrate.plots.gallery import FIGURES  # noqa: E402

BASELINE = Path(__file__).parent / "baseline"
# Root mean square of 0 ... 255. Without text no pixel differs between Matplotlib 3.8 and 3.11, with
# two versions of FreeType; a rounding may move edges by a shade elsewhere. Mutations give 15 to 70.
TOLERANCE = 3.0

# What each mutation changes in the code of its figure: the picture must not pass for the same.
MUTATIONS = {
    "phase_drift": [
        ('c.plot(', 'pi.compare(pi.systems.oscillator(omega=14**0.5), dt=[0.1, 0.25], '
         't_end=90.0).plot('),
        ("1.0, 0.0,", "-1.0, 0.0,"),
        ("t_end=90.0)", 't_end=90.0, methods=["semi_implicit_euler", "velocity_verlet"])'),
    ],
    "exploding_spring": [('"explicit_euler"', '"midpoint"'), ("1000.0, 0.0", "-1000.0, 0.0")],
    "equal_work": [("equal_work=True", "equal_work=False"), ('"rk4"', '"midpoint"')],
    "stability_map": [('"velocity_verlet"', '"semi_implicit_euler"'), ('"rk4"', '"kutta3"')],
    "predator_prey": [("dt=0.01", "dt=0.02"), ('"explicit_euler"', '"implicit_euler"')],
}  # fmt: skip


def draw(name, path):
    """Draw a figure small, in Matplotlib's own style, without text and ticks: fonts differ."""
    with pyplot.style.context("default", after_reset=True):
        result = gallery.draw(name)
        figure = result.figure if hasattr(result, "figure") else result.flat[0].figure
        for legend in [*figure.legends, *(ax.get_legend() for ax in figure.axes)]:
            if legend is not None:
                legend.remove()
        for ax in figure.axes:
            ax.minorticks_off()
            ax.set(xticks=[], yticks=[])
        for text in figure.findobj(Text):
            text.set(visible=False, in_layout=False)
        figure.savefig(path, dpi=30, metadata={"Software": None})
    return path


def difference(name, folder):
    """What compare_images finds between a figure and its baseline: None, or the difference."""
    drawn = draw(name, folder / f"{name}.png")
    return compare_images(BASELINE / f"{name}.png", drawn, TOLERANCE)


def test_every_baseline_is_compared_and_small():
    assert {path.stem for path in BASELINE.glob("*.png")} == set(MUTATIONS)
    assert all(path.stat().st_size < 40_000 for path in BASELINE.glob("*.png"))


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_picture_is_the_one_that_was_looked_at(name, tmp_path):
    assert difference(name, tmp_path) is None


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [(name, *change) for name, changes in MUTATIONS.items() for change in changes],
)
def test_a_mutated_picture_is_noticed(name, old, new, tmp_path, monkeypatch):
    code = FIGURES[name].code
    assert old in code
    monkeypatch.setitem(FIGURES, name, FIGURES[name]._replace(code=code.replace(old, new)))
    assert "RMS" in difference(name, tmp_path)


if __name__ == "__main__":
    for each in MUTATIONS:
        print(draw(each, BASELINE / f"{each}.png"))
