"""The arguments of a user's function: the leading ones, and the parameters."""

from ..trace.tracing import arguments_of
from ..values.parameters import checked

OPTIONS = (
    "name", "title", "state_names", "units", "initial", "energy", "exact", "trace", "reference",
    "velocity_dependent",
)  # fmt: skip
_OWN_OPTIONS = {  # of single decorators
    "acceleration": ("dof",),
    "rhs": ("dim",),
    "sde": ("dim", "interpretation"),
    "hamiltonian": ("dof",),
    "potential": ("dof", "mass"),
}
MOST_GUESSED = 12  # components, if neither dof nor dim is given
LEADING = {
    "acceleration": (("t", "x", "v"),),
    "rhs": (("t", "y"),),
    "sde": (("t", "y"),),
    "hamiltonian": (("q", "p"), ("t", "q", "p")),
    "potential": (("x",), ("t", "x")),
}


def check_order(name, arguments, forms, form=None):
    """Refuse arguments in another order: a leading name that is out of place.

    Parameters
    ----------
    arguments : list of str
    forms : tuple of tuple of str
        The possible leading arguments.
    form : tuple of str
        The intended one; default: the longest.
    """
    form = form or forms[-1]
    known = {leading for names in forms for leading in names}
    for place, argument in enumerate(arguments):
        if argument in known and form[place : place + 1] != (argument,):
            told = " or ".join(f"{name}({', '.join(names)}, ...)" for names in forms)
            raise TypeError(
                f"{name}({', '.join(arguments)}) has {argument!r} in another place: expected {told}"
                + "; take the method of an object, outside of its class" * (arguments[0] == "self")
            )


def parameter_defaults(kind, function, values):
    """How many arguments come before the parameters, and name -> checked default of each of these.

    They are in the order of the function's arguments. The decorator's values take precedence over
    defaults in the function's signature.
    """
    name, arguments = getattr(function, "__name__", repr(function)), arguments_of(function)
    expected = LEADING[kind]
    positional = [a for a in arguments if a.kind != a.KEYWORD_ONLY]
    form = expected[-1 if positional and positional[0].name == "t" else 0]
    count = len(form)
    if len(positional) < count or any(a.name in values for a in positional[:count]):
        forms = " or ".join(f"{name}({', '.join(form)}, ...)" for form in expected)
        got = ", ".join(a.name for a in arguments)
        raise TypeError(f"{name}({got}) has the wrong arguments: expected {forms}")
    check_order(name, [a.name for a in arguments], expected, form)
    defaults = {}
    reserved = (*_OWN_OPTIONS[kind], *OPTIONS)
    for a in arguments[count:]:
        if a.name in reserved:
            raise ValueError(
                f"{name}() has a parameter {a.name!r}: the names {', '.join(reserved)} are options"
                f" of @pi.{kind}"
            )
        if a.name in values:
            value = values[a.name]
        elif a.default is not a.empty:
            value = a.default
        else:
            of_motion = (kind, a.name) == ("rhs", "v")
            raise TypeError(
                f"{name}() takes {a.name!r}, which has no default value: @pi.{kind}({a.name}=...)"
                + "; x'' = a(t, x, v) is for @pi.acceleration" * of_motion
            )
        defaults[a.name] = checked(a.name, value)
    surplus = [key for key in values if key not in defaults]
    if surplus:
        raise TypeError(
            f"@pi.{kind} got {surplus[0]!r}, which {name}() does not take; its parameters are"
            f" {', '.join(defaults) or 'none'}, the options {', '.join(reserved)}"
        )
    return count, defaults
