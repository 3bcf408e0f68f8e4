"""`corporeal animate`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from corporeal.body.controls import ControlValue
from corporeal.cli.console import print_json, say, tell_batch
from corporeal.cli.control_flags import Flags, control_flags, deformer_help, given_controls
from corporeal.errors import InputError
from corporeal.pipelines.animate import NOTES, AnimateConfig, Animated, animate, is_animated
from corporeal.pipelines.controls import plain_controls
from corporeal.pipelines.deformers import deformer_names
from corporeal.pipelines.motion_source import is_motion_file, motions_named
from corporeal.pipelines.options import AnimateOptions
from corporeal.runtime.input_files import resolved
from corporeal.runtime.jobs import run_jobs
from corporeal.runtime.manifest import require_known, require_verb


@dataclass(frozen=True, kw_only=True)
class Animate(AnimateOptions):
    """Move a body, a person of a trained model, or a mesh of your own; write the moving surface.

    Examples:
      corporeal animate --body anna.npz --motion jumping-jacks --deformer dqs --out anna.npz
      corporeal animate --motion one-leg-jump --deformer projective --out jump.glb
      corporeal animate --body anna_layers.npz --motion one-leg-jump --deformer layered --out a.glb
      corporeal animate --motion jumping-jacks --duration 8 --out jumps.mp4
      corporeal animate --body anna.npz --motion clip.bvh --out anna.glb
      corporeal animate --body anna.npz ben.npz --motion jumping-jacks --out '{body}-{motion}.glb'
      corporeal animate --motion 'clips/*.bvh' --start 2 --duration 5 --fps 30 --out '{motion}.glb'
      corporeal animate --model my_smpl.npz --shape 2.0,-1.0 --motion walk.bvh --out walk.glb
      corporeal animate --body anna.npz --motion punching --deformer smpl --live --out anna.glb
      corporeal animate --mesh dragon.off --skeleton dragon.skel --motion flap.bvh --out dragon.glb

    The file's suffix decides what is written: .npz (everything; it still serves as a --body), .glb,
    .fbx, .usd (for engines), .abc, .pc2 (caches), .mp4, .gif, .png (eight moments), .bvh (the
    motion), or with --frame one surface as .obj, .ply, .off or .stl.
    To repeat a run, pass --config with its manifest; other flags then change what they name.
    """

    motion: tuple[str, ...]
    """Names of authored motions, motion files (.bvh, .fbx, .glb, .usd, AMASS or own .npz), folders
    of them, or patterns such as 'clips/*.bvh'."""
    out: Annotated[str, tyro.conf.arg(metavar="FILE")]
    """File to write; for several bodies or motions, a pattern with {body} and {motion} in it."""
    body: tuple[Path, ...] = ()
    """Body files; the average adult if none is given."""
    remembered: tyro.conf.Suppress[Mapping[str, ControlValue]] = field(default_factory=dict)
    """Controls of the manifest that is repeated."""
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Processes to use for several results; all cores by default."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="tcp://HOST:PORT")] = None
    """Dask cluster to use for several results instead of this machine."""
    json: bool = False
    """Print JSON on stdout for machines."""

    @classmethod
    def for_flags(cls, flags: Sequence[str]) -> "type[Animate]":
        """The verb as it can be told about the deformers that are there: with the controls' flags
        of all, or in the help of a named deformer its own alone."""
        named = _named_deformer(flags)
        asks = not {"-h", "--help"}.isdisjoint(flags)
        kind = control_flags(named, others=named is None or not asks)
        which = Annotated[str, tyro.conf.arg(help=deformer_help())]
        entries = [
            ("deformer", which, field(default=AnimateOptions.deformer)),
            ("controls", kind, field(default_factory=kind)),
        ]
        made = make_dataclass(cls.__name__, entries, bases=(cls,), frozen=True, kw_only=True)
        made.__doc__ = cls.__doc__
        return made

    @classmethod
    def from_manifest(cls, content: dict[str, Any]) -> "Animate":
        """The same run again, from its manifest."""
        require_verb(content, "animate")
        require_known(content, AnimateConfig)
        config = {k: _as_field(k, v) for k, v in content["config"].items() if v is not None}
        if "start" not in content["config"] and is_motion_file(str(config.get("motion"))):
            for only_authored in ("fps", "duration", "seed"):  # until 0.1 captures ignored them
                config.pop(only_authored, None)
        body = config.pop("body", None)
        return cls(
            motion=(config.pop("motion"),),
            body=() if body is None else (body,),
            remembered=config.pop("controls", {}),
            **config,
        )

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
        return tell_batch(report, as_json=self.json, notes=_notes)

    def _run_one(self, config: AnimateConfig) -> int:
        who = config.body or config.mesh or config.model or "the average adult"
        own = config.model is not None and config.deformer == AnimateOptions.deformer
        say(f"moving {who} through {config.motion}" + ("" if own else f" with {config.deformer}"))
        made = animate(config)
        for what, notes in zip((who, who, config.motion, config.motion), NOTES, strict=True):
            for note in made.report.get(notes, ()):
                say(f"{what}: {note}")
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
        self._require_one_kind_of_body()
        bodies: tuple[Path | None, ...] = self.body or (None,)
        motions = [found for motion in self.motion for found in motions_named(motion)]
        shared = {f.name: getattr(self, f.name) for f in fields(AnimateOptions)}
        controls = self._controls()
        configs: dict[str, AnimateConfig] = {}
        outs: set[str] = set()
        for body in bodies:
            for motion in motions:
                who = body or self.mesh or self.model
                names = {"body": who.stem if who else "average", "motion": Path(motion).stem}
                out = self.out.replace("{body}", names["body"]).replace("{motion}", names["motion"])
                outs.add(out)
                configs[f"{who or 'average'} × {motion}"] = AnimateConfig(
                    out=Path(out), motion=motion, body=body, controls=controls, **shared
                )
        wanted = len(bodies) * len(motions)
        if len(outs) < wanted:
            named = "one file" if len(outs) == 1 else f"{len(outs)} files"
            raise InputError(
                f"--out {self.out} names {named} for {wanted} results (bodies: {len(bodies)}, "
                f"motions: {len(motions)}); expected a file each. Put {{body}} and {{motion}} "
                f"into it, and give bodies and motions different names."
            )
        inputs = {resolved(body) for body in self.body}
        if len(configs) > 1 and any(resolved(config.out) in inputs for config in configs.values()):
            raise InputError(
                f"--out {self.out} would replace a body that other results need; choose another."
            )
        return configs

    def _controls(self) -> dict[str, ControlValue]:
        """What the deformer is told: the manifest's, if there is one, changed by flags."""
        flags: Flags = getattr(self, "controls", None)
        given = {} if flags is None else given_controls(flags)
        return plain_controls(self.deformer, {**self.remembered, **given})

    def _require_one_kind_of_body(self) -> None:
        given = [name for name in ("body", "mesh", "model") if getattr(self, name)]
        if len(given) > 1:
            raise InputError(f"--{given[0]} and --{given[1]} came together; expected one of them.")
        if self.shape and self.model is None:
            raise InputError("--shape came without --model; expected both, or sliders of a --body.")
        if self.skeleton is not None and self.mesh is None:
            raise InputError("--skeleton came without --mesh; expected both, or a --body.")


