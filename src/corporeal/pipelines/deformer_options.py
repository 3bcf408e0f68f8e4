"""The deformer that a run asks for, with painted maps and environment where it takes them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.deformer import Deformer, Traits
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.body.tissue_maps import TissueMaps
from corporeal.errors import FormatError, InputError
from corporeal.formats.npz import read_npy
from corporeal.pipelines.custom_mesh import CustomBody
from corporeal.pipelines.deformers import (
    deformer_class,
    deformers_where,
    in_words,
    make_deformer,
)
from corporeal.pipelines.options import AnimateOptions


def deformer_for(
    options: AnimateOptions,
    template: Template,
    own: CustomBody | None = None,
    layers: Layers | None = None,
) -> Deformer:
    """The deformer for bodies of `template`, which is the skin of `own` if there is one; `layers`
    are the person's, for a deformer that needs them."""
    traits = deformer_class(options.deformer)
    _require_taken(options, traits)
    if own is not None and not traits.accepts_custom_mesh:
        others = in_words(deformers_where(accepts_custom_mesh=True))
        raise InputError(
            f"deformer {options.deformer!r} moves the default body's topology alone; a custom mesh "
            f"came. Use --deformer {others}."
        )
    maps = environment = None
    if traits.accepts_maps:
        maps = _maps(options, template, own)
    if options.scene is not None:
        from corporeal.physics.fast_projective_skinning.environment_file import read_environment

        environment = read_environment(options.scene)
    local_weights = None
    if traits.accepts_local_weights:
        local_weights = painted_map(options.exaggeration_map, template, own)
    return make_deformer(
        options.deformer,
        template,
        options.device,
        maps=maps,
        environment=environment,
        layers=layers,
        trained=None if options.trained is None else read_trained(options),
        local_weights=local_weights,
    )


def read_trained(options: AnimateOptions) -> Any:
    """The trained model that a run names, read as its deformer's kind."""
    path = options.trained
    assert path is not None
    if options.deformer == "smpl":
        from corporeal.formats.smpl import read_shape_correctives, read_smpl

        if read_shape_correctives(path) is not None:
            raise InputError(
                f"{path} corrects by shape coefficients of its own people, which other bodies do "
                f"not have. Move those: corporeal animate --model {path.name} --shape 1.0,-0.5."
            )
        return read_smpl(path)
    if options.deformer == "dmpl":
        from corporeal.formats.dmpl import read_dmpl

        return read_dmpl(path)
    if options.deformer == "dyna":
        from corporeal.formats.dyna import read_dyna

        return read_dyna(path)
    if options.deformer == "neural":
        from corporeal.formats.neural import read_neural

        return read_neural(path)
    if options.deformer == "enveloping":
        from corporeal.formats.enveloping import read_enveloping

        return read_enveloping(path)
    from corporeal.formats.blendscape import read_blendscape

    return read_blendscape(path)


def _maps(options: AnimateOptions, template: Template, own: CustomBody | None) -> TissueMaps:
    """The painted factors that a run asks for."""
    stiffness = painted_map(options.stiffness_map, template, own)
    if options.soft:
        by_part = soft_parts(options.soft, template, own)
        stiffness = by_part if stiffness is None else by_part * stiffness
    return TissueMaps(stiffness, painted_map(options.mass_map, template, own))


def _require_taken(options: AnimateOptions, traits: type[Traits]) -> None:
    """Refuse flags that the deformer does not take."""
    asked = {
        "--soft": ("accepts_maps", bool(options.soft)),
        "--stiffness-map": ("accepts_maps", options.stiffness_map is not None),
        "--mass-map": ("accepts_maps", options.mass_map is not None),
        "--scene": ("accepts_environment", options.scene is not None),
        "--trained": ("accepts_trained", options.trained is not None),
    }
    for flag, (trait, given) in asked.items():
        if given and not getattr(traits, trait):
            raise InputError(
                f"{flag} came with the deformer {options.deformer!r}, which does not take it. Use "
                f"--deformer {in_words(deformers_where(**{trait: True}))}."
            )


def soft_parts(
    words: tuple[str, ...], template: Template, own: CustomBody | None = None
) -> Float64[NumpyArray, "V"]:
    """A factor a vertex from words such as `belly=0.5`; 1 for parts that are not named.

    Parts of a custom mesh are named by the joint that moves them most.
    """
    from corporeal.physics.tissue import part_factors

    factors: dict[str, float] = {}
    for word in words:
        name, _, text = word.partition("=")
        try:
            factors[name] = float(text)
        except ValueError:
            factors[name] = np.nan
        if not (np.isfinite(factors[name]) and factors[name] > 0):
            raise InputError(f"--soft {word}; expected a part and a factor, such as belly=0.5.")
    if own is not None:
        labels = template.weights.joint_indices[:, 0]
        template = replace(template, part_names=template.skeleton.names, part_labels=labels)
    return part_factors(template, factors)


def painted_map(
    path: Path | None, template: Template, own: CustomBody | None = None
) -> Float64[NumpyArray, "V"] | None:
    """Factors from a `.npy` file: one a vertex of the body, or of the user's custom mesh."""
    if path is None:
        return None
    values = read_numbers(path)
    count = template.mesh.vertex_count if own is None else len(own.skin_vertices)
    if values.shape != (count,):
        raise InputError(
            f"{path} holds numbers of shape {values.shape}; expected one a vertex, {count}."
        )
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(f"{path} holds factors that are not finite or not above 0.")
    return values if own is None else own.to_skin(values)


def read_numbers(path: Path) -> Float64[NumpyArray, "*shape"]:
    """The numbers of an `.npy` file."""
    try:
        return np.asarray(read_npy(path), np.float64)
    except FormatError as error:
        raise FormatError(
            f"{path} is no .npy file of numbers; write one with numpy.save. ({error})"
        ) from error
