// Sliders with a number beside them, and the slider of the step with the limits marked on it.
import { element, short, withUnit, written } from "./look.js";

/** A number with a slider: `change(value)` as it moves. */
export function slider({ name, unit, value, low, high, change, logarithmic = false, least = -Infinity }) {
  const to = (v) => (logarithmic ? Math.log(v) : v);
  const from = (v) => (logarithmic ? Math.exp(v) : v);
  const [a, b] = [to(low), to(high)];
  const range = element("input", {
    type: "range", min: 0, max: 1000, step: 1, "aria-label": name,
    oninput: () => give(Number(from(a + ((b - a) * range.value) / 1000).toPrecision(3))),
  });
  const box = element("input", {
    type: "text", inputmode: "decimal", spellcheck: "false", "aria-label": `${name}, as a number`,
    onchange: take,
    // JupyterLab cancels the line break, and with it the change.
    onkeydown: (event) => event.key === "Enter" && take(),
  });
  const marks = element("div", { class: "pl-marks" });
  let current = value, shown = "";
  /** Takes what was typed, a number or a fraction; anything else stays, with what is expected. */
  function take() {
    if (box.value === shown) return;
    const [above, below = 1] = box.value.replace("−", "-").replaceAll(",", ".").split("/").map((part) =>
      (part.trim() ? Number(part) : NaN));
    const typed = Number((above / below).toPrecision(12));
    if (Number.isFinite(typed) && typed >= least && (!logarithmic || typed > 0)) return give(typed);
    box.setAttribute("aria-invalid", "true");
    box.title = `a number${logarithmic ? " above 0" : least === 0 ? " from 0 on" : ""}, as 0.1 or 1/30`;
  }
  function show(now) {
    current = now;
    box.removeAttribute("aria-invalid");
    box.title = "";
    range.value = Math.round((1000 * (to(now) - a)) / (b - a));
    range.style.setProperty("--pl-share", `${Math.max(0, Math.min(100, range.value / 10))}%`);
    if (document.activeElement !== box || Number(box.value) !== now) box.value = String(Number(now.toPrecision(7)));
    shown = box.value;
  }
  function give(now) {
    show(now);
    change(now);
  }
  show(value);
  const label = element("span", { class: "pl-name" }, withUnit(written(name), unit));
  const root = element("label", { class: "pl-slider" }, label, box,
    element("div", { class: "pl-rail" }, range, marks));
  return {
    root, show, value: () => current,
    /** Marks [value, colour, text] on the rail. */
    mark(all) {
      marks.replaceChildren(...all.filter(([at]) => at >= low && at <= high).map(([at, colour, text]) => {
        const share = (to(at) - a) / (b - a);
        const mark = element("span", { class: "pl-mark", title: text });
        mark.style.left = `calc(8px + ${share} * (100% - 16px))`;
        mark.style.background = colour;
        return mark;
      }));
    },
  };
}

/** A choice of one of a list: [value, text] each. */
export function choice(label, options, value, change) {
  const made = element("select", { "aria-label": label, onchange: () => change(made.value) },
    ...options.map(([key, text]) => element("option", { value: key }, text)));
  made.value = value;
  return made;
}

/** Two or more buttons, of which one is pressed. */
export function segments(label, options, value, change) {
  const buttons = options.map(([key, text, title]) => element("button", {
    type: "button", title, onclick: () => {
      show(key);
      change(key);
    },
  }, text));
  function show(now) {
    options.forEach(([key], i) => buttons[i].setAttribute("aria-pressed", String(key === now)));
  }
  show(value);
  return { root: element("div", { class: "pl-segments", role: "group", "aria-label": label }, ...buttons), show };
}

/** A button with a text or a sign. */
export const button = (text, label, onclick, kind = "") =>
  element("button", { type: "button", "aria-label": label, title: label, onclick, class: kind }, text);

/** Dragging on a canvas: `moved(place, null)` takes hold of something and returns it, or null;
 * `moved(place, grip)` moves it. */
export function onDrag(canvas, moved, begin, end) {
  let [pointer, held] = [null, null];
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    const grip = moved(place(event), null);
    if (grip === null) return;
    [pointer, held] = [event.pointerId, grip];
    canvas.setPointerCapture(pointer);
    begin();
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId === pointer) moved(place(event), held);
  });
  const release = (event) => {
    if (event.pointerId !== pointer) return;
    pointer = null;
    end();
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
}

/** A figure: a canvas under a caption. */
export function figure(label) {
  const [title, note] = [element("b"), element("small")];
  const canvas = element("canvas", { role: "img", "aria-label": label });
  return { canvas, title, note, figure: element("figure", {}, element("figcaption", {}, title, " ", note), canvas) };
}

/** A sentence about the largest stable step. */
export function stabilityText(limit, dt, unit) {
  if (limit === undefined) return "with noise: no limit is known";
  if (limit === null) return "stable at any step, as far as theory tells";
  if (limit === 0) return "unstable at every step here";
  const text = `stable up to ${short(limit, 3)}${unit ? ` ${unit}` : ""}`;
  return dt > limit ? `${text}: this step is beyond` : text;
}

/** Methods as options, by family; those that are shown already cannot be chosen. */
export function groups(names, methods, shown) {
  const titles = { explicit_rk: "Runge-Kutta, explicit", composition: "symplectic, explicit",
    implicit_rk: "implicit", rosenbrock: "Rosenbrock", nystrom: "Nyström", multistep: "multistep",
    rigid_body: "rigid bodies", noise: "with noise" };
  return Object.entries(titles).map(([family, label]) => element("optgroup", { label },
    ...names.filter((name) => methods[name].family === family).map((name) =>
      element("option", { value: name, disabled: shown.includes(name) }, methods[name].title))))
    .filter((group) => group.children.length);
}
