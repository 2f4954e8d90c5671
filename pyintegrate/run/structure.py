"""Which methods can integrate which systems."""

from __future__ import annotations

from .. import _core
from ..system.system import System

_REQUIREMENTS = _core.requirements()

# Default methods: two to compare, and one to step by hand.
_USUAL = {
    "first_order": (("rk4", "explicit_euler"), "rk4"),
    "second_order": (("rk4", "semi_implicit_euler"), "semi_implicit_euler"),
    "separable": (("rk4", "semi_implicit_euler"), "semi_implicit_euler"),
    "rigid_body": (("rigid_rk4", "rigid_semi_implicit_euler"), "rigid_semi_implicit_euler"),
}


def checked_system(system):
    """The system; a TypeError with the remedy if it is something else."""
    if isinstance(system, System):
        return system
    cure = ""
    if isinstance(system, str):
        cure = f": use pi.systems[{system!r}]"
    elif callable(system) and not isinstance(system, type):
        cure = (
            ": make one of the function with @pi.rhs, which takes f(t, y) with y' = f, or with"
            " @pi.acceleration, which takes a(t, x, v) with x'' = a"
        )
    raise TypeError(f"system must be a System, got {type(system).__name__}{cure}")


def usual_methods(system):
    """The two default methods of a comparison of a system; for any structure."""
    if system.structure == "first_order" and system.positions:  # a non-separable Hamiltonian
        return ("rk4", "implicit_midpoint")
    return _USUAL[system.structure][0]


def usual_stepper(system):
    """The method that a Stepper of a system takes by default."""
    return _USUAL[system.structure][1]


def check_structure(method, system):
    """Refuse a method that needs a structure which the system lacks."""
    meaning, structures = _REQUIREMENTS[method.requires]
    if system.structure in structures:
        if method.velocity_free and system.velocity_dependent:
            raise ValueError(
                f"method {method.name!r} is for x'' = a(t, x): it has no velocity to ask the force"
                f" with, and that of {system.name!r} sees the velocity; use one that requires"
                " 'any', such as 'rk4', or 'separable', such as 'velocity_verlet'"
            )
        if refusal := system._refusal(method):
            raise ValueError(refusal)
        return
    cure = "one that requires 'any', such as 'rk4'"
    if method.requires == "quadratic_kinetic" and system.structure == "separable":
        cure = "one that requires 'separable', such as 'blanes_moan4', or 'any', such as 'rk4'"
    raise ValueError(
        f"method {method.name!r} needs a {method.requires} system ({meaning}), and"
        f" {system.name!r} is {system.structure}; use {cure}"
    )
