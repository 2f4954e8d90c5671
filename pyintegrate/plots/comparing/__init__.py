"""How the panels of a comparison lie: on a page, or in a column of a journal."""
