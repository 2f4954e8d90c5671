"""How chaotic a motion is: Lyapunov exponents, indicators of chaos, chaos maps."""
