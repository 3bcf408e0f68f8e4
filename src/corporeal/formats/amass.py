"""AMASS motion files: SMPL-H (`*_poses.npz`) and SMPL-X stage II (`*_stageii.npz`).

What is read:

============================ ======== =====================================================
array                        shape    what becomes of it
============================ ======== =====================================================
`poses`                      N×156,   axis-angles, radians; joints are matched by name with
                             N×165    the body's, jaw and eyes of SMPL-X are noted and left out
`trans`                      N×3      root translation, metres
`mocap_framerate`,           ()       frames a second (the two releases spell it differently)
`mocap_frame_rate`
`betas`                      16       another body's shape: reported, not used
`gender`                     text     reported
`dmpls`, `expression`, …     any      noted and left out
object arrays                any      skipped by name, never unpickled
============================ ======== =====================================================

AMASS is z-up and its bodies are y-up at rest: `y_up_from_z_up` turns the motion once, about the
pelvis. Nothing is written in this format: the native `.npz` and BVH carry motions out.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError
from corporeal.formats.npz import NpzReader, open_npz
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle

BODY_JOINTS: Final = (
    *("pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2"),
    *("left_ankle", "right_ankle", "spine3", "left_foot", "right_foot", "neck"),
    *("left_collar", "right_collar", "head", "left_shoulder", "right_shoulder"),
    *("left_elbow", "right_elbow", "left_wrist", "right_wrist"),
)
"""What SMPL, SMPL-H and SMPL-X share, in their order."""
_FACE: Final = ("jaw", "left_eye", "right_eye")
HAND_JOINTS: Final = tuple(
    f"{side}_{finger}{knuckle}"
    for side in ("left", "right")
    for finger in ("index", "middle", "pinky", "ring", "thumb")
    for knuckle in (1, 2, 3)
)
"""The fingers of SMPL-H and SMPL-X, in their order."""
LAYOUTS: Final = {156: (*BODY_JOINTS, *HAND_JOINTS), 165: (*BODY_JOINTS, *_FACE, *HAND_JOINTS)}
"""Joint names of a row of `poses`, by its length: SMPL-H and SMPL-X."""

MAX_BYTES: Final = 8 * 1024**3
_RATE_KEYS: Final = ("mocap_framerate", "mocap_frame_rate")
_USED: Final = ("poses", "trans", "betas", "gender", *_RATE_KEYS)
_FROM_Z_UP: Final = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""Turns z up into y up: a quarter turn about x."""


@dataclass(frozen=True)
class AmassReading:
    """A motion of the given body, and what the file says beyond it."""

    motion: Motion
    """On the given body's skeleton, metres, y up."""
    betas: Float[NumpyArray, "S"] | None
    """Shape coefficients of the recorded person on another body model; not used."""
    gender: str
    """As the file states it, or `unknown`."""
    notes: tuple[str, ...]
    """What was left out or converted, in words."""


def read_amass(path: str | Path, skeleton: Skeleton) -> AmassReading:
    """Read an AMASS file as a motion of `skeleton`, whose joints carry SMPL's names.

    Every joint other than the root gets the file's axis-angle vector unchanged; joints that the
    file lacks stay at rest.
    """
    path = Path(path)
    with open_npz(path, max_bytes=MAX_BYTES, object_arrays="skip") as file:
        poses = _poses(file)
        translation = np.asarray(file.array("trans", "f", ("N", 3)), np.float64)
        fps = _frame_rate(file)
        betas = file.array("betas", "f", ("S",)) if "betas" in file.headers else None
        gender = _gender(file)
        notes = _notes(file, betas)
    names = LAYOUTS[3 * poses.shape[1]]
    rotations = np.zeros((len(poses), skeleton.joint_count, 3))
    absent = [name for name in skeleton.names if name not in names]
    for index, name in enumerate(skeleton.names):
        if name in names:
            rotations[:, index] = poses[:, names.index(name)]
    if "pelvis" in absent or len(absent) == skeleton.joint_count:
        raise FormatError(
            f"{path} moves the joints of SMPL ({', '.join(names[:4])}, …) and the body's root is "
            f"{skeleton.names[0]!r}; expected a skeleton with SMPL's names. Retarget instead."
        )
    if absent:
        notes.append(f"joints at rest, for which the file has no rotations: {', '.join(absent)}")
    pelvis = np.asarray(skeleton.joints, np.float64)[0]
    rotations[:, 0], translation = y_up_from_z_up(rotations[:, 0], translation, pelvis)
    motion = Motion(path.stem, fps, rotations, translation, skeleton)
    return AmassReading(motion, betas, gender, tuple(notes))


def y_up_from_z_up(
    root_rotation: Float[NumpyArray, "N 3"],
    translation: Float[NumpyArray, "N 3"],
    pelvis: Float[NumpyArray, "3"],
) -> tuple[Float[NumpyArray, "N 3"], Float[NumpyArray, "N 3"]]:
    """Root axis-angles (radians) and translation (metres) turned from z up to y up.

    The pelvis rests at J₀ and stands at t + J₀, so t′ = R (t + J₀) − J₀, and the root turns by
    R first: R R_root.
    """
    turned = axis_angle_from_matrix(_FROM_Z_UP @ matrix_from_axis_angle(root_rotation))
    return turned, (translation + pelvis) @ _FROM_Z_UP.T - pelvis


def _poses(file: NpzReader) -> Float[NumpyArray, "N J 3"]:
    header = file.headers.get("poses")
    width = header.shape[1] if header is not None and len(header.shape) == 2 else None
    if width not in LAYOUTS:
        found = f"an array of shape {header.shape}" if header is not None else "no array"
        raise FormatError(
            f"{file.path} has {found} 'poses'; expected the axis-angles of an AMASS file, "
            f"N×156 (SMPL-H) or N×165 (SMPL-X)."
        )
    poses = file.array("poses", "f", ("N", width))
    return np.asarray(poses, np.float64).reshape(len(poses), len(LAYOUTS[width]), 3)


def _frame_rate(file: NpzReader) -> float:
    for key in _RATE_KEYS:
        if key in file.headers:
            kind = "i" if file.headers[key].dtype.kind in "iu" else "f"
            fps = float(file.array(key, kind, ()))
            if not 1.0 <= fps <= 10000.0:
                raise FormatError(
                    f"{file.path}: {key!r} is {fps}; expected frames a second, 1 to 10000."
                )
            return fps
    raise FormatError(
        f"{file.path} has neither {_RATE_KEYS[0]!r} nor {_RATE_KEYS[1]!r}; expected the frame "
        f"rate. It is no AMASS motion, or a shape file of one."
    )


def _gender(file: NpzReader) -> str:
    header = file.headers.get("gender")
    if header is None or header.shape != () or header.dtype.kind not in "US":
        return "unknown"
    value = file.array("gender", header.dtype.kind, ()).item()
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _notes(file: NpzReader, betas: Float[NumpyArray, "S"] | None) -> list[str]:
    notes = ["turned from z up to y up about the pelvis"]
    if betas is not None and np.any(betas):
        notes.append(
            f"the file's {len(betas)} betas (norm {np.linalg.norm(betas):.2f}) shape another body "
            f"model; reported and not used"
        )
    if file.skipped:
        notes.append(f"object arrays skipped without loading: {', '.join(sorted(file.skipped))}")
    left = sorted(name for name in file.headers if name not in _USED)
    if left:
        notes.append(f"arrays not used: {', '.join(left)}")
    return notes
