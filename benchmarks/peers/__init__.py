"""Other packages on the same work: each module has ``NAME`` and ``prepare(workload)``.

``prepare`` returns a function that does the whole work once and returns the final state, (dim, n),
or None where the package has no such method; the first call may compile. Where every state is kept,
it takes the array for them, (steps + 1, dim, n), and returns it.
"""

import importlib

MODULES = ("numpy_blocks", "numba_plain", "numba_blocked", "jax_loop", "diffrax_solve", "scipy_one",
           "boost_lanes")  # fmt: skip


def installed():
    """The peers that can be imported here."""
    found = []
    for name in MODULES:
        try:
            found.append(importlib.import_module(f".{name}", __name__))
        except ImportError:
            continue
    return found
