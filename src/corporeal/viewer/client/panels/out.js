// What was clicked, as commands, and files to take away.

import { deformerName } from "../overlay.js";
import { choose } from "../upload.js";
import { button, element, lead, line, note, row, section, select, toast } from "../widgets.js";

const FORMATS = [
  ["glb", "GLB, for engines and the web"], ["fbx", "FBX, for Maya and Unreal"], ["usd", "USD, for Houdini and Omniverse"],
  ["abc", "Alembic, every vertex of every frame"], ["npz", "NPZ, everything, for corporeal"], ["mp4", "MP4, a film"], ["png", "PNG, eight moments"],
];

function build(home, { studio, stage }) {
  const commands = element("div");
  const which = select([["0", "Body 1"]], "0", (value) => studio.choose(Number(value)), "Body");
  const format = select(FORMATS, "glb", () => {}, "Format");
  const made = element("div");
  const make = button("Export", () => studio.send("make", { view: studio.view, format: format.value }), { primary: true });
  home.append(
    lead("Out", "Take it away, or do it again from the command line."),
    section("Moving body", line("Body", which), line("Format", format), row(make), made),
    section("Picture and person", row(button("PNG of the view", () => picture(stage)), button("Body at rest", () => studio.send("make body"), { title: "body.npz, as the commands take it" }))),
    section("Session", row(
      button("Save session", () => save(new Blob([JSON.stringify(studio.document, null, 1)], { type: "application/json" }), "session.json"), { title: "Everything that was chosen, as one file" }),
      button("Load session", () => choose(studio, [".json"])),
    ), note("A session keeps choices, not files: open its motions and takes first.")),
    section("The same, as commands", commands),
  );
  const follow = () => {
    const { views } = studio.document;
    which.choose(views.map((view, number) => [String(number), `${number + 1}: ${deformerName(view.deformer)}`]));
    which.value = String(studio.view);
    commands.replaceChildren(...studio.commands.map((text) => element("code", {
      className: "command", textContent: text, title: "Click to copy",
      onclick: () => navigator.clipboard?.writeText(text).then(() => toast("Copied.")),
    })));
  };
  studio.on("document", follow);
  studio.on("chosen", follow);
  studio.on("busy", ({ names }) => { make.textContent = names.some((name) => name.includes("-") && name.includes(".")) ? "Export another" : "Export"; });
  studio.on("made", (message) => made.prepend(result(message)));
  follow();
}

// A file that was made: downloaded at once, and kept as a link.
function result({ name, place, bytes, frames, fps, morphs, max_error_mm: error }) {
  const link = element("a", { href: new URL(place, location.href).href, download: name, textContent: name });
  const size = bytes > 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${Math.ceil(bytes / 1024)} KiB`;
  const facts = [size];
  if (frames) facts.push(`${(frames / fps).toFixed(1)} s`);
  if (morphs) facts.push(`${morphs} morphs, within ${error.toFixed(1)} mm`);
  link.click();
  toast(`${name} is made: ${facts.join(", ")}.`);
  return element("div", { className: "made" }, link, note(facts.join(" · ")));
}

function picture(stage) {
  stage.draw();
  stage.canvas.toBlob((blob) => save(blob, "corporeal.png"));
}

export function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export const out = { name: "out", title: "Out", icon: ["M12 3v12", "M7 10l5 5 5-5", "M4 20h16"], build };
