"""Pictures of layers, and of layered beside two-layer flesh, as figures 4.17 and 4.18 of
Komaritzan 2022.

    python benchmarks/layered_pictures.py --out docs/pictures

Writes `layered-jump.png` (a landing, coloured by how far skin comes from where it would rest),
`layered-twist.png` (a twisted trunk, coloured by strain), `layered-twist-apart.png` (the same as
skin, and how far the two are apart), `layered-bend.png` (bent backwards, with and without
sliding regions), and women and men of three weights: `layers-see-through.png`, `layers-cut.png`.
"""

import argparse
from pathlib import Path

import numpy as np
from layered import AGE, controls, landing

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.abdominal_wall import inner_wall
from corporeal.anatomy.layered.bodies import LayeredBodies
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.anatomy.template import layered_template
from corporeal.anatomy.warp import transfer_bones
from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.evaluation.skin_strain import triangle_strains
from corporeal.formats.png import write_png
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.pipelines.results import attachments_of
from corporeal.scene.anatomy_picture import Figure, Style, anatomy_picture
from corporeal.scene.casting import Performance
from corporeal.scene.colour_map import ColourScale
from corporeal.scene.picture import picture

Flesh = LayeredSkinning | ProjectiveSkinning
WIDTH, HEIGHT = 960, 400
PEOPLE = ((0.0, 1.62, "woman", "female"), (1.0, 1.76, "man", "male"))
BMIS = (20.0, 26.0, 34.0)
INSIDE_WIDTH = 1200
SPINE: tuple[str, ...] = ("spine1", "spine2", "spine3")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    out = parser.parse_args().out
    model = PhenotypeModel()
    two_layer, bodies = ProjectiveSkinning(model.template), LayeredBodies(model.template)
    woman, man = body_at_bmi(model, 0.0, 29.0, 1.66), body_at_bmi(model, 1.0, 27.0, 1.78)
    layered = LayeredSkinning(model.template, bodies.layers(woman, AGE))
    jump(layered, two_layer, woman, out / "layered-jump.png")
    layered = LayeredSkinning(model.template, bodies.layers(man, AGE))
    twist(layered, two_layer, man, out)
    bend(layered, two_layer, man, out / "layered-bend.png")
    inside(model, bodies, out)


def jump(layered: Flesh, two_layer: Flesh, identity: Identity, path: Path) -> None:
    """A landing, in the frame in which the two kinds of flesh are furthest apart.

    Colours are how far from rest every place comes at most while the flesh swings.
    """
    motion = landing(layered)
    moved = [d.animate(identity, motion, controls(d)) for d in (layered, two_layer)]
    rest = np.asarray(identity.rest_vertices) + np.asarray(motion.root_translation)[:, None]
    off = [100 * np.linalg.norm(np.asarray(each.vertices) - rest, axis=-1) for each in moved]
    off = [np.broadcast_to(each.max(axis=0), each.shape) for each in off]
    scale = ColourScale(0.0, 5.0, "at most", "cm")
    apart = np.linalg.norm(np.asarray(moved[0].vertices) - np.asarray(moved[1].vertices), axis=-1)
    shown = [
        Performance(moved[0], (), "layered", values=off[0], scale=scale),
        Performance(moved[1], (), "two-layer", values=off[1], scale=scale),
        Performance(moved[0], (), "apart", values=100 * apart, scale=scale),
    ]
    frame = int(apart.mean(axis=1).argmax())
    picture(shown, path, width=WIDTH, height=HEIGHT, frame=frame, azimuth=np.radians(25))


