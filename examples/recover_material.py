"""Recover how stiff and how heavy flesh is, by region, from a take of its movement.

    python examples/recover_material.py

A block of flesh on a bone is shaken and pushed with a known force. Its four regions have stiffness
and mass of their own. From the movement of its vertices alone, gradient descent through the
simulation goes to all eight numbers. Without the push only the ratio of stiffness to mass would
show, since gravity and inertia grow with mass as well.
"""

import numpy as np

from corporeal.physics.projective.gpu_materials import (
    Recovery,
    Regions,
    Take,
    materials_of,
    recovered,
    simulated,
)
from corporeal.physics.projective_dynamics.constraints.strain import strain_constraint
from corporeal.physics.projective_dynamics.gpu_flesh import (
    Elements,
    Flesh,
    elements_of,
    flesh_of,
    incidences,
)
from corporeal.physics.projective_dynamics.integration import StepRule
from corporeal.physics.projective_dynamics.system import System, tetrahedral_masses

STIFFNESS = np.array([0.6, 1.0, 1.5, 2.2])
MASS = np.array([1.4, 0.8, 1.0, 0.6])
STEPS = 16


def block() -> tuple[np.ndarray, np.ndarray]:
    """Flesh of 16 × 4 × 4 cm in cells of 2 cm, six tetrahedra each; its floor is bone."""
    counts = (8, 2, 2)
    index = np.arange(9 * 3 * 3).reshape(9, 3, 3)
    places = 0.02 * np.stack(np.unravel_index(np.arange(index.size), index.shape), axis=1)
    cells = [
        index[x : x + counts[0], y : y + counts[1], z : z + counts[2]].ravel()
        for x in (0, 1)
        for y in (0, 1)
        for z in (0, 1)
    ]
    ways = [[0, a, a + b, 7] for a in (4, 2, 1) for b in (4, 2, 1) if a != b]
    tetrahedra = np.concatenate([np.stack(cells, axis=1)[:, way] for way in ways])
    corners = places[tetrahedra]
    mirrored = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tetrahedra[mirrored] = tetrahedra[mirrored][:, [0, 1, 3, 2]]
    return places, tetrahedra


def scene() -> tuple[Flesh, Regions, StepRule, Take]:
    """The block, its regions along x, and what it is put through."""
    places, tetrahedra = block()
    system = System(
        tetrahedral_masses(places, tetrahedra, 1000.0),
        places[:, 1] == 0,
        (strain_constraint(places, tetrahedra, 8e3),),
    )
    order = np.concatenate([system.free, np.flatnonzero(system.anchored)])
    elements: Elements = elements_of(system, order)
    free = len(system.free)
    rest = places[order].T.astype(np.float32)
    region = lambda x: np.minimum((x / 0.04).astype(np.int32), 3)  # noqa: E731
    owners, _ = incidences(np.asarray(elements.tetrahedra), free)
    middle = rest[0][np.asarray(elements.tetrahedra)].mean(axis=1)
    regions = Regions(region(middle)[np.maximum(owners, 0)], region(rest[0, :free] - 1e-4))
    rule = StepRule(1 / 60, 3, 2.0)
    time = np.arange(1, STEPS + 1) / 60
    shake = np.zeros((STEPS, 3, 1), np.float32)
    shake[:, 0, 0], shake[:, 2, 0] = 0.015 * np.sin(25 * time), 0.01 * np.sin(17 * time)
    push = np.zeros((STEPS, 3, free), np.float32)
    push[4:10, 1] = -0.05 * (rest[1, :free] > 0.039)
    take = Take(
        rest[:, :free],
        rest[None, :, free:] + shake,
        np.zeros((STEPS, 3, free), np.float32),
        push,
        np.array([0.0, -9.81, 0.0], np.float32),
    )
    return flesh_of(elements), regions, rule, take


def recover(rounds: int = 300) -> Recovery:
    """Make a take with the true material, then find the material again."""
    import jax.numpy as jnp

    flesh, regions, rule, take = scene()
    true = materials_of(
        flesh, regions, jnp.asarray(STIFFNESS, jnp.float32), jnp.asarray(MASS, jnp.float32)
    )
    return recovered(flesh, regions, rule, take, simulated(true, rule, take), 4, rounds)


def main() -> None:
    found = recover()
    print("region  stiffness (true)  mass (true)")
    for number, (stiffness, mass) in enumerate(zip(found.stiffness, found.mass, strict=True)):
        print(f"{number:6d}  {stiffness:.3f} ({STIFFNESS[number]})  {mass:.3f} ({MASS[number]})")
    print(f"root mean square distance: {1e3 * float(found.losses[-1]) ** 0.5:.4f} mm")


if __name__ == "__main__":
    main()
