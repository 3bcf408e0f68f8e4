// Hands: grab flesh and let it go; paint stiffness or exaggeration on the skin.

import { Plane, Vector3 } from "./vendor/three.js";
import { Marks } from "./marks.js";

// What can be painted: where the document keeps it, and a stroke's factor at its middle.
export const PAINTS = { stiffness: { kept: "painted", factor: 3 }, exaggeration: { kept: "exaggerated", factor: 2 } };

const STEP = 0.02; // metres that an arrow key pulls held flesh

export class Touch {
  constructor(studio, stage) {
    this.studio = studio;
    this.stage = stage;
    this.held = null; // { view, plane } while flesh is held
    this.stroke = null; // Map vertex → factor while painting
    this.marks = new Marks(stage);
    this.brush = { radius: 0.06, what: "stiffness", sign: -1 }; // sign: -1 less, 1 more, 0 erases
    const { canvas } = stage;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.up(event));
    canvas.addEventListener("pointerleave", () => this.marks.hide());
    canvas.addEventListener("keydown", (event) => this.press(event));
    canvas.addEventListener("blur", () => this.held?.byKeys && this.letGo());
    studio.on("frame", () => this.held && this.marks.pull(this.held));
    studio.on("tool", () => this.cursor());
    studio.on("document", () => this.cursor());
    this.cursor();
  }

  cursor() {
    const { classList } = this.stage.canvas;
    classList.toggle("hand", this.studio.tool === "grab");
    classList.toggle("brush", this.studio.tool === "paint");
    classList.toggle("holding", this.held !== null);
  }

  canGrab(view) {
    const row = this.studio.deformer(this.studio.document.views[view].deformer);
    return Boolean(row?.grabs);
  }

  down(event) {
    if (event.button !== 0 || !this.studio.document || this.studio.tool === "orbit") return;
    const { view, hit } = this.stage.pick(event);
    if (view >= 0 && view !== this.studio.view) this.studio.choose(view);
    if (!hit || this.stage.bodies[view].surface || !["grab", "paint"].includes(this.studio.tool)) return;
    if (this.studio.tool === "grab" && !this.canGrab(view)) return;
    this.stage.controls.enabled = false;
    this.stage.canvas.setPointerCapture(event.pointerId);
    if (this.studio.tool === "paint") {
      this.stroke = new Map();
      this.paint(view, hit);
      return;
    }
    this.take(view, hit);
  }

  take(view, hit, byKeys = false) {
    const normal = this.stage.camera.getWorldDirection(new Vector3());
    const vertices = [hit.face.a, hit.face.b, hit.face.c].map((vertex) => this.stage.bodies[view].skin.source(vertex));
    this.held = { view, plane: new Plane().setFromNormalAndCoplanarPoint(normal, hit.point), vertices, target: hit.point.clone(), byKeys };
    this.marks.pull(this.held);
    this.studio.send("grab", { view, vertices, point: hit.point.toArray() });
    this.cursor();
  }

  // Enter takes the flesh in the middle of the picture, arrows pull it, Enter or Escape lets go.
  press(event) {
    if (!this.studio.document || this.studio.tool !== "grab") return;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.code];
    if (event.code === "Enter" && !this.held) this.takeMiddle();
    else if (this.held?.byKeys && ["Enter", "Escape"].includes(event.code)) this.letGo();
    else if (this.held?.byKeys && way) {
      const { elements } = this.stage.camera.matrixWorld; // its columns: to the right, up
      const right = new Vector3().fromArray(elements, 0), up = new Vector3().fromArray(elements, 4);
      this.held.target.addScaledVector(right, STEP * way[0]).addScaledVector(up, STEP * way[1]);
      this.marks.pull(this.held);
      this.studio.send("drag", { view: this.held.view, target: this.held.target.toArray() });
    } else return;
    event.preventDefault();
  }

  takeMiddle() {
    const views = this.studio.document.views.map((_, view) => view);
    const view = [this.studio.view, ...views].find((one) => this.canGrab(one) && !this.stage.bodies[one]?.surface);
    if (view === undefined) return;
    const part = this.stage.parts()[view];
    const { hit } = this.stage.cast(view, part.x + part.width / 2, part.y + part.height / 2, part);
    if (!hit) return;
    if (view !== this.studio.view) this.studio.choose(view);
    this.take(view, hit, true);
  }

  letGo() {
    this.studio.send("release", { view: this.held.view });
    this.held = null;
    this.marks.hide();
    this.cursor();
  }

  move(event) {
    if (this.held && !this.held.byKeys) {
      const box = this.stage.canvas.getBoundingClientRect();
      const { ray } = this.stage.cast(this.held.view, event.clientX - box.left, event.clientY - box.top);
      const target = ray.intersectPlane(this.held.plane, new Vector3());
      if (!target) return;
      this.held.target = target;
      this.marks.pull(this.held);
      this.studio.send("drag", { view: this.held.view, target: target.toArray() });
    } else if (this.studio.tool === "paint" && this.studio.document) {
      const { view, hit } = this.stage.pick(event);
      if (hit && this.stroke) this.paint(view, hit);
      if (hit) this.marks.ring(view, hit, this.brush.radius);
      else this.marks.hide();
    }
  }

  up(event) {
    if (this.held) this.studio.send("release", { view: this.held.view });
    if (this.stroke?.size) {
      const vertices = Uint32Array.from(this.stroke.keys());
      this.studio.send("paint", { what: this.brush.what }, { vertices, factors: Float32Array.from(this.stroke.values()) });
    }
    if (this.held || event.pointerType === "touch") this.marks.hide();
    this.held = this.stroke = null;
    if (this.stage.controls) this.stage.controls.enabled = true;
    this.cursor();
  }

  // A soft round brush: the full factor in its middle, none at its rim, on skin that faces alike.
  paint(view, { point, face }) {
    const { positions: p, normals: n, colours } = this.stage.bodies[view].skin;
    const { radius, what, sign } = this.brush;
    const { kept, factor } = PAINTS[what];
    const painted = this.studio.document[kept];
    const normal = face.normal;
    for (let v = 0; v < p.length / 3; v += 1) {
      const dx = p[3 * v] - point.x, dy = p[3 * v + 1] - point.y, dz = p[3 * v + 2] - point.z;
      const far = Math.hypot(dx, dy, dz) / radius;
      if (far >= 1 || n[3 * v] * normal.x + n[3 * v + 1] * normal.y + n[3 * v + 2] * normal.z < 0) continue;
      const before = painted[v] ?? 1;
      const share = (1 - far * far) ** 2;
      const mixed = sign ? before * factor ** (sign * share) : before ** (1 - share);
      const strongest = this.stroke.get(v);
      if (strongest === undefined || Math.abs(Math.log(mixed / before)) > Math.abs(Math.log(strongest / before))) {
        this.stroke.set(v, Math.min(20, Math.max(0.05, mixed)));
        for (const channel of [0, 1]) colours[3 * v + channel] *= 1 - 0.3 * share; // a hint until the session answers
      }
    }
    this.stage.bodies[view].skin.spread("colours", "color");
    this.stage.dirty = true;
  }
}
