// Flesh that is predicted here: see live.py. The predictor is the one that engines get.

import { Predictor } from "./dynamics.mjs.template";

export class LiveFlesh {
  constructor({ live, vertices, fps, frames }, arrays, name) {
    Object.assign(this, live, { vertices, fps, frames });
    const own = (part) => arrays[`${name} ${part}`];
    Object.assign(this, { shapes: own("shapes"), joint: own("influence joints"), share: own("influences"), turns: own("turns"), roots: own("roots") });
    this.count = this.parents.length;
    this.frame = new Float32Array(9 * this.count);
    this.offset = new Float32Array(3 * vertices);
    this.exaggeration = 1;
    this.data = { ...live.predictor };
    this.source = live.joints;
    this.restart();
  }

  restart() {
    this.machine = new Predictor(this.data);
  }

  // Local turns [x, y, z, w] and the root's place between two frames.
  pose(place) {
    const first = Math.min(Math.floor(place), this.frames - 1);
    const next = Math.min(first + 1, this.frames - 1);
    const share = place - first;
    const turns = [];
    for (let j = 0; j < this.count; j += 1) {
      const [a, b] = [first, next].map((n) => this.turns.subarray(4 * (n * this.count + j), 4 * (n * this.count + j) + 4));
      const sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
      const mixed = [0, 1, 2, 3].map((i) => (1 - share) * a[i] + share * sign * b[i]);
      const size = Math.hypot(...mixed);
      turns.push(mixed.map((value) => value / size));
    }
    const root = [0, 1, 2].map((i) => (1 - share) * this.roots[3 * first + i] + share * this.roots[3 * next + i]);
    return { turns, root };
  }

  // World rotations, row by row: R_j = R_parent · R(turn).
  orient(turns) {
    const { frame } = this;
    turns.forEach(([x, y, z, w], j) => {
      const own = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];
      const up = 9 * this.parents[j];
      for (let row = 0; row < 3; row += 1) for (let column = 0; column < 3; column += 1) {
        let sum = 0;
        if (up < 0) sum = own[3 * row + column];
        else for (let k = 0; k < 3; k += 1) sum += frame[up + 3 * row + k] * own[3 * k + column];
        frame[9 * j + 3 * row + column] = sum;
      }
    });
  }

  // `seconds` later, at a place of the motion, its root moved by `hand`; adds to `positions`.
  step(place, seconds, hand, positions) {
    const { turns, root } = this.pose(place);
    const moved = root.map((value, i) => value + hand[i]);
    const chosen = this.source.map((j) => turns[j]);
    const weights = seconds > 0 && this.machine.state ? this.machine.step(chosen, moved, seconds) : this.machine.start(chosen, moved);
    this.orient(turns);
    this.sum(weights);
    this.add(hand, positions);
  }

  sum(weights) {
    const { offset, shapes, vertices } = this;
    offset.fill(0);
    weights.forEach((weight, k) => {
      const scale = this.exaggeration * weight * this.shape_step;
      if (Math.abs(scale) < 1e-12) return;
      const start = 3 * vertices * k;
      for (let i = 0; i < offset.length; i += 1) offset[i] += scale * shapes[start + i];
    });
  }

  add(hand, positions) {
    const { offset, frame, influences: most } = this;
    for (let v = 0; v < this.vertices; v += 1) {
      const [x, y, z] = [offset[3 * v], offset[3 * v + 1], offset[3 * v + 2]];
      let [a, b, c] = [0, 0, 0];
      for (let k = most * v; k < most * (v + 1); k += 1) {
        const w = this.share[k];
        if (w === 0) continue;
        const f = 9 * this.joint[k];
        a += w * (frame[f] * x + frame[f + 1] * y + frame[f + 2] * z);
        b += w * (frame[f + 3] * x + frame[f + 4] * y + frame[f + 5] * z);
        c += w * (frame[f + 6] * x + frame[f + 7] * y + frame[f + 8] * z);
      }
      positions[3 * v] += a + hand[0];
      positions[3 * v + 1] += b + hand[1];
      positions[3 * v + 2] += c + hand[2];
    }
  }
}
