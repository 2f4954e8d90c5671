// The phase plane alive: a swarm of motions that the core moves by a step in each frame.
import { drawPlane, planeOf } from "./plane.js";

const CROWD = 20000;
const STEPS = 60; // of a turn
const WIDER = 1.4; // than the window of the portrait
const RENEWED = 1 / 300; // of the swarm in each frame, where no noise stirs it
const GATHERED = 0.05; // of the window: the disc into which a click gathers them
const FADES = 0.8; // of the light that a point leaves, from frame to frame
const GOLDEN = [0.7548776662466927, 0.5698402909980532]; // even in the square (Roberts' sequence)

const even = (i) => GOLDEN.map((share) => (0.5 + (i + 1) * share) % 1);

/** The window of the swarm: that of the portrait with more around it; of positions and velocities
 * with rest in the middle. */
function windowAround({ left, right, bottom, top }, dof) {
  const [x, y] = dof ? [0, 0] : [(left + right) / 2, (bottom + top) / 2];
  const [w, h] = [Math.max(right - x, x - left) * WIDER, Math.max(top - y, y - bottom) * WIDER];
  return { left: x - w, right: x + w, bottom: y - h, top: y + h };
}

/** A swarm of an engine. */
export function swarmOf(engine) {
  const { about } = engine;
  let [moving, key, window, places, plane] = [null, "", null, null, null];
  let [light, image, canvas] = [null, null, document.createElement("canvas")];
  let next = 0; // place for one that begins again

  /** The i-th begins again, anywhere in the window. */
  function begin(rows, i) {
    const [across, up] = even(next++ % CROWD);
    rows[places[0] * CROWD + i] = window.left + across * (window.right - window.left);
    rows[places[1] * CROWD + i] = window.bottom + up * (window.top - window.bottom);
  }

  return {
    fits: (system) => Boolean(about.systems[system].swarm),
    get window() { return window; },
    get motions() { return moving; },
    /** All of them anew: over the window, or around a place of it. */
    spread(place) {
      if (!moving) return;
      for (let i = 0; i < CROWD; i++) {
        begin(moving.y, i);
        if (!place) continue;
        const [share, angle] = [Math.sqrt(i / CROWD), 2 * Math.PI * even(i)[1]];
        const sizes = [window.right - window.left, window.top - window.bottom];
        [Math.cos(angle), Math.sin(angle)].forEach((part, k) => {
          moving.y[places[k] * CROWD + i] = place[k] + GATHERED * sizes[k] * share * part;
        });
      }
      light?.fill(0);
    },
    /** One step more, of what a state of the lab and its record say now. */
    step(state, record) {
      const { dim, dof, swarm } = about.systems[state.system];
      const now = JSON.stringify([state.system, state.params, state.fan, record.turn]);
      if (now !== key) {
        const goes_on = moving && key.startsWith(`["${state.system}"`);
        [key, places] = [now, record.places];
        window = goes_on ? window : windowAround(record.portrait, dof);
        plane = dim === 2 ? planeOf(engine, state, window) : null;
        const rows = goes_on ? moving.y : Float64Array.from({ length: dim * CROWD }, (_, k) => state.start[Math.floor(k / CROWD)]);
        const since = goes_on ? { first: moving.first, time: moving.time } : {};
        moving = engine.motions({ ...state, dt: record.turn / STEPS }, rows, swarm, { seed: 2, ...since });
        if (!goes_on) this.spread();
      }
      moving.advance(1);
      if (state.fan?.noise > 0) return;
      for (let k = 0; k < RENEWED * CROWD; k++) begin(moving.y, next % CROWD);
    },
    /** The points as light that fades, into a part of a canvas. */
    draw(c, { left, top, width, height }, look) {
      const ratio = c.getTransform().a;
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== w || canvas.height !== h || !light) {
        [canvas.width, canvas.height] = [w, h];
        light = new Float32Array(w * h);
        image = new ImageData(w, h);
      }
      const [x, y] = places.map((d) => moving.y.subarray(d * CROWD, (d + 1) * CROWD));
      const [sx, sy] = [w / (window.right - window.left), h / (window.top - window.bottom)];
      for (let k = 0; k < light.length; k++) light[k] *= FADES;
      for (let i = 0; i < CROWD; i++) {
        const px = (x[i] - window.left) * sx, py = (window.top - y[i]) * sy;
        if (px >= 0 && px < w && py >= 0 && py < h) light[(px | 0) + w * (py | 0)] += 1;
        else if (!(Math.abs(px) < 2 * w && Math.abs(py) < 2 * h)) begin(moving.y, i); // gone, or no number
      }
      c.fillStyle = look.ink; // as the canvas understands it: #rrggbb
      const [r, g, b] = [1, 3, 5].map((at) => parseInt(c.fillStyle.slice(at, at + 2), 16));
      const pixels = new Uint32Array(image.data.buffer); // little-endian, as WebAssembly's machines are
      const ink = (b << 16) | (g << 8) | r;
      for (let k = 0; k < light.length; k++) pixels[k] = ink | (Math.min(255, 110 * light[k]) << 24);
      canvas.getContext("2d").putImageData(image, 0, 0);
      c.drawImage(canvas, left, top, width, height);
      const pixel = (v, from, to, start, size) => start + (size * (v - from)) / (to - from);
      if (plane) {
        drawPlane(c, plane, (v) => pixel(v, window.left, window.right, left, width),
          (v) => pixel(v, window.top, window.bottom, top, height), look);
      }
    },
  };
}
