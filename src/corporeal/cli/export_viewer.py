"""`corporeal export-viewer`."""

from dataclasses import dataclass, fields
from pathlib import Path

from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.viewer.standalone.export import ExportViewerConfig, export_viewer


@dataclass(frozen=True, kw_only=True)
class ExportViewer(ExportViewerConfig):
    """Write takes as one page that plays anywhere: no server, no network, nothing beside it.

    Examples:
      corporeal export-viewer take.npz --out viewer.html
      corporeal export-viewer lbs.npz flesh.npz --out compared.html --title "Without and with flesh"
      corporeal export-viewer take.npz --step-mm 0.5 --out small.html
      corporeal export-viewer take.npz --live --out live.html

    Turn it with the mouse or a finger, play, scrub, choose a speed. Every vertex of every frame is
    in it, rounded to --step-mm. Up to four takes stand side by side, in step. With --live the flesh
    is predicted while the page plays: shake the body, exaggerate.
    """

    takes: Positional[tuple[Path, ...]]
    """Takes to show side by side: animations (.npz) or characters (.glb)."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Write the page, and say how large it is."""
        say(f"writing {self.out}")
        config = {f.name: getattr(self, f.name) for f in fields(ExportViewerConfig)}
        made = export_viewer(ExportViewerConfig(**config))
        if self.json:
            print_json(made)
            return 0
        print(f"wrote {made.out} ({made.bytes / 2**20:.1f} MiB, {sum(made.frames)} frames)")
        print(f"and   {made.manifest}\n\nopen it in a browser; it needs nothing else.")
        return 0
