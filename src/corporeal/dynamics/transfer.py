"""Dynamics of one body put on another (Pons-Moll 2015, 6.4): S of the target + D of the source."""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.dynamics.blend_shapes import static_skinning
from corporeal.errors import InputError

NAME = "transferred"
"""What an animation with somebody else's dynamics calls its deformer."""


def transferred(
    source: Animation,
    offsets: Float[NumpyArray, "N V 3"],
    template: Template,
    identity: Identity,
    exaggeration: float = 1.0,
) -> Animation:
    """The source's motion on another body, with these rest-pose dynamics (metres) of the source.

    The body, a person or a stylised character, has the source's topology; its way is scaled by the
    height of its root over that of the source's.
    """
    count = template.mesh.vertex_count
    same = np.array_equal(template.mesh.triangles, source.template.mesh.triangles)
    if not same or offsets.shape[1] != count:
        raise InputError(
            f"the take has {offsets.shape[1]} vertices and the body {count}, or other triangles; "
            f"dynamics go from body to body of one topology. Register the character to the take's "
            f"topology first."
        )
    if not np.isfinite(exaggeration):
        raise InputError(f"exaggeration is {exaggeration}; expected a finite number.")
    static = static_skinning(template)
    motion = motion_for_body(source, static.template, identity)
    plain = static.animate(identity, motion)
    shown = exaggeration * np.asarray(offsets, np.float64)
    vertices = np.asarray(plain.vertices, np.float64).copy()
    frames = np.asarray(plain.world_from_joint, np.float64)[..., :3, :3]
    weights = static.template.weights
    for n in range(len(vertices)):
        turned = np.einsum("vkab,vb->vka", frames[n][weights.joint_indices], shown[n])
        vertices[n] += np.einsum("vk,vka->va", weights.values, turned)
    dtype = np.asarray(plain.vertices).dtype
    return replace(
        plain,
        deformer=NAME,
        vertices=vertices.astype(dtype),
        dynamic_offsets=shown.astype(dtype),
    )


def motion_for_body(source: Animation, template: Template, identity: Identity) -> Motion:
    """The source's poses on another body, its root's way scaled by leg length."""
    motion = source.motion
    if template.skeleton.names != motion.skeleton.names:
        raise InputError(
            f"the take moves {motion.skeleton.joint_count} joints and the body has "
            f"{template.skeleton.joint_count}; expected the same skeleton."
        )
    theirs = _root_height(source.identity)
    ratio = _root_height(identity) / theirs if theirs > 0 else 1.0
    joints = np.asarray(identity.joints)
    return Motion(
        motion.name,
        motion.fps,
        motion.joint_rotations,
        ratio * np.asarray(motion.root_translation),
        replace(template.skeleton, joints=joints),
    )


def _root_height(identity: Identity) -> float:
    rest = np.asarray(identity.rest_vertices, np.float64)
    return float(np.asarray(identity.joints)[0, 1] - rest[:, 1].min())
