"""Default names of the components of a state."""


def default_names(kind, dim, dof):
    """x, v; or x, y, z, vx, vy, vz; or numbered ones; for a Hamiltonian q and p.

    Parameters
    ----------
    kind : str
        The decorator.
    """
    if not dof:
        return tuple(f"y{i + 1}" for i in range(dim)) if dim > 1 else ("y",)
    halves = "qp" if kind == "hamiltonian" else "xv"
    if dof == 1:
        return tuple(halves)
    if halves == "xv" and dof <= 3:
        letters = "xyz"[:dof]
        return (*letters, *(f"v{c}" for c in letters))
    return tuple(f"{letter}{i + 1}" for letter in halves for i in range(dof))


def free_names(names, taken):
    """Names of components; y[1], y[2], ... if a parameter already has one of the names."""
    if set(names) & set(taken):
        return tuple(f"y[{i + 1}]" for i in range(len(names)))
    return names
