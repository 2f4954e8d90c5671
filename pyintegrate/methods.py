"""How it moves: the catalogue of methods, read from the C core."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from . import _core
from .errors import UnknownNameError


class Method:
    """A fixed-step method: numbers and a family that knows what to do with them.

    Attributes
    ----------
    name, title, formula, reference : str
    family : {"explicit_rk", "composition", "implicit_rk", "nystrom", "multistep"}
    order : int
    stages : int
        Rows of the table, or kicks and drifts, or the steps that a multistep method sees.
    evaluations : int
        Force evaluations a step, counting once those that consecutive steps share; of an implicit
        method, those of one Newton iteration.
    symplectic, symmetric : bool
        Symplectic where the force does not see the velocity; time-reversible (of a multistep
        method: its formula, for the positions where it has them, is the same in reverse).
    implicit, self_starting : bool
    derivative : int
        Of a multistep method: 1 on y' = f(t, y), 2 on x'' = a(t, x); else 0.
    backward : bool
        Of positions without a formula for velocities: backward differences, not central ones.
    starts_from_positions, velocity_free : bool
        Whether velocities are differences of positions, as those of Stormer-Verlet; whether the
        force must not see the velocity.
    requires : {"any", "second_order", "separable", "quadratic_kinetic", "rigid_body"}
        The structure that a system must have.
    coefficients : dict of lists
    aliases : tuple of str

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.methods["rk4"].order
    4
    >>> round(pi.methods["rk4"].stability_limit, 4)
    2.8284
    """

    name: str
    title: str
    family: str
    order: int
    stages: int
    evaluations: int
    symplectic: bool
    symmetric: bool
    coefficients: dict[str, list]
    handle: object
    requires: str
    implicit: bool
    self_starting: bool
    formula: str
    reference: str
    aliases: tuple[str, ...]
    derivative: int
    backward: bool
    written: str | dict[str, list]  # the numbers with all digits (coefficients.py)

    def __init__(
        self, name, title, family, order, stages, evaluations, symplectic, symmetric, coefficients,
        handle, written, requires="any", implicit=None, self_starting=None, formula="",
        reference="", aliases=(), derivative=0, backward=False,
    ):  # fmt: skip
        fields = dict(locals())
        del fields["self"]
        if implicit is None:
            fields["implicit"] = family == "implicit_rk" or (
                family == "multistep"
                and bool(coefficients["beta"][-1])
                and not coefficients["predictor"]
            )
        if self_starting is None:
            fields["self_starting"] = family != "multistep" or stages == 1
        self.__dict__.update(fields)

    def __setattr__(self, name, value):
        raise AttributeError("a Method is immutable")

    def __repr__(self):
        return f"<Method {self.name}: {self.title}, order {self.order}>"

    @property
    def velocity_free(self):
        """Whether the method never has the velocity with which a force would have to be asked."""
        if self.family == "nystrom":  # but at the beginning of the step
            return any(self.coefficients["c"])
        return self.family == "multistep" and self.derivative == 2

    @property
    def starts_from_positions(self):
        """Whether it takes velocities from differences of positions, as Stormer-Verlet does."""
        return self.derivative == 2 and not any(self.coefficients["velocity"])

    @cached_property
    def stability_limit(self):
        """Largest omega dt on the undamped oscillator: 0 if it grows at once, inf if never."""
        from .analysis.stability import stability_limit

        return stability_limit(self)

    def certificate(self):
        """What the method promises, measured and proved: prints as text, shows as HTML.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.methods["heun3"].certificate().holds
        True
        """
        from .analysis.certificate import certify

        return certify(self)

    @cached_property
    def exact_coefficients(self):
        """The coefficients as fractions, and the relative error that rounding left in them."""
        from .coefficients import exact_coefficients

        return exact_coefficients(self)

    def __eq__(self, other):
        if not isinstance(other, Method):
            return NotImplemented
        return (self.name, self.family, self.coefficients) == (
            other.name,
            other.family,
            other.coefficients,
        )

    def __hash__(self):
        return hash((self.name, self.family))

    def __str__(self):
        return self.name

    def __reduce__(self):
        if self.name in methods and methods[self.name] == self:
            return find_method, (self.name,)
        from .own_methods import remake

        return remake, (
            self.family, self.written, self.name, self.order, self.requires, self.derivative,
        )  # fmt: skip

    def _repr_html_(self):
        return _html([self])


class MethodCatalogue(Mapping):
    """All methods by name; aliases work too, and ``table()`` shows them.

    Examples
    --------
    >>> import pyintegrate as pi
    >>> pi.methods["symplectic_euler"].name
    'semi_implicit_euler'
    """

    def __init__(self, methods):
        self._methods = {m.name: m for m in methods}
        self._aliases = {alias: m for m in methods for alias in m.aliases}

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"method must be a name or a Method, got {type(name).__name__}")
        if name == "leapfrog":
            raise ValueError(
                "method 'leapfrog' is ambiguous: 'velocity_verlet' is kick-drift-kick,"
                " 'position_verlet' is drift-kick-drift"
            )
        found = self._methods.get(name) or self._aliases.get(name)
        if found is None:
            from difflib import get_close_matches

            near = get_close_matches(name, [*self._methods, *self._aliases], n=3)
            hint = (
                f"did you mean {' or '.join(map(repr, near))}?"
                if near
                else "see pi.methods.table()"
            )
            raise UnknownNameError(f"method {name!r} is not known: {hint}")
        return found

    def __contains__(self, name):
        return name in self._methods or name in self._aliases

    def __iter__(self):
        return iter(self._methods)

    def __len__(self):
        return len(self._methods)

    def __repr__(self):
        return f"<{len(self)} methods: {', '.join(self)}>"

    def _repr_html_(self):
        return self.table()._repr_html_()

    def table(self):
        """All methods side by side: prints as text, shows as HTML in a notebook.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> "velocity_verlet" in str(pi.methods.table())
        True
        """
        return MethodTable(tuple(self._methods.values()))


_COLUMNS = (
    ("method", "{0.name}"),
    ("order", "{0.order}"),
    ("evaluations", "{0.evaluations}"),
    ("symplectic", "{0.symplectic:d}"),
    ("reversible", "{0.symmetric:d}"),
    ("implicit", "{0.implicit:d}"),
    ("stable to omega dt", "{0.stability_limit:.5g}"),
    ("needs", "{0.requires}"),
    ("title", "{0.title}"),
)
_FLAGS = ("symplectic", "reversible", "implicit")


def _cells(method):
    for name, form in _COLUMNS:
        text = form.format(method)
        yield {"0": "-", "1": "yes"}[text] if name in _FLAGS else text


class MethodTable:
    """A table of methods that prints as text and shows as HTML."""

    def __init__(self, methods):
        self.methods = methods

    def __str__(self):
        rows = [[name for name, _ in _COLUMNS], *(list(_cells(m)) for m in self.methods)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    __repr__ = __str__

    def _repr_html_(self):
        return _html(self.methods)


def _html(methods):
    from html import escape

    head = "".join(f"<th>{name}</th>" for name, _ in _COLUMNS)
    body = "".join(
        "<tr>"
        + "".join(f"<td style='text-align:left'>{escape(c)}</td>" for c in _cells(m))
        + "</tr>"
        for m in methods
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def find_method(method):
    """The Method that a name or a Method stands for."""
    return method if isinstance(method, Method) else methods[method]


# ---- the catalogue -------------------------------------------------------------------------------


def _from_core(item):
    item["aliases"] = tuple(item["aliases"].split())
    if item["family"] == "multistep":
        for name in ("predictor", "velocity"):  # zeros where they are left out
            if not any(item["coefficients"][name]):
                item["coefficients"][name] = []
    return Method(**item)


methods = MethodCatalogue([_from_core(item) for item in _core.methods()])
