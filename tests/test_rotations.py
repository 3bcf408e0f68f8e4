"""Rotations against closed forms, SciPy and finite differences, at and around the identity."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from corporeal.errors import InputError
from corporeal.geometry.rotations import (
    EULER_ORDERS,
    axis_angle_from_matrix,
    axis_angle_from_quaternion,
    compose_axis_angles,
    conjugate_quaternion,
    euler_from_matrix,
    geodesic_angle,
    matrix_from_axis_angle,
    matrix_from_euler,
    matrix_from_quaternion,
    multiply_quaternions,
    quaternion_from_axis_angle,
    quaternion_from_matrix,
    slerp,
)
from corporeal.geometry.transforms import (
    dual_quaternion_from_rigid,
    invert_rigid,
    rigid_from_dual_quaternion,
    transform_from_parts,
    transform_points,
)

EPS = np.finfo(float).eps
SCALES = (0.0, 1e-300, 1e-160, 1e-20, 1e-9, 1e-6, 1e-3, 0.1, 0.4999, 0.5001, 1.0, 3.0)
vectors = arrays(float, 3, elements=st.floats(-1, 1, allow_subnormal=False))
scales = st.sampled_from(SCALES) | st.floats(1e-8, 20)


def unit_quaternion(vector: np.ndarray, scale: float) -> np.ndarray:
    return quaternion_from_axis_angle(scale * vector)


@given(vectors, scales)
def test_exponential_equals_scipy(vector: np.ndarray, scale: float) -> None:
    """Matrix and quaternion of r equal SciPy's; the tolerance is rounding of the angle itself."""
    r = scale * vector
    expected = Rotation.from_rotvec(r)
    tolerance = 8 * EPS * (1 + np.linalg.norm(r))
    np.testing.assert_allclose(matrix_from_axis_angle(r), expected.as_matrix(), atol=tolerance)
    q = quaternion_from_axis_angle(r)
    wxyz = expected.as_quat(scalar_first=True)
    np.testing.assert_allclose(q * np.sign(q @ wxyz), wxyz, atol=tolerance)


@given(vectors, st.sampled_from(SCALES[:-1]) | st.floats(1e-8, 1.8))
def test_logarithm_undoes_exponential(vector: np.ndarray, scale: float) -> None:
    """log(exp(r)) = r below a half turn, to the relative precision of r, however small r is.

    Below 1e-308 numbers lose digits: there the precision is that of the smallest of them.
    """
    r = scale * vector
    if np.linalg.norm(r) > 3.1:
        r = r / np.linalg.norm(r)
    tolerance = 64 * EPS * np.linalg.norm(r) + 64 * np.finfo(np.float64).smallest_subnormal
    np.testing.assert_allclose(
        axis_angle_from_quaternion(quaternion_from_axis_angle(r)), r, rtol=0, atol=tolerance
    )
    np.testing.assert_allclose(
        axis_angle_from_matrix(matrix_from_axis_angle(r)), r, rtol=0, atol=tolerance
    )


@given(vectors)
def test_logarithm_at_half_turn(vector: np.ndarray) -> None:
    """At θ = π the axis is found up to its sign, and the matrix comes back."""
    norm = np.linalg.norm(vector)
    axis = vector / norm if norm > 0.1 else np.array([0.0, 0.6, -0.8])
    matrix = matrix_from_axis_angle(np.pi * axis)
    back = axis_angle_from_matrix(matrix)
    np.testing.assert_allclose(np.linalg.norm(back), np.pi, atol=1e-7)
    np.testing.assert_allclose(matrix_from_axis_angle(back), matrix, atol=1e-7)


@given(vectors, scales, vectors, scales, vectors, scales)
def test_group_laws(a: np.ndarray, sa: float, b: np.ndarray, sb: float, c: np.ndarray, sc: float):
    """Orthogonality, determinant one, homomorphism, associativity and inverse."""
    p, q, r = unit_quaternion(a, sa), unit_quaternion(b, sb), unit_quaternion(c, sc)
    matrix = matrix_from_quaternion(p)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=16 * EPS)
    np.testing.assert_allclose(np.linalg.det(matrix), 1, atol=16 * EPS)
    product = multiply_quaternions(p, q)
    np.testing.assert_allclose(
        matrix_from_quaternion(product), matrix @ matrix_from_quaternion(q), atol=16 * EPS
    )
    np.testing.assert_allclose(
        multiply_quaternions(product, r),
        multiply_quaternions(p, multiply_quaternions(q, r)),
        atol=16 * EPS,
    )
    np.testing.assert_allclose(
        multiply_quaternions(p, conjugate_quaternion(p)), [1, 0, 0, 0], atol=16 * EPS
    )
    composed = matrix_from_axis_angle(compose_axis_angles(sa * a, sb * b))
    np.testing.assert_allclose(composed, matrix_from_quaternion(product), atol=64 * EPS)


@given(vectors, scales)
def test_quaternion_of_matrix(vector: np.ndarray, scale: float) -> None:
    """The quaternion of q's matrix is ±q, with w ≥ 0."""
    q = unit_quaternion(vector, scale)
    back = quaternion_from_matrix(matrix_from_quaternion(q))
    assert back[0] >= 0
    assert min(np.abs(back - q).max(), np.abs(back + q).max()) < 16 * EPS


@given(vectors, scales, vectors, scales, st.floats(0, 1))
def test_slerp_has_constant_speed(
    a: np.ndarray, sa: float, b: np.ndarray, sb: float, t: float
) -> None:
    """The angle from the start grows linearly, and the ends are met (up to q ~ −q)."""
    p, q = unit_quaternion(a, sa), unit_quaternion(b, sb)
    start, end = matrix_from_quaternion(p), matrix_from_quaternion(q)
    whole = geodesic_angle(start, end)
    part = geodesic_angle(start, matrix_from_quaternion(slerp(p, q, t)))
    np.testing.assert_allclose(part, t * whole, atol=1e-7)  # acos-free angles lose √eps near 0
    np.testing.assert_allclose(matrix_from_quaternion(slerp(p, q, 1.0)), end, atol=1e-14)


