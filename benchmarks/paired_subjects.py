"""What `paired.py` times, for whichever checkout is on the path: one group of them a process.

    PYTHONPATH=CHECKOUT/src python benchmarks/paired_subjects.py skinning

Prints a JSON object: benchmark → median milliseconds of a call, how many calls, and a number made
of the output, by which the runner sees that both checkouts computed the same. Modules are looked
for under all names that they have had (`HOMES`).
"""

import contextlib
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

HOMES = {
    "PhenotypeModel": ("corporeal.models.phenotype.model",),
    "make_deformer": ("corporeal.pipelines.deformers",),
    "Identity": ("corporeal.body.identity",),
    "Motion": ("corporeal.body.motion",),
    "Pose": ("corporeal.body.pose",),
    "PoseCorrectives": ("corporeal.body.correctives",),
    "CorrectedSkinning": (
        "corporeal.models.smpl.model.corrected",
        "corporeal.models.smpl.corrected",
    ),
    "SmplModel": ("corporeal.models.smpl.model",),
    "load_model": ("corporeal.pipelines.smpl_models",),
    "StudioServer": ("corporeal.viewer.server",),
    "Packet": ("corporeal.viewer.packets",),
    "decode": ("corporeal.viewer.packets",),
}
"""Name → modules that may define it, the newest first."""
SECONDS = 0.7  # of calls for a measurement, after the first ones
FRAMES = 24  # of a simulated clip, at 60 a second
POSES = (1, 64, 1024)

Timed = dict[str, dict[str, float]]


def find(name: str) -> Any:
    """A name of the package, wherever this checkout has it."""
    for module in HOMES[name]:
        with contextlib.suppress(ModuleNotFoundError, AttributeError):
            return getattr(import_module(module), name)
    raise SystemExit(f"this checkout has no {name} in {', '.join(HOMES[name])}; add its module.")


def timed(call: Callable[[], Any], seconds: float = SECONDS, calls: int = 1) -> dict[str, float]:
    """Median milliseconds of a call, after two that are not counted; `calls` go in a round."""
    call()
    output = np.asarray(call(), np.float64)
    number = float(np.abs(output).mean())
    del output
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        started = time.perf_counter()
        for _ in range(calls):
            call()
        times.append(1e3 * (time.perf_counter() - started) / calls)
    return {"ms": float(np.median(times)), "rounds": len(times), "output": number}


def person() -> tuple[Any, Any]:
    """The template and the default identity in float32."""
    model = find("PhenotypeModel")()
    made = model.prepare()
    rest, joints = (np.asarray(a, np.float32) for a in (made.rest_vertices, made.joints))
    return model.template, find("Identity")(rest, joints, {})


def poses(count: int, joint_count: int) -> Any:
    """Poses with joint rotations of about half a radian, the same in every run."""
    random = np.random.default_rng(0)
    rotations = random.normal(0, 0.3, (count, joint_count, 3)).astype(np.float32)
    return rotations, np.zeros((count, 3), np.float32)


def posing(name: str, deformer: Any, identity: Any, joint_count: int) -> Timed:
    """A deformer without memory at 1, 64 and 1 024 poses: NumPy in, a fresh result out."""
    pose, found = find("Pose"), {}
    for count in POSES:
        rotations, translation = poses(count, joint_count)

        def call(r: np.ndarray = rotations, t: np.ndarray = translation) -> Any:
            return deformer.vertices(identity, pose(r, t))

        found[f"{name}, {count} poses"] = timed(call, calls=10 if count == 1 else 1)
    return found


def skinning() -> Timed:
    """Linear and dual-quaternion skinning."""
    template, identity = person()
    found: Timed = {}
    for name in ("lbs", "dqs"):
        made = find("make_deformer")(name, template)
        found |= posing(name, made, identity, template.skeleton.joint_count)
    return found


def smpl() -> Timed:
    """The shipped SMPL as it is (64 blend shapes), and with one blend shape a pose feature."""
    data = find("load_model")(Path("smpl"))
    model = find("SmplModel")(data)
    made = model.prepare()
    rest, joints = (np.asarray(a, np.float32) for a in (made.rest_vertices, made.joints))
    identity = find("Identity")(rest, joints, {})
    shapes = np.asarray(data.pose_offsets, np.float32)
    names = tuple(f"feature_{n}" for n in range(data.pose_count))
    every = find("PoseCorrectives")(data.joint_names[1:], names, np.eye(data.pose_count), shapes)
    full = find("CorrectedSkinning")(model.template, every, data.blending)
    return {
        **posing("smpl", model, identity, data.joint_count),
        **posing("smpl full rank", full, identity, data.joint_count),
    }


def physics() -> Timed:
    """A simulated frame at 60 a second, skin included: free, with contacts, and layered."""
    template, identity = person()
    clip = moving(template.skeleton)
    projective, layered = (find("make_deformer")(n, template) for n in ("projective", "layered"))
    found = {}
    for name, deformer, controls in (
        ("projective frame", projective, None),
        ("projective frame with contacts", projective, contacts(projective)),
        ("layered frame", layered, None),
    ):

        def call(d: Any = deformer, c: Any = controls) -> Any:
            return d.animate(identity, clip, c).vertices

        row = timed(call, 1.2)
        found[name] = row | {"ms": row["ms"] / FRAMES}
    return found


def contacts(deformer: Any) -> dict[str, Any]:
    """Contact of skin with skin anywhere, as this checkout's controls say it."""
    return {"collisions": "global" if hasattr(deformer, "Controls") else np.array(2.0)}


def moving(skeleton: Any) -> Any:
    """Arms go down to the trunk, elbows and a knee bend, the body goes up and down."""
    phase = 0.1 * np.arange(FRAMES)
    rotations = np.zeros((FRAMES, skeleton.joint_count, 3))
    for name, axis, size in (
        ("left_shoulder", 2, -1.35),
        ("right_shoulder", 2, 1.35),
        ("left_elbow", 1, -1.0),
        ("right_elbow", 1, 1.0),
        ("left_knee", 0, 1.0),
    ):
        rotations[:, skeleton.index(name), axis] = size * np.sin(0.7 * phase) ** 2
    way = np.zeros((FRAMES, 3))
    way[:, 1] = 0.1 * np.sin(2 * phase)
    return find("Motion")("moving", 60.0, rotations, way, skeleton)


def studio() -> Timed:
    """Frames that the studio's server delivers over its socket, and what stepping one takes.

    The page opens with linear blending beside projective flesh. A frame's gap is capped by the
    rate at which frames are shown; the step is not.
    """
    from paired_studio import visited

    gaps, steps, count = visited(find("StudioServer"), find("Packet"), find("decode"))
    return {
        "studio delivered frame": {"ms": gaps, "rounds": count, "output": 0.0},
        "studio step": {"ms": steps, "rounds": count, "output": 0.0},
    }


def smoke() -> Timed:
    """One pose, a few calls: for tests of the runner."""
    template, identity = person()
    made = find("make_deformer")("lbs", template)
    rotations, translation = poses(1, template.skeleton.joint_count)
    pose = find("Pose")(rotations, translation)
    return {"lbs, 1 poses": timed(lambda: made.vertices(identity, pose), 0.01)}


GROUPS = {"smoke": smoke, "physics": physics, "skinning": skinning, "smpl": smpl, "studio": studio}

if __name__ == "__main__":
    print(json.dumps(GROUPS[sys.argv[1]]()))
