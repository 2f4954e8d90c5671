"""Analysis of integrators by their solutions: Solutions in, arrays out; needs only NumPy."""

from ..values.lazily import lazily

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "..values.table": "Table",
        ".accuracy": "suitable_methods",
        ".advice": "Recommendation StepAdvice advise_dt",
        ".conserved_energy": "EnergyDrift energy_drift modified_energy",
        ".errors_and_costs": "Convergence MethodQualities WorkPrecision "
        "convergence quality work_precision",
        ".phase": "period_error phase_drift",
        ".portraits.closed_motions": "PeriodicOrbits periodic_orbits",
        ".portraits.equilibrium_branches": "EquilibriumBranches continue_equilibria",
        ".portraits.recurrences": "AttractorBranches Attractors Basins "
        "attractors basin continue_attractors",
        ".portraits.resting_points": "Equilibria equilibria",
        ".portraits.spectral_lines": "Frequencies frequencies",
        ".portraits.tangent_growth": "ChaosMap FlowMap LyapunovExponents ftle",
        ".sections.grid_scan": "Passages Scan escape_times first_passages",
        ".sections.surface_crossings": "Bifurcation ReturnMap Section "
        "bifurcation crossings poincare_section return_map",
        ".stiffness": "MaxStiffness StabilityRegion max_stiffness "
        "real_stability_limit stability_limit stability_region",
    },
)
