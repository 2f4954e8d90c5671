"""What belongs to the whole batch: densities, and statistics across it at each step."""
