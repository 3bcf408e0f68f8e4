"""Motion capture on two very different people: quality and speed.

    python benchmarks/motion_in.py --clips <folder of BVH files> --out <file.json>

Every clip is read and retargeted to a woman of 1.55 m and 95 kg and a man of 1.95 m and 70 kg. For
each: how far planted feet slide, how deep any of the skin is in the ground, which joints turn much
faster than the captured limb, and the times to read and to retarget. The speed of a 1 000-frame
file is measured on a file of exactly that length, made from the first clip. Results are checked
before a time is reported.
"""

import argparse
import json
import platform
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.anthropometry.solve import solve_measurements
from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.formats.bvh import read_bvh, write_bvh
from corporeal.motions.edit import loop
from corporeal.motions.flight import check_frame_rate
from corporeal.motions.retarget.feet import feet_of_body
from corporeal.motions.retarget.flanks import arm_clearance
from corporeal.motions.retarget.measures import planted_slides, spikes
from corporeal.motions.retarget.retarget import Retargeted, retarget
from corporeal.skinning.linear import LinearBlendSkinning

PEOPLE = {"woman": ("female", 1.55, 95.0), "man": ("male", 1.95, 70.0)}
ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clips", type=Path, required=True, help="folder of BVH files")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    people = {name: person(*asked) for name, asked in PEOPLE.items()}
    paths = sorted(arguments.clips.glob("*.bvh"))
    rows = [describe(path, name, identity) for path in paths for name, identity in people.items()]
    speed = thousand_frames(paths[0], people["woman"])
    report = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": platform.platform(),
        "clips": rows,
        "thousand_frames": speed,
    }
    print(f"1000 frames: read {speed['read_s']:.3f} s, retarget {speed['retarget_s']:.3f} s")
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")


def person(gender: str, stature: float, mass: float) -> Identity:
    return solve_measurements({"stature": stature, "mass": mass}, gender).identity


def on_body(source: Motion, identity: Identity) -> Retargeted:
    template = load_default_body().template
    rest = template.skeleton
    skeleton = Skeleton(rest.names, rest.parents, np.asarray(identity.joints, np.float64))
    return retarget(
        source,
        skeleton,
        feet=feet_of_body(template, identity),
        arm_clearance=arm_clearance(template, identity),
    )


def describe(path: Path, name: str, identity: Identity) -> dict[str, Any]:
    """One clip on one person; lengths in millimetres."""
    start = time.perf_counter()
    source = read_bvh(path).motion
    read = time.perf_counter()
    result = on_body(source, identity)
    done = time.perf_counter()
    slides = [slide.distance for slide in planted_slides(source, result)]
    fast = sorted(spikes(source, result), key=lambda spike: -spike.speed)
    row = {
        "clip": path.stem,
        "person": name,
        "frames": source.frame_count,
        "leg_length_ratio": round(result.scale, 4),
        "planted_stretches": len(slides),
        "worst_slide_mm": round(1e3 * max(slides, default=0.0), 3),
        "penetration_mm": round(1e3 * penetration(identity, result.motion), 3),
        "pelvis_lowered_mm": round(1e3 * result.sinking, 1),
        "frame_rate": check_frame_rate(source).words,
        "spikes": [
            f"{s.joint} frame {s.frame}: {s.speed:.1f} rad/s (limb {s.source_speed:.1f})"
            for s in fast
        ],
        "read_s": round(read - start, 4),
        "retarget_s": round(done - read, 4),
    }
    print(
        f"{path.stem:45s} {name:6s} slide {row['worst_slide_mm']:6.2f} mm, ground "
        f"{row['penetration_mm']:5.2f} mm, {len(fast)} spikes, {done - start:.2f} s"
    )
    return row


def penetration(identity: Identity, motion: Motion) -> float:
    """How deep the skin is in the ground at worst, metres; every third frame."""
    some = Motion(
        motion.name,
        motion.fps,
        np.asarray(motion.joint_rotations)[::3],
        np.asarray(motion.root_translation)[::3],
        motion.skeleton,
    )
    vertices = LinearBlendSkinning(load_default_body().template).vertices(identity, some.poses)
    return max(0.0, -float(vertices[..., 1].min()))


def thousand_frames(path: Path, identity: Identity) -> dict[str, float]:
    """Median times for a file of 1 000 frames, after a check of what came out."""
    clip = read_bvh(path).motion
    longer = loop(clip, -(-1100 // clip.frame_count) + 1, 0.2)
    exact = Motion(
        "thousand",
        longer.fps,
        longer.joint_rotations[:1000],
        longer.root_translation[:1000],
        longer.skeleton,
    )
    reads, retargets = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "thousand.bvh"
        write_bvh(file, exact)
        for _ in range(ROUNDS):
            start = time.perf_counter()
            source = read_bvh(file).motion
            read = time.perf_counter()
            result = on_body(source, identity)
            reads.append(read - start)
            retargets.append(time.perf_counter() - read)
        assert source.frame_count == result.motion.frame_count == 1000
        assert max(slide.distance for slide in planted_slides(source, result)) < 0.015
        size = file.stat().st_size
    return {
        "bytes": size,
        "read_s": float(np.median(reads)),
        "retarget_s": float(np.median(retargets)),
    }


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
