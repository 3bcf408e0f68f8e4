// Puts the page together.

import { button, element, toast } from "./widgets.js";
import { cameraButtons } from "./views.js";
import { overlay } from "./overlay.js";
import { Stage } from "./stage.js";
import { Studio } from "./studio.js";
import { Timeline } from "./timeline.js";
import { Touch } from "./touch.js";
import { uploads } from "./upload.js";
import { language, missing, say } from "./words.js";
import { showPanels } from "./panels/all.js";

document.documentElement.lang = language;
for (const place of document.querySelectorAll("[data-say]")) place.textContent = say(place.dataset.say);
for (const place of document.querySelectorAll("[data-label]")) place.setAttribute("aria-label", say(place.dataset.label));

const studio = new Studio();
const stage = new Stage(studio, document.getElementById("canvas"));
const touch = new Touch(studio, stage);
stage.begin();
overlay(studio, stage);
cameraButtons(studio, stage);
new Timeline(studio, document.getElementById("timeline"));
showPanels({ studio, stage, touch });

const tools = document.getElementById("tools");
const TOOLS = [
  ["grab", "Grab", "Pull flesh with the mouse, or with Enter and arrows on the picture; beside the body, turn the view (G)", ["M8 12V5.5a1.5 1.5 0 0 1 3 0V11V4.5a1.5 1.5 0 0 1 3 0V11V6a1.5 1.5 0 0 1 3 0v8a7 7 0 0 1-7 7c-3 0-4.500-1.500-6-5l-1.500-3a1.500 1.500 0 0 1 2.500-1.500L8 14"]],
  ["paint", "Paint", "Paint stiffness or exaggeration on the skin (P)", ["M14 4l6 6-8 8-5 1-2 1 1-2 1-5z", "M12 6l6 6"]],
  ["orbit", "Look", "Turn the view only (L)", ["M4 12a8 8 0 0 1 14-5l2 2", "M20 4v5h-5", "M20 12a8 8 0 0 1-14 5l-2-2", "M4 20v-5h5"]],
];
for (const [tool, text, title, strokes] of TOOLS) {
  const made = button(text, () => studio.use(tool), { title, strokes });
  const show = () => made.setAttribute("aria-pressed", studio.tool === tool);
  studio.on("tool", show);
  show();
  tools.append(made);
}
const undo = button("", () => studio.send("undo"), { title: "Undo (Ctrl Z)", strokes: ["M9 7L4 12l5 5", "M4 12h10a4 4 0 0 1 0 8"] });
const redo = button("", () => studio.send("redo"), { title: "Redo (Ctrl Shift Z)", strokes: ["M15 7l5 5-5 5", "M20 12H10a4 4 0 0 0 0 8"] });
document.getElementById("history").append(undo, redo);
uploads(studio);
studio.on("document", (message) => { undo.disabled = !message.undo; redo.disabled = !message.redo; });
addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "range";
  if ((event.ctrlKey || event.metaKey) && event.code === "KeyZ" && !typing) {
    event.preventDefault();
    studio.send(event.shiftKey ? "redo" : "undo");
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const tool = { KeyG: "grab", KeyP: "paint", KeyL: "orbit" }[event.code];
    if (tool) studio.use(tool);
  }
});

studio.on("refused", ({ why }) => toast(why, { bad: true }));
studio.on("notice", ({ text }) => toast(text));
let away = () => {};
let isAway = false;
studio.on("closed", (reason) => {
  if (isAway) return;
  isAway = true;
  away = toast(reason, { bad: true, stays: true });
});
studio.on("opened", () => {
  if (isAway) toast(say("The studio is back."));
  isAway = false;
  away();
});
addEventListener("error", ({ message }) => toast(say("The page has a fault: {message}", { message }), { bad: true }));
addEventListener("unhandledrejection", ({ reason }) => toast(say("The page has a fault: {message}", { message: String(reason) }), { bad: true }));
// The veil goes once the body is there as it looks, or after a moment without its looks.
const unveil = () => { document.getElementById("veil").hidden = true; };
const unveilDressed = () => { if (stage.frames && stage.isPainted && stage.looks?.message) unveil(); };
studio.on("frame", () => {
  unveilDressed();
  if (stage.frames === 1) setTimeout(unveil, 2500);
});
studio.on("painted", unveilDressed);
studio.on("dressed", unveilDressed);
Object.assign(window, { studio, stage, touch, missingWords: missing, element });
studio.connect();
