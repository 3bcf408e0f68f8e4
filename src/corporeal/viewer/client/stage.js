// Bodies side by side: one camera, one picture for each, drawn into its part of the canvas.

import { BufferAttribute, Group, NeutralToneMapping, OrbitControls, PCFShadowMap, PerspectiveCamera, Raycaster, Scene, Vector2, Vector3, WebGLRenderer } from "./vendor/three.js";
import { BodyMesh, paintedMaterial } from "./body_mesh.js";
import { Bones } from "./bones.js";
import { Looks, Parts } from "./looks.js";
import { isPaint } from "./overlay.js";
import { makeRoom } from "./room.js";
import { drawsInSoftware } from "./software.js";

const STILL = 250; // milliseconds after which a picture is not moving any more
const SHADED = 3; // in software, a moving body's shadow is drawn once in so many pictures
const SMOOTH = 1.5; // in software, pixels of a still to one of the screen: edges are smoothed by them alone

export class Stage {
  constructor(studio, canvas) {
    this.studio = studio;
    this.canvas = canvas;
    this.inSoftware = drawsInSoftware();
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.inSoftware, alpha: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false; // `draw` says when
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.18;
    this.ratio = this.shownRatio = this.inSoftware ? 0.5 : this.full;
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.localClippingEnabled = true;
    this.renderer.autoClear = false;
    this.scene = new Scene();
    Object.assign(this, makeRoom(this.scene));
    this.camera = new PerspectiveCamera(27, 1, 0.05, 40);
    this.camera.position.set(1.35, 1.35, 4.3);
    this.looks = null; // how the person looks, once the model is there
    this.isPainted = false; // whether the skin's pictures are on it
    this.isInside = false; // whether layers are there to be seen through the skin
    this.joints = null; // frames of the last frame's joints
    this.wasTurned = false; // whether the person has chosen a view
    this.bodies = [];
    this.extras = []; // groups of other panels, drawn in every view: { group, view } with view null for all
    this.alone = null; // a group that is shown by itself, such as the mesh whose joints are edited
    this.surfaces = new Map(); // triangles of takes whose topology is not the model's
    this.pelvis = new Vector3();
    this.dirty = true;
    this.frames = this.drawings = 0;
    this.adaptive = true;
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    studio.on("model", (message) => { this.model = message; this.looks ??= new Looks(message); this.coarse = new BufferAttribute(message.arrays.coarse, 1); });
    studio.on("surface", (message) => this.surfaces.set(`take:${message.name}`, message));
    studio.on("picture", (message) => this.looks.picture(message));
    studio.on("looks", (message) => this.dress(message));
    studio.on("skin", (message) => this.tan(message));
    studio.on("person", (message) => { this.person = message; }); // a frame of it follows
    studio.on("frame", (message) => this.show(message));
    studio.on("document", () => this.follow());
    studio.on("inside", ({ bones }) => { this.isInside = bones.length > 0; if (this.studio.document) this.follow(); });
  }

  // Controls are made after tools have had the chance to listen to the mouse first.
  begin() {
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.target.set(0, 0.93, 0);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.minDistance = 0.4;
    this.controls.maxDistance = 14;
    this.controls.addEventListener("change", () => { this.dirty = true; });
    this.controls.addEventListener("start", () => { this.wasTurned = true; });
    this.resize();
    const draw = (now) => {
      requestAnimationFrame(draw);
      this.pace(now);
      this.controls.update();
      if (this.dirty) this.paint(now, this.ratio);
      else if (this.adaptive && this.shownRatio < this.full && now - this.drawn > STILL) this.paint(now, this.full);
    };
    requestAnimationFrame(draw);
  }

  get full() {
    return this.inSoftware ? SMOOTH : Math.min(devicePixelRatio, 2);
  }

  paint(now, ratio) {
    if (!this.adaptive) ratio = this.renderer.getPixelRatio();
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    this.isMoving = ratio === this.ratio;
    this.shownRatio = ratio;
    this.draw();
    this.drawn = now;
  }

  // A machine that cannot draw twenty pictures a second gets fewer pixels while things move, more
  // again when it can, and all of them in a picture that stands still. What counts is how long the
  // browser needs after a drawn picture, not how long nothing was to be drawn.
  pace(now) {
    const gap = now - (this.last ?? now);
    const drew = this.drawn !== undefined && this.drawn === this.last;
    this.last = now;
    if (!this.adaptive || !drew || !this.isMoving || gap > 1000 || document.hidden) return;
    this.slow = 0.9 * (this.slow ?? 30) + 0.1 * gap;
    const least = 0.5 * Math.min(1, this.full);
    if (this.slow > 50 && this.ratio > least) this.rescale(Math.max(least, this.ratio > 1 ? 1 : 0.75 * this.ratio));
    else if (this.slow < 22 && this.ratio < this.full) this.rescale(Math.min(this.full, this.ratio / 0.75));
  }

