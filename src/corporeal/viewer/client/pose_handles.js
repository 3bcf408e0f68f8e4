// Joints to be dragged in the picture: the limb above a joint turns until the joint is where the hand is.

import { Matrix4, Plane, Quaternion, Vector3 } from "./vendor/three.js";

const NEAR = 16; // CSS pixels from a joint that still take it

export class PoseHandles {
  // `turns()` are the key's rotation vectors by joint, `turn(joint, vector, final)` changes one.
  constructor(studio, stage, { turns, turn, picked, may }) {
    Object.assign(this, { studio, stage, turns, turn, picked, may });
    this.held = null;
    const { canvas } = stage;
    canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.up(event), { capture: true });
  }

  // The skeleton is seen while poses are edited.
  follow() {
    const { look } = this.studio.document;
    for (const body of this.stage.bodies) body.bones.lines.visible = body.bones.balls.visible = (look.skeleton || this.may()) && !body.taken;
    this.stage.dirty = true;
  }

  choose() {
    this.stage.dirty = true;
  }

  place(joint) {
    const { joints } = this.stage;
    return new Vector3(joints[16 * joint + 3], joints[16 * joint + 7], joints[16 * joint + 11]);
  }

  turned(joint) {
    const made = new Quaternion();
    if (joint < 0) return made;
    return made.setFromRotationMatrix(new Matrix4().fromArray(this.stage.joints, 16 * joint).transpose());
  }

  // The joint under the mouse, of those that have a limb above them to be turned.
  near(event) {
    const { stage } = this;
    const { view } = stage.pick(event);
    const part = stage.parts()[view];
    if (!part) return null;
    const box = stage.canvas.getBoundingClientRect();
    let best = null;
    stage.model.parents.forEach((parent, joint) => {
      if (parent < 0 || joint > 21) return;
      const p = this.place(joint).project(stage.camera);
      const x = part.x + ((p.x + 1) / 2) * part.width;
      const y = part.y + ((1 - p.y) / 2) * part.height;
      const far = Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
      if (far < NEAR && (!best || far < best.far)) best = { joint, parent, far, view };
    });
    return best;
  }

  down(event) {
    if (event.button !== 0 || !this.may() || !this.stage.joints) return;
    const found = this.near(event);
    if (!found) return;
    event.stopImmediatePropagation();
    const { parents, joints: names } = this.stage.model;
    const place = this.place(found.joint);
    const normal = this.stage.camera.getWorldDirection(new Vector3());
    this.held = { ...found, name: names[found.parent], pivot: this.place(found.parent), from: place, plane: new Plane().setFromNormalAndCoplanarPoint(normal, place), above: this.turned(parents[found.parent]), limb: this.turned(found.parent) };
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.stage.controls.enabled = false;
    this.picked(this.held.name);
  }

  move(event) {
    if (!this.held) return;
    event.stopImmediatePropagation();
    this.aim(event, false);
  }

  // R_local' = above⁻¹ · q · limb, with q the shortest turn from the limb's way to the hand's.
  aim(event, final) {
    const { view, plane, pivot, from, above, limb, name } = this.held;
    const box = this.stage.canvas.getBoundingClientRect();
    const { ray } = this.stage.cast(view, event.clientX - box.left, event.clientY - box.top);
    const target = ray.intersectPlane(plane, new Vector3());
    if (!target) return;
    const before = from.clone().sub(pivot).normalize();
    const after = target.sub(pivot).normalize();
    const q = new Quaternion().setFromUnitVectors(before, after);
    const local = above.clone().invert().multiply(q).multiply(limb);
    this.turn(name, vector(local), final);
  }

  up(event) {
    if (!this.held) return;
    event.stopImmediatePropagation();
    this.aim(event, true);
    this.held = null;
    this.stage.controls.enabled = true;
  }
}

// A rotation vector, radians, the short way.
function vector({ x, y, z, w }) {
  const sign = w < 0 ? -1 : 1;
  const sine = Math.hypot(x, y, z);
  const scale = sine < 1e-9 ? 2 : (2 * Math.atan2(sine, sign * w)) / sine;
  return [sign * scale * x, sign * scale * y, sign * scale * z];
}
