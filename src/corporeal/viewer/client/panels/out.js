// What was clicked, as commands, and files to take away.

import { deformerName } from "../overlay.js";
import { choose } from "../upload.js";
import { button, element, lead, line, note, remark, row, section, select, toast } from "../widgets.js";
import { say } from "../words.js";

const FORMATS = [
  ["glb", "GLB, for engines and the web"], ["fbx", "FBX, for Maya and Unreal"], ["usd", "USD, for Houdini and Omniverse"],
  ["abc", "Alembic, every vertex of every frame"], ["npz", "NPZ, everything, for corporeal"], ["mp4", "MP4, a film"], ["png", "PNG, eight moments"], ["html", "HTML, one page that plays it anywhere"],
];

function build(home, { studio, stage }) {
  const commands = element("div");
  const which = select([["0", "Body 1"]], "0", (value) => studio.choose(Number(value)), "Body");
  const format = select(FORMATS.map(([name, text]) => [name, say(text)]), "glb", () => follow(), "Format");
  const made = element("div");
  const make = button("Export", () => studio.send("make", { view: studio.view, format: format.value }), { primary: true });
  home.append(
    lead("Out", "Take it away, or do it again from the command line."),
    section("Moving body", line("Body", which), line("Format", format), row(make), made),
    section("Picture and person", row(button("PNG of the view", () => picture(stage)), button("Body at rest", () => studio.send("make body"), { title: "body.npz, as the commands take it" }))),
    section("Session", row(
      button("Share session", () => studio.send("bundle"), { title: "One file with all choices and all files that they need" })), row(
      button("Save session", () => save(new Blob([JSON.stringify(studio.document, null, 1)], { type: "application/json" }), "session.json"), { title: "Everything that was chosen, as one file" }),
      button("Load session", () => choose(studio, [".json", ".zip"])),
    ), note("A saved session keeps choices, not files; a shared one brings its motions and takes along.")),
    section("The same, as commands", commands),
  );
  const follow = () => {
    const { views } = studio.document;
    which.choose(views.map((view, number) => [String(number), `${number + 1}: ${deformerName(view.deformer)}`]));
    which.value = String(studio.view);
    commands.replaceChildren(...studio.commands.map((line_) => {
      const text = as(line_, format.value);
      return element("button", { type: "button", className: "command", title: say("Click to copy"), onclick: () => navigator.clipboard?.writeText(text).then(() => toast(say("Copied."))) }, element("code", { textContent: text }));
    }));
  };
  studio.on("document", follow);
  studio.on("chosen", follow);
  studio.on("busy", ({ names }) => { make.lastElementChild.textContent = names.some((name) => name.includes("-") && name.includes(".")) ? say("Export another") : say("Export"); });
  studio.on("made", (message) => made.prepend(result(message)));
  follow();
}

// A command that writes the chosen format: takes are called take.glb, take-1.glb … until then.
const as = (line_, suffix) => (suffix === "html"
  ? line_.replace(/\btake(-\d+)?\.glb$/, (_, n) => `take${n ?? ""}.npz && corporeal export-viewer take${n ?? ""}.npz --out take${n ?? ""}.html`)
  : line_.replace(/\b(take(-\d+)?)\.glb$/, `$1.${suffix}`));

// A file that was made: downloaded at once, and kept as a link.
function result({ name, place, bytes, frames, fps, morphs, max_error_mm: error }) {
  const link = element("a", { href: new URL(place, location.href).href, download: name, textContent: name });
  const size = bytes > 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${Math.ceil(bytes / 1024)} KiB`;
  const facts = [size];
  if (frames) facts.push(`${(frames / fps).toFixed(1)} s`);
  if (morphs) facts.push(say("{count} morphs, within {error} mm", { count: morphs, error: error.toFixed(1) }));
  link.click();
  toast(say("{name} is made: {facts}.", { name, facts: facts.join(", ") }));
  return element("div", { className: "made" }, link, remark(facts.join(" · ")));
}

function picture(stage) {
  stage.still((canvas) => canvas.toBlob((blob) => save(blob, "corporeal.png")));
}

export function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export const out = { name: "out", title: "Out", icon: ["M12 3v12", "M7 10l5 5 5-5", "M4 20h16"], build };