def _named_deformer(flags: Sequence[str]) -> str | None:
    """The deformer that flags name, if there is one by that name."""
    for place, flag in enumerate(flags):
        after = flags[place + 1] if place + 1 < len(flags) else ""
        name = after if flag == "--deformer" else flag.removeprefix("--deformer=")
        if name in deformer_names() and flag.startswith("--deformer"):
            return name
    return None


def _as_field(name: str, value: Any) -> Any:
    """A manifest's value, as the config has it: JSON knows neither paths nor tuples."""
    kinds = {f.name: f.type for f in fields(AnimateConfig)}
    if isinstance(value, list):
        return tuple(value)
    return Path(value) if isinstance(value, str) and kinds.get(name) == Path | None else value


def _absolute(config: AnimateConfig) -> AnimateConfig:
    """Paths that mean the same in every process."""
    paths = {
        f.name: resolved(value)
        for f in fields(config)
        if isinstance(value := getattr(config, f.name), Path)
    }
    return replace(config, **paths)


def _notes(made: Animated) -> list[str]:
    """What there is to tell about one of a batch, in words."""
    return [note for kind in NOTES for note in made.report.get(kind, ())]


def _baked(made: Animated) -> str:
    """What an engine character carries, where one was written."""
    if not made.report.get("morphs"):
        return ""
    report = made.report
    text = (
        f"\n\nengines play it with {report['morphs']} morph targets: "
        f"{report.get('within_1mm', 1.0):.2%} of the vertices are within 1 mm of "
        f"{made.deformer}, none more than {report['max_error_mm']:.2f} mm away."
    )
    if "bytes" in report:
        text += f"\n{report['bytes'] / 1e6:.1f} MB, read by {report['readers']}."
    return text
