"""Whether a wheel is what its name says: python packaging/check_wheel.py WHEEL ...

Format and architecture of the extension, the libraries that it needs, the oldest system that it
runs on, no name of Python outside of the stable ABI of 3.11, one name of its own, at most 3 MB.
"""

import re
import sys
import zipfile
from pathlib import Path

import lief
from abi3info import DATAS, FUNCTIONS
from abi3info.models import PyVersion, Symbol

MOST_BYTES = 3_000_000
OLDEST = PyVersion(3, 11)
NEEDED = {
    "manylinux": r"(libc|libm|libpthread|libdl)\.so\.\d|ld-linux-(x86-64|aarch64)\.so\.\d",
    "musllinux": r"libc\.so|libm\.so|libc\.musl-x86_64\.so\.1",
    "win": r"python3\.dll|KERNEL32\.dll|ntdll\.dll|api-ms-win-crt-[\w-]+\.dll|ucrtbase\.dll",
    "macosx": r"/usr/lib/libSystem\.B\.dylib|@rpath/_core\.abi3\.so",
}
OF_LINKERS = ("_init", "_fini", "__dso_handle", "_mh_dylib_header")
FILES = (
    "pyintegrate/py.typed", "pyintegrate/_core.pyi", "pyintegrate/csrc.zip",
    "pyintegrate/method/published_bits.txt", "pyintegrate/values/types.pyi",
    "pyintegrate/plots/gallery/figures.toml", "pyintegrate/plots/__init__.pyi",
)  # fmt: skip


class Library:
    """What the check asks of an extension module, whatever its format."""

    def __init__(self, data):
        self.binary = lief.parse(list(data))
        if isinstance(self.binary, lief.MachO.FatBinary):
            self.binary = self.binary.at(0)

    @property
    def machine(self):
        header = self.binary.header
        machine = getattr(header, "machine_type", None) or getattr(header, "cpu_type", None)
        machine = machine or header.machine
        names = {"ARM64": "aarch64", "AARCH64": "aarch64", "X86_64": "x86_64", "AMD64": "x86_64"}
        return f"{type(self.binary).__module__.split('.')[-1]} {names.get(machine.name, machine)}"

    @property
    def needed(self):
        return [getattr(library, "name", library) for library in self.binary.libraries]

    @property
    def imported(self):
        binary = self.binary
        if isinstance(binary, lief.PE.Binary):
            return {entry.name for library in binary.imports for entry in library.entries}
        if isinstance(binary, lief.MachO.Binary):
            return {symbol.name.removeprefix("_") for symbol in binary.imported_symbols}
        return {symbol.name for symbol in binary.dynamic_symbols if symbol.shndx == 0} - {""}

    @property
    def exported(self):
        if isinstance(self.binary, lief.PE.Binary):
            return {entry.name for entry in self.binary.get_export().entries}
        strip = isinstance(self.binary, lief.MachO.Binary)
        names = {function.name for function in self.binary.exported_functions}
        return {name.removeprefix("_") if strip else name for name in names}

    @property
    def oldest(self):
        """The newest version of the C library that it asks for, or the oldest system."""
        binary = self.binary
        if isinstance(binary, lief.MachO.Binary):
            about = binary.build_version or binary.version_min
            return tuple(about.minos if binary.build_version else about.version)[:2]
        if isinstance(binary, lief.ELF.Binary):
            asked = [
                tuple(map(int, re.findall(r"\d+", version.name)))
                for needed in binary.symbols_version_requirement
                for version in needed.get_auxiliary_symbols()
                if version.name.startswith("GLIBC_")
            ]
            return max(asked, default=(0, 0))
        return (0, 0)


def wrong(tag, library, size, files):
    """What is not as the tag says, a line each."""
    system = re.match("[a-z]+", tag)[0]
    kind = {"win": "PE", "macosx": "MachO"}.get(system, "ELF")
    arm = tag.endswith(("arm64", "aarch64"))
    machine = f"{kind} {'aarch64' if arm else 'x86_64'}"
    found = []
    if library.machine != machine:
        found.append(f"it is for {library.machine}, expected {machine}")
    strange = [name for name in library.needed if not re.fullmatch(NEEDED[system], name)]
    if strange:
        found.append(f"it needs {', '.join(strange)}")
    if numbers := re.match(r"[a-z]+_(\d+)_(\d+)_", tag):
        promised = tuple(map(int, numbers.groups()))
        if system in ("manylinux", "macosx") and library.oldest > promised:
            found.append(f"it asks for {system} {library.oldest}, and the tag says {promised}")
    python = {name for name in library.imported if re.match("_?Py", name)}
    stable = {**FUNCTIONS, **DATAS}
    for name in sorted(python):
        about = stable.get(Symbol(name))
        if about is None or about.added > OLDEST:
            found.append(f"{name} is not in the stable ABI of {OLDEST}")
    if not python:
        found.append("it asks Python for nothing")
    others = {name for name in library.exported if name not in OF_LINKERS}
    if others != {"PyInit__core"}:
        found.append(f"it exports {', '.join(sorted(others))}")
    if size > MOST_BYTES:
        found.append(f"{size:,} bytes, at most {MOST_BYTES:,}")
    return found + [f"no {name} in it" for name in FILES if name not in files]


def check(path):
    """Look at a wheel: lines to print. What is wrong is a SystemExit."""
    path = Path(path)
    *_, python, abi, tags = path.stem.split("-")
    with zipfile.ZipFile(path) as wheel:
        files = wheel.namelist()
        (name,) = (n for n in files if n.startswith("pyintegrate/_core.") and n[-1] in "od")
        library = Library(wheel.read(name))
    size = path.stat().st_size
    found = wrong(tags.split(".")[0], library, size, files)
    if (python, abi) != ("cp311", "abi3"):
        found.append("it is no abi3 wheel of 3.11")
    expected = "_core.pyd" if tags.startswith("win") else "_core.abi3.so"
    if name != f"pyintegrate/{expected}":
        found.append(f"its extension is {name}")
    if found:
        raise SystemExit(f"{path.name}: " + "; ".join(found))
    oldest = ".".join(map(str, library.oldest)) if any(library.oldest) else "-"
    return [
        path.name,
        f"  {library.machine}, {size / 1e6:.2f} MB, oldest system {oldest},"
        f" {len(library.imported)} names from {', '.join(library.needed)}",
    ]


if __name__ == "__main__":
    for wheel in sys.argv[1:]:
        print("\n".join(check(wheel)))
