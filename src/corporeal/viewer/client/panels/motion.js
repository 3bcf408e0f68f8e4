// What it does: authored motions, files, and where the root goes.

import { button, element, lead, line, note, row, section, select, slider, toggle, words } from "../widgets.js";
import { motionFiles } from "../upload.js";
import { say } from "../words.js";

function build(home, { studio }) {
  const { motions } = studio.catalogue;
  const change = (name) => (value, final = true) => studio.change(["motion", name], value, final);
  const chips = motions.map((name) => {
    const made = button(words(name), () => change("name")(name));
    made.dataset.motion = name;
    return made;
  });
  const duration = slider({ text: "Duration", low: 2, high: 20, value: 4, neutral: 4, unit: "s", step: 0.5, digits: 1 }, (value, final) => { if (final) change("duration")(value); });
  const root = select([["free", say("Free")], ["in-place", say("In place")], ["fixed", say("Held")]], "free", change("root"), "Root");
  const ground = toggle("Ground", true, (value) => studio.change(["look", "ground"], value));
  home.append(
    lead("Motion", "Fourteen motions of the Dyna protocol, made for this body."),
    element("div", { className: "chips" }, ...chips),
    section("Files", motionFiles(studio)),
    section("Variation", row(
      button("Another take", () => change("seed")(Math.floor(Math.random() * 1e6)), { title: "Another tempo, size and style" }),
      button("Reset", () => change("seed")(0)),
    ), duration),
    section("Place", line("Root", root), ground, note("In place: the way over the ground is taken out. Held: the pelvis stays where it starts.")),
  );
  const follow = () => {
    const { motion, look } = studio.document;
    chips.forEach((chip) => chip.setAttribute("aria-pressed", chip.dataset.motion === motion.name));
    duration.show(motion.duration);
    root.show(motion.root);
    ground.show(look.ground);
  };
  studio.on("document", follow);
  follow();
}

export const motion = { name: "motion", title: "Motion", icon: ["M13.5 5a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z", "M4 12l4-4 5 1 2 4 4 1", "M12 10l-2 5 4 3v5", "M10 15l-2 3-4 1"], build };
