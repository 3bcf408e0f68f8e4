"""A character in a pose, compiled: weights of key angles, corrected dress shape, helpers, skin.

Key angles are kept as quaternions: d² = 4 (1 − (q · q_k)²) is the squared distance of `keys`.
"""

import math

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.skinning.linear_cpu import joint_motions_linear, skin_blocks_linear

_SMALL = 1e-7
"""A key of less weight moves nothing: 0.1 µm where an offset is a metre."""


@kernel()
def _quaternion(x, y, z):
    """(w, x, y, z) of an axis-angle vector, radians."""
    angle = math.sqrt(x * x + y * y + z * z)
    half = 0.5 * angle
    scale = math.sin(half) / angle if angle > 1e-9 else 0.5
    return math.cos(half), scale * x, scale * y, scale * z


@kernel()
def _twist(w, x, y, z, axis):
    """Twist about a unit axis, radians in (−π, π]."""
    angle = 2.0 * math.atan2(x * axis[0] + y * axis[1] + z * axis[2], w)
    if angle > math.pi:
        return angle - 2.0 * math.pi
    return angle + 2.0 * math.pi if angle <= -math.pi else angle


@kernel()
def _untwisted(w, x, y, z, axis, angle):
    """The rotation after a turn by −angle about the axis: q exp(−angle a / 2)."""
    c, s = math.cos(0.5 * angle), -math.sin(0.5 * angle)
    a, b, d = s * axis[0], s * axis[1], s * axis[2]
    return (
        w * c - x * a - y * b - z * d,
        w * a + x * c + y * d - z * b,
        w * b - x * d + y * c + z * a,
        w * d + x * b - y * a + z * c,
    )


@kernel()
def key_coefficients(turns, joints, kinds, axes, starts, keys, matrices, softness, out):
    """ω of every key but the first of each driver, one after another, for one pose.

    `kinds` are 0 (rotation), 1 (swing) and 2 (twist); keys `starts[d]` … `starts[d + 1]` − 1 belong
    to driver d, and rows of `matrices` hold its a_k, padded.
    """
    place = 0
    radial = np.empty(matrices.shape[1])
    for d in range(joints.shape[0]):
        j = joints[d]
        w, x, y, z = _quaternion(turns[j, 0], turns[j, 1], turns[j, 2])
        if kinds[d] > 0:
            angle = _twist(w, x, y, z, axes[d])
            if kinds[d] == 1:
                w, x, y, z = _untwisted(w, x, y, z, axes[d], angle)
            else:
                w, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
                x, y, z = s * axes[d, 0], s * axes[d, 1], s * axes[d, 2]
        first, count = starts[d], starts[d + 1] - starts[d]
        for k in range(count):
            q = keys[first + k]
            dot = w * q[0] + x * q[1] + y * q[2] + z * q[3]
            radial[k] = math.sqrt(max(4.0 * (1.0 - dot * dot), 0.0) + softness * softness)
        for k in range(1, count):
            row = matrices[first + k]
            weight = row[count]
            for m in range(count):
                weight += row[m] * radial[m]
            out[place] = weight
            place += 1


@kernel()
def helper_turns(turns, joints, shares, axes, out):
    """Axis-angle vectors of joints and helpers of one pose, radians; helpers after the joints."""
    count = turns.shape[0]
    for j in range(count):
        for c in range(3):
            out[j, c] = turns[j, c]
    for h in range(joints.shape[0]):
        j = joints[h]
        w, x, y, z = _quaternion(turns[j, 0], turns[j, 1], turns[j, 2])
        angle = (1.0 - shares[h]) * _twist(w, x, y, z, axes[h])
        w, x, y, z = _untwisted(w, x, y, z, axes[h], angle)
        sine = math.sqrt(x * x + y * y + z * z)
        scale = 2.0 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0
        out[count + h, 0], out[count + h, 1], out[count + h, 2] = scale * x, scale * y, scale * z


@kernel(fastmath=True)
def _add_offsets(weights, offsets, total):
    """`total` ← Σ_k w_k offsets_k: rows of numbers, keys of small weight left out."""
    for s in range(total.shape[0]):
        total[s] = 0
    for k in range(weights.shape[0]):
        w = weights[k]
        if abs(w) > _SMALL:
            row = offsets[k]
            for s in range(total.shape[0]):
                total[s] += w * row[s]


@kernel()
def correct_lanes(weights, key_counts, slot_starts, slots, offset_starts, offsets, total, lanes):
    """Add every driver's offsets to the rest shape in lanes, B × 3 × LANES, flat."""
    place = 0
    for d in range(key_counts.shape[0]):
        count, first, last = key_counts[d], slot_starts[d], slot_starts[d + 1]
        size = last - first
        own = offsets[offset_starts[d] : offset_starts[d + 1]].reshape(count, size)
        _add_offsets(weights[place : place + count], own, total[:size])
        for s in range(size):
            lanes[slots[first + s]] += total[s]
        place += count


@kernel()
def pose_characters(
    turns, translations, rest_joints, parents, drivers, kinds, axes, starts, keys, matrices,
    softness, strength, helpers, shares, helper_axes, key_counts, slot_starts, slots,
    offset_starts, offsets, rest_lanes, block_starts, joints, weights, vertices, out, first, last,
):  # fmt: skip
    """Pose one identity in the poses `first` … `last` − 1 into `out`, N × V × 3."""
    total_keys = 0
    for d in range(key_counts.shape[0]):
        total_keys += key_counts[d]
    exact, coefficients = np.empty(total_keys), np.empty(total_keys, out.dtype)
    every = np.empty((1, parents.shape[0], 3))
    motions = np.empty((1, parents.shape[0], 12), out.dtype)
    lanes = np.empty_like(rest_lanes)
    flat = lanes.reshape(-1)
    longest = 0
    for d in range(key_counts.shape[0]):
        longest = max(longest, slot_starts[d + 1] - slot_starts[d])
    total = np.empty(longest, out.dtype)
    for n in range(first, last):
        key_coefficients(turns[n], drivers, kinds, axes, starts, keys, matrices, softness, exact)
        for k in range(total_keys):
            coefficients[k] = strength * exact[k]
        lanes[:] = rest_lanes
        correct_lanes(
            coefficients, key_counts, slot_starts, slots, offset_starts, offsets, total, flat
        )
        helper_turns(turns[n], helpers, shares, helper_axes, every[0])
        joint_motions_linear(every, translations[n : n + 1], rest_joints, parents, motions, 0, 1)
        skin_blocks_linear(motions[0], block_starts, joints, weights, lanes, vertices, out[n])
