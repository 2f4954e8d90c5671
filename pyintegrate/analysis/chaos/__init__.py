"""How chaotic a motion is: Lyapunov exponents, indicators of chaos, maps of them."""