  rescale(ratio) {
    this.ratio = ratio;
    this.slow = 35; // neither too slow nor too fast, until that is seen
    this.dirty = true;
  }

  // The picture as a still, with every pixel that the screen has.
  still(take) {
    const ratio = this.renderer.getPixelRatio();
    this.renderer.setPixelRatio(this.full);
    this.isMoving = false;
    this.draw();
    take(this.canvas);
    this.renderer.setPixelRatio(ratio);
    this.dirty = true;
  }

  // Painted skin, on every body.
  async tan(message) {
    await this.looks.paint(message, this.bodies.map(({ material }) => material));
    this.isPainted = true;
    this.dirty = true;
    this.studio.emit("painted", null);
  }

  // A face, eyes, lashes, hair; pictures come a moment later.
  dress(message) {
    const painted = this.looks.take(message);
    for (const body of this.bodies) body.parts.build();
    this.studio.emit("dressed", null);
    painted.then(() => { this.dirty = true; });
    if (this.lastFrame && this.studio.document) this.pose(this.lastFrame);
  }

  // As many bodies as the document has views; how they look.
  follow() {
    const { views, look } = this.studio.document;
    while (this.bodies.length > views.length) {
      const body = this.bodies.pop();
      this.scene.remove(body.group);
      body.skin.dispose();
      body.parts.dispose();
      body.material.dispose();
    }
    while (this.bodies.length < views.length) this.add();
    this.ground.visible = look.ground;
    this.bodies.forEach((body, number) => {
      this.resurface(body, this.surfaces.get(views[number].deformer) ?? null);
      body.taken = views[number].deformer.startsWith("take:");
      body.bones.lines.visible = body.bones.balls.visible = look.skeleton && !body.taken;
      body.material.wireframe = look.wireframe;
      const opacity = this.isInside || !(look.bone || look.muscle) ? look.skin_opacity : 1; // no ghost while layers are prepared
      if (body.material.transparent !== opacity < 1) body.material.needsUpdate = true;
      body.material.transparent = opacity < 1;
      body.material.opacity = opacity;
      body.material.depthWrite = opacity === 1;
      body.isSolid = opacity === 1;
      if (this.studio.document.colour.what === "skin") this.untint(body);
    });
    this.dirty = true;
  }

  // A take may have triangles of its own.
  resurface(body, surface) {
    if (body.surface === surface) return;
    body.group.remove(body.skin.mesh);
    body.skin.dispose();
    body.surface = surface;
    body.skin = this.surfaceOf(surface, body.material);
    body.group.add(body.skin.mesh);
    this.untint(body);
  }

  // A take of another topology is a plain grey; the model's surface has paint.
  surfaceOf(surface, material) {
    if (surface) return new BodyMesh({ triangles: surface.arrays.triangles }, surface.vertices, material);
    return new BodyMesh(this.model.arrays, this.model.arrays.part_labels.length, material, this.inSoftware ? this.coarse : null);
  }

  untint(body) {
    if (body.surface) body.skin.paint(new Float32Array(body.skin.colours.length).fill(0.5));
    else body.skin.clear();
  }

  add() {
    const material = paintedMaterial();
    const body = { group: new Group(), material, skin: this.surfaceOf(null, material), parts: new Parts(this.looks), bones: new Bones(this.model.parents), surface: null, taken: false, isSolid: true };
    body.group.add(body.skin.mesh, body.parts.group, body.bones.lines, body.bones.balls);
    this.scene.add(body.group);
    this.bodies.push(body);
    this.looks.clothe([material]).then(() => { this.dirty = true; });
    if (this.looks.message) body.parts.build();
  }

  show(frame) {
    this.lastFrame = frame;
    this.pose(frame);
    this.joints = frame.arrays.joints;
    this.room = frame.room;
    this.walk(frame.arrays.joints);
    this.frames += 1;
    this.place = frame.place;
    this.studio.send("seen", { number: frame.number });
  }

