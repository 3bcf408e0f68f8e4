"""Alembic caches, read back by the library itself. Needs the extra `alembic`."""

from pathlib import Path

import numpy as np
import pytest
from small_body import small_mesh
from takes import soft_take

from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.formats.alembic import write_alembic


@pytest.fixture(scope="module", autouse=True)
def _needs_alembic():
    pytest.importorskip("alembic3d", reason="needs the extra 'alembic' (alembic3d)")


def read(path: Path):
    """Schema of the one mesh of a file, with its archive, which must outlive it."""
    from alembic3d.Abc import IArchive, WrapExistingFlag
    from alembic3d.AbcGeom import IPolyMesh

    archive = IArchive(str(path))
    top = archive.getTop().getChild(0).getChild(0)
    return archive, IPolyMesh(top, WrapExistingFlag.kWrapExisting).getSchema()


def test_the_table_is_true(tmp_path: Path):
    """float32 vertices at every frame, quads (clockwise in the file), texture, rate."""
    from alembic3d.Abc import ISampleSelector

    take, mesh = soft_take(frames=6), small_mesh()
    vertices = np.asarray(take.vertices, np.float32)
    write_alembic(tmp_path / "a.abc", mesh, vertices, 24.0)
    archive, schema = read(tmp_path / "a.abc")
    assert schema.getNumSamples() == 6
    times = [schema.getTimeSampling().getSampleTime(frame) for frame in range(6)]
    np.testing.assert_allclose(times, np.arange(6) / 24)
    for frame in range(6):
        sample = schema.getValue(ISampleSelector(times[frame]))
        places = np.array([tuple(point) for point in sample.getPositions()], np.float32)
        np.testing.assert_array_equal(places, vertices[frame])
    corners = np.array(list(sample.getFaceIndices())).reshape(-1, 4)
    np.testing.assert_array_equal(corners[:, ::-1], mesh.quads)
    assert set(sample.getFaceCounts()) == {4}
    texture = schema.getUVsParam().getExpandedValue(ISampleSelector(0)).getVals()
    uv = np.array([tuple(value) for value in texture]).reshape(-1, 4, 2)[:, ::-1]
    np.testing.assert_allclose(uv[:, :3], mesh.uv[mesh.uv_triangles[0::2]], atol=1e-7)
    assert archive.valid()


def test_a_mesh_without_texture_or_quads_is_written(tmp_path: Path):
    mesh = Mesh(np.eye(3), np.array([[0, 1, 2]]))
    write_alembic(tmp_path / "a.abc", mesh, np.zeros((1, 3, 3)), 30.0)
    _, schema = read(tmp_path / "a.abc")
    assert schema.getNumSamples() == 1


@pytest.mark.parametrize(
    ("vertices", "fps", "words"),
    [
        (np.zeros((2, 5, 3)), 24.0, "frames of 5 vertices"),
        (np.zeros((0, 72, 3)), 24.0, "0 frames"),
        (np.zeros((2, 72, 3)), 0.0, "fps 0.0"),
        (np.full((2, 72, 3), np.inf), 24.0, "not finite"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, vertices, fps: float, words: str):
    with pytest.raises(InputError, match=words):
        write_alembic(tmp_path / "a.abc", small_mesh(), vertices, fps)
    assert list(tmp_path.iterdir()) == []
