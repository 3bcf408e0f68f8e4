"""Parts of a labelled body whose skin joints carry, instead of being simulated.

Komaritzan 2022, section 3.3: the face is left out, and anchored where it joins the neck. Toes and
hands are left out as well. Cavities and gaps between toes send shrink lines outside the skin; the
flesh of a finger is a few millimetres thick, hardly moves by itself, and in a fist is bent three
times by a right angle. So is the front half of the foot: between toes that are carried and a ball
that was not, elements of a few millimetres were inside out in most frames of a run.
"""

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Bool, Int, NumpyArray
from corporeal.body.template import Template

HEAD_PARTS = ("head", "inner_mouth", "left_eye_socket", "right_eye_socket")
FEET = ("left_foot", "right_foot")
HANDS = ("left_hand", "right_hand")
_WRISTS = ("left_wrist", "right_wrist")
_WHOLE = 0.999
"""Share of a hand's vertex that goes with the wrist and the joints beyond it."""
_BEHIND = 0.5
"""Share of the way from the ball of the foot back to the ankle that joints carry: in the middle
between the two all goes with the ankle, whether the skin's weights say so or the coupling."""


def carried_parts(template: Template) -> csr_array:
    """Shares (V × J) of the joints that carry head, hands and toes; rows of other vertices, and of
    bodies without these parts, are empty.

    The head is chosen by part labels and follows its joint. Hands go by the skin's weights, where
    no forearm takes part; so does the front half of a foot.
    """
    count = template.skeleton.joint_count
    joints = np.full(template.mesh.vertex_count, -1, np.int64)
    if not {HEAD_PARTS[0], *FEET} <= set(template.part_names):
        return followers(joints, count)
    joints[in_head(template)] = template.skeleton.index("head")
    chosen = _in_hands(template)
    for foot in FEET:
        chosen[_ahead(template, foot, _BEHIND)] = True
    weights = np.where(chosen[:, None], template.weights.dense(), 0.0)
    total = np.maximum(weights.sum(axis=1, keepdims=True), _WHOLE)
    return csr_array(followers(joints, count) + csr_array(weights / total))


def is_carried(template: Template) -> Bool[NumpyArray, "V"]:
    """Vertices that joints carry."""
    return np.diff(carried_parts(template).indptr) > 0


def in_head(template: Template) -> Bool[NumpyArray, "V"]:
    """Vertices of the head and its cavities."""
    head = [template.part_names.index(name) for name in HEAD_PARTS if name in template.part_names]
    return np.isin(template.part_labels, head)


def followers(joints: Int[NumpyArray, "V"], joint_count: int) -> csr_array:
    """Shares (V × J) of vertices that each follow one joint rigidly; none where it is −1."""
    vertices = np.flatnonzero(joints >= 0)
    ones = np.ones(len(vertices))
    return csr_array((ones, (vertices, joints[vertices])), shape=(len(joints), joint_count))


def toes(template: Template, foot: str) -> Int[NumpyArray, "k"]:
    """Vertices ahead of the foot joint, along the ground."""
    return _ahead(template, foot, 0.0)


def _ahead(template: Template, foot: str, back: float) -> Int[NumpyArray, "k"]:
    """Vertices ahead of a place that is a share `back` of the way from the foot joint to the
    ankle."""
    positions = np.asarray(template.skeleton.joints)
    joint, part = template.skeleton.index(foot), template.part(foot)
    ahead = positions[joint] - positions[template.skeleton.parents[joint]]
    along = ahead * [1.0, 0.0, 1.0]
    vertices = np.asarray(template.mesh.vertices)[part]
    return part[(vertices - positions[joint] + back * ahead) @ along > 0.0]


def _in_hands(template: Template) -> Bool[NumpyArray, "V"]:
    """Vertices of hands that no joint before the wrist moves."""
    chosen = np.zeros(template.mesh.vertex_count, bool)
    skeleton, weights = template.skeleton, template.weights.dense()
    for hand, wrist in zip(HANDS, _WRISTS, strict=True):
        if hand not in template.part_names or wrist not in skeleton.names:
            continue
        beyond = _beyond(skeleton.parents, skeleton.index(wrist))
        part = template.part(hand)
        chosen[part[weights[part][:, beyond].sum(axis=1) >= _WHOLE]] = True
    return chosen


def _beyond(parents: tuple[int, ...], joint: int) -> Bool[NumpyArray, "J"]:
    """A joint and all that hang on it."""
    found = np.zeros(len(parents), bool)
    found[joint] = True
    for child, parent in enumerate(parents):
        found[child] |= parent >= 0 and found[parent]
    return found
