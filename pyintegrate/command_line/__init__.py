"""What the command line shows: catalogues, this installation, tables for people and for scripts."""
