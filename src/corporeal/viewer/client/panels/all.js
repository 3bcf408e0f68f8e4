// The panels, in order. A panel is { name, title, icon, build(home, page) }.

import { element, icon } from "../widgets.js";
import { say } from "../words.js";
import { appearance } from "./appearance.js";
import { body } from "./body.js";
import { deformers } from "./deformers.js";
import { inside } from "./inside.js";
import { motion } from "./motion.js";
import { out } from "./out.js";
import { pose } from "./pose.js";
import { physics } from "./physics.js";
import { skeleton } from "./skeleton.js";

const PANELS = [body, appearance, motion, pose, deformers, physics, inside, skeleton, out];

export function showPanels(page) {
  const tabs = document.getElementById("tabs");
  const home = document.getElementById("panel");
  const built = new Map();
  const open = (panel) => {
    for (const tab of tabs.children) {
      const isThis = tab.dataset.name === panel.name;
      tab.setAttribute("aria-selected", isThis);
      tab.tabIndex = isThis ? 0 : -1;
      if (isThis) tab.scrollIntoView?.({ block: "nearest", inline: "nearest" });
    }
    for (const [name, place] of built) place.hidden = name !== panel.name;
    home.scrollTop = 0;
    page.studio.emit("panel", panel.name);
  };
  const build = () => {
    if (built.size || !page.studio.catalogue || !page.studio.document) return;
    for (const panel of PANELS) {
      const place = element("div", { id: `panel-${panel.name}`, role: "tabpanel", "aria-labelledby": `tab-${panel.name}` });
      panel.build(place, page);
      built.set(panel.name, place);
      home.append(place);
    }
    for (const tab of tabs.children) tab.setAttribute("aria-controls", `panel-${tab.dataset.name}`);
    open(PANELS[0]);
  };
  for (const panel of PANELS) {
    const tab = element("button", { id: `tab-${panel.name}`, type: "button", role: "tab", "aria-selected": panel === PANELS[0], tabIndex: panel === PANELS[0] ? 0 : -1, onclick: () => open(panel), title: say(panel.title) });
    tab.dataset.name = panel.name;
    tab.append(icon(panel.icon), element("span", { textContent: say(panel.title) }));
    tabs.append(tab);
  }
  // Keys of a list of tabs: arrows to the next, Home and End.
  tabs.addEventListener("keydown", (event) => {
    const at = PANELS.findIndex(({ name }) => name === event.target.dataset?.name);
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.code];
    const to = event.code === "Home" ? 0 : event.code === "End" ? PANELS.length - 1 : by && (at + by + PANELS.length) % PANELS.length;
    if (at < 0 || to === undefined || !built.size) return;
    event.preventDefault();
    event.stopPropagation();
    open(PANELS[to]);
    tabs.children[to].focus();
  });
  page.studio.on("document", build);
  page.studio.on("open panel", (name) => open(PANELS.find((panel) => panel.name === name)));
}
