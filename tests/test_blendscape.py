"""BlendSCAPE: stitching, equations, training on data from a known model, files."""

from dataclasses import replace

import numpy as np
import pytest
import synthetic
from dynamics_models import small_blendscape
from scipy.spatial.transform import Rotation

from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Subject, Take, Truth
from corporeal.errors import FormatError, InputError
from corporeal.formats.blendscape import read_blendscape, write_blendscape
from corporeal.models.blendscape import equations
from corporeal.models.blendscape.model import BlendScape
from corporeal.models.blendscape.stitching import Stitching
from corporeal.models.blendscape.train import BlendScapeTrainer, initial_model
from corporeal.models.blendscape.triangles import DeformedTriangles, world_rotations

TEMPLATE = synthetic.arm_template()
PERSON = synthetic.identity_of(TEMPLATE)


def poses(count: int = 4, size: float = 0.4, seed: int = 1) -> Pose:
    motion = synthetic.random_motion(TEMPLATE, count, seed)
    return Pose(size * motion.joint_rotations, motion.root_translation)


def test_the_batch_is_the_paper(tmp_path):
    """Edges of `DeformedTriangles` against equations 1 and 2, written as they are printed."""
    model = small_blendscape(TEMPLATE)
    triangles = DeformedTriangles(model)
    turns = poses(1).joint_rotations
    world = world_rotations(turns, TEMPLATE.skeleton.parents)[0]
    S, Q = triangles.person(np.array([0.5, -1.0])), triangles.pose_deformed(turns[0])
    R = equations.blended_rotations(world, model.weights.dense())
    template = np.asarray(model.template_vertices, np.float64)
    edges = equations.triangle_edges(template, model.triangles)
    np.testing.assert_allclose(
        triangles.edges(world, turns[0], S), equations.deformed_edges(R, S, Q, edges), atol=1e-12
    )


def test_stitching_is_dense_least_squares():
    """S = Q = I and blended rotations: edges that do not close, against a dense solve to 1e-9."""
    model = initial_model(TEMPLATE)
    deformer = BlendScape(TEMPLATE, model, anchored=False)
    pose = poses(3)
    found = deformer.vertices(PERSON, pose)
    world = world_rotations(pose.joint_rotations, TEMPLATE.skeleton.parents)
    template = np.asarray(model.template_vertices)
    edges = equations.triangle_edges(template, model.triangles)
    identity = np.broadcast_to(np.eye(3), (len(edges), 3, 3))
    lbs = deformer._skeleton.vertices(PERSON, pose)
    for n in range(3):
        R = equations.blended_rotations(world[n], model.weights.dense())
        wanted = equations.deformed_edges(R, identity, identity, edges)
        pin = deformer.stitching.pin
        dense = equations.stitched(wanted, model.triangles, pin, pin @ lbs[n])
        np.testing.assert_allclose(found[n], dense, atol=1e-9)
    off = equations.triangle_edges(found[0], model.triangles) - wanted
    assert np.abs(off).max() > 1e-4, "edges that close by themselves would show nothing"


def test_anchors_are_dense_least_squares_and_keep_limbs_in_place():
    """The Woodbury form against one dense system, to 1e-8; the tip of the bent arm is an order
    nearer to where linear blending has it than with the root pinned alone."""
    model = initial_model(TEMPLATE)
    held, pinned = (BlendScape(TEMPLATE, model, anchored=on) for on in (True, False))
    pose = poses(2, size=1.0)
    found, loose = held.vertices(PERSON, pose), pinned.vertices(PERSON, pose)
    lbs = np.asarray(held._skeleton.vertices(PERSON, pose))
    world = world_rotations(pose.joint_rotations, TEMPLATE.skeleton.parents)
    shape = np.broadcast_to(np.eye(3), (len(model.triangles), 3, 3))
    edges = held.triangles.edges(world[0], pose.joint_rotations[0], shape).reshape(-1, 3)
    incidence = held.stitching._incidence.toarray()
    means = held._anchors.means
    rows = np.concatenate([incidence, np.sqrt(1e3) * means])
    dense, *_ = np.linalg.lstsq(
        rows, np.concatenate([edges, np.sqrt(1e3) * means @ lbs[0]]), rcond=None
    )
    np.testing.assert_allclose(found[0], dense, atol=1e-8)
    off, before = (np.linalg.norm(x - lbs, axis=-1).mean() for x in (found, loose))
    print(f"{1e3 * off:.2f} mm held, {1e3 * before:.2f} mm pinned")
    assert off < 0.5 * before


def test_rigid_motion_is_exact_and_the_rest_pose_is_the_person():
    model = small_blendscape(TEMPLATE)
    deformer = BlendScape(TEMPLATE, model)
    random = np.random.default_rng(0)
    person = Identity(
        PERSON.rest_vertices + random.normal(scale=5e-3, size=PERSON.rest_vertices.shape),
        PERSON.joints, {},
    )  # fmt: skip
    turns = np.zeros((2, 5, 3))
    turns[1, 0] = [0.4, -2.0, 0.7]
    shift = np.array([[0.0, 0, 0], [1.0, 2.0, -3.0]])
    found = deformer.vertices(person, Pose(turns, shift))
    np.testing.assert_allclose(found[0], person.rest_vertices, atol=1e-10)
    root = person.joints[0]
    turned = Rotation.from_rotvec(turns[1, 0]).apply(person.rest_vertices - root) + root + shift[1]
    np.testing.assert_allclose(found[1], turned, atol=1e-10)


