"""Systems with their parameters, their catalogue and their closed forms."""
