"""More and less weight by the enveloping model that ships: stature kept, mass reached.

    python benchmarks/enveloping_edits.py

Everybody the model was learned from is told 15 and 8 kg less, and 8, 15 and 30 kg more, at the same
stature (`models.enveloping.trends.edited`); the person that comes out is measured as any body is.
The search for x ends by the same measure, so this shows that it ends, not that trends are right.
"""

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from measured_commit import commit

RESULTS = Path(__file__).parent / "results/enveloping_edits.json"
MORE = (-15.0, -8.0, 8.0, 15.0, 30.0)
"""kg."""


def main() -> None:
    from corporeal.anthropometry.measure import measure, whole_body
    from corporeal.assets.default_body import load_default_body
    from corporeal.models.enveloping.model import EnvelopingSkinning
    from corporeal.models.enveloping.trends import edited

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    template = load_default_body().template
    deformer = EnvelopingSkinning(template)

    def told(vertices: np.ndarray) -> tuple[float, float]:
        return float(np.ptp(vertices[:, 1])), whole_body(vertices, template)["mass"]

    edits = {}
    for more in MORE:
        off = []
        for x in deformer.model.latents:
            before = measure(deformer.prepare(x), template)
            new = edited(deformer.model, x, told, mass=float(before.mass) + more)
            after = measure(deformer.prepare(new), template)
            off.append([after.stature - before.stature, after.mass - before.mass - more])
        largest = np.abs(off).max(axis=0)
        edits[f"{more:+g} kg"] = {
            "people": len(off),
            "stature_mm": round(1e3 * float(largest[0]), 4),
            "mass_kg": round(float(largest[1]), 4),
        }
    record = {
        "command": "python benchmarks/enveloping_edits.py", "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"), "largest_miss": edits,
    }  # fmt: skip
    given.out.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(edits))


if __name__ == "__main__":
    main()
