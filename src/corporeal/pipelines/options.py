"""What a run of `animate` may be told: one list of fields, for configs and flags alike."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corporeal.motions.incoming import IncomingOptions
from corporeal.pipelines.light_character import LightOptions
from corporeal.pipelines.presentation import LookOptions
from corporeal.pipelines.smpl_models import model_file


@dataclass(frozen=True, kw_only=True)
class MotionOptions:
    """How a motion is authored, or read."""

    fps: float | None = None
    """Frames a second: of an authored motion 60 by default; a capture keeps its own, and is
    resampled to another."""
    start: float | None = None
    """Second of the motion at which to begin."""
    end: float | None = None
    """Second of the motion at which to end."""
    duration: float | None = None
    """Seconds to play: of an authored motion 4 by default, of a capture all."""
    seed: int | None = None
    """Draws tempo, size and style of an authored motion; 0 by default."""
    a_pose: bool = False
    """Start an authored motion in an A-pose."""
    girdle: bool = True
    """Whether collar bones go with the arms, by the scapulohumeral rhythm; those that a captured
    motion moves itself stay as captured."""
    raw: bool = False
    """Leave a captured motion untouched: no scaling, no planted feet, no ground, no girdle."""
    name_map: Path | None = None
    """JSON map from the body's joints to a captured motion's; found from the names unless given."""
    unit: str = "auto"
    """Unit of a capture: m, cm, mm, in, cmu; taken from the skeleton's size by default."""
    up: str = "auto"
    """Upward axis of a capture, such as +z; found from the motion by default."""
    front: str = "auto"
    """Axis of a capture that becomes +z; by default +z with y up and -y with z up."""
    first_frame: Literal["auto", "keep", "drop"] = "auto"
    """First frame of a BVH file, often an added T-pose: drop it, keep it, or find out."""

    def incoming(self) -> IncomingOptions:
        """What a reader of motion files wants to know."""
        return IncomingOptions(
            girdle=self.girdle,
            raw=self.raw,
            name_map=self.name_map,
            unit=self.unit,
            up=self.up,
            front=self.front,
            first_frame=self.first_frame,
        )


@dataclass(frozen=True, kw_only=True)
class MeshOptions:
    """A mesh of the user's own instead of a body, and what its file does not say."""

    mesh: Path | None = None
    """Custom mesh to animate instead of a body: .obj, .ply, .off, .stl, .glb, .fbx or .usd."""
    skeleton: Path | None = None
    """Its skeleton: .skel, .json, .bvh, .glb, .fbx or .usd; a rigged mesh holds it."""
    component: Literal["auto", "largest", "all"] = "auto"
    """Connected parts of a custom mesh that are flesh: those that hold the skeleton, the largest,
    or all of them; the others follow the skin."""
    mesh_unit: str = "auto"
    """Unit of a custom mesh: m, cm, mm, in; taken from its size by default."""
    mesh_up: str = "+y"
    """Upward axis of a custom mesh and its skeleton."""
    mesh_front: str = "+z"
    """Axis that a custom mesh and its skeleton face."""


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """A person of a trained body model instead of a body."""

    model: Path | None = None
    """Trained body model (.npz or .pkl with SMPL's keys, or an .npz of train enveloping; smpl,
    smpl-sparse and enveloping ship with the package), which makes the person and moves it, unless
    another deformer is named."""
    shape: str = ""
    """Shape coefficients of the model's person, with commas, such as 2.0,-1.0."""
    live: bool = False
    """Write pose correctives as morph targets for any pose, with scripts that drive them in
    Blender, three.js and Unity, instead of baking the take."""


@dataclass(frozen=True, kw_only=True)
class AnimateOptions(LightOptions, LookOptions, ModelOptions, MeshOptions, MotionOptions):
    """All that several animations of one batch share."""

    deformer: str = "lbs"
    """How the skin follows the joints."""
    device: str = "cpu"
    """What computes: cpu, gpu or gpu:N; asking for one that is not there is an error."""
    frame: int | None = None
    """The one frame to write, for files that hold one surface; negative ones count from the end."""
    soft: tuple[str, ...] = ()
    """Stiffness factors by body part (of a custom mesh: by joint), such as belly=0.5 thigh=0.7."""
    stiffness_map: Path | None = None
    """Painted stiffness factors, one a vertex (.npy)."""
    mass_map: Path | None = None
    """Painted density factors, one a vertex (.npy)."""
    exaggeration_map: Path | None = None
    """Painted factors of how far the skin goes from plain skinning, one a vertex (.npy)."""
    trained: Path | None = None
    """Trained model of the deformer (.npz): smpl, enveloping, blendscape, dyna, dmpl or neural; the
    one that ships unless given."""
    scene: Path | None = None
    """Colliders and wind around the body (.json); see the documentation of the command line."""

    def input_files(self) -> tuple[Path | None, ...]:
        """Files that the run reads, where they are given."""
        return (
            model_file(self.model),
            self.mesh,
            self.skeleton,
            self.name_map,
            self.stiffness_map,
            self.mass_map,
            self.exaggeration_map,
            self.trained,
            self.scene,
            *self.look_files(),
        )
