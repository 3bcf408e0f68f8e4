"""The modulus that a captured body really has, found by pulling at its skin."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import splu

from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.layered.bodies import LayeredBodies
from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.anthropometry.measure import measure
from corporeal.body.tissues import FAT, MUSCLE
from corporeal.capture.flesh import flesh_of
from corporeal.capture.person import Person
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.solver.constraints.constraint import energy

RADIUS, REACH = 0.02, 0.15
"""Of the patch that is pulled, and of the flesh around it that may move, metres."""
PULL = 1e-4
"""How far it is pulled, metres."""


def gradients(rest: np.ndarray, tetrahedra: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """∇N of linear tetrahedra, T × 4 × 3 in 1/m, and their volumes, m³."""
    corners = rest[tetrahedra]
    edges = corners[:, 1:] - corners[:, :1]
    inner = np.linalg.inv(edges).transpose(0, 2, 1)
    first = -inner.sum(axis=1, keepdims=True)
    return np.concatenate([first, inner], axis=1), np.linalg.det(edges) / 6


def stiffness_matrix(rest: np.ndarray, tetrahedra: np.ndarray, modulus: np.ndarray) -> csc_array:
    """K of ½ Σ E V ‖sym ∇u‖²: K_ab = E V ½ (∇N_a·∇N_b I + ∇N_b ⊗ ∇N_a)."""
    slopes, volumes = gradients(rest, tetrahedra)
    dots = np.einsum("tai,tbi->tab", slopes, slopes)[..., None, None] * np.eye(3)
    blocks = 0.5 * (dots + np.einsum("tbi,taj->tabij", slopes, slopes))
    blocks *= (modulus * volumes)[:, None, None, None, None]
    place = 3 * tetrahedra[:, :, None] + np.arange(3)
    rows = np.broadcast_to(place[:, :, None, :, None], blocks.shape)
    columns = np.broadcast_to(place[:, None, :, None, :], blocks.shape)
    size = (3 * len(rest),) * 2
    return csc_array(coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=size))


@pytest.mark.parametrize(("bmi", "age"), [(18.5, 25.0), (34.0, 25.0)])
def test_fat_and_muscle_of_a_captured_woman_have_their_own_moduli(bmi, age):
    """Skin of a thigh is pulled off it as finite elements of the tissues' moduli, assembled here,
    say it moves. What that costs the simulated body is the same energy, to the order of the strain
    (0.1 mm of 10 mm): a slim woman's is no stiffer than a heavy one's because she has less fat."""
    model = PhenotypeModel()
    identity = body_at_bmi(model, 0.0, bmi, 1.66, age)
    composition = predict_composition(identity, age, "female").composition
    person = Person("pulled", "female", age, identity, composition, measure(identity))
    flesh = flesh_of(person, model.template, "layered", None)
    bare = {"gravity": 0.0, "volume": 0.0, "untangled": False, "skin_tension": 0.0}
    told = replace(flesh.controls(False, "off"), **bare)
    system = flesh.deformer.simulation(told).body(identity).system
    mesh = LayeredBodies(model.template, flesh.layers).prepared(identity, 1.0, age).mesh
    modulus = np.where(mesh.is_muscle, MUSCLE.modulus, FAT.modulus)
    matrix = stiffness_matrix(mesh.rest, mesh.tetrahedra, modulus)
    names = model.template.skeleton.names
    hip, knee = (np.asarray(identity.joints)[names.index(n)] for n in ("left_hip", "left_knee"))
    middle = 0.5 * (hip + knee)
    skin = mesh.rest[: mesh.skin_count]
    ahead = np.linalg.norm((skin - middle)[:, :2], axis=1) + np.where(skin[:, 2] < middle[2], 1, 0)
    centre = skin[np.argmin(ahead)]
    patch = np.flatnonzero(np.linalg.norm(skin - centre, axis=1) < RADIUS)
    near = np.linalg.norm(mesh.rest - centre, axis=1) < REACH
    free = np.flatnonzero(np.repeat(near & ~system.anchored, 3))
    force = np.zeros(3 * len(mesh.rest))
    force[3 * patch + 2] = 1.0 / len(patch)
    moved = np.zeros_like(force)
    moved[free] = splu(matrix[free][:, free]).solve(force[free])
    moved *= PULL / moved[3 * patch + 2].mean()
    expected = 0.5 * moved @ (matrix @ moved)
    (strain,) = system.constraints
    found = energy(strain, mesh.rest + moved.reshape(-1, 3))
    assert found == pytest.approx(expected, rel=0.03)
