"""The mathematics of a method's numbers: order conditions and stability, in exact arithmetic."""
