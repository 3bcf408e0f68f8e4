"""The default body jumping: linear blend skinning, projective skinning, and how far they differ.

    python benchmarks/jump_film.py --out jump.mp4 --still docs/pictures/jump.png

Three bodies side by side do the same jump; the third shows, in centimetres, how far the skin of the
second is from that of the first. The still is the frame with the largest mean difference.
"""

import argparse
from pathlib import Path

import numpy as np

from corporeal.formats.mp4 import write_mp4
from corporeal.formats.png import write_png
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.results import attachments_of
from corporeal.scene.casting import Performance
from corporeal.scene.colour_map import ColourScale
from corporeal.scene.film import film_frames
from corporeal.scene.picture import picture

FILM_FPS = 30.0
AZIMUTH = np.radians(35)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="MP4 to write")
    parser.add_argument("--still", type=Path, help="PNG to write")
    parser.add_argument("--motion", default="one-leg-jump")
    parser.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    shown, difference = performances(asked.motion, asked.seconds)
    worst = int(difference.mean(axis=1).argmax())
    high = np.percentile(difference[worst], 95)
    print(
        f"largest difference {difference.max():.1f} cm; in frame {worst} the mean is "
        f"{difference[worst].mean():.2f} cm, and 95 % of the vertices are below {high:.1f} cm"
    )
    if asked.still:
        still = picture(shown, frame=worst, width=720, height=405, azimuth=AZIMUTH)
        write_png(asked.still, still)
    if asked.out:
        write_mp4(asked.out, film_frames(shown, FILM_FPS, 960, 540, AZIMUTH), FILM_FPS)


def performances(name: str, seconds: float) -> tuple[list[Performance], np.ndarray]:
    """The three bodies, and the difference in centimetres, frames × vertices."""
    model = PhenotypeModel()
    identity = model.prepare()
    motion = make_motion(name, identity, model.template, fps=60.0, duration=seconds)
    linear = make_deformer("lbs", model.template).animate(identity, motion)
    flesh = ProjectiveSkinning(model.template).animate(identity, motion)
    apart = np.asarray(flesh.vertices, np.float64) - np.asarray(linear.vertices, np.float64)
    difference = 100.0 * np.linalg.norm(apart, axis=2)
    scale = ColourScale(0.0, float(np.ceil(np.percentile(difference, 99.5))), "difference", "cm")
    parts = attachments_of(model.template, identity)
    return [
        Performance(linear, parts, "linear blend skinning", scale=scale),
        Performance(flesh, parts, "projective skinning"),
        Performance(flesh, (), "difference", values=difference, scale=scale),
    ], difference


if __name__ == "__main__":
    main()
