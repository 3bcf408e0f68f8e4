// Poses of one's own: joints that are dragged or turned within their limits, and keys in time.

import { PoseHandles } from "../pose_handles.js";
import { button, element, lead, line, note, row, section, select, slider, words } from "../widgets.js";
import { say } from "../words.js";

const AXES = [["About x", "Bend"], ["About y", "Turn"], ["About z", "Tilt"]];
const degrees = (radians) => (radians * 180) / Math.PI;

function build(home, { studio, stage }) {
  const { poses, limits } = studio.catalogue;
  let key = 0;
  let joint = "left_shoulder";
  const keys = () => studio.document.keys;
  const isPosed = () => studio.document.motion.name === poses && keys().length > 0;
  const turns = () => keys()[key]?.turns ?? {};
  const turn = (name, value, final = true) => studio.change(["keys", key, "turns", name], value.map((x, axis) => Math.min(Math.max(x, limits[name][0][axis]), limits[name][1][axis])), final);
  const handles = new PoseHandles(studio, stage, { turns, turn, picked: (name) => pick(name), may: () => isPosed() && !home.hidden });

  const chips = element("div", { className: "chips" });
  const which = select(Object.keys(limits), joint, (name) => pick(name), "Joint");
  const knobs = element("div");
  const time = slider({ text: "Time", low: 0, high: 20, value: 0, unit: "s", step: 0.05, digits: 2 }, (value, final) => { if (final && isPosed()) studio.change(["keys", key, "seconds"], Math.round(100 * value) / 100); });
  const edit = element("div", {},
    section("Key", time, row(
      button("Delete", () => studio.change(["keys"], keys().filter((_, other) => other !== key)), { title: "Take this key away" }),
      button("At rest", () => studio.change(["keys", key, "turns"], {}), { title: "Every joint of this key as in the T-pose" }))),
    section("Joint", line("Joint", which), knobs, note("Or drag a joint in the picture: the limb above it turns, within its limits.")));
  home.append(
    lead("Pose", "Poses of your own, one or several, with the way between them."),
    row(button("Take this pose", () => studio.send("take pose"), { primary: true, title: "What is shown becomes one more key" }),
      button("Play the poses", () => studio.change(["motion", "name"], poses))),
    section("Keys", chips), edit);

  function pick(name) {
    joint = name;
    which.value = name;
    turned();
    handles.choose(name);
  }
  let made = [];
  function turned() {
    const [low, high] = limits[joint];
    made = AXES.map(([axis, text], number) => slider({ text, low: degrees(low[number]), high: degrees(high[number]), value: 0, neutral: 0, unit: "°", digits: 0, hint: `${axis}` }, (value, final) => {
      const now = [...(turns()[joint] ?? [0, 0, 0])];
      now[number] = (value * Math.PI) / 180;
      turn(joint, now, final);
    }));
    knobs.replaceChildren(...made);
    show();
  }
  const show = () => made.forEach((knob, number) => knob.show(degrees((turns()[joint] ?? [0, 0, 0])[number])));
  const go = (number) => {
    key = number;
    studio.change(["playing"], false);
    studio.send("seek", { place: 60 * keys()[number].seconds });
    follow();
  };
  let count = 0;
  function follow() {
    const rows = keys();
    if (rows.length > count) key = rows.length - 1;
    const isNew = rows.length > count && isPosed();
    count = rows.length;
    key = Math.min(Math.max(key, 0), Math.max(rows.length - 1, 0));
    edit.hidden = !isPosed();
    chips.replaceChildren(...rows.map(({ seconds }, number) => {
      const chip = button(`${seconds.toFixed(2)} s`, () => go(number), { named: true });
      chip.setAttribute("aria-pressed", number === key);
      return chip;
    }));
    if (!rows.length) chips.replaceChildren(note("None yet: stop a motion where you like it, and take its pose."));
    if (rows[key]) time.show(rows[key].seconds);
    show();
    handles.follow();
    if (isNew) studio.send("seek", { place: 60 * rows[key].seconds });
  }
  studio.on("document", follow);
  studio.on("panel", () => handles.follow());
  Object.keys(limits).forEach(words);
  pick(joint);
  follow();
}

export const pose = { name: "pose", title: "Pose", icon: ["M12 5a2 2 0 1 0 0-4 2 2 0 0 0 0 4z", "M4 9l8-2 8-3", "M12 7v7", "M12 14l-5 8", "M12 14l4 4-1 5"], build };
