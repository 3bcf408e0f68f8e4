"""Deformer `enveloping`: corrective enveloping whose corrections depend on who moves (Allen 2006).

A person of the model has its own dress shape, bones and offsets. Any other body of its surface
keeps its own shape and joints; its latent coordinates are those of the character whose dress shape
comes closest, and its corrections follow from them.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_enveloping import learned_enveloping
from corporeal.body import controls as body_controls
from corporeal.body.animation import Animation
from corporeal.body.character import ENGINE_INFLUENCES
from corporeal.body.controls import GivenControls, control
from corporeal.body.deformer import Traits, controls_for
from corporeal.body.enveloping import EnvelopingModel, coordinates
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.parameter import Parameter
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.models.enveloping.bones import BoneLayout
from corporeal.models.enveloping.posing import KeyTables, PosedCharacter
from corporeal.models.enveloping.rig import EnvelopingRig
from corporeal.models.smpl.embedding import BODY_JOINT_COUNT, SMPL_JOINTS, embedded_weights
from corporeal.skinning.linear import LinearBlendSkinning

SHAPE = "shape"
"""Name of the latent coordinates among an identity's parameters."""
LIKELY = 3.0
"""Standard deviations: latent coordinates of a body that was not made by the model stay within."""
_UNEXPLAINED = 0.01
"""Metres that a body's vertex may differ from all characters, as a standard deviation."""
_SPARSE = 37
"""One vertex in so many tells how likely a body is."""


@dataclass(frozen=True, kw_only=True)
class EnvelopingControls(body_controls.Controls):
    """How much the skin is corrected, and how much that depends on the person."""

    corrections: float = control(
        1.0, low=0.0, high=2.0, help="strength of pose corrections; 0 is plain blending"
    )
    individual: float = control(
        1.0, low=0.0, high=2.0, help="how far corrections follow the person; 0: the average one's"
    )


class EnvelopingSkinning(Traits):
    """Linear blending with twist helpers, and offsets at key angles that suit the person."""

    name = "enveloping"
    title = "Corrective enveloping"
    summary = "linear blending with twist joints and corrections at key angles that suit the person"
    references = ("allen2006correlated",)
    accepts_custom_mesh = False
    accepts_trained = True
    Controls: type[body_controls.Controls] = EnvelopingControls

    def __init__(self, template: Template, trained: EnvelopingModel | None = None) -> None:
        """`trained` is the model, the one that ships if None."""
        model = learned_enveloping() if trained is None else trained
        _require_fit(model, template)
        self.template, self.model = template, model
        layout = BoneLayout.of_size(
            model.joint_names, model.parents, np.asarray(model.layout_joints, np.float64),
            model.bones.shape[1],
        )  # fmt: skip
        self.rig = EnvelopingRig(layout, model.helper_joints, model.helper_shares)
        self.extended = _extended(model, self.rig, template)
        self.skinning = LinearBlendSkinning(self.extended)
        self.tables = KeyTables(model, self.rig)
        self._plain = LinearBlendSkinning(template)
        self._posed: WeakKeyDictionary[Identity, dict[tuple, PosedCharacter]] = WeakKeyDictionary()
        self._latents: WeakKeyDictionary[Identity, NumpyArray] = WeakKeyDictionary()
        self.parameters: tuple[Parameter, ...] = (
            Parameter(
                SHAPE, -5.0, 5.0, 0.0, "latent coordinates of people", size=model.latent_count
            ),
        )

    def prepare(self, x: Float[NumpyArray, "s"] | None = None) -> Identity:
        """The person with these latent coordinates; those not given are 0."""
        count = self.model.latent_count
        given = np.zeros(0) if x is None else np.asarray(x, np.float64)
        if len(given) > count:
            raise InputError(
                f"{len(given)} latent coordinates came; the model has {count}. Leave out the last."
            )
        whole = np.zeros(count)
        whole[: len(given)] = given
        y = coordinates(whole)
        rest = np.tensordot(y, np.asarray(self.model.dress, np.float64), axes=1)
        joints = self.rig.layout.joints_of(y @ np.asarray(self.model.bones, np.float64))
        return Identity(rest, self._with_fingers(joints, rest), {SHAPE: whole})

    def _with_fingers(self, joints: NumpyArray, rest: NumpyArray) -> NumpyArray:
        if self.template.skeleton.joint_count == len(joints):
            return joints
        fingers = np.asarray(load_default_body().joint_regressor[BODY_JOINT_COUNT:], np.float64)
        fingers = fingers / fingers.sum(axis=1, keepdims=True)
        return np.concatenate([joints[:BODY_JOINT_COUNT], fingers @ rest])

    def latents(self, identity: Identity) -> Float64[NumpyArray, "s"]:
        """x of an identity: those that made it, or those of the most likely character whose dress
        shape is close to its rest shape; found once."""
        if identity not in self._latents:
            made = identity.parameters.get(SHAPE)
            own = made is not None and np.shape(made) == (self.model.latent_count,)
            found = np.asarray(made, np.float64) if own else self._closest(identity)
            self._latents[identity] = found
        return self._latents[identity]

    def _closest(self, identity: Identity) -> Float64[NumpyArray, "s"]:
        rest = np.asarray(identity.rest_vertices, np.float64)
        root = np.asarray(identity.joints, np.float64)[0]
        dress = np.asarray(self.model.dress, np.float64)
        mean = dress[0] - np.asarray(self.model.layout_joints, np.float64)[0]
        gap = (rest - root - mean).reshape(-1)
        rows = dress[1:].reshape(len(dress) - 1, -1)
        # neighbours say the same, so that a vertex in 37 counts
        scale = 1 / (_SPARSE * _UNEXPLAINED**2)
        normal = scale * rows @ rows.T + np.eye(len(rows))
        found = np.linalg.solve(normal, scale * rows @ gap)
        return np.clip(found, -LIKELY, LIKELY)

    def offsets_of(
        self, x: Float[NumpyArray, "s"], individual: float = 1.0
    ) -> list[tuple[NumpyArray, NumpyArray]]:
        """Region and offsets (k v 3) of every driver, for a person."""
        y = coordinates(individual * np.asarray(x, np.float64))
        return [
            (d.region, np.tensordot(y[: len(d.offsets)], d.offsets, axes=1))
            for d in self.model.corrections
        ]

    def vertices(
        self,
        identity: Identity,
        pose: Pose,
        out: NumpyArray | None = None,
        controls: GivenControls = None,
    ) -> Float[NumpyArray, "*batch V 3"]:
        """Posed skin, metres; `out` is a contiguous array of the result's shape to write to."""
        told = controls_for(self.name, EnvelopingControls, controls)
        self._plain.require_fit(identity, pose)
        skin = self._prepared(identity, np.asarray(pose.joint_rotations).dtype, told.individual)
        return skin.vertices(pose, told.corrections, out)

    def animate(
        self, identity: Identity, motion: Motion, controls: GivenControls = None
    ) -> Animation:
        """Pose the identity by every frame of the motion."""
        return Animation(
            deformer=self.name,
            template=self.template,
            identity=identity,
            motion=motion,
            vertices=self.vertices(identity, motion.poses, controls=controls),
            world_from_joint=self._plain.world_from_joint(identity, motion.poses),
        )

    def _prepared(self, identity: Identity, dtype: np.dtype, individual: float) -> PosedCharacter:
        key = (np.dtype(dtype), individual)
        kept = self._posed.setdefault(identity, {})
        if key not in kept:
            joints = np.asarray(identity.joints, np.float64)
            corrections = self.offsets_of(self.latents(identity), individual)
            kept[key] = PosedCharacter(
                self.tables, self.rig, self.skinning.template_blocks(key[0]),
                np.asarray(identity.rest_vertices),
                np.concatenate([joints, joints[self.rig.helper_joints]]),
                self.extended.skeleton.parents, corrections, self.rig.helper_joints,
            )  # fmt: skip
        return kept[key]


