// A state as a picture: what hangs, slides, travels or turns, over the ghost of the true motion.
import { drawBox, seen, unseen } from "./boxes.js";
import { prepare } from "./look.js";

const TRACE = 0.56; // of the height of a canvas of one dimension: the paper below the mass

/** Points of a state, [x, y] with y upwards. */
export function pointsOf(scene, y, params) {
  const length = (i) => Number(params[scene.lengths?.[i]] ?? 1);
  if (scene.kind === "pendulum") {
    return [[length(0) * Math.sin(y[0]), -length(0) * Math.cos(y[0])]];
  }
  if (scene.kind === "double_pendulum") {
    const first = [length(0) * Math.sin(y[0]), -length(0) * Math.cos(y[0])];
    return [first, [first[0] + length(1) * Math.sin(y[1]), first[1] - length(1) * Math.cos(y[1])]];
  }
  if (scene.kind === "spring" || scene.kind === "bead") return [[y[0], 0]];
  if (scene.kind === "box") return [seen(y)];
  return scene.places.map(([across, up]) => [y[across], y[up]]);
}

const flat = (scene) => scene.kind === "spring" || scene.kind === "bead";

/** The window of a canvas: where the true motion lies, with some room. */
export function windowOf(scene, runs, params, dim) {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  const reach = (x, y) => {
    if (!Number.isFinite(x + y)) return;
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [bottom, top] = [Math.min(bottom, y), Math.max(top, y)];
  };
  const { ghost } = runs[0];
  const count = ghost.length / dim;
  const stride = Math.max(1, Math.floor(count / 3000));
  for (let n = 0; n < count; n += stride) {
    for (const point of pointsOf(scene, ghost.subarray(n * dim, (n + 1) * dim), params)) {
      reach(...point);
    }
  }
  if (scene.kind === "pendulum" || scene.kind === "double_pendulum") {
    const all = (scene.lengths ?? []).reduce((sum, name) => sum + Number(params[name] ?? 1), 0);
    const size = (scene.lengths?.length ? all : 1) * 1.12;
    return { left: -size, right: size, bottom: -size, top: size, equal: true };
  }
  if (scene.centre || scene.kind === "spring") reach(0, 0);
  if (scene.kind === "box" && right >= left) {
    [left, right, bottom, top] = [left - 1.2, right + 1.2, bottom - 1.2, top + 1.2];
  }
  if (!(right > left)) [left, right] = [(left || 0) - 1, (left || 0) + 1];
  if (!(top > bottom)) [bottom, top] = [(bottom || 0) - 1, (bottom || 0) + 1];
  const room = flat(scene) ? 0.22 : 0.14;
  const [wide, high] = [(right - left) * room, (top - bottom) * room];
  const window = { left: left - wide, right: right + wide, bottom: bottom - high, top: top + high };
  window.equal = !flat(scene) && scene.units !== "different";
  return window;
}

/** Pixels of points, and back. */
export function viewOf(scene, window, width, height) {
  if (flat(scene)) {
    const scale = width / (window.right - window.left);
    const row = height * (1 - TRACE) * 0.56;
    return {
      x: (x) => (x - window.left) * scale, y: () => row, back: (px) => [window.left + px / scale, 0],
      row, paper: height * (1 - TRACE), half: Math.min(17, width / 16), // of the mass
    };
  }
  let across = width / (window.right - window.left);
  let up = height / (window.top - window.bottom);
  if (window.equal) across = up = Math.min(across, up);
  const middle = [(window.left + window.right) / 2, (window.bottom + window.top) / 2];
  return {
    x: (x) => width / 2 + (x - middle[0]) * across,
    y: (y) => height / 2 - (y - middle[1]) * up,
    back: (px, py) => [middle[0] + (px - width / 2) / across, middle[1] - (py - height / 2) / up],
  };
}

