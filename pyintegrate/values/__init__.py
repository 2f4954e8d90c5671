"""What a batch of values is: checked numbers, rows in memory, parameters."""
