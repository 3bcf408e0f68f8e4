// Play, pause, scrub; and what the chosen numbers did, frame by frame.

import { isPaint } from "./overlay.js";
import { button, element, icon, select } from "./widgets.js";
import { say } from "./words.js";

const COLOURS = ["#e8a87c", "#7fb3d9", "#9dcb8a", "#cf9bd6"];
const PLAY = ["M8 5l11 7-11 7z"];
const PAUSE = ["M8 5v14", "M16 5v14"];
const SPEEDS = [["0.1", "0.1 ×"], ["0.25", "¼ ×"], ["0.5", "½ ×"], ["1", "1 ×"], ["2", "2 ×"]];

export class Timeline {
  constructor(studio, home) {
    this.studio = studio;
    this.play = button("", () => this.toggle(), { title: "Play or pause (space)", strokes: PLAY });
    this.play.className = "play";
    const called = say("Place in the motion");
    this.plot = element("canvas", { id: "plot", className: "plot", title: say("Drag to go to a frame"), tabIndex: 0, role: "slider", "aria-label": called, "aria-valuemin": 0 });
    this.time = element("div", { className: "time" });
    this.speed = select(SPEEDS, "1", (value) => studio.change(["speed"], Number(value)), "Speed");
    this.loop = button("", () => studio.change(["loop"], !studio.document.loop), { title: "Loop", strokes: ["M17 3l3 3-3 3", "M4 11V9a3 3 0 0 1 3-3h13", "M7 21l-3-3 3-3", "M20 13v2a3 3 0 0 1-3 3H4"] });
    this.what = select([["0", say("mean")], ["1", say("largest")], ["2", say("time")]], "0", () => this.draw(), "Plot the mean, the largest value, or the time a frame takes");
    this.track = []; // a view: three numbers a frame (mean, most, milliseconds), NaN where unknown
    home.append(element("div", { className: "tools" }, this.play), this.plot, element("div", { className: "row" }, this.time, this.what, this.speed, this.loop));
    this.place = 0;
    this.last = 1;
    studio.on("document", () => this.follow());
    studio.on("frame", (frame) => this.show(frame));
    this.scrub();
    this.plot.addEventListener("keydown", (event) => this.stepBy(event));
    addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }

  toggle() {
    this.studio.change(["playing"], !this.studio.document.playing);
  }

