// Plays a corrective module on a stand-in for a skinned mesh: `node correctives_stub.mjs job.json`.
// The job: module, joints, morphs, poses (pose, joint, xyzw). Prints the weights of every pose.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { PoseCorrectives } = await import(pathToFileURL(job.module));
const bones = job.joints.map((name) => ({ name, quaternion: null }));
const mesh = {
  skeleton: { bones },
  morphTargetDictionary: Object.fromEntries(job.morphs.map((name, index) => [name, index])),
  morphTargetInfluences: job.morphs.map(() => 0),
};
const correctives = new PoseCorrectives(mesh);
const shown = job.poses.map((pose) => {
  pose.forEach(([x, y, z, w], j) => { bones[j].quaternion = { x, y, z, w }; });
  correctives.update();
  return [...mesh.morphTargetInfluences];
});
console.log(JSON.stringify(shown));
