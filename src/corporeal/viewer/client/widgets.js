// Small controls, all in one style. Each is an element; those with a value have `show(value)`.

import { heard, say, words } from "./words.js";

export { words };

// Where a value was refused, fields show the one that holds even while they have the focus.
export const showing = { force: false };
const mayShow = (input) => showing.force || document.activeElement !== input;

let count = 0;
const newId = (what) => `${what}-${(count += 1)}`;

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-") || name === "role" || name === "for") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const lead = (title, text) => element("div", {}, element("h2", { textContent: say(title) }), element("p", { className: "lead", textContent: say(text) }));

// What `note` says is a text of the table; `remark` has one that is made already.
export const note = (text) => remark(say(text));
export const remark = (text) => element("p", { className: "note", textContent: text });

export function section(title, ...children) {
  return element("div", { className: "section" }, element("h3", {}, element("span", { textContent: say(title) })), ...children);
}

export function fold(title, ...children) {
  return element("details", { className: "section" }, element("summary", { textContent: say(title) }), ...children);
}

export const row = (...children) => element("div", { className: "row" }, ...children);

// Strokes on a 24 × 24 grid.
export function icon(paths) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  made.setAttribute("viewBox", "0 0 24 24");
  made.setAttribute("aria-hidden", "true");
  for (const d of paths) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", d);
    made.append(path);
  }
  return made;
}

// `named` buttons are called as their files and joints are, not by a text of the table.
export function button(text, action, { primary = false, title = "", strokes = null, named = false } = {}) {
  const shown = named || !text ? text : say(text);
  const hint = title && (named ? title : say(title));
  const children = [strokes && icon(strokes), shown ? element("span", { textContent: shown }) : null];
  return element("button", { type: "button", title: hint, "aria-label": shown || hint, className: [primary && "primary", strokes && !text && "icon"].filter(Boolean).join(" "), onclick: action }, ...children);
}

export function select(options, value, action, label = "") {
  const called = heard(label);
  const made = element("select", { onchange: () => action(made.value), title: called, "aria-label": called });
  made.choose = (rows) => made.replaceChildren(...rows.map((option) => {
    const [key, text] = Array.isArray(option) ? [option[0], heard(option[1])] : [option, heard(words(option))];
    return element("option", { value: key, textContent: text });
  }));
  made.choose(options);
  made.show = (next) => { if (mayShow(made)) made.value = next; };
  made.value = value;
  return made;
}

export function line(text, control, unit = "") {
  const id = (control.id ||= newId("control"));
  return element("div", { className: "line" }, element("label", { for: id }, say(text), unit ? element("small", { textContent: unit }) : null), control);
}

export function toggle(text, value, action, hint = "") {
  const input = element("input", { type: "checkbox", className: "switch", checked: value, title: heard(hint), "aria-label": say(text), onchange: () => action(input.checked) });
  const made = line(text, input);
  made.show = (next) => { input.checked = next; };
  return made;
}

// A slider; `logarithmic` spreads a wide range. `action(value, final)` is told every move.
export function slider({ text, low, high, value, unit = "", neutral = null, digits = null, logarithmic = false, step = null, hint = "" }, action) {
  const to = (x) => (logarithmic ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low));
  const from = (t) => (logarithmic ? low * (high / low) ** t : low + t * (high - low));
  const rounded = (x) => (step ? Math.round(x / step) * step : Number(x.toPrecision(5)));
  const output = element("output");
  const id = newId("slider");
  const input = element("input", { id, type: "range", min: 0, max: 1, step: "any", title: heard(hint), "aria-label": say(text) });
  const made = element("div", { className: "field", title: heard(hint) }, element("label", { for: id }, say(text), unit ? element("small", { textContent: unit }) : null), output, input);
  let held = false;
  const paint = (x) => {
    output.value = number(x, digits);
    input.setAttribute("aria-valuetext", unit ? `${output.value} ${unit}` : output.value);
    input.style.setProperty("--fill", `${100 * Math.min(1, Math.max(0, to(x)))}%`);
    made.classList.toggle("moved", neutral !== null && Math.abs(x - neutral) > 1e-6 * (high - low));
  };
  const tell = (final) => { const x = rounded(from(Number(input.value))); paint(x); action(x, final); };
  input.addEventListener("pointerdown", () => { held = true; });
  for (const end of ["pointerup", "pointercancel", "blur"]) input.addEventListener(end, () => { held = false; });
  input.addEventListener("input", () => tell(false));
  input.addEventListener("change", () => { held = false; tell(true); });
  made.addEventListener("dblclick", () => { if (neutral !== null) { made.show(neutral); action(neutral, true); } });
  made.show = (x) => { if (!held || showing.force) { input.value = to(x); paint(x); } };
  made.show(value);
  return made;
}

// A number that is typed; `factor` is from the document's unit to the shown one.
export function typed({ text, unit, factor = 1, digits = 1 }, action) {
  const input = element("input", { type: "number", step: "any", "aria-label": say(text) });
  const made = line(text, input, unit);
  input.addEventListener("change", () => { if (input.value !== "") action(Number(input.value) / factor); });
  made.show = (x) => { if (mayShow(input)) input.value = x === undefined ? "" : (x * factor).toFixed(digits); };
  return made;
}

export function number(x, digits = null) {
  if (digits !== null) return x.toFixed(digits);
  const size = Math.abs(x);
  if (size >= 1000) return Math.round(x).toLocaleString("en").replace(/,/g, "\u2009");
  return size >= 100 ? x.toFixed(0) : size >= 10 ? x.toFixed(1) : x.toFixed(2);
}

// A message that goes by itself, unless it is to stay; gives back how to take it away.
export function toast(text, { bad = false, stays = false } = {}) {
  const made = element("div", { className: bad ? "toast bad" : "toast", textContent: text, role: bad ? "alert" : "status" });
  const home = document.getElementById("toasts");
  home.append(made);
  while (home.children.length > 4) home.firstElementChild.remove();
  if (!stays) setTimeout(() => made.remove(), bad ? 9000 : 5000);
  return () => made.remove();
}
