"""Names of analyses in ``watch=``: each stands for everything that the analysis needs."""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from .quantity import View, check_quantity, has_exact_phase
from .reductions import last, max_abs, slope, windings

ANALYSES = {
    "energy_drift": {"": slope("energy_error"), ".largest": max_abs("energy_error")},
    "phase_drift": {"": last("phase_drift"), ".largest": max_abs("phase_drift")},
    "period_error": {".phase_slope": slope("phase_drift")},
}


def _needed(name, system):
    if name == "phase_drift" and not has_exact_phase(system):
        return {"": windings("phase")}  # of a reference, too
    return ANALYSES[name]


def expanded(watch, system):
    """The argument `watch` with the names of analyses replaced by the watches that they need.

    Returns
    -------
    tuple of str, dict
        The names of analyses; names to watches.
    """
    out, found = {}, []
    for name, one in named(watch).items():
        if not isinstance(one, str):
            out[name] = one
            continue
        if one not in ANALYSES:
            raise ValueError(
                f"watch: there are the analyses {_known()}, got {one!r}; of a quantity say what to"
                f" keep, as pi.watch.maximum({one!r})"
            )
        found.append(name)
        out |= {f"{name}{suffix}": part for suffix, part in _needed(one, system).items()}
    return tuple(found), out


def named(watch):
    """The argument `watch` as a dict: names to watches, or to names of analyses."""
    if isinstance(watch, str):
        watch = [watch]
    if isinstance(watch, list | tuple):
        for name in watch:
            if not isinstance(name, str):
                raise TypeError(
                    "watch must map names to watches, {'far': pi.watch.maximum('x')}, or list names"
                    f" of analyses ({_known()}), got a list with {name!r}"
                )
        twice = sorted({name for name in watch if watch.count(name) > 1})
        if twice:
            raise ValueError(f"watch lists {twice[0]!r} twice: once is enough")
        watch = {name: name for name in watch}
    if not isinstance(watch, Mapping):
        raise TypeError(
            f"watch must map names to watches, {{'far': pi.watch.maximum('x')}}, got"
            f" {type(watch).__name__}"
        )
    return dict(watch)


def _known():
    return ", ".join(map(repr, ANALYSES))


def of_comparison(system, options):
    """Options of runs that save only their end, with the watches for a comparison's table."""
    save = options.get("save", "all")
    few = save == "final" if isinstance(save, str) else np.ndim(save) or isinstance(save, range)
    if not few and options.get("times") is None:
        return options
    watch = named({} if options.get("watch") is None else options["watch"])
    kinds = {getattr(one, "kind", None) for one in expanded(watch, system)[1].values()}
    needed = []
    with suppress(TypeError, ValueError):  # no energy, or none that is a formula
        check_quantity("energy_error", system)
        View(system, {}, {"energy"})
        needed += ["energy_drift"]
    needed += ["phase_drift"] * has_exact_phase(system)
    for name in needed:
        if not {one.kind for one in _needed(name, system).values()} <= kinds:
            watch[f"{name} of the table" if name in watch else name] = name
    return options | {"watch": watch or None}
