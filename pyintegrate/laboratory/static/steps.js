// One step as formula and numbers.
import { short, written } from "./look.js";

const MOST_LINES = 6;

const tuple = (values) => {
  const shown = Array.from(values).slice(0, 4).map((v) => short(v));
  const text = [...shown, ...(values.length > 4 ? ["…"] : [])].join(", ");
  return values.length > 1 ? `(${text})` : text;
};

const added = (y, rate, weight) => y.map((value, i) => value + weight * rate[i]);

/** Lines [formula, numbers] of a step by kicks and drifts. */
async function composition(method, about, t, y, h, rates) {
  const { dof } = about;
  let now = t;
  let [x, v] = [y.slice(0, dof), y.slice(dof)];
  const lines = [];
  const [left, right] = dof === 1 ? about.state.map((part) => written(part.name))
    : ["x", about.structure === "separable" ? "p" : "v"];
  const weight = (w) => (w === 1 ? "h" : w === 0.5 ? "h/2" : `${short(w, 3)} h`);
  for (let i = 0; i < method.kick.length; i++) {
    for (const [which, w] of [["kick", method.kick[i]], ["drift", method.drift[i]]]) {
      if (w === 0) continue;
      const [rate] = await rates([now], [[...x, ...v]]);
      const part = which === "kick" ? rate.slice(dof) : rate.slice(0, dof);
      const old = which === "kick" ? v : x;
      const fresh = added(old, part, w * h);
      const name = which === "kick" ? right : left;
      const factor = which === "kick" ? (about.structure === "separable" ? "F" : `a(${left})`) : right;
      lines.push([
        `${name} ← ${name} + ${weight(w)} · ${factor}`,
        `${tuple(old)} + ${short(w * h)} · ${tuple(part)} = ${tuple(fresh)}`,
      ]);
      if (which === "kick") v = fresh;
      else [x, now] = [fresh, now + w * h];
    }
  }
  return { lines, end: [...x, ...v] };
}

/** Lines of a step by an explicit table. */
async function explicit(method, about, t, y, h, rates) {
  const slopes = [];
  const lines = [];
  for (let i = 0; i < method.b.length; i++) {
    let at = Array.from(y);
    method.A[i].slice(0, i).forEach((a, j) => {
      if (a) at = added(at, slopes[j], a * h);
    });
    const [slope] = await rates([t + method.c[i] * h], [at]);
    slopes.push(slope);
    const where = method.c[i] === 0 ? "t, y" : `t + ${method.c[i] === 1 ? "h" : method.c[i] === 0.5 ? "h/2" : `${short(method.c[i], 3)} h`}, …`;
    lines.push([`k${"₀₁₂₃₄₅₆₇₈₉"[i + 1] ?? i + 1} = f(${where})`, tuple(slope)]);
  }
  let end = Array.from(y);
  method.b.forEach((b, i) => {
    if (b) end = added(end, slopes[i], b * h);
  });
  const mean = end.map((value, i) => (value - y[i]) / h);
  lines.push([`y ← y + h · Σ bᵢ kᵢ`, `${tuple(y)} + ${short(h)} · ${tuple(mean)} = ${tuple(end)}`]);
  return { lines, end };
}

/** The last step of each run: its number, and lines as from `explain`. */
export const lastSteps = (record, system, { about, rates }, stepOf) => Promise.all(record.runs.map(async (run) => {
  const n = Math.max(0, stepOf(run) - 1);
  if (run.n < 1) return [n, []];
  const { dim } = system;
  const y = run.y.slice(n * dim, (n + 1) * dim);
  const next = run.y.slice((n + 1) * dim, (n + 2) * dim);
  if (run.failed >= 0 && n + 1 >= run.failed) return [n, [["the step is not finite", "the run ends here"]]];
  return [n, await explain(about.methods[run.method], system, n * run.dt, y, next, run.dt, rates)];
}));

/** What a step of a method does: lines of formula and numbers, which end in the recorded state.
 * Where the formula alone does not lead there (a force that sees the velocity, an implicit step),
 * the method's own formula and the two states. */
export async function explain(method, about, t, y, next, h, rates) {
  const plain = {
    lines: [[method.formula || method.title, `${tuple(y)} → ${tuple(next)}`]], end: next,
  };
  const maker = { composition, explicit_rk: explicit }[method.family];
  if (!maker || (method.family === "composition" && !about.dof)) return plain.lines;
  const made = await maker(method, about, t, Array.from(y), h, rates);
  const close = made.end.every((value, i) =>
    Math.abs(value - next[i]) <= 1e-9 * (1 + Math.abs(value) + Math.abs(y[i])));
  if (!close) return plain.lines;
  if (made.lines.length <= MOST_LINES) return made.lines;
  return [...made.lines.slice(0, MOST_LINES - 2), ["…", ""], made.lines.at(-1)];
}
