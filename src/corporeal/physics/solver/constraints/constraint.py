"""What every constraint is to the solver."""

from typing import Protocol, runtime_checkable

from scipy.sparse import csr_array

from corporeal._typing import Float64, NumpyArray


@runtime_checkable
class Constraint(Protocol):
    """A stack of potentials W_i = w_i/2 ‖Q_i z − p_i‖² (equation 2.10)."""

    @property
    def matrix(self) -> csr_array:
        """The rows Q_i of all potentials, rows × V."""
        ...

    @property
    def weights(self) -> Float64[NumpyArray, "rows"]:
        """The weight w_i of every row."""
        ...

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """The closest allowed state p to `values` = Q z: the local step."""
        ...


def energy(constraint: Constraint, positions: Float64[NumpyArray, "V 3"]) -> float:
    """Σ_i w_i/2 ‖Q_i z − p_i‖² at `positions`, joules."""
    values = constraint.matrix @ positions
    return float(0.5 * constraint.weights @ ((values - constraint.project(values)) ** 2).sum(1))
