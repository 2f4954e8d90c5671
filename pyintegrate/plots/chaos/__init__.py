"""Pictures of chaos: how Lyapunov exponents settle, maps of indicators."""
