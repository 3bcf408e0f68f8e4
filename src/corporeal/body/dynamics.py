"""Learned dynamics as files and models hold them: dynamic shapes, and what predicts their weights.

Pons-Moll 2015, equation 20, for every person of a training set: a coefficient is linear in how the
body moves and in its own last values. `corporeal.dynamics` trains, mixes and runs them.
"""

import math
from typing import Literal

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.body.triangle_model import TriangleModel
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

Differences = Literal["causal", "forward"]
"""How velocities are taken: from the frame before (live), or to the frame after (the paper)."""

ControlKind = Literal["joints", "bones"]
"""What drives: velocities and accelerations of joint angles and of the root (the paper), or
accelerations of bones in their own axes."""
_STATIC = (
    "joint_names", "fps", "differences", "gravity", "kernel_width", "controls", "amplitude",
)  # fmt: skip


@pytree_dataclass(static=_STATIC)
class Predictors:
    """One autoregression with inputs for every person of a training set (eq. 20).

    δ_k = B u_k + Σ_l diag(a_l) δ_{k−l} + b, with the control vector u_k of frame k.
    """

    joint_names: tuple[str, ...]
    """Joints or bones that drive, the root first; those of `u` in this order."""
    inputs: Float[NumpyArray, "n D c"]
    """B of every person; c = 6 numbers a joint, and 6 of the root where joints drive."""
    history: Float[NumpyArray, "n m D"]
    """a_l of every person: the newest value first; m is the order, 0 to 2."""
    constants: Float[NumpyArray, "n D"]
    """b of every person: 0 where a body at rest is to have its static shape."""
    body_mass_indices: Float[NumpyArray, "n"]
    """Of every person, kg/m²."""
    limits: Float[NumpyArray, "c"]
    """Largest magnitude of every number of u that is answered; beyond it the answer stays."""
    fps: float = 60.0
    """Frames a second that the autoregression counts in."""
    differences: Differences = "causal"
    """How velocities and accelerations are taken."""
    gravity: bool = False
    """Whether u holds the specific force a − Rᵀg, less that of standing, instead of a."""
    kernel_width: float = 2.0
    """τ of the mixture over people, kg/m² (eq. 21)."""
    genders: Float[NumpyArray, "n"] | None = None
    """Of every person, 0 female to 1 male; None where it is not known."""
    controls: ControlKind = "joints"
    """What u consists of."""
    amplitude: float = 0.0
    """How the logarithm of swings grows with body mass index, m²/kg: a person's swings are scaled
    by it where they stand for somebody else's."""

    def check(self) -> None:
        """Raise `InputError` unless counts agree, numbers are finite and every person is stable."""
        people, count, size = self.inputs.shape
        if self.controls not in ("joints", "bones"):
            raise InputError(f"a predictor is driven by {self.controls!r}; expected joints, bones.")
        wanted = 6 * len(self.joint_names) + (6 if self.controls == "joints" else 0)
        if not len(self.joint_names) >= 1 or size != wanted:
            raise InputError(
                f"a predictor of {len(self.joint_names)} {self.controls} has {size} inputs; "
                f"expected {wanted}, six each and, where joints drive, six of the root."
            )
        if self.controls == "bones" and (self.gravity or self.differences != "causal"):
            raise InputError(
                "a predictor that bones drive has causal differences and no gravity; expected "
                "joints for the others."
            )
        if not abs(self.amplitude) < 1:
            raise InputError(f"predictor amplitude is {self.amplitude}; expected less than 1.")
        if self.history.shape[0] != people or self.history.shape[2] != count:
            raise InputError(
                f"a predictor has inputs for {people} people and {count} coefficients and history "
                f"for {self.history.shape[0]} and {self.history.shape[2]}; expected as many."
            )
        if self.history.shape[1] > 2:
            raise InputError(f"a predictor has order {self.history.shape[1]}; expected 0, 1 or 2.")
        if self.differences not in ("causal", "forward"):
            raise InputError(f"differences are {self.differences!r}; expected causal or forward.")
        for what in ("inputs", "history", "constants", "body_mass_indices", "limits"):
            require_finite(f"predictor {what}", getattr(self, what))
        if self.genders is not None:
            require_finite("predictor genders", self.genders)
        for what, number in (("fps", self.fps), ("kernel width", self.kernel_width)):
            if not number > 0 or math.isnan(number):
                raise InputError(f"predictor {what} is {number}; expected a number above 0.")
        self._require_stable()

    def _require_stable(self) -> None:
        padded = np.zeros((len(self.history), 2, self.coefficient_count))
        padded[:, : self.order] = self.history
        first, second = padded[:, 0], padded[:, 1]
        outside = np.maximum(np.abs(first) + second, -second) >= 1
        if outside.any():
            who, which = (int(i) for i in np.argwhere(outside)[0])
            raise InputError(
                f"coefficient {which} of person {who} has the history "
                f"{self.history[who, :, which].tolist()}, which does not die away; expected it "
                f"inside the stationarity triangle |a₁| + a₂ < 1, a₂ > −1."
            )

    @property
    def coefficient_count(self) -> int:
        """Number D of dynamic coefficients."""
        return self.inputs.shape[1]

    @property
    def order(self) -> int:
        """How many values before are looked at, M."""
        return self.history.shape[1]


