"""A plugin of pytest (-p sampling): tests in an order of chance until a time is up, and counts.

SAMPLE_SECONDS is the time for tests, in seconds of the processor, collecting not included;
SAMPLE_COUNTS the file for the counts, written after every test, so that it is there after a crash.
Tests that pytest-timeout ends are counted apart, as late: a slow machine is no failure.
"""

import json
import os
import random
from collections import Counter
from pathlib import Path

SECONDS, FILE = float(os.environ["SAMPLE_SECONDS"]), Path(os.environ["SAMPLE_COUNTS"])
COUNTS: Counter = Counter()
SEED = 1


def used():
    """Seconds of the processor, by this process and by what it started."""
    return sum(os.times()[:4])


def pytest_collection_modifyitems(items):
    random.Random(SEED).shuffle(items)


def pytest_collection_finish(session):
    session.sampled_until = used() + SECONDS
    COUNTS["collected"] = len(session.items)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        late = report.failed and "from pytest-timeout" in str(report.longrepr)
        COUNTS["late" if late else report.outcome] += 1


def pytest_runtest_teardown(item):
    FILE.write_text(json.dumps(COUNTS))
    if used() > item.session.sampled_until:
        item.session.shouldstop = "the time is up"


def pytest_sessionfinish():
    FILE.write_text(json.dumps(COUNTS))
