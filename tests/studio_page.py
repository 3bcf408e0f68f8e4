"""A running studio, and a page of it in headless Chromium, for tests and pictures."""

import asyncio
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from corporeal.viewer.server import Address, StudioServer

FLAGS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-dev-shm-usage",
)
PATIENCE_MS = 300_000
"""On a busy machine software GL draws a frame a second."""


@contextmanager
def running_studio(
    files: tuple[Path, ...] = (), port: int = 0, token: str | None = None
) -> Iterator[tuple[StudioServer, Address]]:
    """A studio in a thread, until the block ends."""
    opened = threading.Event()
    addresses: list[Address] = []
    loop = asyncio.new_event_loop()
    server = StudioServer(port=port, token=token, files=files)

    def tell(address: Address) -> None:
        addresses.append(address)
        opened.set()

    task = loop.create_task(server.run(tell))

    def run() -> None:
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        assert opened.wait(60)
        yield server, addresses[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(30)


@contextmanager
def browser() -> Iterator:
    """Headless Chromium; skips where there is none."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if chromium is None:
        pytest.skip("chromium is not installed: it shows the studio's page")
    with playwright.sync_playwright() as program:
        opened = program.chromium.launch(executable_path=chromium, args=list(FLAGS))
        try:
            yield opened
        finally:
            opened.close()


class StudioPage:
    """One tab, what went wrong on it, and how to work its controls."""

    def __init__(
        self,
        opened,
        address: Address,
        width: int = 1440,
        height: int = 860,
        density: float = 1.0,
    ) -> None:
        """A window of `width` × `height` CSS pixels, each of `density` drawn ones a side."""
        # string predicates of Playwright are evaluated, which the page's own policy forbids
        context = opened.new_context(
            bypass_csp=True,
            viewport={"width": width, "height": height},
            device_scale_factor=density,
            accept_downloads=True,
        )
        self.tab = context.new_page()
        self.tab.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.tab.on("console", self._console)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda request: self._request(request.url, address))
        self.tab.goto(address.url)
        self.wait("window.stage && stage.frames > 0")

    def _console(self, message) -> None:
        if message.type in ("error", "warning") and "GPU stall" not in message.text:
            self.complaints.append(message.text)

    def _request(self, url: str, address: Address) -> None:
        if not url.startswith((address.url, address.url.replace("http", "ws"), "blob:", "data:")):
            self.outside.append(url)

    def wait(self, condition: str) -> None:
        """Until a JavaScript expression holds."""
        self.tab.wait_for_function(condition)

    def tell(self, expression: str):
        """The value of a JavaScript expression."""
        return self.tab.evaluate(expression)

    def open_panel(self, name: str) -> None:
        self.tab.locator(f"#tabs button[data-name={name}]").click()

    def press(self, name: str) -> None:
        self.tab.get_by_role("button", name=name, exact=True).click()

    def settle(self) -> None:
        """Until nothing is being prepared and a new frame is shown, which any message brings."""
        self.wait("document.getElementById('busy').hidden")
        shown = self.tell("stage.frames")
        self.tell("studio.send('cancel', { name: 'nothing' })")
        self.wait(f"stage.frames > {shown}")

    def pause(self) -> None:
        self.tell("studio.change(['playing'], false)")
        self.wait("!studio.document.playing")

    def seek(self, place: int) -> None:
        self.tell(f"studio.send('seek', {{ place: {place} }})")
        self.wait(f"stage.place === {place}")

    def give(self, name: str, content: bytes) -> None:
        """Choose a file with the button in the header."""
        with self.tab.expect_file_chooser() as waiting:
            self.press("Open")
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        waiting.value.set_files([file])

    def drop(self, name: str, content: bytes) -> None:
        """Drop a file on the picture, as from a file manager."""
        self.tab.evaluate(
            """([name, numbers]) => {
              const dataTransfer = new DataTransfer();
              dataTransfer.items.add(new File([new Uint8Array(numbers)], name));
              const on = document.getElementById("canvas");
              for (const kind of ["dragenter", "dragover", "drop"])
                on.dispatchEvent(new DragEvent(kind, { bubbles: true, dataTransfer }));
            }""",
            [name, list(content)],
        )

    def taken(self, press: str, path: Path) -> Path:
        """What a button gives to download."""
        with self.tab.expect_download(timeout=PATIENCE_MS) as waiting:
            self.press(press)
        waiting.value.save_as(path)
        return path

    def complaint(self, start: str) -> None:
        """Until a red message begins so."""
        begins = f"message.textContent.startsWith({start!r})"
        self.wait(f"[...document.querySelectorAll('.toast.bad')].some((message) => {begins})")

    def canvas(self) -> np.ndarray:
        """The picture as the person sees it, RGB."""
        content = self.tab.locator("#stage").screenshot(timeout=PATIENCE_MS)
        return np.asarray(Image.open(BytesIO(content)).convert("RGB"), np.int16)

    def vertex(self, view: int, index: int) -> np.ndarray:
        """Where the page has a vertex, metres."""
        start = 3 * index
        body = f"stage.bodies[{view}].skin.positions"
        return np.array(self.tell(f"Array.from({body}.slice({start}, {start + 3}))"))

    def on_screen(self, view: int, index: int) -> tuple[float, float]:
        """Where a vertex is drawn, CSS pixels of the window."""
        x, y = self.tell(
            f"""(() => {{
              const part = stage.parts()[{view}];
              const box = stage.canvas.getBoundingClientRect();
              stage.camera.aspect = part.width / part.height;
              stage.camera.updateProjectionMatrix();
              const {{ positions }} = stage.bodies[{view}].skin;
              const p = stage.camera.position.clone().fromArray(positions, {3 * index});
              p.project(stage.camera);
              const across = part.x + (p.x + 1) / 2 * part.width;
              const down = part.y + (1 - p.y) / 2 * part.height;
              return [box.left + across, box.top + down];
            }})()"""
        )
        return x, y

    def foremost(self, view: int, part: str) -> int:
        """The vertex of a part of the body that is furthest in front."""
        return self.tell(
            f"""(() => {{
              const label = stage.model.parts.indexOf("{part}");
              const labels = stage.model.arrays.part_labels;
              const p = stage.bodies[{view}].skin.positions;
              let best = -1;
              for (let v = 0; v < labels.length; v += 1)
                if (labels[v] === label && (best < 0 || p[3 * v + 2] > p[3 * best + 2])) best = v;
              return best;
            }})()"""
        )

    def picture(self, path: Path) -> None:
        self.tab.screenshot(path=str(path), timeout=PATIENCE_MS)
