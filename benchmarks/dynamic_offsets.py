"""How many principal components dynamic offsets have: of everybody, and by body mass index.

    python benchmarks/dynamic_offsets.py dyna.zarr --out report.json
    python benchmarks/dynamic_offsets.py dyna.packed.npz            a packed set as well

Dynamic offsets are take less quasi-static twin, carried back to the rest pose by dual quaternions,
in evenly spaced frames, `--frames` in all. Told are the components that explain 90, 95 and 99 % of
their variance about the mean, together and for groups of people, and their root mean square; and
which takes the set lacks since their flesh was beyond the limits of health.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Take
from corporeal.formats.registrations import RegistrationsStore
from corporeal.pipelines.dataset import is_store, read_dataset
from corporeal.pipelines.packed_dataset import Carrier

SHARES = (0.90, 0.95, 0.99)
GROUPS = {
    "BMI below 20": (0.0, 20.0),
    "BMI 20 to 25": (20.0, 25.0),
    "BMI 25 to 30": (25.0, 30.0),
    "BMI 30 to 35": (30.0, 35.0),
    "BMI 35 and more": (35.0, 99.0),
}
SEXES = ("female", "male")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path, help="captures with twins (.zarr, .packed.npz)")
    parser.add_argument("--frames", type=int, default=5000, help="that are decomposed, at most")
    parser.add_argument("--out", type=Path, help="report to write (.json)")
    asked = parser.parse_args()
    report = reported(asked.data, asked.frames)
    text = json.dumps(report, indent=1) + "\n"
    print(text)
    if asked.out is not None:
        asked.out.write_text(text)


def reported(path: Path, most: int) -> dict[str, Any]:
    """Components by group, and what was left out of the set."""
    held = read_dataset(path)
    moving = [take for take in held.takes if take.twin is not None]
    every = max(1, -(-sum(take.frame_count for take in moving) // most))
    carrier = Carrier(load_default_body().template)
    parts = [offsets(held, take, carrier, every) for take in moving]
    owner = np.repeat([take.subject for take in moving], [len(part) for part in parts])
    rows = np.concatenate(parts)
    products = inner_products(rows)
    facts = {name: held.subjects[name].facts for name in set(owner)}
    bmi = {name: float(f["mass"]) / float(f["stature"]) ** 2 for name, f in facts.items()}
    groups = {"everybody": sorted(facts)}
    groups |= {sex: [n for n in sorted(facts) if facts[n]["sex"] == sex] for sex in SEXES}
    groups |= {
        title: [name for name in sorted(facts) if low <= bmi[name] < high]
        for title, (low, high) in GROUPS.items()
    }
    left_out = RegistrationsStore.open(path).left_out() if is_store(path) else []
    return {
        "commit": commit(),
        "set": path.name,
        "takes": len(moving),
        "every": every,
        "left_out": [f"{t.subject} {t.sequence}: {'; '.join(t.reasons)}" for t in left_out],
        "groups": {
            title: described(products[np.ix_(some, some)], rows.shape[1] // 3, len(who))
            for title, who in groups.items()
            if len(some := np.flatnonzero(np.isin(owner, who))) > 2
        },
    }


def inner_products(rows: np.ndarray) -> np.ndarray:
    """Of all rows with each other, in float64, some columns at a time."""
    products = np.zeros((len(rows), len(rows)))
    for first in range(0, rows.shape[1], 4096):
        part = rows[:, first : first + 4096].astype(np.float64)
        products += part @ part.T
    return products


def described(products: np.ndarray, vertices: int, people: int) -> dict[str, Any]:
    """Components and size of some people's offsets, from the products of their rows."""
    count = len(products)
    means = products.mean(axis=0)
    centred = products - means - means[:, None] + products.mean()
    values = np.maximum(np.linalg.eigvalsh(centred)[::-1], 0.0)
    explained = np.cumsum(values) / values.sum()
    needed = {
        f"{100 * share:.0f} %": int(np.searchsorted(explained, share)) + 1 for share in SHARES
    }
    size = np.sqrt(np.trace(products) / count / vertices)
    return {
        "people": people,
        "frames": count,
        "components": needed,
        "rms_mm": round(1e3 * float(size), 3),
    }


def offsets(held: Registrations, take: Take, carrier: Carrier, every: int) -> np.ndarray:
    """Dynamic offsets of some frames, in the rest pose, a row a frame."""
    subject, count = held.subjects[take.subject], take.frame_count
    assert subject.identity is not None
    assert take.truth is not None
    assert take.twin is not None
    rest = np.asarray(subject.identity.rest_vertices, np.float32)
    identity = Identity(rest, np.asarray(subject.identity.joints, np.float32), {})
    turns = np.asarray(take.truth.joint_rotations[0:count], np.float32)[::every]
    way = np.asarray(take.truth.root_translation[0:count], np.float32)[::every]
    moved, still = (
        carrier.to_rest(identity, Pose(turns, way), np.asarray(rows[0:count], np.float32)[::every])
        for rows in (take.vertices, take.twin.vertices)
    )
    return moved - still


if __name__ == "__main__":
    main()
