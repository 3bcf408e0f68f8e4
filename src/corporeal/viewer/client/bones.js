// The skeleton over the body: octahedral bones from joint to joint, seen through the skin.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, InstancedMesh, LineBasicMaterial, LineSegments, Matrix4, MeshBasicMaterial, SphereGeometry } from "./vendor/three.js";

export class Bones {
  constructor(parents) {
    this.pairs = parents.map((parent, joint) => [parent, joint]).filter(([parent]) => parent >= 0);
    const geometry = new BufferGeometry();
    this.ends = new Float32Array(6 * this.pairs.length);
    geometry.setAttribute("position", new BufferAttribute(this.ends, 3).setUsage(DynamicDrawUsage));
    const style = { depthTest: false, depthWrite: false, transparent: true };
    this.lines = new LineSegments(geometry, new LineBasicMaterial({ color: 0xffd9b8, opacity: 0.9, ...style }));
    this.balls = new InstancedMesh(new SphereGeometry(1, 10, 8), new MeshBasicMaterial({ color: 0xe8a87c, opacity: 0.95, ...style }), parents.length);
    this.lines.frustumCulled = this.balls.frustumCulled = false;
    this.lines.renderOrder = 10;
    this.balls.renderOrder = 11;
    this.place = new Matrix4();
  }

  // `joints` are 4 × 4 matrices, row by row.
  move(joints) {
    this.pairs.forEach(([parent, joint], bone) => {
      for (let axis = 0; axis < 3; axis += 1) {
        this.ends[6 * bone + axis] = joints[16 * parent + 4 * axis + 3];
        this.ends[6 * bone + 3 + axis] = joints[16 * joint + 4 * axis + 3];
      }
    });
    this.lines.geometry.getAttribute("position").needsUpdate = true;
    for (let joint = 0; joint < this.balls.count; joint += 1) {
      const size = joint < 22 ? 0.014 : 0.005;
      const at = (axis) => joints[16 * joint + 4 * axis + 3];
      this.place.makeScale(size, size, size).setPosition(at(0), at(1), at(2));
      this.balls.setMatrixAt(joint, this.place);
    }
    this.balls.instanceMatrix.needsUpdate = true;
  }
}
