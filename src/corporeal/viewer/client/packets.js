// Messages as bytes; see packets.py for the layout.

const KINDS = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array,
  uint32: Uint32Array, int32: Int32Array, float32: Float32Array,
};
const NAMES = new Map(Object.entries(KINDS).map(([name, kind]) => [kind, name]));

export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = 4 + length;
  const arrays = {};
  for (const [name, dtype, shape, offset] of message.arrays) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays[name] = new KINDS[dtype](buffer, start + offset, count);
  }
  message.arrays = arrays;
  return message;
}

export function encode(kind, fields = {}, arrays = {}) {
  const rows = [];
  let place = 0;
  for (const [name, array] of Object.entries(arrays)) {
    rows.push([name, NAMES.get(array.constructor), [array.length], place]);
    place += Math.ceil(array.byteLength / 8) * 8;
  }
  let text = JSON.stringify({ ...fields, kind, arrays: rows });
  let header = new TextEncoder().encode(text);
  text += " ".repeat((8 - ((4 + header.length) % 8)) % 8);
  header = new TextEncoder().encode(text);
  const bytes = new Uint8Array(4 + header.length + place);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 4);
  rows.forEach(([name, , , offset]) => {
    const { buffer, byteOffset, byteLength } = arrays[name];
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), 4 + header.length + offset);
  });
  return bytes;
}
