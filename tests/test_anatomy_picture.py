"""Cut-away and see-through pictures, on balls in balls, whose sections are circles."""

import math
from pathlib import Path

import numpy as np
import pytest
from solids import icosphere

from corporeal.anatomy.warp import MOST_BENDING, stiffened
from corporeal.body.layers import Layers
from corporeal.errors import InputError
from corporeal.scene.anatomy_picture import FAT, MUSCLE, Figure, anatomy_picture, filled_share
from corporeal.scene.camera import Camera, focal_length
from corporeal.scene.cutting import Plane, cut
from corporeal.scene.scene import Surface
from corporeal.scene.veil import CLEAR, DENSE, veiled

FRONT = Plane(np.array([0.0, 0.0, 1.0]), 0.0)
RADII = (0.5, 0.4, 0.3)
"""Of skin, muscle and bone, metres."""


def nested() -> Layers:
    points, faces = icosphere(4)
    skin, muscle, bone = (radius * points for radius in RADII)
    return Layers(skin, muscle, bone, faces, np.ones(len(points), bool))


class TestCut:
    def test_the_section_of_a_ball_is_a_circle(self) -> None:
        """At z = h its radius is √(r² − h²), within the sagitta of the triangulation's edges."""
        points, faces = icosphere(4)
        made = cut(points, faces, Plane(np.array([0.0, 0.0, 1.0]), 0.6))
        np.testing.assert_allclose(made.section[..., 2], 0.6, atol=1e-12)
        radius = np.linalg.norm(made.section[..., :2], axis=-1)
        np.testing.assert_allclose(radius, 0.8, atol=4e-3)
        assert made.vertices[made.triangles][..., 2].max() < 0.6 + 1e-12

    def test_what_is_left_is_closed_but_for_the_section(self) -> None:
        """Σ area vectors of a closed surface are 0: the cap's area vector is what is missing."""
        points, faces = icosphere(4)
        made = cut(points, faces, FRONT)
        corners = made.vertices[made.triangles]
        vectors = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
        a, b = made.section[:, 0], made.section[:, 1]
        cap = np.abs(np.cross(a, b)[:, 2]).sum() / 2
        np.testing.assert_allclose(vectors.sum(axis=0), [0, 0, -cap], atol=1e-9)

    def test_surfaces_beside_the_plane_stay_or_go_whole(self) -> None:
        points, faces = icosphere(2)
        assert len(cut(points - [0, 0, 2], faces, FRONT).triangles) == len(faces)
        assert len(cut(points + np.array([0, 0, 2]), faces, FRONT).triangles) == 0

    def test_triangles_of_another_mesh_are_refused(self) -> None:
        with pytest.raises(InputError, match="name vertex"):
            cut(np.zeros((3, 3)), np.array([[0, 1, 3]]), FRONT)


def test_even_odd_area_of_a_square_with_a_hole() -> None:
    """In pixels (f/d)² times the area in metres, within the outline's samples."""
    camera = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))

    def square(size: float) -> np.ndarray:
        corners = size * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        return np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)

    both = np.concatenate([square(0.4), square(0.2)])
    share = filled_share(both, camera, 300, 200)
    scale = focal_length(camera.field_of_view, 200) / 4.0
    assert share.sum() == pytest.approx(scale**2 * (0.8**2 - 0.4**2), rel=0.01)
    assert share[100, 150] == 0.0
    assert share.max() == 1.0


def test_a_veil_is_clear_in_the_middle_and_dense_at_the_rim() -> None:
    points, faces = icosphere(4)
    camera = Camera((0.0, 0.0, 20.0), (0.0, 0.0, 0.0), math.radians(8))
    black, white = np.zeros((200, 200, 3), np.uint8), np.full((200, 200, 3), 255, np.uint8)
    made = veiled(black, white, [Surface.plain(points, faces)], camera)
    light = (made[..., 0] / 255.0) ** 2.2
    assert light[100, 100] == pytest.approx(CLEAR, abs=0.01)
    row = light[100]
    assert (CLEAR + DENSE) / 2 < row.max() <= DENSE
    assert row[0] == 0.0


def test_fat_and_muscle_fill_rings_of_the_right_area(tmp_path: Path) -> None:
    """Seen square on, areas are as r_skin² − r_muscle² to r_muscle² − r_bone²."""
    figure = Figure(nested(), (), "cut")
    pixels = anatomy_picture([figure], tmp_path / "cut.png", width=500, azimuth=0.0)
    counts = []
    for colour in (FAT, MUSCLE):
        flat = np.round(255 * np.asarray(colour) ** (1 / 2.2))
        counts.append((np.abs(pixels - flat).max(axis=2) <= 1).sum())
    wanted = (0.5**2 - 0.4**2) / (0.4**2 - 0.3**2)
    assert counts[0] / counts[1] == pytest.approx(wanted, rel=0.05)
    assert (tmp_path / "cut.png").stat().st_size > 1000


def test_a_see_through_figure_shows_what_is_inside() -> None:
    """Muscle on the person's left (the picture's right), and no muscle on the other side."""
    pixels = anatomy_picture([Figure(nested(), (), "see-through")], width=400, azimuth=0.0)
    middle = pixels.shape[0] // 2
    left, right = (pixels[middle, c].astype(int) for c in (160, 240))
    assert right[0] - right[2] > left[0] - left[2] + 40


def test_nothing_to_draw_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no figure"):
        anatomy_picture([], tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


class TestStiffBones:
    points = 0.1 * np.random.default_rng(3).normal(size=(200, 3)) * [1.0, 3.0, 1.0]

    def test_affine_maps_are_kept(self) -> None:
        """To the hold's share, 10⁻³ squared."""
        matrix = np.array([[1.1, 0.1, 0.0], [0.0, 0.9, 0.05], [0.0, 0.0, 1.05]])
        moved = self.points @ matrix.T + [0.1, -0.2, 0.3]
        np.testing.assert_allclose(stiffened(self.points, moved), moved, atol=1e-5)

    def test_a_part_that_is_drawn_out_stays_with_the_rest(self) -> None:
        """One vertex in twenty pulled by 60 mm: the others hardly move, it by at most 8 mm."""
        moved = self.points.copy()
        moved[::20] += [0.0, 0.0, 0.06]
        made = stiffened(self.points, moved)
        off = np.linalg.norm(made - self.points, axis=1)
        assert off[::20].max() < MOST_BENDING + 1e-3
        assert np.delete(off, np.arange(0, 200, 20)).max() < 1e-3
