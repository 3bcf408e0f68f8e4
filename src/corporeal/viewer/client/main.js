// Puts the page together.

import { button, toast } from "./widgets.js";
import { overlay } from "./overlay.js";
import { Stage } from "./stage.js";
import { Studio } from "./studio.js";
import { Timeline } from "./timeline.js";
import { Touch } from "./touch.js";
import { showPanels } from "./panels/all.js";

const studio = new Studio();
const stage = new Stage(studio, document.getElementById("canvas"));
const touch = new Touch(studio, stage);
stage.begin();
overlay(studio, stage);
new Timeline(studio, document.getElementById("timeline"));
showPanels({ studio, stage, touch });

const tools = document.getElementById("tools");
for (const [tool, text, hint] of [["grab", "✋ Grab", "Pull flesh with the mouse; beside the body, turn the view (G)"], ["paint", "🖌 Paint", "Paint stiffness on the skin (P)"], ["orbit", "⟲ Look", "Turn the view only (L)"]]) {
  const made = button(text, () => studio.use(tool), { title: hint });
  const show = () => made.setAttribute("aria-pressed", studio.tool === tool);
  studio.on("tool", show);
  show();
  tools.append(made);
}
const undo = button("↶", () => studio.send("undo"), { title: "Undo (Ctrl Z)", icon: true });
const redo = button("↷", () => studio.send("redo"), { title: "Redo (Ctrl Shift Z)", icon: true });
document.getElementById("history").append(undo, redo);
studio.on("document", (message) => { undo.disabled = !message.undo; redo.disabled = !message.redo; });
addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "range";
  if ((event.ctrlKey || event.metaKey) && event.code === "KeyZ" && !typing) {
    event.preventDefault();
    studio.send(event.shiftKey ? "redo" : "undo");
  } else if (!typing && !event.ctrlKey && !event.metaKey) {
    const tool = { KeyG: "grab", KeyP: "paint", KeyL: "orbit" }[event.code];
    if (tool) studio.use(tool);
  }
});

studio.on("refused", ({ why }) => toast(why, true));
studio.on("told", ({ text }) => toast(text));
studio.on("closed", (reason) => toast(`${reason} Reload the page to begin again.`, true));
studio.on("frame", () => { document.getElementById("veil").hidden = true; });
Object.assign(window, { studio, stage });
studio.connect();
