// The page's one shared thing: the socket to its session, the document, and who listens.

import { nameDeformers } from "./overlay.js";
import { decode, encode } from "./packets.js";
import { remembered } from "./remembered.js";
import { showing } from "./widgets.js";
import { heard, say } from "./words.js";

const FULL = 1013; // no room for one more tab
const MOST_KEPT = 256 * 2 ** 20; // bytes of files that the page keeps for a server that is started anew

export class Studio {
  constructor() {
    this.document = null; // what the person has chosen; the session's word, not ours
    this.catalogue = null; // what there is to choose from
    this.facts = {}; // measurements of the body
    this.face = {}; // sliders of the face, drawn ones among them
    this.scale = null; // of the colours on the skin
    this.commands = []; // the same, for the command line
    this.view = 0; // the body that panels speak about; at first one with flesh
    this.tool = "grab";
    this.listeners = new Map();
    this.lastSent = new Map();
    this.kept = new Map(); // files that were given, by their names in the session
    this.given = new Map(); // files on their way, by their own names
    this.before = remembered.document(); // what this tab had, before it was reloaded
    this.isOpen = false;
    this.failures = 0;
  }

  connect() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    address.searchParams.set("tab", remembered.key());
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => this.receive(decode(data));
    this.socket.onclose = ({ code, reason }) => this.closed(code, reason);
  }

  // The page waits for its session, or for a studio that is started anew, and goes on.
  closed(code, reason) {
    this.before = this.document ?? this.before;
    this.isOpen = false;
    if (code === FULL) {
      this.emit("closed", heard(reason));
      return;
    }
    this.emit("closed", say("The studio does not answer. Start it again in its terminal: this page goes on with what it had."));
    this.failures += code === 1011 ? 1 : 0;
    setTimeout(() => this.connect(), 1000);
  }

  // A session that knows nothing yet gets what this page had: files first, then the document.
  bringBack() {
    if (!this.before || this.failures > 2) return;
    const names = new Set([this.before.motion.name, this.before.rig.mesh, this.before.body.scan ?? "", ...this.before.views.map(({ deformer }) => deformer.replace(/^take:/, ""))]);
    const document = structuredClone(this.before);
    const isThere = (name) => !name.includes(".") || this.kept.has(name);
    if (!isThere(document.motion.name)) document.motion = { ...document.motion, name: this.catalogue.motions[0] };
    if (!isThere(document.body.scan ?? "")) document.body.scan = "";
    if (!isThere(document.rig.mesh)) document.rig = { mesh: "", up: "+y", joints: [] };
    document.views = document.views.filter(({ deformer }) => !deformer.startsWith("take:") || isThere(deformer.slice(5)));
    if (!document.views.length) document.views = [{ deformer: "lbs", controls: {} }];
    for (const name of names) if (this.kept.has(name)) this.send("keep", { name }, { content: this.kept.get(name) });
    this.send("restore", { document });
    if ([...names].some((name) => !isThere(name))) this.emit("notice", { text: say("Some files are not here any more: open them again.") });
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
      Object.assign(this, { document: message.document, commands: message.commands, scale: message.scale, face: message.face });
      this.view = Math.min(this.view, this.document.views.length - 1);
      if (!this.isFresh) remembered.keep(this.document);
    } else if (message.kind === "catalogue") {
      this.catalogue = message;
      this.isFresh = message.fresh && this.before !== null;
      nameDeformers(message.deformers);
    } else if (message.kind === "facts") this.facts = message.values;
    else if (message.kind === "key") remembered.key(message.key);
    else if (message.kind === "kept") this.keep(message);
    this.emit(message.kind, message);
    if (message.kind === "document") this.settled();
    if (message.kind === "refused") showing.force = true;
  }

  // After a document: fields show it, whatever was typed and refused; a new session gets the old one.
  settled() {
    if (showing.force) {
      this.emit("facts", { values: this.facts });
      showing.force = false;
    }
    if (!this.isOpen) this.emit("opened", null);
    this.isOpen = true;
    if (!this.isFresh) return;
    this.isFresh = false;
    this.bringBack();
  }

  keep({ given, name }) {
    const content = this.given.get(given);
    this.given.delete(given);
    const held = [...this.kept.values()].reduce((sum, { length }) => sum + length, 0);
    if (content && held + content.length < MOST_KEPT) this.kept.set(name, content);
  }

  upload(name, content, fields = {}) {
    this.given.set(name, content);
    this.send("upload", { name, ...fields }, { content });
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
