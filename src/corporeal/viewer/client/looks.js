// How the person looks: paint, the face's offsets, and parts (eyes, teeth, lashes, hair) that go with
// the body. All is in the rest pose; joints' frames and the skin itself move it.

import { Group, LinearFilter, LinearMipmapLinearFilter, SRGBColorSpace, Texture } from "./vendor/three.js";
import { BodyMesh, paintedMaterial, plainColour } from "./body_mesh.js";

// A picture's file as a texture; rows go down, as the coordinates do.
async function texture(bytes, kind, isColour) {
  const image = await createImageBitmap(new Blob([bytes], { type: kind }), { premultiplyAlpha: "none", colorSpaceConversion: "none" });
  const made = new Texture(image);
  if (isColour) made.colorSpace = SRGBColorSpace;
  Object.assign(made, { flipY: false, generateMipmaps: true, minFilter: LinearMipmapLinearFilter, magFilter: LinearFilter, anisotropy: 4, needsUpdate: true });
  return made;
}

export class Picture {
  constructor({ kinds, arrays }) {
    this.ready = Promise.all(["colour", "surface"].map((name) => texture(arrays[name], kinds[name], name === "colour")))
      .then(([colour, surface]) => { Object.assign(this, { colour, surface }); });
  }

  async on(material) {
    await this.ready;
    if (this.isGone) return;
    material.map = this.colour;
    material.userData.uniforms.surface.value = this.surface;
  }

  dispose() {
    this.isGone = true;
    this.ready.then(() => { this.colour.dispose(); this.surface.dispose(); this.colour.image.close(); this.surface.image.close(); });
  }
}

// One look for all bodies of the page: its materials, and what is needed to move its parts.
export class Looks {
  constructor({ arrays: model }) {
    this.model = model; // joint_indices and weights of the skin
    this.pictures = new Map();
    this.materials = new Map(); // by name of the part
    this.planes = [];
    this.message = null;
    this.tone = plainColour([0.5, 0.32, 0.24]);
    this.skin = null;
  }

  picture(message) {
    this.pictures.set(message.key, new Picture(message));
  }

  // Skin of every body; gives back when it is on them.
  async paint(message, materials) {
    const before = this.skin;
    this.skin = message && new Picture(message);
    await this.clothe(materials);
    before?.dispose();
  }

  clothe(materials) {
    if (!this.skin) for (const material of materials) material.map = this.tone;
    return Promise.all(materials.map((material) => this.skin?.on(material)));
  }

  // A new look: materials of its parts. Pictures that it does not name are let go.
  async take(message) {
    this.message = message;
    this.tone = plainColour(message.tone);
    const named = new Set(message.parts.map(({ picture }) => picture));
    for (const [key, picture] of this.pictures) if (!named.has(key)) { picture.dispose(); this.pictures.delete(key); }
    const before = this.materials;
    this.materials = new Map(message.parts.map((part) => {
      const kept = before.get(part.name);
      const isKept = kept && kept.userData.cutout === part.cutout;
      const material = isKept ? kept : paintedMaterial(part);
      material.userData.cutout = part.cutout;
      material.clippingPlanes = this.planes;
      if (isKept) before.delete(part.name);
      return [part.name, material];
    }));
    for (const material of before.values()) material.dispose();
    await Promise.all(message.parts.map((part) => this.pictures.get(part.picture)?.on(this.materials.get(part.name))));
  }

  cut(planes) {
    this.planes = planes;
    for (const material of this.materials.values()) material.clippingPlanes = planes;
  }

  // Joints' frames from the rest pose: x ↦ R (x − rest joint) + t, twelve numbers each.
  fromRest(joints, stride = 16) {
    const { rest_joints: rest } = this.message.arrays;
    const count = rest.length / 3;
    const made = (this.frames ??= new Float32Array(12 * count));
    for (let joint = 0; joint < count; joint += 1) {
      const x = rest[3 * joint], y = rest[3 * joint + 1], z = rest[3 * joint + 2];
      for (let row = 0; row < 3; row += 1) {
        const from = stride * joint + 4 * row, to = 12 * joint + 4 * row;
        const a = joints[from], b = joints[from + 1], c = joints[from + 2];
        made[to] = a; made[to + 1] = b; made[to + 2] = c;
        made[to + 3] = joints[from + 3] - a * x - b * y - c * z;
      }
    }
    return made;
  }

