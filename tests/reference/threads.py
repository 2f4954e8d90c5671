"""The threads of this process, whoever made them."""

import os
import time


def threads_left(before=0):
    """How many more there are than before; those that have just ended are given a moment."""
    for _ in range(2000 if before else 1):
        left = len(os.listdir("/proc/self/task")) - before
        if left <= 0:
            break
        time.sleep(0.001)
    return left
