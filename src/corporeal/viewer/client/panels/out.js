// What was clicked, as commands, and files to take away.

import { button, element, lead, row, section, toast } from "../widgets.js";

function build(home, { studio, stage }) {
  const commands = element("div");
  home.append(
    lead("Out", "Take it away, or do it again from the command line."),
    section("Picture", row(button("PNG of the view", () => picture(stage)))),
    section("The same, as commands", commands),
  );
  const follow = () => {
    commands.replaceChildren(...studio.commands.map((text) => element("code", {
      className: "command", textContent: text, title: "Click to copy",
      onclick: () => navigator.clipboard?.writeText(text).then(() => toast("Copied.")),
    })));
  };
  studio.on("document", follow);
  follow();
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
