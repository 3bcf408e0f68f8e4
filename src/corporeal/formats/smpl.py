"""SMPL's own files: `.pkl` of SMPL, `.npz` of SMPL-H and of this package.

What is read and written:

=================== ============== ========================================================
key                 shape          what it is here (`LinearBodyModel`)
=================== ============== ========================================================
`v_template`        V×3            mean vertices, metres
`shapedirs`         V×3×S          shape offsets; a chumpy array in SMPL 1.0
`posedirs`          V×3×9K         pose offsets, nine a joint without the root
`J_regressor`       J×V            joint regressor; a sparse matrix in `.pkl`
`weights`           V×J            skin weights
`kintree_table`     2×J            row 0 the parents; its first number is garbage
`f`                 F×3            triangles
`bs_style`          text           `lbs`, or `dqbs`, which is called `dqs` everywhere else
`J`                 J×3            joints of the mean: written for others, not read
`bs_type`           text           `lrotmin`: written for others, not read
`hands_components*` 45×45          with 52 joints: `l` and `r`, the identity; not read
`hands_mean*`       45             with 52 joints: zero, flat hands; not read
`shape_pose_shares` n×B×9K         `.npz` alone: `ShapeCorrectives`, read by a function of its own
`shape_pose_dirs`   V×3×B          likewise
=================== ============== ========================================================

Other keys are left out by name. Nothing pickled is run: see `pickled`. Files of STAR and of SMPL-X
share these names with another meaning and are refused.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.linear_model import Blending, LinearBodyModel
from corporeal.body.shape_correctives import ShapeCorrectives
from corporeal.body.weights import SkinWeights
from corporeal.errors import FormatError, InputError
from corporeal.formats.amass import BODY_JOINTS, HAND_JOINTS
from corporeal.formats.npz import open_npz, write_npz
from corporeal.formats.pickled import read_pickled_arrays, write_pickled_arrays

_NAMES: Final = {
    24: (*BODY_JOINTS, "left_hand", "right_hand"),
    52: (*BODY_JOINTS, *HAND_JOINTS),
}
"""Joint names of SMPL and SMPL-H, by their number."""

_BLENDING: Final[dict[str, Blending]] = {"lbs": "lbs", "dqbs": "dqs"}
"""`bs_style`, and what it is called here."""
_ARRAYS: Final = ("v_template", "shapedirs", "posedirs", "J_regressor", "weights", "f")
_MAX_VERTICES: Final = 10**6


def read_smpl(path: str | Path) -> LinearBodyModel:
    """Read a model, whatever its number of vertices, joints and coefficients; float64."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".pkl":
        found: Mapping[str, Any] = read_pickled_arrays(path)
    elif suffix == ".npz":
        found = _archived(path)
    else:
        raise InputError(f"cannot read a model from {path}; expected .npz or .pkl.")
    try:
        return _model(found)
    except InputError as error:
        raise FormatError(f"{path}: {error}") from error


