"""`corporeal skeleton`."""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.pipelines.skeleton import SkeletonConfig, SkeletonMade, make_skeleton


@dataclass(frozen=True)
class SkeletonVerb:
    """Fit the default skeleton to a human surface that stands in roughly T- or A-pose.

    Examples:
      corporeal skeleton scan.ply --out scan.skel
      corporeal skeleton scan.stl --up +z --out scan.json

    Reads .obj, .ply, .off, .stl and .glb; holes, noise, any unit and any heading are fine. The
    joints are written in the mesh's own unit and axes, as .skel or .json. What does not look like a
    person is refused.
    """

    mesh: Positional[Path]
    """Human surface."""
    out: Path
    """Skeleton to write: .skel or .json."""
    up: str = "auto"
    """Upward axis of the mesh, such as +z; +y and +z are tried by default."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Fit, and say how well."""
        say(f"fitting a skeleton to {self.mesh}")
        made = make_skeleton(SkeletonConfig(self.mesh, self.out, self.up))
        if self.json:
            print_json(made)
            return 0
        print(f"wrote {made.out} ({made.joints} joints, confidence {made.confidence:.2f})")
        print(f"and   {made.manifest}\n\n{_report(made)}")
        print(f"\nmove it:  {self._next(made)}")
        return 0

    def _next(self, made: SkeletonMade) -> str:
        film = made.out.with_suffix(".mp4").name
        up = "" if made.up == "+y" else f" --mesh-up {made.up} --mesh-front -y"
        return (
            f"corporeal animate --mesh {self.mesh} --skeleton {made.out}{up} "
            f"--motion jumping-jacks --deformer projective --out {film}"
        )


def _report(made: SkeletonMade) -> str:
    """Size, distance and heading in words."""
    if made.unit is None:
        size = f"{made.stature:.4g} units tall (a person's size in no unit)"
        gap = f"{100 * made.surface_distance / made.stature:.2f} % of that"
    else:
        size = f"{made.stature:.2f} m tall, in {made.unit}"
        gap = f"{1e3 * made.surface_distance:.1f} mm"
    return (
        f"the surface is {size}, {made.up} up, facing {made.heading_deg:.0f}° from the front;\n"
        f"on average it lies {gap} from the fitted body."
    )
