// The engine of the page: the C core as WebAssembly, in the place of the kernel of a notebook.

const FINE = "verner98"; // makes the ghost, at steps of
const SHARE = 0.06; // of a turn
const MOST_FINE = 300000; // steps of it
const SAMPLES = 32; // states at which one looks how fast the motion turns
const DIGEST_STEPS = 16;
const SLICE = 8; // ms of it before the page may draw again
const FAN_SLICE = 25; // the same for a fan, of which something is seen
const MANY = 1000; // motions of a fan,
const QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95];
const MOST_TIMES = 500; // at which they are told
const FAR = 1024; // velocities at which the kinetic energy is read
const OFFSET = 14695981039346656037n; // of the hash by Fowler, Noll and Vo

/** The engine of `about` and a compiled module. */
export async function engineOf(bytes, about) {
  const nothing = () => 0; // clocks and files of the C library: never called in a run
  const system_calls = new Proxy({}, { get: () => nothing });
  const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: system_calls });
  const core = instance.exports;
  const numbers = {};

  /** Arrays in the core's memory for the time of a call; `use` gets their addresses. */
  function withArrays(arrays, use) {
    const places = arrays.map((array) => core.malloc(Math.max(8, array.byteLength)));
    arrays.forEach((array, i) => {
      new Uint8Array(core.memory.buffer, places[i], array.byteLength)
        .set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    });
    const read = (i) => {
      arrays[i].set(new arrays[i].constructor(core.memory.buffer, places[i], arrays[i].length));
      return arrays[i];
    };
    const result = use(places, read);
    places.forEach((place) => core.free(place));
    return result;
  }
  function numberOf(kind, name) {
    return (numbers[kind + name] ??= withArrays([new TextEncoder().encode(`${name}\0`)],
      ([text]) => core[`lab_${kind}`](text)));
  }

  /** The number of a system, and of its parts if it is of any size. */
  const placeOf = (system) => [numberOf("system", system), about.systems[system].parts ?? 0];

  const flat = (params) => Float64Array.from(Object.values(params).flat(Infinity));

  /** The states of a run, (n / every + 1, dim), and the first step not completed or -1. */
  function integrate(system, params, start, method, dt, n, every = 1) {
    const saves = Math.floor(n / every) + 1 + (n % every ? 1 : 0);
    const out = new Float64Array(saves * start.length);
    return withArrays([flat(params), Float64Array.from(start), out], ([p, y, made], read) => {
      const failed = core.lab_run(0, ...placeOf(system), numberOf("method", method), 1, p, 0, y, 0, dt, 0, n, every, made);
      if (failed === -2) throw new Error("the page has no memory left for so many steps");
      if (failed === -3) throw new Error(`${method} cannot integrate ${system}`);
      return { y: read(2), failed };
    });
  }

  /** Answers to a question at states (n, dim): an array (answers, n). */
  function answers(system, params, question, t, states, many) {
    const n = t.length;
    const dim = states.length / n;
    const rows = new Float64Array(states.length); // (dim, n)
    for (let i = 0; i < n; i++) for (let d = 0; d < dim; d++) rows[d * n + i] = states[i * dim + d];
    return withArrays([flat(params), Float64Array.from(t), rows, new Float64Array(many * n)],
      ([p, times, y, out], read) => {
        core.lab_ask(...placeOf(system), about.questions.indexOf(question), p, n, times, y, out);
        return read(3);
      });
  }

  function energyErrors(system, params, t, y, first) {
    const energy = answers(system, params, "energy", t, y, 1);
    const from = first ?? energy[0];
    const scale = Math.abs(from) || 1;
    return { errors: energy.map((e) => (e - from) / scale), first: from };
  }

  /** The true motion at n + 1 times: a run at steps so fine that its own error is rounding. */
  function truth(system, params, start, dt, n) {
    const dim = start.length;
    let speed = fastestAlong(system, params, start);
    for (let round = 0; ; round++) {
      const finest = Math.ceil(MOST_FINE / Math.max(1, n));
      const parts = Math.min(finest, Math.max(1, Math.ceil((dt * speed) / (2 * Math.PI * SHARE))));
      const { y, failed } = integrate(system, params, start, FINE, dt / parts, n * parts, parts);
      if (failed >= 0) y.fill(NaN, Math.ceil(failed / parts) * dim);
      const along = turningAlong(system, params, y, dim);
      if (round === 2 || parts === finest || along.speed < 1.5 * speed) return { ghost: y, ...along, parts };
      speed = along.speed; // it came to where it turns faster
    }
  }
  const fastestAlong = (system, params, y) => turningAlong(system, params, Float64Array.from(y), y.length).speed;

  /** df/dy at a state, (dim, dim), at time 0; of rigid bodies by central differences. */
  function jacobian(system, params, y) {
    const dim = y.length;
    if (about.systems[system].structure !== "rigid_body") return answers(system, params, "jacobian", [0], y, dim * dim);
    const lanes = 2 * dim;
    const shifts = Array.from(y, (v) => 1e-5 * Math.max(1, Math.abs(v)));
    const states = new Float64Array(lanes * dim);
    for (let lane = 0; lane < lanes; lane++) {
      states.set(y, lane * dim);
      states[lane * dim + (lane >> 1)] += lane % 2 ? -shifts[lane >> 1] : shifts[lane >> 1];
    }
    const f = answers(system, params, "rhs", new Float64Array(lanes), states, dim); // (dim, lanes)
    return Float64Array.from({ length: dim * dim }, (_, k) => {
      const [i, j] = [Math.floor(k / dim), k % dim];
      return (f[i * lanes + 2 * j] - f[i * lanes + 2 * j + 1]) / (2 * shifts[j]);
    });
  }

  function turningAlong(system, params, y, dim) {
    const count = y.length / dim;
    const stride = Math.max(1, Math.floor(count / SAMPLES));
    let [speed, turning] = [0, []];
    for (let n = 0; n < count; n += stride) {
      const J = jacobian(system, params, y.subarray(n * dim, (n + 1) * dim));
      if (!J.every(Number.isFinite)) continue;
      const values = dim <= 4 ? eigenvalues(J, dim) : [];
      const size = dim <= 4 ? Math.max(...values.map((z) => Math.hypot(...z))) : spectralRadius(J, dim);
      if (size > speed) [speed, turning] = [size, values];
    }
    return { speed, turning };
  }

  /** d2E/dv2 of each coordinate, as pi.langevin reads it. */
  function masses(system, params) {
    const { dim, dof, start } = about.systems[system];
    const states = Array.from({ length: dof + 1 }, (_, i) => start.map((x, d) => (d < dof ? x : d === dof + i ? 2 * FAR : 0)));
    const energy = answers(system, params, "energy", new Float64Array(dof + 1), Float64Array.from(states.flat()), 1);
    return Array.from({ length: dof }, (_, i) => (energy[i] - energy[dof]) / (2 * FAR ** 2));
  }

  /** The program of a step in a heat bath. */
  const bathOf = (system) => (numbers[`bath${system}`] ??= withArrays(
    ["sizes", "sections", "code"].map((name) => Int32Array.from(about.systems[system].heat[name]))
      .concat(Float64Array.from(about.systems[system].heat.constants)), (places) => core.lab_program(...places)));

  /** Motions side by side from `rows`, (dim, lanes), by a method, or by BAOAB in a heat bath; a number
   * of `varied` is a row of them. `seed` is that of the noise; `first` and `time` go on from others. */
  function motions({ system, params, dt, fan }, rows, method, { varied = {}, seed = 1, first = 0, time = 0 } = {}) {
    const { dim } = about.systems[system];
    const lanes = rows.length / dim;
    const given = Object.entries(params).flatMap(([name, value]) => (name in varied ? [varied[name]] : [value].flat(Infinity)));
    const own = fan?.noise > 0 || Object.keys(varied).length > 0;
    if (fan?.noise > 0) {
      const of = (i) => masses(system, given.map((row) => row[i] ?? row));
      const each = Object.keys(varied).length ? Array.from({ length: lanes }, (_, i) => of(i)) : [of(0)];
      given.push(fan.friction, fan.noise, ...each[0].map((m, k) => (each.length > 1 ? each.map((all) => all[k]) : m)),
        dt, 1, seed, 0, 0, Array.from({ length: lanes }, (_, i) => i), 0, 0);
    }
    const numbers = new Float64Array(given.length * (own ? lanes : 1));
    given.forEach((row, i) => (own ? Array.isArray(row) ? numbers.set(row, i * lanes) : numbers.fill(row, i * lanes, (i + 1) * lanes) : (numbers[i] = row)));
    const t0 = time - first * dt;
    return {
      y: rows, first, time,
      /** n steps more; the states after every so many, (n / every, dim, lanes). */
      advance(n, every = n) {
        const made = new Float64Array((Math.ceil(n / every) + 1) * rows.length);
        return withArrays([numbers, this.y, made], ([p, y, out], read) => {
          const failed = core.lab_run(fan?.noise > 0 ? bathOf(system) : 0, ...placeOf(system),
            fan?.noise > 0 ? -1 : numberOf("method", method), lanes, p, own, y, t0, dt, this.first, n, every, out);
          if (failed < -1) throw new Error(failed === -2 ? "the page has no memory left for so many motions" : `${method} cannot integrate ${system}`);
          this.first += n;
          this.time = t0 + this.first * dt;
          read(2);
          this.y = made.slice(-rows.length);
          return made.subarray(rows.length);
        });
      },
    };
  }

  /** Quantiles over many motions that differ by noise, a component or a parameter: `rows` of them at
   * times `t`, of which `made` are there. `heard` when there are more. */
  function fanOf(state, n, heard) {
    const { system, params, start, methods, dt, fan } = state;
    if (!(fan?.noise > 0 || fan?.spread > 0)) return null;
    const { structure, state: names } = about.systems[system];
    const rows = Float64Array.from(start.flatMap((x) => Array(MANY).fill(x)));
    const varied = {};
    if (fan.spread > 0) {
      const place = names.findIndex(({ name }) => name === fan.of);
      const value = place < 0 ? params[fan.of] : start[place];
      const scale = fan.spread * (value === 0 ? 1 : Math.abs(value));
      const all = Array.from({ length: MANY }, (_, i) => value + scale * (i === MANY - 1 ? 1 : i * (2 / (MANY - 1)) - 1));
      if (place < 0) varied[fan.of] = all;
      else rows.set(all, place * MANY);
    }
    const every = Math.max(1, Math.ceil(n / MOST_TIMES));
    const times = Math.ceil(n / every) + 1;
    const t = Float64Array.from({ length: times }, (_, i) => Math.min(i * every, n) * dt);
    const room = () => QUANTILES.map(() => new Float64Array(times).fill(NaN));
    const told = { t, rows: room(), paths: room(), made: 0,
      method: fan.noise > 0 ? "baoab" : methods[0] };
    const moving = motions(state, rows, methods[0], { varied });
    const shown = structure === "rigid_body" ? 10 : 0;
    const add = (states) => {
      const values = states.slice(shown * MANY, (shown + 1) * MANY);
      told.paths.forEach((path, i) => (path[told.made] = values[MANY / 10 + (i * MANY) / 5]));
      values.sort();
      QUANTILES.forEach((q, i) => (told.rows[i][told.made] = values[Math.ceil(q * MANY) - 1]));
      told.made += 1;
    };
    add(rows);
    told.done = (async () => {
      while (told.made < times && current === state) {
        for (const begun = performance.now(); told.made < times && performance.now() - begun < FAN_SLICE;) {
          add(moving.advance(Math.min(every, n - (told.made - 1) * every)));
        }
        heard();
        await new Promise((resolve) => setTimeout(resolve));
      }
    })();
    return told;
  }

  let current = null; // the state that was run last

  async function run(state, heard = () => {}) {
    current = state;
    const { system, params, start, methods } = state;
    const told = about.systems[system];
    const n = stepsOf(state.dt, state.t_end, about.longest);
    const truths = new Map();
    const multiplied = ["linear_factor", "angular_factor"].some((name) => (params[name] ?? 1) !== 1);
    const runs = methods.map((method) => {
      if (multiplied && about.methods[method].family !== "rigid_body") {
        throw new Error(`method ${method} knows no linear_factor and angular_factor: take a method for rigid bodies, or damping`);
      }
      let [dt, steps] = [state.dt, n];
      if (state.equal_work && method !== methods[0]) {
        steps = Math.max(1, toEven((n * told.cost[methods[0]]) / told.cost[method]));
        dt = (n * state.dt) / steps;
      }
      const { y, failed } = integrate(system, params, start, method, dt, steps);
      const t = Float64Array.from({ length: steps + 1 }, (_, i) => i * dt);
      if (!truths.has(dt)) truths.set(dt, truth(system, params, start, dt, steps));
      const { ghost } = truths.get(dt);
      const made = { method, dt, t, y, ghost, failed, energy: null, ghost_energy: null,
        evaluations: steps * told.cost[method], stability: about.methods[method].stability };
      if (told.energy) {
        const { errors, first } = energyErrors(system, params, t, y);
        made.energy = errors;
        made.relative = first !== 0;
        made.ghost_energy = energyErrors(system, params, t, ghost, first).errors;
      }
      made.phase = phaseErrors(system, told, params, y, ghost, failed);
      made.distance = distances(y, ghost, told);
      return made;
    });
    const { turning, speed } = truths.values().next().value;
    return { runs, turning, speed, number: state.number, python: pythonLines(state, n), fan: fanOf(state, n, heard),
      ghost: `${FINE}, steps so fine that rounding is left` };
  }

  /** A hash of the last states of all methods on all systems, and in a heat bath: the bits of the
   * core. */
  async function digest() {
    let [hash, begun] = [OFFSET, performance.now()];
    const add = (last) => {
      hash = BigInt.asUintN(64, withArrays([new Uint8Array(last.buffer)], ([bytes]) => core.lab_hash(hash, bytes, last.byteLength)));
    };
    for (const [system, told] of Object.entries(about.systems)) {
      const params = Object.fromEntries(Object.entries(told.params).map(([name, p]) => [name, p.value]));
      for (const method of told.fitting) {
        if (performance.now() - begun > SLICE) {
          await new Promise((resolve) => setTimeout(resolve));
          begun = performance.now();
        }
        const { y } = integrate(system, params, told.start, method, told.dt, DIGEST_STEPS, DIGEST_STEPS);
        add(y.slice(-told.dim));
      }
      if (!told.heat) continue;
      const rows = Float64Array.from(told.start.flatMap((x) => Array(8).fill(x)));
      add(motions({ system, params, dt: told.dt, fan: told.heat }, rows).advance(DIGEST_STEPS).slice());
    }
    return hash.toString(16).padStart(16, "0");
  }

  return {
    about, run, digest, integrate, motions, answers,
    async rates(t, y) {
      const { system, params } = current;
      const { dim } = about.systems[system];
      return t.map((time, i) => Array.from(answers(system, params, "rhs", [time], Float64Array.from(y[i]), dim)));
    },
  };
}

