"""Promises of a method: proved from its numbers and measured on real motions."""
