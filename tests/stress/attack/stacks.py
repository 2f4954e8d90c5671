"""Random calls, right and wrong, from threads with small stacks.

    python tests/stress/attack/stacks.py [seconds] [seed]

The calls are those of tests/stress/soak.py, a hundred in each thread; they answer or raise what
they may anywhere. macOS gives a thread 512 KiB where nobody asks for more.
"""

import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import soak

STACKS = [384 << 10, 512 << 10]  # kernels take up to 280 KiB, if they are not optimised
CALLS = 100  # of a thread


def main(seconds, seed):
    """Attack for so many seconds; the counts by kind."""
    counts, failures, case = Counter(), [], 0
    end = time.monotonic() + seconds

    def call_some(first):
        try:
            for number in range(first, first + CALLS):
                counts[soak.one_call(seed, number)] += 1
        except BaseException as error:
            failures.append(error)

    while time.monotonic() < end:
        threading.stack_size(STACKS[case % len(STACKS)])
        thread = threading.Thread(target=call_some, args=(case * CALLS,))
        thread.start()
        threading.stack_size(0)
        thread.join()
        case += 1
        if failures:
            raise failures[0]
    print(f"attack by stacks, seed {seed}: {case * CALLS} cases: {dict(sorted(counts.items()))}")
    return counts


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(60, 1)[len(given) :])
