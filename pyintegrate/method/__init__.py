"""How it moves: methods, their catalogue, and user-defined ones."""
