"""A running studio, and a page of it in headless Chromium, for tests and pictures."""

import asyncio
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

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
def running_studio(files: tuple[Path, ...] = ()) -> Iterator[tuple[StudioServer, Address]]:
    """A studio in a thread, until the block ends."""
    opened = threading.Event()
    addresses: list[Address] = []
    loop = asyncio.new_event_loop()
    server = StudioServer(files=files)

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

    def __init__(self, opened, address: Address, width: int = 1440, height: int = 860) -> None:
        # string predicates of Playwright are evaluated, which the page's own policy forbids
        context = opened.new_context(
            bypass_csp=True, viewport={"width": width, "height": height}, accept_downloads=True
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

    def settle(self) -> None:
        """Until nothing is being prepared and a new frame is shown."""
        self.wait("document.getElementById('busy').hidden")
        shown = self.tell("stage.frames")
        self.wait(f"stage.frames > {shown}")

    def picture(self, path: Path) -> None:
        self.tab.screenshot(path=str(path), timeout=PATIENCE_MS)
