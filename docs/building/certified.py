"""A certificate as plain data, as docs/certificates.json holds it."""

from math import isfinite, isnan


def as_dict(found):
    """Plain numbers and strings, as stored in docs/certificates.json."""
    m = found.method
    return {
        "name": m.name, "title": m.title, "family": m.family, "requires": m.requires,
        "reference": m.reference, "order": m.order, "computed_order": found.computed_order,
        "conditions": sum(c.number for c in found.conditions[:-1]),
        "residual": _digits(found.residual), "coefficients_good_to": found.rounding,
        "next_residual": _digits(found.next_residual),
        "error_constant": _digits(found.error_constant),
        "measured_order": {k: round(v, 3) for k, (v, _) in found.measured_order.items()},
        "digits": {k: digits for k, (_, digits) in found.measured_order.items()},
        "evaluations": found.evaluations,
        "symplectic": m.symplectic, "symplecticity_defect": _digits(found.symplecticity_defect),
        "symmetric": m.symmetric, "reversal_defect": _digits(found.reversal_defect),
        "palindromic": found.palindromic,
        "stability_limit": _finite(found.stability_limit),
        "real_stability_limit": _finite(found.real_stability_limit),
        "a_stable": found.a_stable, "l_stable": found.l_stable,
        "stability_angle": _digits(found.stability_angle),
        "holds": found.holds, "failures": list(found.failures),
    }  # fmt: skip


def noise_as_dict(found):
    """The same of a method with noise: the orders, each with half the width of its interval."""
    m = found.method
    return {
        "name": m.name, "title": m.title, "family": m.family, "reference": m.reference,
        "requires": m.requires, "order": m.order, "noise": m.noise,
        "evaluations": m.evaluations, "paths": found.paths,
        "strong_order": m.strong_order, "weak_order": m.weak_order,
        "measured_strong_order": found.strong_order and [round(x, 4) for x in found.strong_order],
        "measured_weak_order": [round(x, 4) for x in found.weak_order],
        "stationary_order": m.stationary_order,
        "measured_stationary_order": found.stationary_order
        and [round(x, 4) for x in found.stationary_order],
        "holds": found.holds, "failures": list(found.failures),
    }  # fmt: skip


def _digits(x):
    """Rounded to the digits that do not depend on the machine."""
    return None if x is None else float(f"{float(x):.6g}")


def _finite(x):
    """JSON has no infinity, and nothing stands for no limit at all."""
    return None if x is None or isnan(x) else x if isfinite(x) else "inf"
