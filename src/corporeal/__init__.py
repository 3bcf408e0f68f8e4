"""corporeal: an open foundry for digital human bodies whose flesh moves."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corporeal.body.animation import Animation as Animation
    from corporeal.body.deformer import Deformer as Deformer
    from corporeal.body.identity import Identity as Identity
    from corporeal.body.mesh import Mesh as Mesh
    from corporeal.body.motion import Motion as Motion
    from corporeal.body.pose import Pose as Pose
    from corporeal.body.skeleton import Skeleton as Skeleton
    from corporeal.body.template import Template as Template
    from corporeal.errors import CorporealError as CorporealError

__version__ = "0.1.0"

_HOME = {
    "Animation": "corporeal.body.animation",
    "Deformer": "corporeal.body.deformer",
    "Identity": "corporeal.body.identity",
    "Mesh": "corporeal.body.mesh",
    "Motion": "corporeal.body.motion",
    "Pose": "corporeal.body.pose",
    "Skeleton": "corporeal.body.skeleton",
    "Template": "corporeal.body.template",
    "CorporealError": "corporeal.errors",
}
"""Public name → module that defines it; imported on first use, so that importing is quick."""

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'corporeal' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
