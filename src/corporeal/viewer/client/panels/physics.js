// Flesh, live: its controls, hands on it, paint.

import { button, element, fold, lead, line, note, row, section, select, slider, toggle, words } from "../widgets.js";
import { deformerName } from "../overlay.js";
import { PAINTS } from "../touch.js";
import { say } from "../words.js";

const SIGNS = { stiffness: [["-1", "Softer"], ["1", "Stiffer"], ["0", "Erase"]], exaggeration: [["-1", "Calmer"], ["1", "Livelier"], ["0", "Erase"]] };
const TOLD = { stiffness: "Flesh is prepared anew after every stroke.", exaggeration: "How far the skin goes from linear blending, times what is painted; in learned bodies, how far their dynamics go." };

function build(home, { studio, touch }) {
  const place = element("div");
  const brush = slider({ text: "Brush", low: 0.02, high: 0.2, value: touch.brush.radius, unit: "m", digits: 2 }, (value) => { touch.brush.radius = value; });
  const sign = select([], "", (value) => { touch.brush.sign = Number(value); }, "Make it");
  const signs = () => { sign.choose(SIGNS[touch.brush.what].map(([value, text]) => [value, say(text)])); sign.value = String(touch.brush.sign); };
  const what = select([["stiffness", say("Stiffness")], ["exaggeration", say("Exaggeration")]], touch.brush.what, (value) => { touch.brush.what = value; signs(); follow(); }, "Paint what");
  signs();
  const painted = note("");
  const cost = note("");
  home.append(
    lead("Physics", "Pull the flesh with the mouse; change what it is made of."),
    cost,
    place,
    section("Paint on the skin", row(button("Paint", () => studio.use("paint")), button("Grab", () => studio.use("grab"))),
      line("What", what), line("Make it", sign), brush,
      row(button("Show paint", () => studio.change(["colour", "what"], studio.document.colour.what === touch.brush.what ? "skin" : touch.brush.what)), button("Clean", () => studio.send("unpaint", { what: touch.brush.what }))), painted),
  );
  let shown = "";
  let knobs = [];
  const follow = () => {
    const view = studio.document.views[studio.view];
    const row_ = studio.deformer(view.deformer);
    const key = `${studio.view} ${view.deformer}`;
    if (key !== shown) knobs = controls(studio, place, row_);
    shown = key;
    for (const { control, knob } of knobs) knob.show(view.controls[control.name] ?? control.default);
    const count = Object.keys(studio.document[PAINTS[touch.brush.what].kept]).length;
    painted.textContent = count ? say("{count} vertices are painted.", { count }) : say(TOLD[touch.brush.what]);
  };
  studio.on("document", follow);
  studio.on("chosen", follow);
  studio.on("frame", ({ views }) => {
    const view = views[studio.view];
    if (home.hidden || !view) return;
    const steps = Math.max(1, Math.ceil(2 * studio.document.speed - 1e-6));
    const length = (1000 * studio.document.speed) / 60 / steps;
    const told = view.step_ms ? say("computed in {time} ms", { time: view.step_ms.toFixed(1) }) : say("standing still");
    cost.textContent = say("A frame: steps of {length} ms, {count} of them, {told}.", { count: steps, length: length.toFixed(1), told });
  });
  follow();
}

function controls(studio, place, row_) {
  const number = studio.view;
  const names = studio.document.views.map((view, other) => [String(other), `${other + 1}: ${deformerName(view.deformer)}`]);
  const which = line("Body", select(names, String(number), (value) => studio.choose(Number(value)), "Body"));
  if (!row_?.controls.length) {
    place.replaceChildren(which, note("This body is moved by its joints alone: there is nothing to tell it."));
    return [];
  }
  const tell = (control) => (value, final = true) => {
    if (final) studio.change(["views", number, "controls", control.name], value, final);
  };
  const knobs = row_.controls.map((control) => ({ control, knob: knob(control, tell(control)) }));
  const made = (advanced) => knobs.filter(({ control }) => control.advanced === advanced).map(({ knob: one }) => one);
  const [first, rest] = [made(false), made(true)];
  place.replaceChildren(which, section(row_.flesh ? "Flesh" : row_.title, ...first), rest.length ? fold("More", ...rest) : "",
    row(button("Reset flesh", () => studio.change(["views", number], { deformer: row_.name, controls: {} }))));
  return knobs;
}

// A control of the catalogue as a widget: its kind decides which.
function knob(control, tell) {
  const text = words(control.name);
  if (control.kind === "switch") return toggle(text, control.default, tell, `${control.help}; off: ${control.off}`);
  if (control.kind === "choice") {
    const options = Object.entries(control.choices).map(([word, what]) => [word, words(what)]);
    const choice = select(options, control.default, tell, control.help);
    const made = line(text, choice);
    made.show = choice.show;
    return made;
  }
  const [low, high] = control.slider;
  return slider({ text, low, high, value: control.default, neutral: control.default, unit: control.unit, hint: control.help,
    logarithmic: control.logarithmic, step: control.kind === "count" ? 1 : null }, tell);
}

export const physics = { name: "physics", title: "Physics", icon: ["M3 13c3-8 6 8 9 0s6 8 9 0", "M3 19h18"], build };
