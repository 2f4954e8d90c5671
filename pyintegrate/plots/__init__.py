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

from .animation import animate
from .chaos.chaos_pictures import chaos_map
from .chaos.growth_curves import lyapunov
from .comparison_panels import comparison
from .dashboard_panels import dashboard, overview
from .energy_curves import energy
from .error_against_step import convergence
from .error_against_work import work_precision
from .error_curves import error
from .heat_maps import heatmap
from .paths import trajectory
from .phase_curves import phase_drift
from .phase_space import phase_portrait
from .portraits.ensembles import fan, histogram_over_time
from .portraits.frequency_maps import frequencies
from .portraits.phase_planes import phase_plane
from .portraits.resting_marks import equilibria
from .portraits.stretching import ftle
from .region_contours import stability_region
from .sections.attractor_maps import basin_map
from .sections.scan_maps import passages, scan
from .sections.section_points import bifurcation, return_map, section
from .stability_maps import stability_map
from .style import colour_of

__all__ = [
    "animate",
    "basin_map",
    "bifurcation",
    "chaos_map",
    "colour_of",
    "comparison",
    "convergence",
    "dashboard",
    "energy",
    "equilibria",
    "error",
    "fan",
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
