"""Solutions: the arrays of a run, the quantities computed from them, and their files."""
