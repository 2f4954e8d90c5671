"""Analysis of integrators by their solutions: Solutions in, arrays out; needs only NumPy."""

from ..values.table import Table
from .accuracy import suitable_methods
from .advice import StepAdvice, advise_dt
from .backward_error import modified_energy
from .basins import Basins, basin
from .chaos.exponents import LyapunovExponents
from .chaos.indicators import ChaosMap
from .conserved_energy import EnergyDrift, energy_drift
from .errors_and_costs import Convergence, WorkPrecision, convergence, work_precision
from .phase import period_error, phase_drift
from .poincare import Section, poincare_section
from .portraits.attractor_branches import AttractorBranches, continue_attractors
from .portraits.bifurcations import Bifurcation, bifurcation
from .portraits.closed_motions import PeriodicOrbits, periodic_orbits
from .portraits.flow_maps import FlowMap, ftle
from .portraits.recurrences import Attractors, attractors
from .portraits.resting_points import Equilibria, equilibria
from .portraits.spectral_lines import Frequencies, frequencies
from .qualities import MethodQualities, quality
from .recommendation import Recommendation
from .regions import StabilityRegion, stability_region
from .sections.exits import Passages, escape_times, first_passages
from .sections.grid_scan import Scan
from .sections.return_maps import ReturnMap, return_map
from .sections.surface_crossings import crossings
from .stiffness import MaxStiffness, max_stiffness, real_stability_limit, stability_limit

__all__ = [
    "AttractorBranches",
    "Attractors",
    "Basins",
    "Bifurcation",
    "ChaosMap",
    "Convergence",
    "EnergyDrift",
    "Equilibria",
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
