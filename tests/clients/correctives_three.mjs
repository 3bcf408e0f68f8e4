// Poses a .glb in three.js by hand, its correctives live: `node correctives_three.mjs job.json`.
// The job: three (folder), glb, module, joints, poses (pose, joint, xyzw). Prints posed vertices.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { Vector3 } = await import(pathToFileURL(`${job.three}/build/three.module.js`));
const { GLTFLoader } = await import(
  pathToFileURL(`${job.three}/examples/jsm/loaders/GLTFLoader.js`));
const { PoseCorrectives } = await import(pathToFileURL(job.module));
const gltf = await new GLTFLoader().parseAsync(unpainted(readFileSync(job.glb)), "");
const count = (mesh) => mesh.geometry.attributes.position.count;
let body = null; // hair, lashes and teeth are skinned, too: the body is the largest
gltf.scene.traverse((node) => {
  if (node.isSkinnedMesh && (!body || count(node) > count(body))) body = node;
});
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

// The file without pictures, which Node cannot draw.
function unpainted(file) {
  const length = file.readUInt32LE(12);
  const content = JSON.parse(file.subarray(20, 20 + length).toString("utf8"));
  content.materials = (content.materials ?? []).map(() => ({}));
  delete content.images;
  delete content.textures;
  let text = Buffer.from(JSON.stringify(content));
  text = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, " ")]);
  const head = Buffer.from(file.subarray(0, 20));
  const rest = file.subarray(20 + length);
  head.writeUInt32LE(20 + text.length + rest.length, 8);
  head.writeUInt32LE(text.length, 12);
  const bytes = Buffer.concat([head, text, rest]);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}
