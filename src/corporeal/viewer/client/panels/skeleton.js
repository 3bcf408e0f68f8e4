// A skeleton for a mesh of one's own: place, move, name and connect joints, then take it away.

import { JointEditor } from "../joint_editor.js";
import { choose } from "../upload.js";
import { button, element, lead, line, note, row, section, select } from "../widgets.js";
import { say } from "../words.js";

const MESHES = [".obj", ".ply", ".off", ".stl", ".glb"];

function build(home, { studio, stage }) {
  const change = (joints) => studio.change(["rig", "joints"], joints);
  const editor = new JointEditor(studio, stage, { changed: change, picked: (name) => pick(name) });
  const about = note("");
  const list = element("div", { className: "joints" });
  const name = element("input", { type: "text", "aria-label": "Name", onchange: () => rename(name.value.trim()) });
  const parent = select([], "", (value) => connect(value), "Hangs on");
  const edit = section("Joint", line("Name", name), line("Hangs on", parent), row(
    button("Mirror", () => mirror(), { title: "The same on the other side: x ↔ −x, left ↔ right" }),
    button("Delete", () => remove(), { title: "Its children hang on its parent from then on" })));
  const up = select([["+y", "Y"], ["+z", "Z"]], "+y", (value) => studio.change(["rig", "up"], value), "Up");
  const place = button("Place joints", () => studio.use(studio.tool === "joint" ? "orbit" : "joint"), { title: "Click on the mesh: a joint goes in the middle of what lies behind" });
  const work = element("div", {},
    section("Mesh", about, line("Up", up), row(place, button("Fit a person's", () => studio.send("rig find"), { title: "Fit the default skeleton to a human surface" })),
      row(button("It is a scan of a person", () => studio.send("rig scan"), { title: "Register it: the person then stands on the stage, and moves as any body" }))),
    edit,
    section("Joints", list),
    section("Save", row(...[["skel", ".skel"], ["json", ".json"], ["glb", ".glb"]].map(([format, text]) => button(text, () => studio.send("rig write", { format }), { named: true }))),
      row(...[["lbs", "Try it"], ["projective", "Try it with flesh"]].map(([deformer, text]) => button(text, () => studio.send("rig try", { deformer }), { title: "Move it through the chosen motion, beside the bodies" })))),
    row(button("Close the mesh", () => studio.send("rig close"))));
  home.append(
    lead("Skeleton", "Joints for a mesh of your own, of any unit and any shape."),
    row(button("Open a mesh…", () => choose(studio, MESHES), { primary: true })), work,
  );

  let isOpen = false;
  const joints = () => studio.document.rig.joints;
  const current = () => joints().find((joint) => joint.name === editor.chosen);
  const pick = (chosen) => { editor.choose(chosen); follow(); };
  const rename = (text) => {
    const before = editor.chosen;
    if (!text || text === before) return;
    editor.chosen = text;
    change(joints().map((joint) => ({ ...joint, name: joint.name === before ? text : joint.name, parent: joint.parent === before ? text : joint.parent })));
  };
  const under = (joint, top) => {
    for (let at = joint; at; at = joints().find((row_) => row_.name === at.parent)) if (at.name === top) return true;
    return false;
  };
  const connect = (value) => change(joints().map((joint) => (joint.name === editor.chosen ? { ...joint, parent: value || null } : joint)));
  const remove = () => {
    const gone = current();
    if (!gone) return;
    change(joints().filter((joint) => joint !== gone).map((joint) => (joint.parent === gone.name ? { ...joint, parent: gone.parent } : joint)));
  };
  const mirror = () => {
    const joint = current();
    if (!joint) return;
    const other = swapped(joint.name);
    const parent_ = joint.parent === null ? null : swapped(joint.parent);
    const known = joints().some((row_) => row_.name === parent_);
    const { min, max } = editor.mesh.geometry.boundingBox;
    const made = { name: other, parent: known ? parent_ : joint.parent, position: [min.x + max.x - joint.position[0], joint.position[1], joint.position[2]] };
    change([...joints().filter((row_) => row_.name !== other), made]);
  };

  function follow() {
    const { rig } = studio.document;
    work.hidden = !rig.mesh;
    editor.follow(rig.joints);
    up.show(rig.up);
    place.setAttribute("aria-pressed", studio.tool === "joint");
    about.textContent = rig.mesh ? say("{mesh}, {count} joints", { mesh: rig.mesh, count: rig.joints.length }) : "";
    const joint = current();
    edit.hidden = !joint;
    if (joint) {
      if (document.activeElement !== name) name.value = joint.name;
      parent.choose([["", say("nothing: the root")], ...rig.joints.filter((row_) => !under(row_, joint.name)).map((row_) => [row_.name, row_.name])]);
      parent.value = joint.parent ?? "";
    }
    list.replaceChildren(...rig.joints.map((row_) => {
      const made = button(row_.name, () => pick(row_.name), { title: row_.parent ? say("hangs on {parent}", { parent: row_.parent }) : say("root"), named: true });
      made.setAttribute("aria-pressed", row_.name === editor.chosen);
      return made;
    }));
    if (isOpen && rig.mesh && editor.mesh) editor.place();
    if (!rig.mesh && stage.alone) editor.open(false);
  }

  studio.on("mesh", ({ arrays }) => {
    editor.show(arrays.vertices, arrays.triangles);
    studio.emit("open panel", "skeleton");
    editor.open(isOpen);
    follow();
  });
  studio.on("panel", (panel) => {
    isOpen = panel === "skeleton";
    if (!isOpen && studio.tool === "joint") studio.use("grab");
    editor.open(isOpen && Boolean(studio.document?.rig.mesh));
  });
  studio.on("tool", follow);
  studio.on("document", follow);
  follow();
}

const swapped = (text) => {
  const other = text.replace(/left|right|Left|Right/, (side) => ({ left: "right", right: "left", Left: "Right", Right: "Left" })[side]);
  if (other !== text) return other;
  return /_l$/i.test(text) ? text.replace(/_l$/, "_r").replace(/_L$/, "_R") : /_r$/i.test(text) ? text.replace(/_r$/, "_l").replace(/_R$/, "_L") : `${text}_mirrored`;
};

export const skeleton = { name: "skeleton", title: "Skeleton", icon: ["M12 5m-2 0a2 2 0 1 0 4 0 2 2 0 1 0-4 0", "M12 7v6", "M12 13l-5 6", "M12 13l5 6", "M6 9h12"], build };
