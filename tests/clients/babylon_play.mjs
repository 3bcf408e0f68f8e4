// Plays a .glb in Babylon.js without a graphics card: `node babylon_play.mjs job.json`.
// The job: modules (node_modules), glb, times (seconds), out (folder). Writes posed vertices.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const from = (path) => import(pathToFileURL(`${job.modules}/${path}`));
const core = await from("@babylonjs/core/index.js");
await from("@babylonjs/loaders/glTF/index.js");
const { MeshoptDecoder } = await from("three/examples/jsm/libs/meshopt_decoder.module.js")
  .catch(() => ({ MeshoptDecoder: null }));
if (MeshoptDecoder) {
  await MeshoptDecoder.ready;
  core.MeshoptCompression._Default = {
    decodeGltfBufferAsync: async (source, count, stride, mode, filter) => {
      const result = new Uint8Array(count * stride);
      MeshoptDecoder.decodeGltfBuffer(result, count, stride, source, mode, filter);
      return result;
    },
    dispose() {},
  };
}
const engine = new core.NullEngine();
const scene = new core.Scene(engine);
scene.useRightHandedSystem = true;
new core.FreeCamera("camera", new core.Vector3(0, 1, 3), scene);
const data = `data:base64,${readFileSync(job.glb).toString("base64")}`;
await core.ImportMeshAsync(data, scene, { pluginExtension: ".glb" });
const body = scene.meshes.find((mesh) => mesh.skeleton);
const group = scene.animationGroups[0];
group.start(false);
group.pause();
for (const [index, time] of job.times.entries()) {
  group.goToFrame(time * 60);
  scene.render();
  body.skeleton.prepare(true);
  const places = body.getPositionData(true, true);
  const world = body.computeWorldMatrix(true);
  const found = new Float32Array(places.length);
  for (let i = 0; i < places.length; i += 3) {
    const at = core.Vector3.TransformCoordinates(core.Vector3.FromArray(places, i), world);
    found.set([at.x, at.y, at.z], i);
  }
  writeFileSync(`${job.out}/frame_${index}.bin`, found);
}
process.exit(0);
