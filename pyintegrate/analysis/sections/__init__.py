"""Crossings of surfaces: sections, return maps, exits and first passages; scans over grids."""
