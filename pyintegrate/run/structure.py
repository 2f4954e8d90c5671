"""Which methods can integrate which systems."""

from __future__ import annotations

# What a system must be for a method that requires ..., and what that means.
_STRUCTURES = {
    "any": (("first_order", "second_order", "separable", "rigid_body"), ""),
    "second_order": (("second_order",), "x'' = a(t, x, v)"),
    "separable": (("second_order", "separable"), "positions and velocities"),
    "quadratic_kinetic": (("second_order",), "a kinetic energy quadratic in the velocities"),
    "rigid_body": (("rigid_body",), "position and orientation"),
}


def check_structure(method, system):
    """Refuse a method that needs a structure which the system lacks."""
    structures, meaning = _STRUCTURES[method.requires]
    if system.structure in structures:
        if method.velocity_free and system.velocity_dependent:
            raise ValueError(
                f"method {method.name!r} is for x'' = a(t, x): it has no velocity to ask the force"
                f" with, and that of {system.name!r} sees the velocity; use one that requires"
                " 'any', such as 'rk4', or 'separable', such as 'velocity_verlet'"
            )
        if refusal := system.refusal(method):
            raise ValueError(refusal)
        return
    cure = "one that requires 'any', such as 'rk4'"
    if method.requires == "quadratic_kinetic" and system.structure == "separable":
        cure = "one that requires 'separable', such as 'blanes_moan4', or 'any', such as 'rk4'"
    raise ValueError(
        f"method {method.name!r} needs a {method.requires} system ({meaning}), and"
        f" {system.name!r} is {system.structure}; use {cure}"
    )
