// Files: chosen from a dialog or dropped on the page, sent to the session, which says what they are.

import { button, element, toast } from "./widgets.js";
import { say } from "./words.js";

const KINDS = [".bvh", ".npz", ".glb", ".obj", ".ply", ".off", ".stl", ".skel", ".json", ".zip"];
export const SCANS = [".ply", ".obj", ".glb", ".stl", ".off", ".xyz", ".npz"];
const MOST = 64 * 2 ** 20 - 4096; // bytes of one message
const FOLDER = ["M3 7a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z"];

// The button in the header, and dropping files anywhere on the page.
export function uploads(studio) {
  studio.files = { motions: [], takes: [] };
  studio.on("files", ({ motions, takes }) => { studio.files = { motions, takes }; });
  const open = button("Open", () => choose(studio), { title: "Motions, takes, bodies, meshes, skeletons, sessions", strokes: FOLDER });
  document.getElementById("history").prepend(open);
  const drop = document.getElementById("drop");
  let depth = 0;
  const show = (more) => { depth = Math.max(0, depth + more); drop.hidden = depth === 0; };
  addEventListener("dragenter", (event) => { event.preventDefault(); show(1); });
  addEventListener("dragleave", () => show(-1));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    show(-depth);
    const isScan = event.target.closest?.("[data-takes=scan]");
    for (const file of event.dataTransfer.files) send(studio, file, isScan ? { as: "scan" } : {});
  });
}

// `fields` may say what a file is, such as { as: "scan" }.
export function choose(studio, kinds = KINDS, fields = {}) {
  const input = element("input", { type: "file", multiple: true, accept: kinds.join(",") });
  input.onchange = () => { for (const file of input.files) send(studio, file, fields); };
  input.click();
}

export async function send(studio, file, fields = {}) {
  if (file.size > MOST) {
    toast(say("{name} has {size} MiB; files may have 63. Give a smaller one.", { name: file.name, size: Math.round(file.size / 2 ** 20) }), { bad: true });
    return;
  }
  studio.upload(file.name, new Uint8Array(await file.arrayBuffer()), fields);
}

// Motions from files, as chips like those of authored ones.
export function motionFiles(studio) {
  const chips = element("div", { className: "chips" });
  const show = () => chips.replaceChildren(
    ...studio.files.motions.map((name) => {
      const chip = button(name, () => studio.change(["motion", "name"], name), { named: true });
      chip.setAttribute("aria-pressed", name === studio.document.motion.name);
      return chip;
    }),
    button("Open a file…", () => choose(studio, [".bvh", ".npz"]), { title: "BVH, AMASS or corporeal .npz; or drop it on the page" }),
  );
  studio.on("files", show);
  studio.on("document", show);
  show();
  return chips;
}
