// One surface as a mesh: positions come sixteen bits a number, normals are made here. Vertices on a
// seam of the texture are drawn twice: those of the model first, copies (`extra`) behind them.

import { BufferAttribute, BufferGeometry, DataTexture, DoubleSide, DynamicDrawUsage, FrontSide, Mesh, MeshStandardMaterial, RGBAFormat, Sphere, SRGBColorSpace, UnsignedByteType, Vector3 } from "./vendor/three.js";

// One texel: a linear colour, or a smooth surface of some roughness.
function texel(r, g, b, isColour) {
  const made = new DataTexture(new Uint8Array([r, g, b, 255]), 1, 1, RGBAFormat, UnsignedByteType);
  if (isColour) made.colorSpace = SRGBColorSpace;
  made.needsUpdate = true;
  return made;
}

const coded = (x) => Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));

// A picture of one linear colour, until the painted one is there.
export const plainColour = (tone) => texel(...tone.map(coded), true);
const SMOOTH = texel(128, 128, 140, false);

// Painted surface: `map` is its colour; `surface` has normals in red and green, roughness in blue.
// Colours of the vertices tint it; with `plain` at 1 they are all that is seen.
export function paintedMaterial({ cutout = false, double = false } = {}) {
  const material = new MeshStandardMaterial({
    vertexColors: true, map: plainColour([0.5, 0.47, 0.44]), roughness: 1, metalness: 0, side: double ? DoubleSide : FrontSide,
    ...(cutout ? { alphaTest: 0.5, alphaToCoverage: true } : {}),
  });
  const uniforms = { surface: { value: SMOOTH }, plain: { value: 0 } };
  material.userData.uniforms = uniforms;
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>
        uniform sampler2D surface;
        uniform float plain;`)
      .replace("#include <map_fragment>", "if (plain < 0.5) diffuseColor *= texture2D(map, vMapUv);")
      .replace("#include <roughnessmap_fragment>", `vec3 relief = texture2D(surface, vMapUv).xyz;
        float roughnessFactor = plain > 0.5 ? 0.6 : max(relief.z, 0.06);`)
      .replace("#include <normal_fragment_maps>", `if (plain < 0.5) {
          // a frame of the surface from how place and texture change over the picture; rows go down
          vec3 acrossPlace = dFdx(-vViewPosition), downPlace = dFdy(-vViewPosition);
          vec2 acrossMap = dFdx(vMapUv), downMap = dFdy(vMapUv);
          vec3 one = cross(downPlace, normal), two = cross(normal, acrossPlace);
          vec3 tangent = one * acrossMap.x + two * downMap.x;
          vec3 bitangent = one * acrossMap.y + two * downMap.y;
          float size = max(dot(tangent, tangent), dot(bitangent, bitangent));
          float scale = size == 0.0 ? 0.0 : inversesqrt(size) * faceDirection;
          vec2 slope = 2.0 * relief.xy - 1.0;
          float height = sqrt(max(1.0 - dot(slope, slope), 0.05));
          normal = normalize(scale * (slope.x * tangent - slope.y * bitangent) + height * normal);
        }`);
  };
  return material;
}

export class BodyMesh {
  // `arrays`: triangles over `count` vertices; with texture also corners, extra and uv. `coarse`, if
  // any, are fewer triangles over the same vertices, which are enough for a shadow.
  constructor({ triangles, corners = null, extra = null, uv = null }, count, material, coarse = null) {
    this.triangles = triangles;
    this.extra = extra ?? [];
    const all = 3 * (count + this.extra.length);
    this.all = { positions: new Float32Array(all), normals: new Float32Array(all), colours: new Float32Array(all) };
    for (const [name, array] of Object.entries(this.all)) this[name] = array.subarray(0, 3 * count);
    this.all.colours.fill(1);
    const geometry = new BufferGeometry();
    const fine = new BufferAttribute(corners ?? triangles, 1);
    geometry.setIndex(fine);
    const dynamic = (array) => new BufferAttribute(array, 3).setUsage(DynamicDrawUsage);
    geometry.setAttribute("position", dynamic(this.all.positions));
    geometry.setAttribute("normal", dynamic(this.all.normals));
    geometry.setAttribute("color", dynamic(this.all.colours));
    geometry.setAttribute("uv", new BufferAttribute(uv ?? new Float32Array((2 * all) / 3), 2));
    geometry.boundingSphere = new Sphere(new Vector3(0, 0.9, 0), 4);
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    if (coarse) {
      this.mesh.onBeforeShadow = () => geometry.setIndex(coarse);
      this.mesh.onAfterShadow = () => geometry.setIndex(fine);
    }
  }

  get count() {
    return this.positions.length / 3;
  }

  // The model's vertex that a drawn one is.
  source(vertex) {
    return vertex < this.count ? vertex : this.extra[vertex - this.count];
  }

  // Positions: origin + step · number. `moved` has to follow.
  move(numbers, origin, step) {
    const { positions } = this;
    const [x, y, z] = origin;
    for (let i = 0; i < positions.length; i += 3) {
      positions[i] = x + step * numbers[i];
      positions[i + 1] = y + step * numbers[i + 1];
      positions[i + 2] = z + step * numbers[i + 2];
    }
    const { boundingSphere } = this.mesh.geometry;
    boundingSphere.center.set(x + 32768 * step, y + 32768 * step, z + 32768 * step);
    boundingSphere.radius = 65536 * step;
  }

  // Normals and buffers after positions have changed.
  moved() {
    this.shade();
    this.spread("positions", "position");
    this.spread("normals", "normal");
  }

  // The copies on seams, and the buffer.
  spread(name, attribute) {
    const array = this.all[name];
    for (let n = 0, to = 3 * this.count; n < this.extra.length; n += 1, to += 3) {
      const from = 3 * this.extra[n];
      array[to] = array[from]; array[to + 1] = array[from + 1]; array[to + 2] = array[from + 2];
    }
    this.mesh.geometry.getAttribute(attribute).needsUpdate = true;
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
    this.spread("colours", "color");
  }

  // No tint.
  clear() {
    this.colours.fill(1);
    this.spread("colours", "color");
  }

  // Colours of a ramp (256 linear RGB) by shades 0 … 255.
  tint(shades, ramp) {
    const { colours } = this;
    for (let v = 0, i = 0; v < shades.length; v += 1, i += 3) {
      const r = 3 * shades[v];
      colours[i] = ramp[r]; colours[i + 1] = ramp[r + 1]; colours[i + 2] = ramp[r + 2];
    }
    this.spread("colours", "color");
  }

  dispose() {
    this.mesh.geometry.dispose();
  }
}
