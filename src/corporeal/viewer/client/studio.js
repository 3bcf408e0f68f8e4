// The page's one shared thing: the socket to its session, the document, and who listens.

import { nameDeformers } from "./overlay.js";
import { decode, encode } from "./packets.js";

export class Studio {
  constructor() {
    this.document = null; // what the person has chosen; the session's word, not ours
    this.catalogue = null; // what there is to choose from
    this.facts = {}; // measurements of the body
    this.commands = []; // the same, for the command line
    this.view = 0; // the body that panels speak about; at first one with flesh
    this.tool = "grab";
    this.listeners = new Map();
    this.lastSent = new Map();
  }

  connect() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => this.receive(decode(data));
    this.socket.onclose = ({ reason }) => this.emit("closed", reason ? `${reason} Reload the page to begin again.` : "The studio has ended. Start it again in its terminal, and open the new address.");
  }

  // Listen to a kind of message: model, person, frame, document, facts, busy, notice, refused, made …
  on(kind, listener) {
    if (!this.listeners.has(kind)) this.listeners.set(kind, []);
    this.listeners.get(kind).push(listener);
  }

  emit(kind, message) {
    for (const listener of this.listeners.get(kind) ?? []) listener(message);
  }

  receive(message) {
    if (message.kind === "document") {
      if (!this.document) this.view = Math.max(0, message.document.views.findIndex(({ deformer }) => this.deformer(deformer)?.flesh));
      Object.assign(this, { document: message.document, commands: message.commands });
      this.view = Math.min(this.view, this.document.views.length - 1);
    } else if (message.kind === "catalogue") {
      this.catalogue = message;
      nameDeformers(message.deformers);
    } else if (message.kind === "facts") this.facts = message.values;
    this.emit(message.kind, message);
  }

  send(kind, fields = {}, arrays = {}) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(encode(kind, fields, arrays));
  }

  // Change one value of the document. While a gesture goes on (final = false) at most 30 a second.
  change(path, value, final = true) {
    const key = path.join(".");
    const now = performance.now();
    if (!final && now - (this.lastSent.get(key) ?? -1e9) < 33) return;
    this.lastSent.set(key, now);
    this.send("change", { path, value, final });
  }

  deformer(name) {
    return this.catalogue.deformers.find((row) => row.name === name);
  }

  choose(view) {
    this.view = view;
    this.emit("chosen", view);
  }

  use(tool) {
    this.tool = tool;
    this.emit("tool", tool);
  }
}
