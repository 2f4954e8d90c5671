"""The output of the command line: catalogues, this installation, tables as text or JSON."""
