"""Pictures of solutions: one file a picture, axes in, axes out; Matplotlib lives only here.

Every function takes solutions or comparisons, draws into `ax` or a new figure, and returns the
axes. None shows anything or changes a global setting. A long run is thinned to a few thousand
points that keep its extremes; of a large batch 30 trajectories, evenly chosen, are drawn.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as missing:
    raise ImportError(
        "pyintegrate.plots draws with Matplotlib, which is not installed: "
        "pip install pyintegrate[plot]"
    ) from missing

from .animate import animate
from .comparison import comparison
from .convergence import convergence
from .dashboard import dashboard
from .energy import energy
from .error import error
from .heatmap import heatmap
from .phase_drift import phase_drift
from .phase_portrait import phase_portrait
from .stability_map import stability_map
from .stability_region import stability_region
from .style import colour_of
from .trajectory import trajectory
from .work_precision import work_precision

__all__ = [
    "animate",
    "colour_of",
    "comparison",
    "convergence",
    "dashboard",
    "energy",
    "error",
    "heatmap",
    "phase_drift",
    "phase_portrait",
    "stability_map",
    "stability_region",
    "trajectory",
    "work_precision",
]
