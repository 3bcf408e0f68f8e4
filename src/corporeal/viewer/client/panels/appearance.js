// How the person looks: skin, hair, eyes, clothes, face, expression.

import { button, fold, lead, line, note, row, section, select, slider, words } from "../widgets.js";
import { learn, say } from "../words.js";

// Sections in order; what no section names comes under "More".
const SECTIONS = [
  ["Skin", ["skin", "undertone", "age", "freckles", "blush", "lips", "beard", "body_hair", "nails"]],
  ["Hair", ["hair", "hair_colour", "grey", "brows", "lashes"]],
  ["Eyes", ["eyes", "gaze_across", "gaze_up"]],
  ["Clothes", ["clothes", "cloth_colour"]],
];
const FACE = ["smile", "african", "asian", "european", "face_variety"];
const SEEDS = ["face_seed", "seed"];

// Groups of face sliders, by how their names begin.
const GROUPS = [["Head", /^(head|forehead)/], ["Brows and eyes", /^(eye|eyebrows)/], ["Nose", /^nose/], ["Mouth", /^mouth/], ["Cheeks and chin", /^(cheek|chin)/], ["Ears", /^ear-/]];

// eyeBlinkLeft → Eye blink left
const spaced = (name) => {
  const text = name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`).replace(/-/g, " ");
  const made = text.charAt(0).toUpperCase() + text.slice(1);
  learn(made);
  return made;
};

const random = () => Math.floor(Math.random() * 2 ** 31);

function build(home, { studio }) {
  const { appearance: table, face, expressions } = studio.catalogue;
  const rows = new Map(table.map((row_) => [row_.name, row_]));
  const value = (name) => studio.document.appearance[name] ?? rows.get(name).default;
  const followers = [];

  const control = (name) => {
    const { kind, low, high, default: usual, unit, help, choices } = rows.get(name);
    const text = words(name);
    if (kind === "choice") {
      const made = select(Object.keys(choices), value(name), (next) => studio.change(["appearance", name], next), text);
      followers.push(() => made.show(value(name)));
      return line(text, made);
    }
    const made = slider({ text, low, high, value: value(name), neutral: usual, unit, hint: help }, (next, final) => studio.change(["appearance", name], next, final));
    followers.push(() => made.show(value(name)));
    return made;
  };

  const named = (section_, name, text, low) => {
    const made = slider({ text, low, high: 1, value: 0, neutral: 0 }, (next, final) => studio.change(["appearance", section_, name], next, final));
    followers.push(() => made.show((section_ === "face" ? studio.face : studio.document.appearance.expression)[name] ?? 0));
    return made;
  };

  const known = new Set([...SECTIONS.flatMap(([, names]) => names), ...FACE, ...SEEDS]);
  const others = table.map(({ name }) => name).filter((name) => !known.has(name));
  home.append(
    lead("Looks", "Skin, hair, face and clothes. Flesh and measurements stay."),
    row(
      button("Somebody's look", () => studio.send("somebody's look", { seed: random() }), { title: "Draw a face, skin and hair" }),
      button("Plain look", () => studio.send("plain look"), { title: "The average face in light skin" }),
    ),
    ...SECTIONS.map(([title, names]) => section(title, ...names.filter((name) => rows.has(name)).map(control))),
    section("Face", row(button("Another face", () => studio.change(["appearance", "face_seed"], random()), { title: "Draw every slider of the face" }),
      button("Average face", () => { studio.change(["appearance", "face"], {}); studio.change(["appearance", "face_seed"], 0); }, { title: "No slider of the face is moved" })),
    ...FACE.map(control)),
    ...GROUPS.map(([title, pattern]) => fold(title, ...face.filter(({ name }) => pattern.test(name)).map(({ name, low }) => named("face", name, spaced(name), low)))),
    fold("Expression", note("Over the smile; also written as morph targets with --expressions."), ...expressions.map((name) => named("expression", name, spaced(name), 0))),
    ...(others.length ? [section("More", ...others.map(control))] : []),
  );
  const follow = () => followers.forEach((show) => show());
  studio.on("document", follow);
  follow();
}

export const appearance = { name: "appearance", title: "Looks", icon: ["M12 21a9 9 0 1 1 9-9c0 3-2.500 3-4 3h-2a2 2 0 0 0-1 3.700c.6.800 0 2.300-2 2.300z", "M7.500 11.500v.01", "M11 7.500v.01", "M16 9v.01"], build };
