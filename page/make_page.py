"""Make the page of the lab: one file that needs no server and no network.

``python page/make_page.py lab.wasm index.html`` joins the front end, the engine, what the page
knows of systems and methods, the digest of the native core, and the core as WebAssembly.
"""

import base64
import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.laboratory import front_end
from pyintegrate.laboratory.record import (
    LONGEST,
    describe_method,
    describe_system,
    drawable,
    fitting,
    in_bath,
    stability_of,
)

HERE = Path(__file__).parent
DIGEST_STEPS, OFFSET, PRIME = 16, 14695981039346656037, 1099511628211
MOST_OF_SWARM = 3  # components of a motion in the swarm
LANES = 8  # trajectories with noise in the digest
LARGEST_CORE, LARGEST = 1_000_000, 600_000  # bytes of the core as WebAssembly, and of the page
PARTS = {"n_body": 3, "rigid_body": 0}  # bodies, springs: of systems of any size


def about():
    """What the page knows of systems and methods: plain data, and the digest of the bits."""
    systems = {}
    for name, system in drawable().items():
        told = systems[name] = describe_system(system) | {"parts": PARTS.get(name, 0)}
        told["fitting"] = fitting(system, pi.methods.values())
        told["cost"] = {m: cost(system, m) for m in told["fitting"]}
        if system.dim <= MOST_OF_SWARM:
            verlet = "midpoint" if system.velocity_dependent else "position_verlet"
            told["swarm"] = verlet if system.dof else "rk4"  # a force or two a step, or four
        if told["heat"]:
            told["heat"] |= step_in_bath(system)
    used = {method for told in systems.values() for method in told["fitting"]}
    methods = {
        name: describe_method(method) | {"stability": stability_of(method)}
        for name, method in pi.methods.items()
        if name in used
    }
    return {
        "systems": systems,
        "methods": methods,
        "questions": _core.questions,
        "longest": LONGEST,
        "digest": digest(systems),
    }


def step_in_bath(system):
    """The byte code of a step of BAOAB, with a mass for each coordinate: see lab_program."""
    made = in_bath(system, 1.0, 1.0, np.ones(system.dof)).program
    sizes = (*made.sizes, len(made.constants), len(made.code), made.noises, made.second)
    parts = {"sections": made.sections, "code": made.code, "constants": made.constants}
    return {"sizes": sizes} | {name: part.ravel().tolist() for name, part in parts.items()}


def cost(system, method):
    """Force evaluations of one more step: Verlet shares no force that sees the velocity."""
    how = {"dt": 1e-9, "method": method, "save": "final", "on_failure": "ignore"}
    some, more = (pi.integrate(system, n_steps=n, **how).evaluations for n in (10, 11))
    return more - some


def digest(systems):
    """The hash of the last states of all methods on all systems, and in a heat bath: that of
    page/engine.js."""
    value = OFFSET
    for name, told in systems.items():
        system, start = drawable()[name], np.array(told["start"])
        runs = [(system, start, {"method": method}) for method in told["fitting"]]
        if heat := told["heat"]:
            noisy = in_bath(system, heat["friction"], heat["noise"])
            runs.append((noisy, np.tile(start, (LANES, 1)), {"seed": 1}))
        for moving, begin, how in runs:
            sol = pi.integrate(
                moving, begin, dt=told["dt"], n_steps=DIGEST_STEPS, save="final",
                on_failure="ignore", **how,
            )  # fmt: skip
            for byte in np.ascontiguousarray(sol.final.T).tobytes():
                value = (value ^ byte) * PRIME % (1 << 64)
    return f"{value:016x}"


def page(wasm, known):
    """The text of the page."""
    module = front_end.joined()
    for name in ("engine", "plane", "swarm", "page"):
        text = (HERE / f"{name}.js").read_text(encoding="utf-8")
        module += re.sub(r"^import [^;]*;\n", "", text, flags=re.M)
    module = re.sub(r"^export ", "", module, flags=re.M)
    data = json.dumps(known, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    text = (HERE / "page.html").read_text(encoding="utf-8")
    for place, what in (
        ("/* STYLE */", front_end.style()),
        ("/* MODULE */", module),
        ("/* ABOUT */", data),
        ("/* WASM */", base64.b64encode(gzip.compress(wasm, mtime=0)).decode("ascii")),
    ):
        text = text.replace(place, what)
    return text


def main(wasm_path, *page_paths):
    """Write the page to each path; not one that is slow to load."""
    wasm = Path(wasm_path).read_bytes()
    text = page(wasm, about())
    size = len(text.encode())
    for what, found, most in ("core", len(wasm), LARGEST_CORE), ("page", size, LARGEST):
        if found > most:
            raise SystemExit(f"the {what} has {found:,} bytes: {most:,} at most")
    for path in page_paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    print(f"{', '.join(page_paths)}: {size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
