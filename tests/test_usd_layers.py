"""Layers as USD: USD's own reader finds three meshes. Needs the extra `usd`."""

from pathlib import Path

import numpy as np
import pytest

from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.errors import InputError

pytest.importorskip("pxr", reason="needs the extra 'usd' (usd-core)")

TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def nested() -> Layers:
    """A tetrahedron in a tetrahedron in a tetrahedron, edges of 1, 0.5 and 0.25 m."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    skin, muscle, bone = (0.25 + scale * (corners - 0.25) for scale in (1.0, 0.5, 0.25))
    return Layers(skin, muscle, bone, TETRAHEDRON, np.ones(4, bool), Composition(17.0, 28.5))


def test_every_layer_is_a_mesh_of_its_own(tmp_path: Path):
    from pxr import Usd, UsdGeom

    from corporeal.formats.usd_layers import write_usd_layers

    layers = nested()
    write_usd_layers(tmp_path / "a.usdc", layers)
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    root = stage.GetDefaultPrim()
    assert [child.GetName() for child in root.GetChildren()] == ["bone", "muscle", "skin"]
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    for name in ("bone", "muscle", "skin"):
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"/layers/{name}"))
        points = np.array(mesh.GetPointsAttr().Get())
        np.testing.assert_allclose(points, getattr(layers, name), rtol=0, atol=1e-7)
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
        np.testing.assert_array_equal(corners, TETRAHEDRON)
    assert root.GetAttribute("userProperties:fat_mass_kg").Get() == 17.0
    assert root.GetAttribute("userProperties:muscle_mass_kg").Get() == 28.5


def test_only_the_skin_is_translucent(tmp_path: Path):
    from pxr import Usd, UsdGeom

    from corporeal.formats.usd_layers import write_usd_layers

    write_usd_layers(tmp_path / "a.usda", nested())
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    opacity = {
        name: UsdGeom.Mesh(stage.GetPrimAtPath(f"/layers/{name}")).GetDisplayOpacityAttr().Get()
        for name in ("bone", "muscle", "skin")
    }
    assert opacity["bone"] is None
    assert opacity["muscle"] is None
    assert 0 < opacity["skin"][0] < 1


def test_another_suffix_is_refused(tmp_path: Path):
    from corporeal.formats.usd_layers import write_usd_layers

    with pytest.raises(InputError, match=r"\.usd, \.usdc or \.usda"):
        write_usd_layers(tmp_path / "a.obj", nested())
    assert list(tmp_path.iterdir()) == []
