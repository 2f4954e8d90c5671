"""What must hold before a release, short of an upload: make release-check runs it first.

The tree is clean, the version is that of the changelog, which has a date and no longer says
"unreleased", name and addresses are filled in, the recipe of conda renders to that version, and two
source archives are one to the byte, of which dist keeps one, and nothing of before. The oldest
Python and NumPy are older than SPEC 0 asks: 3.11 of October 2022, 2.0 of June 2024.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def source_archive(folder):
    """The name and the SHA-256 of an sdist made now."""
    command = [sys.executable, "setup.py", "-q", "sdist", "--dist-dir", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (made,) = Path(folder).glob("*.tar.gz")
    return made.name, hashlib.sha256(made.read_bytes()).hexdigest()


def conda_packages():
    """The packages, as name and version, that the recipe of conda renders to, for each platform."""
    import rattler_build

    recipe = rattler_build.Stage0Recipe.from_file(ROOT / "packaging/conda/recipe.yaml")
    for name in ("linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64"):
        platform = rattler_build.PlatformConfig(target_platform=name)
        config = rattler_build.RenderConfig(platform=platform)
        for made in recipe.render(rattler_build.VariantConfig(), config):
            package = made.recipe.package
            yield f"{package.name} {package.version}", name


def wrong():
    """What is wrong, a line each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = project["version"]
    git = ["git", "status", "--porcelain"]
    if changed := subprocess.run(git, cwd=ROOT, capture_output=True, text=True).stdout:
        yield f"the tree is not clean:\n{changed}"
    first = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", first):
        yield f"the changelog begins with {first!r}: expected '{version} (YYYY-MM-DD)'"
    if project["name"] == "pyintegrate":
        yield "pyproject.toml: pyintegrate is another project on PyPI: choose another name"
    recipe = "packaging/conda/recipe.yaml"
    for file in ("pyproject.toml", recipe, "benchmarks/asv.conf.json"):
        if "example.org" in (ROOT / file).read_text():
            yield f"{file}: the addresses of the project are placeholders"
    for package, platform in conda_packages():
        print(f"recipe of conda: {package} for {platform}")
        if package != f"{project['name']} {version}":
            yield f"the recipe of conda is for {package}, expected {project['name']} {version}"
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        archives = {source_archive(folder), source_archive(dist)}
    for name, digest in archives:
        print(f"{name}: sha256 {digest}")
    if len(archives) > 1:
        yield "two source archives of one tree differ"


if __name__ == "__main__":
    found = list(wrong())
    sys.exit("\n".join(found) or None)
