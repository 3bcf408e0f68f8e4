"""What a person at the studio's page waits for, in headless Chromium on this machine.

python benchmarks/studio_waits.py start            # cold: first picture, looks, flesh
python benchmarks/studio_waits.py work             # the session alone, processor seconds
python benchmarks/studio_waits.py frames           # drawn pictures a second, slider to picture
python benchmarks/studio_waits.py draw             # processor time of a picture drawn in software
python benchmarks/studio_waits.py start work frames draw    # what wants an idle machine
python benchmarks/studio_waits.py soak --minutes 30 --moves 500

Chromium draws in software on the same cores as the studio. Figures count only on an idle machine;
every part writes its own key of benchmarks/results/studio_waits.json. `start` begins with the
command line's process and an empty cache, then again with what the first start has kept.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "src"))
RESULTS = Path(__file__).parent / "results" / "studio_waits.json"
BARS = {"lbs": 60, "projective": 55, "layered": 30}
SESSION = """
import json, os, sys, time
from pathlib import Path
laps, last = {}, 0.0
def lap(name):
    global last
    now = time.process_time()
    laps[name], last = round(now - last, 2), now
from corporeal.viewer.session import Session
lap("imports")
session = Session(lambda packet: None, Path(sys.argv[1]))
lap("body and motion")
session.prepare()
lap("words, surface, paint")
session.open()
session.tick()
lap("first picture")
session.background.release()
while session.background.busy:
    session.background.poll()
    time.sleep(0.02)
lap("looks and flesh")
print(json.dumps(laps), flush=True)
os._exit(0)
"""
"""What a tab's process does, and the processor time that each part takes."""
READY = "stage.lastFrame?.views.length && stage.lastFrame.views.every(({ ready }) => ready)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = {"start": start, "work": work, "frames": frames, "draw": draw, "soak": soak}
    parser.add_argument("parts", nargs="+", choices=parts, metavar="PART", help=", ".join(parts))
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--moves", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=8.0, help="of every rate")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    from measured_commit import commit

    for part in arguments.parts:
        before = round(os.getloadavg()[0], 1)
        made = parts[part](arguments) | {
            "load": before,
            "cores": os.cpu_count(),
            "machine": platform.machine(),
            "commit": commit(),
            "command": f"python benchmarks/studio_waits.py {' '.join(sys.argv[1:])}",
        }
        print(json.dumps({part: made}, indent=1), flush=True)
        known = json.loads(arguments.out.read_text()) if arguments.out.is_file() else {}
        arguments.out.write_text(json.dumps(known | {part: made}, indent=1) + "\n")


