"""Names that are nearly right."""


def near_names(name, known):
    """The names that a misspelt one may stand for, as text; empty if there are none."""
    from difflib import get_close_matches

    return " or ".join(map(repr, get_close_matches(name, known, n=3)))
