// Which deformers stand side by side, and what the skin shows.

import { button, element, lead, line, note, remark, row, section, select, slider, toggle, words } from "../widgets.js";
import { deformerName } from "../overlay.js";
import { say } from "../words.js";

const COLOURINGS = () => [["skin", "Skin"], ["offset", "Soft-tissue offset"], ["strain", "Strain"], ["error", "Error against a body"], ["weight", "Skin weight of a joint"], ["stiffness", "Painted stiffness"], ["exaggeration", "Painted exaggeration"], ["layer", "Fat under the skin"]].map(([name, text]) => [name, say(text)]);

function build(home, { studio, stage }) {
  const cards = element("div");
  const add = button("+ Add a body", () => studio.change(["views"], [...studio.document.views, { deformer: "dqs", controls: {} }]), { title: "Up to four side by side" });
  const what = select(COLOURINGS(), "skin", (value) => studio.change(["colour", "what"], value), "Colour by");
  const against = select([["0", "Body 1"]], "0", (value) => studio.change(["colour", "against"], Number(value)), "Against");
  const againstLine = line("Against", against);
  const joint = select(stage.model.joints, "left_elbow", (value) => studio.change(["colour", "joint"], value), "Joint");
  const jointLine = line("Joint", joint);
  const most = slider({ text: "End of the scale", low: 2, high: 200, value: 40, logarithmic: true, digits: 0 }, (value, final) => studio.change(["colour", "most"], value, final));
  const look = (name) => (value, final = true) => studio.change(["look", name], value, final);
  const switches = [["skeleton", "Skeleton"], ["wireframe", "Wireframe"], ["ground", "Ground"]].map(([name, text]) => [name, toggle(text, false, look(name))]);
  home.append(
    lead("Deformers", "One body, moved in several ways, in step."),
    cards, row(add),
    section("Colour", line("Show", what), againstLine, jointLine, most),
    section("Look", ...switches.map(([, made]) => made)),
    note("Click a body to choose it; its settings are in Physics."),
  );
  const follow = () => {
    const { views, colour, look: now } = studio.document;
    const names = [...studio.catalogue.deformers.map((row_) => row_.name), ...studio.files.takes.map((take) => `take:${take}`)].map((name) => [name, deformerName(name)]);
    cards.replaceChildren(...views.map((view, number) => card(studio, view, number, names)));
    add.disabled = views.length >= 4;
    what.show(colour.what);
    against.choose(views.map((view, number) => [String(number), `${number + 1}: ${deformerName(view.deformer)}`]));
    against.value = String(Math.min(colour.against, views.length - 1));
    joint.show(colour.joint);
    againstLine.hidden = colour.what !== "error";
    jointLine.hidden = colour.what !== "weight";
    most.hidden = !["offset", "strain", "error", "layer"].includes(colour.what);
    if (studio.scale) most.show(colour.most || studio.scale.high);
    switches.forEach(([name, made]) => made.show(now[name]));
  };
  studio.on("document", follow);
  studio.on("chosen", follow);
  studio.on("files", follow);
  follow();
}

function card(studio, view, number, names) {
  const known = names.some(([name]) => name === view.deformer) ? names : [...names, [view.deformer, deformerName(view.deformer)]];
  const choice = select(known, view.deformer, (value) => studio.change(["views", number], { deformer: value, controls: {} }), "Deformer");
  const gone = button("", () => studio.change(["views"], studio.document.views.filter((_, other) => other !== number)), { strokes: ["M6 6l12 12", "M18 6L6 18"], title: "Take this body away" });
  gone.disabled = studio.document.views.length < 2;
  const changed = Object.entries(view.controls).map(([name, value]) => `${words(name).toLowerCase()} ${plain(value)}`);
  const made = element("div", { className: number === studio.view ? "card active" : "card", onpointerdown: (event) => { if (event.target === made) studio.choose(number); } },
    element("div", { className: "line" }, choice, gone), changed.length ? remark(changed.join(", ")) : null);
  made.style.setProperty("--view", `var(--view-${number})`);
  return made;
}

// A control's value as people write it.
function plain(value) {
  if (typeof value === "boolean") return value ? say("on") : say("off");
  return typeof value === "number" ? Number(value.toPrecision(4)) : value;
}

export const deformers = { name: "deformers", title: "Deformers", icon: ["M4 4h6v16H4z", "M14 4h6v16h-6z"], build };
