"""Integration to a tolerance: every trajectory has its own steps."""
