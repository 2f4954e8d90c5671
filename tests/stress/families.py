"""The families of methods in the order of the core, and the numbers that make_method takes."""

_LIST = {"matrix": False, "more": 0, "optional": False}


def _numbers(*lists, matrices=("A",), more=(), optional=()):
    found = [_LIST | {"name": n, "more": int(n in more), "optional": n in optional} for n in lists]
    return [*(_LIST | {"name": n, "matrix": True} for n in matrices), *found]


FAMILIES = {
    "explicit_rk": _numbers("b", "c"),
    "composition": _numbers("kick", "drift", matrices=()),
    "nystrom": _numbers("b", "c", "velocity"),
    "multistep": _numbers(
        "alpha", "beta", "predictor", "velocity", matrices=(),
        more=("alpha", "beta", "velocity"), optional=("predictor", "velocity"),
    ),
    "implicit_rk": _numbers("b", "c"),
    "rosenbrock": _numbers("b", "c", "d", matrices=("A", "inverse")),
    "noise": [],
    "wisdom_holman": _numbers("kick", "drift", matrices=()),
    "rigid_body": _numbers("substeps", matrices=()),
}  # fmt: skip
CLOSED = ("rosenbrock", "rigid_body", "wisdom_holman")  # methods cannot be user-defined
