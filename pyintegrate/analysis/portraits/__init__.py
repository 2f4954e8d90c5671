"""The map of a motion: where it rests, what it becomes as a parameter turns, what catches it."""
