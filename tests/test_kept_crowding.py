"""What extreme poses tell of anchors is found once, and kept for the next process."""

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.tissue_maps import TissueMaps
from corporeal.physics.fast_projective_skinning.extreme_shapes import ExtremeShapes
from corporeal.physics.fast_projective_skinning.kept_crowding import (
    crowding_key,
    keep_crowding,
    kept_crowding,
)
from corporeal.physics.fast_projective_skinning.preparation import Preparations

TEMPLATE = load_default_body().template


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture(scope="module")
def coarse():
    rest = np.asarray(TEMPLATE.mesh.vertices, np.float64)
    identity = Identity(rest, np.asarray(TEMPLATE.skeleton.joints, np.float64), {})
    return Preparations(TEMPLATE).of(identity, "sculpted").coarse


def test_what_is_kept_comes_back_bit_by_bit():
    """Counts that are no multiple of eight lose and gain nothing; nowhere is not nothing."""
    mask = np.random.default_rng(1).random(4703) < 0.1
    keep_crowding("some", mask)
    found = kept_crowding("some", 4703)
    assert found is not None
    np.testing.assert_array_equal(found[0], mask)
    assert kept_crowding("other", 4703) is None
    assert kept_crowding("some", 4711) is None  # of another surface: found anew
    keep_crowding("some", None)
    assert kept_crowding("some", 4703) == (None,)


def test_the_key_tells_maps_poses_and_surfaces_apart(coarse):
    plain = crowding_key(TEMPLATE, TissueMaps(), coarse, "sculpted")
    painted = TissueMaps(stiffness=np.full(TEMPLATE.mesh.vertex_count, 2.0))
    assert crowding_key(TEMPLATE, TissueMaps(), coarse, "sculpted") == plain
    assert crowding_key(TEMPLATE, painted, coarse, "sculpted") != plain
    assert crowding_key(TEMPLATE, TissueMaps(), coarse, "zero") != plain


def test_a_person_takes_what_was_kept_and_bends_nobody(coarse, monkeypatch):
    mask = np.arange(coarse.vertex_count) % 5 == 0
    # those of plain flesh ship
    maps = TissueMaps(stiffness=np.full(TEMPLATE.mesh.vertex_count, 2.0))
    keep_crowding(crowding_key(TEMPLATE, maps, coarse, "sculpted"), mask)

    def bent(*_):
        raise AssertionError("the template's body was bent although its fate is known")

    monkeypatch.setattr(ExtremeShapes, "crowded", bent)
    rest = np.asarray(TEMPLATE.mesh.vertices, np.float64)
    identity = Identity(rest, np.asarray(TEMPLATE.skeleton.joints, np.float64), {})
    preparation = Preparations(TEMPLATE, maps=maps).of(identity, "sculpted")
    np.testing.assert_array_equal(preparation._crowded(), mask)
