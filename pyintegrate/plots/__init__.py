"""Plots of solutions: one file per picture, axes in, axes out; Matplotlib is used only here.

Every function takes solutions or comparisons, draws into `ax` or a new figure, and returns the
axes. None shows a window or changes a global setting. A long run is thinned to a few thousand
points that keep its extremes, or every turn of an orbit; of a large batch 30 trajectories, evenly
chosen, are drawn. A note on the picture says what was left out.
"""

from ..values.lazily import lazily, optional

matplotlib = optional("matplotlib", "pyintegrate.plots")

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        ".fitted_curves": "fitted",
        ".heat_maps": "attractors basin_map heatmap passages scan",
        ".method_curves": "convergence stability_map stability_region work_precision",
        ".moving": "animate",
        ".pages": "comparison dashboard overview",
        ".portraits.chaos_and_order": "chaos_map fan frequencies ftle histogram_over_time lyapunov",
        ".portraits.phase_planes": "branches continue_equilibria equilibria periodic_orbits"
        " phase_plane",
        ".section_points": "bifurcation return_map section",
        ".solution_curves": "energy error phase_drift phase_portrait trajectory",
        ".style": "colour_of",
    },
)
