"""The deformer that a run asks for, with painted maps and environment where it takes them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.deformer import Deformer
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.errors import FormatError, InputError
from corporeal.pipelines.custom_mesh import CustomBody
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.layered_body import LAYERED
from corporeal.pipelines.options import AnimateOptions
from corporeal.runtime.input_files import reading

_FLESHED = "projective"


def deformer_for(
    options: AnimateOptions, template: Template, own: CustomBody | None = None
) -> Deformer:
    """The deformer for bodies of `template`, which is the skin of `own` if there is one."""
    if options.deformer != _FLESHED:
        _require_no_maps(options)
        if options.deformer == LAYERED and own is not None:
            raise InputError(
                f"deformer {LAYERED!r} moves the layers of the default body's topology; an own "
                f"mesh came. Use --deformer {_FLESHED}."
            )
        return make_deformer(options.deformer, template)
    from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning

    return _fleshed(partial(ProjectiveSkinning, template), options, template, own)


def layered_deformer(options: AnimateOptions, template: Template, layers: Layers) -> Deformer:
    """The deformer that moves `layers`."""
    from corporeal.anatomy.layered.deformer import LayeredSkinning

    return _fleshed(partial(LayeredSkinning, template, layers), options, template)


def _fleshed(
    make: Callable[..., Deformer],
    options: AnimateOptions,
    template: Template,
    own: CustomBody | None = None,
) -> Deformer:
    """A deformer of flesh with the maps, the environment and the device that a run asks for."""
    from corporeal.physics.fast_projective_skinning.environment_file import read_environment
    from corporeal.physics.fast_projective_skinning.preparation import Maps

    stiffness = painted_map(options.stiffness_map, template, own)
    if options.soft:
        by_part = soft_parts(options.soft, template, own)
        stiffness = by_part if stiffness is None else by_part * stiffness
    environment = None if options.scene is None else read_environment(options.scene)
    maps = Maps(stiffness, painted_map(options.mass_map, template, own))
    return make(maps=maps, environment=environment, device=options.device)


def _require_no_maps(options: AnimateOptions) -> None:
    """Refuse flags of projective flesh for deformers that do not take them."""
    asked = {
        "--soft": bool(options.soft),
        "--stiffness-map": options.stiffness_map is not None,
        "--mass-map": options.mass_map is not None,
        "--scene": options.scene is not None,
    }
    if any(asked.values()):
        first = next(flag for flag, given in asked.items() if given)
        raise InputError(
            f"{first} came with the deformer {options.deformer!r}, which does not take it. Use "
            f"--deformer {_FLESHED}."
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
    values = _read_numbers(path)
    count = template.mesh.vertex_count if own is None else len(own.skin_vertices)
    if values.shape != (count,):
        raise InputError(
            f"{path} holds numbers of shape {values.shape}; expected one a vertex, {count}."
        )
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(f"{path} holds factors that are not finite or not above 0.")
    return values if own is None else own.to_skin(values)


def _read_numbers(path: Path) -> Float64[NumpyArray, "*shape"]:
    try:
        with reading(path):
            return np.asarray(np.load(path, allow_pickle=False), np.float64)
    except (ValueError, TypeError) as error:
        raise FormatError(
            f"{path} is no .npy file of numbers; write one with numpy.save."
        ) from error
