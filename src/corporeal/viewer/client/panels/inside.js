// Under the skin: bones and muscles, a cut, and fat that grows or goes.

import { Inside } from "../inside.js";
import { button, element, lead, line, note, row, section, select, slider, toggle, words } from "../widgets.js";
import { say } from "../words.js";

const REGIONS = ["everywhere", "belly", "back", "chest", "hips", "thighs", "legs", "arms", "neck"];

function build(home, { studio, stage }) {
  const inside = new Inside(studio, stage);
  const look = (name) => (value, final = true) => studio.change(["look", name], value, final);
  const opacity = slider({ text: "Skin", low: 0.05, high: 1, value: 1, neutral: 1, digits: 2, hint: "1: solid, less: seen through" }, look("skin_opacity"));
  const bone = toggle("Bones", false, (value) => see("bone", value));
  const muscle = toggle("Muscles", false, (value) => see("muscle", value));
  const see = (name, value) => {
    look(name)(value);
    if (value && studio.document.look.skin_opacity === 1 && studio.document.look.cut < 0) look("skin_opacity")(0.35);
  };
  const cut = slider({ text: "Cut away", low: 0, high: 1, value: 0, neutral: 0, digits: 2 }, (value, final) => look("cut")(value > 0.005 ? value : -1, final));
  const axis = select([["z", "From the front"], ["x", "From the side"], ["y", "From above"]], "x", look("cut_axis"), "Cut from");
  const masses = element("div", { className: "facts" });
  const growth = REGIONS.map((region) => [region, slider({ text: words(region), low: -10, high: 20, value: 0, neutral: 0, unit: "kg", step: 0.5, digits: 1 }, (value, final) => {
    if (final) studio.change(["growth", region], value === 0 ? null : value);
  })]);
  home.append(
    lead("Inside", "Bones, muscles and fat, fitted under this skin."),
    masses,
    section("See", opacity, bone, muscle, row(
      button("Show fat", () => studio.change(["colour", "what"], studio.document.colour.what === "layer" ? "skin" : "layer"), { title: "Colour the skin by the fat under it" }),
      button("Plain skin", () => studio.change(["look"], { ...studio.document.look, skin_opacity: 1, bone: false, muscle: false, cut: -1 })))),
    section("Cut", line("Cut", axis), cut),
    section("Gain or lose fat", ...growth.map(([, knob]) => knob),
      row(button("As before", () => studio.change(["growth"], {}))),
      note("Kilograms of fat; the skin follows, muscle and bone stay. Fitting takes some seconds.")),
  );
  const show = (values) => masses.replaceChildren(...[["body", "Body, kg"], ["fat", "Fat, kg"], ["muscle", "Muscle, kg"]].map(([name, text]) => element("div", {},
    element("b", { textContent: values[name] === undefined ? "–" : values[name].toFixed(1) }), element("span", { textContent: say(text) }))));
  const follow = () => {
    const { look: now, growth: grown } = studio.document;
    opacity.show(now.skin_opacity);
    bone.show(now.bone);
    muscle.show(now.muscle);
    cut.show(Math.max(0, now.cut));
    axis.show(now.cut_axis);
    growth.forEach(([region, knob]) => knob.show(grown[region] ?? 0));
  };
  studio.on("inside", (message) => show(message.masses));
  studio.on("document", follow);
  show({});
  follow();
  inside.follow();
}

export const inside = { name: "inside", title: "Inside", icon: ["M7 4a2.500 2.500 0 0 0-2 4l9 9a2.500 2.500 0 1 0 4 2 2.500 2.500 0 1 0 2-4l-9-9a2.500 2.500 0 1 0-4-2z"], build };
