// Joints in a mesh: placed by clicking, moved by handles, drawn with the room that they have.

import {
  BufferAttribute, BufferGeometry, DoubleSide, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, MeshStandardMaterial,
  Object3D, Raycaster, SphereGeometry, TransformControls, Vector2, Vector3,
} from "./vendor/three.js";

const HEIGHT = 1.75; // metres that any mesh is shown with
const ABOVE = { depthTest: false, depthWrite: false, transparent: true };

export class JointEditor {
  // `changed(joints)` hears joints after a gesture, `picked(name)` the joint that was clicked.
  constructor(studio, stage, { changed, picked }) {
    Object.assign(this, { studio, stage, changed, picked });
    this.group = new Group(); // in the mesh's own unit and axes
    this.home = new Group();
    this.home.add(this.group);
    stage.scene.add(this.home);
    stage.extras.push({ group: this.home, view: null, shared: false });
    this.mesh = null;
    this.balls = new Group();
    this.group.add(this.balls);
    this.lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: 0xffd9b8, ...ABOVE }));
    this.lines.renderOrder = 10;
    this.group.add(this.lines);
    this.ball = new SphereGeometry(1, 16, 12);
    this.joints = [];
    this.chosen = null;
    this.handle = new Object3D();
    this.group.add(this.handle);
    this.clicks();
  }

  // The handles are made when the stage has its controls.
  handles() {
    if (this.controls) return;
    this.controls = new TransformControls(this.stage.camera, this.stage.canvas);
    this.controls.setSize(0.7);
    this.home.add(this.controls.getHelper());
    this.controls.addEventListener("dragging-changed", ({ value }) => {
      this.stage.controls.enabled = !value;
      if (!value) this.drop();
    });
    this.controls.addEventListener("objectChange", () => this.drag());
    this.controls.addEventListener("change", () => { this.stage.dirty = true; });
  }

  open(isOpen) {
    this.stage.alone = isOpen && this.mesh ? this.home : null;
    document.getElementById("labels").hidden = this.stage.alone !== null;
    if (isOpen) this.handles();
    this.choose(isOpen ? this.chosen : null);
    this.stage.dirty = true;
    this.studio.emit("resized", this.stage.parts());
  }

  show(vertices, triangles) {
    if (this.mesh) {
      this.group.remove(this.mesh);
      this.mesh.geometry.dispose();
    }
    this.vertices = vertices;
    const geometry = new BufferGeometry();
    geometry.setIndex(new BufferAttribute(triangles, 1));
    geometry.setAttribute("position", new BufferAttribute(vertices, 3));
    geometry.computeVertexNormals();
    geometry.computeBoundingBox();
    const material = new MeshStandardMaterial({ color: 0xc9b8a8, roughness: 0.7, transparent: true, opacity: 0.55, side: DoubleSide, depthWrite: false });
    this.mesh = new Mesh(geometry, material);
    this.group.add(this.mesh);
    this.place();
  }

  // Any unit, any upward axis: shown upright at a person's height, over the middle of the floor.
  place() {
    if (!this.mesh) return;
    const up = this.studio.document.rig.up;
    const { min, max } = this.mesh.geometry.boundingBox;
    const tall = up === "+z" ? max.z - min.z : max.y - min.y;
    const large = Math.max(tall, 0.6 * Math.max(max.x - min.x, max.y - min.y, max.z - min.z), 1e-9);
    this.scale = HEIGHT / large;
    this.group.scale.setScalar(this.scale);
    this.group.rotation.x = up === "+z" ? -Math.PI / 2 : 0;
    const middle = new Vector3().addVectors(min, max).multiplyScalar(0.5);
    if (up === "+z") middle.z = min.z;
    else middle.y = min.y;
    this.group.position.set(0, 0, 0);
    this.group.updateMatrixWorld(true);
    this.group.position.copy(this.group.localToWorld(middle).negate());
    this.stage.dirty = true;
  }

  follow(joints) {
    this.joints = joints.map(({ name, parent, position }) => ({ name, parent, position: [...position] }));
    while (this.balls.children.length > joints.length) this.balls.remove(this.balls.children.at(-1));
    while (this.balls.children.length < joints.length) this.balls.add(this.twoBalls());
    if (!this.joints.some(({ name }) => name === this.chosen)) this.chosen = null;
    this.draw();
    this.choose(this.chosen);
  }

  // A joint, and around it the room that it has under the skin.
  twoBalls() {
    const made = new Group();
    const centre = new Mesh(this.ball, new MeshBasicMaterial({ color: 0xe8a87c, opacity: 0.95, ...ABOVE }));
    const room = new Mesh(this.ball, new MeshBasicMaterial({ color: 0x7fb3d9, opacity: 0.14, ...ABOVE }));
    centre.renderOrder = 12;
    room.renderOrder = 9;
    made.add(centre, room);
    return made;
  }

  draw() {
    if (!this.mesh) return;
    const index = new Map(this.joints.map(({ name }, number) => [name, number]));
    const ends = [];
    this.joints.forEach((joint, number) => {
      const [centre, room] = this.balls.children[number].children;
      this.balls.children[number].position.set(...joint.position);
      centre.scale.setScalar(0.012 / this.scale);
      centre.material.color.set(joint.name === this.chosen ? 0xffffff : 0xe8a87c);
      room.scale.setScalar(Math.max(this.radius(joint.position), 1e-9));
      if (joint.parent !== null && index.has(joint.parent)) ends.push(...this.joints[index.get(joint.parent)].position, ...joint.position);
    });
    this.lines.geometry.setAttribute("position", new BufferAttribute(Float32Array.from(ends), 3));
    this.lines.geometry.computeBoundingSphere();
    this.stage.dirty = true;
  }

  // Distance from the skin's nearest vertex, in the mesh's unit.
  radius([x, y, z]) {
    const { vertices: v } = this;
    let nearest = Infinity;
    for (let i = 0; v && i < v.length; i += 3) nearest = Math.min(nearest, (v[i] - x) ** 2 + (v[i + 1] - y) ** 2 + (v[i + 2] - z) ** 2);
    return nearest === Infinity ? 0 : Math.sqrt(nearest);
  }

  choose(name) {
    this.chosen = name;
    const joint = this.joints.find((row) => row.name === name);
    if (joint && this.stage.alone) {
      this.handle.position.set(...joint.position);
      this.controls.attach(this.handle);
    } else this.controls?.detach();
    this.draw();
  }

  drag() {
    const joint = this.joints.find(({ name }) => name === this.chosen);
    if (!joint) return;
    joint.position = this.handle.position.toArray();
    this.draw();
  }

  drop() {
    this.changed(this.joints);
  }

  // A click on a joint chooses it; one on the skin puts a joint in the middle of what lies behind.
  clicks() {
    const { canvas } = this.stage;
    let from = null;
    canvas.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; });
    canvas.addEventListener("pointerup", (event) => {
      if (!this.stage.alone || this.controls?.dragging || this.controls?.axis || !from) return;
      if (Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 4) return;
      this.click(event);
    });
  }

  click(event) {
    const box = this.stage.canvas.getBoundingClientRect();
    const caster = new Raycaster();
    const place = new Vector2((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
    caster.setFromCamera(place, this.stage.camera);
    const centres = this.balls.children.map((two) => two.children[0]);
    const [ball] = caster.intersectObjects(centres, false);
    if (ball) {
      this.picked(this.joints[centres.indexOf(ball.object)].name);
      return;
    }
    if (this.studio.tool !== "joint") return;
    const hits = caster.intersectObject(this.mesh, false);
    if (hits.length < 2) return;
    const middle = this.group.worldToLocal(hits[0].point.clone().add(hits[1].point).multiplyScalar(0.5));
    this.add(middle.toArray());
  }

  add(position) {
    const names = new Set(this.joints.map(({ name }) => name));
    let number = this.joints.length + 1;
    while (names.has(`joint_${number}`)) number += 1;
    const parent = this.joints.length ? this.chosen ?? this.joints[0].name : null;
    const joint = { name: `joint_${number}`, parent, position };
    this.joints.push(joint);
    this.chosen = joint.name;
    this.changed(this.joints);
  }
}