/** The state in which the nearest point lies where it was dragged to. */
export function dragged(scene, y, which, [px, py], params) {
  const moved = Array.from(y);
  const length = Number(params[scene.lengths?.[0]] ?? 1);
  if (scene.kind === "pendulum") moved[0] = nearest(Math.atan2(px, -py), y[0]);
  else if (scene.kind === "double_pendulum") {
    const [x0, y0] = which ? [length * Math.sin(y[0]), -length * Math.cos(y[0])] : [0, 0];
    moved[which] = nearest(Math.atan2(px - x0, -(py - y0)), y[which]);
  } else if (flat(scene)) moved[0] = px;
  else if (scene.kind === "box") [moved[0], moved[2]] = unseen([px, py], y[1]);
  else [moved[scene.places[which][0]], moved[scene.places[which][1]]] = [px, py];
  return moved.map((value) => Number(value.toPrecision(4)));
}

const nearest = (angle, to) => angle + 2 * Math.PI * Math.round((to - angle) / (2 * Math.PI));

/** Whether a state has left the canvas. */
export function isOutside(scene, points, window) {
  return points.some(([x, y]) =>
    !(x >= window.left && x <= window.right) ||
    (!flat(scene) && !(y >= window.bottom && y <= window.top)));
}

/** Draw one method over its ghost. `motion` gives states at times, `look` colours. */
export function drawScene(canvas, scene, window, motion, params, look) {
  const { context: c, width, height } = prepare(canvas);
  const view = viewOf(scene, window, width, height);
  const clamp = (value, most) => Math.max(-60, Math.min(most + 60, Number.isFinite(value) ? value : -60));
  const place = ([x, y]) => [clamp(view.x(x), width), clamp(view.y(y), height)];
  const here = motion.at(motion.time, motion.y);
  const there = motion.at(motion.time, motion.ghost);
  const points = pointsOf(scene, here, params);
  const shadows = pointsOf(scene, there, params);
  if (flat(scene)) {
    drawPaper(c, view, width, height, scene, motion, look, place);
    drawTrack(c, view, width, scene, window, look);
  } else drawTrails(c, scene, motion, params, look, place);
  if (scene.kind === "box") {
    const size = Math.max(1, (window.right - window.left) / 16); // of a long way: for the eye
    drawBox(c, there, params, size, place, look, true);
    drawBox(c, here, params, size, place, look, false);
  } else {
    drawBodies(c, scene, view, shadows.map(place), look, true);
    drawBodies(c, scene, view, points.map(place), look, false);
  }
  return { view, points, outside: isOutside(scene, points, window) };
}

