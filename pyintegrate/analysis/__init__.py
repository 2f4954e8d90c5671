"""Analysis of integrators by their solutions: Solutions in, arrays out; needs only NumPy."""

from ..values.table import Table
from .accuracy import suitable_methods
from .advice import Recommendation, StepAdvice, advise_dt
from .conserved_energy import EnergyDrift, energy_drift, modified_energy
from .errors_and_costs import (
    Convergence,
    MethodQualities,
    WorkPrecision,
    convergence,
    quality,
    work_precision,
)
from .phase import period_error, phase_drift
from .portraits.closed_motions import PeriodicOrbits, periodic_orbits
from .portraits.equilibrium_branches import EquilibriumBranches, continue_equilibria
from .portraits.recurrences import (
    AttractorBranches,
    Attractors,
    Basins,
    attractors,
    basin,
    continue_attractors,
)
from .portraits.resting_points import Equilibria, equilibria
from .portraits.spectral_lines import Frequencies, frequencies
from .portraits.tangent_growth import ChaosMap, FlowMap, LyapunovExponents, ftle
from .sections.grid_scan import Passages, Scan, escape_times, first_passages
from .sections.surface_crossings import (
    Bifurcation,
    ReturnMap,
    Section,
    bifurcation,
    crossings,
    poincare_section,
    return_map,
)
from .stiffness import (
    MaxStiffness,
    StabilityRegion,
    max_stiffness,
    real_stability_limit,
    stability_limit,
    stability_region,
)

__all__ = [
    "AttractorBranches",
    "Attractors",
    "Basins",
    "Bifurcation",
    "ChaosMap",
    "Convergence",
    "EnergyDrift",
    "Equilibria",
    "EquilibriumBranches",
    "FlowMap",
    "Frequencies",
    "LyapunovExponents",
    "MaxStiffness",
    "MethodQualities",
    "Passages",
    "PeriodicOrbits",
    "Recommendation",
    "ReturnMap",
    "Scan",
    "Section",
    "StabilityRegion",
    "StepAdvice",
    "Table",
    "WorkPrecision",
    "advise_dt",
    "attractors",
    "basin",
    "bifurcation",
    "continue_attractors",
    "continue_equilibria",
    "convergence",
    "crossings",
    "energy_drift",
    "equilibria",
    "escape_times",
    "first_passages",
    "frequencies",
    "ftle",
    "max_stiffness",
    "modified_energy",
    "period_error",
    "periodic_orbits",
    "phase_drift",
    "poincare_section",
    "quality",
    "real_stability_limit",
    "return_map",
    "stability_limit",
    "stability_region",
    "suitable_methods",
    "work_precision",
]
