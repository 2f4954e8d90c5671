"""Where things are, however deep the folder of the test that asks."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