function path(c, points) {
  c.beginPath();
  points.forEach(([x, y], n) => (n ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.stroke();
}

/** The paper that runs downwards under the mass: now at the top, older further down. */
function drawPaper(c, view, width, height, scene, motion, look, place) {
  const top = view.paper;
  c.fillStyle = look.ground;
  c.fillRect(0, top, width, height - top);
  const line = (values) => {
    const points = [];
    const first = Math.max(0, motion.time - motion.memory);
    const n = Math.min(600, Math.max(2, Math.ceil((motion.time - first) / motion.grain)));
    for (let i = 0; i <= n; i++) {
      const t = motion.time - ((motion.time - first) * i) / n;
      const down = top + ((motion.time - t) / motion.memory) * (height - top);
      points.push([place([motion.at(t, values)[0], 0])[0], down]);
    }
    path(c, points);
  };
  c.strokeStyle = look.ghost;
  c.lineWidth = 4;
  line(motion.ghost);
  c.strokeStyle = look.colour;
  c.lineWidth = 1.8;
  line(motion.y);
  c.fillStyle = look.line;
  c.fillRect(0, top, width, 1);
}

function drawTrack(c, view, width, scene, window, look) {
  c.strokeStyle = look.line;
  c.lineWidth = 1;
  path(c, [[0, view.row + 18.5], [width, view.row + 18.5]]);
  if (window.left < 0 && window.right > 0) {
    c.setLineDash([2, 4]);
    path(c, [[view.x(0), view.row - 22], [view.x(0), view.paper - 2]]);
    c.setLineDash([]);
  }
  if (scene.kind === "spring") {
    c.fillStyle = look.line;
    c.fillRect(0, view.row - 24, 6, 42);
  }
}

/** Where the points were, fading. */
function drawTrails(c, scene, motion, params, look, place) {
  const first = Math.max(0, motion.time - motion.memory);
  const most = Math.ceil(500 / Math.max(1, scene.places.length ** 0.8)); // many bodies share them
  const pieces = Math.min(most, Math.max(2, Math.ceil((motion.time - first) / motion.grain)));
  const track = (values) => {
    const tracks = [];
    for (let i = 0; i <= pieces; i++) {
      const t = first + ((motion.time - first) * i) / pieces;
      const points = pointsOf(scene, motion.at(t, values), params);
      points.forEach((point, which) => (tracks[which] ??= []).push(place(point)));
    }
    return scene.kind === "double_pendulum" ? tracks.slice(1) : tracks;
  };
  c.strokeStyle = look.ghost;
  c.lineWidth = 4;
  track(motion.ghost).forEach((points) => path(c, points));
  c.strokeStyle = look.colour;
  c.lineWidth = 1.8;
  for (const points of track(motion.y)) {
    for (let from = 0, n = 8; from < n; from++) { // older parts are fainter
      c.globalAlpha = 0.15 + (0.85 * (from + 1)) / n;
      const [a, b] = [from, from + 1].map((k) => Math.floor((k * (points.length - 1)) / n));
      path(c, points.slice(a, b + 1));
    }
    c.globalAlpha = 1;
  }
}

/** The bodies: filled, or as a ghost. */
function drawBodies(c, scene, view, places, look, isGhost) {
  const colour = isGhost ? look.ghost : look.colour;
  c.strokeStyle = colour;
  c.fillStyle = colour;
  if (scene.kind === "spring") {
    const [[x, y]] = places;
    const { half } = view;
    if (!isGhost) {
      c.lineWidth = 1.6;
      const [from, to, turns] = [6, x - half, 11];
      const middle = Array.from({ length: turns }, (_, i) =>
        [from + 8 + ((to - from - 16) * (i + 0.5)) / turns, y + (i % 2 ? 8 : -8)]);
      path(c, [[from, y], [from + 8, y], ...middle, [to - 8, y], [to, y]]);
    }
    c.beginPath();
    c.roundRect(x - half, y - half, 2 * half, 2 * half, 6);
    return finish(c, look, isGhost);
  }
  if (scene.kind === "pendulum" || scene.kind === "double_pendulum") {
    const pivot = [view.x(0), view.y(0)];
    c.lineWidth = isGhost ? 3 : 2;
    path(c, [pivot, ...places]);
    c.beginPath();
    c.arc(...pivot, 3.5, 0, 7);
    c.fill();
  }
  if (scene.tied && !isGhost) {
    c.lineWidth = 1.2;
    path(c, [[view.x(0), view.y(0)], ...places]);
  }
  if (scene.centre && !isGhost) {
    c.fillStyle = look.soft;
    c.beginPath();
    c.arc(view.x(0), view.y(0), scene.tied ? 3 : 7, 0, 7);
    c.fill();
    c.fillStyle = colour;
  }
  const size = scene.kind === "bead" ? 14 : scene.kind === "path" ? 7 : 10;
  for (const point of places) {
    c.beginPath();
    c.arc(...point, size, 0, 7);
    finish(c, look, isGhost);
  }
}

function finish(c, look, isGhost) {
  if (!isGhost) {
    c.fill();
    c.lineWidth = 1.5;
    c.strokeStyle = look.card;
    c.stroke();
    c.strokeStyle = look.colour;
    return;
  }
  c.globalAlpha = 0.35;
  c.fill();
  c.globalAlpha = 1;
  c.lineWidth = 2;
  c.stroke();
}