def test_undoing_gives_the_deformation_back():
    """T of posed triangles whose edges are R* T Q v̂; damping costs a thousandth at most."""
    model = small_blendscape(TEMPLATE)
    triangles = DeformedTriangles(model)
    turns = poses(1, size=0.2).joint_rotations
    world = world_rotations(turns, TEMPLATE.skeleton.parents)[0]
    S = triangles.person(np.array([1.0, -1.0]))
    R, Q = triangles.blended(world), triangles.pose_deformed(turns[0])
    frames = R @ S @ Q @ np.linalg.inv(triangles.template_inverse)
    np.testing.assert_allclose(triangles.undone(world, turns[0], frames), S, atol=2e-3)


def recorded(deformer: BlendScape, people: dict[str, Identity], count: int) -> Registrations:
    """Poses of people that a known model made."""
    takes = []
    for n, (name, who) in enumerate(people.items()):
        pose = poses(count, seed=10 + n)
        truth = Truth(np.asarray(pose.joint_rotations), np.asarray(pose.root_translation))
        takes.append(Take(name, "poses", 0.0, deformer.vertices(who, pose), truth))
    subjects = {name: Subject(name, who) for name, who in people.items()}
    mesh = TEMPLATE.mesh
    return Registrations(
        "arm", np.asarray(mesh.triangles), mesh.vertex_count, tuple(takes), subjects
    )


def test_a_known_model_is_learned():
    """Captures of a known BlendSCAPE, rotations of up to half a radian: new poses of a new person
    are met to less than half a millimetre, where Q = I is several times as far."""
    known = small_blendscape(TEMPLATE, 0.0)
    smooth = np.asarray(known.template_vertices)[known.triangles].mean(axis=1)
    bend = 0.05 * np.sin(2 * smooth @ np.random.default_rng(1).normal(size=(3, 54)))
    known = replace(known, pose_deformations=bend.reshape(-1, 2, 3, 3, 3))
    made = BlendScape(TEMPLATE, known, anchored=False)
    random = np.random.default_rng(5)
    people = {f"p{n}": made.prepare(random.normal(size=2)) for n in range(6)}
    poses_of = recorded(made, dict(list(people.items())[:4]), 40)
    trained = BlendScapeTrainer(shape_count=2, ridge=1e-6, rounds=6, anchored=False).fit(
        poses_of, recorded(made, people, 1), TEMPLATE
    )
    deformer, plain = (
        BlendScape(TEMPLATE, trained.model, anchored=False),
        BlendScape(TEMPLATE, initial_model(TEMPLATE), anchored=False),
    )
    new, pose = made.prepare(np.array([0.3, 0.8])), poses(5, seed=99)
    true = made.vertices(new, pose)
    apart = np.linalg.norm(deformer.vertices(new, pose) - true, axis=-1).mean()
    before = np.linalg.norm(plain.vertices(new, pose) - true, axis=-1).mean()
    print(f"{1e3 * apart:.3f} mm, with Q = I {1e3 * before:.3f} mm")
    assert apart < 0.5e-3
    assert before > 4 * apart


def test_files_give_the_model_back(tmp_path):
    model = small_blendscape(TEMPLATE)
    write_blendscape(tmp_path / "a.npz", model)
    again = BlendScape(TEMPLATE, read_blendscape(tmp_path / "a.npz"))
    pose = poses(2)
    np.testing.assert_allclose(
        again.vertices(PERSON, pose), BlendScape(TEMPLATE, model).vertices(PERSON, pose), atol=1e-6
    )


def test_refusals(tmp_path):
    model = small_blendscape(TEMPLATE)
    with pytest.raises(InputError, match="expected one topology"):
        BlendScape(synthetic.arm_template(rings=9), model)
    with pytest.raises(InputError, match="several components"):
        Stitching(np.array([[0, 1, 2], [3, 4, 5]]), np.ones(6))
    with pytest.raises(InputError, match="moves with the root"):
        Stitching(np.array([[0, 1, 2]]), np.zeros(3))
    (tmp_path / "bad.npz").write_bytes(b"PK no")
    with pytest.raises(FormatError):
        read_blendscape(tmp_path / "bad.npz")
    held = recorded(BlendScape(TEMPLATE, model), {"p": PERSON}, 2)
    blind = replace(held, takes=tuple(replace(take, truth=None) for take in held.takes))
    with pytest.raises(InputError, match="has no poses"):
        BlendScapeTrainer().fit(blind, blind, TEMPLATE)
    with pytest.raises(InputError, match="at least two"):
        BlendScapeTrainer().fit(held, held, TEMPLATE)