def _require_fit(model: EnvelopingModel, template: Template) -> None:
    if not np.array_equal(template.mesh.triangles, model.triangles):
        raise InputError(
            f"deformer 'enveloping' has learned to move a surface of {model.vertex_count} "
            f"vertices; a mesh of {template.mesh.vertex_count} came, or the same one in another "
            f"order. Train a model on registrations of it (corporeal train enveloping), or use "
            f"--deformer lbs."
        )
    names, own = template.skeleton.names, model.joint_names
    if names != own and names[:BODY_JOINT_COUNT] != own[:BODY_JOINT_COUNT]:
        raise InputError(
            f"the enveloping model has the joints {', '.join(own[:3])} … and the body "
            f"{', '.join(names[:3])} …; expected the same ones."
        )


def _extended(model: EnvelopingModel, rig: EnvelopingRig, template: Template) -> Template:
    """The template with helper joints after its own, and the learned weights."""
    skeleton, count = template.skeleton, rig.joint_count
    learned = np.asarray(model.weights.dense(), np.float64)
    merged = learned[:, :count].copy()
    for place, joint in enumerate(rig.helper_joints.tolist()):
        merged[:, joint] += learned[:, count + place]
    own = merged
    if skeleton.joint_count != count:
        assert count == SMPL_JOINTS
        four = SkinWeights.from_dense(merged, merged.shape[1])
        own = np.asarray(embedded_weights(four, load_default_body().template).dense(), np.float64)
    helpers = np.zeros((len(own), len(rig.helper_joints)))
    for place, joint in enumerate(rig.helper_joints.tolist()):
        whole = np.maximum(merged[:, joint], 1e-12)
        helpers[:, place] = own[:, joint] * learned[:, count + place] / whole
    for joint in set(rig.helper_joints.tolist()):
        whole = np.maximum(merged[:, joint], 1e-12)
        own[:, joint] = own[:, joint] * learned[:, joint] / whole
    dense = np.concatenate([own, helpers], axis=1)
    names = skeleton.names + rig.names[count:]
    parents = skeleton.parents + rig.parents[count:]
    joints = np.asarray(skeleton.joints)
    places = np.concatenate([joints, joints[rig.helper_joints]])
    return Template(
        template.mesh,
        Skeleton(names, parents, places),
        SkinWeights.from_dense(dense / dense.sum(axis=1, keepdims=True), ENGINE_INFLUENCES),
        template.part_names,
        template.part_labels,
    )
