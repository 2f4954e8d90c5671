"""Least squares for a batch of problems at once: Levenberg and Marquardt, within bounds.

A problem is a lane, the last axis of every array. All arithmetic is by elements, and sums over rows
have a fixed order: each problem has the same bits whatever lies beside it. Lanes that have
converged leave the batch.

References
----------
More (1978), The Levenberg-Marquardt algorithm: implementation and theory, LNM 630, 105-116.
Kanzow, Yamashita, Fukushima (2004), J. Comput. Appl. Math. 172, 375-397 (projection on bounds).
Triggs et al. (2000), Bundle adjustment, LNCS 1883, 298-372 (robust losses, Schur complement).
"""

import numpy as np

from ..analysis.results import quiet

ROUNDS = 100
SMALL = 1e-8  # of the parameters, and the cosine of residuals and derivatives
REST = 1e-12  # of the cost
GENTLE = 1e-3  # damping at which steps are those of Gauss and Newton
REASONS = (
    "",
    "the gradient is zero",
    "the cost falls no more",
    "the parameters move no more",
    f"{ROUNDS} rounds were not enough",
    "the gaps between segments did not close",
    "the motion fails at the start",
)
LAST_GOOD, NOT_CLOSED = 3, 5  # of the reasons: those after the good ones are failures


def total(rows):
    """The sum over the first axis, by halves: zero rows at the end change no bit.

    Examples
    --------
    >>> total(np.array([[1.0], [2.0], [3.0]])).tolist()
    [6.0]
    """
    n = len(rows)
    while n > 1:
        half = 1 << (n - 1).bit_length() - 1
        sums = rows[:half].copy()
        sums[: n - half] += rows[half:]
        rows, n = sums, half
    return rows[0] if n else np.zeros(rows.shape[1:])


def gram(rows):
    """The products of the columns of each lane, from (rows, columns, lanes).

    Returns
    -------
    ndarray, shape (columns, columns, lanes)
    """
    columns = rows.shape[1]
    found = np.empty((columns, *rows.shape[1:]))
    for j in range(columns):
        found[j, j:] = found[j:, j] = total(rows[:, j:] * rows[:, j : j + 1])
    return found


def most(rows):
    """The largest over the first axis."""
    return rows.max(axis=0)


def solved(shots, matrix, right, damping, held, pool_right=None):
    """Solve (matrix + damping) x = right by L D L^T, in all lanes at once.

    Parameters
    ----------
    shots : Shots
        `local` is the number of unknowns that belong to one lane. The rest are common to a group of
        lanes: `pool` sums their matrices and right sides once the local ones are eliminated.
        `below` has for each unknown the later ones that its elimination touches.
    matrix : ndarray, shape (p, p, lanes)
        Symmetric, not negative.
    right : ndarray, shape (p, ..., lanes)
    damping, held : ndarray, shape (p, lanes)
        What is added to the diagonal; the unknowns that stay zero.
    pool_right : callable, optional
        In place of ``shots.pool`` for the right sides.
    """
    free = ~held
    matrix = matrix * (free[:, np.newaxis] & free)
    spread = (slice(None), *(np.newaxis,) * (right.ndim - 2))
    right = right * free[spread]
    pivots = np.empty(held.shape)
    for k in range(len(matrix)):
        if k == shots.local:
            matrix[k:, k:] = shots.pool(matrix[k:, k:])
            right[k:] = (pool_right or shots.pool)(right[k:])
        pivots[k] = np.where(free[k], matrix[k, k] + damping[k], 1.0)
        rest = shots.below[k]
        row = matrix[k, rest]
        column = row / pivots[k]
        matrix[rest[:, np.newaxis], rest] -= column[:, np.newaxis] * row
        right[rest] -= column[spread] * right[k]
        matrix[rest, k] = column
    right /= pivots[spread]
    for k in reversed(range(len(matrix))):
        right[:k] -= matrix[k, :k][spread] * right[k]
    return right


