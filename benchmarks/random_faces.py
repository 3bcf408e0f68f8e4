"""A thousand random faces: does any meet itself where the average face does not?

    python benchmarks/random_faces.py [--count 1000] [--out benchmarks/results/random_faces.json]

Every face is drawn as `people` draws looks (sex, age, origin, sliders, smile), put on the average
body of that sex and age, and its head is searched for triangles that meet. Counted are pairs that
the same body has not with the average face, apart from mouth and lids, where skin lies on skin; and
how far the face goes from the average, as the largest distance of any vertex.
"""

import argparse
import json
from pathlib import Path
from time import process_time

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    from measured_commit import commit

    start = process_time()
    result = examine(arguments.count)
    result |= {
        "processor_seconds": round(process_time() - start, 1),
        "commit": commit(),
        "command": f"python benchmarks/random_faces.py --count {arguments.count}",
    }
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text + "\n", encoding="utf-8")


def examine(count: int) -> dict:
    """Figures of `count` random faces."""
    from corporeal.anthropometry.validity import touching_skin
    from corporeal.appearance.appearance import Appearance
    from corporeal.appearance.faces import face_offsets
    from corporeal.appearance.random_looks import random_appearance
    from corporeal.appearance.resolving import Wearer
    from corporeal.geometry.intersection import intersecting_triangle_pairs
    from corporeal.models.phenotype.model import PhenotypeModel

    model = PhenotypeModel()
    template = model.template
    labels = template.part_labels
    head = np.isin(labels, [template.part_names.index(n) for n in ("head", "neck")])
    triangles = template.mesh.triangles[head[template.mesh.triangles].all(axis=1)]
    excused = touching_skin(template)
    broken, pairs_found, reach, worst = 0, [], [], []
    kept: dict[tuple[float, float], tuple] = {}
    for seed in range(1, count + 1):
        gender, age = float(seed % 2), (25.0, 45.0, 65.0)[seed % 3]
        wearer = Wearer(gender, age)
        if (gender, age) not in kept:
            rest = np.asarray(model.prepare({"gender": gender, "age": age}).rest_vertices)
            rest = rest.astype(np.float64)
            plain = rest + face_offsets(Appearance(), wearer)
            usual = intersecting_triangle_pairs(plain, triangles)
            kept[gender, age] = (rest, frozenset(map(tuple, usual.tolist())))
        rest, usual = kept[gender, age]
        offsets = face_offsets(random_appearance(seed, wearer), wearer)
        found = intersecting_triangle_pairs(rest + offsets, triangles)
        new = [
            pair
            for pair in map(tuple, found.tolist())
            if pair not in usual and not excused[triangles[list(pair)]].all()
        ]
        reach.append(1e3 * float(np.linalg.norm(offsets, axis=1).max()))
        pairs_found.append(len(new))
        if new:
            broken += 1
            worst.append([len(new), seed])
    return {
        "faces": count,
        "faces_that_meet_themselves": broken,
        "most_pairs": max(pairs_found),
        "worst": sorted(worst, reverse=True)[:12],
        "largest_offset_mm": {
            "median": round(float(np.median(reach)), 1),
            "most": round(float(max(reach)), 1),
        },
    }


if __name__ == "__main__":
    main()
