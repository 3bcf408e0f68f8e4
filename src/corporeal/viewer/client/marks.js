// What the hand does, drawn: the grip on the skin, the pull from it, the rim of the brush.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, Quaternion, SphereGeometry, Vector3 } from "./vendor/three.js";

const ABOVE = { depthTest: false, depthWrite: false, transparent: true };
const CORNERS = 48;

export class Marks {
  constructor(stage) {
    this.stage = stage;
    this.group = new Group();
    this.extra = { group: this.group, view: -1 };
    const ball = (radius, color) => new Mesh(new SphereGeometry(radius, 16, 12), new MeshBasicMaterial({ color, opacity: 0.95, ...ABOVE }));
    this.grip = ball(0.011, 0xffffff);
    this.goal = ball(0.008, 0xe8a87c);
    const line = new BufferGeometry();
    line.setAttribute("position", new BufferAttribute(new Float32Array(6), 3).setUsage(DynamicDrawUsage));
    this.line = new LineSegments(line, new LineBasicMaterial({ color: 0xffd9b8, opacity: 0.95, ...ABOVE }));
    this.rim = new LineSegments(circle(), new LineBasicMaterial({ color: 0xffffff, opacity: 0.9, ...ABOVE }));
    this.line.frustumCulled = this.rim.frustumCulled = false;
    this.group.add(this.grip, this.goal, this.line, this.rim);
    for (const mark of this.group.children) mark.renderOrder = 20;
    stage.scene.add(this.group);
    stage.extras.push(this.extra);
    this.hide();
  }

  show(view, marks) {
    this.extra.view = view;
    for (const mark of this.group.children) mark.visible = marks.includes(mark);
    this.stage.dirty = true;
  }

  hide() {
    if (this.extra.view >= 0) this.show(-1, []);
  }

  // From the held triangle, wherever its skin is by now, to where it is drawn.
  pull({ view, vertices, target }) {
    const { positions } = this.stage.bodies[view].skin;
    this.grip.position.set(0, 0, 0);
    for (const vertex of vertices) this.grip.position.add(new Vector3().fromArray(positions, 3 * vertex).divideScalar(3));
    this.goal.position.copy(target);
    const ends = this.line.geometry.getAttribute("position");
    this.grip.position.toArray(ends.array, 0);
    target.toArray(ends.array, 3);
    ends.needsUpdate = true;
    this.show(view, [this.grip, this.goal, this.line]);
  }

  ring(view, { point, face }, radius) {
    this.rim.position.copy(point);
    this.rim.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), face.normal));
    this.rim.scale.setScalar(radius);
    this.show(view, [this.rim]);
  }
}

function circle() {
  const places = new Float32Array(6 * CORNERS);
  for (let corner = 0; corner < CORNERS; corner += 1) {
    for (const end of [0, 1]) {
      const angle = (2 * Math.PI * (corner + end)) / CORNERS;
      places.set([Math.cos(angle), Math.sin(angle), 0], 6 * corner + 3 * end);
    }
  }
  const made = new BufferGeometry();
  made.setAttribute("position", new BufferAttribute(places, 3));
  return made;
}
