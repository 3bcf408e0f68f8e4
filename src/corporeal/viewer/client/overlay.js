// What stands over the picture: a label for every body, the legend, what is being prepared, rates.

import { button, element, number } from "./widgets.js";
import { heard, learn, say } from "./words.js";

// Titles of deformers by name, as the catalogue has them.
const titles = new Map();
export const nameDeformers = (rows) => rows.forEach(({ name, title }) => { titles.set(name, heard(title)); learn(title); });

// Painted factors have a middle, and a ramp of two sides.
export const isPaint = (what) => what === "stiffness" || what === "exaggeration";

export function deformerName(name) {
  return name.startsWith("take:") ? name.slice(5) : titles.get(name) ?? name;
}

export function overlay(studio, stage) {
  const labels = document.getElementById("labels");
  const legend = document.getElementById("legend");
  const busy = document.getElementById("busy");
  const rates = document.getElementById("rates");
  let shown = [];

  function place() {
    const parts = stage.parts();
    labels.replaceChildren();
    shown = (studio.document?.views ?? []).map((view, number) => {
      const part = parts[number];
      const detail = element("span");
      const label = element("div", { className: "label" }, element("i"), element("b", { textContent: deformerName(view.deformer) }), detail);
      label.style.setProperty("--view", `var(--view-${number})`);
      if (part) Object.assign(label.style, { left: `${part.x}px`, top: `${part.y + 12}px` });
      labels.append(label);
      if (part && part.x > 0) {
        const divider = element("div", { className: "divider" });
        divider.style.left = `${part.x}px`;
        labels.append(divider);
      }
      return { label, detail };
    });
  }

  function showLegend({ scale }) {
    legend.hidden = !scale;
    if (!scale) return;
    const ramp = stage.model.arrays[isPaint(studio.document.colour.what) ? "tide" : "heat"];
    const strip = element("canvas", { width: 256, height: 1 });
    const pen = strip.getContext("2d");
    for (let i = 0; i < 256; i += 1) {
      const [r, g, b] = [0, 1, 2].map((c) => Math.round(255 * srgb(ramp[3 * i + c])));
      pen.fillStyle = `rgb(${r},${g},${b})`;
      pen.fillRect(i, 0, 1, 1);
    }
    const unit = scale.unit ? ` ${scale.unit}` : "";
    legend.replaceChildren(element("b", { textContent: heard(scale.title) }), element("span", { textContent: number(scale.low) }), strip, element("span", { textContent: `${number(scale.high)}${unit}` }));
  }

  studio.on("document", (message) => { place(); showLegend(message); });
  studio.on("resized", place);
  studio.on("busy", ({ names, progress }) => {
    busy.hidden = !names.length;
    const subjects = [...new Set(names.map((name) => name.replace(/ \d+$/, "")))];
    const shown = subjects.slice(0, 3).map((name) => (progress?.[name] ? `${name}: ${progress[name]}` : name));
    if (subjects.length > 3) shown.push(say("{count} more", { count: subjects.length - 3 }));
    const stop = button("Cancel", () => names.forEach((name) => studio.send("cancel", { name })));
    busy.replaceChildren(element("span", { textContent: say("Preparing {what}", { what: shown.join(", ") }) }), stop);
  });
  let count = 0;
  let since = performance.now();
  studio.on("frame", (frame) => {
    count += 1;
    frame.views.forEach((view, number) => {
      const { label, detail } = shown[number] ?? {};
      if (!label) return;
      label.classList.toggle("waiting", !view.ready);
      detail.textContent = view.ready ? `${view.step_ms.toFixed(1)} ms` : say("Preparing flesh…");
    });
    const now = performance.now();
    if (now - since < 500) return;
    const fps = (1000 * count) / (now - since);
    const slow = frame.rate < 0.95 ? ` · ${say("{share} % of real time", { share: Math.round(100 * frame.rate) })}` : "";
    rates.textContent = studio.document?.playing ? `${fps.toFixed(0)} fps${slow}` : "";
    Object.assign(window, { studioRate: fps });
    count = 0;
    since = now;
  });
}

const srgb = (x) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);
