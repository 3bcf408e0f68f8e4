// Plays an enveloping module on a stand-in for a skinned mesh: `node enveloping_stub.mjs job.json`.
// The job: module, joints, morphs, poses (pose, joint, xyzw). Helper joints start unturned. Prints the
// weights and the helpers' rotations (xyzw) of every pose.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { Enveloping, HELPERS } = await import(pathToFileURL(job.module));
const turn = (x, y, z, w) => ({
  x, y, z, w,
  set(a, b, c, d) { Object.assign(this, { x: a, y: b, z: c, w: d }); },
});
const bones = job.joints.map((name) => ({ name, quaternion: turn(0, 0, 0, 1) }));
const mesh = {
  skeleton: { bones },
  morphTargetDictionary: Object.fromEntries(job.morphs.map((name, index) => [name, index])),
  morphTargetInfluences: job.morphs.map(() => 0),
};
const enveloping = new Enveloping(mesh);
const helpers = HELPERS.map((h) => bones.find((bone) => bone.name === h.name));
const shown = { weights: [], helpers: [] };
for (const pose of job.poses) {
  pose.forEach(([x, y, z, w], j) => { bones[j].quaternion = turn(x, y, z, w); });
  for (const helper of helpers) helper.quaternion = turn(0, 0, 0, 1);
  enveloping.update();
  shown.weights.push([...mesh.morphTargetInfluences]);
  shown.helpers.push(helpers.map(({ quaternion: q }) => [q.x, q.y, q.z, q.w]));
}
console.log(JSON.stringify(shown));
