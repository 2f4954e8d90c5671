// Elements, colours and numbers, as the lab shows them.

// Those of pyintegrate.plots (Okabe and Ito): told apart with any kind of colour vision.
const PALETTE = {
  light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"],
  dark: ["#6A94FF", "#F0803C", "#2CC79C", "#E29AC4", "#E69F00", "#9FE3FF"],
};
const OWN = {
  rk4: 0, semi_implicit_euler: 1, velocity_verlet: 2, explicit_euler: 3, midpoint: 4,
  forest_ruth4: 5,
};

/** A colour for each method: its own, or else the next that is free. */
export function coloursOf(methods, theme) {
  const taken = new Set(methods.filter((name) => name in OWN).map((name) => OWN[name]));
  return methods.map((name) => {
    let place = OWN[name];
    if (place === undefined) {
      place = [2, 3, 0, 4, 5, 1].find((free) => !taken.has(free)) ?? 0;
      taken.add(place);
    }
    return PALETTE[theme][place];
  });
}

/** The colours of everything else, from the style sheet. */
export function inks(root) {
  const style = getComputedStyle(root);
  const ink = (name) => style.getPropertyValue(`--pl-${name}`).trim();
  return Object.fromEntries(
    ["ink", "soft", "faint", "line", "ghost", "ground", "card", "alarm", "accent"].map((n) => [n, ink(n)]),
  );
}

/** Light or dark: as the page, JupyterLab or VS Code says, else as the system does. */
export function themeOf(root) {
  const asked = root.closest("[data-theme]")?.dataset.theme;
  if (asked === "dark" || asked === "light") return asked;
  const jupyter = document.body.dataset.jpThemeLight;
  if (jupyter !== undefined) return jupyter === "true" ? "light" : "dark";
  if (/vscode-(dark|high-contrast(?!-light))/.test(document.body.className)) return "dark";
  if (/vscode-/.test(document.body.className)) return "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** An element: attributes, `on...` handlers and text or elements within. */
export function element(tag, attributes = {}, ...within) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...within);
  return made;
}

/** A number with so many digits, without trailing zeros, and with a real minus sign. */
export function short(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  let text;
  if (size >= 10 ** digits || size < 1e-3) {
    const [digitsOf, power] = value.toExponential(Math.max(0, digits - 2)).split("e");
    text = `${digitsOf.replace(/\.?0+$/, "")}·10${raised(Number(power))}`;
  } else {
    text = value.toPrecision(digits);
    if (text.includes(".")) text = text.replace(/\.?0+$/, "");
  }
  return text.replace(/^-/, "−");
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
function raised(power) {
  return [...String(power)].map((letter) => RAISED[letter]).join("");
}

/** Sets the text of an element, if it differs. */
export function write(into, text) {
  if (into.textContent !== text) into.textContent = text;
}

/** Writes pairs of names and values into the spans of an element. */
export function writePairs(into, pairs) {
  if (into.children.length !== pairs.length) {
    into.replaceChildren(...pairs.map(() => element("span", {}, element("i"), new Text())));
  }
  pairs.forEach(([name, text], i) => {
    const [title, value] = into.children[i].childNodes;
    write(title, name);
    write(value, ` ${text}`);
  });
}

/** A number of steady width, for readings that change as time runs. */
export function steady(value, decimals) {
  return value.toFixed(decimals).replace(/^-/, "−");
}

const LETTERS = {
  theta: "θ", omega: "ω", alpha: "α", beta: "β", gamma: "γ", delta: "δ", sigma: "σ", rho: "ρ",
  mu: "μ", phi: "φ",
};

/** A name as it is written: omega0 is ω₀. */
export function written(name) {
  const [, letters, index] = /^(.*?)(\d*)$/.exec(name);
  const low = [...index].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
  return (LETTERS[letters] ?? letters).replaceAll("_", " ") + low;
}

export const withUnit = (text, unit) => (unit ? `${text} [${unit}]` : text);

/** A canvas as sharp as the screen, cleared: its context and size in CSS pixels. */
export function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineJoin = context.lineCap = "round";
  return { context, width, height };
}

/** Round numbers between two, about so many. */
export function ticks(low, high, about) {
  const rough = (high - low) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((digit) => digit * power >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

/** Text to the clipboard, or, where that is not allowed, shown to be copied by hand. */
export async function copied(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    shown.textContent = text;
    shown.hidden = false;
    const range = document.createRange();
    range.selectNodeContents(shown);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }
}

/** A number with its sign; and a share as a percentage, where it is neither huge nor tiny. */
export const signed = (x) => (x > 0 ? "+" : "") + short(x, 3);
export function percent(x) {
  if (!Number.isFinite(x) || Math.abs(x) > 10) return signed(x);
  return Math.abs(x) >= 1e-4 || x === 0 ? `${(x > 0 ? "+" : "") + short(100 * x, 3)} %` : signed(x);
}

/** An equation with Greek letters, powers and real minus signs. */
export const equationOf = ({ equation }) => equation
  .replace(/\b(theta|omega|alpha|beta|gamma|delta|sigma|rho|mu)(\d*)\b/g, (all) => written(all))
  .replaceAll("^2", "\u00b2").replaceAll("^3", "\u00b3").replaceAll("-", "\u2212");
