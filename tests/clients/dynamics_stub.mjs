// Runs a live predictor without a scene: node dynamics_stub.mjs JOB → weights of every frame.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { Predictor, Network } = await import(pathToFileURL(job.module).href);
const predictor = new (Predictor ?? Network)(JSON.parse(readFileSync(job.data, "utf8")));
const found = job.turns.map((turns, n) =>
  n === 0 ? predictor.start(turns, job.roots[n]) : predictor.step(turns, job.roots[n], job.seconds));
process.stdout.write(JSON.stringify(found));