  // Every body as a frame has it, with the look's face and parts.
  pose(frame) {
    const { joints } = frame.arrays;
    const coloured = this.studio.document.colour.what !== "skin";
    const ramp = isPaint(this.studio.document.colour.what) ? this.model.arrays.tide : this.model.arrays.heat;
    const frames = this.looks.message && this.looks.fromRest(joints);
    this.bodies.forEach((body, number) => {
      const view = frame.views[number];
      if (!view || frame.arrays[`skin ${number}`].length !== body.skin.positions.length) return;
      body.skin.move(frame.arrays[`skin ${number}`], view.origin, view.step);
      const isDressed = Boolean(frames) && !body.surface && !body.taken;
      if (isDressed) this.looks.face(body.skin.positions, frames);
      body.skin.moved();
      const shades = frame.arrays[`shades ${number}`];
      body.material.userData.uniforms.plain.value = body.surface || (coloured && shades) ? 1 : 0;
      if (coloured && shades) body.skin.tint(shades, ramp);
      body.bones.move(joints);
      body.parts.show(isDressed && !coloured, body.isSolid);
      if (isDressed) body.parts.move(joints, frames, body.skin.positions);
    });
    this.dirty = true;
  }

  // Camera, light and shadow go along with the body over the ground.
  walk(joints) {
    const x = joints[3] - this.pelvis.x;
    const z = joints[11] - this.pelvis.z;
    if (!this.controls || Math.hypot(x, z) < 1e-4) return;
    this.pelvis.x += 0.15 * x;
    this.pelvis.z += 0.15 * z;
    for (const place of [this.camera.position, this.controls.target, this.lights.position]) {
      place.x += 0.15 * x;
      place.z += 0.15 * z;
    }
  }

  // Parts of the canvas, one a body, in CSS pixels: up to three in a row, four in two.
  parts() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (this.alone) return [{ x: 0, y: 0, width, height }];
    const count = Math.max(1, this.bodies.length);
    const columns = count === 4 && width < 1.6 * height ? 2 : count;
    const rows = Math.ceil(count / columns);
    return this.bodies.map((_, number) => ({
      x: (number % columns) * (width / columns),
      y: Math.floor(number / columns) * (height / rows),
      width: width / columns,
      height: height / rows,
    }));
  }

  draw() {
    const { renderer } = this;
    const height = this.canvas.clientHeight;
    const parts = this.parts();
    // bodies side by side share one map of shadows, which then has to be drawn for each of them
    const isShaded = !this.inSoftware || !this.isMoving || parts.length > 1 || this.drawings % SHADED === 0;
    this.drawings += 1;
    renderer.setScissorTest(false);
    renderer.clear();
    renderer.setScissorTest(true);
    parts.forEach((part, number) => {
      renderer.shadowMap.needsUpdate = isShaded;
      this.bodies.forEach((body, other) => { body.group.visible = other === number && !this.alone; });
      for (const extra of this.extras) extra.group.visible = this.alone ? extra.group === this.alone : extra.shared !== false && (extra.view === null || extra.view === number);
      this.camera.aspect = part.width / part.height;
      this.camera.updateProjectionMatrix();
      renderer.setViewport(part.x, height - part.y - part.height, part.width, part.height);
      renderer.setScissor(part.x, height - part.y - part.height, part.width, part.height);
      renderer.render(this.scene, this.camera);
    });
    this.dirty = false;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    this.renderer.setSize(width, height, false);
    this.dirty = true;
    this.studio.emit("resized", this.parts());
  }

  // What of a body lies under the mouse: { view, hit, ray }, with hit null beside the body.
  pick(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const parts = this.parts();
    const view = parts.findIndex((part) => x >= part.x && x < part.x + part.width && y >= part.y && y < part.y + part.height);
    if (view < 0) return { view, hit: null };
    return { view, ...this.cast(view, x, y, parts[view]) };
  }

  // A ray into one view, whether or not the mouse is still over it.
  cast(view, x, y, part = this.parts()[view]) {
    const caster = new Raycaster();
    this.camera.aspect = part.width / part.height;
    this.camera.updateProjectionMatrix();
    caster.setFromCamera(new Vector2((2 * (x - part.x)) / part.width - 1, 1 - (2 * (y - part.y)) / part.height), this.camera);
    const [hit = null] = caster.intersectObject(this.bodies[view].skin.mesh, false);
    return { hit, ray: caster.ray };
  }
}

// A mesh's matrix from rows of a joint's frame.
export function setMatrix(mesh, joints, joint) {
  mesh.matrix.fromArray(joints, 16 * joint).transpose();
  mesh.matrixWorldNeedsUpdate = true;
}
