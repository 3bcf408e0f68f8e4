// Flesh, live: its controls, hands on it, paint.

import { button, element, fold, lead, line, note, row, section, select, slider, toggle, words } from "../widgets.js";
import { deformerName } from "../overlay.js";
import { PAINTS } from "../touch.js";

const SWITCHES = new Set(["sliding", "dynamics", "ground"]);
const SIGNS = { stiffness: [["-1", "Softer"], ["1", "Stiffer"], ["0", "Erase"]], exaggeration: [["-1", "Calmer"], ["1", "Livelier"], ["0", "Erase"]] };
const TOLD = { stiffness: "Flesh is prepared anew after every stroke.", exaggeration: "How far the skin goes from linear blending, times what is painted." };
const HIDDEN = new Set(["loop"]);
const RANGES = { stiffness: [1e3, 2e5], damping: [0, 60], gravity: [0, 30], mass: [0, 200], iterations: [1, 40] };

function build(home, { studio, touch }) {
  const place = element("div");
  const brush = slider({ text: "Brush", low: 0.02, high: 0.2, value: touch.brush.radius, unit: "m", digits: 2 }, (value) => { touch.brush.radius = value; });
  const sign = select([], "", (value) => { touch.brush.sign = Number(value); }, "Make it");
  const signs = () => { sign.choose(SIGNS[touch.brush.what]); sign.value = String(touch.brush.sign); };
  const what = select([["stiffness", "Stiffness"], ["exaggeration", "Exaggeration"]], touch.brush.what, (value) => { touch.brush.what = value; signs(); follow(); }, "Paint what");
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
    for (const { parameter, knob } of knobs) knob.show(view.controls[parameter.name] ?? parameter.default);
    const count = Object.keys(studio.document[PAINTS[touch.brush.what].kept]).length;
    painted.textContent = count ? `${count} vertices are painted.` : TOLD[touch.brush.what];
  };
  studio.on("document", follow);
  studio.on("chosen", follow);
  studio.on("frame", ({ views }) => {
    const view = views[studio.view];
    if (home.hidden || !view) return;
    const steps = Math.max(1, Math.ceil(2 * studio.document.speed - 1e-6));
    const length = (1000 * studio.document.speed) / 60 / steps;
    cost.textContent = `A frame: ${steps} step${steps > 1 ? "s" : ""} of ${length.toFixed(1)} ms, ${view.step_ms ? `computed in ${view.step_ms.toFixed(1)} ms` : "standing still"}.`;
  });
  follow();
}

function controls(studio, place, row_) {
  const number = studio.view;
  const names = studio.document.views.map((view, other) => [String(other), `${other + 1}: ${deformerName(view.deformer)}`]);
  const which = line("Body", select(names, String(number), (value) => studio.choose(Number(value)), "Body"));
  if (!row_?.controls.length) {
    place.replaceChildren(which, note("This body is moved by its joints alone: it has no flesh to tell anything."));
    return [];
  }
  const tell = (parameter) => (value, final = true) => {
    if (final) studio.change(["views", number, "controls", parameter.name], value, final);
  };
  const knobs = row_.controls.filter(({ name }) => !HIDDEN.has(name)).map((parameter) => ({ parameter, knob: knob(parameter, tell(parameter)) }));
  const first = knobs.slice(0, 8).map(({ knob: made }) => made);
  const rest = knobs.slice(8).map(({ knob: made }) => made);
  place.replaceChildren(which, section("Flesh", ...first), fold("More", ...rest),
    row(button("Reset flesh", () => studio.change(["views", number], { deformer: row_.name, controls: {} }))));
  return knobs;
}

function knob(parameter, tell) {
  const text = words(parameter.name);
  if (SWITCHES.has(parameter.name)) {
    const made = toggle(text, parameter.default >= 0.5, (value) => tell(value ? 1 : 0), parameter.meaning);
    const { show } = made;
    made.show = (value) => show(value >= 0.5);
    return made;
  }
  if (parameter.name === "collisions") {
    const choice = select([["0", "Off"], ["1", "At joints"], ["2", "Anywhere"]], "0", (value) => tell(Number(value)), parameter.meaning);
    const made = line("Collisions", choice);
    made.show = (value) => choice.show(String(value));
    return made;
  }
  const [low, high] = RANGES[parameter.name] ?? [parameter.low, parameter.high];
  return slider({ text, low, high, value: parameter.default, neutral: parameter.default, unit: parameter.unit, hint: parameter.meaning,
    logarithmic: parameter.name === "stiffness", step: parameter.name === "iterations" ? 1 : null }, tell);
}

export const physics = { name: "physics", title: "Physics", icon: ["M3 13c3-8 6 8 9 0s6 8 9 0", "M3 19h18"], build };
