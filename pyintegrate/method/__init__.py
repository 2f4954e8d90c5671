"""Methods, their catalogue, and user-defined methods."""
