"""Plots of the map of a motion: phase planes, equilibria, bifurcations, basins, flow maps."""
