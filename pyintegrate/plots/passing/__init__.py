"""Pictures of what trajectories pass: sections, return maps, orbit diagrams, times, scans."""
