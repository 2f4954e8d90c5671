"""The parts of a comparison: its methods, and its table."""
