"""Files of solutions, damaged and forged at random: for files.py."""

import contextlib
import copy
import io
import json
import os
import shutil
import struct
import warnings
import zipfile
import zlib

import numpy as np

from pyintegrate.solution import files

NUMBERS = [0, 1, -1, 2, 5, 77, 2**31, 2**53, 2**63, 10**30, 1.5, -0.0, 1e308, float("inf"),
           float("nan")]  # fmt: skip
VALUES = [*NUMBERS, None, True, False, "", "x", "final", "float32", "../../a", "1/0", "0x1p99999",
          "1e999999999", [], {}, [[]], {"array": "y"}, {"array": "t"}, {"fraction": "1/0"},
          {"fraction": "1e99999999"}, {"bytes": "00"}, {"tuple": []}, {"dict": {}},
          {"make": "method", "args": ["rk4"]}, {"make": "method", "args": ["gauss4"]},
          {"make": "system", "args": ["lorenz", {"dict": {}}]},
          {"make": "system", "args": ["n_body", {"dict": {"n": 2000}}]},
          {"make": "os.system", "args": ["touch executed"]}]  # fmt: skip


def place(rng, value):
    """A container inside, and a key: as often a field as something deep in one."""
    while True:
        key = rng.choice([*value] if isinstance(value, dict) else range(len(value)))
        item = value[key]
        if not (isinstance(item, dict | list) and item) or rng.random() < 0.3:
            return value, key
        value = item


def bend_json(rng, text):
    """One to three values exchanged, removed, doubled or nested."""
    value = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        if not value:
            break
        inside, key = place(rng, value)
        old, how = inside[key], rng.random()
        if how < 0.35 and isinstance(old, int | float) and not isinstance(old, bool):
            inside[key] = rng.choice([*NUMBERS, old + 1, old - 1, -old, old * 2])
        elif how < 0.45 and isinstance(old, str):
            at = rng.randint(0, len(old))
            inside[key] = old[:at] + rng.choice(["", "x", "\0", "é", "/", old]) + old[at + 1 :]
        elif how < 0.55:
            del inside[key]
        elif how < 0.65:
            item, other = place(rng, value)
            inside[key] = copy.deepcopy(item[other])
        elif how < 0.7:
            for _ in range(rng.choice([1, 50, 400])):
                inside[key] = rng.choice([[inside[key]], {"tuple": [inside[key]]}])
        elif how < 0.75 and isinstance(old, list):
            inside[key] = old * rng.choice([2, 100])
        else:
            inside[key] = copy.deepcopy(rng.choice(VALUES))
    return value


def bend_array(rng, array):
    """Another array in the place of one."""
    how = rng.random()
    array = np.array(array)
    if how < 0.3 and array.size:
        flat, number = array.reshape(-1), rng.choice(NUMBERS)
        with (
            np.errstate(all="ignore"),
            warnings.catch_warnings(),
            contextlib.suppress(OverflowError, ValueError),
        ):
            warnings.simplefilter("ignore")
            flat[rng.randrange(array.size)] = number
        return array
    if how < 0.5:
        return array.astype(rng.choice(["f4", "f8", "i8", "i1", "?", "u2", ">f8", "f2"]))
    if how < 0.7:
        return rng.choice(
            [array[:-1] if array.ndim else array, array[None], array.reshape(-1), array.T]
        )
    if how < 0.8:
        return np.resize(array, [rng.randint(0, 9) for _ in range(rng.randint(0, 4))])
    return rng.choice([np.zeros(0), np.array(1.0), np.zeros((3, 0, 5)), np.arange(1000)])


