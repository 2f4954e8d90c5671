"""The commands that list and describe: methods, systems, and this installation."""

import os
from textwrap import shorten

import numpy as np

import pyintegrate as pi

from ..analysis.results import unit_of
from ..values.table import Table
from .printing import as_json, facts, show

_LETTERS = "S symplectic, R reversible, I implicit. `methods NAME` describes one in full"


def methods(options):
    """List the methods, or describe one."""
    if options.json:
        _as_json(options.method, pi.methods, _about)
    elif options.method:
        _method(pi.methods[options.method])
    else:
        columns = ["method", "order", "evaluations", "is", "stable to omega dt", "needs"]
        rows = [
            [m.name, str(m.order), str(m.evaluations), _letters(m), f"{m.stability_limit:.5g}",
             m.requires] for m in pi.methods.values()
        ]  # fmt: skip
        show(Table("", columns, rows, _LETTERS, align="lrrlrl"))


def _as_json(name, known, told):
    """What is told of the one of this name, or of all."""
    as_json(told(known[name]) if name else [told(one) for one in known.values()])


def _letters(method):
    marks = zip("SRI", (method.symplectic, method.symmetric, method.implicit))
    return " ".join(letter if mark else "-" for letter, mark in marks)


_SAID = ("name", "title", "formula", "family", "order", "evaluations", "stages", "symplectic")


def _about(method):
    return {name: getattr(method, name) for name in _SAID} | {
        "reversible": method.symmetric,
        "implicit": method.implicit,
        "needs": method.requires,
        "stable to": method.stability_limit,
        "aliases": list(method.aliases),
        "reference": method.reference,
    }


def _method(method):
    about = _about(method)
    print(f"{about.pop('name')}: {about.pop('title')}")
    formula = about.pop("formula")
    print(f"  {formula}\n" if formula else "")
    needs = "any system" if method.requires == "any" else f"a {method.requires} system"
    if method.family == "noise":
        needs = "a heat bath" if method.langevin else f"an equation with {method.noise} noise"
    limit = "-"  # methods for equations with noise have none
    if not np.isnan(method.stability_limit):
        limit = f"omega dt = {method.stability_limit:.6g} on the undamped oscillator"
    told = {name: ("no", "yes")[value] if isinstance(value, bool) else value
            for name, value in about.items()}  # fmt: skip
    told |= {
        "evaluations": f"{method.evaluations} per step",
        "needs": needs,
        "stable to": limit,
        "aliases": ", ".join(method.aliases) or "-",
        "reference": method.reference or "-",
    }
    if method.family == "composition" and method.order > 1:
        told["order"] = f"{method.order}, and 1 where the force depends on the velocity"
    facts(told)


def systems(options):
    """List the systems, or describe one."""
    if options.names and not options.system:
        print("\n".join(pi.systems))
    elif options.json:
        _as_json(options.system, pi.systems, _described)
    elif options.system:
        _system(pi.systems[options.system])
    else:
        rows = [
            [
                name,
                system.structure,
                shorten(" ".join(system.state_names), 24, placeholder=" ..."),
                shorten(
                    ", ".join(f"{k}={_short(v)}" for k, v in system.params.items()),
                    36,
                    placeholder=" ...",
                ),
            ]
            for name, system in pi.systems.items()
        ]
        columns = ["system", "structure", "state", "parameters"]
        note = "`systems NAME` describes one in full, with its equation and units"
        show(Table("", columns, rows, note, align="llll"))


def _described(system):
    return {name: getattr(system, name) for name in ("name", "title", "equation", "structure")} | {
        "state": dict(zip(system.state_names, system.initial)),
        "parameters": dict(system.params),
        "units": dict(system.units),
        "reference": system.reference,
    }


def _system(system):
    """One system: its equation, state, parameters and reference."""
    about = _described(system)
    rows = [
        [name, kind, _short(value), unit_of(system, name) or "-"]
        for kind, values in (("state", about["state"]), ("parameter", system.params))
        for name, value in values.items()
    ]
    facts({f"{system.title}: ": system.equation})
    print()
    show(Table("", ["name", "kind", "default", "unit"], rows, align="llll"))
    print()
    facts({"structure": system.structure, "reference": system.reference or "-"})


def _short(value):
    """A default value as one would write it."""
    values = [f"{number:.6g}" for number in np.ravel(value)]
    return values[0] if np.ndim(value) == 0 else f"({','.join(values)})"


def info(options):
    """Print how this installation was built and what it runs on; 1 if its bits differ."""
    from pyintegrate import _core

    about = {**_core.info(), "cores": os.cpu_count()}
    code, more = 0, {}
    if options.digest or options.table:
        from ..method import bits

        found = bits.method_bits()
        if options.digest:
            code, more = _digest(found, bits.published_bits())
        if options.table and not options.json:
            print(bits.as_text(found))
            return code
        if options.table:
            more["table"] = {row.method: row.digits for row in found}
    if options.json:
        as_json(about | more)
        return code
    sets = ", ".join(map(str, about["instruction_sets"]))
    told = {name: about[name] for name in ("version", "arithmetic", "compiler")}
    told |= {
        "instruction set": f"{about['instruction_set']} (of {sets})",
        "built for": ", ".join(about["built"]),
        "cores": about["cores"],
    }
    if options.digest:
        told["bits"] = f"{more['bits']}, of {more['runs']:,} runs of {more['methods']} methods"
        told["published"] = (
            f"NOT the published bits: {', '.join(more['others'])}"
            if more["others"]
            else "these are the published bits"
        )
        if more["unpublished"]:
            told["unpublished"] = ", ".join(more["unpublished"])
    facts(told)
    return code


def _digest(found, published):
    """The bits of all methods, and whether they are the published ones."""
    from ..method import bits

    unknown = [row.method for row in found if row.method not in published]
    others = [row.method for row in found if published.get(row.method, row.digits) != row.digits]
    return int(bool(others)), {
        "bits": bits.all_bits(found),
        "runs": sum(row.runs for row in found),
        "methods": len(found),
        "published": not others,
        "others": others,
        "unpublished": unknown,
    }
