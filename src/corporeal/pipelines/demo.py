"""The first thing a new user sees: one person, one movement, three files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from corporeal.appearance.appearance import Appearance
from corporeal.appearance.random_looks import random_appearance
from corporeal.appearance.resolving import Wearer
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.looks import Looks
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.errors import InputError, JobError
from corporeal.pipelines.deformers import make_deformer, require_place
from corporeal.pipelines.demo_kernels import FIRST_KERNELS, KERNELS
from corporeal.pipelines.presentation import Presentation
from corporeal.pipelines.results import looks_for, write_engine_character, write_film
from corporeal.runtime.executors import local_workplace
from corporeal.runtime.files import make_folder, require_writable
from corporeal.runtime.manifest import finish_run, start_run

MOTION = "jumping-jacks"
_SKINNED = ("lbs", "dqs")
"""Deformers side by side with the simulated one; the first one's character is written."""
_SIMULATED = "projective"
_DURATION_S = 2.5
_FPS = 60.0


@dataclass(frozen=True)
class DemoConfig:
    """Where the files go, and which person is drawn."""

    out: Path = Path("corporeal-demo")
    """Folder to write into."""
    seed: int = 0
    """Random seed of the person and the motion."""
    device: str = "cpu"
    """Where flesh is simulated: `cpu`, `gpu` or `gpu:N`."""


@dataclass(frozen=True)
class DemoFiles:
    """What was made."""

    glb: Path
    """The character."""
    png: Path
    """The picture."""
    mp4: Path
    """The film."""
    deformers: tuple[str, ...]
    """Names of those that are shown."""
    parameters: Mapping[str, float]
    """Phenotype sliders of the person, by name."""
    measurements: Mapping[str, float]
    """SI units."""
    report: Mapping[str, Any]
    """Figures of the bake and the flesh; JSON values."""


def run_demo(config: DemoConfig) -> DemoFiles:
    """Draw a person by seed, move it with three deformers, and write character, sheet and film."""
    from corporeal.anthropometry.measure import measure
    from corporeal.runtime.kernels import compile_ahead
    from corporeal.scene.sheet import contact_sheet

    run = start_run("demo", config)
    require_place(_SIMULATED, config.device)
    folder = make_folder(config.out)
    glb, png, mp4 = (folder / f"{MOTION}{suffix}" for suffix in (".glb", ".png", ".mp4"))
    for path in (glb, png, mp4):
        require_writable(path)
    if config.seed < 0:
        raise InputError(f"the demo was asked with the seed {config.seed}; expected 0 or more.")
    with local_workplace(1) as beside:  # the kernels of flesh compile while the others do
        flesh = beside.executor.submit(_simulated, config)
        if config.device == "cpu":
            compile_ahead(FIRST_KERNELS, flesh.done)
        person = _person(config.seed)
        skinned = [_performance(name, person, config) for name in _SKINNED]
        measurements = {k: float(v) for k, v in measure(person.identity).values.items()}
        presentation = Presentation(_look(config.seed, person.parameters))
        looks = looks_for(person.template, person.identity, presentation)
        report = write_engine_character(glb, skinned[0], presentation=presentation, looks=looks)
        _compile_drawing(skinned[0], looks)
        if config.device == "cpu":
            compile_ahead(KERNELS, flesh.done)
        try:
            animations = [*skinned, flesh.result()]
        except beside.crashes as error:
            raise JobError("the process that simulates flesh died; is memory short?") from error
    contact_sheet(animations, png, looks=looks)
    write_film(mp4, animations, presentation, looks)
    names = tuple(animation.deformer for animation in animations)
    report |= {"deformers": names, "parameters": person.parameters, "measurements": measurements}
    finish_run(run, [glb, png, mp4], report)
    return DemoFiles(glb, png, mp4, names, person.parameters, measurements, report)


@dataclass(frozen=True)
class _Person:
    """Who is moved, and how."""

    template: Template
    parameters: dict[str, float]
    identity: Identity
    motion: Motion


def _person(seed: int) -> _Person:
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.motions.library import make_motion

    model = PhenotypeModel()
    parameters = _drawn_person(np.random.default_rng(seed))
    identity = model.prepare(parameters)
    motion = make_motion(
        MOTION, identity, model.template, seed=seed, fps=_FPS, duration=_DURATION_S
    )
    return _Person(model.template, parameters, identity, motion)


def _performance(name: str, person: _Person, config: DemoConfig) -> Animation:
    deformer = make_deformer(name, person.template, config.device)
    return deformer.animate(person.identity, person.motion)


def _simulated(config: DemoConfig) -> Animation:
    """The person moved by physics; made anew from its seed, since this runs in another process."""
    return _performance(_SIMULATED, _person(config.seed), config)


def _compile_drawing(animation: Animation, looks: Looks) -> None:
    """Draw one small picture for nobody, so that the kernels are there when all come together."""
    from corporeal.scene.sheet import contact_sheet

    with TemporaryDirectory() as folder:
        contact_sheet([animation], Path(folder) / "one.png", frames=1, width=100, looks=looks)


def _look(seed: int, sliders: Mapping[str, float]) -> Appearance:
    """How the person looks, drawn by the same seed."""
    return random_appearance(seed, Wearer(sliders["gender"], sliders["age"]))


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
