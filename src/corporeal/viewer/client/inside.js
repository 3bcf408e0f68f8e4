// What is inside: the muscle surface and bones among the bodies, and a plane that cuts them open.

import { BackSide, BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Group, Mesh, MeshBasicMaterial, MeshStandardMaterial, Plane, Vector3 } from "./vendor/three.js";

const AXES = { x: new Vector3(-1, 0, 0), y: new Vector3(0, -1, 0), z: new Vector3(0, 0, -1) };
const linear = (r, g, b) => new Color().setRGB(r, g, b);
const BONE = linear(0.8, 0.73, 0.56);
const MUSCLE = linear(0.46, 0.075, 0.055);
const FAT = linear(0.86, 0.6, 0.18);

export class Inside {
  constructor(studio, stage) {
    Object.assign(this, { studio, stage });
    this.group = new Group();
    this.planes = [];
    this.muscleSkin = new MeshStandardMaterial({ color: MUSCLE, roughness: 0.6 });
    this.boneSkin = new MeshStandardMaterial({ color: BONE, roughness: 0.55 });
    this.fatWall = new MeshBasicMaterial({ color: FAT, side: BackSide });
    this.muscleWall = new MeshBasicMaterial({ color: MUSCLE, side: BackSide });
    this.muscle = null;
    this.bones = new Group();
    this.group.add(this.bones);
    stage.scene.add(this.group);
    stage.extras.push({ group: this.group, view: null });
    studio.on("inside", (message) => this.take(message));
    studio.on("frame", (frame) => this.move(frame));
    studio.on("document", () => this.follow());
  }

  // New layers: bones go with their joints, the muscle surface comes with every frame.
  take({ bones, arrays }) {
    this.rest = arrays.rest_joints;
    for (const bone of this.bones.children) bone.geometry.dispose();
    this.bones.clear();
    bones.forEach((weights, number) => {
      const geometry = surface(arrays[`bone ${number} triangles`], arrays[`bone ${number} vertices`]);
      geometry.computeVertexNormals();
      const bone = new Mesh(geometry, this.boneSkin);
      bone.matrixAutoUpdate = false;
      bone.userData.weights = weights;
      bone.castShadow = true;
      this.bones.add(bone);
    });
    if (this.muscle) {
      this.group.remove(this.muscle, this.wall);
      this.muscle.geometry.dispose();
    }
    this.muscle = null;
    if (!arrays.muscle_triangles) return;
    const geometry = surface(arrays.muscle_triangles, new Float32Array(3 * this.stage.model.arrays.part_labels.length));
    geometry.getAttribute("position").setUsage(DynamicDrawUsage);
    this.muscle = new Mesh(geometry, this.muscleSkin);
    this.wall = new Mesh(geometry, this.muscleWall);
    this.muscle.frustumCulled = this.wall.frustumCulled = false;
    this.group.add(this.muscle, this.wall);
    this.follow();
  }

  move({ arrays, muscle }) {
    if (this.bones.visible) for (const bone of this.bones.children) this.pose(bone, arrays.joints);
    if (this.muscle && arrays.muscle) {
      const places = this.muscle.geometry.getAttribute("position");
      const { origin, step } = muscle;
      for (let i = 0; i < places.array.length; i += 1) places.array[i] = origin[i % 3] + step * arrays.muscle[i];
      places.needsUpdate = true;
      this.muscle.geometry.computeVertexNormals();
    }
    this.aim(arrays.joints);
  }

  // A bone moves as one: by the mean of its joints, M = Σ w · world_from_joint · (−rest joint).
  pose(bone, joints) {
    const rows = new Float32Array(12);
    for (const [joint, weight] of bone.userData.weights) {
      const [x, y, z] = this.rest.subarray(3 * joint, 3 * joint + 3);
      for (let row = 0; row < 3; row += 1) {
        const [a, b, c, d] = joints.subarray(16 * joint + 4 * row, 16 * joint + 4 * row + 4);
        rows[4 * row] += weight * a;
        rows[4 * row + 1] += weight * b;
        rows[4 * row + 2] += weight * c;
        rows[4 * row + 3] += weight * (d - a * x - b * y - c * z);
      }
    }
    bone.matrix.set(...rows, 0, 0, 0, 1);
    bone.matrixWorldNeedsUpdate = true;
  }

  // What is shown, and what is cut.
  follow() {
    const { look } = this.studio.document;
    const cut = look.cut >= 0;
    this.bones.visible = look.bone;
    if (this.muscle) {
      this.muscle.visible = look.muscle;
      this.wall.visible = look.muscle && cut;
    }
    this.planes = cut ? [this.planes[0] ?? new Plane(AXES[look.cut_axis].clone(), 0)] : [];
    for (const material of [this.muscleSkin, this.boneSkin, this.fatWall, this.muscleWall]) material.clippingPlanes = this.planes;
    this.stage.looks?.cut(this.planes);
    for (const body of this.stage.bodies) {
      body.material.clippingPlanes = this.planes;
      this.line(body, cut);
    }
    if (this.joints) {
      this.aim(this.joints);
      for (const made of this.bones.children) this.pose(made, this.joints);
    }
    this.stage.dirty = true;
  }

  // The wall of fat that is seen where skin is cut away.
  line(body, cut) {
    if (body.wall && body.wall.geometry !== body.skin.mesh.geometry) {
      body.group.remove(body.wall);
      body.wall = null;
    }
    if (cut && !body.wall) {
      body.wall = new Mesh(body.skin.mesh.geometry, this.fatWall);
      body.wall.frustumCulled = false;
      body.group.add(body.wall);
    }
    if (body.wall) body.wall.visible = cut;
  }

  // The plane goes along with the body: a share of its extent at rest is cut away.
  aim(joints) {
    this.joints = joints;
    if (!this.planes.length || !this.stage.person) return;
    const { cut, cut_axis: axis } = this.studio.document.look;
    const number = "xyz".indexOf(axis);
    const { rest } = this.stage.person.arrays;
    let low = Infinity, high = -Infinity;
    for (let i = number; i < rest.length; i += 3) { low = Math.min(low, rest[i]); high = Math.max(high, rest[i]); }
    const moved = axis === "y" ? 0 : joints[4 * number + 3] - 0.5 * (low + high);
    this.planes[0].normal.copy(AXES[axis]);
    this.planes[0].constant = high - cut * (high - low) + moved;
  }
}

function surface(triangles, vertices) {
  const geometry = new BufferGeometry();
  geometry.setIndex(new BufferAttribute(triangles, 1));
  geometry.setAttribute("position", new BufferAttribute(vertices, 3));
  return geometry;
}