def read_shape_correctives(path: str | Path) -> ShapeCorrectives | None:
    """Pose correctives that depend on shape, where a model's file has them."""
    path = Path(path)
    if path.suffix.lower() != ".npz":
        return None
    with open_npz(path, object_arrays="skip") as archive:
        if "shape_pose_shares" not in archive.headers:
            return None
        shares = archive.array("shape_pose_shares", "f", ("n", "B", "P"))
        offsets = archive.array("shape_pose_dirs", "f", ("V", 3, "B"))
    names = _NAMES.get(shares.shape[2] // 9 + 1)
    if names is None:
        raise FormatError(f"{path}: shape_pose_shares has {shares.shape[2]} columns; expected 207.")
    rows = np.ascontiguousarray(np.moveaxis(offsets, -1, 0))
    return ShapeCorrectives(names[1:], shares, rows)


def write_smpl(
    path: str | Path, model: LinearBodyModel, dependent: ShapeCorrectives | None = None
) -> None:
    """Write a model with SMPL's keys: `.npz`, or the plain-array `.pkl` that `smplx` loads.

    `dependent` goes into keys of its own (`.npz` alone), which other programs leave out.
    """
    path = Path(path)
    arrays = _keys(model)
    if dependent is not None:
        if path.suffix.lower() != ".npz":
            raise InputError(f"cannot write shape-dependent correctives as {path}; expected .npz.")
        arrays["shape_pose_shares"] = np.asarray(dependent.shares, np.float64)
        arrays["shape_pose_dirs"] = np.moveaxis(np.asarray(dependent.offsets, np.float32), 0, -1)
    if path.suffix.lower() == ".pkl":
        write_pickled_arrays(path, arrays)
    elif path.suffix.lower() == ".npz":
        write_npz(path, {name: np.asarray(value) for name, value in arrays.items()})
    else:
        raise InputError(f"cannot write a model as {path}; expected .npz or .pkl.")


def _archived(path: Path) -> dict[str, Any]:
    with open_npz(path, object_arrays="skip") as archive:
        found: dict[str, Any] = {}
        for name in (*_ARRAYS, "kintree_table", "bs_style"):
            header = archive.headers.get(name)
            if header is None:
                continue
            kind = {"u": "i"}.get(header.dtype.kind, header.dtype.kind)
            if kind not in "fiUS":
                raise FormatError(f"{path}: array {name!r} is {header.dtype}; expected numbers.")
            found[name] = archive.array(name, kind, header.shape)
        return found


def _model(found: Mapping[str, Any]) -> LinearBodyModel:
    arrays = {name: _numbers(found, name) for name in (*_ARRAYS, "kintree_table")}
    template, weights = arrays["v_template"], arrays["weights"]
    vertices, joints = len(template), weights.shape[-1]
    _require_shapes(arrays, vertices, joints)
    parents = arrays["kintree_table"][0].astype(np.int64)
    parents[0] = -1  # what stands there in official files is 2³² − 1
    shape = arrays["shapedirs"]
    style = found.get("bs_style", "lbs")
    style = style.decode("ascii", "replace") if isinstance(style, bytes) else str(style)
    if style not in _BLENDING:
        raise InputError(f"bs_style is {style!r}; expected one of {', '.join(_BLENDING)}.")
    return LinearBodyModel(
        arrays["f"].astype(np.int64),
        template.astype(np.float64),
        np.ascontiguousarray(np.moveaxis(shape, -1, 0), np.float64),
        np.ascontiguousarray(np.moveaxis(arrays["posedirs"], -1, 0), np.float64),
        arrays["J_regressor"].astype(np.float64),
        SkinWeights.from_dense(weights.astype(np.float64)),
        _NAMES.get(joints, tuple(f"joint{i}" for i in range(joints))),
        tuple(int(parent) for parent in parents),
        _BLENDING[style],
    )


def _numbers(found: Mapping[str, Any], name: str) -> NumpyArray:
    value = found.get(name)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf":
        raise InputError(f"there are no numbers {name!r}; it has {', '.join(sorted(found))}.")
    return value


def _require_shapes(arrays: Mapping[str, NumpyArray], vertices: int, joints: int) -> None:
    features = 9 * (joints - 1)
    given = arrays["posedirs"].shape[-1]
    if joints == 55:
        raise InputError(
            "a model of 55 joints is SMPL-X, which has a face; SMPL and SMPL-H are read."
        )
    if joints > 1 and given == 4 * (joints - 1) + 1:
        raise InputError(
            f"posedirs has {given} columns for {joints} joints: STAR's quaternion features. Its "
            f"coefficients are not SMPL's; SMPL and SMPL-H are read."
        )
    expected = {
        "v_template": (vertices, 3),
        "shapedirs": (vertices, 3, None),
        "posedirs": (vertices, 3, features),
        "J_regressor": (joints, vertices),
        "weights": (vertices, joints),
        "kintree_table": (2, joints),
        "f": (None, 3),
    }
    if vertices > _MAX_VERTICES:
        raise InputError(f"v_template has {vertices} vertices; expected at most {_MAX_VERTICES}.")
    for name, shape in expected.items():
        came = arrays[name].shape
        if len(came) != len(shape) or any(
            w is not None and c != w for c, w in zip(came, shape, strict=True)
        ):
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise InputError(f"{name} has the shape {came}; expected ({wanted}).")


def _keys(model: LinearBodyModel) -> dict[str, NumpyArray | str]:
    parents = np.asarray(model.parents)
    tree = np.stack([np.where(parents < 0, 2**32 - 1, parents), np.arange(len(parents))])
    hands: dict[str, NumpyArray | str] = {}
    if len(parents) == 52:  # SMPL-H's readers ask for a space of hand poses: all of them
        hands = {f"hands_components{side}": np.eye(45) for side in "lr"}
        hands |= {f"hands_mean{side}": np.zeros(45) for side in "lr"}
    return hands | {
        "v_template": model.mean_vertices,
        "shapedirs": np.ascontiguousarray(np.moveaxis(model.shape_offsets, 0, -1)),
        "posedirs": np.ascontiguousarray(np.moveaxis(model.pose_offsets, 0, -1)),
        "J_regressor": model.joint_regressor,
        "weights": model.weights.dense(),
        "kintree_table": tree.astype(np.int64),
        "f": model.triangles.astype(np.uint32),
        "J": model.joint_regressor @ model.mean_vertices,
        "bs_style": next(s for s, blending in _BLENDING.items() if blending == model.blending),
        "bs_type": "lrotmin",
    }
