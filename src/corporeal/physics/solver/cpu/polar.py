"""Polar decomposition of 3×3 matrices, compiled: the branch for flat and inverted elements."""

import numpy as np

from corporeal.runtime.kernels import kernel

_SWEEPS = 8
"""Jacobi sweeps; three-by-three matrices converge in five."""
_TIE = 1e-5
"""Eigenvalues nearer than this, over the largest, are the same to float32."""
_MOST_STEPS = 24
"""Of Newton's iteration, which starts within √3 of the root."""
_DETERMINED = 1e-3
"""Least d over t³ (see `cpu`) for the closed form: its relative error is below 1e-11 then."""


@kernel()
def closest_rotation(matrix, rotation, work):
    """Write the rotation closest to `matrix` (3×3) into `rotation`, for any matrix; `work` is
    scratch, 3×3×3 float64."""
    if not _closed_form(matrix, rotation, work[0]):
        _by_singular_values(matrix, rotation, work)


@kernel()
def _closed_form(matrix, rotation, cofactors):
    """The rotation as the gradient of the stretch's trace, as `cpu` has it, in float64, mirrored
    matrices too; false, with nothing written, where it is hardly determined."""
    square, minors = 0.0, 0.0
    for i in range(3):
        for j in range(3):
            k, l, m, n = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
            minor = matrix[k, m] * matrix[l, n] - matrix[k, n] * matrix[l, m]
            cofactors[i, j] = minor
            minors += minor * minor
            square += matrix[i, j] * matrix[i, j]
    determinant = (
        matrix[0, 0] * cofactors[0, 0]
        + matrix[0, 1] * cofactors[0, 1]
        + matrix[0, 2] * cofactors[0, 2]
    )
    offset, t, slope = square * square - 4.0 * minors, np.sqrt(3.0 * square), 0.0
    for _ in range(_MOST_STEPS):
        slope = t * (t * t - square) - 2.0 * determinant
        if not slope > _DETERMINED * t * t * t:
            return False
        change = (t * (t * (t * t - 2.0 * square) - 8.0 * determinant) + offset) / (4.0 * slope)
        t -= change
        if change <= 1e-9 * t:
            break
    slope = t * (t * t - square) - 2.0 * determinant
    if not slope > _DETERMINED * t * t * t:
        return False
    for i in range(3):
        x, y, z = matrix[i, 0], matrix[i, 1], matrix[i, 2]
        for j in range(3):
            cubic = 0.0
            for k in range(3):
                along = x * matrix[k, 0] + y * matrix[k, 1] + z * matrix[k, 2]
                cubic += along * matrix[k, j]
            whole = (t * t + square) * matrix[i, j] + 2.0 * (t * cofactors[i, j] - cubic)
            rotation[i, j] = whole / slope
    return True


@kernel()
def _by_singular_values(matrix, rotation, work):
    """The rotation closest to any matrix.

    Eigenvectors V of AᵀA by Jacobi rotations; u₁, u₂ along A v₁, A v₂ and u₃ = u₁ × u₂, so that the
    axis of least stretch is flipped if A mirrors. Where two or three stretches are the least, all
    matrices flip about the same axis, so that a body turned inside out unfolds as one.
    """
    gram, right, left = work[0], work[1], work[2]
    for i in range(3):
        for j in range(3):
            right[i, j] = 1.0 if i == j else 0.0
            gram[i, j] = (
                float(matrix[0, i]) * matrix[0, j]
                + float(matrix[1, i]) * matrix[1, j]
                + float(matrix[2, i]) * matrix[2, j]
            )
    _diagonalise(gram, right)
    _sort_columns(gram, right)
    _settle_ties(gram, right)
    for i in range(3):
        left[i, 0] = (
            matrix[i, 0] * right[0, 0] + matrix[i, 1] * right[1, 0] + matrix[i, 2] * right[2, 0]
        )
        left[i, 1] = (
            matrix[i, 0] * right[0, 1] + matrix[i, 1] * right[1, 1] + matrix[i, 2] * right[2, 1]
        )
    _complete_frame(left)
    _cross_into_third(right)
    for i in range(3):
        for j in range(3):
            rotation[i, j] = (
                left[i, 0] * right[j, 0] + left[i, 1] * right[j, 1] + left[i, 2] * right[j, 2]
            )