export function stepsOf(dt, t_end, longest) {
  if (!(dt > 0 && dt < Infinity && t_end > 0 && t_end < Infinity)) {
    throw new Error("the step and the end must be positive");
  }
  return Math.max(1, Math.min(longest, toEven(Math.min(t_end / dt, longest))));
}

/** Rounded to the nearest whole number, halves to even, as Python does. */
function toEven(x) {
  const near = Math.round(x);
  return Math.abs(x % 1) === 0.5 && near % 2 ? near - 1 : near;
}

/** Distances from the true position; of a rigid body the angles from its orientation. */
function distances(y, ghost, { dim, dof, structure }) {
  return Float64Array.from({ length: y.length / dim }, (_, n) => {
    const [a, b] = [y, ghost].map((all) => all.subarray(n * dim, (n + 1) * dim));
    if (structure === "rigid_body") return angleBetween(a.subarray(3, 7), b.subarray(3, 7));
    let sum = 0;
    for (let d = 0; d < (dof || dim); d++) sum += (a[d] - b[d]) ** 2;
    return Math.sqrt(sum);
  });
}

/** The angle of the turn from one orientation to another, of quaternions of any length. */
function angleBetween(p, q) {
  const [a, b] = [p, q].map((one) => Array.from(one, (v) => v / Math.hypot(...one)));
  const apart = [1, -1].map((sign) => Math.hypot(...a.map((v, i) => v - sign * b[i])));
  return 4 * Math.asin(Math.min(...apart) / 2);
}

