// What stands still in a phase plane: nullclines, and equilibria with their kinds.
import { eigenvalues } from "./engine.js";

const GRID = 80; // points of a side
const ROUNDS = 30; // of Newton's method
const LATER = 1.7; // a time at which a driven plane is another

/** Of a system of two components over a window: `lines`, the ends of pieces of nullclines
 * [x0, y0, x1, y1] for each component, and `points`, equilibria [x, y, kind]. null where the rates
 * depend on the time. */
export function planeOf(engine, { system, params }, window) {
  const [wide, high] = [window.right - window.left, window.top - window.bottom];
  const across = (i) => window.left + (i / (GRID - 1)) * wide;
  const up = (j) => window.bottom + (j / (GRID - 1)) * high;
  const states = Float64Array.from({ length: 2 * GRID * GRID }, (_, k) =>
    (k % 2 ? up(Math.floor(k / 2 / GRID)) : across((k >> 1) % GRID)));
  const ask = (t) => engine.answers(system, params, "rhs", new Float64Array(GRID * GRID).fill(t), states, 2);
  const [f, later] = [ask(0), ask(LATER)];
  if (f.some((rate, k) => rate !== later[k] && rate === rate)) return null;
  const [lines, points] = [[[], []], []];
  for (let j = 0; j + 1 < GRID; j++) {
    for (let i = 0; i + 1 < GRID; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const both = [0, 1].map((d) => crossed(corners, corners.map(([a, b]) => f[d * GRID * GRID + b * GRID + a])));
      both.forEach((ends, d) => {
        if (ends.length > 1) lines[d].push(ends.flatMap(([a, b]) => [across(a), up(b)]).slice(0, 4));
      });
      if (both.every((ends) => ends.length)) found(points, engine, system, params, [across(i + 0.5), up(j + 0.5)], wide, high);
    }
  }
  return { lines, points };
}

/** Where the edges of a cell cross zero. */
function crossed(corners, values) {
  const ends = [];
  values.forEach((value, k) => {
    const next = values[(k + 1) % 4], [a, b] = [corners[k], corners[(k + 1) % 4]];
    if (value > 0 === next > 0 || !Number.isFinite(value - next)) return;
    const share = value / (value - next);
    ends.push([a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]);
  });
  return ends;
}

/** The equilibrium near a place, by Newton's method, if it is a new one. */
function found(points, engine, system, params, place, wide, high) {
  const at = (question, many) => engine.answers(system, params, question, [0], Float64Array.from(place), many);
  const near = ([x, y], part) => Math.abs(x) < part * wide && Math.abs(y) < part * high;
  const start = place;
  for (let round = 0; round < ROUNDS; round++) {
    const [f, g] = at("rhs", 2);
    const [a, b, c, d] = at("jacobian", 4);
    const step = [(d * f - b * g) / (a * d - b * c), (a * g - c * f) / (a * d - b * c)];
    place = [place[0] - step[0], place[1] - step[1]];
    if (!near([place[0] - start[0], place[1] - start[1]], 3 / GRID)) return;
    if (!near(step, 1e-12)) continue;
    if (!points.some(([x, y]) => near([x - place[0], y - place[1]], 1e-6))) points.push([...place, kindOf(eigenvalues(at("jacobian", 4), 2))]);
    return;
  }
}

/** "saddle", "stable", "unstable", or "centre" where linear terms do not decide. */
export function kindOf(values) {
  const reals = values.map(([re, im]) => (Math.abs(re) < 1e-9 * Math.hypot(re, im) ? 0 : re));
  if (reals[0] * reals[1] < 0) return "saddle";
  return reals.some((re) => re === 0) ? "centre" : reals[0] < 0 ? "stable" : "unstable";
}

/** A plane into a picture; `x` and `y` give pixels. */
export function drawPlane(c, { lines, points }, x, y, look) {
  c.lineWidth = 1.2;
  lines.forEach((pieces, d) => {
    c.strokeStyle = [look.alarm, look.accent][d];
    c.globalAlpha = 0.7;
    c.beginPath();
    for (const [x0, y0, x1, y1] of pieces) {
      c.moveTo(x(x0), y(y0));
      c.lineTo(x(x1), y(y1));
    }
    c.stroke();
  });
  c.globalAlpha = 1;
  for (const [a, b, kind] of points) {
    const [px, py] = [x(a), y(b)];
    c.beginPath();
    c.strokeStyle = look.ink;
    c.fillStyle = kind === "stable" ? look.ink : look.card;
    c.lineWidth = 2;
    c.arc(px, py, 5.5, 0, 7);
    c.fill();
    c.stroke();
    c.beginPath();
    c.fillStyle = look.ink;
    if (kind === "centre") c.arc(px, py, 1.8, 0, 7);
    c.fill();
    if (kind !== "saddle") continue;
    for (const side of [-1, 1]) {
      c.moveTo(px - 3.5, py - 3.5 * side);
      c.lineTo(px + 3.5, py + 3.5 * side);
    }
    c.stroke();
  }
}
