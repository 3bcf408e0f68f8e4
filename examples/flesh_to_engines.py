"""A take with simulated flesh, as the files that engines and film programs read.

    python examples/flesh_to_engines.py --out flesh

Leaves `hop.glb` (three.js, Godot, Blender, Unity and Unreal by their importers), `hop.fbx` (Unity,
Unreal, Maya), `hop.html` (a page that plays in any browser), `hop.obj` with `hop.pc2` (every vertex
of every frame, for Blender's Mesh Cache), and `hop.png` to look at. `--small` makes it shorter.
"""

import argparse
from pathlib import Path

import numpy as np

import corporeal as cp
from corporeal.viewer.standalone.export import ExportViewerConfig, export_viewer


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("flesh"))
    parser.add_argument("--small", action="store_true", help="a few frames")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    end, fps = (0.2, 20) if given.small else (3, 60)

    # Skin between bones, simulated: no weights, no tetrahedra to make.
    person = cp.make_body(gender="female", stature=1.66, mass=92)
    hop = cp.animate(person, "one-leg-jump", deformer="projective", end=end, fps=fps)
    plain = cp.animate(person, "one-leg-jump", deformer="lbs", end=end, fps=fps)
    moved = np.linalg.norm(hop.vertices - plain.vertices, axis=-1)
    print(f"flesh is up to {1e3 * moved.max():.0f} mm from plain blending")

    # An engine knows joints and morph targets. Baking finds both, and says how exact they are.
    character, report = cp.bake(hop)
    print(f"baked: {report.morph_count} morph targets; without them joints alone would be")
    print(
        f"{report.morphless_error_mm:.0f} mm off, with them {report.within_1mm:.1%} of the vertices"
    )
    print(f"are within a millimetre, and the worst is {report.max_error_mm:.1f} mm off")
    cp.save(character, given.out / "hop.glb")
    cp.save(character, given.out / "hop.fbx")

    # Without baking: every vertex of every frame.
    cp.save(hop, given.out / "hop.pc2")
    cp.save(hop, given.out / "hop.npz")
    export_viewer(ExportViewerConfig(takes=(given.out / "hop.npz",), out=given.out / "hop.html"))
    cp.save(hop, given.out / "hop.png")

    # What was written, read again.
    again = cp.load(given.out / "hop.glb")
    print(f"hop.glb holds {again.frame_count} frames and {again.morph_count} morph targets")
    for path in sorted(given.out.iterdir()):
        print(f"  {path.name}: {path.stat().st_size / 1e6:.1f} MB")
    print(f"left in {given.out}: {', '.join(sorted(path.name for path in given.out.iterdir()))}")


if __name__ == "__main__":
    main()
