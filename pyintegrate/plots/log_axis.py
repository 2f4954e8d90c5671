"""Logarithmic axes whose powers of ten are plain text, 10⁻³.

Matplotlib typesets them as formulas, which takes longer than the rest of a picture.
"""

import re
from functools import cache

import numpy as np

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


SPAN = 3.0  # largest over least, from which a logarithmic axis says more than a linear one
EVEN = 1e-3  # of a ratio: rounded coordinates are spaced evenly all the same


def log_spaced(values):
    """Whether coordinates are those of a logarithmic axis, as of ``numpy.geomspace``.

    Parameters
    ----------
    values : ndarray
        (n,).

    Returns
    -------
    bool
        True where three or more positive numbers have the same ratio, one after the other.

    Examples
    --------
    >>> log_spaced(np.geomspace(1e-3, 1, 9)), log_spaced(np.linspace(1e-3, 1, 9))
    (True, False)
    """
    values = np.asarray(values, float)
    if len(values) < 3 or not (np.isfinite(values) & (values > 0)).all():
        return False
    ways = np.diff(np.log(values))
    return bool(abs(ways.sum()) > np.log(SPAN) and np.ptp(ways) <= EVEN * abs(ways.mean()))


def edges(values):
    """The edges of cells around coordinates (n,), n + 1: half way, by ratio on logarithmic axes.

    Examples
    --------
    >>> edges(np.array([1.0, 4.0, 16.0])), edges(np.array([1.0, 2.0, 3.0]))
    (array([ 0.5,  2. ,  8. , 32. ]), array([0.5, 1.5, 2.5, 3.5]))
    """
    by_ratio = log_spaced(values)
    values = np.log2(values) if by_ratio else np.asarray(values, float)
    half = np.diff(values) / 2
    first, last = (half[0], half[-1]) if len(half) else (0.5, 0.5)
    middle = values[:-1] + half
    found = np.concatenate([values[:1] - first, middle, values[-1:] + last])
    return np.exp2(found) if by_ratio else found


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
