// Poses a .glb in three.js by hand, its correctives live: `node correctives_three.mjs job.json`.
// The job: three (folder), glb, module, joints, poses (pose, joint, xyzw). Prints posed vertices.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { Vector3 } = await import(pathToFileURL(`${job.three}/build/three.module.js`));
const { GLTFLoader } = await import(
  pathToFileURL(`${job.three}/examples/jsm/loaders/GLTFLoader.js`));
const { PoseCorrectives } = await import(pathToFileURL(job.module));
const file = readFileSync(job.glb);
const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
const gltf = await new GLTFLoader().parseAsync(bytes, "");
let body = null;
gltf.scene.traverse((node) => { if (node.isSkinnedMesh) body = node; });
const correctives = new PoseCorrectives(body);
const point = new Vector3();
const shown = job.poses.map((pose) => {
  pose.forEach((turn, j) => body.skeleton.bones[j].quaternion.set(...turn));
  correctives.update();
  gltf.scene.updateMatrixWorld(true);
  const places = [];
  for (let vertex = 0; vertex < body.geometry.attributes.position.count; vertex++) {
    body.getVertexPosition(vertex, point).applyMatrix4(body.matrixWorld);
    places.push(point.toArray());
  }
  return places;
});
console.log(JSON.stringify(shown));
