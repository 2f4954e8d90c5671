// The side of the lab: the sliders.
import { element, written } from "./look.js";
import { choice, segments, slider } from "./controls.js";

/** The i-th number of a parameter: itself, an element of an array, or of a matrix's diagonal. */
const numberOf = (value, i) => (Array.isArray(value) ? numberOf(value[i], i) : value);
/** The parameter with another i-th number. */
const withNumber = (value, i, number) => (Array.isArray(value)
  ? value.map((one, k) => (k === i ? withNumber(one, i, number) : one)) : number);

/** Fill the side with sliders of the step, the end, parameters and the start. */
export function fillSide(parts, system, first, change, setStart) {
  // The newest values: what one slider has changed stays when another is moved.
  const state = { ...first, params: { ...first.params }, start: [...first.start] };
  const hertz = 2 * Math.PI / (16 * system.dt);
  const sliders = { start: [] };
  sliders.dt = slider({ name: "step h", unit: system.time_unit, value: state.dt, logarithmic: true,
    low: Math.min(state.dt, 0.01 / hertz), high: Math.max(state.dt, 6 / hertz), change: (dt) => change({ dt }) });
  sliders.end = slider({ name: "until", unit: system.time_unit, value: state.t_end, logarithmic: true,
    low: Math.min(state.t_end, system.t_end / 20), high: Math.max(state.t_end, system.t_end * 4), change: (t_end) => change({ t_end }) });
  const params = [];
  for (const [name, p] of Object.entries(system.params)) {
    p.low.forEach((low, i) => {
      const now = numberOf(state.params[name], i);
      const made = slider({ name: Array.isArray(p.value) ? `${name} ${i + 1}` : name, unit: p.unit, value: now,
        low: now < low ? 2 * now : low, high: now > p.high[i] ? 2 * now : p.high[i],
        change: (value) => {
          state.params = { ...state.params, [name]: withNumber(state.params[name], i, value) };
          change({ params: state.params });
        } });
      params.push(made.root);
    });
  }
  const starts = system.dim > 6 ? [] : system.state.map(({ name, unit }, i) => {
    const reach = 2 * Math.max(1, Math.abs(system.start[i]), Math.abs(state.start[i]));
    const made = slider({ name, unit, value: state.start[i], low: -reach, high: reach,
      change: (value) => setStart(sliders.start.map(({ value: now }, k) => (k === i ? value : now()))) });
    sliders.start[i] = made;
    return made.root;
  });
  const fan = fanSliders(system, state, change);
  parts.limits = element("ul", { class: "pl-limits" });
  const workSwitch = segments("what is equal", [
    ["step", "same step", "all methods take the same step h"],
    ["work", "same work", "all spend as many force evaluations as the first"],
  ], state.equal_work ? "work" : "step", (key) => change({ equal_work: key === "work" })).root;
  parts.side.replaceChildren(
    element("h4", {}, "step"), sliders.dt.root, parts.limits,
    workSwitch, sliders.end.root,
    ...(params.length ? [element("h4", {}, "parameters"), ...params] : []),
    element("h4", {}, "start"), ...starts,
    element("p", { class: "pl-hint" }, "or drag the body itself"),
    element("h4", {}, "a thousand motions"), ...fan);
  return sliders;
}

/** How a thousand motions differ: by the noise of a heat bath, by a component or a parameter. */
function fanSliders(system, state, change) {
  const { heat } = system;
  const names = system.state.map(({ name }) => name);
  const numbers = Object.keys(system.params).filter((name) => !Array.isArray(system.params[name].value));
  let fan = { noise: 0, friction: heat?.friction ?? 0, of: names[0], spread: 0, ...state.fan };
  const set = (patch) => change({ fan: (fan = { ...fan, ...patch }) });
  const from0 = (name, key, high) =>
    slider({ name, value: fan[key], low: 0, high: Math.max(high, fan[key]), least: 0, change: (value) => set({ [key]: value }) }).root;
  const options = [...names, ...numbers].map((name) => [name, `spread of ${written(name)}`]);
  return [
    ...(heat ? [from0("noise kT", "noise", 2 * heat.noise), from0("friction", "friction", 10 * heat.friction)] : []),
    choice("what differs", options, fan.of, (of) => set({ of })), from0("spread, ± a share", "spread", 0.5),
  ];
}
