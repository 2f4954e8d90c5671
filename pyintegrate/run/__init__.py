"""From arguments to the C core: the mathematics of a run, its options, and its results."""