  // The look's face on a posed skin: Σ_j w_j R_j o for every vertex that it moves.
  face(positions, frames) {
    const { moved, offsets } = this.message.arrays;
    if (!moved) return;
    const { joint_indices: joints, weights } = this.model;
    const most = joints.length / (positions.length / 3);
    for (let n = 0; n < moved.length; n += 1) {
      const vertex = moved[n];
      const x = offsets[3 * n], y = offsets[3 * n + 1], z = offsets[3 * n + 2];
      for (let k = most * vertex; k < most * (vertex + 1); k += 1) {
        const w = weights[k];
        if (w === 0) continue;
        const j = 12 * joints[k];
        positions[3 * vertex] += w * (frames[j] * x + frames[j + 1] * y + frames[j + 2] * z);
        positions[3 * vertex + 1] += w * (frames[j + 4] * x + frames[j + 5] * y + frames[j + 6] * z);
        positions[3 * vertex + 2] += w * (frames[j + 8] * x + frames[j + 9] * y + frames[j + 10] * z);
      }
    }
  }
}

// x = Σ_k w_k (R_k x + t_k) of one point, added to `out` at `at`, times `sign`.
function blend(frames, joints, weights, first, most, x, y, z, out, at, sign) {
  for (let k = first; k < first + most; k += 1) {
    const w = sign * weights[k];
    if (w === 0) continue;
    const j = 12 * joints[k];
    out[at] += w * (frames[j] * x + frames[j + 1] * y + frames[j + 2] * z + frames[j + 3]);
    out[at + 1] += w * (frames[j + 4] * x + frames[j + 5] * y + frames[j + 6] * z + frames[j + 7]);
    out[at + 2] += w * (frames[j + 8] * x + frames[j + 9] * y + frames[j + 10] * z + frames[j + 11]);
  }
}

// The parts of one body.
export class Parts {
  constructor(looks) {
    this.looks = looks;
    this.group = new Group();
    this.made = [];
  }

  build() {
    this.dispose();
    const { parts, arrays } = this.looks.message;
    for (const part of parts) {
      const of = (what) => arrays[`${part.name} ${what}`];
      const surface = { triangles: of("triangles"), corners: of("corners"), extra: of("extra"), uv: of("uv") };
      const skin = new BodyMesh(surface, of("vertices").length / 3, this.looks.materials.get(part.name));
      skin.positions.set(of("vertices"));
      skin.moved();
      skin.mesh.matrixAutoUpdate = false;
      skin.mesh.castShadow = part.kind === "hair" && !["lashes", "hair_wisps"].includes(part.name);
      this.group.add(skin.mesh);
      this.made.push({ part, skin, of });
    }
  }

  // `hair` says whether what hangs over the skin is shown, too.
  show(isShown, hair) {
    this.group.visible = isShown;
    for (const { part, skin } of this.made) skin.mesh.visible = hair || part.kind !== "hair";
  }

  // Rigid parts go with their joint, soft ones as the skin below them.
  move(joints, frames, skin, stride = 16) {
    if (!this.group.visible) return;
    for (const made of this.made) {
      if (made.part.soft) this.follow(made, frames, skin);
      else {
        const row = (n) => joints.subarray(stride * made.part.joint + 4 * n, stride * made.part.joint + 4 * n + 4);
        made.skin.mesh.matrix.set(...row(0), ...row(1), ...row(2), 0, 0, 0, 1);
        made.skin.mesh.matrixWorldNeedsUpdate = true;
      }
    }
  }

  // x = LBS(part) + Σ_k s_k (skin_k − LBS(skin)_k): what flesh does is handed on.
  follow({ skin: part, of }, frames, skin) {
    const { joint_indices: joints, weights } = this.looks.model;
    const most = (3 * joints.length) / skin.length;
    const used = of("used"), rest = of("used rest");
    const beyond = new Float32Array(rest.length);
    for (let n = 0; n < used.length; n += 1) {
      const v = used[n];
      beyond[3 * n] = skin[3 * v]; beyond[3 * n + 1] = skin[3 * v + 1]; beyond[3 * n + 2] = skin[3 * v + 2];
      blend(frames, joints, weights, most * v, most, rest[3 * n], rest[3 * n + 1], rest[3 * n + 2], beyond, 3 * n, -1);
    }
    const { positions } = part;
    const own = of("vertices"), ownJoints = of("joints"), ownWeights = of("weights"), carriers = of("carriers"), shares = of("shares");
    const count = own.length / 3, carried = ownJoints.length / count, held = carriers.length / count;
    positions.fill(0);
    for (let n = 0; n < count; n += 1) {
      blend(frames, ownJoints, ownWeights, carried * n, carried, own[3 * n], own[3 * n + 1], own[3 * n + 2], positions, 3 * n, 1);
      for (let k = held * n; k < held * (n + 1); k += 1) {
        const s = shares[k], from = 3 * carriers[k];
        positions[3 * n] += s * beyond[from]; positions[3 * n + 1] += s * beyond[from + 1]; positions[3 * n + 2] += s * beyond[from + 2];
      }
    }
    part.moved();
  }

  dispose() {
    for (const { skin } of this.made) skin.dispose();
    this.made = [];
    this.group.clear();
  }
}
