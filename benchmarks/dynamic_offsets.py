"""How many principal components dynamic offsets have: of everybody, and by body mass index.

    python benchmarks/dynamic_offsets.py dyna.zarr --out report.json
    python benchmarks/dynamic_offsets.py dyna.packed.npz            a packed set as well

Dynamic offsets are take less quasi-static twin, carried back to the rest pose (dual quaternions) in
every `--every`-th frame. Told are the components that explain 90, 95 and 99 % of their variance,
about the mean, together and for groups of people; their root mean square; and in how many takes the
flesh was beyond the limits of health.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from provenance import commit

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Take
from corporeal.formats.registrations import RegistrationsStore
from corporeal.numerics.streamed_pca import principal_components
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
FIRST, MOST = 128, 1024
"""Components that are looked for at first, and at most."""
MOST_ROWS = 8000
"""Frames at most that a decomposition is made of."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path, help="captures with twins (.zarr, .packed.npz)")
    parser.add_argument("--every", type=int, default=6, help="frames from one to the next")
    parser.add_argument("--out", type=Path, help="report to write (.json)")
    asked = parser.parse_args()
    report = reported(asked.data, asked.every)
    text = json.dumps(report, indent=1) + "\n"
    print(text)
    if asked.out is not None:
        asked.out.write_text(text)


def reported(path: Path, every: int) -> dict[str, Any]:
    """Components by group, and what was left out of the set."""
    held = read_dataset(path)
    moving = [take for take in held.takes if take.twin is not None]
    bmi = {name: index_of(held, name) for name in {take.subject for take in moving}}
    rows = {take.subject: [] for take in moving}
    carrier = Carrier(load_default_body().template)
    for take in moving:
        rows[take.subject].append(offsets(held, take, carrier, every))
    sexes = {name: str(held.subjects[name].facts.get("sex")) for name in rows}
    groups = {"everybody": list(rows)}
    groups |= {sex: [n for n in rows if sexes[n] == sex] for sex in ("female", "male")}
    groups |= {
        title: [name for name in rows if low <= bmi[name] < high]
        for title, (low, high) in GROUPS.items()
    }
    left_out = RegistrationsStore.open(path).left_out() if is_store(path) else []
    return {
        "commit": commit(),
        "set": path.name,
        "takes": len(moving),
        "left_out": [f"{t.subject} {t.sequence}: {'; '.join(t.reasons)}" for t in left_out],
        "groups": {
            title: described(np.concatenate([part for name in who for part in rows[name]]), who)
            for title, who in groups.items()
            if who
        },
    }


def described(rows: np.ndarray, who: list[str]) -> dict[str, Any]:
    """Components and size of some people's offsets."""
    rows = rows[:: -(-len(rows) // MOST_ROWS)]
    count = min(FIRST, len(rows) - 1)
    while True:
        pieces = [rows[first : first + 512] for first in range(0, len(rows), 512)]
        found = principal_components(lambda pieces=pieces: pieces, count, seed=0)
        if found.explained[-1] >= SHARES[-1] or count >= min(MOST, len(rows) - 1):
            break
        count = min(2 * count, MOST, len(rows) - 1)
    needed = {
        f"{100 * share:.0f} %": int(np.argmax(found.explained >= share)) + 1
        if found.explained[-1] >= share
        else None
        for share in SHARES
    }
    squares = np.mean(np.sum(rows.reshape(len(rows), -1, 3).astype(np.float64) ** 2, axis=-1))
    return {
        "people": len(who),
        "frames": len(rows),
        "components": needed,
        "rms_mm": round(1e3 * float(np.sqrt(squares)), 3),
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


def index_of(held: Registrations, name: str) -> float:
    """Body mass index, kg/m²."""
    facts = held.subjects[name].facts
    return float(facts["mass"]) / float(facts["stature"]) ** 2


if __name__ == "__main__":
    main()
