"""Small made-up models with dynamics on the default body and on a tube, for tests."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from corporeal.assets.default_body import load_default_body
from corporeal.assets.smpl_view import smpl_template
from corporeal.body.dynamics import (
    DynamicBlendShapes,
    DynamicDeformations,
    Predictors,
    TriangleDynamics,
)
from corporeal.body.enveloping import DriverKind, EnvelopingModel, KeyedOffsets
from corporeal.body.neural_flesh import Experts, NeuralFlesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.triangle_model import TriangleModel
from corporeal.body.weights import SkinWeights
from corporeal.dynamics.control_vector import control_size, driving_joints, driving_names
from corporeal.dynamics.neural import network
from corporeal.dynamics.neural.ensemble import joined_members
from corporeal.dynamics.neural.experts import expert_parameters
from corporeal.dynamics.neural.person import PERSON_SIZE
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.blendscape.train import initial_model
from corporeal.models.enveloping.keys import driver_rotations
from corporeal.models.enveloping.regions import first_weights
from corporeal.models.enveloping.rig import EnvelopingRig


def small_predictors(
    skeleton: Skeleton,
    count: int = 3,
    people: int = 2,
    seed: int = 5,
    frequencies: tuple[float, float] = (3.0, 8.0),
    **changes: Any,
) -> Predictors:
    """Damped swings of some Hz, driven a little by everything; lighter people swing less."""
    random = np.random.default_rng(seed)
    if changes.get("controls") == "bones":
        changes = _of_bones(skeleton, count, people, random) | changes
    names = driving_joints(skeleton)
    size = control_size(len(names))
    scale = np.concatenate([np.full(size // 2 - 3, 1e-3), np.full(size // 2 - 3, 2e-5)])
    scale = np.concatenate([scale, np.full(3, 1e-2), np.full(3, 1e-3)])
    radius, angle = 0.9, 2 * np.pi * np.linspace(*frequencies, count) / 60
    history = np.stack([2 * radius * np.cos(angle), np.full(count, -(radius**2))])
    inputs = random.normal(size=(people, count, size)) * scale
    inputs *= np.linspace(0.5, 1.0, people)[:, None, None]
    given: dict[str, Any] = {
        "joint_names": names,
        "inputs": inputs,
        "history": np.broadcast_to(history, (people, 2, count)).copy(),
        "constants": np.zeros((people, count)),
        "body_mass_indices": np.linspace(20.0, 35.0, people),
        "limits": np.concatenate([np.full(size // 2 - 3, 20.0), np.full(size // 2 - 3, 1000.0),
                                  np.full(3, 6.0), np.full(3, 80.0)]),
    }  # fmt: skip
    return Predictors(**(given | changes))


def _of_bones(
    skeleton: Skeleton, count: int, people: int, random: np.random.Generator
) -> dict[str, Any]:
    """What differs where accelerations of bones drive."""
    names = driving_names(skeleton, "bones")
    size = control_size(len(names), "bones")
    scale = np.repeat([2e-3, 2e-4], size // 2)
    return {
        "joint_names": names,
        "inputs": random.normal(size=(people, count, size)) * scale,
        "limits": np.repeat([200.0, 1000.0], size // 2),
    }


def small_dmpl(template: Template, **changes: Any) -> DynamicBlendShapes:
    """Three bumps that swing."""
    vertices = np.asarray(template.mesh.vertices, np.float64)
    random = np.random.default_rng(3)
    centres = vertices[random.integers(len(vertices), size=3)]
    apart = np.linalg.norm(vertices[None] - centres[:, None], axis=-1)
    bumps = np.exp(-((apart / 0.15) ** 2))[..., None] * random.normal(size=(3, 1, 3))
    shapes = (bumps / np.sqrt((bumps**2).sum(axis=(1, 2), keepdims=True))).astype(np.float32)
    predictors = small_predictors(template.skeleton, **changes)
    return DynamicBlendShapes(shapes, np.zeros(shapes.shape[1:], np.float32), predictors)


def small_blendscape(template: Template, size: float = 0.02) -> TriangleModel:
    """The template's triangles with small random pose deformations and two shapes."""
    from dataclasses import replace

    first, random = initial_model(template), np.random.default_rng(11)
    count = len(first.triangles)
    return replace(
        first,
        pose_deformations=random.normal(scale=size, size=(count, 2, 3, 3, 3)),
        shape_deformations=random.normal(scale=0.02, size=(2, 1, 3, 3)) * np.ones((2, count, 1, 1)),
    )