/** An angle that grows along the motion, or null: exact ones of oscillators and orbits, else around
 * the middle of a motion of one degree of freedom, each axis in units of its swing. */
function angleOf(system, told, params, ghost) {
  const around = (x0, v0, scale) => (y) => Math.atan2(-(y[1] - v0) * scale, y[0] - x0);
  if (system === "oscillator") return around(0, 0, 1 / params.omega);
  if (system === "kepler") return (y) => meanLongitude(y, params.mu);
  if (told.dim !== 2) return null;
  const count = ghost.length / 2;
  const middle = [0, 0], swing = [0, 0];
  for (let n = 0; n < ghost.length; n++) middle[n % 2] += ghost[n] / count;
  for (let n = 0; n < ghost.length; n++) swing[n % 2] += (ghost[n] - middle[n % 2]) ** 2 / count;
  let crossings = 0;
  for (let n = 2; n < ghost.length; n += 2) crossings += (ghost[n] > middle[0]) !== (ghost[n - 2] > middle[0]);
  if (crossings < 3) return null;
  return around(...middle, Math.sqrt(swing[0] / swing[1]));
}

/** The mean longitude: the mean anomaly plus the direction of the pericentre. */
function meanLongitude([x, y, vx, vy], mu) {
  const r = Math.hypot(x, y);
  const a = 1 / (2 / r - (vx * vx + vy * vy) / mu);
  const [ec, es] = [1 - r / a, (x * vx + y * vy) / Math.sqrt(mu * a)]; // e cos E, e sin E
  const [e, E] = [Math.hypot(ec, es), Math.atan2(es, ec)];
  const f = Math.atan2(Math.sqrt(1 - e * e) * Math.sin(E), Math.cos(E) - e);
  return Math.atan2(y, x) * Math.sign(x * vy - y * vx) + E - es - f;
}

