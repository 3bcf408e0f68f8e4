"""`corporeal animate`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from corporeal.cli.speech import print_json, say, tell_batch
from corporeal.errors import InputError
from corporeal.pipelines.animate import AnimateConfig, Animated, animate, is_animated
from corporeal.pipelines.deformers import DEFORMERS
from corporeal.runtime.jobs import run_jobs
from corporeal.runtime.manifest import require_verb


@dataclass(frozen=True)
class Animate:
    """Move a body, and write the moving surface.

    Examples:
      corporeal animate --body anna.npz --motion jumping-jacks --deformer dqs --out anna.npz
      corporeal animate --motion jumping-jacks --duration 8 --out jumps.mp4
      corporeal animate --body anna.npz --motion clip.bvh --out anna.glb
      corporeal animate --body anna.npz ben.npz --motion jumping-jacks --out '{body}-{motion}.glb'

    The file's suffix decides what is written: .npz (everything; it still serves as a --body), .glb,
    .fbx, .usd (for engines), .abc, .pc2 (caches), .mp4, .png (eight moments), or with --frame one
    surface as .obj, .ply, .off or .stl.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    motion: tuple[str, ...]
    """Names of authored motions, or motion files (.bvh, AMASS or own .npz)."""
    out: Annotated[str, tyro.conf.arg(metavar="FILE")]
    """File to write; for several bodies or motions, a pattern with {body} and {motion} in it."""
    body: tuple[Path, ...] = ()
    """Body files; the average adult if none is given."""
    deformer: Annotated[
        str, tyro.conf.arg(help=f"How the skin follows the joints: {', '.join(DEFORMERS)}.")
    ] = "lbs"
    fps: float = 60.0
    """Frames a second of an authored motion."""
    duration: float = 4.0
    """Seconds of an authored motion."""
    seed: int = 0
    """Draws tempo, size and style of an authored motion."""
    frame: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """The one frame to write as .obj or .ply; negative ones count from the end."""
    raw: bool = False
    """Leave a captured motion untouched: no scaling, no planted feet, no ground."""
    name_map: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """JSON map from the body's joints to a captured motion's; found from the names unless given."""
    unit: str = "auto"
    """Unit of a BVH file: m, cm, mm, in, cmu; taken from the skeleton's size unless told."""
    up: str = "+y"
    """Upward axis of a BVH file."""
    front: str = "+z"
    """Axis that the body of a BVH file faces at rest."""
    first_frame: Literal["auto", "keep", "drop"] = "auto"
    """First frame of a BVH file, often an added T-pose: drop it, keep it, or find out."""
    a_pose: bool = False
    """Start an authored motion in an A-pose."""
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Processes to use for several results; all cores unless told."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="tcp://HOST:PORT")] = None
    """Dask cluster to use for several results instead of this machine."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @staticmethod
    def from_manifest(content: dict[str, Any]) -> "Animate":
        """The same run again, from its manifest."""
        require_verb(content, "animate")
        config = dict(content["config"])
        body = (Path(config.pop("body")),) if config.get("body") else ()
        config.pop("body", None)
        if config.get("name_map"):
            config["name_map"] = Path(config["name_map"])
        return Animate(motion=(config.pop("motion"),), body=body, **config)

    def run(self) -> int:
        """Make one animation, or every body with every motion."""
        configs = self._configs()
        if len(configs) == 1:
            return self._run_one(next(iter(configs.values())))
        say(f"making {len(configs)} animations")
        absolute = {name: _absolute(config) for name, config in configs.items()}
        report = run_jobs(
            animate,
            absolute,
            workers=self.jobs,
            scheduler=self.scheduler,
            is_done=is_animated,
            label="animations",
        )
        return tell_batch(report, as_json=self.json)

    def _run_one(self, config: AnimateConfig) -> int:
        who = config.body or "the average adult"
        say(f"moving {who} through {config.motion} with {config.deformer}")
        made = animate(config)
        for note in made.report.get("motion_notes", ()):
            say(f"{config.motion}: {note}")
        if self.json:
            print_json(made)
        else:
            which = f"{made.frames} frames at {made.fps:g} a second"
            if "frame" in made.report:
                which = f"frame {made.report['frame']} of {made.frames}"
            print(f"wrote {made.out} ({which})")
            print(f"and   {made.manifest}{_baked(made)}")
        return 0

    def _configs(self) -> dict[str, AnimateConfig]:
        """One config a body and motion, by name."""
        bodies: tuple[Path | None, ...] = self.body or (None,)
        single = AnimateConfig(
            out=Path(self.out),
            motion=self.motion[0],
            body=bodies[0],
            deformer=self.deformer,
            fps=self.fps,
            duration=self.duration,
            seed=self.seed,
            frame=self.frame,
            raw=self.raw,
            name_map=self.name_map,
            unit=self.unit,
            up=self.up,
            front=self.front,
            first_frame=self.first_frame,
            a_pose=self.a_pose,
        )
        configs: dict[str, AnimateConfig] = {}
        outs: set[str] = set()
        for body in bodies:
            for motion in self.motion:
                names = {"body": body.stem if body else "average", "motion": Path(motion).stem}
                out = self.out.replace("{body}", names["body"]).replace("{motion}", names["motion"])
                outs.add(out)
                key = f"{body or 'average'} × {motion}"
                configs[key] = replace(single, out=Path(out), motion=motion, body=body)
        if len(outs) < len(bodies) * len(self.motion):
            raise InputError(
                f"--out {self.out} names {len(outs)} files for {len(bodies)} bodies and "
                f"{len(self.motion)} motions; expected a file each. Put {{body}} and {{motion}} "
                f"into it, and give the bodies different names."
            )
        inputs = {body.resolve() for body in self.body}
        if len(configs) > 1 and any(config.out.resolve() in inputs for config in configs.values()):
            raise InputError(
                f"--out {self.out} would replace a body that other results need; choose another."
            )
        return configs


def _absolute(config: AnimateConfig) -> AnimateConfig:
    """Paths that mean the same in every process."""
    body = config.body.resolve() if config.body else None
    name_map = config.name_map.resolve() if config.name_map else None
    return replace(config, out=config.out.resolve(), body=body, name_map=name_map)


def _baked(made: Animated) -> str:
    """What an engine character carries, where one was written."""
    if not made.report.get("morphs"):
        return ""
    return (
        f"\n\nengines play it with {made.report['morphs']} morph targets: no vertex is more than "
        f"{made.report['max_error_mm']:.2f} mm away from {made.deformer}."
    )
