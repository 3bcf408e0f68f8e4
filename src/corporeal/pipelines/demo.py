"""The first thing a new user sees: one person, one movement, three files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.pipelines.deformers import make_deformer, require_place
from corporeal.pipelines.results import attachments_of, write_engine_character, write_film
from corporeal.runtime.files import make_folder, require_writable
from corporeal.runtime.manifest import finish_run, start_run

MOTION = "jumping-jacks"
_SHOWN = ("lbs", "dqs", "projective")
"""Deformers side by side; the first one's character is written."""
_DURATION_S = 4.0
_FPS = 60.0


@dataclass(frozen=True)
class DemoConfig:
    """Where the files go, and which person is drawn."""

    out: Path = Path("corporeal-demo")
    seed: int = 0
    device: str = "cpu"
    """Where flesh is simulated: `cpu`, `gpu` or `gpu:N`."""


@dataclass(frozen=True)
class Demo:
    """What was made."""

    glb: Path
    png: Path
    mp4: Path
    deformers: tuple[str, ...]
    parameters: Mapping[str, float]
    measurements: Mapping[str, float]
    """SI units."""
    report: Mapping[str, Any]


def run_demo(config: DemoConfig) -> Demo:
    """Draw a person by seed, move it with three deformers, and write character, sheet and film."""
    from corporeal.anthropometry.measure import measure
    from corporeal.scene.sheet import contact_sheet

    run = start_run("demo", config)
    require_place("projective", config.device)
    folder = make_folder(config.out)
    glb, png, mp4 = (folder / f"{MOTION}{suffix}" for suffix in (".glb", ".png", ".mp4"))
    for path in (glb, png, mp4):
        require_writable(path)
    parameters, identity, animations = _performances(config.seed, config.device)
    measurements = {k: float(v) for k, v in measure(identity).values.items()}
    parts = attachments_of(animations[0].template, identity)
    report = write_engine_character(glb, animations[0], parts)
    contact_sheet(animations, png, attachments=[parts] * len(animations))
    write_film(mp4, animations, parts)
    names = tuple(animation.deformer for animation in animations)
    report |= {"deformers": names, "parameters": parameters, "measurements": measurements}
    finish_run(run, [glb, png, mp4], report)
    return Demo(glb, png, mp4, names, parameters, measurements, report)


def _performances(seed: int, device: str) -> tuple[dict[str, float], Identity, list[Animation]]:
    """A person, and its jumping jacks by three deformers; `lbs` comes first."""
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.motions.library import make_motion

    model = PhenotypeModel()
    parameters = _drawn_person(np.random.default_rng(seed))
    identity = model.prepare(parameters)
    motion = make_motion(
        MOTION, identity, model.template, seed=seed, fps=_FPS, duration=_DURATION_S
    )
    animations = [
        make_deformer(name, model.template, device).animate(identity, motion) for name in _SHOWN
    ]
    return parameters, identity, animations


def _drawn_person(random: np.random.Generator) -> dict[str, float]:
    """Sliders of an ordinary adult: woman or man, 20 to 60 years, no extremes."""
    return {
        "gender": float(random.integers(0, 2)),
        "age": round(float(random.uniform(20, 60)), 1),
        "muscle": round(float(random.uniform(0.35, 0.8)), 3),
        "weight": round(float(random.uniform(0.35, 0.75)), 3),
        "height": round(float(random.uniform(0.35, 0.65)), 3),
        "proportions": round(float(random.uniform(0.4, 0.8)), 3),
    }
