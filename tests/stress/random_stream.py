"""The random numbers as bytes on the standard output, for batteries of tests of randomness.

    python tests/stress/random_stream.py normals | RNG_test stdin32 -multithreaded -tlmax 16GB

Order: the trajectory fastest, 4,096 of them, then the step; with --steps-fastest 4,096 steps, then
the trajectory. Of normals the first 32 bits of their distribution function, of uniforms 48 bits.
"""

import argparse
import os
import sys

import numpy as np
from scipy.special import ndtr

import pyintegrate as pi

parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=["normals", "second", "uniforms"])
parser.add_argument("--steps-fastest", action="store_true")
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
stream = ["normals", "second", "uniforms"].index(options.kind)
inner = np.arange(4096)
try:
    for first in range(0, 2**48, 64):
        outer = np.arange(first, first + 64)[:, None]
        steps, lanes = (inner, outer) if options.steps_fastest else (outer, inner)
        numbers = pi.noise(options.seed, lanes, steps, stream=stream)
        if stream == 2:
            words = (numbers * 2.0**48).astype("<u8").view("<u2").reshape(-1, 4)[:, :3]
        else:
            words = (ndtr(numbers) * 2.0**32).astype("<u4")
        sys.stdout.buffer.write(words.tobytes())
except BrokenPipeError:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
