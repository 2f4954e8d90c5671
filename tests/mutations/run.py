"""Small bugs put into the product one at a time: do the tests notice them?

python tests/mutations/run.py [WORD ...] [--jobs N] [--again]

Each table in tests/mutations/*.toml is a list of mutations: in `file` the text `find`, which occurs
once there, becomes `replace`, and one of `tests` must fail ("--all": also of those marked long);
`why` says what is wrong then. WORDs choose those whose file or reason has one of them. The tree is
copied to build/mutations, once for each job, and the core is built there with rolled loops for one
instruction set, which stands in for the others. A mutation of C compiles again only what includes
its file (kernels of single precision only if `single = true`). A test that fails must pass without
the mutation. Answers are kept in build/mutations/results.txt as they come, and found there by the
next call, until the product, the mutation or its tests change; --again forgets them. Exit status 1:
something went unnoticed.
"""

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from queue import Queue

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "mutations"
RESULTS = BUILD / "results.txt"
SECONDS = 240  # for the tests of one mutation: then it hangs, which is noticed
NOT_COPIED = ".git", ".venv*", "build", "dist", "*.so", "*.egg-info", "__pycache__", ".*_cache"

X86 = platform.machine().lower() in ("x86_64", "amd64")
SETS = ("baseline", "avx2", "avx512") if X86 else ("baseline",)


@cache
def built_set():
    """The instruction set that is compiled: one with an fma."""
    has = X86 and " avx2 " in Path("/proc/cpuinfo").read_text()
    return "avx2" if has else "baseline"


# ---- the core -----------------------------------------------------------------------------------
FLAGS = [
    *("-O1", "-g0", "-fPIC", "-DPI_ROLLED", "-ffp-contract=off", "-fno-math-errno", "-w"),
    *("-fno-tree-vectorize", "-fvisibility=hidden", "-std=gnu11", "-Wno-psabi"),
]


def compiler():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    python = sysconfig.get_path("include")
    return [os.environ.get("CC", "cc"), *FLAGS, f"-I{python}", f'-DPYINTEGRATE_VERSION="{version}"']


def sources():
    """The slowest first."""
    files = [path.relative_to(ROOT) for path in sorted((ROOT / "csrc").rglob("*.c"))]
    files = [file for file in files if file.parent.name != "isa" or built_set() in file.name]
    return sorted(files, key=lambda file: file.parent.name != "isa")


def object_of(source, folder):
    return folder / ("_".join(source.parts) + ".o")


def compile_one(source, tree, folder):
    made = object_of(source, folder)
    command = [*compiler(), "-MMD", "-MF", made.with_suffix(".d"), "-c", source, "-o", made]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if done.returncode:
        raise SyntaxError(done.stderr)
    return made


def needs(source):
    """The files that it includes, itself too."""
    words = object_of(source, BUILD / "objects").with_suffix(".d").read_text().split()
    return {os.path.normpath(word) for word in words if word.startswith("csrc")}


def is_old(source):
    made = object_of(source, BUILD / "objects")
    if not made.exists():
        return True
    files = [ROOT / file for file in needs(source)]
    return any(not f.exists() or f.stat().st_mtime > made.stat().st_mtime for f in files)


def link(objects, library):
    others = [
        f"-Wl,--defsym=pi_{name}_{real}=pi_{built_set()}_{real}"
        for name in SETS
        for real in ("f64", "f32")
        if name != built_set()
    ]
    library.unlink(missing_ok=True)  # another process may have the former one in its memory
    cc = os.environ.get("CC", "cc")
    subprocess.run([cc, "-shared", *others, *objects, "-lm", "-o", library], check=True)


def build(jobs):
    """The objects without any mutation, kept from call to call."""
    folder = BUILD / "objects"
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        old = [source for source in sources() if is_old(source)]
        list(pool.map(lambda source: compile_one(source, ROOT, folder), old))
    link([object_of(source, folder) for source in sources()], BUILD / "_core.abi3.so")


def build_mutated(mutation, tree):
    """Compiles what includes the mutated file; the rest is as it was."""
    folder = tree / "build"
    objects = []
    for source in sources():
        left_out = source.name.endswith("_f32.c") and not mutation.get("single")
        if mutation["file"] in needs(source) and not left_out:
            objects.append(compile_one(source, tree, folder))
        else:
            objects.append(object_of(source, BUILD / "objects"))
    link(objects, tree / "pyintegrate" / "_core.abi3.so")


# ---- a tree -------------------------------------------------------------------------------------
def make_tree(number):
    tree = BUILD / f"tree{number}"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (tree / "build").mkdir()
    take_core(tree)
    return tree


def take_core(tree):
    library = tree / "pyintegrate" / "_core.abi3.so"
    library.unlink(missing_ok=True)
    shutil.copy(BUILD / "_core.abi3.so", library)