function phaseErrors(system, told, params, y, ghost, failed) {
  const angle = angleOf(system, told, params, ghost);
  if (!angle) return null;
  const { dim } = told;
  let before = 0;
  return Float64Array.from({ length: y.length / dim }, (_, n) => {
    if (failed >= 0 && n >= failed) return NaN;
    const part = [n * dim, (n + 1) * dim];
    const ahead = angle(y.subarray(...part)) - angle(ghost.subarray(...part));
    const turns = Math.round((ahead - before) / (2 * Math.PI));
    return (before = ahead - 2 * Math.PI * turns);
  });
}

/** Roots of the characteristic polynomial, [re, im], by Faddeev and Le Verrier, and Durand and
 * Kerner: for up to four components. */
export function eigenvalues(J, n) {
  const multiply = (A, B) => A.map((_, k) => {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += A[Math.floor(k / n) * n + j] * B[j * n + (k % n)];
    return sum;
  });
  const scale = Math.max(...J.map(Math.abs)) || 1;
  const A = Array.from(J, (v) => v / scale);
  let M = A.map(() => 0);
  const c = [1];
  for (let k = 1; k <= n; k++) {
    M = multiply(A, M).map((v, i) => v + (i % (n + 1) ? 0 : c[k - 1]));
    const AM = multiply(A, M);
    let trace = 0;
    for (let i = 0; i < n; i++) trace += AM[i * (n + 1)];
    c.push(-trace / k);
  }
  if (n === 2) { // exactly, so that an oscillation stays one
    const [half, d] = [-c[1] / 2, (c[1] * c[1]) / 4 - c[2]];
    const root = Math.sqrt(Math.abs(d)) * scale;
    return d >= 0 ? [[half * scale + root, 0], [half * scale - root, 0]] : [[half * scale, root], [half * scale, -root]];
  }
  let z = Array.from({ length: n }, (_, k) => [Math.cos(0.4 + 2.5 * k), Math.sin(0.4 + 2.5 * k)]);
  for (let round = 0; round < 80; round++) {
    z = z.map(([a, b], k) => {
      let value = [1, 0];
      for (let i = 1; i <= n; i++) value = [value[0] * a - value[1] * b + c[i], value[0] * b + value[1] * a];
      let below = [1, 0];
      z.forEach(([x, y], j) => {
        if (j !== k) below = [below[0] * (a - x) - below[1] * (b - y), below[0] * (b - y) + below[1] * (a - x)];
      });
      const size = below[0] ** 2 + below[1] ** 2 || 1e-300;
      return [a - (value[0] * below[0] + value[1] * below[1]) / size, b - (value[1] * below[0] - value[0] * below[1]) / size];
    });
  }
  return z.map(([a, b]) => [a * scale, b * scale]).map(([a, b]) => (Math.abs(a) < 1e-6 * Math.abs(b) ? [0, b] : [a, b]));
}

