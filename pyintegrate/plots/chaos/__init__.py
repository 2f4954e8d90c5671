"""Plots of chaos: the convergence of Lyapunov exponents, maps of indicators."""
