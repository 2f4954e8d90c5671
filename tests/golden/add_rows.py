"""Writes a row of methods.txt for each method that has none: python tests/golden/add_rows.py

Part of `make certificates`. Rows that are there stay as they are: those of the first part were
computed apart from the package. A row from here holds what the package finds: it tells later
changes, and no error that is there already.
"""

from pathlib import Path

import pyintegrate as pi
from pyintegrate.certificate.certificate import certify

TABLE = Path(__file__).resolve().with_name("methods.txt")


def row(method):
    """Name, evaluations, limits on the oscillator and on y' = -y, norm of the principal error."""
    found = certify(method.name, measure=False)
    real = found.real_stability_limit
    limits = f"{found.stability_limit:.12g}", "-" if real is None else f"{real:.12g}"
    return " ".join([method.name, f"{found.evaluations}", *limits, f"{found.error_constant:.12g}"])


def main():
    known = {line.split()[0] for line in TABLE.read_text().splitlines()}
    with TABLE.open("a") as table:
        for method in pi.methods.values():
            if method.requires not in ("rigid_body", "n_body") and method.name not in known:
                table.write(row(method) + "\n")
                print(f"{method.name}: a row in {TABLE.name}", flush=True)


if __name__ == "__main__":
    main()
