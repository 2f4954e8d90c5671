"""Methods, their catalogue, and user-defined ones."""
