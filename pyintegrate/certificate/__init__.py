"""What a method promises: proved from its numbers and measured on real motions."""
