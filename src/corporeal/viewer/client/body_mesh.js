// One body as a mesh: positions come sixteen bits a number, normals are made here, paint is ours.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Mesh, MeshStandardMaterial, Sphere, Vector3 } from "./vendor/three.js";

const CLOTH = [0.115, 0.125, 0.145];

// Skin with a face painted on it and cloth cut by a field, so that hems are crisp curves.
export function skinMaterial(decal) {
  const material = new MeshStandardMaterial({ vertexColors: true, roughness: 0.56, metalness: 0 });
  const uniforms = { decal: { value: decal }, plain: { value: 0 }, cloth: { value: new Vector3(...CLOTH) } };
  material.userData.uniforms = uniforms;
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nattribute float garment;\nattribute vec2 place;\nvarying float vGarment;\nvarying vec2 vPlace;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvGarment = garment;\nvPlace = place;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nuniform sampler2D decal;\nuniform float plain;\nuniform vec3 cloth;\nvarying float vGarment;\nvarying vec2 vPlace;")
      .replace("#include <color_fragment>", `#include <color_fragment>
        float covered = 0.0;
        if (plain < 0.5) {
          if (vPlace.x > 0.0 && vPlace.x < 1.0 && vPlace.y > 0.0 && vPlace.y < 1.0) {
            vec4 paint = texture2D(decal, vPlace);
            diffuseColor.rgb = mix(diffuseColor.rgb, paint.rgb, paint.a);
          }
          float edge = max(fwidth(vGarment), 1e-5);
          covered = smoothstep(-0.5 * edge, 0.5 * edge, vGarment);
          diffuseColor.rgb = mix(diffuseColor.rgb, cloth, covered);
        }`)
      .replace("#include <roughnessmap_fragment>", "#include <roughnessmap_fragment>\nroughnessFactor = mix(roughnessFactor, 0.95, covered);");
  };
  return material;
}

export class BodyMesh {
  constructor(model, material) {
    const { triangles, part_labels: labels } = model.arrays;
    const count = labels.length;
    this.triangles = triangles;
    this.positions = new Float32Array(3 * count);
    this.normals = new Float32Array(3 * count);
    this.colours = new Float32Array(3 * count);
    const geometry = new BufferGeometry();
    geometry.setIndex(new BufferAttribute(triangles, 1));
    const dynamic = (array) => new BufferAttribute(array, 3).setUsage(DynamicDrawUsage);
    geometry.setAttribute("position", dynamic(this.positions));
    geometry.setAttribute("normal", dynamic(this.normals));
    geometry.setAttribute("color", dynamic(this.colours));
    geometry.setAttribute("place", new BufferAttribute(new Float32Array(2 * count).fill(5), 2));
    geometry.setAttribute("garment", new BufferAttribute(new Float32Array(count).fill(-1), 1));
    geometry.boundingSphere = new Sphere(new Vector3(0, 0.9, 0), 4);
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.fresh = false;
  }

  get count() {
    return this.positions.length / 3;
  }

  // Fill the attribute `garment` (a field that is positive under cloth) or `place` (on the decal).
  fill(name, values) {
    const attribute = this.mesh.geometry.getAttribute(name);
    attribute.array.set(values);
    attribute.needsUpdate = true;
  }

  // Positions: origin + step · number.
  move(numbers, origin, step) {
    const { positions } = this;
    const [x, y, z] = origin;
    for (let i = 0; i < positions.length; i += 3) {
      positions[i] = x + step * numbers[i];
      positions[i + 1] = y + step * numbers[i + 1];
      positions[i + 2] = z + step * numbers[i + 2];
    }
    this.moved();
    const { boundingSphere } = this.mesh.geometry;
    boundingSphere.center.set(x + 32768 * step, y + 32768 * step, z + 32768 * step);
    boundingSphere.radius = 65536 * step;
    this.fresh = true;
  }

  // Normals and buffers after positions have changed.
  moved() {
    this.shade();
    const { geometry } = this.mesh;
    geometry.getAttribute("position").needsUpdate = true;
    geometry.getAttribute("normal").needsUpdate = true;
  }

  // Normals: the sum of the triangles around, by area.
  shade() {
    const { positions: p, normals: n, triangles: t } = this;
    n.fill(0);
    for (let i = 0; i < t.length; i += 3) {
      const a = 3 * t[i], b = 3 * t[i + 1], c = 3 * t[i + 2];
      const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
      const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
      const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
      n[a] += x; n[a + 1] += y; n[a + 2] += z;
      n[b] += x; n[b + 1] += y; n[b + 2] += z;
      n[c] += x; n[c + 1] += y; n[c + 2] += z;
    }
    for (let i = 0; i < n.length; i += 3) {
      const s = 1 / (Math.hypot(n[i], n[i + 1], n[i + 2]) || 1);
      n[i] *= s; n[i + 1] *= s; n[i + 2] *= s;
    }
  }

  paint(colours) {
    this.colours.set(colours);
    this.mesh.geometry.getAttribute("color").needsUpdate = true;
  }

  // Colours of a ramp (256 linear RGB) by shades 0 … 255.
  tint(shades, ramp) {
    const { colours } = this;
    for (let v = 0, i = 0; v < shades.length; v += 1, i += 3) {
      const r = 3 * shades[v];
      colours[i] = ramp[r]; colours[i + 1] = ramp[r + 1]; colours[i + 2] = ramp[r + 2];
    }
    this.mesh.geometry.getAttribute("color").needsUpdate = true;
  }

  dispose() {
    this.mesh.geometry.dispose();
  }
}
