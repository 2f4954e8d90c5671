"""What is loaded when it is first asked for: public names of a package, and optional packages."""

import sys
from importlib import import_module


def lazily(package, holders):
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package with such names.

    Parameters
    ----------
    package : str
    holders : dict
        Relative names of modules to the names that they hold.
    """
    places = {name: module for module, names in holders.items() for name in names.split()}
    names = sorted(places)

    def load(name):
        if name not in places:
            from difflib import get_close_matches

            near = [] if name.startswith("_") else get_close_matches(name, names, n=2)
            if name in dir(sys.modules[package.partition(".")[0]]):
                near = [f"pi.{name}", *near]
            cure = f": did you mean {' or '.join(near)}?" if near else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{cure}")
        found = getattr(import_module(places[name], package), name)
        setattr(sys.modules[package], name, found)
        return found

    return load, lambda: names, names


def optional(name, what):
    """A package, or an ImportError that says what needs it and how it is installed."""
    try:
        return import_module(name)
    except ImportError as missing:
        raise ImportError(
            f"{what} needs the package {name}, which is not installed:"
            f" pip install {name.partition('.')[0]}"
        ) from missing
