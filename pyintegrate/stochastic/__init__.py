"""Systems with noise: their definition, the kind of their noise, the program of a step."""
