"""Systems from a user's functions: traced, called back, or by pointer."""