@pytree_dataclass()
class DynamicBlendShapes:
    """DMPL: dynamic blend shapes in the rest pose, and what predicts their weights.

    Files of others hold shapes alone; then `predictors` is None.
    """

    shapes: Float[NumpyArray, "D V 3"]
    """Rest-pose displacement of every coefficient of one, metres."""
    mean: Float[NumpyArray, "V 3"]
    """μ_D: displacement where all coefficients are 0, metres."""
    predictors: Predictors | None = None
    """From motion to coefficients."""

    def check(self) -> None:
        """Raise `InputError` unless counts agree and numbers are finite."""
        require_finite("dynamic blend shapes", self.shapes)
        require_finite("mean dynamic offset", self.mean)
        if self.mean.shape != self.shapes.shape[1:]:
            raise InputError(
                f"dynamic blend shapes move {self.shapes.shape[1]} vertices and their mean "
                f"{self.mean.shape[0]}; expected as many."
            )
        require_predicted(self.predictors, len(self.shapes))

    @property
    def vertex_count(self) -> int:
        """Number V of vertices."""
        return self.shapes.shape[1]


@pytree_dataclass()
class DynamicDeformations:
    """Dyna: principal dynamic deformations of triangles, and what predicts their weights."""

    deformations: Float[NumpyArray, "D F 3 3"]
    """u_D: change of every triangle's deformation at a coefficient of one."""
    mean: Float[NumpyArray, "F 3 3"]
    """μ_D."""
    predictors: Predictors
    """From motion to coefficients."""

    def check(self) -> None:
        """Raise `InputError` unless counts agree and numbers are finite."""
        require_finite("dynamic deformations", self.deformations)
        require_finite("mean dynamic deformation", self.mean)
        if self.mean.shape != self.deformations.shape[1:]:
            raise InputError(
                f"dynamic deformations of {self.deformations.shape[1]} triangles have a mean of "
                f"{self.mean.shape[0]}; expected as many."
            )
        require_predicted(self.predictors, len(self.deformations))


@pytree_dataclass()
class TriangleDynamics:
    """Dyna: a body model of triangles, and the dynamics that are added to its shapes."""

    body: TriangleModel
    """The static body, BlendSCAPE."""
    dynamic: DynamicDeformations
    """What movement adds."""

    def check(self) -> None:
        """Raise `InputError` unless both have as many triangles."""
        if len(self.body.triangles) != len(self.dynamic.mean):
            raise InputError(
                f"the body model has {len(self.body.triangles)} triangles and the dynamics "
                f"{len(self.dynamic.mean)}; expected as many."
            )


def require_predicted(predictors: Predictors | None, count: int) -> None:
    """Raise `InputError` unless there is one prediction for each of `count` shapes."""
    if predictors is not None and predictors.coefficient_count != count:
        raise InputError(
            f"predictors give {predictors.coefficient_count} coefficients for {count} dynamic "
            f"shapes; expected as many."
        )
