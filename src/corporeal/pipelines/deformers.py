"""The list of deformers: a new one is one folder and one line here."""

from importlib import import_module

from corporeal.body.deformer import Deformer
from corporeal.body.template import Template
from corporeal.errors import InputError

DEFORMERS: dict[str, str] = {
    "lbs": "corporeal.skinning.linear:LinearBlendSkinning",
    "dqs": "corporeal.skinning.dual_quaternion:DualQuaternionSkinning",
    "smpl": "corporeal.models.smpl.shipped:SmplSkinning",
    "smpl-sparse": "corporeal.models.smpl.shipped:SparseSmplSkinning",
    "projective": "corporeal.physics.fast_projective_skinning.deformer:ProjectiveSkinning",
    "layered": "corporeal.anatomy.layered.deformer:LayeredSkinning",
}
"""Name → module and class; imported when asked for."""

ON_GPU = frozenset({"projective", "layered"})
"""Deformers that a GPU can run from here."""


def deformer_class(name: str) -> type:
    """The class of the deformer called `name`."""
    if name not in DEFORMERS:
        raise InputError(f"no deformer {name!r}; expected one of {', '.join(DEFORMERS)}.")
    module, class_name = DEFORMERS[name].split(":")
    return getattr(import_module(module), class_name)


def require_place(name: str, device: str) -> None:
    """Refuse a device that is not there, or that the deformer cannot run on."""
    if device == "cpu":
        return
    from corporeal.runtime.devices import require_device

    found = require_device(device)
    if found.name != "cpu" and name not in ON_GPU:
        raise InputError(
            f"deformer {name!r} runs on the CPU; {found.name} ({found.description}) was asked for. "
            f"Leave --device out."
        )


def make_deformer(name: str, template: Template, device: str = "cpu") -> Deformer:
    """The deformer called `name`, for bodies of `template`, on `device` where it can be there."""
    made = deformer_class(name)
    return made(template, device=device) if name in ON_GPU else made(template)
