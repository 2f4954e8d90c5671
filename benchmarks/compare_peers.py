"""pyintegrate beside every peer that is installed, on the same work: one table.

    python benchmarks/compare_peers.py [--rounds 5] [--write] [NAME ...]

Everything runs in one process on one core, in turn, and the best round counts; the final states
are compared. ``--write`` makes docs/performance.md and its picture; names choose workloads.
"""

import argparse
import os
import platform
import subprocess
import time
from pathlib import Path

import numpy as np

# Before anything starts threads: one core for all.
CORES = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, CORES[:1])

from peers import installed, ours  # noqa: E402
from peers.page import KIND, replace_section  # noqa: E402
from peers.workload import WORKLOADS  # noqa: E402

from pyintegrate import _core  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT, BUILD = HERE.parent, HERE.parent / "build" / "bench"
TARGETS = {
    "avx512": ["-mavx512f", "-mfma", "-mprefer-vector-width=512", "-DVECTOR_BYTES=64"],
    "avx2": ["-mavx2", "-mfma", "-DVECTOR_BYTES=32"],
}
PATIENCE = 5.0  # seconds for all rounds of one peer on one workload


def seconds(function, repeat):
    start = time.perf_counter()
    for _ in range(repeat):
        function()
    return (time.perf_counter() - start) / repeat


def last(found):
    """The final state, (dim, n), of whatever a peer returns; None where it returns none."""
    if isinstance(found, tuple):  # of each component every state
        return np.stack([np.asarray(part)[-1] for part in found])
    found = None if found is None else np.asarray(found)
    return found if found is None or found.ndim < 3 else found[-1]


def difference(workload, found, expected):
    """From our final state, beyond what another order of operations may change; else None."""
    if found is None or expected is None:
        return None
    tolerance = 1e-6 if workload.step.startswith("Lorenz") else 1e-9  # the first is chaotic
    worst = np.abs(found - expected).max()
    return worst if worst > tolerance * np.abs(expected).max() else None


def ready(workload, prepare):
    """A peer's function of no arguments that does the work once; None where it cannot."""
    function = prepare(workload)
    if function is None or workload.kind in ("final", "calls"):
        return function
    shape = (workload.steps + 1, len(workload.start), workload.n)
    if workload.kind == "record":
        return lambda: function(np.empty(shape))
    out = np.zeros(shape)
    return lambda: function(out)


def measure(workload, peers, rounds):
    """Best seconds and first call of each that can do the work, by name."""
    runs, first, best, expected = {}, {}, {}, None
    for peer in (ours, *peers):
        function = ready(workload, peer.prepare)
        if function is None:
            continue
        start = time.perf_counter()
        found = function()
        first[peer.NAME] = time.perf_counter() - start
        if workload.kind != "calls":
            found = last(found)
            if peer is ours:
                expected = found
            elif found is not None:
                found = workload.with_velocities(found.reshape(expected.shape), -0.5)
            wrong = difference(workload, found, expected)
            if wrong is not None:
                raise SystemExit(f"{peer.NAME} differs on {workload.name} by {wrong:.1e}")
        runs[peer.NAME] = function
    repeat = 2000 if workload.kind == "calls" else 1
    spent = dict.fromkeys(runs, 0.0)
    for _ in range(rounds):
        for name, function in runs.items():
            if spent[name] > PATIENCE:
                continue
            took = seconds(function, repeat)
            spent[name] += took * repeat
            share = getattr(function, "share", 1.0)
            best[name] = min(best.get(name, np.inf), took / share)
    return best, first


def limits():
    """Of this core, in operations (bytes) a second: multiply-adds, roots, filling memory."""
    BUILD.mkdir(parents=True, exist_ok=True)
    isa, program = _core.info()["instruction_set"], BUILD / "limits"
    target = TARGETS.get(isa, ["-DVECTOR_BYTES=16"])
    command = ["cc", "-O3", "-fno-math-errno", "-ffp-contract=fast", *target, "-lm"]
    subprocess.run([*command, str(HERE / "limits.c"), "-o", str(program), "-lm"], check=True)
    text = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    found = {line.split()[0]: float(line.split()[1]) * 1e9 for line in text.splitlines()}
    items = 10_000 * 1001 * 2
    memory = np.zeros(items)
    for name, fill in (("fresh", lambda: np.full(items, 1.0)), ("touched", lambda: memory.fill(1))):
        found[name] = items * 8 / min(seconds(fill, 1) for _ in range(9))
    return found


def share_of_limit(workload, took, limit):
    """How much of what the machine can do: of its arithmetic, or of its memory."""
    rate = workload.n * workload.steps / took
    if workload.multiplies or workload.roots:
        name, each = ("multiply-adds", workload.multiplies) if workload.multiplies else (
            "roots", workload.roots)  # fmt: skip
        return f"{rate * each / limit[name]:.2f} {name}"
    if workload.kind in ("record", "touched"):
        filled = workload.n * (workload.steps + 1) * len(workload.start) * 8 / took
        return f"{filled / limit['fresh' if workload.kind == 'record' else 'touched']:.2f} fill"
    return "-"


def limit_note(limit):
    """What the last column of the table compares with."""
    arithmetic, roots = limit["multiply-adds"] / 1e9, limit["roots"] / 1e9
    return (
        '"Of the limit": the share of what one core can do at most, measured in the same run:'
        f" {arithmetic:.1f} G multiply-adds and {roots:.2f} G square roots with a division each a"
        f" second; filling as much memory as W6 keeps {limit['touched'] / 1e9:.1f} GB/s where it"
        f" was in use, {limit['fresh'] / 1e9:.1f} GB/s where it is fresh (np.full)."
    )


