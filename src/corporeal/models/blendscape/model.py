"""Deformer `blendscape`: triangles deformed by person and pose, turned with blended rotations and
stitched to a surface (Pons-Moll 2015, 3.3; Hirshberg 2012)."""

from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.assets.learned_blendscape import learned_blendscape
from corporeal.body.animation import Animation
from corporeal.body.controls import GivenControls
from corporeal.body.deformer import Traits, controls_for
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.body.triangle_model import TriangleModel
from corporeal.errors import InputError
from corporeal.models.blendscape.stitching import Stitching
from corporeal.models.blendscape.triangles import DeformedTriangles, world_rotations
from corporeal.skinning.linear import LinearBlendSkinning

_HOLD = 1e3
"""λ of anchors, of the square of an edge."""


class BlendScape(Traits):
    """Any body of the model's surface: it keeps its own shape and joints, the model's learned pose
    deformations move it.

    Blended rotations leave out how weights change along the skin, so stitched edges do not say
    where a limb is: with the root pinned alone, as in the paper, limbs drift by centimetres. So
    every joint's own flesh is held where linear blending has its mean, unless `anchored` is off.
    """

    name = "blendscape"
    title = "BlendSCAPE"
    summary = "triangles deformed by person and pose, turned by blended rotations and stitched"
    references = ("hirshberg2012coregistration", "ponsmoll2015dyna")
    accepts_custom_mesh = False
    accepts_trained = True

    def __init__(
        self, template: Template, trained: TriangleModel | None = None, anchored: bool = True
    ) -> None:
        """`trained` is the model, the one that ships if None; `anchored` holds limbs in place."""
        model = learned_blendscape() if trained is None else trained
        if not np.array_equal(template.mesh.triangles, model.triangles):
            raise InputError(
                f"the BlendSCAPE model has {len(model.triangles)} triangles and the body "
                f"{len(template.mesh.triangles)}, or the same ones in another order; expected one "
                f"topology. Train a model on registrations of this body."
            )
        if tuple(template.skeleton.names) != tuple(model.joint_names):
            raise InputError(
                f"the BlendSCAPE model has {len(model.joint_names)} joints and the body "
                f"{template.skeleton.joint_count}; expected the same ones."
            )
        self.template, self.model = template, model
        self.triangles = DeformedTriangles(model)
        self.stitching = Stitching(model.triangles, model.pin)
        self._skeleton = LinearBlendSkinning(template)
        self._anchors = self.stitching.anchors(_own_means(template), _HOLD) if anchored else None
        self._shapes: WeakKeyDictionary[Identity, NumpyArray] = WeakKeyDictionary()
        self._arms: WeakKeyDictionary[Identity, tuple[NumpyArray, NumpyArray]] = WeakKeyDictionary()

    def shape(self, identity: Identity) -> Float64[NumpyArray, "F 3 3"]:
        """S_t of a person's own rest skin; found once."""
        if identity not in self._shapes:
            self._shapes[identity] = self.triangles.shape_of(np.asarray(identity.rest_vertices))
        return self._shapes[identity]

    def prepare(self, betas: Float[NumpyArray, "s"]) -> Identity:
        """The person with these shape coefficients, its root part where the template's is.

        Joints are those of the template, moved by what the shape does to the skin around them.
        """
        edges = np.swapaxes(self.triangles.person(betas) @ self.triangles.template_edges, -1, -2)
        template = np.asarray(self.model.template_vertices, np.float64)
        rest = self.stitching.vertices(edges[None], self.stitching.pinned_place(template[None]))[0]
        weights = self.template.weights.dense()
        near = weights**2 / np.maximum((weights**2).sum(axis=0), 1e-12)
        joints = np.asarray(self.template.skeleton.joints, np.float64) + near.T @ (rest - template)
        return Identity(rest, joints, {"shape": np.asarray(betas, np.float64)})

    def require_fit(self, identity: Identity, pose: Pose) -> None:
        """Raise `InputError` unless identity and pose are of the template."""
        self._skeleton.require_fit(identity, pose)

    def vertices(
        self,
        identity: Identity,
        poses: Pose,
        dynamic: Float[NumpyArray, "N F 3 3"] | None = None,
        arms: Float[NumpyArray, "N A J 3"] | None = None,
    ) -> Float[NumpyArray, "N V 3"]:
        """Posed skin of N poses, metres; `dynamic` is D of every frame, added to S (eq. 18).

        `arms` are what D moves of the anchors' means in the rest pose (`arms`): every joint's flesh
        is then held where linear blending carries that, too. Stitching is linear, so that a body
        and its dynamics are stitched at once.
        """
        self.require_fit(identity, poses)
        turns = np.asarray(poses.joint_rotations, np.float64)
        world = world_rotations(turns, self.template.skeleton.parents)
        shape = self.shape(identity)
        edges = np.empty((len(turns), len(self.model.triangles), 2, 3))
        for n, (rotations, turn) in enumerate(zip(world, turns, strict=True)):
            total = shape if dynamic is None else shape + dynamic[n]
            edges[n] = self.triangles.edges(rotations, turn, total)
        if self._anchors is None:
            pin = self.stitching.pin[None]
            places = self._places(identity, poses, world, pin)[:, 0]
            found = self.stitching.vertices(edges, places)
        else:
            places = self._places(identity, poses, world, self._anchors.means)
            if arms is not None:
                places = places + np.einsum("njab,nmjb->nma", world, arms, optimize=True)
            found = self.stitching.anchored(edges, self._anchors, places)
        return found.astype(np.asarray(poses.joint_rotations).dtype)

    def rest_offsets(self, dynamic: Float[NumpyArray, "n F 3 3"]) -> Float64[NumpyArray, "n V 3"]:
        """What deformations D do in the rest pose, metres; head, hands and feet, which hardly
        swing, stay in the mean."""
        edges = np.swapaxes(np.asarray(dynamic) @ self.triangles.template_edges, -1, -2)
        found = self.stitching.vertices(edges, np.zeros((len(edges), 3)))
        return found - np.einsum("v,nvc->nc", self._ends, found)[:, None]

    def arms(self, offsets: Float[NumpyArray, "n V 3"]) -> Float64[NumpyArray, "n A J 3"]:
        """Σ_v p_v w_vk d_v of rest-pose offsets: what each joint carries of every anchor's mean."""
        assert self._anchors is not None
        weights = csr_array(np.asarray(self.template.weights.dense(), np.float64)).T
        means = np.asarray(self._anchors.means)
        return np.stack(
            [
                np.stack([(weights @ (means * row[:, c]).T).T for c in range(3)], axis=-1)
                for row in np.asarray(offsets, np.float64)
            ]
        )

    @cached_property
    def _ends(self) -> Float64[NumpyArray, "V"]:
        """Mean of the skin of head, hands and feet; of all skin where there are none."""
        names = self.template.skeleton.names
        ends = ("head", "wrist", "ankle")
        kept = [
            n for n, name in enumerate(names) if (name.partition("_")[2] or name).startswith(ends)
        ]
        weights = np.asarray(self.template.weights.dense(), np.float64)
        total = weights[:, kept].sum(axis=1) if kept else np.ones(len(weights))
        return total / total.sum()

    def animate(
        self, identity: Identity, motion: Motion, controls: GivenControls = None
    ) -> Animation:
        """Pose the identity by every frame of the motion; there are no controls."""
        controls_for(self.name, self.Controls, controls)
        return Animation(
            deformer=self.name,
            template=self.template,
            identity=identity,
            motion=motion,
            vertices=self.vertices(identity, motion.poses),
            world_from_joint=self.world_from_joint(identity, motion.poses),
        )

    def world_from_joint(self, identity: Identity, poses: Pose) -> Float[NumpyArray, "N J 4 4"]:
        """Rigid frame of every posed joint."""
        return np.asarray(self._skeleton.world_from_joint(identity, poses))

    def _places(
        self,
        identity: Identity,
        poses: Pose,
        world: Float64[NumpyArray, "N J 3 3"],
        means: Float64[NumpyArray, "A V"],
    ) -> Float64[NumpyArray, "N A 3"]:
        """Where linear blending has weighted means p of vertices: Σ_k Q_k Σ_v p_v w_vk (r_v − j_k)
        + g_k m_k."""
        frames = np.asarray(self._skeleton.world_from_joint(identity, poses), np.float64)
        if identity not in self._arms:
            self._arms[identity] = self._arms_of(identity, means)
        mass, arms = self._arms[identity]
        moved = np.einsum("njab,mjb->nma", world, arms, optimize=True)
        return moved + np.einsum("nja,mj->nma", frames[..., :3, 3], mass, optimize=True)

    def _arms_of(
        self, identity: Identity, means: Float64[NumpyArray, "A V"]
    ) -> tuple[Float64[NumpyArray, "A J"], Float64[NumpyArray, "A J 3"]]:
        """What each joint carries of weighted means: Σ_v p_v w_vk, and from the joint on
        Σ_v p_v w_vk (r_v − j_k); once a person."""
        weights = np.asarray(self.template.weights.dense(), np.float64)
        rest = np.asarray(identity.rest_vertices, np.float64)
        mass = means @ weights
        moment = np.stack([means @ (weights * rest[:, c : c + 1]) for c in range(3)], axis=-1)
        return mass, moment - mass[..., None] * np.asarray(identity.joints, np.float64)


def _own_means(template: Template) -> Float64[NumpyArray, "A V"]:
    """Means of the skin that each joint moves, by squared weights; none of joints without skin."""
    square = np.asarray(template.weights.dense(), np.float64) ** 2
    total = square.sum(axis=0)
    kept = total > 1e-3 * total.max()
    return np.ascontiguousarray((square[:, kept] / total[kept]).T)