  key(event) {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "range") return;
    if (event.target.closest?.("button, summary, a, [role=tab], #plot") && !(event.code === "Space" && event.target === this.plot)) return; // they have keys of their own
    if (event.code === "Space") { event.preventDefault(); this.toggle(); }
    else if (event.code === "ArrowRight" || event.code === "ArrowLeft") {
      if (event.target.type === "range") return;
      this.studio.change(["playing"], false);
      this.studio.send("seek", { place: Math.round(this.place) + (event.code === "ArrowRight" ? 1 : -1) });
    }
  }

  // Keys of a slider: arrows by a frame, pages by a second, ends.
  stepBy(event) {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 60, PageDown: -60 }[event.code];
    const to = event.code === "Home" ? 0 : event.code === "End" ? this.last : by && Math.round(this.place) + by;
    if (to === undefined) return;
    event.preventDefault();
    this.studio.change(["playing"], false);
    this.studio.send("seek", { place: Math.min(Math.max(to, 0), this.last) });
  }

  follow() {
    const { playing, loop, speed, colour, motion, body, views } = this.studio.document;
    this.play.replaceChildren(icon(playing ? PAUSE : PLAY));
    this.play.setAttribute("aria-label", playing ? say("Pause") : say("Play"));
    this.loop.setAttribute("aria-pressed", loop);
    this.speed.show(String(speed));
    const key = JSON.stringify([colour, motion, body, views]);
    if (key !== this.chosen) this.track = [];
    this.chosen = key;
  }

  show(frame) {
    this.place = frame.place;
    this.last = Math.max(1, frame.last);
    frame.views.forEach((view, number) => {
      const size = 3 * (Math.round(frame.last) + 1);
      if (this.track[number]?.length !== size) this.track[number] = new Float32Array(size).fill(NaN);
      if (view.ready) this.track[number].set([view.mean, view.most, view.step_ms], 3 * Math.round(frame.place));
    });
    this.plot.setAttribute("aria-valuemax", Math.round(frame.last));
    this.plot.setAttribute("aria-valuenow", Math.round(frame.place));
    this.plot.setAttribute("aria-valuetext", `${(frame.place / 60).toFixed(2)} s`);
    this.time.textContent = `${(frame.place / 60).toFixed(2)} / ${(frame.last / 60).toFixed(2)} s`;
    this.draw();
  }

  scrub() {
    const go = (event) => {
      const box = this.plot.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      this.studio.send("seek", { place: share * this.last });
    };
    let was = false;
    this.plot.addEventListener("pointerdown", (event) => {
      this.plot.setPointerCapture(event.pointerId);
      was = this.studio.document.playing;
      if (was) this.studio.change(["playing"], false);
      go(event);
    });
    let next = null;
    this.plot.addEventListener("pointermove", (event) => {
      if (!event.buttons || next) return;
      next = setTimeout(() => { next = null; go(event); }, 40);
    });
    this.plot.addEventListener("pointerup", () => { if (was) this.studio.change(["playing"], true); });
  }

  draw() {
    const ratio = devicePixelRatio;
    const width = Math.round(this.plot.clientWidth * ratio);
    const height = Math.round(this.plot.clientHeight * ratio);
    if (this.plot.width !== width || this.plot.height !== height) Object.assign(this.plot, { width, height });
    const pen = this.plot.getContext("2d");
    pen.clearRect(0, 0, width, height);
    pen.fillStyle = "#ffffff0d";
    for (let second = 60; second < this.last; second += 60) pen.fillRect((second / this.last) * width, 0, 1, height);
    const row = Number(this.what.value);
    let top = 1e-6;
    for (const track of this.track) for (let i = row; i < track.length; i += 3) if (track[i] > top) top = track[i];
    this.track.forEach((track, number) => {
      pen.strokeStyle = COLOURS[number];
      pen.lineWidth = 1.5 * ratio;
      pen.beginPath();
      let before = -9;
      for (let frame = 0; 3 * frame < track.length; frame += 1) {
        const value = track[3 * frame + row];
        if (Number.isNaN(value)) continue;
        const x = (frame / this.last) * width;
        const y = height - 3 * ratio - (value / top) * (height - 18 * ratio);
        if (frame - before > 6) pen.moveTo(x, y);
        else pen.lineTo(x, y);
        before = frame;
      }
      pen.stroke();
    });
    pen.fillStyle = "#8b929e";
    pen.font = `${10.5 * ratio}px system-ui, sans-serif`;
    pen.fillText(this.caption(top), 8 * ratio, 13 * ratio);
    pen.fillStyle = "#e8a87c";
    pen.fillRect((this.place / this.last) * width - ratio, 0, 2 * ratio, height);
  }

  caption(top) {
    const titles = { skin: say("distance from linear blending"), offset: say("distance from linear blending"), strain: say("strain of the skin"), error: say("distance from the chosen body"), weight: say("weight"), stiffness: say("painted stiffness"), exaggeration: say("painted exaggeration"), layer: say("fat under the skin") };
    if (this.what.value === "2") return say("time a frame, up to {most} ms", { most: top.toFixed(1) });
    const what = this.studio.document?.colour.what ?? "skin";
    const unit = what === "strain" ? "%" : what === "weight" || isPaint(what) ? "" : "mm";
    const which = this.what.value === "1" ? say("largest") : say("mean");
    return say("{which} {what}, up to {most} {unit}", { which, what: titles[what], most: top.toFixed(1), unit });
  }
}
