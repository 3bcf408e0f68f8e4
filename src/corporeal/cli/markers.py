"""`corporeal markers`."""

from dataclasses import dataclass, fields
from pathlib import Path

from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.pipelines.markers import MarkersConfig, make_motion_from_markers


@dataclass(frozen=True, kw_only=True)
class MarkersVerb(MarkersConfig):
    """Find one body and its motion from optical markers in a C3D file.

    Examples:
      corporeal markers walk.c3d --out walk.npz
      corporeal markers walk.c3d --markers lab.json --body anna.npz --out walk.npz

    Labels of Plug-in Gait (LFHD, C7, LASI, …) and Helen Hayes (L.Knee, …) are known; other sets
    come as JSON, label: vertex, or label: known label. Gaps are filled from the poses around them.
    """

    clip: Positional[Path]
    """C3D file."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Fit, and say how well."""
        say(f"fitting a body and its motion to {self.clip}")
        config = {f.name: getattr(self, f.name) for f in fields(MarkersConfig)}
        made = make_motion_from_markers(MarkersConfig(**config))
        if self.json:
            print_json(made)
            return 0
        if made.unknown:
            say(f"left out, since no table knows them: {', '.join(made.unknown)}")
        print(f"wrote {made.out} ({made.frames} frames at {made.fps:g} a second)")
        if made.body is not None:
            print(f"and   {made.body}")
        print(
            f"and   {made.manifest}\n\n{len(made.used)} markers lie {made.residual_mm:.1f} mm "
            f"(root mean square) from the body, which is {100 * made.stature:.1f} cm tall; "
            f"{100 * made.gaps:.1f} % of their places were missing."
        )
        return 0