@kernel()
def _diagonalise(gram, right):
    """Cyclic Jacobi: turn `gram` diagonal, collecting the turns in the columns of `right`."""
    for _ in range(_SWEEPS):
        for p in range(2):
            for q in range(p + 1, 3):
                if abs(gram[p, q]) <= 1e-30 + 1e-18 * abs(gram[p, p] + gram[q, q]):
                    continue
                half = (gram[q, q] - gram[p, p]) / (2.0 * gram[p, q])
                sign = 1.0 if half >= 0.0 else -1.0
                tangent = sign / (abs(half) + np.sqrt(half * half + 1.0))
                cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                for k in range(3):
                    a, b = gram[k, p], gram[k, q]
                    gram[k, p], gram[k, q] = cosine * a - sine * b, sine * a + cosine * b
                for k in range(3):
                    a, b = gram[p, k], gram[q, k]
                    gram[p, k], gram[q, k] = cosine * a - sine * b, sine * a + cosine * b
                for k in range(3):
                    a, b = right[k, p], right[k, q]
                    right[k, p], right[k, q] = cosine * a - sine * b, sine * a + cosine * b


@kernel()
def _sort_columns(gram, right):
    """Largest eigenvalue first."""
    for a in range(2):
        for b in range(a + 1, 3):
            if gram[b, b] > gram[a, a]:
                gram[a, a], gram[b, b] = gram[b, b], gram[a, a]
                for k in range(3):
                    right[k, a], right[k, b] = right[k, b], right[k, a]


@kernel()
def _settle_ties(gram, right):
    """Let coordinate axes, not rounding, decide which of equal stretches is the least."""
    near = _TIE * gram[0, 0]
    if gram[1, 1] - gram[2, 2] > near:
        return
    if gram[0, 0] - gram[1, 1] <= near:
        for i in range(3):
            for j in range(3):
                right[i, j] = 1.0 if i == j else 0.0
        return
    axis = 2
    for k in range(1, -1, -1):
        if abs(right[k, 0]) < abs(right[axis, 0]) - 1e-3:
            axis = k
    length = np.sqrt(1.0 - right[axis, 0] ** 2)
    for k in range(3):
        right[k, 2] = ((1.0 if k == axis else 0.0) - right[axis, 0] * right[k, 0]) / length
    right[0, 1] = right[1, 2] * right[2, 0] - right[2, 2] * right[1, 0]
    right[1, 1] = right[2, 2] * right[0, 0] - right[0, 2] * right[2, 0]
    right[2, 1] = right[0, 2] * right[1, 0] - right[1, 2] * right[0, 0]


@kernel()
def _complete_frame(frame):
    """Make the first two columns orthonormal, whatever they are, and the third their product."""
    length = np.sqrt(frame[0, 0] ** 2 + frame[1, 0] ** 2 + frame[2, 0] ** 2)
    if length < 1e-12:
        frame[0, 0], frame[1, 0], frame[2, 0] = 1.0, 0.0, 0.0
        length = 1.0
    for k in range(3):
        frame[k, 0] /= length
    along = frame[0, 0] * frame[0, 1] + frame[1, 0] * frame[1, 1] + frame[2, 0] * frame[2, 1]
    for k in range(3):
        frame[k, 1] -= along * frame[k, 0]
    rest = np.sqrt(frame[0, 1] ** 2 + frame[1, 1] ** 2 + frame[2, 1] ** 2)
    if rest < 1e-9 * length:
        # Any direction across: the coordinate axis that the first column has least of.
        least = 0
        for k in range(1, 3):
            if abs(frame[k, 0]) < abs(frame[least, 0]):
                least = k
        for k in range(3):
            frame[k, 1] = (1.0 if k == least else 0.0) - frame[least, 0] * frame[k, 0]
        rest = np.sqrt(frame[0, 1] ** 2 + frame[1, 1] ** 2 + frame[2, 1] ** 2)
    for k in range(3):
        frame[k, 1] /= rest
    _cross_into_third(frame)


@kernel()
def _cross_into_third(frame):
    """Third column = first × second."""
    frame[0, 2] = frame[1, 0] * frame[2, 1] - frame[2, 0] * frame[1, 1]
    frame[1, 2] = frame[2, 0] * frame[0, 1] - frame[0, 0] * frame[2, 1]
    frame[2, 2] = frame[0, 0] * frame[1, 1] - frame[1, 0] * frame[0, 1]
