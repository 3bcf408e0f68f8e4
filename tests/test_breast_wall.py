"""The wall behind a woman's breasts has none of their shape."""

import numpy as np
import pytest

from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.nesting import check_nesting
from corporeal.anatomy.template import layered_template
from corporeal.anthropometry import landmarks as at
from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.models.phenotype.model import PhenotypeModel

NIPPLE = int(at.THELION.members[0])


@pytest.fixture(scope="module", params=["slim", "heavy"])
def woman(request) -> Layers:
    model = PhenotypeModel()
    if request.param == "slim":
        body = model.prepare({"gender": 0.0, "weight": 0.3, "cup": 0.7, "age": 25.0})
        return fit_layers(body, "female", Composition(15.0, 17.0))
    fat = {f"adiposity-{name}": 0.6 for name in ("belly", "torso", "hips", "thighs", "arms")}
    body = model.prepare({"gender": 0.0, "cup": 0.8, "age": 45.0, "firmness": 0.5}, fat)
    return fit_layers(body, "female", Composition(38.0, 22.0))


def relief(surface: np.ndarray, vertex: int) -> float:
    """How far a surface stands out within 12 mm of a vertex from the plane of what lies 25 to 45 mm
    away, metres: a flank that bends evenly has a few millimetres."""
    away = np.linalg.norm(surface - surface[vertex], axis=1)
    ring = surface[(away > 0.025) & (away < 0.045)]
    middle = ring.mean(axis=0)
    normal = np.linalg.svd(ring - middle)[2][2]
    heights = (surface[away < 0.012] - middle) @ normal
    return float(np.ptp(heights))


def test_no_nipple_on_the_wall(woman):
    """Skin within 12 mm of a nipple is over 4 mm high. Behind it a wall with a radius of 8 cm or
    more rises by 12²/(2·80) = 0.9 mm there, and as much again where it leans."""
    skin, muscle, bone = (np.asarray(s, float) for s in (woman.skin, woman.muscle, woman.bone))
    assert relief(skin, NIPPLE) > 0.004
    assert relief(muscle, NIPPLE) < 0.002
    assert relief(bone, NIPPLE) < 0.003


def test_wall_bends_gently(woman):
    """Neighbouring triangles of muscle and bone surface behind the breasts never bend by 30°, those
    of the skin do at the nipple."""
    template = layered_template("female")
    parts = np.array(template.body.part_names)[template.body.part_labels]
    breast = np.isin(parts, ("left_breast", "right_breast"))
    skin, muscle, bone = (
        sharpest(np.asarray(s, float), woman, breast)
        for s in (woman.skin, woman.muscle, woman.bone)
    )
    assert skin > 40.0
    assert muscle < 30.0
    assert bone < 30.0


def sharpest(surface: np.ndarray, layers: Layers, region: np.ndarray) -> float:
    """Largest angle between the normals of triangles that share an edge in a region, degrees."""
    triangles = layers.triangles[region[layers.triangles].all(axis=1)]
    corner = surface[triangles]
    normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    sides: dict[tuple[int, int], list[int]] = {}
    for index, triangle in enumerate(triangles.tolist()):
        for k in range(3):
            edge = sorted((triangle[k], triangle[(k + 1) % 3]))
            sides.setdefault((edge[0], edge[1]), []).append(index)
    pairs = np.array([pair for pair in sides.values() if len(pair) == 2])
    cosines = np.einsum("pd,pd->p", normals[pairs[:, 0]], normals[pairs[:, 1]])
    return float(np.degrees(np.arccos(np.clip(cosines.min(), -1.0, 1.0))))


def test_layers_stay_nested(woman):
    assert check_nesting(woman).sound
