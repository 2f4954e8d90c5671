"""Watches and events against trigonometric polynomials, of which every zero is known.

    python tests/stress/attack/watching.py [seconds] [seed]

On an oscillator of frequency 1, x = cos(theta) and v = -sin(theta), so that a polynomial in x and v
is a sum of harmonics of theta = t + phase; its zeros, and those of its derivative, are eigenvalues
of companion matrices. Each batch of 500 has random coefficients, phases, steps or tolerances. A
count or a time is wrong if it differs and no extreme of the polynomial (nor its value at an end)
is as close to zero as the motion is in error there; wrong without a word, if it is not `unresolved`
either. Numbers may be off by that error and ten times the tolerance.
"""

import sys
import time
from collections import Counter

import numpy as np

import pyintegrate as pi

MOST, BATCH = 3, 500  # harmonics, trajectories


def quantity(t, x, v, **c):
    """sum_k a_k cos(k theta) + b_k sin(k theta) - level."""
    total, real, imag = -c["level"], x, -v
    for k in range(1, MOST + 1):
        total = total + c[f"a{k}"] * real + c[f"b{k}"] * imag
        real, imag = real * x + imag * v, imag * x - real * v
    return total


def with_names(names):
    """The same with parameters by name, as the tracer reads them."""
    scope = {"quantity": quantity}
    given = ", ".join(f"{n}={n}" for n in names)
    exec(f"def q(t, x, v, {', '.join(names)}): return quantity(t, x, v, {given})", scope)
    return scope["q"]


def circle_zeros(harmonics):
    """The angles of the zeros of Re sum_k c_k z^k on the unit circle, (n, 2 MOST), NaN if none."""
    n = len(harmonics)
    p = np.zeros((n, 2 * MOST + 1), complex)  # z^MOST times the sum, lowest power first
    p[:, MOST:] = harmonics / 2
    p[:, : MOST + 1] += np.conj(harmonics[:, ::-1]) / 2
    companion = np.zeros((n, 2 * MOST, 2 * MOST), complex)
    companion[:, np.arange(1, 2 * MOST), np.arange(2 * MOST - 1)] = 1
    companion[:, :, -1] = -p[:, :-1] / p[:, -1:]
    z = np.linalg.eigvals(companion)
    return np.where(abs(abs(z) - 1) < 1e-7, np.angle(z), np.nan)


def value(harmonics, theta):
    return sum((harmonics[:, [k]] * np.exp(1j * k * theta)).real for k in range(MOST + 1))


class Truth:
    """The zeros, counts and numbers of random polynomials on theta = phase .. phase + span."""

    def __init__(self, random, span):
        self.phase, self.span = random.uniform(-np.pi, np.pi, (BATCH, 1)), span
        c = random.normal(size=(BATCH, MOST + 1)) + 1j * random.normal(size=(BATCH, MOST + 1))
        c *= random.choice([0.0, 0.1, 1.0], size=c.shape) + 1e-3
        turns = 1j * np.arange(MOST + 1)
        c[:, 0] = 0
        extremes = circle_zeros(c * turns)
        heights = value(c, np.nan_to_num(extremes))
        # Many levels lie close to an extreme, at a distance of any order.
        near = 10.0 ** random.uniform(-9, 0, BATCH) * random.choice([-1, 1], BATCH)
        known = np.where(np.isnan(extremes), -np.inf, heights)
        c[:, 0] = -np.where(random.random(BATCH) < 0.5, known.max(axis=1) - near,
                            random.normal(size=BATCH) * 0.5)  # fmt: skip
        self.c, self.size = c, abs(c).sum(axis=1)
        zeros = circle_zeros(c)
        ends = np.concatenate([self.phase, self.phase + span], axis=1)
        self.gap = np.minimum(
            np.nanmin(abs(value(c, extremes)), axis=1), abs(value(c, ends)).min(axis=1)
        )
        rounds = 2 * np.pi * np.arange(-1, span / (2 * np.pi) + 2)
        later = (zeros[:, :, np.newaxis] + rounds).reshape(BATCH, -1)
        inside = (later > self.phase) & (later <= self.phase + span)
        self.theta = np.sort(np.where(inside, later, np.nan), axis=1)
        self.t = self.theta - self.phase
        self.slope = value(c * turns, self.theta)
        self.first, self.last = value(c, ends).T

    @property
    def numbers(self):
        names = {"level": -self.c[:, 0].real}
        for k in range(1, MOST + 1):
            names |= {f"a{k}": self.c[:, k].real, f"b{k}": -self.c[:, k].imag}
        return names

    def integral(self):
        k = np.arange(1, MOST + 1)
        ends = [np.exp(1j * k * at) for at in (self.phase, self.phase + self.span)]
        return self.c[:, 0].real * self.span + (
            self.c[:, 1:] * (ends[1] - ends[0]) / (1j * k)
        ).real.sum(axis=1)

    def time_above(self):
        """Between the zeros: alternately above and below."""
        end = np.full((BATCH, 1), self.span)
        edges = np.concatenate([np.nan_to_num(self.t, nan=self.span), end], axis=1)
        lengths = np.diff(edges, axis=1, prepend=0.0)
        above = (self.first > 0)[:, np.newaxis] ^ (np.arange(lengths.shape[1]) % 2 == 1)
        return (lengths * above).sum(axis=1)


