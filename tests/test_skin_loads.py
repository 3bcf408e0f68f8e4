"""What pushes flesh, and predictors from it: closed forms and what was planted."""

from dataclasses import replace

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.dynamics.autoregression import Ridge
from corporeal.dynamics.control_vector import driving_names
from corporeal.dynamics.neural.features import FLESHY, MOVEMENT_SIZE, POSE_SIZE, UNITS
from corporeal.dynamics.neural.person import PERSON_SIZE
from corporeal.dynamics.skin_loads import REGIONS, fleshy_weights, region_vertices, skin_loads
from corporeal.dynamics.training import DynamicsTraining
from corporeal.models.phenotype.model import PhenotypeModel

BODY = load_default_body()
TEMPLATE = BODY.template


def average() -> Identity:
    """Somebody at rest."""
    return PhenotypeModel().prepare({})


def shapes(count: int = 3) -> np.ndarray:
    """Offsets without any order, of all vertices."""
    size = (count, TEMPLATE.mesh.vertex_count, 3)
    return np.random.default_rng(0).standard_normal(size).astype(np.float32)


def test_loads_are_the_skins_acceleration_along_the_shapes():
    """Σ over regions of −Σ_v 𝒟_v · Σ_b w_vb (c̈ + ω̇ × r), point by point; float32 storage."""
    who, offsets = average(), shapes()
    loads = skin_loads(TEMPLATE, offsets, {"her": who})
    assert loads.shape == (2 * len(REGIONS), 3, MOVEMENT_SIZE)
    felt = np.random.default_rng(1).standard_normal((len(FLESHY), 6))
    rest, joints = np.asarray(who.rest_vertices, float), np.asarray(who.joints, float)
    pushed = np.zeros_like(rest)
    weights = fleshy_weights(TEMPLATE)
    for n, joint in enumerate(FLESHY):
        turned = np.cross(UNITS[1] * felt[n, 3:], rest - joints[joint])
        pushed += weights[:, n, None] * (UNITS[0] * felt[n, :3] + turned)
    some = np.any(region_vertices(TEMPLATE), axis=0)
    true = -np.einsum("dvi,vi->d", offsets[:, some].astype(float), pushed[some])
    found = loads.sum(axis=0) @ felt.ravel()
    np.testing.assert_allclose(
        found, true, rtol=0, atol=2e-6 * np.abs(loads).sum(axis=(0, 2)).max()
    )


def test_every_vertex_hangs_on_bones_that_are_told_of():
    """Weights still sum to one, and regions do not overlap."""
    np.testing.assert_allclose(fleshy_weights(TEMPLATE).sum(axis=1), 1.0, atol=1e-5)
    assert np.sum(region_vertices(TEMPLATE), axis=0).max() == 1


def test_bones_that_do_not_carry_a_shape_do_not_push_it():
    """A bump on the left shin is pushed by left-leg bones alone."""
    names = TEMPLATE.part_names
    shin = np.asarray(TEMPLATE.part_labels) == names.index("left_shin")
    bump = shapes(1) * shin[:, None]
    loads = skin_loads(TEMPLATE, bump, {"her": average()}).reshape(-1, len(FLESHY), 6)
    told = [TEMPLATE.skeleton.names[joint] for joint in FLESHY]
    away = [n for n, name in enumerate(told) if "right" in name or "spine" in name]
    assert np.abs(loads[:, away]).max() == 0.0
    assert np.abs(loads[:, told.index("left_knee")]).max() > 0.1


@pytest.fixture(scope="module")
def planted():
    """Two women and two men whose regions give way by known numbers, and six motions each, the
    last one unlike the others: one bone alone moves in it."""
    pytest.importorskip("optax")
    from scipy.signal import lfilter

    from corporeal.dynamics.neural.training.load_predictors import Loads, LoadTraining
    from corporeal.dynamics.neural.training.samples import Sample

    random = np.random.default_rng(2)
    loads = Loads(random.standard_normal((4, 5, MOVEMENT_SIZE)).astype(np.float32))
    settings = LoadTraining()
    give = 0.01 * random.standard_normal((4, len(settings.swings)))
    samples = []
    for person in range(4):
        for n in range(6):
            slow = np.cumsum(random.standard_normal((200, MOVEMENT_SIZE)), axis=0) / 30
            if n == 5:
                slow[:, 6:] = 0.0
            else:
                slow = slow[:, :3] @ random.standard_normal((3, MOVEMENT_SIZE))
            deltas = np.zeros((200, 5))
            for g, (radius, hertz) in enumerate(settings.swings):
                poles = [1, -2 * radius * np.cos(2 * np.pi * hertz / 60), radius**2]
                seen = lfilter([1.0], poles, slow, axis=0)
                deltas += np.einsum("tm,kdm,k->td", seen, loads.rows, give[:, g])
            samples.append(
                Sample(
                    f"p{person}", f"m{n}", 60.0, slow.astype(np.float32),
                    np.zeros((200, POSE_SIZE), np.float32), np.zeros(PERSON_SIZE),
                    deltas.astype(np.float32), np.zeros((200, 0), np.float32),
                )
            )  # fmt: skip
    return samples, loads


def linear_runs(samples, loads, part: float):
    """Free runs of the last motion, learned from the others; and the predictors."""
    from corporeal.dynamics.neural.training.hybrid import (
        Build,
        HybridTraining,
        linear_predictors,
        run_linear,
    )
    from corporeal.dynamics.neural.training.load_predictors import LoadTraining

    build = Build(
        {f"p{n}": 20.0 + 2 * n for n in range(4)}, {f"p{n}": float(n % 2) for n in range(4)}, loads
    )
    settings = HybridTraining(
        linear=DynamicsTraining(count=5, ridge=Ridge(2, 0.1)),
        loads=replace(LoadTraining(), part=part, shared_ridge=1e-6, ridge=1e-3),
    )
    known = [s for s in samples if s.sequence != "m5"]
    new = [s for s in samples if s.sequence == "m5"]
    names = driving_names(TEMPLATE.skeleton, "bones")
    found = linear_predictors(known, build, names, settings)
    return found, new, run_linear(found, known, new, build)


def left(new, runs) -> float:
    """What is lacking over what there is, the worst take."""
    return max(
        float(np.linalg.norm(run - s.dynamic) / np.linalg.norm(s.dynamic))
        for s, run in zip(new, runs, strict=True)
    )


def test_loads_carry_over_to_a_motion_that_no_bone_map_knows(planted):
    """Known motions span three of ninety inputs, the new one six others: what regions give way by
    is found all the same, a map of all bones has nothing to go by."""
    samples, loads = planted
    _, new, runs = linear_runs(samples, loads, 1.0)
    assert left(new, runs) < 0.02
    _, _, usual = linear_runs(samples, None, 0.0)
    assert left(new, usual) > 0.5


def test_blocks_are_mixed_by_their_part(planted):
    """Half of each is the mean of the runs of either; blocks count alike, and all are stable."""
    samples, loads = planted
    both, _, mixed = linear_runs(samples, loads, 0.5)
    both.check()
    assert len(both.body_mass_indices) == 4 * 4
    _, _, one = linear_runs(samples, None, 0.0)
    _, _, other = linear_runs(samples, loads, 1.0)
    for a, b, c in zip(one, other, mixed, strict=True):
        np.testing.assert_allclose(c, 0.5 * (a + b), atol=1e-6 * np.abs(c).max() + 1e-9)
