// The lab as a page: its state is in the address, its numbers come from WebAssembly.
import { mount } from "../pyintegrate/laboratory/static/lab.js";
import { element } from "../pyintegrate/laboratory/static/look.js";
import { engineOf } from "./engine.js";
import { swarmOf } from "./swarm.js";

const ROOT15 = Math.sqrt(15);
const SCENES = [
  ["why energy, why phase", { system: "oscillator", params: { omega: ROOT15 }, dt: 0.1, t_end: 90 },
    "The step is 1/16 of a turn. RK4 keeps the time but loses energy at every step: the swing shrinks. Semi-implicit Euler never loses it for good, its error only goes to and fro; but it turns a little too fast and runs ahead."],
  ["a step too large", { system: "oscillator", params: { omega: ROOT15 }, dt: 0.55, t_end: 20, methods: ["rk4", "semi_implicit_euler", "explicit_euler"] },
    "Each method has a limit, marked on the slider of the step. Semi-implicit Euler stands up to h = 2/ω = 0.516, RK4 to 0.730, explicit Euler to none."],
  ["the same work", { system: "oscillator", params: { omega: ROOT15 }, dt: 0.2, t_end: 60, methods: ["rk4", "velocity_verlet", "forest_ruth4"], equal_work: true },
    "RK4 asks for the force four times a step, Verlet once: for the same work Verlet takes four steps where RK4 takes one. Now who is better, and when?"],
  ["a planet", { system: "kepler", dt: 0.1, t_end: 60, methods: ["rk4", "velocity_verlet"] },
    "Verlet's ellipse turns slowly, but stays an ellipse. RK4's planet spirals inwards."],
  ["a pendulum", { system: "pendulum", start: [2.8, 0], dt: 0.1, t_end: 40, methods: ["rk4", "semi_implicit_euler"] },
    "Almost upright, where a small error of the energy decides whether it goes over the top. Drag it."],
  ["heat", { system: "duffing", params: { delta: 0, gamma: 0 }, start: [0.7, 0], dt: 0.1, t_end: 200, methods: ["velocity_verlet"], fan: { noise: 0.1, friction: 0.2 } },
    "A particle in a double well, and a thousand of them in a heat bath: at first all stay in their well. When has half of what can cross the barrier crossed it? Move the noise."],
  ["chaos", { system: "double_pendulum", dt: 0.02, t_end: 20, methods: ["rk4", "velocity_verlet"] },
    "Two motions that begin alike, and errors that grow by themselves: after a while no method at this step is right."],
  ["a box that tumbles", { system: "rigid_body", dt: 0.1, t_end: 60, methods: ["rigid_semi_implicit_euler", "rigid_splitting2"] },
    "A turn about the middle one of three axes is unstable: again and again the box flips over. When it does is a matter of the method; the splitting keeps the angular momentum. Move inverse inertia 2 until it is the smallest."],
  ["three bodies in an eight", { system: "n_body", dt: 0.1, t_end: 60, methods: ["rk4", "velocity_verlet"] },
    "Three equal bodies chase one another along an eight. Take larger steps: whose eight lasts longest?"],
];

/** Numbers, one after the other, as an array like another. */
const shaped = (like, numbers) => (Array.isArray(like) ? like.map((one) => shaped(one, numbers)) : numbers.shift());

/** A fan that the system allows, or none. */
function fanFor({ state, params, heat }, { noise = 0, friction = heat?.friction ?? 0, of, spread = 0 } = {}) {
  const scalar = of in params && !Array.isArray(params[of].value);
  if (![noise, friction, spread].every((v) => v >= 0 && v < Infinity)) return {};
  return { noise: heat ? noise : 0, friction, of: scalar || state.some(({ name }) => name === of) ? of : state[0].name, spread };
}

