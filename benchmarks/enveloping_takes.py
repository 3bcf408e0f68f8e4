"""What the corrections of the enveloping model that ships do on captured takes, by their strength.

    python benchmarks/enveloping_takes.py dyna_test.zarr

Every sixth frame of takes that the model has not seen, moved by plain blending, by blending with
twist helpers alone, by half and by all of the corrections, and by those of the average person; mean
distance of the skin, mm, whole and by part. Then with one driver left out at a time, left and right
together: whose corrections help. And how far the body's shoulder joint is from the one that the
corrections were learned with.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from measured_commit import commit

RESULTS = Path(__file__).parent / "results/enveloping_takes.json"
EVERY = 6
SETTINGS = {
    "twist helpers alone": {"corrections": 0.0},
    "half the corrections": {"corrections": 0.5},
    "corrections": {},
    "corrections of the average person": {"individual": 0.0},
}


def main() -> None:
    from corporeal.assets.default_body import load_default_body
    from corporeal.body.pose import Pose
    from corporeal.dynamics.training import motion_of
    from corporeal.formats.enveloping import read_enveloping
    from corporeal.models.enveloping.model import EnvelopingSkinning
    from corporeal.pipelines.dataset import read_dataset
    from corporeal.pipelines.evaluate_deformers import PARTS
    from corporeal.skinning.linear import LinearBlendSkinning

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("takes", type=Path)
    parser.add_argument("--model", type=Path, help="another model (.npz) than the one that ships")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    held, template = read_dataset(given.takes), load_default_body().template
    trained = None if given.model is None else read_enveloping(given.model)
    own = EnvelopingSkinning(template, trained)
    plain = LinearBlendSkinning(template)
    parts = {
        part: np.isin(template.part_labels, [template.part_names.index(n) for n in names])
        for part, names in PARTS.items()
        if set(names) <= set(template.part_names)
    }
    parts["all"] = np.ones(template.mesh.vertex_count, bool)
    less = without_each_driver(own)

    shoulders = []
    rows: dict[str, list[dict[str, float]]] = {}
    for take in held.takes:
        who = held.subjects[take.subject].identity
        assert who is not None
        shoulders.append(shoulder_gap(own, who))
        poses = motion_of(take, template.skeleton).poses
        some = Pose(poses.joint_rotations[::EVERY], poses.root_translation[::EVERY])
        seen = np.asarray(take.vertices[:], np.float64)[::EVERY]
        skins: dict[str, Callable[[], np.ndarray]] = {"lbs": partial(plain.vertices, who, some)}
        for name, controls in SETTINGS.items():
            skins[name] = partial(own.vertices, who, some, controls=controls)
        for name, deformer in less.items():
            skins[f"without {name}"] = partial(deformer.vertices, who, some)
        for name, skin in skins.items():
            away = 1e3 * np.linalg.norm(skin() - seen, axis=-1)
            row = {part: float(away[:, mask].mean()) for part, mask in parts.items()}
            rows.setdefault(name, []).append(row)
    mean = {
        name: {part: round(float(np.mean([row[part] for row in of])), 2) for part in parts}
        for name, of in rows.items()
    }
    record = {
        "command": "python benchmarks/enveloping_takes.py dyna_test.zarr", "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"), "takes": len(held.takes),
        "frames": sum(len(range(0, take.frame_count, EVERY)) for take in held.takes), "mm": mean,
        "shoulder_joints_apart_mm": [round(min(shoulders), 1), round(max(shoulders), 1)],
    }  # fmt: skip
    given.out.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(mean, indent=1))


def shoulder_gap(deformer, identity) -> float:
    """Millimetres between a body's left shoulder and the one of the character that the corrections
    are taken from, both skins about the same mean."""
    from corporeal.models.enveloping.model import coordinates

    model = deformer.model
    y = coordinates(deformer.latents(identity))
    learned = deformer.rig.layout.joints_of(y @ np.asarray(model.bones, np.float64))
    dress = np.tensordot(y, np.asarray(model.dress, np.float64), axes=1)
    shift = (np.asarray(identity.rest_vertices, np.float64) - dress).mean(axis=0)
    joint = model.joint_names.index("left_shoulder")
    gap = learned[joint] + shift - np.asarray(identity.joints, np.float64)[joint]
    return float(1e3 * np.linalg.norm(gap))


def without_each_driver(whole):
    """The deformer with one driver's offsets at nought, left and right together, by its name."""
    from corporeal.models.enveloping.model import EnvelopingSkinning

    model = whole.model
    drivers = {}
    for place, driver in enumerate(model.corrections):
        joint = model.joint_names[driver.joint].removeprefix("left_").removeprefix("right_")
        drivers.setdefault(f"{joint} {driver.kind}", []).append(place)
    found = {}
    for name, places in drivers.items():
        kept = [
            replace(driver, offsets=np.zeros_like(driver.offsets)) if place in places else driver
            for place, driver in enumerate(model.corrections)
        ]
        found[name] = EnvelopingSkinning(whole.template, replace(model, corrections=tuple(kept)))
    return found


if __name__ == "__main__":
    main()
