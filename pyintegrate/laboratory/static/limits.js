// The largest stable step of a method on a motion, from the theory of its numbers.

/** |R(h lambda)|^2 of the polynomial R on lambda = [re, im]. */
function growth(R, h, [re, im]) {
  let [a, b] = [0, 0];
  for (let j = R.length - 1; j >= 0; j--) { // Horner's rule
    [a, b] = [a * h * re - b * h * im + R[j], a * h * im + b * h * re];
  }
  return a * a + b * b;
}

/** The first h at which |R(h lambda)| passes 1, by a search in equal ratios and bisection. */
function firstExit(R, lambda) {
  const size = Math.hypot(...lambda);
  const grows = (h) => growth(R, h, lambda) > 1 + 1e-9;
  let below = 1e-3 / size;
  if (grows(below)) return 0;
  for (let h = below; h < 1e3 / size; h *= 1.02) {
    if (!grows(h)) {
      below = h;
      continue;
    }
    let above = h;
    for (let k = 0; k < 40; k++) {
      const middle = (below + above) / 2;
      if (grows(middle)) above = middle;
      else below = middle;
    }
    return below;
  }
  return null;
}

/** The largest stable step on eigenvalues [re, im]; 0: none is; null: no limit, or none known. */
export function stableStep(stability, eigenvalues) {
  let least = null;
  for (const [re, im] of eigenvalues) {
    const size = Math.hypot(re, im);
    if (!(size > 0) || re > 1e-6 * size) continue; // the true motion itself grows
    let limit = null;
    const oscillates = Math.abs(re) <= 1e-6 * size;
    if (oscillates) limit = stability.oscillation === null ? null : stability.oscillation / size;
    else if (stability.R) limit = firstExit(stability.R, [re, im]);
    else if (Math.abs(im) <= 1e-6 * size) {
      limit = stability.decay === null ? null : stability.decay / size;
    } else if (Math.abs(re) < 0.2 * size && stability.oscillation) {
      limit = stability.oscillation / size; // weakly damped: nearly that of the oscillation
    }
    if (limit !== null) least = least === null ? limit : Math.min(least, limit);
  }
  return least;
}

/** The fastest rate of change, 1/s: the largest |eigenvalue|. */
export function fastest(eigenvalues) {
  return Math.max(0, ...eigenvalues.map((value) => Math.hypot(...value)));
}
