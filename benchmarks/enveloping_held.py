"""Corrective enveloping learned with the captures' own bodies and poses, on people it has not seen.

    corporeal capture --people people.zarr --protocol poses … --out new.zarr
    python benchmarks/enveloping_held.py --scans two.zarr dense.zarr single.zarr --new new.zarr

New people have their own bodies and their own poses, as animated ones do: nothing is fitted to
their scans. Root mean square distances by region, mm, of plain blending, of twist helpers alone, of
the person's own corrections, the average person's, one person's transferred, those learned with
identities permuted, and of SMPL's pose blend shapes, learned by ridge regression on the same bodies
and poses, plain and dependent on the first latent coordinates (the ridge with the least error on
these very people is told: generous). Then how corrections go along with who the person is.
`--validate` leaves people of the training set out, one by one, for settings to be chosen by.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

import numpy as np
from measured_commit import commit

from corporeal.body.enveloping import EnvelopingModel
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations

RESULTS = Path(__file__).parent / "results/enveloping_held.json"
REACH = {"elbow": 0.10, "shoulder": 0.14, "knee": 0.13, "hip": 0.18}
"""Metres around a joint that are its region."""
RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
DEPENDENT = 3
"""Latent coordinates that dependent pose blend shapes are linear in."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scans", type=Path, nargs="+", required=True, help="to learn from")
    parser.add_argument("--new", type=Path, nargs="+", help="sets of new people")
    parser.add_argument("--names", nargs="*", help="these of the new people alone")
    parser.add_argument("--validate", nargs="*", help="leave out one by one; all if none is named")
    parser.add_argument("--settings", default="{}", help="of training, JSON: most_keys, rounds, …")
    parser.add_argument("--holes", type=float, default=0.0, help="share of the skin not seen")
    parser.add_argument(
        "--surfaces", type=Path, nargs="+", help="the same scans as registration has them"
    )
    parser.add_argument("--chosen", type=Path, help="people that settings are chosen by")
    parser.add_argument("--keep", type=Path, help="write the model (.npz)")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    held, settings = joined(given.scans), json.loads(given.settings)
    begin = time.process_time()
    if given.surfaces is not None:
        held, settings["registered"] = registered(held, joined(given.surfaces))
    if given.holes:
        held, settings["holes"] = punched(held, given.holes), given.holes
    if given.validate is not None:
        found = validated(held, given.validate, settings)
    else:
        new = joined(given.new)
        names = given.names or list(people_of(new))
        others = None if given.chosen is None else joined([given.chosen])
        found = measured(held, new, names, settings, given.keep, others)
    record = {
        "command": " ".join(["python benchmarks/enveloping_held.py", *map(shown, sys.argv[1:])]),
        "settings": settings, **found, "cpu_seconds": round(time.process_time() - begin, 1),
        "commit": commit(), "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip
    given.out.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


def shown(word: str) -> str:
    """A word of the command line, a path by its name alone."""
    return Path(word).name if "/" in word else word


def joined(paths: list[Path]) -> Registrations:
    """Sets one after another; somebody of an earlier set is left out of later ones, since other
    draws of tissue make another person of the same body."""
    from corporeal.pipelines.dataset import read_dataset

    sets, takes, people = [read_dataset(path) for path in paths], [], {}
    for held in sets:
        known = set(people)
        for take in held.takes:
            if take.subject not in known:
                takes.append(take)
                people[take.subject] = held.subjects[take.subject]
    return replace(sets[0], takes=tuple(takes), subjects=people)


def people_of(held: Registrations) -> dict[str, int]:
    """Scans of everybody."""
    counts: dict[str, int] = {}
    for take in held.takes:
        counts[take.subject] = counts.get(take.subject, 0) + take.frame_count
    return counts


def punched(held: Registrations, share: float) -> Registrations:
    """Round holes of 8 cm until so much of every scan is missing; standing scans stay whole, as
    the paper trusts them."""
    random, takes = np.random.default_rng(5), []
    for take in held.takes:
        frames = np.array(take.vertices[: take.frame_count], np.float32)
        for n in range(1, len(frames)):
            whole, away = frames[n].copy(), np.zeros(frames.shape[1], bool)
            while away.mean() < share:
                centre = whole[random.integers(len(whole))]
                away |= np.linalg.norm(whole - centre, axis=1) < 0.08
            frames[n, away] = np.nan
        takes.append(replace(take, vertices=frames))
    return replace(held, takes=tuple(takes))


def registered(held: Registrations, found: Registrations) -> tuple[Registrations, dict]:
    """The people whose scans were registered, with the registered surfaces, and how far these are
    from the recorded ones."""
    surfaces, takes, off = {(t.subject, t.sequence): t for t in found.takes}, [], []
    for take in held.takes:
        other = surfaces.get((take.subject, take.sequence))
        if other is not None and other.frame_count == take.frame_count:
            own = np.asarray(other.vertices[: take.frame_count], np.float32)
            gap = np.sum((own - np.asarray(take.vertices[: take.frame_count])) ** 2, axis=-1)
            off.append(gap[:, regions()["body"]].mean())
            takes.append(replace(take, vertices=own))
    told = {"scans": sum(t.frame_count for t in takes), "people": len(takes),
            "rms_mm": round(1e3 * float(np.sqrt(np.mean(off))), 3)}  # fmt: skip
    return replace(held, takes=tuple(takes)), told


def trained(held: Registrations, settings: dict):
    """Held bodies and poses; and what the fit was made of."""
    from corporeal.models.enveloping.train import EnvelopingTrainer
    from corporeal.pipelines.train_enveloping import trained_enveloping

    plain = EnvelopingTrainer()
    own = {k: v for k, v in settings.items() if k in ("rounds", "latent_count", "offset_count")}
    keys = {k: v for k, v in settings.items() if k in vars(plain.keys)}
    linear = {k: v for k, v in settings.items() if k in vars(plain.linear)}
    trainer = replace(
        plain, **own, keys=replace(plain.keys, **keys), linear=replace(plain.linear, **linear)
    )
    return trained_enveloping(
        held, trainer, poses="held", callback=lambda s, e: print(f"  {s}: {1e3 * e:.2f} mm")
    )


@dataclass(frozen=True)
class NewPerson:
    """Somebody whose body and poses are known."""

    identity: Identity
    """Body in the zero pose."""
    pose: Pose
    """Of all scans."""
    seen: np.ndarray
    """The scans, metres."""
    facts: dict
    """Sex, mass, stature."""


def new_people(held: Registrations, names: list[str]) -> dict[str, NewPerson]:
    found = {}
    for name in names:
        takes = [t for t in held.takes if t.subject == name]
        truths = [t.truth for t in takes if t.truth is not None]
        turns = np.concatenate([np.asarray(t.joint_rotations[:]) for t in truths])
        shift = np.concatenate([np.asarray(t.root_translation[:]) for t in truths])
        seen = np.concatenate([np.asarray(t.vertices[:], np.float64) for t in takes])
        who = held.subjects[name]
        assert who.identity is not None
        pose = Pose(turns.astype(np.float64), shift.astype(np.float64))
        found[name] = NewPerson(who.identity, pose, seen, dict(who.facts))
    return found


@cache
def regions() -> dict[str, np.ndarray]:
    from corporeal.pipelines.train_enveloping import default_rig, hand_confidence

    template, _ = default_rig()
    rest, names = np.asarray(template.mesh.vertices), template.skeleton.names
    joints = np.asarray(template.skeleton.joints)
    found = {}
    for kind, reach in REACH.items():
        both = [joints[names.index(f"{side}_{kind}")] for side in ("left", "right")]
        near = np.minimum.reduce([np.linalg.norm(rest - joint, axis=1) for joint in both])
        found[kind] = near < reach
    return {**found, "body": hand_confidence(template) > 0.5}


def pooled(rows: list[dict[str, float]]) -> dict[str, float]:
    return {
        kind: round(1e3 * float(np.sqrt(np.mean([row[kind] for row in rows]))), 3)
        for kind in rows[0]
    }


def errors(made: np.ndarray, seen: np.ndarray) -> dict[str, float]:
    off = np.sum((made - seen) ** 2, axis=-1)
    return {kind: float(off[:, where].mean()) for kind, where in regions().items()}


def tried(skin: Callable, people: dict[str, NewPerson]) -> dict[str, float]:
    return pooled([errors(skin(p.identity, p.pose), p.seen) for p in people.values()])


def deformer(model: EnvelopingModel):
    from corporeal.assets.default_body import load_default_body
    from corporeal.models.enveloping.model import EnvelopingSkinning

    return EnvelopingSkinning(load_default_body().template, model)


def validated(held: Registrations, names: list[str], settings: dict) -> dict:
    """Everybody with many poses left out in turn."""
    counts = people_of(held)
    rows: dict[str, list] = {}
    keys: list[int] = []
    for name in names or [n for n, count in counts.items() if count > 2]:
        made = trained(held.where(lambda take, name=name: take.subject != name), settings)
        skin, people = deformer(made.model), new_people(held, [name])
        keys = made.report["keys"]
        for kind, controls in {
            "twist helpers alone": {"corrections": 0.0}, "enveloping": {},
            "average corrections": {"individual": 0.0},
        }.items():  # fmt: skip
            p = people[name]
            row = errors(skin.vertices(p.identity, p.pose, controls=controls), p.seen)
            rows.setdefault(kind, []).append(row)
    return {
        "validated": {kind: pooled(found) for kind, found in rows.items()},
        "keys": keys,
    }


def measured(held, new, names: list[str], settings: dict, keep: Path | None, others) -> dict:
    from corporeal.assets.default_body import load_default_body
    from corporeal.formats.enveloping import write_enveloping
    from corporeal.skinning.linear import LinearBlendSkinning

    begin = time.process_time()
    made = trained(held, settings)
    seconds = time.process_time() - begin
    if keep is not None:
        write_enveloping(keep, made.model)
    people, own = new_people(new, names), deformer(made.model)
    about = {
        "training": {
            "people": made.report["data"]["people"], "poses": made.report["data"]["poses"],
            "scans": made.report["data"]["registrations"], "keys": made.report["keys"],
            "stages": made.report["stages"], "cpu_seconds": round(seconds, 1),
            "rms_mm": round(1e3 * made.report["training_rms"], 3),
        },
        "new": {n: {k: people[n].facts[k] for k in ("sex", "stature", "mass")} for n in names},
    }  # fmt: skip
    if "holes" in settings or "registered" in settings:
        few = {"average corrections": {"individual": 0.0}, "enveloping": {}}
        return about | {"new_people_mm": {
            name: tried(partial(own.vertices, controls=controls), people)
            for name, controls in few.items()
        }}  # fmt: skip
    one = replace(made.model, corrections=made.single.corrections)
    order = np.random.default_rng(3).permutation(len(made.estimate.x))
    again = deformer(solved_again(held, made, np.arange(len(order)), settings))
    permuted = deformer(solved_again(held, made, order, settings))
    plain = LinearBlendSkinning(load_default_body().template)
    skins = {
        "linear blending": plain.vertices,
        "twist helpers alone": partial(own.vertices, controls={"corrections": 0.0}),
        "one person transferred": deformer(one).vertices,
        "average corrections": partial(own.vertices, controls={"individual": 0.0}),
        "enveloping": own.vertices, "solved again": again.vertices,
        "solved again, average": partial(again.vertices, controls={"individual": 0.0}),
        "identities permuted": permuted.vertices,
        "identities permuted, average": partial(permuted.vertices, controls={"individual": 0.0}),
    }  # fmt: skip
    table = {name: tried(skin, people) for name, skin in skins.items()}
    chosen = {} if others is None else new_people(others, list(people_of(others)))
    by = {k: tried(skins[k], chosen) for k in ("average corrections", "enveloping") if chosen}
    table |= blend_shapes(held, own, people)
    return about | {
        "chosen_by_mm": by,
        "new_people_mm": table, "ratios": ratios(table),
        "follows_identity": {
            "own": followed(own, people), "permuted": followed(permuted, people),
        },
        "individual": sizes(own, people),
    }  # fmt: skip


def ratios(table: dict) -> dict:
    """The person's own corrections to all others."""
    own = table["enveloping"]
    found = {
        f"own to {name}": {k: round(own[k] / row[k], 3) for k in own}
        for name, row in table.items() if name != "enveloping"
    }  # fmt: skip
    for name in ("solved again", "identities permuted"):
        row, mean = table[name], table[f"{name}, average"]
        found[f"{name} to its average"] = {k: round(row[k] / mean[k], 3) for k in row}
    return found


def solved_again(held, made, order: np.ndarray, settings: dict) -> EnvelopingModel:
    """Offsets solved for once more, from nothing, with x of the people in this order."""
    from corporeal.models.enveloping.train import model_of
    from corporeal.models.enveloping.training.linear import LinearSolve, with_linear_parts
    from corporeal.models.enveloping.training.scans import scans_of
    from corporeal.pipelines.train_enveloping import default_rig, hand_confidence

    template, _ = default_rig()
    scans, _ = scans_of(held, template)
    seen = (scans.confidence * hand_confidence(template)).astype(np.float32)
    estimate = replace(made.estimate, offsets=tuple(0 * k for k in made.estimate.offsets))
    linear = {k: v for k, v in settings.items() if k in vars(LinearSolve())}
    solved = with_linear_parts(
        made.problem, replace(scans, confidence=seen), estimate, made.estimate.offset_count,
        replace(LinearSolve(iterations=30), **linear), offset_latents=made.estimate.x[order],
    )  # fmt: skip
    kept = replace(made.estimate, offsets=solved.offsets)
    return model_of(made.problem, kept, template, [{}] * len(order))


def blend_shapes(held, own, people: dict[str, NewPerson]) -> dict:
    """SMPL's pose blend shapes on plain blending of the same bodies: errors of the best ridge."""
    from corporeal.assets.default_body import load_default_body
    from corporeal.skinning.linear import LinearBlendSkinning

    plain = LinearBlendSkinning(load_default_body().template)
    everybody = new_people(held, list(people_of(held)))
    features, latents, rest = [], [], []
    for person in everybody.values():
        features.append(pose_features(person.pose))
        latents.append(np.tile(own.latents(person.identity)[:DEPENDENT], (len(person.seen), 1)))
        turned = blended_rotations(plain, person)
        gap = person.seen - plain.vertices(person.identity, person.pose)
        rest.append(np.linalg.solve(turned, gap[..., None])[..., 0].astype(np.float32))
    f, x, r = np.concatenate(features), np.concatenate(latents), np.concatenate(rest)
    found = {}
    for name, dependent in (("smpl", False), ("smpl shape-dependent", True)):
        best: dict[str, float] = {}
        kept = RIDGES[0]
        rows = with_shapes(f, x) if dependent else f
        gram = rows @ rows.T
        for ridge in RIDGES:
            solved = np.linalg.solve(gram + ridge * np.eye(len(gram)), r.reshape(len(r), -1))
            made = []
            for p in people.values():
                y = np.tile(own.latents(p.identity)[:DEPENDENT], (len(p.seen), 1))
                here = pose_features(p.pose)
                here = with_shapes(here, y) if dependent else here
                added = ((here @ rows.T) @ solved).reshape(p.seen.shape)
                turned = blended_rotations(plain, p)
                skin = plain.vertices(p.identity, p.pose)
                skin = skin + np.matmul(turned, added[..., None])[..., 0]
                made.append(errors(skin, p.seen))
            table = pooled(made)
            if not best or table["body"] < best["body"]:
                best, kept = table, ridge
        found[name] = best
        found.setdefault("ridges", {})[name] = kept
    print("ridges", found.pop("ridges"))
    return found


def pose_features(pose) -> np.ndarray:
    """R − I of SMPL's 23 joints."""
    from corporeal.assets.smpl_view import BODY_JOINT_COUNT
    from corporeal.geometry.rotations import matrix_from_axis_angle

    turns = matrix_from_axis_angle(pose.joint_rotations[:, 1:BODY_JOINT_COUNT]) - np.eye(3)
    return turns.reshape(len(turns), -1)


def with_shapes(features: np.ndarray, x: np.ndarray) -> np.ndarray:
    y = np.concatenate([np.ones((len(x), 1)), x], axis=1)
    return (y[:, :, None] * features[:, None]).reshape(len(features), -1)


def blended_rotations(plain, person: NewPerson) -> np.ndarray:
    world = plain.world_from_joint(person.identity, person.pose)[..., :3, :3]
    dense = np.asarray(plain.template.weights.dense(), np.float64)
    flat = world.reshape(*world.shape[:2], 9)
    return np.matmul(dense, flat).reshape(len(flat), -1, 3, 3)


def followed(own, people: dict[str, NewPerson]) -> dict:
    """How far what x adds goes along with what new people have beyond the average person's
    corrections: correlation over all coordinates of a region, the share of the squared distance
    that it takes away."""
    rows = []
    for p in people.values():
        average = own.vertices(p.identity, p.pose, controls={"individual": 0.0})
        missing = p.seen - average
        added = own.vertices(p.identity, p.pose) - average
        rows.append({
            kind: [float(np.sum(a[:, where] * b[:, where])) for a, b in (
                (missing, added), (missing, missing), (added, added))]
            for kind, where in regions().items()
        })  # fmt: skip
    found = {}
    for kind in rows[0]:
        sums = np.array([row[kind] for row in rows])
        both, missing, added = sums.sum(axis=0)
        each = sums[:, 0] / np.sqrt(sums[:, 1] * sums[:, 2] + 1e-20)
        found[kind] = {
            "correlation": round(float(both / np.sqrt(missing * added + 1e-20)), 3),
            "share_taken_away": round(float((2 * both - added) / missing), 3),
            "correlation_by_person": each.round(3).tolist(),
        }
    return found


def sizes(own, people: dict[str, NewPerson]) -> dict:
    """Size of every new person's offsets at four joints against their mass and their mass index."""
    mass = np.array([float(p.facts["mass"]) for p in people.values()])
    tall = np.array([float(p.facts["stature"]) for p in people.values()])
    found: dict = {"masses_kg": mass.round(1).tolist(), "bmi": (mass / tall**2).round(1).tolist()}
    for kind in REACH:
        joint, size = own.model.joint_names.index(f"left_{kind}"), []
        for p in people.values():
            offsets = [
                rows for (_, rows), d in zip(
                    own.offsets_of(own.latents(p.identity)), own.model.corrections, strict=True
                ) if d.joint == joint
            ]  # fmt: skip
            size.append(np.sqrt(np.mean([np.mean(np.sum(o**2, axis=-1)) for o in offsets])))
        found[kind] = {
            "rms_offsets_mm": [round(1e3 * float(s), 3) for s in size],
            "correlation_with_mass": round(float(np.corrcoef(size, mass)[0, 1]), 3),
            "correlation_with_bmi": round(float(np.corrcoef(size, mass / tall**2)[0, 1]), 3),
        }
    return found


if __name__ == "__main__":
    main()
