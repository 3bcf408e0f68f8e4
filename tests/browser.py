"""A page in headless Chromium: served from this machine, its results posted back."""

import subprocess
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
_TYPES = {".html": "text/html", ".js": "text/javascript"}


def run_page(
    chromium: str, page: Path, folders: Mapping[str, Path], query: str, timeout_s: float
) -> dict[str, bytes]:
    """Open `page` and wait until it posts to `/result/done`; gives back all that it posted.

    `folders` maps the first part of an address to a folder or file.
    """
    results: dict[str, bytes] = {}
    finished = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            first, _, rest = self.path.partition("?")[0].lstrip("/").partition("/")
            file = page if first == "page" else folders.get(first, Path("missing"))
            file = file / rest if rest else file
            if not file.is_file():
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", _TYPES.get(file.suffix, "application/octet-stream"))
            self.end_headers()
            self.wfile.write(file.read_bytes())

        def do_POST(self) -> None:
            name = self.path.rpartition("/")[2]
            results[name] = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()
            if name == "done":
                finished.set()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/page?{query}"
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [chromium, *_FLAGS, f"--user-data-dir={profile}", address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            finished.wait(timeout_s)
        finally:
            browser.terminate()
            browser.wait(30)
            server.shutdown()
            server.server_close()
    assert finished.is_set(), f"the page did not finish in {timeout_s} s; it posted {list(results)}"
    return results
