"""Our blending against the `anny` package (0.6.2), which blends the same targets in PyTorch."""

import numpy as np
import pytest

from corporeal.assets.archive import read_archive
from corporeal.models.phenotype.equations import ANNY_RULE, macro_coefficients, macro_table

anny_phenotype = pytest.importorskip(
    "anny.models.phenotype", reason="anny is not installed (pip install anny==0.6.2 torch)"
)

TOLERANCE_M = 1e-4
ANNY_NAMES = {"cup": "cupsize"}


def anny_rest_vertices(sliders: dict[str, np.ndarray]) -> np.ndarray:
    """Skin vertices of anny in its sculpted pose, turned from z up to y up, metres."""
    import torch
    from anny.models.model_data import TopologyConfig

    topology = TopologyConfig(
        base_mesh="makehuman",
        nudity_edits=False,
        remove_unattached_vertices=False,
        triangulate_faces=False,
    )
    model = anny_phenotype.Anny(
        topology=topology, phenotypes="all", phenotype_blendshapes="original"
    )
    named = {ANNY_NAMES.get(name, name): torch.tensor(v) for name, v in sliders.items()}
    coefficients = model.get_phenotype_blendshape_coefficients(**named)
    x, y, z = np.moveaxis(model.get_rest_vertices(coefficients).numpy()[:, :13380], -1, 0)
    return np.stack([x, z, -y], axis=-1)


def test_blending_equals_annys_on_fifty_random_phenotypes() -> None:
    """Same targets, same rule, before T-posing: equal to 1e-4 m, the step of the stored deltas."""
    rng = np.random.default_rng(0)
    sliders = {
        axis.parameter.name: rng.uniform(axis.parameter.low, axis.parameter.high, 50)
        for axis in ANNY_RULE
    }
    stored = read_archive("default_body")
    macro = int(stored["macro_count"])
    names = tuple(str(name) for name in stored["target_names"][:macro])
    coefficients = macro_coefficients(macro_table(names, ANNY_RULE), sliders)
    deltas = stored["target_deltas"][:macro].transpose(0, 2, 1) * 1e-4
    ours = stored["vertices"] + np.tensordot(coefficients, deltas, 1)

    theirs = anny_rest_vertices(sliders)

    difference = np.linalg.norm(ours - theirs, axis=-1)
    print(f"largest difference {difference.max():.2e} m")
    assert np.ptp(theirs[..., 1], axis=1).std() > 0.1  # the fifty bodies do differ
    assert difference.max() < TOLERANCE_M
