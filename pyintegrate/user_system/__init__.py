"""User-defined systems from functions: traced, called back, or by pointer."""
