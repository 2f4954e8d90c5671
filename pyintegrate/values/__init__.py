"""The values of a batch: checked numbers, rows in memory, parameters."""
