"""To a tolerance: every trajectory at steps of its own."""
