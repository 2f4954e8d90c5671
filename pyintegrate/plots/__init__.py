"""Plots of solutions: one file per picture, axes in, axes out; Matplotlib is used only here.

Every function takes solutions or comparisons, draws into `ax` or a new figure, and returns the
axes. None shows a window or changes a global setting. A long run is thinned to a few thousand
points that keep its extremes, or every turn of an orbit; of a large batch 30 trajectories, evenly
chosen, are drawn. A note on the picture says what was left out.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as missing:
    raise ImportError(
        "pyintegrate.plots draws with Matplotlib, which is not installed: "
        "pip install pyintegrate[plot]"
    ) from missing

from .fitted_curves import fitted
from .heat_maps import basin_map, heatmap, passages, scan
from .method_curves import convergence, stability_map, stability_region, work_precision
from .moving import animate
from .pages import comparison, dashboard, overview
from .portraits.chaos_and_order import (
    chaos_map,
    fan,
    frequencies,
    ftle,
    histogram_over_time,
    lyapunov,
)
from .portraits.phase_planes import branches, equilibria, phase_plane
from .section_points import bifurcation, return_map, section
from .solution_curves import energy, error, phase_drift, phase_portrait, trajectory
from .style import colour_of

__all__ = [
    "animate",
    "basin_map",
    "bifurcation",
    "branches",
    "chaos_map",
    "colour_of",
    "comparison",
    "convergence",
    "dashboard",
    "energy",
    "equilibria",
    "error",
    "fan",
    "fitted",
    "frequencies",
    "ftle",
    "heatmap",
    "histogram_over_time",
    "lyapunov",
    "overview",
    "passages",
    "phase_drift",
    "phase_plane",
    "phase_portrait",
    "return_map",
    "scan",
    "section",
    "stability_map",
    "stability_region",
    "trajectory",
    "work_precision",
]


def __dir__():
    return __all__
