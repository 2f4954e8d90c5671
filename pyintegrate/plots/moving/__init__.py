"""Moving objects of an animation: pendulums with rods, masses on springs, rotating boxes."""