def twist(layered: Flesh, two_layer: Flesh, identity: Identity, out: Path) -> None:
    """Static, 0.8 rad from hips to shoulders."""
    rotation_vectors = dict.fromkeys(SPINE, (0.0, 0.8 / 3, 0.0))
    moved = [still(deformer, identity, rotation_vectors) for deformer in (layered, two_layer)]
    triangles = np.asarray(layered.template.mesh.triangles)
    scale, shown = ColourScale(0.0, 50.0, "strain", "%"), []
    for each, label in zip(moved, ("layered", "two-layer"), strict=True):
        rest = np.asarray(identity.rest_vertices)
        strain = triangle_strains(rest, np.asarray(each.vertices[0]), triangles)
        values = 100 * _at_corners(strain, triangles, len(rest))[None]
        shown.append(Performance(each, (), label, values=values, scale=scale))
    angle = np.radians(-20)
    picture(shown, out / "layered-twist.png", width=WIDTH, height=HEIGHT, azimuth=angle)
    apart = np.linalg.norm(np.asarray(moved[0].vertices) - np.asarray(moved[1].vertices), axis=-1)
    scale = ColourScale(0.0, 6.0, "apart", "cm")
    parts = attachments_of(layered.template, identity)
    bodies = [
        Performance(moved[0], parts, "layered", scale=scale),
        Performance(moved[1], parts, "two-layer"),
        Performance(moved[0], (), "apart", values=100 * apart, scale=scale),
    ]
    picture(bodies, out / "layered-twist-apart.png", width=WIDTH, height=HEIGHT, azimuth=angle)


def bend(layered: Flesh, two_layer: Flesh, identity: Identity, path: Path) -> None:
    """Static, 0.9 rad backwards, with the bone surface free at joints, held there, and without."""
    rotation_vectors = dict.fromkeys(SPINE, (-0.3, 0.0, 0.0))
    parts = attachments_of(layered.template, identity)
    shown = [
        Performance(still(layered, identity, rotation_vectors), parts, "sliding regions"),
        Performance(still(layered, identity, rotation_vectors, sliding=0.0), parts, "none"),
        Performance(still(two_layer, identity, rotation_vectors), parts, "two-layer"),
    ]
    picture(shown, path, width=WIDTH, height=HEIGHT, azimuth=np.radians(60))


def inside(model: PhenotypeModel, bodies: LayeredBodies, out: Path) -> None:
    """Six people through their skin, and cut: women in the upper row, men in the lower."""
    people = []
    for gender, stature, noun, sex in PEOPLE:
        for bmi in BMIS:
            layers = bodies.layers(body_at_bmi(model, gender, bmi, stature), AGE)
            fat = 0.0 if layers.composition is None else layers.composition.fat_mass
            label = f"{noun}, {bmi * stature**2:.0f} kg, {fat:.0f} kg fat"
            template = layered_template(sex)
            bones, wall = transfer_bones(layers, template), inner_wall(layers, template)
            people.append((layers, bones, label, wall))
    styles: tuple[Style, ...] = ("see-through", "cut")
    for style in styles:
        figures = [
            Figure(layers, bones, style, label, wall) for layers, bones, label, wall in people
        ]
        rows = [
            anatomy_picture(row, width=INSIDE_WIDTH)
            for row in (figures[: len(BMIS)], figures[len(BMIS) :])
        ]
        write_png(out / f"layers-{style}.png", np.concatenate(rows))


def still(
    deformer: Flesh,
    identity: Identity,
    rotation_vectors: dict[str, tuple[float, float, float]],
    **chosen: float,
) -> Animation:
    """One frame in static balance."""
    skeleton = deformer.template.skeleton
    rotations = np.zeros((1, skeleton.joint_count, 3))
    for name, turn in rotation_vectors.items():
        rotations[0, skeleton.index(name)] = turn
    motion = Motion("still", 60.0, rotations, np.zeros((1, 3)), skeleton)
    given = {name: np.asarray(value) for name, value in chosen.items()}
    return deformer.animate(identity, motion, controls(deformer) | given)


def _at_corners(
    values: Float64[NumpyArray, "F"], triangles: NumpyArray, count: int
) -> Float64[NumpyArray, "V"]:
    """The mean of a vertex's triangles."""
    corners = triangles.ravel()
    sums = np.bincount(corners, np.repeat(values, 3), count)
    return sums / np.maximum(np.bincount(corners, minlength=count), 1)


if __name__ == "__main__":
    main()