def attack(random):
    """A batch; how many of what kind were wrong without a word, told, and too close to tell."""
    steps, fixed = int(random.integers(30, 120)), random.random() < 0.5
    dt = float(random.uniform(0.05, 0.3))
    truth = Truth(random, steps * dt)
    names = [*truth.numbers]
    q = with_names(names)
    x0, v0 = np.cos(truth.phase[:, 0]), -np.sin(truth.phase[:, 0])
    event = {"z": pi.event(q, keep=0), "up": pi.event(q, 1, keep=1)}
    system, rtol = carried(truth.numbers), 10.0 ** random.uniform(-11, -4)
    found = Counter()
    if fixed:
        method = random.choice(["gauss8", "dop853", "kahan_li8"])
        sol = pi.integrate(system, x0, v0, dt=dt, n_steps=steps, method=method, save="final",
                           events=event)  # fmt: skip
        tolerance = 1e-12
    else:
        sol = pi.solve(system, x0, v0, t_end=steps * dt, rtol=rtol, atol=1e-3 * rtol, events=event,
                       watch=watches(q))  # fmt: skip
        tolerance = rtol
    angle = truth.phase[:, 0] + steps * dt
    off = np.hypot(sol.final[:, 0] - np.cos(angle), sol.final[:, 1] + np.sin(angle))
    # Harmonic k is k times as far off; within the run no further than twice its end, and a step's.
    margin = (6 * off + 30 * tolerance) * truth.size
    sure = truth.gap > margin
    z, count = sol.events["z"], (~np.isnan(truth.t)).sum(axis=1)
    rising = truth.slope > 0
    wrong = (z.count != count) | (sol.events["up"].count != rising.sum(axis=1))
    told = z.unresolved | sol.events["up"].unresolved
    found["too close to tell"] = int((~sure).sum())
    found["wrong and told"] = int((wrong & sure & told).sum())
    found["wrong without a word"] = int((wrong & sure & ~told).sum())
    slowest = np.nanmin(abs(np.where(np.isnan(truth.slope), np.inf, truth.slope)), axis=1)
    late = margin / slowest + 1e-12 * truth.span
    first = np.where(rising.any(axis=1), np.nanmin(
        np.where(rising, truth.t, np.inf), axis=1), np.nan)  # fmt: skip
    up = sol.events["up"].t[:, 0]
    found["time off"] = int((sure & ~told & ~(abs(up - first) <= late) & ~np.isnan(first)).sum())
    if not fixed:
        seen = sol.watched
        checks = {
            "integral": (truth.integral(), margin * truth.span),
            "entries": (rising.sum(axis=1), np.where(sure, 0, np.inf)),
            "time_within": (truth.time_above(), np.where(sure, late * (count + 1), np.inf)),
        }
        for name, (exact, allowed) in checks.items():
            found[f"{name} off"] = int((~(abs(seen[name] - exact) <= allowed)).sum())
    found["cases"] = BATCH
    found["zeros"] = int(count.sum())
    return found


def carried(numbers):
    """The oscillator, with the parameters of the quantity."""
    scope: dict = {}
    exec(f"def force(t, x, v, {', '.join(numbers)}): return -x", scope)
    return pi.acceleration(**dict.fromkeys(numbers, 0.0))(scope["force"])(**numbers)


def watches(q):
    names = ", ".join(name for name in q.__code__.co_varnames[3 : q.__code__.co_argcount])
    scope = {"q": q}
    exec(f"def above(t, x, v, {names}): return q(t, x, v, {names}) > 0", scope)
    return {
        "integral": pi.watch.integral(q), "entries": pi.watch.entries(scope["above"]),
        "time_within": pi.watch.time_within(scope["above"]),
    }  # fmt: skip


def main(seconds, seed):
    """Attack for so many seconds; nothing may be wrong without a word."""
    counts, case = Counter(), 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        case += 1
        found = attack(np.random.default_rng([seed, case]))
        bad = {k: n for k, n in found.items() if n and k not in FINE}
        if bad:
            print(f"attack on watching: case {seed}:{case}: {bad}")
        counts += found
    print(
        f"attack on watching, seed {seed}: {counts['cases']} cases: {dict(sorted(counts.items()))}"
    )
    assert not [k for k, n in counts.items() if n and k not in FINE]
    return counts


FINE = ("too close to tell", "wrong and told", "cases", "zeros")

if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(60, 1)[len(given) :])
