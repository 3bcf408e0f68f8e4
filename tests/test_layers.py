"""Layers as a noun and as a file."""

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.body import Body
from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.layered_body import LayeredBody
from corporeal.body.layers import Layers
from corporeal.errors import FormatError, InputError
from corporeal.formats.layers import read_layers, write_layers
from corporeal.formats.native import read_body, write_body


@pytest.fixture(scope="module")
def example() -> LayeredBody:
    """Layers made by moving the average adult's skin inwards by 10 and 20 mm."""
    template = load_default_body().template
    skin = np.asarray(template.mesh.vertices, np.float64)
    layered = np.asarray(template.part_labels) == template.part_names.index("belly")
    way = np.where(layered[:, None], [0.0, 0.0, -0.01], 0.0)
    layers = Layers(
        skin,
        skin + way,
        skin + 2 * way,
        template.mesh.triangles,
        layered,
        Composition(17.0, 28.5),
        {"sex": "female", "stature": 1.66},
    )
    identity = Identity(skin, np.asarray(template.skeleton.joints), {"gender": np.asarray(0.0)})
    return LayeredBody(Body(template, identity, {"stature": 1.66}), layers)


def test_everything_survives_the_round_trip(example, tmp_path):
    write_layers(tmp_path / "anna.npz", example)
    back = read_layers(tmp_path / "anna.npz").layers
    for name in ("skin", "muscle", "bone", "triangles", "layered"):
        np.testing.assert_array_equal(getattr(back, name), getattr(example.layers, name))
    assert back.composition is not None
    assert (back.composition.fat_mass, back.composition.muscle_mass) == (17.0, 28.5)
    assert back.metadata == {"sex": "female", "stature": 1.66}


def test_a_layers_file_is_a_body_file_too(example, tmp_path):
    write_layers(tmp_path / "anna.npz", example)
    body = read_body(tmp_path / "anna.npz")
    np.testing.assert_array_equal(body.identity.rest_vertices, example.layers.skin)


def test_a_body_file_is_no_layers_file(example, tmp_path):
    write_body(tmp_path / "anna.npz", example.body)
    with pytest.raises(FormatError, match="corporeal-layers"):
        read_layers(tmp_path / "anna.npz")


def test_layers_of_another_body_are_not_written(example, tmp_path):
    other = Identity(example.layers.skin * 1.1, np.zeros((52, 3)), {})
    wrong = LayeredBody(Body(example.body.template, other, {}), example.layers)
    with pytest.raises(InputError, match="body's skin"):
        write_layers(tmp_path / "anna.npz", wrong)
    assert not (tmp_path / "anna.npz").exists()


@pytest.mark.parametrize("mass", [-1.0, float("nan"), float("inf")])
def test_masses_below_zero_are_refused(mass):
    with pytest.raises(InputError, match="fat_mass"):
        Composition(mass, 20.0)


def test_layers_that_leave_the_skin_outside_their_region_are_refused(example):
    layers = example.layers
    with pytest.raises(InputError, match="leaves the skin by 10 mm"):
        Layers(
            layers.skin,
            layers.muscle,
            layers.bone,
            layers.triangles,
            np.zeros_like(layers.layered),
        )