def small_dyna(template: Template, **changes: Any) -> TriangleDynamics:
    """The same with three dynamic deformations."""
    body, random = small_blendscape(template), np.random.default_rng(12)
    count = len(body.triangles)
    bumps = random.normal(size=(3, 1, 3, 3)) * np.ones((3, count, 1, 1)) / np.sqrt(9 * count)
    dynamic = DynamicDeformations(
        bumps, np.zeros((count, 3, 3)), small_predictors(template.skeleton, **changes)
    )
    return TriangleDynamics(body, dynamic)


def small_neural(template: Template) -> NeuralFlesh:
    """A network with random weights that moves three bumps, and poses two of them."""
    shapes = np.asarray(small_dmpl(template).shapes)
    parameters = network.initial_parameters(
        2, PERSON_SIZE, 3, 2, width=16, oscillators=8, hidden=12
    )
    return NeuralFlesh(
        {name: np.asarray(value) for name, value in parameters.items()},
        0.05 * shapes,
        0.05 * shapes[:2],
        np.zeros(PERSON_SIZE),
        np.ones(PERSON_SIZE),
    )


def small_enveloping(template: Template) -> EnvelopingModel:
    """Two latent coordinates that fatten and stretch, and bumps at three key angles of the left
    elbow and hip; joints are SMPL's."""
    view = smpl_template(template) if template.skeleton.joint_count == 52 else template
    rig, random = EnvelopingRig.of(view.skeleton), np.random.default_rng(13)
    rest = np.asarray(view.mesh.vertices, np.float64)
    dense = np.asarray(view.weights.dense(), np.float64)
    weights, _ = first_weights(dense, rig, rest)
    dress = np.stack([rest, 0.02 * rest * [1, 0, 1], 0.02 * rest * [0, 1, 0]])
    bones = np.zeros((3, rig.layout.size))
    bones[0] = rig.layout.fit(np.asarray(view.skeleton.joints))
    drivers = []
    driving: tuple[tuple[str, DriverKind], ...] = (
        ("left_elbow", "swing"), ("left_elbow", "twist"), ("left_hip", "rotation"),
    )  # fmt: skip
    for name, kind in driving:
        joint = view.skeleton.index(name)
        turns = np.array([[0.0, 0, 0], [0.5, -0.9, 0], [-0.7, 0.2, 0]])
        if kind != "rotation":
            turns = driver_rotations(kind, matrix_from_axis_angle(turns), rig.axes[joint])
        keys = turns if kind != "rotation" else matrix_from_axis_angle(turns)
        near = np.linalg.norm(rest - np.asarray(view.skeleton.joints)[joint], axis=1)
        region = np.flatnonzero(near < 0.15)
        fade = np.exp(-((near[region] / 0.06) ** 2))[:, None]
        offsets = (fade * random.normal(0, 0.01, (3, 2, 1, 3))).astype(np.float32)
        drivers.append(KeyedOffsets(joint, kind, keys, region, offsets))
    return EnvelopingModel(
        np.asarray(view.mesh.triangles, np.int64), view.skeleton.names, view.skeleton.parents,
        np.asarray(view.skeleton.joints, np.float64), rig.helper_joints, rig.helper_shares,
        SkinWeights.from_dense(weights, 4), dress.astype(np.float32), bones, tuple(drivers), 0.2,
        random.normal(size=(6, 2)), np.linspace(1.5, 1.9, 6), np.linspace(50.0, 100.0, 6),
    )  # fmt: skip


@cache
def trained_for(name: str) -> Any:
    """A model for a deformer that needs one, on the default body; None for the others."""
    template = load_default_body().template
    makers = {
        "enveloping": small_enveloping,
        "blendscape": small_blendscape,
        "dyna": small_dyna,
        "dmpl": small_dmpl,
        "neural": small_neural,
    }
    return makers[name](template) if name in makers else None


def small_hybrid(template: Template) -> NeuralFlesh:
    """Two random networks without a part for poses, joined with the linear predictors of two
    people."""
    given = small_neural(template)
    count = len(given.dynamic_basis)
    skeleton = load_default_body().template.skeleton
    parts = []
    for seed in (0, 1):
        made = network.initial_parameters(
            seed, PERSON_SIZE, count, 0, width=12, oscillators=8, hidden=10
        )
        parts.append(made)
    share = np.linspace(0.2, 0.8, count)
    predictors = small_predictors(skeleton, count, controls="bones")
    predictors = replace(predictors, inputs=50 * np.asarray(predictors.inputs))
    parameters = joined_members(parts, 1 - share) | expert_parameters(
        predictors, np.array([[0.5, -0.2], [-0.3, 0.1]]), np.array([0.3, 0.2]), share
    )
    return NeuralFlesh(
        parameters, given.dynamic_basis, given.dynamic_basis[:0], given.person_mean,
        given.person_scale, Experts(np.array([21.0, 33.0]), np.array([0.0, 1.0]), 4.0, 0.03),
    )  # fmt: skip
