// Strips and the phase portrait: the whole run, pale beyond the moment shown.
import { prepare, short, ticks } from "./look.js";

const LEFT = 46, RIGHT = 14, TOP = 8, BOTTOM = 20;
const PALE = 0.22; // of the run beyond the moment shown

/** The range of a strip: all that is finite, but no more than `most` either way. */
export function rangeOf(all, most, logarithmic) {
  let [low, high, least] = [0, 0, Infinity];
  for (const values of all) {
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
      if (value !== 0) least = Math.min(least, Math.abs(value));
    }
  }
  if (logarithmic) {
    const top = Math.log10(Math.max(-low, high, 1e-16));
    const bottom = Math.log10(Math.max(least, 1e-17));
    return { low: Math.max(Math.floor(bottom), Math.ceil(top) - 10, -17), high: Math.ceil(top + 0.05) };
  }
  [low, high] = [Math.max(low, -most), Math.min(high, most)];
  if (low === high) [low, high] = [-1e-16, 1e-16];
  const room = 0.08 * (high - low);
  return { low: low - room, high: high + room };
}

/** One strip. `strip` has a range, a title and lines: {t, values, colour, wide}. */
export function drawStrip(canvas, strip, end, time, look) {
  const { context: c, width, height } = prepare(canvas);
  const { range, logarithmic } = strip;
  const inner = { w: width - LEFT - RIGHT, h: height - TOP - BOTTOM };
  const x = (t) => LEFT + (t / end) * inner.w;
  const value = (v) => (logarithmic ? Math.log10(Math.abs(v) || 1e-30) : v);
  const y = (v) => {
    const share = (value(v) - range.low) / (range.high - range.low);
    return TOP + inner.h * (1 - Math.max(-0.05, Math.min(1.05, share)));
  };
  c.font = "11px system-ui, sans-serif";
  c.textBaseline = "middle";
  c.textAlign = "right";
  c.lineWidth = 1;
  const marks = logarithmic
    ? ticks(range.low, range.high, 4).filter(Number.isInteger).map((power) => 10 ** power)
    : ticks(range.low, range.high, 4);
  for (const mark of marks) {
    const at = Math.round(y(mark)) + 0.5;
    c.strokeStyle = mark === 0 && !logarithmic ? look.faint : look.line;
    c.beginPath();
    c.moveTo(LEFT, at);
    c.lineTo(width - RIGHT, at);
    c.stroke();
    c.fillStyle = look.soft;
    c.fillText(short(mark, 3), LEFT - 6, at);
  }
  c.textAlign = "center";
  c.textBaseline = "alphabetic";
  for (const mark of ticks(0, end, width / 90)) c.fillText(short(mark, 4), x(mark), height - 5);
  c.save();
  c.beginPath();
  c.rect(LEFT, TOP - 4, inner.w + 1, inner.h + 8);
  c.clip();
  for (const [until, alpha] of [[Infinity, PALE], [time, 1]]) {
    for (const band of strip.bands ?? []) drawBand(c, band, x, y, until, alpha);
    c.globalAlpha = alpha;
    for (const line of strip.lines) drawLine(c, line, x, y, until, inner.w / end);
  }
  c.restore();
  c.strokeStyle = look.soft;
  c.globalAlpha = 0.6;
  c.beginPath();
  c.moveTo(x(time), TOP - 4);
  c.lineTo(x(time), TOP + inner.h);
  c.stroke();
  c.globalAlpha = 1;
}

/** Fills the band between two lines, as far as `time`. */
function drawBand(c, { t, low, high, colour, strength }, x, y, time, alpha) {
  let last = t.findIndex((at) => at > time);
  if (last < 0) last = t.length;
  c.fillStyle = colour;
  c.globalAlpha = alpha * strength;
  c.beginPath();
  for (let n = 0; n < last; n++) c.lineTo(x(t[n]), y(low[n]));
  for (let n = last - 1; n >= 0; n--) c.lineTo(x(t[n]), y(high[n]));
  c.fill();
}

/** A line as far as `time`; where many steps share a pixel, their lowest and highest. */
function drawLine(c, { t, values, colour, wide, width = 1.7 }, x, y, time, scale) {
  c.strokeStyle = colour;
  c.lineWidth = wide ? 4 : width;
  c.beginPath();
  const step = t.length > 1 ? t[1] - t[0] : 1;
  const many = Math.max(1, Math.floor(1 / (step * scale)));
  let down = false;
  for (let n = 0; n < t.length && t[n] <= time + 1e-9 * step; n += many) {
    let [low, high] = [Infinity, -Infinity];
    for (let m = n; m < Math.min(n + many, t.length) && t[m] <= time + 1e-9 * step; m++) {
      if (!Number.isFinite(values[m])) continue;
      low = Math.min(low, values[m]);
      high = Math.max(high, values[m]);
    }
    if (low > high) {
      down = false;
      continue;
    }
    const at = x(t[n]);
    if (down) c.lineTo(at, y(low));
    else c.moveTo(at, y(low));
    down = true;
    if (high > low) c.lineTo(at, y(high));
  }
  c.stroke();
}

