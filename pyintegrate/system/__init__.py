"""What moves: systems with their parameters, their catalogue and their closed forms."""
