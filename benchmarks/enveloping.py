"""Corrective enveloping on the budget of Allen 2006: few poses of most people, many of a few.

    python tools/enveloping_budget.py HOME          records 44 × 2, 5 × 16 and 1 × 69, runs all
    python benchmarks/enveloping.py --scans two.zarr dense.zarr single.zarr new.zarr
    python benchmarks/enveloping.py --scans multipose.packed.npz --only budget,holes30 --limit 6

Parts: `budget` (training, new people, one person's corrections transferred, identities permuted),
`folds` (people with many poses left out one by one, all but two of their scans: what settings are
chosen by), `smpl` (SMPL and shape-dependent SMPL on the same scans), `holes30` and `holes60` (so
much of the surface not seen), `posing` (time of a frame), `edits` (mass and stature), `shipped`
(the model that ships, on the same new people), `resumed` (a training that is killed and started
again), `registered` (sets of registered raw scans instead of the truth: `--registered`), `elbow`
(why elbows gain little), `bars` (ratios of what is there). Each part is written when it is done and
is not done again unless `--again`. `--limit` is the number of test poses of a new person. New
people are those of the sets' test half; people of a set that is not split are divided by their body
mass index.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from corporeal.body.enveloping import EnvelopingModel
from corporeal.body.registrations import Registrations, Take, Truth

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "enveloping.json"
PARTS = (
    "budget", "folds", "smpl", "holes30", "holes60", "posing", "edits", "shipped", "resumed",
    "bars",
)  # fmt: skip
REACH = {"elbow": 0.10, "shoulder": 0.14, "knee": 0.13, "hip": 0.18}
"""Metres around a joint that are its region."""
OBSERVED = 2
"""Scans of a new person that its shape is found from."""
DENSE, POSES = 5, 16
KILLED_AFTER = 3
"""Stages that the training to be resumed has told."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scans", type=Path, nargs="+", help="held poses of many people")
    parser.add_argument(
        "--registered",
        type=Path,
        nargs=2,
        metavar=("REGISTERED", "TRUTH"),
        help="raw scans as registration has them, and as they were recorded",
    )
    parser.add_argument("--hold", type=float, default=None, help="individual_hold of the solve")
    parser.add_argument(
        "--poses", choices=("found", "held"), default="found",
        help="whether bodies and poses that came with the scans are held",
    )  # fmt: skip
    parser.add_argument("--in-turns", action="store_true", help="poses held while offsets change")
    parser.add_argument("--reach", type=float, default=None, help="of shoulders' key angles, m")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas")
    parser.add_argument("--limit", type=int, default=10, help="test poses of a new person")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of training")
    parser.add_argument("--keep", type=Path, default=Path("enveloping_budget.npz"))
    parser.add_argument("--again", action="store_true", help="do finished parts again")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    done = json.loads(given.out.read_text()) if given.out.exists() else {}
    bench = Bench(given, done)
    for part in given.only.split(","):
        if part in done and not given.again:
            continue
        begin = time.process_time()
        found = getattr(bench, part)()
        found["cpu_seconds"] = round(time.process_time() - begin, 1)
        found["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, shared with other work"
        found["commit"] = commit()
        found["date"] = datetime.now(UTC).isoformat(timespec="seconds")
        done[part] = found
        given.out.write_text(json.dumps(done, indent=1) + "\n")
        print(part, json.dumps(found), flush=True)


def commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


class Bench:
    """Data, split and the model on the budget."""

    def __init__(self, given: argparse.Namespace, done: dict) -> None:
        from corporeal.models.enveloping import regions
        from corporeal.pipelines.train_enveloping import default_rig, hand_confidence, joined_sets

        if given.scans is None:
            raise SystemExit("--scans is needed: sets of held poses (corporeal capture).")
        if given.reach is not None:
            regions.REACH["shoulder"] = given.reach
        self.given, self.done, self.held = given, done, joined_sets(given.scans)
        self.template, self.regressor = default_rig()
        self.confidence = hand_confidence(self.template)
        self.counts: dict[str, int] = {}
        for take in self.held.takes:
            self.counts[take.subject] = self.counts.get(take.subject, 0) + take.frame_count
        self._roles()
        self.model: EnvelopingModel | None = None
        rest_shape = np.asarray(self.template.mesh.vertices)
        joints, names = np.asarray(self.template.skeleton.joints), self.template.skeleton.names
        self.regions = {
            kind: np.minimum.reduce(
                [
                    np.linalg.norm(rest_shape - joints[names.index(f"{side}_{kind}")], axis=1)
                    for side in ("left", "right")
                ]
            )
            < reach
            for kind, reach in REACH.items()
        }
        self.regions["body"] = self.confidence > 0.5

    def _roles(self) -> None:
        """Who is new, who has many poses, and who has the most."""
        facts = {n: self.held.subjects[n].facts for n in self.counts}
        bmi = {n: float(f["mass"]) / float(f["stature"]) ** 2 for n, f in facts.items()}
        order = sorted(bmi, key=lambda n: bmi[n])
        self.new = [n for n in order if any(
            t.subject == n and t.split == "test" for t in self.held.takes)]  # fmt: skip
        if self.new:
            rest = [n for n in order if n not in self.new]
            self.single = max(rest, key=lambda n: self.counts[n], default="")
            many = [n for n in rest if n != self.single and self.counts[n] > 2 * OBSERVED]
            self.dense = many[:DENSE]
            return
        self.new = order[3::7]
        rest = [n for n in order if n not in self.new]
        self.single = max(rest[8:20], key=lambda n: self.counts[n], default="")
        self.dense = [n for n in rest if n != self.single][2::6][:DENSE]

    def frames(self, name: str, count: int | None = None) -> np.ndarray:
        """A person's scans, of all takes; the standing one first, and once."""
        return self._rows(name, count, lambda take: take.vertices)

    def _rows(self, name: str, count: int | None, rows_of) -> np.ndarray:
        takes = [t for t in self.held.takes if t.subject == name]
        first = max(takes, key=lambda t: t.frame_count)
        found = [np.asarray(rows_of(first)[0 : first.frame_count], np.float32)]
        for take in takes:
            if take is not first and count != OBSERVED:
                found.append(np.asarray(rows_of(take)[1 : take.frame_count], np.float32))
        return np.concatenate(found)[:count]

    def truth(self, name: str, count: int | None) -> Truth | None:
        """What made those scans, where bodies and poses are to be held."""
        if self.given.poses == "found":
            return None
        return Truth(
            self._rows(name, count, lambda take: take.truth.joint_rotations),
            self._rows(name, count, lambda take: take.truth.root_translation),
        )

    def scans(self, holes: float = 0.0) -> Registrations:
        """The budget's takes; `holes` is the share of the surface that is not seen."""
        random, takes = np.random.default_rng(5), []
        for name in self.counts:
            if name in self.new:
                continue
            count = POSES if name in self.dense else OBSERVED
            some = None if name == self.single else count
            frames = self.frames(name, some)
            if holes:
                frames = self.punched(frames, holes, random)
            take = next(t for t in self.held.takes if t.subject == name)
            takes.append(Take(name, take.sequence, 0.0, frames, self.truth(name, some)))
        return replace(self.held, takes=tuple(takes))

    def punched(self, frames: np.ndarray, share: float, random) -> np.ndarray:
        """Round holes of 8 cm until so much is missing; standing scans stay whole (as the paper
        trusts them)."""
        frames = frames.copy()
        for n in range(1, len(frames)):
            whole = frames[n].copy()
            away = np.zeros(len(whole), bool)
            while away.mean() < share:
                centre = whole[random.integers(len(whole))]
                away |= np.linalg.norm(whole - centre, axis=1) < 0.08
            frames[n, away] = np.nan
        return frames

    def trainer(self):
        from corporeal.models.enveloping.train import EnvelopingTrainer

        plain = EnvelopingTrainer(rounds=self.given.rounds, free_poses=not self.given.in_turns)
        if self.given.hold is None:
            return plain
        return replace(plain, linear=replace(plain.linear, individual_hold=self.given.hold))

    def trained(self, scans: Registrations, checkpoint: Path | None = None):
        from corporeal.models.enveloping.training.given import given_of

        return self.trainer().fit(
            scans, self.template, regressor=self.regressor, vertex_confidence=self.confidence,
            callback=lambda s, e: print(f"  {s}: {1e3 * e:.2f} mm", flush=True),
            checkpoint=checkpoint,
            given=None if self.given.poses == "found" else given_of(scans, self.template),
        )  # fmt: skip

    def budget(self) -> dict:
        from corporeal.formats.enveloping import write_enveloping

        begin = time.process_time()
        made = self.trained(self.scans(), self.given.keep.with_suffix(".checkpoint.npz"))
        seconds = time.process_time() - begin
        write_enveloping(self.given.keep, made.model)
        self.model, self.made = made.model, made
        fits, rms = self.people(made.model)
        one = replace(made.model, corrections=made.single.corrections)
        order = np.random.default_rng(3).permutation(len(made.estimate.x))
        again = self.solved_again(made, np.arange(len(order)))
        permuted = self.solved_again(made, order)
        return {
            "people": {
                "single": [self.single, self.counts[self.single]],
                "dense": self.dense,
                "poses of dense": [min(POSES, self.counts[n]) for n in self.dense],
                "two poses": len(made.report["data"]["people"]) - len(self.dense) - 1,
                "new": self.new,
            },
            "registrations": made.report["data"]["registrations"],
            "keys": made.report["keys"], "stages": made.report["stages"],
            "training_cpu_seconds": round(seconds, 1),
            "training_rms_mm": round(1e3 * made.report["training_rms"], 3),
            "new_people_rms_mm": rms,
            "new_people": {
                "enveloping": self.tried(made.model, fits),
                "average corrections": self.tried(without_individual(made.model), fits),
                "one person transferred": self.tried(one, fits),
                "solved again": self.tried(again, fits),
                "solved again, average": self.tried(without_individual(again), fits),
                "identities permuted": self.tried(permuted, fits),
                "identities permuted, average": self.tried(without_individual(permuted), fits),
                "no corrections": self.tried(without_corrections(made.model), fits),
            },
            "individual": self.correlation(made.model, fits),
            "follows_identity": {
                "own": self.followed(made.model, fits), "permuted": self.followed(permuted, fits),
            },
        }  # fmt: skip

    def solved_again(self, made, order: np.ndarray) -> EnvelopingModel:
        """Offsets of the same training data solved for once more, with x of the people in this
        order where offsets are concerned."""
        from corporeal.models.enveloping.train import model_of
        from corporeal.models.enveloping.training.linear import with_linear_parts
        from corporeal.models.enveloping.training.scans import scans_of

        scans, _ = scans_of(self.scans(), self.template)
        seen = (scans.confidence * self.confidence).astype(np.float32)
        scans = replace(scans, confidence=seen)
        # dress shapes and bones of x' = P x are the same people's: only offsets meet strangers
        estimate = replace(made.estimate, offsets=tuple(0 * k for k in made.estimate.offsets))
        rows, trainer = made.estimate.offset_count, self.trainer()
        solved = with_linear_parts(
            made.problem, scans, estimate, rows, trainer.linear,
            offset_latents=made.estimate.x[order],
            free=trainer.free_poses and self.given.poses == "found",
        )  # fmt: skip
        kept = replace(made.estimate, offsets=solved.offsets)
        return model_of(made.problem, kept, self.template, [{}] * len(order))

    def people(self, model: EnvelopingModel):
        """Everybody new, from two scans; and the model's distance from them without anything of
        their own."""
        from corporeal.models.enveloping.fitting import PersonFitter

        fitter, fits, all_squares = PersonFitter(model), {}, []
        for name in self.new:
            frames = self.frames(name, OBSERVED)
            seen = np.tile(self.confidence, (len(frames), 1))
            fits[name] = fitter.fit(frames, seen)
            off = np.sum((fits[name].vertices - frames) ** 2, axis=-1)
            all_squares.append(off[:, self.regions["body"]].mean())
        return fits, round(1e3 * float(np.sqrt(np.mean(all_squares))), 3)

    def tried(self, model: EnvelopingModel, fits) -> dict:
        """Root mean square distances of new people in new poses, millimetres: shape and dress
        residual from two scans, then the pose alone."""
        from corporeal.models.enveloping.fitting import PersonFitter

        fitter, rows = PersonFitter(model), []
        for name, person in fits.items():
            frames = self.frames(name)[OBSERVED : OBSERVED + self.given.limit]
            seen = np.tile(self.confidence, (len(frames), 1))
            found = fitter.fit(
                frames, seen, x=person.x[: model.latent_count], residual=person.residual,
                iterations=6,
            )  # fmt: skip
            rows.append(self.errors(found.vertices, frames))
        return self.pooled(rows)

    def errors(self, made: np.ndarray, frames: np.ndarray) -> dict:
        off = np.sum((made - frames) ** 2, axis=-1)
        return {kind: float(off[:, where].mean()) for kind, where in self.regions.items()}

    def pooled(self, rows: list[dict]) -> dict:
        return {
            kind: round(1e3 * float(np.sqrt(np.mean([row[kind] for row in rows]))), 3)
            for kind in self.regions
        }

    def correlation(self, model: EnvelopingModel, fits) -> dict:
        """Size of every new person's offsets at elbow and shoulder against their mass."""
        masses = np.array([float(self.held.subjects[n].facts["mass"]) for n in fits])
        sizes = {}
        for kind in ("elbow", "shoulder", "hip", "knee"):
            joint = model.joint_names.index(f"left_{kind}")
            drivers = [d for d in model.corrections if d.joint == joint]
            size = []
            for person in fits.values():
                y = np.concatenate([[1.0], person.x])
                own = [np.tensordot(y[: len(d.offsets)], d.offsets, axes=1) for d in drivers]
                size.append(np.sqrt(np.mean([np.mean(np.sum(o**2, axis=-1)) for o in own])))
            sizes[kind] = {
                "rms_offsets_mm": [round(1e3 * float(s), 3) for s in size],
                "correlation_with_mass": round(float(np.corrcoef(size, masses)[0, 1]), 3),
            }
        return {"masses_kg": masses.round(1).tolist(), **sizes}

    def followed(self, model: EnvelopingModel, fits) -> dict:
        """How far what x adds to the corrections goes along with what new people in new poses have
        beyond the average person's, in poses found with the average's: correlation over all
        coordinates of a region, and the share of the squared distance that it takes away."""
        from corporeal.models.enveloping.fitting import PersonFitter

        average = without_individual(model)
        fitter, rows = PersonFitter(average), []
        for name, person in fits.items():
            frames = self.frames(name)[OBSERVED : OBSERVED + self.given.limit]
            seen = np.tile(self.confidence, (len(frames), 1))
            found = fitter.fit(
                frames, seen, x=person.x[: model.latent_count], residual=person.residual,
                iterations=6,
            )  # fmt: skip
            missing = frames - found.vertices
            added = posed_as(model, person, found.poses, frames) - found.vertices
            rows.append({
                kind: [float(np.sum(a[:, where] * b[:, where])) for a, b in (
                    (missing, added), (missing, missing), (added, added))]
                for kind, where in self.regions.items()
            })  # fmt: skip
        return {kind: self._told(np.array([row[kind] for row in rows])) for kind in self.regions}

    def _told(self, sums: np.ndarray) -> dict:
        both, missing, added = sums.sum(axis=0)
        people = sums[:, 0] / np.sqrt(sums[:, 1] * sums[:, 2] + 1e-20)
        return {
            "correlation": round(float(both / np.sqrt(missing * added + 1e-20)), 3),
            "share_taken_away": round(float((2 * both - added) / missing), 3),
            "correlation_by_person": people.round(3).tolist(),
        }

    def shipped(self) -> dict:
        """The model that ships, on new people that had no part in its making."""
        from corporeal.assets.learned_enveloping import learned_enveloping

        model = learned_enveloping()
        fits, rms = self.people(model)
        return {
            "new": self.new, "new_people_rms_mm": rms,
            "new_people": {
                "enveloping": self.tried(model, fits),
                "average corrections": self.tried(without_individual(model), fits),
                "no corrections": self.tried(without_corrections(model), fits),
            },
            "individual": self.correlation(model, fits),
            "follows_identity": self.followed(model, fits),
        }  # fmt: skip

    def registered(self) -> dict:
        """The same scans as registration has them and as they were recorded: a model of each, tried
        on the same new people's true surfaces."""
        from corporeal.pipelines.train_enveloping import joined_sets

        if self.given.registered is None:
            raise SystemExit("--registered is needed: registrations of raw scans, and their truth.")
        registered, truth = (joined_sets([path]) for path in self.given.registered)
        kept = {(t.subject, t.sequence): t for t in truth.takes}
        pairs = [(t, kept[t.subject, t.sequence]) for t in registered.takes]
        off = [
            np.linalg.norm(np.asarray(a.vertices[:]) - np.asarray(b.vertices[:]), axis=-1)
            [:, self.regions["body"]] for a, b in pairs
        ]  # fmt: skip
        found = {
            "people": len(pairs), "scans": sum(len(o) for o in off),
            "registration_rms_mm": round(
                1e3 * float(np.sqrt(np.mean(np.concatenate(off) ** 2))), 3),
        }  # fmt: skip
        for name, takes in (
            ("registered", [a for a, _ in pairs]),
            ("truth", [b for _, b in pairs]),
        ):
            made = self.trained(replace(truth, takes=tuple(takes)))
            fits, rms = self.people(made.model)
            found[name] = {
                "training_rms_mm": round(1e3 * made.report["training_rms"], 3),
                "new_people_rms_mm": rms, "new_people": self.tried(made.model, fits),
                "average corrections": self.tried(without_individual(made.model), fits),
                "no corrections": self.tried(without_corrections(made.model), fits),
            }  # fmt: skip
        return found

    def elbow(self) -> dict:
        """Why elbows gain little: errors there with what x adds to one kind of key angles alone,
        and how far elbows of the test poses are from the nearest key."""
        from corporeal.models.enveloping.fitting import PersonFitter, rig_of
        from corporeal.models.enveloping.keys import angles_of, driver_rotations

        model = self.kept()
        fits, _ = self.people(model)
        kinds = {(plain(model.joint_names[d.joint]), d.kind) for d in model.corrections}
        found: dict = {"none": self.tried(without_individual(model), fits)["elbow"]}
        for name, kind in sorted(kinds):
            if name in ("elbow", "shoulder", "collar", "spine3"):
                alone = replace(model, corrections=tuple(
                    d if (plain(model.joint_names[d.joint]), d.kind) == (name, kind)
                    else replace(d, offsets=d.offsets[:1]) for d in model.corrections
                ))  # fmt: skip
                found[f"{name} {kind}"] = self.tried(alone, fits)["elbow"]
        found["all"] = self.tried(model, fits)["elbow"]
        axes, fitter, far = rig_of(model).axes, PersonFitter(model), {}
        for name, person in fits.items():
            frames = self.frames(name)[OBSERVED : OBSERVED + self.given.limit]
            seen = np.tile(self.confidence, (len(frames), 1))
            turns = fitter.fit(
                frames, seen, x=person.x[: model.latent_count], residual=person.residual,
                iterations=6,
            ).poses.rotations  # fmt: skip
            for d in model.corrections:
                joint = plain(model.joint_names[d.joint])
                if joint in ("elbow", "knee", "shoulder", "hip"):
                    driving = driver_rotations(d.kind, turns[:, d.joint], axes[d.joint])
                    nearest = angles_of(driving, d.keys).min(axis=1)
                    far.setdefault(f"{joint} {d.kind}", []).extend(nearest.tolist())
        return {
            "elbow_mm_with_individual_part_of": found,
            "nearest_key_rad": {
                kind: {"median": round(float(np.median(v)), 3), "most": round(max(v), 3)}
                for kind, v in far.items()
            },
        }  # fmt: skip

    def resumed(self) -> dict:
        """`train enveloping` without a break; and killed (SIGKILL) after its third stage, then
        given again."""
        from corporeal.formats.enveloping import read_enveloping

        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            plain, broken = folder / "plain.npz", folder / "broken.npz"
            subprocess.run(self._training(plain), check=True, capture_output=True)
            stages = []
            with subprocess.Popen(
                self._training(broken), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            ) as run:
                for line in run.stdout or ():
                    stages += [line.strip()] if line.rstrip().endswith("mm") else []
                    if len(stages) == KILLED_AFTER:
                        run.kill()
            assert not broken.exists()
            again = subprocess.run(
                self._training(broken), check=True, capture_output=True, text=True)  # fmt: skip
            told = again.stdout + again.stderr
            one, two = read_enveloping(plain), read_enveloping(broken)
            left = sorted(path.name for path in folder.iterdir())
        off = max(
            float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in (
                (one.dress, two.dress), (one.bones, two.bones), (one.latents, two.latents),
                *[(a.offsets, b.offsets)
                  for a, b in zip(one.corrections, two.corrections, strict=True)])
        )  # fmt: skip
        return {
            "killed_after": stages[-1], "stages_of_second_run": told.count(" mm\n"),
            "largest_difference": off, "files_left": left,
        }  # fmt: skip

    def _training(self, out: Path) -> list[str]:
        small = ["--rounds", "1", "--latent-count", "2", "--offset-count", "1"]
        sets = [str(path) for path in (self.given.registered or self.given.scans)[-1:]]
        return [sys.executable, "-m", "corporeal.cli.main", "train", "enveloping", "--scans", *sets,
                *small, "--test-too", "--out", str(out)]  # fmt: skip

    def smpl(self) -> dict:
        from corporeal.models.smpl.train import SmplTrainer
        from corporeal.models.smpl.training.pose_training import PoseTraining
        from corporeal.models.smpl.training.shape_training import ShapeTraining

        begin = time.process_time()
        trainer = SmplTrainer(PoseTraining(joint_rounds=2, shape_rounds=2), ShapeTraining(9), 3)
        scans = self.scans()
        made = trainer.fit(scans, scans,
                           self.template)  # fmt: skip
        seconds = round(time.process_time() - begin, 1)
        plain = self.smpl_tried(made.model, None)
        return {
            "training_cpu_seconds": seconds,
            "new_people": {
                "smpl": plain,
                "smpl shape-dependent": self.smpl_tried(made.model, made.dependent),
            },
        }

    def smpl_tried(self, model, dependent) -> dict:
        from corporeal.models.smpl.fitting.edge_poses import first_poses
        from corporeal.models.smpl.fitting.fit_pose import edge_differences, person_of
        from corporeal.models.smpl.fitting.many_people import shaped_person, solve_people
        from corporeal.models.smpl.fitting.many_poses import solve_poses
        from corporeal.models.smpl.reduction import dense_offsets
        from corporeal.skinning.gradients import influences_of, posed_blocks

        edges, rows = edge_differences(model.triangles, model.vertex_count), []
        for name in self.new:
            frames = self.frames(name)[: OBSERVED + self.given.limit]
            start = first_poses(frames[:OBSERVED], person_of(model, dtype=frames.dtype), edges)
            fit = solve_people(model, frames[:1], start[:1], model.shape_count, iterations=8)
            person = shaped_person(model, fit.betas[0], frames.dtype)
            if dependent is not None:
                own = dense_offsets(dependent.at(fit.betas[0])).astype(frames.dtype)
                person = replace(person, pose_offsets=own)
            poses = solve_poses(person, frames[:OBSERVED], start, iterations=8).poses
            influences = influences_of(person.weights)
            which = np.arange(OBSERVED)
            points = person.corrected(poses.rotations)
            blended, moved = posed_blocks(
                "lbs", influences, points, which, person.kinematics(poses)
            )
            normal = np.sum(np.swapaxes(blended, -1, -2) @ blended, axis=0) + 0.05 * np.eye(3)
            right = np.einsum("nvba,nvb->va", blended, frames[:OBSERVED] - moved)
            own = np.linalg.solve(normal, right[..., None])[..., 0]
            person = replace(person, rest=(person.rest + own).astype(frames.dtype))
            tests = frames[OBSERVED:]
            first = first_poses(tests, person, edges)
            found = solve_poses(person, tests, first, iterations=8, tolerance=1e-4).poses
            points, which = person.corrected(found.rotations), np.arange(len(tests))
            made = posed_blocks("lbs", influences, points, which, person.kinematics(found))[1]
            rows.append(self.errors(made, tests))
        return self.pooled(rows)

    def kept(self) -> EnvelopingModel:
        from corporeal.formats.enveloping import read_enveloping

        if self.model is None:
            self.model = read_enveloping(self.given.keep)
        return self.model

    def folds(self) -> dict:
        """Dense people, one by one: offsets are solved for without all but two of the person's
        scans, and the others are looked at with their poses found again. Root mean squares in
        millimetres, of corrections that follow the person and of the average ones."""
        from corporeal.models.enveloping.training.linear import with_linear_parts
        from corporeal.models.enveloping.training.people import with_people
        from corporeal.models.enveloping.training.problem import Scans, skins
        from corporeal.models.enveloping.training.scans import scans_of

        made = self.made if hasattr(self, "made") else self.trained(
            self.scans(), self.given.keep.with_suffix(".checkpoint.npz")
        )  # fmt: skip
        scans, names = scans_of(self.scans(), self.template)
        scans = replace(scans, confidence=(scans.confidence * self.confidence).astype(np.float32))
        rows: dict[str, list] = {"own": [], "average": []}
        estimate = replace(made.estimate, offsets=tuple(0 * k for k in made.estimate.offsets))
        for name in self.dense:
            own = scans.of_person(names.index(name))
            out = np.isin(np.arange(len(scans.people)), own[OBSERVED:])
            kept, left = (
                Scans(scans.vertices[w], scans.confidence[w], scans.people[w], scans.standing)
                for w in (~out, out)
            )
            for kind, count in (("own", made.estimate.offset_count), ("average", 1)):
                fold = replace(
                    estimate, rotations=estimate.rotations[~out],
                    translations=estimate.translations[~out],
                )  # fmt: skip
                fold = with_linear_parts(made.problem, kept, fold, count, self.trainer().linear,
                                         free=self.trainer().free_poses
                                         and self.given.poses == "found")  # fmt: skip
                test = replace(
                    fold, rotations=estimate.rotations[out],
                    translations=estimate.translations[out],
                )  # fmt: skip
                person = np.array([names.index(name)])
                if self.given.poses == "found":
                    test = with_people(made.problem, left, test, iterations=4, latent=False,
                                       which=person)  # fmt: skip
                made_of_it = skins(made.problem, test, left, np.arange(len(left.people))).vertices
                rows[kind].append(self.errors(made_of_it, left.vertices))
        return {kind: self.pooled(found) for kind, found in rows.items()} | {
            "by_person": {
                name: {k: round(1e3 * float(np.sqrt(v)), 2) for k, v in row.items()}
                for name, row in zip(self.dense, rows["own"], strict=True)
            },
            "settings": {"hold": self.trainer().linear.individual_hold,
                         "free_poses": self.trainer().free_poses, "reach": self.given.reach},
        }  # fmt: skip

    def holes30(self) -> dict:
        return self._holes(0.3)

    def holes60(self) -> dict:
        return self._holes(0.6)

    def _holes(self, share: float) -> dict:
        kept = self.given.keep.with_suffix(f".holes{round(100 * share)}.checkpoint.npz")
        made = self.trained(self.scans(share), kept)
        fits, rms = self.people(made.model)
        return {
            "share": share, "new_people_rms_mm": rms,
            "training_rms_mm": round(1e3 * made.report["training_rms"], 3),
            "stages": made.report["stages"], "new_people": self.tried(made.model, fits),
        }  # fmt: skip

    def bars(self) -> dict:
        """Ratios of errors that are there: what was asked, in one place."""
        tried = self.done["budget"]["new_people"]
        own, found = tried["enveloping"], {}
        others = {
            "own to one person transferred": (own, tried["one person transferred"]),
            "own to average": (own, tried["average corrections"]),
            "solved again to its average": (tried["solved again"], tried["solved again, average"]),
            "permuted to its average": (
                tried["identities permuted"], tried["identities permuted, average"]),
        }  # fmt: skip
        for name, errors in self.done.get("smpl", {}).get("new_people", {}).items():
            others[f"own to {name}"] = (own, errors)
        for part in ("holes30", "holes60"):
            if part in self.done:
                others[f"{part} to whole"] = (self.done[part]["new_people"], own)
                found[f"{part} to whole, two scans"] = round(
                    self.done[part]["new_people_rms_mm"]
                    / self.done["budget"]["new_people_rms_mm"], 3)  # fmt: skip
        return found | {
            name: {kind: round(one[kind] / other[kind], 3) for kind in one}
            for name, (one, other) in others.items()
        }

    def posing(self) -> dict:
        from corporeal.assets.default_body import load_default_body
        from corporeal.body.pose import Pose
        from corporeal.models.enveloping.model import EnvelopingSkinning

        template = load_default_body().template
        deformer = EnvelopingSkinning(template, self.kept())
        made = deformer.prepare(np.ones(3))
        identity = replace(
            made, rest_vertices=np.asarray(made.rest_vertices, np.float32),
            joints=np.asarray(made.joints, np.float32),
        )  # fmt: skip
        turns = np.random.default_rng(0).normal(0, 0.3, (200, template.skeleton.joint_count, 3))
        poses = [Pose(t.astype(np.float32), np.zeros(3, np.float32)) for t in turns]
        out = np.empty((template.mesh.vertex_count, 3), np.float32)
        times = []
        deformer.vertices(identity, poses[0], out)
        for pose in poses:
            begin = time.process_time()
            deformer.vertices(identity, pose, out)
            times.append(1e3 * (time.process_time() - begin))
        return {
            "vertices": template.mesh.vertex_count, "keys": self.kept().key_count,
            "frame_cpu_ms": {"median": round(float(np.median(times)), 3),
                             "least": round(float(np.min(times)), 3)},
        }  # fmt: skip

    def edits(self) -> dict:
        from corporeal.anthropometry.measure import whole_body
        from corporeal.models.enveloping.trends import edited

        model, rows = self.kept(), []

        def measure(vertices: np.ndarray) -> tuple[float, float]:
            return float(np.ptp(vertices[:, 1])), whole_body(vertices, self.template)["mass"]

        dress = np.asarray(model.dress, np.float64)
        for person in range(0, len(model.latents), 6):
            x = model.latents[person]
            stature, mass = measure(np.tensordot(np.concatenate([[1], x]), dress, axes=1))
            for more in (-15.0, 15.0):
                new = edited(model, x, measure, mass=mass + more)
                there = measure(np.tensordot(np.concatenate([[1], new]), dress, axes=1))
                rows.append((1e3 * abs(there[0] - stature), abs(there[1] - mass - more)))
        off = np.array(rows)
        return {
            "edits": len(rows), "largest_stature_change_mm": round(float(off[:, 0].max()), 4),
            "largest_mass_miss_kg": round(float(off[:, 1].max()), 4),
        }  # fmt: skip


def plain(name: str) -> str:
    """A joint's name without its side."""
    return name.removeprefix("left_").removeprefix("right_")


def posed_as(model: EnvelopingModel, person, poses, frames: np.ndarray) -> np.ndarray:
    """A fitted person in poses that are given."""
    from corporeal.models.enveloping.fitting import estimate_of, problem_of
    from corporeal.models.enveloping.training.problem import Scans, skins

    estimate = estimate_of(model, poses, person.x[None, : model.latent_count])
    dress = estimate.dress.copy()
    dress[0] += person.residual
    which = np.arange(len(frames))
    seen = np.ones(frames.shape[:2], np.float32)
    scans = Scans(frames, seen, np.zeros(len(frames), np.int64), np.zeros(1, np.int64))
    return skins(problem_of(model), replace(estimate, dress=dress), scans, which).vertices


def without_individual(model: EnvelopingModel) -> EnvelopingModel:
    """Everybody has the average person's corrections."""
    drivers = tuple(replace(d, offsets=d.offsets[:1]) for d in model.corrections)
    return replace(model, corrections=drivers)


def without_corrections(model: EnvelopingModel) -> EnvelopingModel:
    """Skeleton subspace deformation alone, with the same weights."""
    drivers = tuple(replace(d, offsets=0 * d.offsets) for d in model.corrections)
    return replace(model, corrections=drivers)


if __name__ == "__main__":
    main()
