"""Logarithmic axes whose powers of ten are plain text, 10⁻³.

Matplotlib typesets them as formulas, which takes longer than the rest of a picture.
"""

import re
from functools import cache

_RAISED = str.maketrans("0123456789-\N{MINUS SIGN}", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")


def log_axis(ax, *names):
    """Make axes logarithmic.

    Parameters
    ----------
    ax : Axes
    *names : {"x", "y"}
        Which of its axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> log_axis(ax, "y")
    >>> ax.set_ylim(1e-5, 1e3)
    (1e-05, 1000.0)
    >>> ax.yaxis.get_major_formatter()(1e-3)
    '10⁻³'
    """
    for name in names:
        getattr(ax, f"set_{name}scale")("log")
        axis = getattr(ax, f"{name}axis")
        axis.set_major_formatter(_formatter()())
        axis.set_minor_formatter(_formatter()(labelOnlyBase=False))


def plain(formula):
    r"""A power of ten in Matplotlib's notation, as plain text.

    Examples
    --------
    >>> plain(r"$\mathdefault{2\times10^{-12}}$")
    '2×10⁻¹²'
    """
    text = re.sub(r"10\^\{([^}]*)\}", lambda power: "10" + power[1].translate(_RAISED), formula)
    text = re.sub(r"\$|\\mathdefault|[{}]", "", text)
    return text.replace(r"\times", "\N{MULTIPLICATION SIGN}")


@cache
def _formatter():
    """The class of the labels; Matplotlib is imported when first needed."""
    from matplotlib.ticker import LogFormatterSciNotation

    class PlainPowers(LogFormatterSciNotation):
        """Labels for the ticks that Matplotlib would label."""

        def __call__(self, x, pos=None):
            return plain(super().__call__(x, pos))

    return PlainPowers