@contextmanager
def studio(home: str) -> Iterator[tuple[str, float, int]]:
    """The command line's studio with its own cache and address: URL, when it was begun, process."""
    begun = time.perf_counter()
    environment = os.environ | {"XDG_CACHE_HOME": home, "XDG_STATE_HOME": home}
    command = [sys.executable, "-m", "corporeal.cli.main", "studio", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http\S+", line)
        assert found is not None, line
        yield found[0], begun, process.pid
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def tab(chromium, url: str, width: int = 1280, height: int = 800) -> Iterator:
    """A page of the studio."""
    context = chromium.new_context(bypass_csp=True, viewport={"width": width, "height": height})
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.goto(url)
    try:
        yield page
    finally:
        context.close()


@contextmanager
def lone_page() -> Iterator:
    """The only page of a studio of its own."""
    from studio_page import browser

    with (
        tempfile.TemporaryDirectory() as home,
        browser() as chromium,
        studio(home) as (url, _, _),
        tab(chromium, url) as page,
    ):
        yield page


def start(arguments: argparse.Namespace) -> dict:
    """Seconds from the command to the first picture, the end of the veil that lies over it until
    the skin is painted (at most 2.5 s), the looks and the flesh."""
    from studio_page import browser

    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as home, browser() as chromium:
        for name in ("cold", "again"):
            with studio(home) as (url, begun, _), tab(chromium, url) as page:
                row: dict[str, float] = {}
                for what, condition in (
                    ("first picture", "window.stage && stage.frames > 0"),
                    ("unveiled", "document.getElementById('veil').hidden"),
                    ("looks", "stage.isPainted && stage.looks.message"),
                    ("flesh", READY),
                ):
                    page.wait_for_function(condition)
                    row[what] = round(time.perf_counter() - begun, 2)
                found[name] = row
    return {"seconds": found, "bars": {"first picture": 3.0, "flesh": 8.0}}


def work(arguments: argparse.Namespace) -> dict:
    """Processor seconds of a session's process: with an empty cache, and with what it has kept."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as home:
        for name in ("cold", "again"):
            done = subprocess.run(
                [sys.executable, "-c", SESSION, str(Path(home) / name)],
                env=os.environ | {"XDG_CACHE_HOME": home},
                capture_output=True,
                text=True,
                check=True,
            )
            found[name] = json.loads(done.stdout.splitlines()[-1])
    return {"processor_s": found}


def frames(arguments: argparse.Namespace) -> dict:
    """Pictures drawn a second of one moving body, and milliseconds from a slider to a picture."""
    rates: dict[str, dict[str, float]] = {}
    with lone_page() as page:
        page.wait_for_function("window.stage && stage.isPainted")
        for name, bar in BARS.items():
            view = f"[{{ deformer: '{name}', controls: {{}} }}]"
            page.evaluate(f"studio.change(['views'], {view})")
            page.wait_for_function(f"studio.document.views[0].deformer === '{name}'")
            page.wait_for_function("document.getElementById('busy').hidden")
            page.wait_for_function(READY)
            page.evaluate(
                "() => { window.drawn = 0; stage.draw_ ??= stage.draw;"
                "stage.draw = function () { window.drawn += 1; this.draw_(); }; }"
            )
            page.wait_for_timeout(2000)
            before = page.evaluate("[stage.frames, window.drawn, performance.now()]")
            page.wait_for_timeout(1000 * arguments.seconds)
            after = page.evaluate("[stage.frames, window.drawn, performance.now()]")
            gone = (after[2] - before[2]) / 1000
            # as on a machine whose GPU draws: frames are taken, and nothing is drawn in software
            page.evaluate("() => { stage.draw = function () {}; }")
            page.wait_for_timeout(2000)
            first = page.evaluate("[stage.frames, performance.now()]")
            page.wait_for_timeout(1000 * arguments.seconds)
            last = page.evaluate("[stage.frames, performance.now()]")
            page.evaluate("() => { stage.draw = stage.draw_; }")
            rates[name] = {
                "delivered": round((after[0] - before[0]) / gone, 1),
                "drawn": round((after[1] - before[1]) / gone, 1),
                "delivered where nothing is drawn": round(
                    1000 * (last[0] - first[0]) / (last[1] - first[1]), 1
                ),
                "bar": bar,
            }
        delays = [slider_delay(page, 0.3 + 0.01 * n) for n in range(30)]
    ordered = sorted(delays)
    slider = {"median": round(statistics.median(delays)), "p95": round(ordered[28]), "bar": 120}
    return {"a second": rates, "slider_ms": slider}


DRAWN = """([count, ratio]) => {
  stage.adaptive = false;
  stage.renderer.setPixelRatio(ratio);
  const gl = stage.renderer.getContext(), pixel = new Uint8Array(4);
  for (let n = 0; n < count; n += 1) {
    stage.isMoving = true;
    stage.draw();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  }
}"""
"""Draws pictures one after the other, and waits for each."""


def draw(arguments: argparse.Namespace) -> dict:
    """Processor milliseconds of the browser's drawing process for a moving picture of one body, at
    full resolution and at half of it; the load changes these little."""
    found: dict[str, float] = {}
    count = 24
    with lone_page() as page:
        page.wait_for_function("window.stage && stage.isPainted && stage.looks.message")
        page.evaluate("studio.change(['playing'], false)")
        page.evaluate("studio.change(['views'], [{ deformer: 'lbs', controls: {} }])")
        page.wait_for_function("stage.bodies.length === 1")
        page.wait_for_timeout(1000)
        for name, ratio in (("all pixels", 1.0), ("half of them a side", 0.5)):
            page.evaluate(DRAWN, [3, ratio])
            before = processor_s("--type=gpu-process")
            page.evaluate(DRAWN, [count, ratio])
            found[name] = round(1000 * (processor_s("--type=gpu-process") - before) / count)
    return {"processor_ms": found}


def processor_s(kind: str) -> float:
    """Processor seconds of all of Chromium's processes of a kind."""
    total = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if kind in (process / "cmdline").read_text(errors="replace"):
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                total += int(fields[11]) + int(fields[12])
        except OSError:
            continue
    return total / os.sysconf("SC_CLK_TCK")


def slider_delay(page, value: float) -> float:
    """Milliseconds from a change of a body's slider to the picture of the new body."""
    return page.evaluate(
        """(value) => new Promise((done) => {
          const begun = performance.now();
          const before = stage.person;
          const { draw, show } = stage;
          let isThere = false;
          stage.show = function (frame) {
            show.call(this, frame);
            isThere ||= stage.person !== before;
          };
          stage.draw = function () {
            draw.call(this);
            if (!isThere) return;
            Object.assign(stage, { draw, show });
            const gl = stage.renderer.getContext();  // waits until the picture is there
            gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
            done(performance.now() - begun);
          };
          studio.send("change", { path: ["body", "sliders", "weight"], value, final: false });
        })""",
        value,
    )


def memory(page, root: int) -> dict[str, float]:
    """MiB of the studio's processes and of the page's heap; textures and surfaces it holds."""
    parents, sizes = {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        number = int(status.parent.name)
        parents[number] = int(re.search(r"PPid:\s+(\d+)", text)[1])
        found = re.search(r"VmRSS:\s+(\d+)", text)
        sizes[number] = int(found[1]) / 1024 if found else 0.0
    family = {root}
    for _ in range(4):
        family |= {number for number, parent in parents.items() if parent in family}
    total = sum(sizes.get(number, 0.0) for number in family)
    page.evaluate("window.gc?.()")
    heap = page.evaluate("performance.memory?.usedJSHeapSize ?? 0") / 2**20
    textures = page.evaluate("stage.renderer.info.memory.textures")
    geometries = page.evaluate("stage.renderer.info.memory.geometries")
    return {
        "server": round(total),
        "heap": round(heap),
        "textures": textures,
        "surfaces": geometries,
    }


def soak(arguments: argparse.Namespace) -> dict:
    """Slider moves, looks and playing for some minutes: is memory within a tenth?"""
    from studio_page import browser

    rows: list[dict[str, float]] = []
    changes = (
        ("['body', 'sliders', 'weight']", lambda n: 0.3 + 0.4 * (n % 17) / 17),
        ("['appearance', 'skin']", lambda n: -60 + 120 * (n % 13) / 13),
        ("['appearance', 'smile']", lambda n: (n % 7) / 7),
        ("['body', 'sliders', 'height']", lambda n: 0.4 + 0.2 * (n % 11) / 11),
    )
    with (
        tempfile.TemporaryDirectory() as home,
        browser() as chromium,
        studio(home) as (url, _, root),
        tab(chromium, url, 700, 480) as page,
    ):
        page.wait_for_function("window.stage && stage.isPainted")
        begun, every = time.monotonic(), 60 * arguments.minutes / arguments.moves
        for n in range(arguments.moves):
            path, value = changes[n % len(changes)]
            for share in (0.3, 0.6, 1.0):
                final = "true" if share == 1.0 else "false"
                page.evaluate(
                    f"studio.send('change', {{ path: {path}, value: {value(n) * share:.4f},"
                    f" final: {final} }})"
                )
            page.wait_for_timeout(max(50.0, 1000 * (begun + every * (n + 1) - time.monotonic())))
            if n % max(1, arguments.moves // 25) == 0:
                rows.append({"move": n, **memory(page, root)})
                print(rows[-1], flush=True)
        page.wait_for_function("document.getElementById('busy').hidden")
        rows.append({"move": arguments.moves, **memory(page, root)})
        alive = page.evaluate("stage.frames")
    fifth = rows[max(1, len(rows) // 5)]
    growth = {
        name: round(rows[-1][name] / max(fifth[name], 1) - 1, 3) for name in ("server", "heap")
    }
    return {"growth since a fifth": growth, "bar": 0.10, "frames": alive, "rows": rows}


if __name__ == "__main__":
    main()
