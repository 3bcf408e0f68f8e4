"""A body model of deformed triangles: what BlendSCAPE's files hold."""

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_finite, require_indices
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("joint_names", "parents"))
class TriangleModel:
    """Template, blend weights of triangles, deformations by pose and by person.

    A triangle's edges are R*_t S_t Q_t v̂_t,e (Pons-Moll 2015, eq. 2), with
    Q_t(θ) = I + Σ_j Σ_c θ_jc C_tjc over the two joints j beside the triangle.
    """

    triangles: Int[NumpyArray, "F 3"]
    """Corner indices."""
    template_vertices: Float[NumpyArray, "V 3"]
    """The template in the zero pose, metres."""
    weights: SkinWeights
    """How much every part moves each triangle."""
    pin: Float[NumpyArray, "V"]
    """Vertices whose mean place is that of the skeleton; sums to 1."""
    pose_joints: Int[NumpyArray, "F 2"]
    """The joints beside every triangle, whose rotations deform it."""
    pose_deformations: Float[NumpyArray, "F 2 3 3 3"]
    """C: change of Q a radian of every component of both joints' axis-angle vectors."""
    mean_shape: Float[NumpyArray, "F 3 3"]
    """μ_S: deformation of the mean person."""
    shape_deformations: Float[NumpyArray, "S F 3 3"]
    """u_S: change of S at a shape coefficient of one."""
    joint_names: tuple[str, ...]
    """Unique names, parents before children."""
    parents: tuple[int, ...]
    """Parent of every joint, −1 for the root."""

    def check(self) -> None:
        """Raise `InputError` unless counts agree, indices are in range and numbers finite."""
        require_indices("model triangles", self.triangles, len(self.template_vertices))
        require_indices("model pose joints", self.pose_joints, len(self.parents))
        for what in (
            "template_vertices", "pin", "pose_deformations", "mean_shape", "shape_deformations",
        ):  # fmt: skip
            require_finite(f"model {what}", getattr(self, what))
        count = len(self.triangles)
        counts = {
            "weights": len(self.weights.values),
            "pose joints": len(self.pose_joints),
            "pose deformations": len(self.pose_deformations),
            "mean shape": len(self.mean_shape),
            "shape deformations": self.shape_deformations.shape[1],
        }
        for what, found in counts.items():
            if found != count:
                raise InputError(
                    f"model has {count} triangles and {what} for {found}; expected as many."
                )
        if len(self.joint_names) != len(self.parents) != self.weights.joint_count:
            raise InputError(
                f"model has {len(self.joint_names)} joint names and {len(self.parents)} parents; "
                f"expected as many."
            )

    @property
    def shape_count(self) -> int:
        """Number S of shape coefficients."""
        return len(self.shape_deformations)
