// Frames of a take: see cache.py. Decoded once into 16 bits a number, then blended in time.

export async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Frames {
  constructor({ origin, step, frames, vertices, fps, chunks }, arrays, name) {
    Object.assign(this, { origin, step, count: frames, vertices, fps });
    this.chunks = Array.from({ length: chunks }, (_, number) => arrays[`${name} chunk ${number}`]);
    this.rows = [];
  }

  get seconds() {
    return Math.max(this.count - 1, 1) / this.fps;
  }

  async unpack() {
    const size = 3 * this.vertices;
    for (const chunk of this.chunks) {
      const planes = await inflated(chunk);
      const half = planes.length / 2;
      for (let start = 0; start < half; start += size) this.rows.push(this.row(planes, start, half));
    }
    this.chunks = null;
  }

  // One frame, x of all vertices, then y, then z; sums wrap at 16 bits as they did.
  row(planes, start, half) {
    const { vertices, rows } = this;
    const made = new Uint16Array(3 * vertices);
    const before = rows.at(-1);
    const earlier = rows.at(-2);
    for (let i = 0; i < made.length; i += 1) {
      const zigzag = planes[start + i] + 256 * planes[half + start + i];
      const residual = zigzag & 1 ? -((zigzag + 1) >> 1) : zigzag >> 1;
      if (earlier) made[i] = 2 * before[i] - earlier[i] + residual;
      else if (before) made[i] = before[i] + residual;
      else made[i] = (i % vertices ? made[i - 1] : 0) + residual;
    }
    return made;
  }

  // Positions at a moment, between two frames where it is.
  at(seconds, positions) {
    const place = Math.min(Math.max(seconds * this.fps, 0), this.count - 1);
    const first = Math.min(Math.floor(place), this.count - 1);
    const share = place - first;
    const a = this.rows[first];
    const b = this.rows[Math.min(first + 1, this.count - 1)];
    const { vertices, step } = this;
    for (let axis = 0; axis < 3; axis += 1) {
      const start = axis * vertices;
      for (let v = 0; v < vertices; v += 1) {
        const x = a[start + v];
        positions[3 * v + axis] = this.origin[axis] + step * (x + share * (b[start + v] - x));
      }
    }
    return place;
  }
}
