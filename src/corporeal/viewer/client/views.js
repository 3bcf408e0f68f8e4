// Where the camera stands: a few places that a key or a button goes to.

import { Vector3 } from "./vendor/three.js";
import { button } from "./widgets.js";

// Direction from the target to the camera, and what is framed.
const PRESETS = [
  ["Front", [0.3, 0.1, 1], "body"], ["Side", [1, 0.06, 0], "body"], ["Back", [-0.3, 0.1, -1], "body"],
  ["Face", [0.25, 0.02, 1], "face"], ["Hands", [0.35, 0.25, 1], "hands"],
];

// Heights of what is framed, as shares of the stature.
const ROOM = { face: 0.19, hands: 0.16 };

export function cameraButtons(studio, stage) {
  const home = document.getElementById("views");
  PRESETS.forEach(([text, direction, what], number) => {
    home.append(button(text, () => aim(stage, direction, what), { title: `${text} view (${number + 1})` }));
  });
  addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "range") return;
    const preset = /^Digit[1-5]$/.test(event.code) && !event.ctrlKey && !event.metaKey && PRESETS[Number(event.code[5]) - 1];
    if (preset) aim(stage, preset[1], preset[2]);
  });
  // Until the person has chosen a view, the whole motion is in the picture, and not more.
  let shown = null;
  studio.on("frame", ({ room }) => {
    if (stage.wasTurned || (shown && Math.hypot(shown[0] - room[0], shown[1] - room[1]) < 0.05)) return;
    shown = room;
    aim(stage, PRESETS[0][1], "body");
  });
  studio.on("resized", () => { if (shown && !stage.wasTurned) aim(stage, PRESETS[0][1], "body"); });
}

// Put the camera where the body fills the picture, seen from `direction`.
export function aim(stage, direction, what) {
  if (!stage.person || !stage.joints) return;
  const { rest } = stage.person.arrays;
  let tall = 0;
  for (let i = 1; i < rest.length; i += 3) tall = Math.max(tall, rest[i]);
  const target = middle(stage, what, tall);
  const [part] = stage.parts();
  const half = Math.tan((stage.camera.fov * Math.PI) / 360);
  const aspect = part.width / part.height;
  const size = what === "body" ? 1.05 * height(stage, tall) : ROOM[what] * tall;
  const wide = what === "body" ? 2 * stage.room[1] + 0.1 * tall : 0.16 * tall;
  const away = Math.max(size / (2 * half), wide / (2 * half * aspect)) + 0.04 * tall;
  stage.controls.target.copy(target);
  stage.camera.position.copy(target).addScaledVector(new Vector3(...direction).normalize(), away);
  stage.controls.update();
  stage.wasTurned = what !== "body";
  stage.dirty = true;
}

// How high the body comes in the whole motion: its head, or its hands, a fingertip over their joints.
const height = (stage, tall) => Math.max(tall, stage.room[0] + 0.03 * tall);

function middle(stage, what, tall) {
  const at = (name) => {
    const joint = 16 * stage.model.joints.indexOf(name);
    return new Vector3(stage.joints[joint + 3], stage.joints[joint + 7], stage.joints[joint + 11]);
  };
  if (what === "face") return at("head").add(new Vector3(0, 0.045 * tall, 0));
  if (what === "hands") return at("right_wrist").add(new Vector3(0, -0.045 * tall, 0));
  return new Vector3(stage.pelvis.x, 0.485 * height(stage, tall), stage.pelvis.z);
}
