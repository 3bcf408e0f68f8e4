"""Compiled: what drives flesh (`features`), for one frame at a time; the same equations."""

import math

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.skinning.kinematics_cpu import rotation_about_axis


@kernel()
def place_bones(turns, joints, parents, root, centres, rotations, local):
    """Bones of a pose (`bones.posed_bones`) into `centres`, `rotations` and `local`."""
    for j in range(len(parents)):
        rotation_about_axis(turns[j, 0], turns[j, 1], turns[j, 2], local[j])
        p = parents[j]
        for r in range(3):
            if p < 0:
                centres[j, r] = joints[j, r] + root[r]
                for c in range(3):
                    rotations[j, r, c] = local[j, r, c]
                continue
            place = centres[p, r]
            for k in range(3):
                place += rotations[p, r, k] * (joints[j, k] - joints[p, k])
            centres[j, r] = place
            for c in range(3):
                total = 0.0
                for k in range(3):
                    total += rotations[p, r, k] * local[j, k, c]
                rotations[j, r, c] = total


@kernel()
def _log_of_turn(now, before, quaternion, turn):
    """log(R R'ᵀ), radians, by the largest entry of the quaternion (Shepperd 1978)."""
    m = np.empty((3, 3))
    for r in range(3):
        for c in range(3):
            m[r, c] = 0.0
            for k in range(3):
                m[r, c] += now[r, k] * before[c, k]
    q = quaternion
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    largest = max(trace, m[0, 0], m[1, 1], m[2, 2])
    if trace >= largest:
        q[0], q[1], q[2], q[3] = (
            1.0 + trace, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1],
        )  # fmt: skip
    else:
        i = 0 if m[0, 0] >= largest else (1 if m[1, 1] >= largest else 2)
        j, k = (i + 1) % 3, (i + 2) % 3
        q[0] = m[k, j] - m[j, k]
        q[1 + i] = 1.0 + m[i, i] - m[j, j] - m[k, k]
        q[1 + j] = m[i, j] + m[j, i]
        q[1 + k] = m[i, k] + m[k, i]
    length = math.sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2)
    sign = -1.0 if q[0] < 0.0 else 1.0
    w = sign * q[0] / length
    sine = math.sqrt(q[1] ** 2 + q[2] ** 2 + q[3] ** 2) / length
    scale = 2.0 / w if sine < 1e-9 * w else 2.0 * math.atan2(sine, w) / sine
    for k in range(3):
        turn[k] = scale * sign * q[1 + k] / length


@kernel()
def felt_and_seen(
    centres, rotations, local, centres_then, rotations_then, centres_earlier, rotations_earlier,
    span, span_before, bones, units,
):  # fmt: skip
    """Movement and pose (`features.movement`, `features.posture`), single precision."""
    felt = np.empty((len(bones), 6), np.float32)
    turn, turn_before, quaternion = np.empty(3), np.empty(3), np.empty(4)
    change = np.empty((2, 3))
    for n in range(len(bones)):
        j = bones[n]
        _log_of_turn(rotations[j], rotations_then[j], quaternion, turn)
        _log_of_turn(rotations_then[j], rotations_earlier[j], quaternion, turn_before)
        for k in range(3):
            speed = (centres[j, k] - centres_then[j, k]) / span
            before = (centres_then[j, k] - centres_earlier[j, k]) / span_before
            change[0, k] = (speed - before) / span / units[0]
            change[1, k] = (turn[k] / span - turn_before[k] / span_before) / span / units[1]
        for what in range(2):
            for c in range(3):
                total = 0.0
                for k in range(3):
                    total += rotations[j, k, c] * change[what, k]
                felt[n, 3 * what + c] = total
    seen = np.empty(6 * (len(local) - 1) + 3, np.float32)
    for j in range(1, len(local)):
        for r in range(3):
            for c in range(2):
                seen[6 * (j - 1) + 2 * r + c] = local[j, r, c] - (1.0 if r == c else 0.0)
    for c in range(3):
        seen[6 * (len(local) - 1) + c] = -rotations[0, 1, c]
    return felt.reshape(-1), seen
