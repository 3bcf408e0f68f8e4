"""The deformer `layered`: fat and muscle over a skeleton that moves bone by bone."""

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Array, Float64, NumpyArray
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.layered.bone_motion import bone_weights, held_by_bone
from corporeal.anatomy.layered.flesh import LayeredFlesh, layered_flesh
from corporeal.anatomy.template import layered_template
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.body.parameter import Parameter
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.motions.resample import sampled
from corporeal.physics.projective.simulation import require_identity
from corporeal.physics.projective_dynamics.integration import State, StepRule, resting
from corporeal.physics.projective_dynamics.solver import Solver
from corporeal.skinning.kinematics import forward_kinematics, rest_to_world

LARGEST_STEP = 1 / 120
"""Seconds."""
CONTROLS = (
    Parameter("stiffness", 1e3, 1e6, 12e3, "Young's modulus of fat", "Pa"),
    Parameter("muscle", 1.0, 100.0, 3.0, "how many times stiffer muscle is than fat"),
    Parameter("damping", 0.0, 1e3, 10.0, "drag of flesh against its bone", "1/s"),
    Parameter("gravity", 0.0, 100.0, 9.81, "downward pull; the rest shape is in balance", "m/s²"),
    Parameter("iterations", 1.0, 1000.0, 5.0, "local-global iterations a step of 1/120 s"),
    Parameter("sliding", 0.0, 1.0, 1.0, "1: the bone surface stretches at joints; 0: it is held"),
    Parameter("dynamics", 0.0, 1.0, 1.0, "1: momentum and jiggle; 0: static balance every frame"),
    Parameter("age", 18.0, 80.0, 40.0, "for the composition, where no layers were given", "years"),
)


class LayeredSkinning:
    """Deformer `layered`. Without `layers` it fits them to each body's predicted composition."""

    name = "layered"
    controls: tuple[Parameter, ...] = CONTROLS

    def __init__(self, template: Template, layers: Layers | None = None) -> None:
        self.template = template
        self.layers = layers

    def animate(
        self, identity: Identity, motion: Motion, controls: Mapping[str, Array] | None = None
    ) -> Animation:
        """Simulate the identity through the motion, from quiet flesh in the first frame."""
        if motion.skeleton.joint_count != self.template.skeleton.joint_count:
            raise InputError(
                f"motion has {motion.skeleton.joint_count} joints; the template has "
                f"{self.template.skeleton.joint_count}. Retarget the motion first."
            )
        require_identity(self.template, identity)
        settings = _settings(controls)
        gender = float(np.asarray(identity.parameters.get("gender", 0.5)))
        sex = "male" if gender >= 0.5 else "female"
        layers = self.layers
        if layers is not None:
            sex = str((layers.metadata or {}).get("sex", sex))
        if layers is None:
            predicted = predict_composition(identity, settings["age"], sex, self.template)
            layers = fit_layers(identity, sex, predicted.composition)
        body = LayeredSimulation(layers, identity, self.template, sex, settings)
        vertices = body.clip(motion)
        dtype = motion.joint_rotations.dtype
        return Animation(
            deformer=self.name,
            template=self.template,
            identity=identity,
            motion=motion,
            vertices=vertices.astype(dtype),
            world_from_joint=body.frames(motion).astype(dtype),
        )


def _settings(controls: Mapping[str, Array] | None) -> dict[str, float]:
    known = {control.name: control for control in CONTROLS}
    settings = {name: control.default for name, control in known.items()}
    for name, value in (controls or {}).items():
        if name not in known:
            raise InputError(f"unknown control {name!r}; known: {', '.join(known)}.")
        numbers = np.asarray(value, np.float64).ravel()
        if numbers.size != 1:
            raise InputError(f"control {name} has {numbers.size} numbers; expected one.")
        number = float(numbers[0])
        if not known[name].low <= number <= known[name].high:
            raise InputError(
                f"control {name} is {number:g}; expected {known[name].low:g} to "
                f"{known[name].high:g} {known[name].unit} ({known[name].meaning})."
            )
        settings[name] = number
    return settings


