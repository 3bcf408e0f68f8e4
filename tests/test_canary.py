"""The canary: if shape annotations stopped being checked, every other test would mean less."""

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from corporeal.body.mesh import Mesh, triangles_from_quads


def test_wrong_shape_of_a_function_argument_is_caught():
    with pytest.raises(TypeCheckError):
        triangles_from_quads(np.zeros((2, 3), int))


def test_wrong_shape_of_a_noun_field_is_caught():
    with pytest.raises(TypeCheckError):
        Mesh(np.zeros((4, 2)), np.zeros((1, 3), int))
