// The panels, in order. A panel is { name, title, icon, build(home, page) }.

import { element, icon } from "../widgets.js";
import { body } from "./body.js";
import { deformers } from "./deformers.js";
import { inside } from "./inside.js";
import { motion } from "./motion.js";
import { out } from "./out.js";
import { physics } from "./physics.js";
import { skeleton } from "./skeleton.js";

const PANELS = [body, motion, deformers, physics, inside, skeleton, out];

export function showPanels(page) {
  const tabs = document.getElementById("tabs");
  const home = document.getElementById("panel");
  const built = new Map();
  const open = (panel) => {
    for (const tab of tabs.children) tab.setAttribute("aria-selected", tab.dataset.name === panel.name);
    for (const [name, place] of built) place.hidden = name !== panel.name;
    home.scrollTop = 0;
    page.studio.emit("panel", panel.name);
  };
  const build = () => {
    if (built.size || !page.studio.catalogue || !page.studio.document) return;
    for (const panel of PANELS) {
      const place = element("div");
      panel.build(place, page);
      built.set(panel.name, place);
      home.append(place);
    }
    open(PANELS[0]);
  };
  for (const panel of PANELS) {
    const tab = element("button", { role: "tab", onclick: () => open(panel), title: panel.title });
    tab.dataset.name = panel.name;
    tab.append(icon(panel.icon), panel.title);
    tabs.append(tab);
  }
  page.studio.on("document", build);
  page.studio.on("open panel", (name) => open(PANELS.find((panel) => panel.name === name)));
}