/** A whole state from part of one. */
function completed(about, part) {
  const system = about.systems[part.system] ?? about.systems.oscillator;
  const name = about.systems[part.system] ? part.system : "oscillator";
  const params = Object.fromEntries(Object.entries(system.params).map(([key, { value }]) => {
    const given = [part.params?.[key] ?? value].flat(Infinity);
    return [key, given.length === [value].flat(Infinity).length ? shaped(value, given) : value];
  }));
  const methods = (part.methods ?? system.methods).filter((m) => system.fitting.includes(m)).slice(0, 4);
  return {
    system: name, params,
    start: part.start?.length === system.dim ? part.start : system.start,
    dt: part.dt > 0 ? part.dt : system.dt, t_end: part.t_end > 0 ? part.t_end : system.t_end,
    methods: methods.length ? methods : system.methods, equal_work: part.equal_work ?? false,
    fan: fanFor(system, part.fan),
  };
}

/** The address of a state, and back. */
export function addressOf(state) {
  const params = Object.entries(state.params).map(([key, value]) => [`p.${key}`, String(value)]);
  const { noise, friction, spread, of } = state.fan ?? {};
  return String(new URLSearchParams([["system", state.system], ...params,
    ["start", state.start.join()], ["dt", state.dt], ["until", state.t_end],
    ["methods", state.methods.join()], ...(state.equal_work ? [["work", 1]] : []),
    ...(noise || spread ? [["fan", [noise, friction, spread, of].join()]] : [])]));
}
export function stateOf(text) {
  const given = new URLSearchParams(text);
  const numbers = (value) => {
    const all = value.split(",").map(Number);
    return all.every(Number.isFinite) ? all : undefined;
  };
  const part = { params: {} };
  for (const [key, value] of given) {
    if (key.startsWith("p.")) {
      const all = numbers(value);
      if (all) part.params[key.slice(2)] = all.length > 1 ? all : all[0];
    } else if (key === "start") part.start = numbers(value);
    else if (key === "dt") part.dt = Number(value);
    else if (key === "until") part.t_end = Number(value);
    else if (key === "methods") part.methods = value.split(",");
    else if (key === "fan") {
      const [of, ...numbers] = value.split(",").reverse();
      const [spread, friction, noise] = numbers.map(Number);
      part.fan = { noise, friction, spread, of };
    } else if (key === "work") part.equal_work = value === "1";
    else if (key === "system") part.system = value;
  }
  return part;
}

/** Open the page in an element. */
export async function open(root, bytes, about) {
  const engine = await engineOf(bytes, about);
  const asked = location.hash.length > 1 ? stateOf(location.hash.slice(1)) : SCENES[0][1];
  const bits = element("span", {}, "…");
  const swarm = swarmOf(engine);
  const story = document.getElementById("story");
  let subject = null; // the system of the story
  const lab = mount(root, engine, completed(about, asked), {
    footer: [element("span", {}, "Every number on this page is made in this browser by the C core of pyintegrate. The digest of the page's own runs, which are fewer than those of info --digest: "), bits],
    swarm,
    onState: (state) => {
      history.replaceState(null, "", `#${addressOf(state)}`);
      if (subject && subject !== state.system) show("", "", null);
    },
  });
  const chips = SCENES.map(([title, part, text]) => element("button", { type: "button", onclick: () => {
    show(title, text, part.system);
    lab.begin(completed(about, part));
  } }, title));
  function show(title, text, system) {
    subject = system;
    chips.forEach((chip) => chip.setAttribute("aria-pressed", String(chip.textContent === title)));
    story.textContent = text;
  }
  document.getElementById("scenes").replaceChildren(...chips);
  if (location.hash.length <= 1 || asked === SCENES[0][1]) show(SCENES[0][0], SCENES[0][2], SCENES[0][1].system);
  addEventListener("hashchange", () => {
    lab.begin(completed(about, stateOf(location.hash.slice(1))));
  });
  globalThis.lab = Object.assign(lab, { swarm }); // for tests, and for whoever looks
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) lab.play(true);
  setTimeout(async () => {
    const digest = await engine.digest();
    bits.textContent = digest === about.digest ? `${digest}, as everywhere ✓`
      : `${digest}, and not ${about.digest} as elsewhere: please report it`;
    document.documentElement.dataset.bits = digest;
  }, 1200);
}
