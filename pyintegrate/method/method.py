"""A method: its coefficients and its properties."""

from __future__ import annotations

import operator
from functools import cached_property
from typing import TYPE_CHECKING

from ..values.citations import cite
from ..values.types import Any, Certificate
from .table import MethodTable


class Method:
    """A fixed-step method: its coefficients, and the family that defines how they are used.

    Attributes
    ----------
    name, title, formula, reference : str
    family : {"explicit_rk", "composition", "implicit_rk", "rosenbrock", "nystrom", "multistep",
        "noise", "wisdom_holman", "rigid_body"}
    order : int
        A composition has order 1 if the force depends on the velocity, since a kick uses the
        velocity before it.
    stages : int
        Rows of the table, or kicks and drifts, or the number of steps of a multistep method.
    evaluations : int
        Force evaluations per step, counting once those that consecutive steps share; for an
        implicit method, those of one Newton iteration. Those for a Jacobian or df/dt do not count.
    symplectic, symmetric : bool
        Symplectic if the force does not depend on the velocity; time-reversible (for a multistep
        method: its formula, or that for the positions, is the same in reverse).
    implicit, self_starting : bool
    derivative : int
        For a multistep method: 1 for y' = f(t, y), 2 for x'' = a(t, x); else 0.
    backward : bool
        For methods without a formula for velocities: whether their differences are backward.
    starter : str or None
        The method for the first steps of one that is not self-starting, unless ``start=``
        gives another.
    starts_from_positions, velocity_free : bool
        Whether velocities are differences of positions, as in Stormer-Verlet; whether it
        cannot integrate velocity-dependent forces.
    requires : {"any", "second_order", "separable", "quadratic_kinetic", "n_body", "rigid_body"}
        The structure that a system must have.
    coefficients : dict of lists
    embedded : dict or None
        For a pair with an error estimate, for ``pi.solve``: the weights "b" of another order,
        "order"; if the estimate combines two, also "b2" and "order2"; for a Nystrom pair also
        those of the velocities, "velocity". If the weights of a Runge-Kutta method do not sum to
        1, the rest belongs to f(t, y), which is no stage ("radau_iia5").
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
    coefficients: dict[str, list[Any]]
    handle: object
    requires: str = "any"
    implicit: bool
    self_starting: bool
    formula: str = ""
    reference: str = ""
    aliases: tuple[str, ...] = ()
    derivative: int = 0
    backward: bool = False
    starter: str | None = None
    embedded: dict[str, Any] | None = None
    made_by: tuple[Any, ...]  # the function that makes it, and its arguments: for pickling
    if TYPE_CHECKING:
        strong_order: Any  # of methods for noise, and of no others

    def __init__(self, **fields: Any) -> None:
        c = fields["coefficients"]
        defaults = {
            "implicit": fields["family"] in ("implicit_rk", "rosenbrock"),
            "self_starting": not c.get("corrector"),
        }
        if fields["family"] == "multistep":
            defaults["implicit"] = bool(c["beta"][-1]) and not c["predictor"]
            defaults["self_starting"] &= fields["stages"] == 1
        self.__dict__.update(defaults | fields)

    def __setattr__(self, name, value):
        raise AttributeError("a Method is immutable")

    def __repr__(self):
        return f"<Method {self.name}: {self.title}, order {self.order}>"

    @cached_property
    def velocity_free(self) -> bool:
        """Whether the method cannot integrate velocity-dependent forces."""
        if self.family == "nystrom":  # except at the beginning of the step
            return any(self.coefficients["c"])
        return self.family == "multistep" and self.derivative == 2

    @cached_property
    def starts_from_positions(self) -> bool:
        """Whether velocities are differences of positions, as in Stormer-Verlet."""
        return self.derivative == 2 and not any(self.coefficients["velocity"])

    @cached_property
    def stability_limit(self) -> float:
        """Largest stable omega dt on the undamped oscillator; 0: none, inf: any, nan: unknown."""
        from ..theory.stability import oscillator_limit

        return oscillator_limit(self)

    @cached_property
    def written(self) -> str | dict[str, list[Any]]:
        """The numbers with all digits: of a method of the catalogue the text of its file."""
        from ..values.headers import headers

        return (headers() / "methods" / f"{self.name}.h").read_text()

    cite = cite

    def certificate(self) -> Certificate:
        """All properties of the method, proved and measured: prints as text, shows as HTML.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.methods["heun3"].certificate().holds
        True
        """
        from ..certificate.certificate import certify

        return certify(self)

    @cached_property
    def exact_coefficients(self) -> tuple[dict[str, Any], float]:
        """The coefficients as fractions, and their relative rounding error."""
        from .coefficients import exact_coefficients

        return exact_coefficients(self)

    @cached_property
    def exact_embedded(self) -> list[tuple[list[Any], Any]]:
        """The weights of the error estimate as fractions, each with its rounding error.

        Examples
        --------
        >>> import pyintegrate as pi
        >>> pi.methods["bogacki_shampine32"].exact_embedded[0][0][0]
        Fraction(7, 24)
        """
        from .coefficients import exact_embedded

        return exact_embedded(self) if self.embedded else []

    def __eq__(self, other):
        if not isinstance(other, Method):
            return NotImplemented
        what = operator.attrgetter("name", "family", "requires", "coefficients", "embedded")
        return what(self) == what(other)

    def __hash__(self):
        return hash((self.name, self.family))

    def __str__(self):
        return self.name

    def __reduce__(self):
        return self.made_by

    def _repr_html_(self):
        return MethodTable([self])._repr_html_()
