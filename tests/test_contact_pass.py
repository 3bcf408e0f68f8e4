"""The contact pass of learned flesh: closed forms on sheets, and the default body."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.dynamics.contact_pass import _rows
from corporeal.dynamics.contact_pass_cpu import CLEARANCE, RINGS, pressed_apart
from corporeal.dynamics.dmpl.model import DmplSkinning
from corporeal.errors import InputError
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.geometry.surface import vertex_adjacency
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.live_character import write_live_character
from corporeal.pipelines.presentation import Presentation

EDGE = 0.01


def sheet(size: int, height: float, up: bool, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A flat grid of `size`² squares of one edge, facing up or down."""
    i, j = np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij")
    points = np.stack([EDGE * i + shift, np.full(i.shape, height), EDGE * j + shift], -1)
    a = (np.arange(size)[:, None] * (size + 1) + np.arange(size)).ravel()
    b, c, d = a + 1, a + size + 1, a + size + 2
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([b, d, c], 1)])
    return points.reshape(-1, 3), triangles if up else triangles[:, ::-1]


def pressed(points, triangles, candidates, thickness, hold=0.0, rest=None):
    """The kernel with everything that it needs of a surface."""
    count = len(points)
    near = csr_array(vertex_adjacency(triangles, count).astype(np.int64))
    near.sort_indices()
    beside = (near.indptr.astype(np.int64), near.indices.astype(np.int64))
    around = _rows(triangles.ravel(), np.arange(3 * len(triangles)) // 3, count)
    away = np.array([0.0, 1.0, 0.0]) * (np.arange(count) % 2)[:, None]
    moved, vertices, _ = pressed_apart(
        points, candidates.astype(np.int32), points + away if rest is None else rest, triangles,
        np.zeros(count, bool), *beside, *around, *beside, np.asarray(thickness, np.float64),
        np.full(count, hold),
    )  # fmt: skip
    return moved, len(vertices)


def lifted(points: np.ndarray, first: int) -> np.ndarray:
    """Where two things were at rest: the second, from a vertex on, a metre over the first."""
    return points + np.array([0.0, 1.0, 0.0]) * (np.arange(len(points)) >= first)[:, None]


@pytest.mark.parametrize("overlap", [0.002, 0.01, 0.03])
def test_two_equal_slabs_give_way_alike(overlap: float) -> None:
    """Two equal slabs that overlap move by opposite displacements, by symmetry, and end apart by
    the clearance, or somewhat more: rounds stop within a twentieth of what they had to do."""
    low, triangles = sheet(10, 0.0, up=True)
    high, turned = sheet(10, -overlap, up=False)
    points, count = np.concatenate([low, high]), len(low)
    both = np.ascontiguousarray(np.concatenate([triangles, turned + count]))
    middle, square = np.arange(count), 4 * 10 + 4
    pairs = np.concatenate([
        np.stack([middle, np.full(count, square + len(triangles))], axis=1),
        np.stack([middle + count, np.full(count, square)], axis=1),
    ])  # fmt: skip
    moved, found = pressed(points, both, pairs, np.full(2 * count, 0.1), rest=lifted(points, count))
    assert found == 2 * count
    np.testing.assert_allclose(moved[count:], -moved[:count], atol=1e-12)
    np.testing.assert_allclose(moved[:, [0, 2]], 0.0, atol=0.02 * overlap)
    gaps = (points + moved)[count:, 1] - (points + moved)[:count, 1]
    assert gaps.min() > 0.9 * CLEARANCE
    assert gaps.max() < CLEARANCE + 0.05 * (overlap + CLEARANCE)


@pytest.mark.parametrize("ratio", [1.0, 3.0])
def test_one_pair_is_shared_by_squared_thickness(ratio: float) -> None:
    """A vertex under the middle of a triangle (b = 1/3): displacements along the normal are shared
    as l² to Σ b² l², a third, and part the pair by what is lacking; nothing spreads (hold 1e9).
    The triangle's normal leans by the slope of its neighbours, (1 mm / edge)²/2 < 1 %."""
    low, triangles = sheet(2, 0.0, up=True)
    points = np.concatenate([low, [low[triangles[0]].mean(axis=0) - [0, 0.004, 0]]])
    thickness = np.full(len(points), 0.02)
    thickness[-1] = 0.02 * ratio
    pairs = np.array([[len(low), 0]])
    moved, found = pressed(
        points, triangles, pairs, thickness, hold=1e9, rest=lifted(points, len(low))
    )
    up, down = moved[-1, 1], moved[triangles[0], 1].mean()
    assert found == 1
    assert up - down == pytest.approx(0.004 + CLEARANCE, rel=0.01)
    assert up / -down == pytest.approx(3 * ratio**2, rel=0.01)


def test_a_rigid_sphere_dents_a_plane() -> None:
    """A sphere of thin flesh keeps its shape, and thick flesh under it takes on the sphere's:
    points of the plane well inside the first circle are at the radius and the clearance from the
    middle, less what facets lie under the sphere (e²/4R) and with a tenth of the depth to spare.
    What is further away than skin gives way stays where it is, to the bit."""
    radius, depth, size = 0.06, 0.012, 60
    plane, flat = sheet(size, 0.0, up=True)
    plane[:, [0, 2]] -= 0.5 * size * EDGE
    ball, faces = icosphere(3)
    ball = radius * ball + [0.0013, radius - depth, 0.0021]
    points, count = np.concatenate([plane, ball]), len(plane)
    both = np.ascontiguousarray(np.concatenate([flat, faces + count]))
    circle = np.sqrt(radius**2 - (radius - depth) ** 2)
    away = np.hypot(plane[:, 0], plane[:, 2])
    lowest = int(np.argmin(ball[faces].mean(axis=1)[:, 1])) + len(flat)
    under = np.flatnonzero(away < circle)
    low = np.flatnonzero(ball[:, 1] < 0) + count
    start = (size // 2) * size + size // 2
    pairs = np.concatenate([
        np.stack([under, np.full(len(under), lowest)], axis=1),
        np.stack([low, np.full(len(low), start)], axis=1),
    ])  # fmt: skip
    thickness = np.where(np.arange(len(points)) < count, 0.1, 0.001)
    moved, _ = pressed(points, both, pairs, thickness, hold=0.015, rest=lifted(points, count))
    assert np.abs(moved[count:]).max() < 1e-3 * depth + 1e-5
    middle = ball.mean(axis=0)
    inner = under[away[under] < 0.7 * circle]
    seen = np.linalg.norm((points + moved)[inner] - middle, axis=1)
    sag = (0.15 * radius * 2) ** 2 / (4 * radius)
    assert seen.min() > radius - sag + 0.9 * CLEARANCE
    assert seen.max() < radius + CLEARANCE + 0.1 * depth
    far = away > circle + (RINGS + 2) * 1.5 * EDGE
    assert not moved[:count][far].any()


def icosphere(rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """A unit sphere of equal triangles, counter-clockwise seen from outside."""
    from scipy.spatial import ConvexHull

    golden = (1 + 5**0.5) / 2
    corners = [(0, a, b * golden) for a in (-1, 1) for b in (-1, 1)]
    points = np.array([np.roll(c, k) for c in corners for k in range(3)], float)
    for _ in range(rounds):
        faces = ConvexHull(points / np.linalg.norm(points, axis=1)[:, None]).simplices
        edges = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
        points = np.concatenate([points, points[edges].mean(axis=1)])
        points /= np.linalg.norm(points, axis=1)[:, None]
    faces = ConvexHull(points).simplices
    normals = np.cross(points[faces[:, 1]] - points[faces[:, 0]],
                       points[faces[:, 2]] - points[faces[:, 0]])  # fmt: skip
    inward = np.sum(normals * points[faces[:, 0]], axis=1) < 0
    faces[inward] = faces[inward][:, ::-1]
    return points, faces.astype(np.int64)


@pytest.fixture(scope="module")
def heavy() -> tuple[DmplSkinning, Identity]:
    """The DMPL that ships, and somebody whose belly is in the way of arms."""
    body = PhenotypeModel()
    return DmplSkinning(body.template), body.prepare({"gender": 1.0, "weight": 1.0, "muscle": 0.3})


def arms_on_the_belly(deformer: DmplSkinning, elbow: float) -> Pose:
    """Both forearms across the front; further in for a larger angle, radians."""
    skeleton = deformer.template.skeleton
    turns = np.zeros((1, skeleton.joint_count, 3), np.float32)
    for name, side in (("left", 1), ("right", -1)):
        turns[0, skeleton.index(f"{name}_shoulder")] = 1.0, -0.7 * side, -0.8 * side
        turns[0, skeleton.index(f"{name}_elbow")] = 0.0, -elbow * side, 0.0
    return Pose(turns, np.zeros((1, 3), np.float32))


def test_arms_come_out_of_the_belly(heavy: tuple[DmplSkinning, Identity]) -> None:
    """Arms a centimetre in the belly are out of it, by another meter (winding numbers) than what
    finds them; the same skin gives the same answer to the bit, and its answer hardly another: flesh
    at rest does not flicker."""
    deformer, who = heavy
    triangles = np.asarray(deformer.template.mesh.triangles)
    meter = PenetrationMeter(np.asarray(who.rest_vertices, np.float64), triangles)
    pose = arms_on_the_belly(deformer, 1.2)
    skin = np.asarray(deformer.shown(who, pose, None), np.float64)
    assert meter.depths(skin[0]).max() > 5e-3
    moved = deformer.pressed_apart(who, pose, skin)
    assert meter.depths((skin + moved)[0]).max() < 1e-3
    np.testing.assert_array_equal(moved, deformer.pressed_apart(who, pose, skin))
    again = deformer.pressed_apart(who, pose, skin + moved)
    assert np.linalg.norm(again, axis=-1).max() < 0.1 * np.linalg.norm(moved, axis=-1).max()


def test_a_small_step_of_the_arms_is_a_small_step_of_the_skin(
    heavy: tuple[DmplSkinning, Identity],
) -> None:
    """Feet change triangles and pairs come and go, but continuously: an elbow that bends by a
    thousandth of a radian (0.3 mm at the hand) moves no vertex by more than a few times that."""
    deformer, who = heavy
    found = []
    for elbow in np.linspace(1.15, 1.155, 6):
        pose = arms_on_the_belly(deformer, float(elbow))
        skin = np.asarray(deformer.shown(who, pose, None), np.float64)
        found.append((skin + deformer.pressed_apart(who, pose, skin))[0])
    steps = np.linalg.norm(np.diff(found, axis=0), axis=-1)
    assert steps.max() < 2e-3


def test_rest_is_left_alone(heavy: tuple[DmplSkinning, Identity]) -> None:
    """What is near other skin at rest is no contact there: the zero pose is kept to the bit."""
    deformer, who = heavy
    count = deformer.template.skeleton.joint_count
    still = Pose(np.zeros((1, count, 3), np.float32), np.zeros((1, 3), np.float32))
    skin = np.asarray(deformer.shown(who, still, None))
    assert not deformer.pressed_apart(who, still, skin).any()


def test_clips_steppers_and_offsets_agree(heavy: tuple[DmplSkinning, Identity]) -> None:
    """A clip under `contacts` is what a stepper shows, its offsets skinned are its vertices, and
    without contact it is the plain take."""
    deformer, who = heavy
    pose, fps = arms_on_the_belly(deformer, 1.2), 60.0
    turns = np.repeat(np.asarray(pose.joint_rotations), 4, axis=0)
    roots = np.zeros((4, 3), np.float32)
    roots[:, 1] = 0.02 * np.arange(4) ** 2
    motion = Motion("hop", fps, turns, roots, deformer.template.skeleton)
    take = deformer.animate(who, motion, {"contacts": True})
    plain = deformer.animate(who, motion)
    assert np.abs(np.asarray(take.vertices) - np.asarray(plain.vertices)).max() > 5e-3
    assert take.dynamic_offsets is not None
    assert plain.dynamic_offsets is not None
    change = np.asarray(take.dynamic_offsets) - np.asarray(plain.dynamic_offsets)
    rows = deformer.static.skinning.vertex_motions(who, motion.poses)
    carried = np.stack([sum(row[c] * change[..., c] for c in range(3)) for row in rows], axis=-1)
    moved = np.asarray(take.vertices) - np.asarray(plain.vertices)
    np.testing.assert_allclose(carried, moved, atol=2e-6)
    stepper = deformer.stepper({"contacts": True})
    moment = stepper.start(who, Pose(turns[0], roots[0]))
    for n in range(1, 4):
        moment = stepper.step(moment, Pose(turns[n], roots[n]), 1.0 / fps)
    np.testing.assert_allclose(stepper.skin(moment), np.asarray(take.vertices)[3], atol=1e-4)


def test_scripts_of_engines_refuse_contacts(
    heavy: tuple[DmplSkinning, Identity], tmp_path: Path
) -> None:
    """A script that drives morph targets does not know where skin meets."""
    deformer, who = heavy
    pose = arms_on_the_belly(deformer, 1.2)
    skeleton = deformer.template.skeleton
    motion = Motion("still", 60.0, pose.joint_rotations, pose.root_translation, skeleton)
    take = deformer.animate(who, motion)
    with pytest.raises(InputError, match="--contacts came with --live"):
        write_live_character(
            tmp_path / "anna.glb", deformer.static, take, Presentation(), deformer,
            {"contacts": True},
        )  # fmt: skip