def write(tree, file, text):
    """A file of the tree, and no compiled form of what it was."""
    path = tree / file
    path.write_text(text)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def run_tests(tree, tests):
    """The exit status of pytest (None: it took too long) and the first test that failed."""
    shutil.rmtree(tree / "cache", ignore_errors=True)  # of compiled systems
    own = {"PYTHONPATH": str(tree), "XDG_CACHE_HOME": str(tree / "cache"), "MPLBACKEND": "agg"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    options = {"cwd": tree, "env": os.environ | own, "start_new_session": True}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **options, **pipes) as process:
        try:
            said, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return None, ""
    failed = [line.split(" - ")[0].split(maxsplit=1)[1] for line in said.splitlines()
              if line.startswith(("FAILED ", "ERROR "))]  # fmt: skip
    (tree / "build" / "said.txt").write_text(said)
    return process.returncode, failed[0] if failed else ""


# ---- one mutation -------------------------------------------------------------------------------
def try_mutation(mutation, tree):
    """noticed, unnoticed or broken; and by which test, or why."""
    text = (ROOT / mutation["file"]).read_text()
    try:
        write(tree, mutation["file"], text.replace(mutation["find"], mutation["replace"]))
        if mutation["file"].startswith("csrc/"):
            build_mutated(mutation, tree)
        status, failed = run_tests(tree, mutation["tests"])
    except SyntaxError as error:
        return "broken", str(error)
    finally:
        write(tree, mutation["file"], text)
        take_core(tree)
    if status == 0:
        return "unnoticed", ""
    if status is not None and status > 2:
        said = (tree / "build" / "said.txt").read_text().strip().splitlines()
        return "broken", f"pytest gave {status}: {said[-1] if said else ''}"
    options = [test for test in mutation["tests"] if test.startswith("--")]
    again, _ = run_tests(tree, [failed, *options] if failed else mutation["tests"])
    if again:
        return "broken", f"{failed or mutation['tests']} fails without it too"
    how = failed or ("a hang" if status is None else f"signal {-status}")
    return "noticed", how


# ---- the list -----------------------------------------------------------------------------------
def read_list():
    mutations = []
    for table in sorted(HERE.glob("*.toml")):
        mutations += tomllib.loads(table.read_text())["mutation"]
    wrong = []
    for mutation in mutations:
        path = ROOT / mutation["file"]
        text = path.read_text() if path.exists() else ""
        found = text.count(mutation["find"])
        if found != 1:
            wrong.append(f"{mutation['file']}: {found} times, not once: {mutation['find']}")
        elif path.suffix == ".py":
            compile(text.replace(mutation["find"], mutation["replace"]), path, "exec")
        wrong += [
            f"there is no {test}"
            for test in mutation["tests"]
            if not test.startswith("--") and not (ROOT / test.split("::")[0]).exists()
        ]
    if wrong:
        raise SystemExit("\n".join(wrong))
    return mutations


@cache
def product():
    """A hash of all that mutations may be put in."""
    told = hashlib.sha256()
    for folder in ("csrc", "pyintegrate"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in (".c", ".h", ".py", ".js", ".txt"):
                told.update(path.read_bytes())
    return told.digest()


def key(mutation):
    told = hashlib.sha256(product() + repr(sorted(mutation.items())).encode())
    for test in mutation["tests"]:
        path = ROOT / test.split("::")[0]
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        for file in files:
            told.update(file.read_bytes())
    return told.hexdigest()[:12]


def known_results():
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {line.split("\t")[0]: line for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--again", action="store_true")
    asked = parser.parse_args()
    begun = time.monotonic()
    mutations = [
        m for m in read_list()
        if not asked.words or any(w in m["file"] + ": " + m["why"] for w in asked.words)
    ]  # fmt: skip
    BUILD.mkdir(parents=True, exist_ok=True)
    if asked.again:
        RESULTS.unlink(missing_ok=True)
    known = known_results()
    for mutation in mutations:
        mutation["key"] = key(mutation)
    todo = [m for m in mutations if known.get(m["key"], "\tbroken").split("\t")[1] == "broken"]
    print(f"{len(mutations)} mutations, {len(mutations) - len(todo)} of them known", flush=True)
    trees = Queue()
    if todo:
        build(asked.jobs)
        for number in range(asked.jobs):
            trees.put(make_tree(number))

    def one(mutation):
        tree, since = trees.get(), time.monotonic()
        try:
            verdict, by = try_mutation(mutation, tree)
        finally:
            trees.put(tree)
        seconds = f"{time.monotonic() - since:.0f}"
        told = (mutation["key"], verdict, seconds, mutation["file"], mutation["why"], by)
        line = "\t".join(" ".join(word.split()) for word in told)
        with RESULTS.open("a") as file:
            file.write(line + "\n")
        print(f"{verdict:9} {seconds:>4} s  {mutation['file']}: {mutation['why']}"
              f"  [{by.splitlines()[0] if by else ''}]", flush=True)  # fmt: skip

    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(one, todo))
    known = known_results()
    lines = [known[m["key"]].split("\t") for m in mutations]
    missed = [line for line in lines if line[1] != "noticed"]
    print(f"{len(lines) - len(missed)} of {len(lines)} noticed,"
          f" {(time.monotonic() - begun) / 60:.0f} minutes")  # fmt: skip
    for _, verdict, _, file, why, by in missed:
        print(f"{verdict}: {file}: {why}  {by}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
