"""Things that move in an animation: pendulums with their rods, masses on springs, turning boxes."""
