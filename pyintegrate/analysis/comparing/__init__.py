"""What a comparison is made of: the methods it was given, and its table."""