def minimised(shots, x, lanes, held=False):
    """The least sums of squares that are found from some starts.

    Parameters
    ----------
    shots : Shots
        ``shots(x, lanes)`` returns costs (lanes), infinite where the motion fails, half their
        gradients (p, lanes) and half their second derivatives (p, p, lanes). The bounds are its
        ``bounds(lanes)``; `held` are unknowns that stay where they are, (p, 1); `local`, `pool` and
        `below` are as of ``solved``; ``shared(rows)`` sums the rows of common unknowns over their
        lanes; differences of costs below ``noise(lanes)`` mean nothing.
    x : ndarray, shape (p, lanes)
    lanes : ndarray of int
        Their numbers, which `shots` knows.
    held : ndarray, shape (p, lanes), optional
        Further unknowns that stay.

    Returns
    -------
    x, cost, matrix, reason, rounds
    """
    p, m = x.shape
    x, places, held = x.copy(), np.arange(m), np.broadcast_to(shots.held | held, x.shape)
    cost, gradient, matrix = shots(x, lanes)
    found = [x, cost, matrix]
    reason, rounds = np.where(np.isfinite(cost), 0, len(REASONS) - 1), np.zeros(m, int)
    damping, before, size = np.full(m, 1e-3), np.zeros(m), np.zeros((p, m))
    going = reason == 0
    for n in range(1, ROUNDS + 1):
        if not going.all():
            state = x, cost, gradient, matrix, damping, before, size, held, lanes, places
            x, cost, gradient, matrix, damping, before, size, held, lanes, places = (
                array[..., going] for array in state
            )
        if not lanes.size:
            break
        rounds[places] = n
        low, high = shots.bounds(lanes)
        slope, square = map(shots.shared, (gradient, matrix[range(p), range(p)]))
        size = np.maximum(size, np.sqrt(square))
        unit = np.where(size > 0, size, 1.0)
        stuck = held | (x <= low) & (slope > 0) | (x >= high) & (slope < 0)
        steepest = shots.pool(np.max(np.where(stuck, 0, abs(slope) / unit), axis=0), most)
        why = np.where(steepest <= SMALL * np.sqrt(cost), 1, 0)
        step, fixed = _within(shots, x, gradient, matrix, damping * unit**2, held, stuck, low, high)
        model = total(step * (2 * gradient + _product(matrix, step)))
        predicted = -shots.pool(model)
        to = np.where(step == low - x, low, np.where(step == high - x, high, x + step))
        there = shots(to, lanes)
        fall, noise, damped = cost - there[0], shots.noise(lanes), damping > GENTLE
        good = fall > 1e-4 * abs(predicted)
        moved, far = (shots.pool(np.max(abs(a) * size, axis=0), most) for a in (step, x))
        with quiet():
            gain = np.where(np.isfinite(fall) & (predicted > 0), fall / predicted, -1.0)
            # What the quadratic model still promises, at the rate at which its promises shrink.
            rest = predicted * np.where(damped, 1.0, np.minimum(predicted / before, 1.0))
        vague = noise + 0.01 * np.sqrt(cost) * np.sqrt(noise)  # what equal costs differ by
        done = (rest <= REST * cost + noise) & ((gain > 0.25) | (abs(fall) <= vague))
        short = damped & (gain > 0.25)  # the next step is longer
        done |= (abs(fall) + abs(predicted) <= vague) & ~short
        why = np.where((why == 0) & done, 2, why)
        why = np.where((why == 0) & (moved <= SMALL * far) & ~short, 3, why)
        faster = np.where(abs(gain - 1) < 0.1, 100, np.where(gain > 0.75, 10, 1))
        damping = np.maximum(damping / faster, 1e-10)
        if (gain < 0.25).any():
            longer = _damping(shots, step, gradient, matrix, fixed, unit, damping, fall)
            damping = np.where(gain < 0.25, longer, damping)
        before = np.where(good, predicted, 0)
        x, cost, gradient, matrix = (
            np.where(good, new, old) for new, old in zip((to, *there), (x, cost, gradient, matrix))
        )
        for whole, part in zip(found, (x, cost, matrix)):
            whole[..., places] = part
        reason[places] = why
        going = why == 0
    reason[reason == 0] = LAST_GOOD + 1
    return *found, reason, rounds


def _within(shots, x, gradient, matrix, damping, held, fixed, low, high):
    """The step to the minimum of the damped quadratic model within the bounds; what is fixed there.

    An active-set method: unknowns that reach a bound stay there until, at the minimum over the
    others, the model falls inwards from it. Every part of the way lowers the model.
    """
    step, moving = np.zeros(x.shape), np.ones(x.shape[1], bool)
    for _ in range(3 * len(x)):
        right = -gradient - _product(matrix, np.where(fixed, step, 0))
        aim = np.where(fixed, step, solved(shots, matrix, right, damping, fixed))
        with quiet():
            room = np.where(aim > step, high - x - step, x + step - low) / abs(aim - step)
            room = np.where(aim == step, np.inf, room)
        share = np.minimum(-shots.pool(np.max(-room, axis=0), most), 1.0)
        whole = share >= 1 - 1e-9
        hit = moving & ~whole & (room <= share)
        bound = np.where(aim > step, high, low) - x
        onward = np.where(whole, np.clip(aim, low - x, high - x), step + share * (aim - step))
        step = np.where(moving, np.where(hit, bound, onward), step)
        pull = shots.shared(gradient + _product(matrix, step)) + damping * step
        wrong = np.where(x + step <= low, -pull, np.where(x + step >= high, pull, 0))
        wrong = np.where(fixed & ~held & whole & moving, wrong, 0)
        back = (wrong > 0) & (wrong == wrong.max(axis=0))
        fixed = (fixed | hit) & ~back
        moving = shots.pool((hit | back).any(axis=0), most)
        if not moving.any():
            break
    return step, fixed


def _damping(shots, step, gradient, matrix, fixed, size, damping, fall):
    """The damping that makes a bad step as short as a parabola through both its ends asks for.

    The length of a step is nearly a / (b + damping) (Hebden 1973).
    """
    along = solved(shots, matrix, size**2 * step, damping * size**2, fixed)
    square, drop, slope = map(
        shots.pool,
        (total((size * step) ** 2), total(size**2 * step * along), total(gradient * step)),
    )
    with quiet():
        share = np.clip(np.where(np.isfinite(fall), slope / (fall + 2 * slope), 0), 0.1, 0.5)
        longer = damping + (1 / share - 1) * square / drop
    return np.where(np.isfinite(longer), np.maximum(longer, 2 * damping), 10 * damping)


def _product(matrix, vector):
    return sum(matrix[:, j] * vector[j] for j in range(len(vector)))
