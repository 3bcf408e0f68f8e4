"""`corporeal avatar`."""

from dataclasses import dataclass, fields
from pathlib import Path

from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.pipelines.avatar import AvatarConfig, AvatarMade, make_avatar


@dataclass(frozen=True, kw_only=True)
class AvatarVerb(AvatarConfig):
    """Make a body of your own from a scan: registered, measured, with layers, ready to move.

    Examples:
      corporeal avatar scan.ply --out me.npz
      corporeal avatar scan.obj --motion jumping-jacks --out me.glb
      corporeal avatar scan.glb --up +z --sex female --age 31 --report report --out me.npz

    Reads .ply, .obj, .glb, .stl, .off, .xyz and .npz, surfaces or clouds of points, in metres,
    centimetres, millimetres or inches, any way up and facing any way; floors, stands, boxes and
    stray pieces are taken away. The person stands, sits or walks, in an A- or T-pose best. What is
    not one person is refused, with the reason.
    """

    scan: Positional[Path]
    """Scan of one person."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Register, write, and say how well."""
        say(f"registering {self.scan}")
        config = {f.name: getattr(self, f.name) for f in fields(AvatarConfig)}
        made = make_avatar(AvatarConfig(**config), say)
        if self.json:
            print_json(made)
            return 0
        print(f"wrote {made.out}")
        for path in made.files:
            print(f"and   {path}")
        print(f"and   {made.manifest}\n\n{_summary(made)}")
        if self.motion is None and made.out.suffix == ".npz":
            film = made.out.with_suffix(".glb").name
            print(f"\nmove it:  corporeal animate --body {made.out} --motion jumping-jacks "
                  f"--deformer layered --out {film}")  # fmt: skip
        return 0


def _summary(made: AvatarMade) -> str:
    """Fit and person in words."""
    stature, mass = made.measurements.get("stature", 0.0), made.measurements.get("mass", 0.0)
    worst = sorted(
        (row["distance_mm"], name)
        for name, row in made.parts.items()
        if row["distance_mm"] is not None
    )[-1]
    seconds = sum(made.seconds.values())
    lines = [
        f"the scan lies {made.mean_distance_mm:.2f} mm from the registered skin on average "
        f"(median {made.median_distance_mm:.2f} mm; {worst[1]}: {worst[0]:.1f} mm);",
        f"it shows {100 * made.coverage:.0f} % of the body, and {100 * made.outlier_share:.1f} % "
        f"of its points are further than a centimetre;",
        f"a {made.sex} body, {100 * stature:.1f} cm tall, about {mass:.1f} kg; "
        f"registered in {seconds:.1f} s.",
    ]
    if made.filled:
        words = ", ".join(name.replace("_", " ") for name in made.filled)
        lines.append(f"the scan hardly shows these, which the model filled in: {words}.")
    return "\n".join(lines)