/** |J^16|^(1/16), nearly the largest |eigenvalue|. */
function spectralRadius(J, n) {
  let [A, log] = [Array.from(J), 0];
  for (let k = 0; k < 4; k++) {
    const size = Math.hypot(...A) || 1;
    A = A.map((v) => v / size);
    log = 2 * (log + Math.log(size));
    A = A.map((_, i) => {
      let sum = 0;
      for (let j = 0; j < n; j++) sum += A[Math.floor(i / n) * n + j] * A[j * n + (i % n)];
      return sum;
    });
  }
  return Math.exp((log + Math.log(Math.hypot(...A) || 1e-300)) / 16);
}

/** The lines of Python that make the same numbers. */
export function pythonLines({ system, params, start, methods, dt, equal_work }, n) {
  const number = (x) => (Number.isInteger(x) && Math.abs(x) < 1e15 ? `${x}.0` : String(x));
  const value = (x) => (Array.isArray(x) ? `[${x.map(value).join(", ")}]` : number(x));
  const set = Object.entries(params).map(([name, x]) => `${name}=${value(x)}`).join(", ");
  return ["import pyintegrate as pi", "", "c = pi.compare(", `    pi.systems.${system}(${set}),`,
    `    ${value(start)},`, `    methods=[${methods.map((m) => `"${m}"`).join(", ")}],`,
    `    dt=${number(dt)},`, `    n_steps=${n},`, ...(equal_work ? ["    equal_work=True,"] : []), ")", "c.plot()"].join("\n");
}
