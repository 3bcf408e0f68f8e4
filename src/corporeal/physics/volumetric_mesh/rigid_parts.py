"""Parts of a labelled body that are not simulated.

Komaritzan 2022, section 3.3: the face is left out, and anchored where it joins the neck.
"""

import numpy as np

from corporeal._typing import Int, NumpyArray
from corporeal.body.template import Template

HEAD_PARTS = ("head", "inner_mouth", "left_eye_socket", "right_eye_socket")
FEET = ("left_foot", "right_foot")


def rigid_head_and_toes(template: Template) -> Int[NumpyArray, "V"]:
    """Joint that every vertex of head and toes follows rigidly; −1 elsewhere.

    The head is chosen by part labels, toes as what lies ahead of the foot joint (the ball of the
    foot): cavities and gaps between toes send shrink lines outside the skin, and neither moves like
    flesh.
    """
    joints = np.full(template.mesh.vertex_count, -1, np.int64)
    head = [template.part_names.index(name) for name in HEAD_PARTS if name in template.part_names]
    joints[np.isin(template.part_labels, head)] = template.skeleton.index("head")
    vertices = np.asarray(template.mesh.vertices)
    positions = np.asarray(template.skeleton.joints)
    for foot in FEET:
        joint = template.skeleton.index(foot)
        part = template.part(foot)
        ahead = positions[joint] - positions[template.skeleton.parents[joint]]
        ahead = ahead * [1.0, 0.0, 1.0]  # along the ground
        joints[part[(vertices[part] - positions[joint]) @ ahead > 0.0]] = joint
    return joints