class LayeredSimulation:
    """One person's layers under some settings, stepped from frame to frame."""

    def __init__(
        self,
        layers: Layers,
        identity: Identity,
        template: Template,
        sex: str,
        settings: Mapping[str, float],
    ) -> None:
        self.layers, self.template, self.settings = layers, template, settings
        self.joints = np.asarray(identity.joints, np.float64)
        by_bone = bone_weights(layered_template(sex))
        held = held_by_bone(by_bone, layers.layered) | (settings["sliding"] == 0.0)
        self.flesh: LayeredFlesh = layered_flesh(
            layers, held, settings["stiffness"], settings["muscle"], settings["gravity"]
        )
        by_skin = template.weights.dense().astype(np.float64)
        members = self.flesh.members
        self._skin_weights = csr_array(by_skin)
        self._carriers = csr_array(
            np.concatenate([by_skin[members], by_skin[members], by_bone[members]])
        )
        self._solvers: dict[tuple[float, bool], Solver] = {}

    def frames(self, motion: Motion) -> Float64[NumpyArray, "N J 4 4"]:
        """World frames of the joints, every frame of a motion."""
        return forward_kinematics(
            np.asarray(motion.joint_rotations, np.float64),
            self.joints,
            self.template.skeleton.parents,
            np.asarray(motion.root_translation, np.float64),
        )

    def clip(self, motion: Motion) -> Float64[NumpyArray, "N V 3"]:
        """The skin in every frame, metres."""
        frames, still = self.frames(motion), self.settings["dynamics"] == 0.0
        flesh = self._balanced(frames[0])
        skins = [self._skin(flesh, frames[0])]
        count = max(1, int(np.ceil(1 / motion.fps / LARGEST_STEP - 1e-6)))
        for frame in range(1, motion.frame_count):
            if still:
                flesh = self._balanced(frames[frame])
            else:
                places = frame - 1 + np.arange(count + 1) / count
                path = self.frames(sampled(motion, places, motion.fps * count))
                flesh = self._advanced(flesh, path, 1 / motion.fps / count)
            skins.append(self._skin(flesh, frames[frame]))
        return np.stack(skins)

    def carried(self, frame: Float64[NumpyArray, "J 4 4"]) -> Float64[NumpyArray, "n 3"]:
        """Where joints put all simulated vertices: bone with its bone, others by skin weights."""
        return _blended(self._carriers, rest_to_world(frame, self.joints), self.flesh.rest)

    def _solver(self, step: float, static: bool) -> Solver:
        """Factored when first asked for."""
        from corporeal.physics.projective_dynamics.fast import CpuSolver

        key = (round(step, 9), static)
        if key not in self._solvers:
            rule = StepRule(
                step,
                20 if static else int(self.settings["iterations"]),
                self.settings["damping"],
                "static" if static else "bdf2",
            )
            self._solvers[key] = CpuSolver(self.flesh.system, rule, accelerated=True)
        return self._solvers[key]

    def _balanced(self, frame: Float64[NumpyArray, "J 4 4"]) -> State:
        """Static balance in one pose, sought from linearly blended layers."""
        solver, now = self._solver(1.0, True), self.carried(frame)
        anchors = now[self.flesh.system.anchored]
        for _ in range(6):
            reached = solver.step(resting(now, 1.0), anchors, self.flesh.weight).positions
            moved = float(np.abs(reached - now).max())
            now = reached
            if moved < 1e-5:
                break
        return resting(now, LARGEST_STEP)

    def _advanced(self, flesh: State, path: Float64[NumpyArray, "k J 4 4"], step: float) -> State:
        solver, before = self._solver(step, False), self.carried(path[0])
        for frame in path[1:]:
            now = self.carried(frame)
            speed = (now - before) / step
            anchors = now[self.flesh.system.anchored]
            flesh = solver.step(flesh, anchors, self.flesh.weight, speed)
            before = now
        return flesh

    def _skin(self, flesh: State, frame: Float64[NumpyArray, "J 4 4"]) -> NumpyArray:
        """The full skin: simulated where there are layers, blended linearly elsewhere."""
        moved = rest_to_world(frame, self.joints)
        skin = _blended(self._skin_weights, moved, self.layers.skin)
        members = self.flesh.members
        simulated = self.layers.layered[members]
        skin[members[simulated]] = flesh.positions[: len(members)][simulated]
        return skin


def _blended(
    weights: csr_array,
    world_from_rest: Float64[NumpyArray, "J 4 4"],
    points: Float64[NumpyArray, "n 3"],
) -> Float64[NumpyArray, "n 3"]:
    """Linear blend skinning: (Σ_j w_j A_j) x."""
    each = (weights @ world_from_rest[:, :3].reshape(-1, 12)).reshape(-1, 3, 4)
    return np.einsum("nij,nj->ni", each[:, :, :3], points) + each[:, :, 3]
