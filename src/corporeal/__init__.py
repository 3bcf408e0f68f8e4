"""corporeal: an open foundry for digital human bodies whose flesh moves.

    import corporeal as cp

    anna = cp.make_body(gender="female", stature=1.70, mass=82)
    take = cp.animate(anna, "jumping-jacks", deformer="projective")
    cp.save(take, "anna.glb")

SI units, right-handed, y up, facing +z, radians. Every verb of the command line is a function here;
each is imported when it is first used, so that `import corporeal` is quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corporeal.api.bodies import make_body as make_body
    from corporeal.api.bodies import measure as measure
    from corporeal.api.bodies import reshape as reshape
    from corporeal.api.bodies import sample_people as sample_people
    from corporeal.api.files import convert as convert
    from corporeal.api.files import list_formats as list_formats
    from corporeal.api.files import load as load
    from corporeal.api.files import save as save
    from corporeal.api.inside import fit_anatomy as fit_anatomy
    from corporeal.api.inside import grow as grow
    from corporeal.api.inside import transfer_fat as transfer_fat
    from corporeal.api.learning import capture_people as capture_people
    from corporeal.api.learning import evaluate_models as evaluate_models
    from corporeal.api.learning import fit_skeleton as fit_skeleton
    from corporeal.api.learning import train_smpl as train_smpl
    from corporeal.api.moving import animate as animate
    from corporeal.api.moving import bake as bake
    from corporeal.api.moving import list_deformers as list_deformers
    from corporeal.api.moving import list_motions as list_motions
    from corporeal.api.moving import make_motion as make_motion
    from corporeal.api.moving import transfer_dynamics as transfer_dynamics
    from corporeal.api.scanning import fit_markers as fit_markers
    from corporeal.api.scanning import make_avatar as make_avatar
    from corporeal.api.scanning import register as register
    from corporeal.api.showing import show as show
    from corporeal.appearance.appearance import Appearance as Appearance
    from corporeal.body.animation import Animation as Animation
    from corporeal.body.body import Body as Body
    from corporeal.body.deformer import Deformer as Deformer
    from corporeal.body.deformer import Traits as Traits
    from corporeal.body.identity import Identity as Identity
    from corporeal.body.layered_body import LayeredBody as LayeredBody
    from corporeal.body.mesh import Mesh as Mesh
    from corporeal.body.motion import Motion as Motion
    from corporeal.body.pose import Pose as Pose
    from corporeal.body.registrations import Registrations as Registrations
    from corporeal.body.skeleton import Skeleton as Skeleton
    from corporeal.body.template import Template as Template
    from corporeal.errors import CorporealError as CorporealError

__version__ = "0.1.0"

_HOME = {
    # verbs
    "animate": "corporeal.api.moving",
    "bake": "corporeal.api.moving",
    "capture_people": "corporeal.api.learning",
    "convert": "corporeal.api.files",
    "evaluate_models": "corporeal.api.learning",
    "fit_anatomy": "corporeal.api.inside",
    "fit_markers": "corporeal.api.scanning",
    "fit_skeleton": "corporeal.api.learning",
    "grow": "corporeal.api.inside",
    "list_deformers": "corporeal.api.moving",
    "list_formats": "corporeal.api.files",
    "list_motions": "corporeal.api.moving",
    "load": "corporeal.api.files",
    "make_avatar": "corporeal.api.scanning",
    "make_body": "corporeal.api.bodies",
    "make_motion": "corporeal.api.moving",
    "measure": "corporeal.api.bodies",
    "register": "corporeal.api.scanning",
    "reshape": "corporeal.api.bodies",
    "sample_people": "corporeal.api.bodies",
    "save": "corporeal.api.files",
    "show": "corporeal.api.showing",
    "train_smpl": "corporeal.api.learning",
    "transfer_dynamics": "corporeal.api.moving",
    "transfer_fat": "corporeal.api.inside",
    # nouns
    "Animation": "corporeal.body.animation",
    "Appearance": "corporeal.appearance.appearance",
    "Body": "corporeal.body.body",
    "CorporealError": "corporeal.errors",
    "Deformer": "corporeal.body.deformer",
    "Identity": "corporeal.body.identity",
    "LayeredBody": "corporeal.body.layered_body",
    "Mesh": "corporeal.body.mesh",
    "Motion": "corporeal.body.motion",
    "Pose": "corporeal.body.pose",
    "Registrations": "corporeal.body.registrations",
    "Skeleton": "corporeal.body.skeleton",
    "Template": "corporeal.body.template",
    "Traits": "corporeal.body.deformer",
}
"""Public name → module that defines it; imported on first use, so that importing is quick."""

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'corporeal' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