def bend_bytes(rng, content):
    """Bits flipped, parts cut out, doubled, zeroed, or numbers set to their ends."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if not content:
            break
        a = rng.randrange(len(content))
        b = min(len(content), a + rng.choice([1, 2, 4, 8, 40, 4000]))
        how = rng.random()
        if how < 0.4:
            content[a] ^= 1 << rng.randrange(8)
        elif how < 0.6:
            content[a:b] = rng.choice([b"\0", b"\xff", b"\x7f", b"9"]) * (b - a)
        elif how < 0.75:
            del content[a:b]
        elif how < 0.9:
            content[a:a] = content[a:b]
        else:
            at = rng.randrange(len(content))
            content[at : at + b - a] = content[a:b]
    return bytes(content)


def forge_npz(rng, members):
    """Wrong members with right checksums, in an archive by another writer."""
    members = list(members)
    k = rng.randrange(len(members))
    name, content = members[k]
    how = rng.random()
    if how < 0.5:
        head = rng.random() < 0.7
        cut = 10 + int.from_bytes(content[8:10], "little") if head else len(content)
        content = bend_bytes(rng, content[:cut]) + content[cut:]
    elif how < 0.6:
        name = rng.choice(["../a.npy", "/a.npy", "y.npy", "y", "\0.npy", "é.npy", "x" * 5000])
    elif how < 0.7:
        members.append(members[rng.randrange(len(members))])
    elif how < 0.8:
        members += [(f"more{i}.npy", content) for i in range(rng.choice([1, 500]))]
    else:
        out = io.BytesIO()
        np.save(
            out,
            rng.choice([np.array([None]), np.array(["a"]), np.zeros(3, "f8,i2")]),
            allow_pickle=True,
        )
        content = out.getvalue()
    members[k] = name, content
    return deflated(members) if rng.random() < 0.2 else archived(members)


def deflated(members):
    """The bytes of an archive of (name, content), packed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def archived(members):
    """The same, stored: zipfile takes twenty times as long."""
    entries, table, at = [], [], 0
    for name, content in members:
        raw, size = name.encode(), len(content)
        numbers = 20, 0x800, 0, 0, 0x21, zlib.crc32(content), size, size, len(raw), 0
        entries += struct.pack("<4s5H3I2H", b"PK\3\4", *numbers), raw, content
        table += struct.pack("<4sH5H3I5H2I", b"PK\1\2", 20, *numbers, 0, 0, 0, 0, at), raw
        at += 30 + len(raw) + size
    n, size = len(members), sum(map(len, table))
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, n, n, size, at, 0)
    return b"".join([*entries, *table, end])


def as_npy(array):
    """The bytes of an array in a file."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def forge_zarr(rng, path):
    """A file of the folder bent, emptied, linked, exchanged or gone; metadata as JSON."""
    inside = sorted(p for p in path.rglob("*") if p.is_file())
    part = rng.choice(inside)
    how = rng.random()
    if how < 0.5 and part.name == "zarr.json":
        part.write_text(json.dumps(bend_json(rng, part.read_text())))
    elif how < 0.7:
        part.write_bytes(bend_bytes(rng, part.read_bytes()))
    elif how < 0.8:
        part.write_bytes(rng.choice(inside).read_bytes())
    elif how < 0.85:
        part.unlink()
    elif how < 0.9:
        part.unlink()
        part.symlink_to(rng.choice(["/dev/zero", "/etc/passwd", "loop", part.name]))
    elif how < 0.95:
        part.unlink()
        os.mkfifo(part)
    else:
        part.write_bytes(b"")


class Source:
    """A whole file, read once: its bytes, and its parts."""

    def __init__(self, path):
        self.path, self.kind = path, path.suffix[1:]
        self.header, arrays = files.read(path)
        self.text = json.dumps(self.header)
        self.arrays = {name: np.array(array) for name, array in dict(arrays).items()}
        if self.kind == "npz":
            self.content = path.read_bytes()
            with zipfile.ZipFile(path) as archive:
                self.members = [(info.filename, archive.read(info)) for info in archive.infolist()]

    def write(self, path, header, arrays):
        """With other parts."""
        if self.kind == "zarr":
            files.write(path, header, arrays)
            return
        old = {} if header is self.header else {"header": as_npy(np.array(json.dumps(header)))}
        members = []
        for name, content in self.members:
            name, _, _ = name.rpartition(".")
            if name == "header":
                members.append((f"{name}.npy", old.get(name, content)))
            elif name in arrays:
                same = arrays[name] is self.arrays[name]
                members.append((f"{name}.npy", content if same else as_npy(arrays[name])))
        path.write_bytes(archived(members))


def change(rng, source, path):
    """Write a changed copy of a file; what was done."""
    how = rng.choice(["header", "header", "header", "arrays", "bytes", "forged"])
    if source.kind == "zarr" and how == "bytes":
        how = "forged"
    if how in ("header", "arrays"):
        header, arrays = source.header, dict(source.arrays)
        if how == "header":
            header = bend_json(rng, source.text)
        for _ in range(rng.randint(1, 2) * (how == "arrays")):
            name = rng.choice(sorted(arrays))
            if rng.random() < 0.1:
                del arrays[name]
            else:
                arrays[name] = bend_array(rng, arrays[name])
        source.write(path, header, arrays)
    elif source.kind == "npz":
        content, members = source.content, source.members
        path.write_bytes(bend_bytes(rng, content) if how == "bytes" else forge_npz(rng, members))
    else:
        shutil.copytree(source.path, path)
        forge_zarr(rng, path)
    return how
