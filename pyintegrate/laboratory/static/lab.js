// The lab: a state, a record of all steps, a time that moves over them.
import {
  coloursOf, copied, element, equationOf, inks, short, steady, themeOf, withUnit, write, writePairs, written,
} from "./look.js";
import { dragged, drawScene } from "./scenes.js";
import { drawPortrait, drawStrip, timeAt } from "./charts.js";
import { fanStrip, readingsOf, stateAt, stripsOf, understood } from "./record.js";
import { lastSteps } from "./steps.js";
import { button, choice, figure, groups, onDrag, segments, stabilityText } from "./controls.js";
import { fillSide } from "./side.js";

const MOST_METHODS = 4;
const NARROW = 820; // pixels
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

/** Build the lab in an element. The engine has `about`, `run(state)` -> record and
 * `rates(t, y)` -> derivatives, both by promise; `run` may add to the fan of its record, and then
 * calls its second argument. `onState` hears of every new state; `swarm` lives on the portrait. */
export function mount(root, engine, firstState, { onState = () => {}, footer = [], swarm = null } = {}) {
  const { about } = engine;
  let state = structuredClone(firstState);
  let system = about.systems[state.system];
  let record = null;
  let time = 0, playing = false, speed = 1, logarithmic = false, linesFor = "";
  let [busy, waiting, frame, lastFrame, turn, later] = [false, false, 0, 0, false, 0];
  let swarming = false;
  let [colours, look, cards, parts, sliders, held] = [[], {}, [], {}, {}, null];

  // ---- asking the engine: the newest state counts, those between are skipped ----
  async function ask() {
    onState(state);
    if (busy) return void (waiting = true);
    busy = true;
    do {
      waiting = false;
      const asked = state;
      const answer = await engine.run(asked, redraw).catch((error) => ({ error: error.message }));
      parts.error.textContent = answer.error ?? "";
      parts.error.hidden = !answer.error;
      if (!answer.error && asked.system === state.system) adopt(answer, asked);
    } while (waiting);
    busy = false;
  }

  /** A new record, and what follows from it. */
  function adopt(answer, asked) {
    record = understood(answer, asked, system, held);
    time = Math.min(time, record.end);
    caption();
    rebuildCards();
    markLimits();
    parts.ghost.textContent = `grey: ${record.ghost}`;
    parts.timeline.max = record.runs[0].n;
    linesFor = "";
    if (playing) parts.steps.replaceChildren(); // a step of the motion before
    redraw();
  }

  /** What the strips and the portrait show now, over them. */
  function caption() {
    record.strips = stripsOf(record, system, logarithmic);
    parts.strips.forEach(({ figure, title, note }, i) => {
      figure.hidden = !record.strips[i];
      title.textContent = record.strips[i]?.title ?? "";
      note.textContent = record.strips[i]?.note ?? "";
    });
    parts.fan.figure.hidden = !record.fan;
    const shown = system.state[system.scene.kind === "box" ? 10 : 0];
    parts.fan.note.textContent = record.fan ? `${withUnit(written(shown.name), shown.unit)}: median, half and nine tenths of 1,000 by `
      + (about.methods[record.fan.method]?.title ?? "BAOAB in a heat bath") : "";
    parts.portrait.figure.hidden = !record.places;
    if (!record.places) return;
    const [a, b] = record.places.map((i) => written(system.state[i].name));
    const box = system.scene.kind === "box";
    parts.portrait.title.textContent = box ? "angular velocity" : system.dof ? "phase portrait" : "plane";
    parts.portrait.note.textContent = alive() ? "a click gathers them" : `${a} across, ${b} up`;
    parts.alive.hidden = !swarm?.fits(state.system);
  }

  const at = (run, t, values) => stateAt(run, system, t, values);
  const stepOf = (run) => Math.max(0, Math.min(run.n, Math.floor(time / run.dt + 1e-9)));

  // ---- drawing ----
  function redraw() {
    if (!frame) frame = requestAnimationFrame(draw);
  }

  function draw(now) {
    frame = 0;
    if (!record) return;
    if (playing) {
      const passed = Math.min(0.1, (now - (lastFrame || now)) / 1000);
      lastFrame = now;
      time = Math.min(record.end, time + (passed * speed * record.turn) / 1.6);
      if (time >= record.end) play(false);
      else redraw();
    }
    // All canvases before any text: a size that is asked for after a text has changed costs a layout.
    record.runs.forEach((run, i) => drawCard(run, cards[i], i));
    turn = !turn; // as time runs the strips and the portrait are drawn in turn
    if (!playing || turn) drawStrips();
    if (record.fan && (!playing || !turn)) {
      drawStrip(parts.fan.canvas, fanStrip(record, system, colours[0], look), record.end || 1, time, look);
    }
    if (record.places && !alive() && (!playing || !turn)) drawPlane();
    record.runs.forEach((run, i) => tell(run, cards[i]));
    const first = record.runs[0];
    parts.timeline.value = stepOf(first);
    parts.timeline.style.setProperty("--pl-share", `${(100 * time) / (record.end || 1)}%`);
    write(parts.clock, `t = ${steady(time, decimalsOf(first.dt))}${system.time_unit ? ` ${system.time_unit}` : ""}`);
    const most = state.t_end > record.end + first.dt ? ", the most that the lab makes" : "";
    write(parts.count, `step ${stepOf(first).toLocaleString("en")} of ${first.n.toLocaleString("en")}${most}`);
    if (!playing) showSteps();
  }

  function drawStrips() {
    record.strips.forEach((strip, i) => {
      const lines = record.runs.map((run, k) => ({ t: run.t, values: run[strip.name], colour: colours[k] }));
      // What swings less is drawn above what swings more.
      lines.sort((a, b) => largest(b.values) - largest(a.values));
      if (strip.ghost && !logarithmic) {
        lines.unshift({ t: record.runs[0].t, values: record.runs[0][strip.ghost], colour: look.ghost, wide: true });
      }
      drawStrip(parts.strips[i].canvas, { ...strip, lines }, record.end || 1, time, look);
    });
  }

  function drawPlane() {
    const { dim } = system;
    const lines = record.runs.map((run, k) => ({ y: run.y, dt: run.dt, dim, colour: colours[k], at: at(run, time, run.y) }));
    lines.unshift({ ...record.smooth, dim, colour: look.ghost, wide: true });
    parts.portrait.view = drawPortrait(parts.portrait.canvas, {
      window: alive() ? swarm.window : record.portrait, places: record.places, lines,
      under: alive() ? (c, place) => swarm.draw(c, place, look) : null,
    }, time, look);
  }

  const alive = () => swarming && swarm.fits(state.system);
  /** The swarm goes on in every frame, whether time runs or not. */
  function live() {
    if (!swarming) return redraw();
    requestAnimationFrame(live);
    if (record?.places && alive()) {
      swarm.step(record.state, record);
      drawPlane();
    }
  }

  const largest = (values) =>
    (values.most ??= values.reduce((most, v) => Math.max(most, Math.abs(v) || 0), 0));
  const decimalsOf = (dt) => Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(dt))));

  function drawCard(run, card, i) {
    const colour = colours[i];
    card.drawn = drawScene(card.canvas, system.scene, record.window, {
      time, y: run.y, ghost: run.ghost, at: (t, values) => at(run, t, values),
      memory: Math.max(run.dt, Math.min(record.end, record.turn * (system.dof === 1 ? 4 : system.dof ? 2.5 : 40))),
      grain: Math.min(run.dt, record.turn / 40),
    }, record.state.params, { ...look, colour });
  }

  /** What stands below a canvas. */
  function tell(run, card) {
    const n = stepOf(run);
    const blown = run.blown !== null && n >= run.blown;
    card.root.classList.toggle("pl-blown", blown);
    const lost = blown ? `explodes: gone since t = ${short(run.blown * run.dt, 3)}` : "outside the picture";
    write(card.note, blown || card.drawn.outside ? lost : "");
    writePairs(card.readings, readingsOf(run, n, system));
  }

  // ---- the line of formulas: one step, from before to after the time shown ----
  async function showSteps() {
    const key = `${record.number} ${state.system} ${stepOf(record.runs[0])}`;
    if (linesFor === key) return;
    linesFor = key;
    const shown = record;
    const told = await lastSteps(shown, system, engine, stepOf).catch(() => null);
    if (!told || shown !== record || linesFor !== key) return;
    parts.steps.replaceChildren(...told.map(([n, lines], i) => element("div", { class: "pl-step" },
      element("b", { style: `color:${colours[i]}` }, about.methods[shown.runs[i].method].title),
      element("small", {}, `step ${n} → ${n + 1}`),
      ...lines.map(([formula, numbers]) => element("div", {},
        element("code", {}, formula), element("span", {}, numbers))))));
  }

  // ---- time ----
  function play(on) {
    playing = on && (!record || record.end > 0);
    if (playing && record && time >= record.end) time = 0;
    lastFrame = 0;
    parts.play.textContent = playing ? "❚❚" : "▶";
    parts.play.setAttribute("aria-label", playing ? "pause" : "play");
    redraw();
  }
  function step(by) {
    play(false);
    if (!record) return;
    const first = record.runs[0];
    const n = by > 0 ? stepOf(first) + by : Math.ceil(time / first.dt - 1e-9) + by;
    time = Math.max(0, Math.min(first.n, n)) * first.dt;
    redraw();
  }
  function goTo(t) {
    play(false);
    if (!record) return;
    const first = record.runs[0];
    time = Math.min(record.end, Math.round(t / first.dt) * first.dt);
    redraw();
  }

  // ---- changing the state ----
  function change(patch) {
    state = { ...state, ...patch, number: (state.number ?? 0) + 1 };
    ask();
  }
  function setStart(start) {
    start.forEach((value, i) => sliders.start[i]?.show(value));
    time = 0;
    change({ start });
  }
  function setSystem(name) {
    system = about.systems[name];
    record = null; // that of another system
    time = 0;
    const params = Object.fromEntries(Object.entries(system.params).map(([key, p]) => [key, p.value]));
    const keep = state.methods.filter((method) => system.fitting.includes(method));
    const methods = [...new Set([...keep, ...system.methods])].slice(0, Math.max(2, keep.length));
    state = { ...state, system: name };
    change({ params, start: system.start, dt: system.dt, t_end: system.t_end, methods, fan: {} });
    sliders = fillSide(parts, system, state, change, setStart);
    parts.equation.textContent = equationOf(system);
    play(true);
  }
  /** Dragging a body, or the point of the portrait: the start follows. */
  const draggable = (canvas, moved) => onDrag(canvas, (place, grip) => (record ? moved(place, grip) : null), () => {
    held = { window: record.window, portrait: record.portrait };
    play(false);
  }, () => {
    held = null;
    change({});
  });

  function buildCard(name) {
    const canvas = element("canvas", { class: "pl-scene", role: "img" });
    const card = { canvas, name };
    const methods = groups(system.fitting, about.methods, state.methods);
    card.select = element("select", { "aria-label": "method", onchange: () => {
      change({ methods: state.methods.map((m) => (m === name ? card.select.value : m)) });
    } }, ...methods);
    card.select.value = name;
    const remove = element("button", { class: "pl-bare", type: "button", "aria-label": "remove this method",
      onclick: () => change({ methods: state.methods.filter((m) => m !== name) }) }, "×");
    card.note = element("div", { class: "pl-note" });
    card.readings = element("div", { class: "pl-readings" });
    card.root = element("section", { class: "pl-card" },
      element("header", {}, element("span", { class: "pl-dot" }), card.select, remove),
      element("div", { class: "pl-frame" }, canvas, card.note), card.readings);
    remove.hidden = state.methods.length < 2;
    draggable(canvas, ([px, py], grip) => {
      const { view, points } = card.drawn;
      if (grip === null) { // the nearest body
        const far = points.map(([x, y]) => Math.hypot(view.x(x) - px, view.y(y) - py));
        const which = far.indexOf(Math.min(...far));
        const flat = ["spring", "bead"].includes(system.scene.kind);
        return far[which] < 44 || (flat && py < view.paper) ? which : null;
      }
      setStart(dragged(system.scene, state.start, grip, view.back(px, py), state.params));
      return grip;
    });
    return card;
  }

  function rebuildCards() {
    const names = record.runs.map((run) => run.method);
    const key = [state.system, ...names].join();
    if (parts.stage.key === key) return;
    parts.stage.key = key;
    colours = coloursOf(names, themeOf(root));
    cards = names.map(buildCard);
    cards.forEach((card, i) => card.root.style.setProperty("--pl-colour", colours[i]));
    parts.stage.replaceChildren(...cards.map((card) => card.root));
    parts.stage.dataset.count = names.length;
    parts.stage.dataset.kind = system.scene.kind;
    parts.add.hidden = names.length >= MOST_METHODS;
  }

  function addMethod() {
    const likely = ["velocity_verlet", "explicit_euler", "midpoint", "forest_ruth4", ...system.fitting];
    const next = likely.find((name) => system.fitting.includes(name) && !state.methods.includes(name));
    change({ methods: [...state.methods, next] });
  }

  function markLimits() {
    sliders.dt.mark(record.runs.filter((run) => run.limit > 0).map((run) => {
      const share = run.dt / record.runs[0].dt; // of equal work: the mark for the common slider
      return [run.limit / share, colours[record.runs.indexOf(run)], about.methods[run.method].title];
    }));
    parts.limits.replaceChildren(...record.runs.map((run, i) => element("li", {
      style: `--pl-colour:${colours[i]}`, class: run.limit !== null && run.dt > run.limit ? "pl-over" : "",
    }, `${record.state.equal_work ? `h = ${short(run.dt, 3)}, ` : ""}${stabilityText(run.limit, run.dt, system.time_unit)}`)));
  }

  // ---- the page ----
  function build() {
    parts.error = element("div", { class: "pl-error", role: "alert", hidden: true });
    parts.stage = element("div", { class: "pl-stage" });
    parts.play = button("▶", "play", () => play(!playing), "pl-play");
    parts.timeline = element("input", { type: "range", min: 0, max: 1, step: 1, "aria-label": "time",
      oninput: () => goTo(parts.timeline.value * record.runs[0].dt) });
    parts.clock = element("output", { class: "pl-clock" });
    parts.count = element("span", { class: "pl-count" });
    const pace = choice("speed", SPEEDS.map((s) => [s, `${s}×`]), 1, (value) => (speed = Number(value)));
    parts.steps = element("div", { class: "pl-steps" });
    parts.strips = [figure("error over time"), figure("error over time")];
    parts.portrait = figure("phase portrait");
    parts.alive = segments("view", [["lines", "lines", "the motions alone"], ["swarm", "swarm", "20,000 motions at once"]],
      "lines", (key) => {
        if (swarming) swarm.spread();
        else if (key === "swarm") requestAnimationFrame(live);
        swarming = key === "swarm";
        if (record) caption();
      }).root;
    parts.portrait.figure.firstChild.append(parts.alive);
    parts.fan = figure("a thousand motions over time");
    parts.fan.title.textContent = "a thousand motions";
    parts.fan.figure.className = "pl-fan";
    parts.fan.figure.hidden = true;
    const scale = segments("scale", [["linear", "linear", ""], ["log", "log", "magnitude, logarithmic"]],
      "linear", (key) => {
        logarithmic = key === "log";
        if (record) caption();
        redraw();
      });
    parts.strips[0].figure.firstChild.append(scale.root);
    [...parts.strips, parts.fan].forEach(({ canvas }) => {
      const scrub = (event) => event.buttons && record && goTo(timeAt(canvas, event.offsetX, record.end));
      canvas.addEventListener("pointerdown", scrub);
      canvas.addEventListener("pointermove", scrub);
    });
    draggable(parts.portrait.canvas, (place, grip) => {
      const [a, b] = parts.portrait.view.back(...place).map((v) => Number(v.toPrecision(4)));
      if (alive()) return swarm.spread([a, b]), null;
      if (grip !== null) {
        const [across, up] = record.places;
        setStart(state.start.map((v, i) => (i === across ? a : i === up ? b : v)));
      }
      return 0;
    });
    parts.side = element("aside", { class: "pl-side" });
    parts.ghost = element("span", { class: "pl-ghost" });
    parts.add = button("+ method", "add a method", addMethod, "pl-add");
    const copy = button("copy as Python", "copy the lines that make this picture", async () => {
      await copied(record.python, parts.lines);
      copy.textContent = "copied";
      setTimeout(() => (copy.textContent = "copy as Python"), 1500);
    });
    parts.lines = element("pre", { class: "pl-lines", hidden: true });
    parts.equation = element("code", { class: "pl-equation" }, equationOf(system));
    const names = Object.entries(about.systems).map(([name, { title }]) => [name, title]);
    parts.system = choice("system", names, state.system, setSystem);
    root.classList.add("pi-lab");
    root.replaceChildren(
      element("header", { class: "pl-head" },
        parts.system, parts.equation, parts.ghost, parts.add, copy),
      parts.error, parts.lines,
      element("div", { class: "pl-body" },
        element("div", { class: "pl-main" }, parts.stage,
          element("div", { class: "pl-transport" },
            button("❘◀", "to the start", () => goTo(0), "pl-one"), button("◀", "a step back", () => step(-1), "pl-one"),
            parts.play, button("▶", "a step on", () => step(1), "pl-one"),
            parts.timeline, parts.clock, parts.count, pace),
          element("div", { class: "pl-charts" },
            ...parts.strips.map(({ figure: made }) => made), parts.portrait.figure),
          parts.fan.figure, parts.steps),
        parts.side),
      element("footer", {}, ...footer));
    root.tabIndex = -1;
    root.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey) event.stopPropagation(); // JupyterLab deletes cells by keys
      if (!["INPUT", "SELECT", "BUTTON", "TEXTAREA"].includes(event.target.tagName) && event.key === " ") play(!playing);
      else if (event.target.type === "range" || event.target.type === "text") return;
      else if (event.key === "ArrowRight") step(1);
      else if (event.key === "ArrowLeft") step(-1);
      else return;
      event.preventDefault();
    });
    sliders = fillSide(parts, system, state, change, setStart);
  }

  /** In the colours of the page: now, and when its style sheets have arrived. */
  function dress(why) {
    if (why !== later) later = setTimeout(() => dress(later), 500);
    root.dataset.look = themeOf(root);
    look = inks(root);
    parts.stage.key = "";
    if (record) {
      rebuildCards();
      markLimits();
      linesFor = "";
    }
    redraw();
  }

  build();
  const sized = new ResizeObserver(() => {
    root.classList.toggle("pl-narrow", root.clientWidth < NARROW);
    redraw();
  });
  sized.observe(root);
  const dressed = new MutationObserver(dress);
  dressed.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-light"] });
  dressed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", dress);
  dress(null);
  ask();
  return {
    /** A state from outside: the URL, or the kernel. */
    show(next) {
      if (next.system !== state.system) record = null;
      system = about.systems[next.system];
      state = structuredClone({ ...next, number: next.number ?? (state.number ?? 0) + 1 });
      parts.system.value = state.system;
      parts.equation.textContent = equationOf(system);
      sliders = fillSide(parts, system, state, change, setStart);
      ask();
    },
    /** Shows another state, running from its start. */
    begin(next) {
      time = 0;
      this.show(next);
      play(true);
    },
    /** The engine has another answer to the same state. */
    refresh: () => busy || ask(),
    play, step, goTo,
    get state() { return state; },
    get record() { return record; },
    get time() { return time; },
    close() {
      play(false);
      cancelAnimationFrame(frame);
      clearTimeout(later);
      sized.disconnect();
      dressed.disconnect();
      media.removeEventListener("change", dress);
    },
  };
}
