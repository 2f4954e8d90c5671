"""This machine has the published bits, and one that had not would hear of it."""

import json
import re

import pytest
from places import ROOT

import pyintegrate as pi
from pyintegrate import _core
from pyintegrate.__main__ import main
from pyintegrate.method import bits


@pytest.fixture(scope="module", name="found")
def _found():
    return bits.method_bits()


def test_this_machine_has_the_published_bits(found):
    published = bits.PUBLISHED.read_text()
    assert bits.as_text(found) + "\n" == published, "on purpose? then: make bits"


def test_every_method_is_in_many_runs(found):
    assert [row.method for row in found] == _core.method_names
    for row in found:
        assert row.runs >= (
            2 if pi.methods[row.method].requires in ("rigid_body", "n_body") else 50
        ), row


def test_the_readme_prints_the_number(found):
    assert f"`{bits.all_bits(found)}`" in (ROOT / "README.md").read_text()


def told(monkeypatch, capsys, rows, *words):
    monkeypatch.setattr(bits, "method_bits", lambda: rows)
    code = main(["info", "--digest", *words])
    return code, capsys.readouterr().out


def test_info_says_that_the_bits_are_those(found, monkeypatch, capsys):
    code, out = told(monkeypatch, capsys, found)
    assert code == 0
    assert bits.all_bits(found) in out
    assert "these are the published bits" in out


def test_info_names_the_method_that_has_others(found, monkeypatch, capsys):
    bent = [row._replace(digits="0" * 16) if row.method == "rk4" else row for row in found]
    assert bits.all_bits(bent) != bits.all_bits(found)
    code, out = told(monkeypatch, capsys, bent)
    assert code == 1
    assert re.search(r"NOT the published bits: rk4$", out, re.MULTILINE)


def test_a_method_that_is_new_is_no_difference(found, monkeypatch, capsys):
    code, out = told(monkeypatch, capsys, [*found, bits.Bits("made_up", 3, "1" * 16)])
    assert code == 0
    assert "made_up" in out.split("unpublished")[1]


def test_the_table_is_what_is_published(found, monkeypatch, capsys):
    code, out = told(monkeypatch, capsys, found, "--table")
    assert (code, out) == (0, bits.PUBLISHED.read_text())
    bent = [row._replace(digits="0" * 16) if row.method == "rk4" else row for row in found]
    code, out = told(monkeypatch, capsys, bent, "--table")  # compared, too: "--digest" is given
    assert (code, out.count("0" * 16)) == (1, 1)


def test_the_table_is_json_where_that_is_asked(found, monkeypatch, capsys):
    """It was text, which no script could read."""
    code, out = told(monkeypatch, capsys, found, "--table", "--json")
    assert code == 0
    assert json.loads(out)["table"]["rk4"] == bits.published_bits()["rk4"]