@given(vectors, st.floats(0, np.pi))
def test_geodesic_angle_is_the_turn(vector: np.ndarray, angle: float) -> None:
    norm = np.linalg.norm(vector)
    axis = vector / norm if norm > 0.1 else np.array([1.0, 0, 0])
    turned = matrix_from_axis_angle(angle * axis)
    np.testing.assert_allclose(geodesic_angle(np.eye(3), turned), angle, atol=1e-14)


def test_geodesic_angle_of_two_turns_is_that_of_their_quotient() -> None:
    """|log(Aᵀ B)|, by SciPy, for pairs of which neither is the identity."""
    pairs = Rotation.random(40, random_state=5)
    left, right = pairs[:20], pairs[20:]
    expected = (left.inv() * right).magnitude()
    np.testing.assert_allclose(
        geodesic_angle(left.as_matrix(), right.as_matrix()), expected, atol=1e-12
    )


@settings(max_examples=30)
@given(arrays(float, 3, elements=st.floats(-np.pi, np.pi)), st.sampled_from(EULER_ORDERS))
def test_euler_angles(angles: np.ndarray, order: str) -> None:
    """Intrinsic turns as SciPy's upper-case orders, and back, gimbal lock included."""
    matrix = matrix_from_euler(angles, order)
    np.testing.assert_allclose(
        matrix, Rotation.from_euler(order, angles).as_matrix(), atol=32 * EPS
    )
    back = euler_from_matrix(matrix, order)
    np.testing.assert_allclose(matrix_from_euler(back, order), matrix, atol=1e-14)
    locked = np.array([angles[0], np.pi / 2, angles[2]])
    matrix = matrix_from_euler(locked, order)
    back = euler_from_matrix(matrix, order)
    np.testing.assert_allclose(matrix_from_euler(back, order), matrix, atol=1e-7)


def test_unknown_euler_order_is_refused() -> None:
    with pytest.raises(InputError, match="'ZXZ' is unknown; expected one of XYZ"):
        matrix_from_euler(np.zeros(3), "ZXZ")


def there_and_back(x):
    return axis_angle_from_matrix(matrix_from_axis_angle(x))


@cache
def jacobians(function):
    """By both modes, compiled once for all scales."""
    return jax.jit(jax.jacfwd(function)), jax.jit(jax.jacrev(function))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "function",
    [matrix_from_axis_angle, quaternion_from_axis_angle, there_and_back],
    ids=["matrix", "quaternion", "there and back"],
)
def test_gradient_near_zero(function, scale: float) -> None:
    """Jacobians are finite at every angle and equal central differences of order h² = 1e−10."""
    forward_mode, reverse_mode = jacobians(function)
    r = scale * np.array([0.48, -0.6, 0.64])
    with jax.enable_x64(True):
        jacobian = forward_mode(jnp.asarray(r))
        reverse = reverse_mode(jnp.asarray(r))
    h = 1e-5
    steps = [(function(r + h * e) - function(r - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(jacobian, np.stack(steps, axis=-1), atol=1e-9)
    np.testing.assert_allclose(jacobian, reverse, atol=1e-12)


def test_gradient_at_zero_is_exact() -> None:
    """dR/dr at r = 0 is the generator [e]ₓ, exactly; in float32 too."""
    generators = np.array([np.cross(e, np.eye(3)).T for e in np.eye(3)])  # [e]ₓ v = e × v
    jacobian = jax.jacfwd(matrix_from_axis_angle)(jnp.zeros(3, jnp.float32))
    np.testing.assert_array_equal(np.moveaxis(np.asarray(jacobian), -1, 0), generators)
    angle_gradient = jax.grad(lambda m: geodesic_angle(m, jnp.eye(3)))(jnp.eye(3))
    assert np.isfinite(angle_gradient).all()


@pytest.mark.parametrize("scale", SCALES)
def test_single_precision(scale: float) -> None:
    """float32 in, float32 out, right to a few of its units in the last place."""
    r = scale * np.array([0.48, -0.6, 0.64])
    single = matrix_from_axis_angle(r.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, matrix_from_axis_angle(r), atol=1e-6)
    back = axis_angle_from_quaternion(quaternion_from_axis_angle(r.astype(np.float32)))
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, r, rtol=0, atol=2e-6 * scale + 1e-40)


@given(vectors, scales, vectors)
def test_rigid_motions_and_dual_quaternions(vector: np.ndarray, scale: float, shift: np.ndarray):
    """Inverse, and the way to dual quaternions and back, at any scale of the dual quaternion."""
    motion = transform_from_parts(matrix_from_axis_angle(scale * vector), shift)
    np.testing.assert_allclose(invert_rigid(motion) @ motion, np.eye(4), atol=32 * EPS)
    dual = dual_quaternion_from_rigid(motion)
    np.testing.assert_allclose(dual[:4] @ dual[4:], 0, atol=16 * EPS)
    np.testing.assert_allclose(rigid_from_dual_quaternion(-3 * dual), motion, atol=32 * EPS)
    points = np.array([[0.0, 0, 0], [1, 2, 3]])
    moved = transform_points(motion, points)
    np.testing.assert_allclose(moved[0], shift, atol=16 * EPS)
    np.testing.assert_allclose(moved[1] - moved[0], motion[:3, :3] @ points[1], atol=64 * EPS)
