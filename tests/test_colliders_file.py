"""Environment read from JSON: what is read is what was written, and what is wrong is named."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_colliders import box_mesh

from corporeal.errors import FormatError, InputError
from corporeal.formats.registry import write_mesh
from corporeal.physics.contact.colliders.box import Box
from corporeal.physics.contact.colliders.capsule import Capsule
from corporeal.physics.contact.colliders.ground import Ground
from corporeal.physics.contact.colliders.mesh import MeshSolid
from corporeal.physics.contact.colliders.sphere import Sphere
from corporeal.physics.fast_projective_skinning.environment_file import read_environment


def written(folder: Path, content: object) -> Path:
    path = folder / "scene.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_every_shape_is_read(tmp_path: Path) -> None:
    write_mesh(tmp_path / "crate.obj", box_mesh((0.4, 0.4, 0.4)))
    track = [{"time": 0.0, "position": [0, 1, 2]}, {"time": 0.5, "rotation": [0, 0.4, 0]}]
    content = {
        "wind": {"velocity": [3, 0, 0], "drag": 0.5},
        "colliders": [
            {"shape": "ground"},
            {"shape": "box", "size": [0.5, 0.4, 0.3], "position": [0, 0.2, 1], "friction": 0},
            {"shape": "capsule", "radius": 0.1, "length": 1.0, "rotation": [0, 0, 1.5]},
            {"shape": "sphere", "radius": 0.1, "track": track},
            {"shape": "mesh", "file": "crate.obj"},
        ],
    }
    found = read_environment(written(tmp_path, content))
    kinds = [type(collider.shape) for collider in found.colliders]
    assert kinds == [Ground, Box, Capsule, Sphere, MeshSolid]
    assert found.wind is not None
    np.testing.assert_array_equal(found.wind.velocity, [3, 0, 0])
    assert (found.wind.drag, found.wind.density) == (0.5, 1.2)
    assert [c.friction for c in found.colliders[:2]] == [0.5, 0.0]
    np.testing.assert_allclose(found.colliders[1].at(3.0)[:3, 3], [0, 0.2, 1])
    np.testing.assert_allclose(found.colliders[3].at(0.25)[:3, 3], [0, 0.5, 1])
    np.testing.assert_allclose(found.colliders[2].at(0.0)[0, 0], np.cos(1.5))
    distance, _ = found.colliders[4].shape.distances(np.array([[0.0, 0.3, 0.0]]))
    np.testing.assert_allclose(distance, [0.1], atol=1e-6)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "no JSON"),
        ([], "the file holds list"),
        ({"collider": []}, "expected colliders, wind"),
        ({"colliders": {}}, "expected a list"),
        ({"colliders": [{"shape": "cone"}]}, "expected a shape of ground"),
        ({"colliders": [{"shape": ["box"]}]}, "expected a shape of ground"),
        ({"colliders": [{"shape": "box"}]}, "size among them"),
        ({"colliders": [{"shape": "box", "size": [1, 2]}]}, "expected three numbers"),
        ({"colliders": [{"shape": "box", "size": [1, 2, 0]}]}, "box edges"),
        ({"colliders": [{"shape": "sphere", "radius": "1"}]}, "expected a number"),
        ({"colliders": [{"shape": "ground", "track": []}]}, "list of placements"),
        ({"colliders": [{"shape": "ground", "track": [{"position": [0, 0, 0]}]}]}, "time among"),
        ({"wind": {"velocity": [1, 2, 3], "speed": 2}}, "wind holds"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, content: object, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        read_environment(written(tmp_path, content))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.json"):
        read_environment(tmp_path / "nowhere.json")
