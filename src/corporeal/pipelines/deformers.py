"""The registry of deformers: those that ship here, and those that installed packages offer.

A package offers one through the entry-point group `corporeal.deformers`:

    [project.entry-points."corporeal.deformers"]
    bulge = "my_package.bulge:BulgeSkinning"

A built-in one is one line in `DEFORMERS`. Both are imported when they are asked for.
"""

import warnings
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from corporeal.assets.archive import package_data
from corporeal.body.controls import Controls
from corporeal.body.deformer import Deformer, StatefulDeformer, Traits
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.runtime.names import meant

DEFORMERS: dict[str, str] = {
    "lbs": "corporeal.skinning.linear:LinearBlendSkinning",
    "dqs": "corporeal.skinning.dual_quaternion:DualQuaternionSkinning",
    "smpl": "corporeal.models.smpl.shipped:SmplSkinning",
    "smpl-sparse": "corporeal.models.smpl.shipped:SparseSmplSkinning",
    "enveloping": "corporeal.models.enveloping.model:EnvelopingSkinning",
    "blendscape": "corporeal.models.blendscape.model:BlendScape",
    "dyna": "corporeal.dynamics.dyna.model:DynaSkinning",
    "dmpl": "corporeal.dynamics.dmpl.model:DmplSkinning",
    "neural": "corporeal.dynamics.neural.deformer:NeuralSkinning",
    "projective": "corporeal.physics.fast_projective_skinning.deformer:ProjectiveSkinning",
    "layered": "corporeal.anatomy.layered.deformer:LayeredSkinning",
}
"""Built-in ones: name → module and class."""
GROUP = "corporeal.deformers"
"""Entry-point group of the others."""


@cache
def offered_deformers() -> dict[str, Any]:
    """Deformers of installed packages, as entry points by name; a built-in name cannot be taken.

    The type is that of `importlib.metadata`, or of its backport where something has imported that:
    it then answers for the standard library as well.
    """
    offered: dict[str, Any] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in DEFORMERS or entry.name in offered:
            warnings.warn(
                f"the deformer {entry.name!r} of {_origin(entry)} is left out: the name is taken.",
                stacklevel=2,
            )
        else:
            offered[entry.name] = entry
    return offered


@cache
def deformer_names() -> tuple[str, ...]:
    """Every deformer that works here: built-in ones first. One that an installed package offers
    but that cannot be imported, or breaks the contract, is left out with a warning."""
    names = list(DEFORMERS)
    for name in offered_deformers():
        try:
            deformer_class(name)
        except InputError as error:
            warnings.warn(str(error), stacklevel=2)
        else:
            names.append(name)
    return tuple(names)


@cache
def deformer_class(name: str) -> type[Traits]:
    """The class of the deformer called `name`, checked against the contract."""
    if name in DEFORMERS:
        module, class_name = DEFORMERS[name].split(":")
        return getattr(import_module(module), class_name)
    if name not in offered_deformers():
        known = (*DEFORMERS, *offered_deformers())
        raise InputError(
            f"no deformer {name!r}; expected one of {', '.join(known)}.{meant(name, known)}"
        )
    entry = offered_deformers()[name]
    try:
        found = entry.load()
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"the deformer {name!r} of {_origin(entry)} cannot be imported ({error}). Mend or "
            f"remove the package."
        ) from error
    if problem := contract_problem(found, name):
        raise InputError(f"the deformer {name!r} of {_origin(entry)} {problem}")
    return found


def refresh_deformers() -> None:
    """Look again for what installed packages offer, such as one that came since."""
    for known in (offered_deformers, deformer_names, deformer_class):
        known.cache_clear()


def contract_problem(found: Any, name: str) -> str | None:
    """What a class that is to be the deformer `name` lacks, as the end of a sentence; None if it
    keeps the contract as far as a class can tell."""
    if not (isinstance(found, type) and issubclass(found, Traits)):
        return "is no class that inherits corporeal.body.deformer.Traits."
    if getattr(found, "name", None) != name:
        return f"calls itself {getattr(found, 'name', None)!r}; expected the entry point's name."
    if not callable(getattr(found, "animate", None)):
        return "has no method animate(identity, motion, controls)."
    if not (isinstance(found.Controls, type) and issubclass(found.Controls, Controls)):
        return "has Controls that do not inherit corporeal.body.controls.Controls."
    try:
        switches = {row.name for row in found.Controls.table() if row.kind == "switch"}
    except TypeError as error:
        return f"has Controls that cannot be read: {error}"
    if found.stateful and not callable(getattr(found, "stepper", None)):
        return "is stateful and has no method stepper(controls)."
    if found.stateful and "dynamics" not in switches:
        return "is stateful; its Controls need the switch `dynamics`, to be moved without memory."
    return None


def deformers_where(**traits: Any) -> tuple[str, ...]:
    """Names of the deformers whose traits have these values, such as `accepts_maps=True`."""
    return tuple(
        name
        for name in deformer_names()
        if all(getattr(deformer_class(name), trait) == value for trait, value in traits.items())
    )


def is_ready(name: str) -> bool:
    """Whether the deformer called `name` works as it is: it needs no trained model, or one
    ships."""
    if name not in DEFORMERS or not deformer_class(name).accepts_trained:
        return True
    return (package_data() / f"{name}.npz.xz").is_file()


def in_words(names: Iterable[str]) -> str:
    """`a, b or c`."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def require_place(name: str, device: str) -> None:
    """Refuse a device that is not there, or that the deformer cannot run on."""
    if device == "cpu":
        return
    from corporeal.runtime.devices import require_device

    found = require_device(device)
    if found.name != "cpu" and "gpu" not in deformer_class(name).devices:
        raise InputError(
            f"deformer {name!r} runs on the CPU; {found.name} ({found.description}) was asked for. "
            f"Leave --device out."
        )


def make_deformer(
    name: str,
    template: Template,
    device: str = "cpu",
    *,
    maps: Any = None,
    environment: Any = None,
    layers: Layers | None = None,
    trained: Any = None,
    local_weights: Any = None,
) -> Deformer:
    """The deformer called `name`, for bodies of `template`; it gets those of the others that its
    traits say it takes."""
    kind = deformer_class(name)
    taken: dict[str, Any] = {}
    if "gpu" in kind.devices:
        taken["device"] = device
    if kind.accepts_maps:
        taken["maps"] = maps
    if kind.accepts_environment:
        taken["environment"] = environment
    if kind.needs_layers:
        taken["layers"] = layers
    if kind.accepts_trained:
        taken["trained"] = trained
    if kind.accepts_local_weights:
        taken["local_weights"] = local_weights
    made = kind(template, **taken)  # pyright: ignore[reportCallIssue]
    assert isinstance(made, Deformer)
    return made


def make_stateful(name: str, template: Template, **taken: Any) -> StatefulDeformer:
    """The same for a deformer that is stateful."""
    made = make_deformer(name, template, **taken)
    if not isinstance(made, StatefulDeformer):
        raise InputError(
            f"deformer {name!r} has no memory; expected {in_words(deformers_where(stateful=True))}."
        )
    return made


def is_linear_blend(name: str) -> bool:
    """Whether takes of the deformer called `name` are plain linear blend skinning; False for
    names that are not known here, such as a trained model's."""
    known = name in DEFORMERS or name in offered_deformers()
    return known and deformer_class(name).is_linear_blend


def _origin(entry: Any) -> str:
    return f"the package {entry.dist.name!r}" if entry.dist is not None else "an installed package"
