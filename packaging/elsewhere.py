"""The tests run by a Python of another platform: a folder at a time, each for a limited time.

What the tests import is fetched as wheels of that platform by this machine's pip.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LATE = 600  # seconds of one test
MOST_DEATHS = 60  # of the interpreter, in one folder
# The other folders: pages, notebooks, builds, browsers, and what runs for a given time.
FOLDERS = (
    "values", "system", "watching", "user_system", "tangents", "run", "core", "method", "solution",
    "adaptive", "analysis", "plots",
)  # fmt: skip
EXTRAS = ("plot", "cli", "progress", "xarray", "pandas", "io", "dask", "lab")
TOOLS = ["distributed", "pytest>=8", "pytest-timeout", "hypothesis", "mpmath", "scipy", "cffi"]


def install(site, version, platforms, *pins):
    """The package's dependencies and the tests' for that Python, into a folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [name for extra in EXTRAS for name in project["optional-dependencies"][extra]]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    tags = [word for platform in platforms for word in ("--platform", platform)]
    names = [*project["dependencies"], *extras, *TOOLS, *pins]
    where = ["--target", site, "--python-version", version, "--only-binary", ":all:"]
    subprocess.run([*pip, *where, *tags, *names], check=True)


def run_folder(folder, python, build, given, seconds):
    """The tests of a folder, until `seconds` of the processor are used: whether none failed.

    python: the command; build: for the log and the state; given: the environment.
    """
    state, log = build / f"{folder}.json", build / f"{folder}.log"
    state.unlink(missing_ok=True)
    given = {**given, "SAMPLE_SECONDS": seconds, "SAMPLE_STATE": str(state)}
    command = [
        *python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "sampling",
        "--continue-on-collection-errors", f"--timeout={LATE}",
        "-c", ROOT / "pyproject.toml", "--rootdir", ROOT, ROOT / "tests" / folder,
    ]  # fmt: skip
    found = {}
    with log.open("wb") as output:
        while not found.get("ended") and len(found.get("died", ())) < MOST_DEATHS:
            before = found
            # Through a pipe: Wine's Python cannot write to a file that it inherits.
            told = subprocess.run(command, cwd=build, env=given, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
            output.write(told.stdout)
            found = json.loads(state.read_text()) if state.exists() else {}
            if found == before:
                break
    n = found.get("counts", {})
    kinds = {kind: n.get(kind, 0) for kind in ("passed", "failed", "skipped", "late")}
    kinds["died"] = len(found.get("died", ()))
    became = ", ".join(f"{number} {kind}" for kind, number in kinds.items() if number)
    print(f"{folder}: {sum(kinds.values())} of {n.get('collected', 0)} run: {became}", flush=True)
    told = [f"failed: {test}" for test in found.get("failures", ())]
    told += [f"died: {test}" for test in found.get("died", ())]
    print("".join(f"  {line}\n" for line in told), end="", flush=True)
    if not found.get("ended"):
        print(f"  pytest did not end: {log}", flush=True)
    return bool(found.get("ended")) and not n.get("failed")
