"""The public names: see ``__init__.py``, which loads them when they are asked for."""

import matplotlib as matplotlib

from .fitted_curves import fitted as fitted
from .heat_maps import attractors as attractors
from .heat_maps import basin_map as basin_map
from .heat_maps import heatmap as heatmap
from .heat_maps import passages as passages
from .heat_maps import scan as scan
from .method_curves import convergence as convergence
from .method_curves import stability_map as stability_map
from .method_curves import stability_region as stability_region
from .method_curves import work_precision as work_precision
from .moving import animate as animate
from .pages import comparison as comparison
from .pages import dashboard as dashboard
from .pages import overview as overview
from .portraits.chaos_and_order import chaos_map as chaos_map
from .portraits.chaos_and_order import fan as fan
from .portraits.chaos_and_order import frequencies as frequencies
from .portraits.chaos_and_order import ftle as ftle
from .portraits.chaos_and_order import histogram_over_time as histogram_over_time
from .portraits.chaos_and_order import lyapunov as lyapunov
from .portraits.phase_planes import branches as branches
from .portraits.phase_planes import continue_equilibria as continue_equilibria
from .portraits.phase_planes import equilibria as equilibria
from .portraits.phase_planes import periodic_orbits as periodic_orbits
from .portraits.phase_planes import phase_plane as phase_plane
from .section_points import bifurcation as bifurcation
from .section_points import return_map as return_map
from .section_points import section as section
from .solution_curves import energy as energy
from .solution_curves import error as error
from .solution_curves import phase_drift as phase_drift
from .solution_curves import phase_portrait as phase_portrait
from .solution_curves import trajectory as trajectory
from .style import colour_of as colour_of
