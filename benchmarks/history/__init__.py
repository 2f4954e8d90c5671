"""Speeds that are followed from version to version (asv)."""
