// What follows from a record: windows, limits, strips, states between the steps.
import { portraitWindow, rangeOf } from "./charts.js";
import { fastest, stableStep } from "./limits.js";
import { percent, short, signed } from "./look.js";
import { pointsOf, windowOf } from "./scenes.js";

const BLOWN = 3; // windows away: a motion that comes no nearer to the true one

/** A record with all that is drawn from it. While a start is dragged, `held` has the windows. */
export function understood(answer, asked, system, held) {
  const record = { ...answer, state: asked, end: 0 };
  const { dim, dof } = system;
  for (const run of record.runs) {
    run.n = run.y.length / dim - 1;
    record.end = Math.max(record.end, run.n * run.dt);
  }
  record.window = held?.window ?? windowOf(system.scene, record.runs, asked.params, dim);
  record.places = system.scene.kind === "box" ? [10, 12] : dof ? [0, dof] : dim > 1 ? [0, 1] : null;
  if (record.places) {
    record.portrait = held?.portrait ?? portraitWindow(record.runs[0].ghost, dim, record.places);
  }
  const speed = fastest(record.turning) || record.speed || 0;
  const turn = speed > 0 ? (2 * Math.PI) / speed : record.end / 4;
  record.turn = Math.min(Math.max(turn, record.end / 2000), record.end || 1);
  record.smooth = smoothed(record.runs[0], system, record.turn);
  for (const run of record.runs) {
    run.limit = run.stability ? stableStep(run.stability, record.turning) : undefined;
    run.blown = firstBlown(run, record, system);
  }
  return record;
}

/** The ghost with points between long steps, for the eye. */
function smoothed(run, system, turn) {
  const parts = Math.min(16, Math.ceil((24 * run.dt) / turn));
  if (parts < 2) return { y: run.ghost, dt: run.dt };
  const { dim } = system;
  const y = new Float64Array((run.n * parts + 1) * dim);
  for (let k = 0; k <= run.n * parts; k++) {
    y.set(stateAt(run, system, (k * run.dt) / parts, run.ghost), k * dim);
  }
  return { y, dt: run.dt / parts };
}

/** The strips: energy where there is one, and the phase, or else the distance. */
export function stripsOf(record, system, logarithmic) {
  const all = (name) => record.runs.map((run) => run[name]);
  const strips = [];
  if (all("energy").every(Boolean)) {
    const { relative } = record.runs[0];
    const range = rangeOf([...all("energy"), ...all("ghost_energy")], relative ? 1.5 : Infinity, logarithmic);
    const note = relative ? "(E \u2212 E\u2080)/|E\u2080|" : "E \u2212 E\u2080, as E\u2080 = 0";
    strips.push({ name: "energy", title: "energy error", note, ghost: "ghost_energy", range });
  }
  if (all("phase").every(Boolean)) {
    const range = rangeOf(all("phase"), 60, logarithmic);
    strips.push({ name: "phase", title: "phase error", note: "rad, + is ahead", range });
  } else {
    const { left, right, bottom, top } = record.window;
    if (system.scene.kind === "box") {
      const range = rangeOf(all("distance"), 2 * Math.PI, logarithmic);
      strips.push({ name: "distance", title: "angle from the true orientation", note: "rad", range });
      return strips.map((strip) => ({ ...strip, logarithmic }));
    }
    const size = Math.max(right - left, system.dof === 1 ? 0 : top - bottom);
    const range = rangeOf(all("distance"), 2 * size, logarithmic);
    const note = system.state[0].unit;
    strips.push({ name: "distance", title: "distance from the true motion", note, range });
  }
  return strips.map((strip) => ({ ...strip, logarithmic }));
}

/** The fan as a strip: the median, half and nine tenths of the motions, five of them. */
export function fanStrip(record, system, colour, look) {
  const { fan, runs } = record;
  const { dim } = system;
  const shown = system.scene.kind === "box" ? 10 : 0;
  const t = fan.t.subarray(0, fan.made);
  const parts = [...fan.rows, ...fan.paths].map((row) => row.subarray(0, fan.made));
  fan.ghost ??= Float64Array.from(runs[0].t, (_, n) => runs[0].ghost[n * dim + shown]);
  const most = 4 * fan.ghost.reduce((size, v) => Math.max(size, Math.abs(v) || 0), 0.25);
  const [a, b, middle, d, e, ...paths] = parts;
  return {
    range: rangeOf([...parts, fan.ghost], most, false),
    bands: [[a, e, 0.2], [b, d, 0.3]].map(([low, high, strength]) => ({ t, low, high, colour, strength })),
    lines: [{ t: runs[0].t, values: fan.ghost, colour: look.ghost, wide: true },
      ...paths.map((values) => ({ t, values, colour: look.soft, width: 0.6 })), { t, values: middle, colour, width: 2 }],
  };
}

/** What is read below a canvas after n steps: names and values. */
export function readingsOf(run, n, system) {
  const readings = run.energy ? [["energy", (run.relative ? percent : signed)(run.energy[n])]] : [];
  if (run.phase) return [...readings, ["phase", `${signed(run.phase[n])} rad`]];
  const unit = system.scene.kind === "box" ? "rad" : system.state[0].unit;
  return [...readings, ["off by", `${short(run.distance[n], 3)} ${unit ?? ""}`.trim()]];
}

/** The first step beyond anything that the picture could hold, or that failed; or null. */
function firstBlown(run, { window: w, state }, { scene, dim }) {
  const [wide, high] = [w.right - w.left, w.top - w.bottom];
  const flat = ["spring", "bead"].includes(scene.kind);
  const hangs = scene.kind.endsWith("pendulum");
  for (let n = 0; n <= run.n; n++) {
    if (run.failed >= 0 && n >= run.failed) return n;
    const y = run.y.subarray(n * dim, (n + 1) * dim);
    if (hangs && !(Math.abs(y[0]) > 1e3)) continue;
    for (const [x, up] of hangs ? [[Infinity, 0]] : pointsOf(scene, y, state.params)) {
      if (!(Math.abs(x - (w.left + w.right) / 2) < BLOWN * wide)) return n;
      if (!flat && !(Math.abs(up - (w.bottom + w.top) / 2) < BLOWN * high)) return n;
    }
  }
  return null;
}

/** The state at a time: a recorded one at the steps, for the eye something smooth between them. */
export function stateAt(run, { dim, dof, structure }, t, values) {
  const n = Math.max(0, Math.min(run.n, Math.floor(t / run.dt + 1e-9)));
  const s = Math.min(1, Math.max(0, t / run.dt - n));
  const from = values.subarray(n * dim, (n + 1) * dim);
  if (s < 1e-6 || n === run.n) return from;
  const to = values.subarray((n + 1) * dim, (n + 2) * dim);
  if (structure !== "second_order") return Array.from(from, (a, i) => a + s * (to[i] - a));
  const between = new Float64Array(dim);
  for (let i = 0; i < dof; i++) { // Hermite's cubic, and its slope
    const change = to[i] - from[i];
    const [va, vb] = [from[dof + i] * run.dt, to[dof + i] * run.dt];
    const [p, q] = [3 * change - 2 * va - vb, va + vb - 2 * change];
    between[i] = from[i] + s * (va + s * (p + s * q));
    between[dof + i] = (va + s * (2 * p + 3 * s * q)) / run.dt;
  }
  return between;
}
