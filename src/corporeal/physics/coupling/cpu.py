"""Compiled coupling of one frame: four-anchor combinations and the projection outwards."""

import numpy as np

from corporeal.runtime.kernels import kernel

ROUNDS = 4
"""Projections in turn: leaving one element may lead into its neighbour."""


@kernel()
def _about_axis(p, axis, angle):
    """`p` turned about a unit vector (Rodrigues)."""
    if angle == 0.0:
        return p[0], p[1], p[2]
    cosine, sine = np.cos(angle), np.sin(angle)
    along = (1.0 - cosine) * (axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2])
    return (
        cosine * p[0] + sine * (axis[1] * p[2] - axis[2] * p[1]) + along * axis[0],
        cosine * p[1] + sine * (axis[2] * p[0] - axis[0] * p[2]) + along * axis[1],
        cosine * p[2] + sine * (axis[0] * p[1] - axis[1] * p[0]) + along * axis[2],
    )


@kernel()
def combine_anchors(
    point_nodes,
    point_bones,
    shares,
    from_joint,
    from_start,
    places,
    rest_nodes,
    nodes,
    bones,
    node_rotation_vectors,
    bone_rotations,
    axes,
    twists,
):
    """x = (1−t) (n + R_n p_joint) + t (s + R_b A p_bone + place · stretch), for every vertex.

    A turns about the bone's rest axis by place · twist.
    """
    positions = np.empty((len(point_nodes), 3))
    stretch = np.empty((len(bones), 3))
    for b in range(len(bones)):
        start, end = bones[b, 0], bones[b, 1]
        for i in range(3):
            stretch[b, i] = nodes[end, i] - nodes[start, i]
            for j in range(3):
                rest = rest_nodes[end, j] - rest_nodes[start, j]
                stretch[b, i] -= bone_rotations[b, i, j] * rest
    for v in range(len(positions)):
        n, b, t = point_nodes[v], point_bones[v], shares[v]
        start = bones[b, 0]
        point = _about_axis(from_start[v], axes[b], places[v] * twists[b])
        for i in range(3):
            by_joint, by_bone = nodes[n, i], nodes[start, i] + places[v] * stretch[b, i]
            for j in range(3):
                by_joint += node_rotation_vectors[n, i, j] * from_joint[v, j]
                by_bone += bone_rotations[b, i, j] * point[j]
            positions[v, i] = (1.0 - t) * by_joint + t * by_bone
    return positions


@kernel()
def _leave(point, low, high, radius, allowed):
    """Signed distance to a capsule; a point deeper than `allowed` is first moved out to it."""
    along, squared_length = 0.0, 0.0
    for k in range(3):
        along += (point[k] - low[k]) * (high[k] - low[k])
        squared_length += (high[k] - low[k]) ** 2
    place = min(max(along / squared_length, 0.0), 1.0) if squared_length > 0.0 else 0.0
    distance = 0.0
    for k in range(3):
        distance += (point[k] - low[k] - place * (high[k] - low[k])) ** 2
    distance = np.sqrt(distance)
    if distance - radius < allowed and distance > 0.0:
        scale = (radius + allowed) / distance
        for k in range(3):
            foot = low[k] + place * (high[k] - low[k])
            point[k] = foot + scale * (point[k] - foot)
    return distance - radius


@kernel()
def _leave_all(point, node, allowed, nodes, node_radii, node_bones, low, high, bone_radii):
    """Smallest signed distance to a joint and the bones that meet there; moves the point out."""
    nearest = np.inf
    for b in node_bones[node]:
        if b >= 0:
            nearest = min(nearest, _leave(point, low[b], high[b], bone_radii[b], allowed))
    return min(nearest, _leave(point, nodes[node], nodes[node], node_radii[node], allowed))


@kernel()
def signed_distances(points, point_nodes, nodes, node_radii, node_bones, low, high, bone_radii):
    """Signed distance of every vertex to the bones and the joint around it, metres."""
    distances = np.empty(len(points))
    for v in range(len(points)):
        distances[v] = _leave_all(
            points[v].copy(),
            point_nodes[v],
            -np.inf,
            nodes,
            node_radii,
            node_bones,
            low,
            high,
            bone_radii,
        )
    return distances


@kernel()
def project_outward(
    points,
    chosen,
    allowed,
    point_nodes,
    nodes,
    node_radii,
    node_bones,
    low,
    high,
    bone_radii,
):
    """Move the chosen vertices, in place, out of the bones and the joint around them."""
    for v in range(len(points)):
        if not chosen[v]:
            continue
        for _ in range(ROUNDS):
            distance = _leave_all(
                points[v],
                point_nodes[v],
                allowed[v],
                nodes,
                node_radii,
                node_bones,
                low,
                high,
                bone_radii,
            )
            if distance >= allowed[v] - 1e-12:
                break
