"""The gallery: every figure and table of the acceptance cases, with the code that makes each.

The code of a figure is text, so that what is shown beside a picture is what drew it.
"""

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from ...values.checks import choice, some_of


class Figure(NamedTuple):
    """A picture or a table: its title, what one sees in it, and the code that makes it."""

    title: str
    text: str
    code: str


FIGURES = {
    name: Figure(**about)
    for name, about in tomllib.loads(
        Path(__file__).with_name("figures.toml").read_text(encoding="utf-8")
    ).items()
}


class Drawn(NamedTuple):
    """The result of a figure of the gallery: a picture or a table, and its file."""

    name: str
    path: Path
    result: Any


def draw(name):
    """Run the code of one figure.

    Parameters
    ----------
    name : str
        One of `FIGURES`.

    Returns
    -------
    Axes, or a table
        The value of the code's last line.

    Examples
    --------
    >>> print(draw("car_table").columns)
    ('t [s]', 'exact', 'explicit Euler', 'semi-implicit Euler', 'velocity Verlet')
    """
    import numpy
    from matplotlib import pyplot

    import pyintegrate

    *lines, last = FIGURES[choice("figure", name, FIGURES)].code.rsplit("\n", 1)
    space = {"pi": pyintegrate, "np": numpy, "plt": pyplot}
    exec("\n".join(lines), space)
    return eval(last, space)


def write(folder, chosen=None, dpi=90):
    """Draw figures into a folder: a .png for each picture, a .txt for each table.

    Parameters
    ----------
    folder : str or Path
        Made if it is not there.
    chosen : sequence of str, optional
        Names; all by default.
    dpi : int, optional
        Dots per inch.

    Yields
    ------
    Drawn

    Raises
    ------
    ValueError
        For unknown names.
    """
    from matplotlib import pyplot

    chosen = some_of("figures", FIGURES if chosen is None else chosen, FIGURES)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        result = draw(name)
        if hasattr(result, "rows"):
            path = folder / f"{name}.txt"
            path.write_text(f"{result}\n", encoding="utf-8")
        else:
            path = folder / f"{name}.png"
            figure = result.figure if hasattr(result, "figure") else result.flat[0].figure
            figure.savefig(path, dpi=dpi)
            pyplot.close(figure)
        yield Drawn(name, path, result)