/** The time at a place of a strip. */
export function timeAt(canvas, px, end) {
  const share = (px - LEFT) / (canvas.clientWidth - LEFT - RIGHT);
  return end * Math.max(0, Math.min(1, share));
}

/** Two components against each other: `portrait` has places, a window, lines and labels. */
export function drawPortrait(canvas, portrait, time, look) {
  const { context: c, width, height } = prepare(canvas);
  const { window: w, places: [across, up] } = portrait;
  const inner = { w: width - LEFT - RIGHT, h: height - TOP - BOTTOM };
  const x = (v) => LEFT + ((v - w.left) / (w.right - w.left)) * inner.w;
  const y = (v) => TOP + inner.h * (1 - (v - w.bottom) / (w.top - w.bottom));
  const within = (v) => Math.max(-1e4, Math.min(1e4, Number.isFinite(v) ? v : 1e4));
  c.font = "11px system-ui, sans-serif";
  c.fillStyle = look.soft;
  c.lineWidth = 1;
  for (const mark of ticks(w.left, w.right, inner.w / 70)) {
    c.textAlign = "center";
    c.textBaseline = "alphabetic";
    c.fillText(short(mark, 3), x(mark), height - 5);
    rule(c, x(mark), TOP, x(mark), TOP + inner.h, mark === 0 ? look.faint : look.line);
  }
  for (const mark of ticks(w.bottom, w.top, inner.h / 45)) {
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillText(short(mark, 3), LEFT - 6, y(mark));
    rule(c, LEFT, y(mark), LEFT + inner.w, y(mark), mark === 0 ? look.faint : look.line);
  }
  c.save();
  c.beginPath();
  c.rect(LEFT, TOP, inner.w, inner.h);
  c.clip();
  portrait.under?.(c, { left: LEFT, top: TOP, width: inner.w, height: inner.h });
  for (const { y: states, dt, dim, colour, wide, at } of portrait.lines) {
    c.strokeStyle = c.fillStyle = colour;
    c.lineWidth = wide ? 4 : 1.5;
    const count = states.length / dim;
    const now = Math.min(count - 1, Math.floor(time / dt + 1e-9));
    for (const [last, alpha] of [[count - 1, PALE], [now, 1]]) {
      const stride = Math.max(1, Math.floor(last / 4000));
      c.globalAlpha = alpha;
      c.beginPath();
      for (let n = 0; n <= last; n += stride) {
        c.lineTo(within(x(states[n * dim + across])), within(y(states[n * dim + up])));
      }
      c.stroke();
    }
    if (wide) continue;
    c.beginPath();
    c.arc(within(x(at[across])), within(y(at[up])), 5, 0, 7);
    c.fill();
    c.strokeStyle = look.card;
    c.stroke();
  }
  c.restore();
  const back = (px, py) => [
    w.left + ((px - LEFT) / inner.w) * (w.right - w.left),
    w.bottom + (1 - (py - TOP) / inner.h) * (w.top - w.bottom),
  ];
  return { back };
}

function rule(c, x0, y0, x1, y1, colour) {
  c.strokeStyle = colour;
  c.beginPath();
  c.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
  c.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  c.stroke();
}

/** The window of a portrait: where the true motion goes, with room. */
export function portraitWindow(ghost, dim, [across, up]) {
  const window = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
  for (let n = 0; n < ghost.length; n += dim) {
    const [x, y] = [ghost[n + across], ghost[n + up]];
    if (!Number.isFinite(x + y)) continue;
    window.left = Math.min(window.left, x);
    window.right = Math.max(window.right, x);
    window.bottom = Math.min(window.bottom, y);
    window.top = Math.max(window.top, y);
  }
  const [wide, high] = [window.right - window.left, window.top - window.bottom];
  const [dx, dy] = [wide > 0 ? 0.15 * wide : 1, high > 0 ? 0.15 * high : 1];
  if (!Number.isFinite(wide + high)) return { left: -1, right: 1, bottom: -1, top: 1 };
  return {
    left: window.left - dx, right: window.right + dx, bottom: window.bottom - dy,
    top: window.top + dy,
  };
}
