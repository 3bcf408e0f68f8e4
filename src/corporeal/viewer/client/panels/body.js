// Who it is: sliders, measurements, presets, somebody at random.

import { choose, SCANS } from "../upload.js";
import { button, element, fold, lead, note, row, section, slider, toggle, typed, words } from "../widgets.js";
import { learn, say } from "../words.js";

const FACTS = [["stature", "Stature", 100, "cm", 1], ["mass", "Mass", 1, "kg", 1], ["bmi", "BMI", 1, "", 1], ["waist_circumference", "Waist", 100, "cm", 1], ["fat_mass", "Fat", 1, "kg", 1], ["muscle_mass", "Muscle", 1, "kg", 1]];

const REGIONS = [
  ["Fat by region", /^adiposity/], ["Chest", /^(breast|measure-(bust|underbust|frontchest))/], ["Torso", /^(torso|measure-(shoulder|napetowaist))/],
  ["Belly and hips", /^(hip|stomach|buttocks|bulge|pelvis|measure-(waist|hips))/], ["Arms", /arm/], ["Legs", /(leg|measure-(calf|knee|thigh))/],
  ["Neck", /^(neck|measure-neck)/], ["Hands and feet", /(hand|foot|wrist|ankle)/],
];

// l-upperarm-fat → Upperarm fat, left
function sided(name) {
  const side = { "l-": ", left", "r-": ", right" }[name.slice(0, 2)] ?? "";
  const made = words((side ? name.slice(2) : name).replace(/^(measure|adiposity)-/, "")) + side;
  learn(made);
  return made;
}

const shapeName = (number) => {
  const made = say("Shape {number}", { number });
  learn(made);
  return made;
};

function build(home, { studio }) {
  const { sliders, measures, modifiers, presets } = studio.catalogue;
  const value = (parameter) => studio.document.body.sliders[parameter.name] ?? parameter.default;
  const facts = element("div", { className: "facts" });
  const showFacts = () => facts.replaceChildren(...FACTS.map(([name, text, factor, unit, digits]) => element("div", {},
    element("b", { textContent: studio.facts[name] === undefined ? "–" : (factor * studio.facts[name]).toFixed(digits) }),
    element("span", { textContent: unit ? `${say(text)}, ${unit}` : say(text) }))));

  const knobs = sliders.map((parameter) => [parameter, slider({
    text: words(parameter.name), low: parameter.low, high: parameter.high, value: value(parameter), neutral: parameter.default, unit: parameter.unit, hint: parameter.meaning,
  }, (next, final) => studio.change(["body", "sliders", parameter.name], next, final))]);

  const fields = measures.map(({ name, unit }) => [name, typed({ text: words(name.replace("_circumference", "").replace("buttock", "hips")), unit: unit === "m" ? "cm" : unit, factor: unit === "m" ? 100 : 1 }, (asked) => {
    studio.send("measure", { targets: { ...studio.document.body.measured, [name]: asked } });
  })]);
  const asked = note("");
  const scanned = note("");
  const scans = section("Scan", note("Open or drop here a scan of one person: it is registered, and moves as any body."),
    row(button("Open a scan…", () => choose(studio, SCANS, { as: "scan" }), { title: "A surface or points: .ply, .obj, .glb, .stl, .off, .xyz, .npz" })), scanned);
  scans.dataset.takes = "scan";

  const both = toggle("Both sides at once", true, () => {}, "A change of one arm or leg goes for the other, too");
  const isBoth = () => both.querySelector("input").checked;
  const reshape = (name) => (next, final) => {
    studio.change(["body", "local", name], next, final);
    const twin = name.replace(/^([lr])-/, (_, side) => (side === "l" ? "r-" : "l-"));
    if (twin !== name && isBoth()) studio.change(["body", "local", twin], next, final);
  };
  const regions = REGIONS.map(([title, pattern]) => fold(title, ...modifiers.filter(({ name }) => pattern.test(name)).map((parameter) => {
    const made = slider({ text: sided(parameter.name), low: parameter.low, high: parameter.high, value: 0, neutral: 0, hint: parameter.meaning }, reshape(parameter.name));
    studio.on("document", () => made.show(studio.document.body.local[parameter.name] ?? 0));
    return made;
  })));

  const learned = Array.from({ length: studio.catalogue.learned }, (_, k) => {
    const made = slider({ text: shapeName(k + 1), low: -3, high: 3, value: 0, neutral: 0, unit: "σ", hint: "A principal component of captured bodies" }, (next, final) => studio.change(["body", "learned", String(k + 1)], next, final));
    studio.on("document", () => made.show(studio.document.body.learned[k + 1] ?? 0));
    return made;
  });

  home.append(
    lead("Body", "Shape a person. Everything beside it follows."),
    facts,
    row(
      button("Somebody", () => studio.send("somebody", { seed: Math.floor(Math.random() * 2 ** 31) }), { title: "Draw an adult with real statistics" }),
      button("Reset", () => studio.send("preset", { name: presets[0] }), { title: "The average adult" }),
    ),
    section("Presets", element("div", { className: "chips" }, ...presets.map((name) => button(name, () => studio.send("preset", { name }), { named: true })))),
    section("Phenotype", ...knobs.map(([, knob]) => knob)),
    section("Measurements", note("Type what was measured: the body follows, the rest stays likely."), ...fields.map(([, field]) => field), asked),
    scans,
    fold("Learned shapes", note("Directions in which captured bodies differ most."), ...learned),
    section("Regions", row(button("Mirror", () => studio.send("mirror"), { title: "Left and right change places" })), both),
    ...regions,
  );
  const follow = () => {
    knobs.forEach(([parameter, knob]) => knob.show(value(parameter)));
    const names = Object.keys(studio.document.body.measured);
    asked.textContent = names.length ? say("Held: {names}.", { names: names.map((name) => words(name)).join(", ") }) : "";
    const { scan } = studio.document.body;
    scanned.textContent = scan ? say("{name} stands there; a slider goes back to bodies of sliders.", { name: scan }) : "";
  };
  studio.on("document", follow);
  studio.on("facts", () => { showFacts(); fields.forEach(([name, field]) => field.show(studio.facts[name])); });
  showFacts();
  fields.forEach(([name, field]) => field.show(studio.facts[name]));
}

export const body = { name: "body", title: "Body", icon: ["M12 7.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6z", "M6 22v-6a6 6 0 0 1 12 0v6"], build };
