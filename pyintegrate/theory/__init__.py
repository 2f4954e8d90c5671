"""The mathematics of a method's coefficients: order conditions and stability, exactly."""
