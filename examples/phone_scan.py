"""Makes a scan such as a phone gives: a textured .obj in centimetres, z up, on a piece of floor.

    python examples/phone_scan.py scan.obj                 a woman in an A-pose
    python examples/phone_scan.py scan.obj --inside-out    with its triangles turned over

The person is one of the population, in underwear, with holes under the arms; the surface is cut up
anew (its vertices are not the default body's), and noise of a millimetre is on it. Nothing but the
file tells `corporeal avatar` what it shows.
"""

import argparse
from pathlib import Path

import numpy as np


def main() -> None:
    """Write the scan, its material and its picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("out", type=Path, help="file to write (.obj)")
    parser.add_argument("--person", type=int, default=4, help="number of the person")
    parser.add_argument("--inside-out", action="store_true", help="turn all triangles over")
    given = parser.parse_args()
    vertices, triangles, uv, uv_triangles, pixels = scan(given.person)
    if given.inside_out:
        triangles, uv_triangles = triangles[:, ::-1], uv_triangles[:, ::-1]
    write(given.out, vertices, triangles, uv, uv_triangles, pixels)
    print(f"wrote {given.out}: {len(vertices)} vertices, {len(triangles)} triangles")


def scan(number: int):
    """Surface in centimetres, z up, with texture coordinates and picture."""
    from corporeal.assets.default_body import load_default_body
    from corporeal.body.identity import Identity
    from corporeal.body.pose import Pose
    from corporeal.geometry.rotations import matrix_from_axis_angle
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.models.smpl.shipped import SmplSkinning
    from corporeal.population.realise import realise
    from corporeal.population.sampling import sample_people

    template = load_default_body().template
    made = realise(PhenotypeModel(), sample_people(0, number + 1, 77, "adults"))
    identity = Identity(made.rest_vertices[number], made.joints[number], {})
    turns = np.zeros((template.skeleton.joint_count, 3))
    names = template.skeleton.names
    turns[names.index("left_shoulder")] = (0.0, 0.1, -0.8)
    turns[names.index("right_shoulder")] = (0.0, -0.1, 0.75)
    turns[names.index("left_hip")], turns[names.index("right_hip")] = (0, 0, 0.12), (0, 0, -0.12)
    posed = SmplSkinning(template).vertices(identity, Pose(turns, np.zeros(3)))
    skin = np.asarray(posed, np.float64)
    mesh = template.mesh
    triangles, uv_triangles = np.asarray(mesh.triangles), np.asarray(mesh.uv_triangles)
    assert mesh.uv is not None
    pixels = painted(template, identity)
    uv = np.asarray(mesh.uv, np.float64)
    # cut every triangle in two across its longest side, and punch holes
    random = np.random.default_rng(5)
    skin, triangles, uv, uv_triangles = halved(skin, triangles, uv, uv_triangles)
    skin += 1e-3 * random.normal(size=skin.shape)
    middles = skin[triangles].mean(axis=1)
    kept = np.ones(len(triangles), bool)
    for side in ("left", "right"):
        pit = skin.mean(axis=0) + np.array([0.16 if side == "left" else -0.16, 0.42, 0.0])
        kept &= np.linalg.norm(middles - pit, axis=1) > 0.05
    triangles, uv_triangles = triangles[kept], uv_triangles[kept]
    low = skin[:, 1].min() - 2e-3
    floor = np.array([[-0.5, low, -0.4], [0.5, low, -0.4], [0.5, low, 0.5], [-0.5, low, 0.5]])
    count, corner = len(skin), len(uv)
    triangles = np.concatenate([triangles, count + np.array([[0, 2, 1], [0, 3, 2]])])
    uv_triangles = np.concatenate([uv_triangles, np.full((2, 3), corner)])
    uv = np.concatenate([uv, [[0.002, 0.002]]])
    places = np.concatenate([skin, floor]) @ matrix_from_axis_angle(np.array([0.0, 2.1, 0.0])).T
    return 100.0 * places[:, [2, 0, 1]], triangles, uv, uv_triangles, pixels


def halved(vertices, triangles, uv, uv_triangles):
    """Every triangle cut across the middle of its first side; topology of no other mesh."""
    first, second = triangles[:, 0], triangles[:, 1]
    middles = 0.5 * (vertices[first] + vertices[second])
    new = len(vertices) + np.arange(len(triangles))
    uv_middles = 0.5 * (uv[uv_triangles[:, 0]] + uv[uv_triangles[:, 1]])
    uv_new = len(uv) + np.arange(len(triangles))

    def cut(corners, at):
        a, b, c = corners.T
        return np.concatenate([np.stack([a, at, c], 1), np.stack([at, b, c], 1)])

    return (
        np.concatenate([vertices, middles]),
        cut(triangles, new),
        np.concatenate([uv, uv_middles]),
        cut(uv_triangles, uv_new),
    )


def painted(template, identity):
    """The person's skin and clothes, with a checked pattern that shows what slides."""
    from corporeal.appearance.dress import looks_of

    material = looks_of(template, identity).material
    assert material is not None
    colour = material.colour[..., :3].astype(np.float64)
    rows, columns = np.indices(colour.shape[:2])
    checks = 1.0 - 0.12 * ((rows // 16 + columns // 16) % 2)
    return np.rint(colour * checks[..., None]).astype(np.uint8)


def write(path: Path, vertices, triangles, uv, uv_triangles, pixels) -> None:
    """Wavefront .obj, .mtl and .png beside."""
    from corporeal.formats.png import write_png

    write_png(path.with_suffix(".png"), pixels)
    path.with_suffix(".mtl").write_text(f"newmtl skin\nmap_Kd {path.stem}.png\n")
    lines = [f"mtllib {path.stem}.mtl", "usemtl skin"]
    lines += ["v " + " ".join(f"{x:.3f}" for x in row) for row in vertices]
    lines += ["vt " + " ".join(f"{x:.5f}" for x in row) for row in uv]
    for face, corners in zip(triangles + 1, uv_triangles + 1, strict=True):
        lines.append("f " + " ".join(f"{v}/{t}" for v, t in zip(face, corners, strict=True)))
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