def cell(workload, took):
    """A time as the table shows it: rates, bandwidth, or time a step or a call."""
    if workload.kind == "calls":
        return took * 1e9
    if workload.kind in ("record", "touched"):
        return workload.n * (workload.steps + 1) * len(workload.start) * 8 / took / 1e9
    if workload.n == 1:
        return took / workload.steps * 1e9
    return workload.n * workload.steps / took / 1e6


def unit(workload):
    if workload.kind == "calls":
        return "ns a call"
    if workload.kind in ("record", "touched"):
        return "GB/s"
    return "ns a step" if workload.n == 1 else "M steps/s"


def number(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def two_threads(workload):
    """How much faster two workers are, each on a core of its own."""
    if workload.kind != "final" or workload.n == 1 or len(CORES) < 2:
        return None
    os.sched_setaffinity(0, CORES)
    runs = ours.prepare(workload), ours.prepare(workload, workers=2)
    best = [np.inf, np.inf]
    for _ in range(9):  # in turn
        best = [min(took, seconds(run, 1)) for took, run in zip(best, runs, strict=True)]
    os.sched_setaffinity(0, CORES[:1])
    return best[0] / best[1]


def threads(names):
    """A note on the gain by two workers, for each workload that is large enough."""
    gains = {w.name: two_threads(w) for w in chosen(names)}
    found = ", ".join(f"{name} {gain:.2f}" for name, gain in gains.items() if gain)
    return f"Two workers on two cores, in the place of one: {found or 'not measured'}."


def chosen(names):
    return [w for w in WORKLOADS if not names or w.name.split(",")[0].split()[0] in names]


def table(rounds, names, limit):
    peers = installed()
    columns = [ours.NAME, *(peer.NAME for peer in peers)]
    heads = ["workload", "N", "steps", "unit", *columns, "best peer", "of the limit"]
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    compile_times: dict[str, float] = {}
    print(lines[0])
    for workload in chosen(names):
        best, first = measure(workload, peers, rounds)
        for name, took in first.items():
            compile_times[name] = max(compile_times.get(name, 0), took - best[name])
        others = {name: took for name, took in best.items() if name != ours.NAME}
        ratio = f"{min(others.values()) / best[ours.NAME]:.2f}" if others else "-"
        cells = [number(cell(workload, best[name])) if name in best else "-" for name in columns]
        lines.append(
            f"| {workload.name}: {workload.step} | {workload.n:.0e} | {workload.steps} |"
            f" {unit(workload)} | {' | '.join(cells)} | {ratio} |"
            f" {share_of_limit(workload, best[ours.NAME], limit)} |"
        )
        print(lines[-1], flush=True)
    return lines, compile_times


def scaling():
    """Nanoseconds a trajectory-step of the pendulum by semi-implicit Euler, from 1 to 1e7."""
    from peers.workload import Workload

    sizes = [10**i for i in range(8)]
    found: dict[str, list[float]] = {}
    everybody = [(ours.NAME, ours.prepare)] + [
        (peer.NAME, peer.prepare) for peer in installed() if "SciPy" not in peer.NAME
    ]
    if len(CORES) > 1:
        everybody.append((f"{ours.NAME}, 2 workers", lambda w: ours.prepare(w, workers=2)))
    for n in sizes:
        steps = 1000 if n <= 100_000 else 100
        workload = Workload("", "pendulum, semi-implicit Euler", n, steps, (1.0, 0.0), (5.0, 20.0))
        for name, prepare in everybody:
            os.sched_setaffinity(0, CORES if "workers" in name else CORES[:1])
            # The slow would take minutes for the largest batch.
            run = prepare(workload) if n <= 10**6 or ours.NAME in name else None
            if run is None:
                found.setdefault(name, []).append(np.nan)
                continue
            run()
            took = min(seconds(run, 1) for _ in range(5 if n <= 10**5 else 3))
            found.setdefault(name, []).append(took / (n * steps) * 1e9)
    os.sched_setaffinity(0, CORES[:1])
    return sizes, found


def draw(sizes, found, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    ax = figure.add_subplot()
    for name, times in found.items():
        if np.all(np.isnan(times)):
            continue
        mine = name.startswith(ours.NAME)
        ax.loglog(sizes, times, marker="o", ms=4, lw=2.2 if mine else 1.2, label=name,
                  ls="--" if "workers" in name else "-")  # fmt: skip
    ax.set(xlabel="trajectories", ylabel="time per trajectory and step [ns]",
           title="pendulum, semi-implicit Euler, float64, final state")  # fmt: skip
    ax.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    limit = limits()
    lines, compile_times = table(options.rounds, options.names, limit)
    notes = [
        limit_note(limit),
        "First call beyond the others (compilation, seconds): "
        + ", ".join(f"{name} {took:.2f}" for name, took in compile_times.items())
        + ".",
        threads(options.names),
    ]
    print("\n".join(notes))
    if not options.write:
        return
    draw(*scaling(), ROOT / "docs" / "performance.png")
    write(lines, notes, options.rounds)


def write(lines, notes, rounds):
    """The section of this instruction set."""
    text = f"""## On {KIND}

{time.strftime("%Y-%m-%d")}, {platform.machine()}, {_core.info()["compiler"]}, NumPy \
{np.__version__}, the best of {rounds} rounds.

{chr(10).join(lines)}

{chr(10).join("* " + note for note in notes)}"""
    replace_section("", text, "\n## Noise\n")


if __name__ == "__main__":
    main()
