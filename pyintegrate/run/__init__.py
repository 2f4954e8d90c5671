"""From arguments to the C core: the mathematics of a run, how it is carried out, what comes out."""
