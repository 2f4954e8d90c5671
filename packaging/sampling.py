"""A plugin of pytest (-p sampling): tests in an order of chance until a time is up, and counts.

SAMPLE_SECONDS is the time for tests, in seconds of the processor, collecting not included;
SAMPLE_STATE a file for what has been done, written before and after every test. If the process dies
in a test, another with the same file goes on with the next, and counts that one as died. Tests that
pytest-timeout ends are counted apart, as late: a slow machine is no failure.
"""

import json
import os
import random
from collections import Counter
from pathlib import Path

SECONDS, FILE = float(os.environ["SAMPLE_SECONDS"]), Path(os.environ["SAMPLE_STATE"])
SEED = 1
STATE = json.loads(FILE.read_text()) if FILE.exists() else {}
STATE = {"done": [], "used": 0.0, "died": [], "failures": []} | STATE
COUNTS = Counter(STATE.get("counts", {}))


def used():
    """Seconds of the processor, by this process and by what it started."""
    return sum(os.times()[:4])


def write(**news):
    STATE.update(news, counts=COUNTS)
    FILE.write_text(json.dumps(STATE))


def pytest_collection_modifyitems(items):
    if STATE.get("running"):
        STATE["died"].append(STATE["running"])
        STATE["done"].append(STATE["running"])
    COUNTS["collected"] = len(items)
    random.Random(SEED).shuffle(items)
    done = set(STATE["done"])
    items[:] = [item for item in items if item.nodeid not in done]


def pytest_collection_finish(session):
    session.sampled_from = used() - STATE["used"]
    write(running=None)


def pytest_runtest_setup(item):
    write(running=item.nodeid)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        late = report.failed and "from pytest-timeout" in str(report.longrepr)
        COUNTS["late" if late else report.outcome] += 1
        if report.failed and not late:
            told = str(report.longrepr).strip().splitlines()[-1:]
            STATE["failures"].append(f"{report.nodeid}: {' '.join(told)}")


def pytest_runtest_logfinish(nodeid):
    STATE["done"].append(nodeid)


def pytest_runtest_teardown(item):
    STATE["used"] = used() - item.session.sampled_from
    if STATE["used"] > SECONDS:
        item.session.shouldstop = "the time is up"


def pytest_sessionfinish():
    write(running=None, ended=True)
