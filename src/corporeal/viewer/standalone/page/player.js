// The page of a take: bodies side by side under one camera, play, scrub, speed.

import { Group, NeutralToneMapping, OrbitControls, PCFShadowMap, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "./vendor/three.js";
import { BodyMesh, paintedMaterial } from "./body_mesh.js";
import { Looks, Parts } from "./looks.js";
import { decode } from "./packets.js";
import { makeRoom } from "./room.js";
import { Frames, inflated } from "./frames.js";
import { LiveFlesh } from "./live.js";

const at = (id) => document.getElementById(id);

async function data() {
  const text = atob(at("take").textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  at("take").remove();
  return decode((await inflated(bytes)).buffer);
}

class Body {
  constructor(row, number, arrays, pictures) {
    const name = `take ${number}`;
    this.frames = new Frames(row, arrays, name);
    this.group = new Group();
    this.material = paintedMaterial();
    const own = arrays[`${name} triangles`];
    this.skin = new BodyMesh(own ? { triangles: own } : arrays, row.vertices, this.material);
    this.group.add(this.skin.mesh);
    this.live = row.live ? new LiveFlesh(row, arrays, name) : null;
    this.looks = null;
    if (row.looks) this.dress(row.looks, arrays, name, pictures);
    else {
      this.material.userData.uniforms.plain.value = 1;
      this.skin.paint(new Float32Array(3 * row.vertices).fill(0.5));
    }
  }

  // Face, parts and paint; `ready` when all pictures are on them.
  dress(fields, arrays, name, pictures) {
    const start = `${name} `;
    const own = Object.fromEntries(Object.entries(arrays).filter(([key]) => key.startsWith(start)).map(([key, array]) => [key.slice(start.length), array]));
    this.joints = own.joints;
    this.pose = new Float32Array(this.joints.length / this.frames.count);
    this.looks = new Looks({ arrays });
    const picture = (key) => ({ key, kinds: pictures[key], arrays: { colour: arrays[`${key} colour`], surface: arrays[`${key} surface`] } });
    for (const key of new Set(fields.parts.map((part) => part.picture))) this.looks.picture(picture(key));
    this.ready = Promise.all([this.looks.take({ ...fields, arrays: own }), this.looks.paint(picture(fields.skin), [this.material])]);
    this.parts = new Parts(this.looks);
    this.parts.build();
    this.group.add(this.parts.group);
  }

  // `passed` seconds after the last picture; 0 is a leap, after which flesh is at rest.
  show(seconds, passed = 0, hand = [0, 0, 0]) {
    const exact = this.frames.at(seconds, this.skin.positions);
    if (this.live) this.live.step(exact, passed, hand, this.skin.positions);
    if (this.looks) this.wear(exact, this.live ? hand : [0, 0, 0]);
    this.skin.moved();
    if (this.looks) this.parts.move(this.pose, this.looks.frames, this.skin.positions, 12);
  }

  // The face on the skin, by the joints' frames between two of the take's.
  wear(exact, hand) {
    const { pose, joints } = this;
    const first = pose.length * Math.floor(exact);
    const next = Math.min(first + pose.length, joints.length - pose.length);
    const share = exact - Math.floor(exact);
    for (let i = 0; i < pose.length; i += 1) {
      pose[i] = joints[first + i] + share * (joints[next + i] - joints[first + i]) + (i % 4 === 3 ? hand[(i % 12 - 3) / 4] : 0);
    }
    this.looks.face(this.skin.positions, this.looks.fromRest(pose, 12));
  }
}

class Player {
  constructor(message) {
    const { arrays, takes, pictures } = message;
    this.canvas = at("canvas");
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
    Object.assign(this.renderer.shadowMap, { enabled: true, type: PCFShadowMap });
    Object.assign(this.renderer, { toneMapping: NeutralToneMapping, toneMappingExposure: 1.18, autoClear: false });
    this.scene = new Scene();
    this.lights = makeRoom(this.scene).lights;
    this.camera = new PerspectiveCamera(27, 1, 0.05, 60);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = true;
    this.controls.addEventListener("change", () => { this.dirty = true; });
    this.bodies = takes.map((row, number) => new Body(row, number, arrays, pictures));
    for (const body of this.bodies) this.scene.add(body.group);
    this.names = takes.map(({ title }) => title);
    Object.assign(this, { time: 0, playing: true, speed: 1, drawn: 0, dirty: true, hand: [0, 0, 0], grip: null });
    if (this.bodies.some(({ live }) => live)) this.shakes();
  }

  // Live flesh: Shift and drag, or the button and drag, moves the body about; a slider exaggerates.
  shakes() {
    const shake = document.createElement("button");
    Object.assign(shake, { type: "button", textContent: "Shake", title: "Drag to shake the body (or Shift and drag)", onclick: () => shake.setAttribute("aria-pressed", shake.getAttribute("aria-pressed") !== "true") });
    shake.setAttribute("aria-pressed", "false");
    const more = document.createElement("input");
    Object.assign(more, { type: "range", min: 0, max: 3, step: 0.1, value: 1, title: "Exaggeration", oninput: () => { for (const { live } of this.bodies) if (live) live.exaggeration = Number(more.value); } });
    const label = document.createElement("label");
    label.className = "more";
    label.append("Exaggeration", more);
    at("views").before(shake, label);
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (!event.shiftKey && shake.getAttribute("aria-pressed") !== "true") return;
      event.stopImmediatePropagation();
      canvas.setPointerCapture(event.pointerId);
      this.grip = { x: event.clientX, y: event.clientY, from: [...this.hand] };
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.grip) return;
      event.stopImmediatePropagation();
      const scale = this.camera.position.distanceTo(this.controls.target) / canvas.clientHeight / 2;
      const right = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0).multiplyScalar(scale * (event.clientX - this.grip.x));
      this.hand = [this.grip.from[0] + right.x, this.grip.from[1] + scale * (this.grip.y - event.clientY), this.grip.from[2] + right.z];
    }, { capture: true });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { this.grip = null; }, { capture: true });
  }

  async begin() {
    for (const body of this.bodies) await body.frames.unpack();
    await Promise.all(this.bodies.map(({ ready }) => ready));
    at("veil").hidden = true;
    this.seconds = Math.max(...this.bodies.map(({ frames }) => frames.seconds));
    this.show();
    this.buttons();
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
    this.resize();
    this.aim([0.3, 0.1, 1]);
    let last = performance.now();
    const draw = (now) => {
      requestAnimationFrame(draw);
      const passed = Math.min(now - last, 100) / 1000;
      last = now;
      this.go(passed);
      this.controls.update();
      if (this.dirty) this.draw();
    };
    requestAnimationFrame(draw);
  }

  buttons() {
    const play = () => {
      this.playing = !this.playing;
      at("play").textContent = this.playing ? "❚❚" : "▶";
      at("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    };
    at("play").onclick = play;
    at("place").oninput = () => { if (this.playing) play(); this.seek(Number(at("place").value) * this.seconds); };
    at("speed").onchange = () => { this.speed = Number(at("speed").value); };
    for (const [text, direction] of [["Front", [0.3, 0.1, 1]], ["Side", [1, 0.06, 0]], ["Back", [-0.3, 0.1, -1]]]) {
      const made = document.createElement("button");
      Object.assign(made, { type: "button", textContent: text, onclick: () => this.aim(direction) });
      at("views").append(made);
    }
    addEventListener("keydown", (event) => {
      if (event.code !== "Space" || event.target.closest("button, select, input")) return;
      event.preventDefault();
      play();
    });
  }

  // Time goes on; where flesh is live, it does so while the motion stands still, too.
  go(passed) {
    const isLive = this.bodies.some(({ live }) => live);
    if (!this.playing && !isLive) return;
    this.loosen(passed);
    const step = this.playing ? this.speed * passed : 0;
    const next = this.time + step;
    this.seek(next % this.seconds, next < this.seconds ? Math.max(step, isLive ? passed * this.speed : 0) : 0);
  }

  // What the hand has moved comes back on a spring once it lets go.
  loosen(passed) {
    if (this.grip) return;
    this.hand = this.hand.map((value) => value * Math.exp(-8 * passed));
  }

  seek(seconds, passed = 0) {
    this.time = seconds;
    this.show(passed);
    at("place").value = seconds / this.seconds;
    at("time").value = `${seconds.toFixed(2)} / ${this.seconds.toFixed(2)} s`;
  }

  show(passed = 0) {
    for (const body of this.bodies) body.show(this.time % (body.frames.seconds + 1e-9), passed, this.hand);
    const [first] = this.bodies;
    const centre = middle(first.skin.positions).sub(new Vector3(...(first.live ? this.hand : [0, 0, 0])));
    this.lights.position.set(centre.x, 0, centre.z);
    if (this.centre) for (const place of [this.camera.position, this.controls.target]) { place.x += centre.x - this.centre.x; place.z += centre.z - this.centre.z; }
    this.centre = centre.clone();
    this.dirty = true;
  }

  // The camera goes where the body fills the picture in every frame.
  aim(direction) {
    const { frames } = this.bodies[0];
    const box = this.bodies[0].box ??= extent(frames);
    const [part] = this.parts();
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const away = 1.06 * Math.max(box.tall, (box.wide * part.height) / part.width) / (2 * half) + 0.2;
    this.controls.target.set(this.centre.x, box.low + box.tall / 2, this.centre.z);
    this.camera.position.copy(this.controls.target).addScaledVector(new Vector3(...direction).normalize(), away);
    this.dirty = true;
  }

  parts() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const count = this.bodies.length;
    return this.bodies.map((_, number) => ({ x: (number * width) / count, width: width / count, height }));
  }

  draw() {
    const { renderer } = this;
    renderer.setScissorTest(false);
    renderer.clear();
    renderer.setScissorTest(true);
    this.parts().forEach((part, number) => {
      this.bodies.forEach((body, other) => { body.group.visible = other === number; });
      this.camera.aspect = part.width / part.height;
      this.camera.updateProjectionMatrix();
      renderer.setViewport(part.x, 0, part.width, part.height);
      renderer.setScissor(part.x, 0, part.width, part.height);
      renderer.render(this.scene, this.camera);
    });
    this.dirty = false;
    this.drawn += 1;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    at("labels").replaceChildren(...this.parts().map((part, number) => {
      const made = document.createElement("b");
      made.textContent = this.names[number];
      made.style.left = `${part.x + 12}px`;
      return made;
    }));
    this.dirty = true;
  }
}

// The middle of a body, by every fiftieth vertex.
function middle(positions) {
  const made = new Vector3();
  let count = 0;
  for (let i = 0; i < positions.length; i += 150, count += 1) made.add(new Vector3().fromArray(positions, i));
  return made.divideScalar(count);
}

// Lowest point, height and width of a take, the way over the ground taken out; every fifth frame.
function extent(frames) {
  let [low, high, wide] = [Infinity, -Infinity, 0];
  const { vertices } = frames;
  for (let n = 0; n < frames.count; n += 5) {
    const row = frames.rows[n];
    let [left, right] = [Infinity, -Infinity];
    for (let v = 0; v < vertices; v += 1) {
      left = Math.min(left, row[v]);
      right = Math.max(right, row[v]);
      low = Math.min(low, row[vertices + v]);
      high = Math.max(high, row[vertices + v]);
    }
    wide = Math.max(wide, right - left);
  }
  const { step, origin } = frames;
  return { low: origin[1] + step * low, tall: step * (high - low), wide: step * wide };
}

data().then((message) => {
  const player = new Player(message);
  Object.assign(window, { player });
  return player.begin();
}).catch((error) => { at("veil").hidden = false; at("veil").textContent = `This page cannot be shown here: ${error.message}`; });
