"""Plots of crossings and scans: sections, return maps, orbit diagrams, escape times, grids."""
