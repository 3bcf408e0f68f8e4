"""Scans of people in poses in, a corrective enveloping out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.assets.smpl_view import smpl_joint_shares
from corporeal.body.registrations import Registrations, Subject
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.errors import InputError
from corporeal.formats.enveloping import write_enveloping
from corporeal.models.enveloping.train import EnvelopingTrainer, TrainedEnveloping
from corporeal.models.enveloping.training.given import given_of, tells_poses
from corporeal.models.enveloping.training.start import KeySettings
from corporeal.pipelines.dataset import read_dataset
from corporeal.pipelines.train_dynamics import Sex, TrainedDynamicsFile, chosen_takes
from corporeal.pipelines.train_smpl import read_rig
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, start_run

Poses = Literal["auto", "held", "found"]
"""What training does about bodies and poses: holds those that came with the scans, or finds its
own; `auto` holds them where every scan has them."""
FINGERS = 0.02
"""Confidence of skin that only fingers move."""
ProgressCallback = Callable[[str, float], None]
"""Is told what was done, and the root mean square distance of vertices after it, metres."""


@dataclass(frozen=True, kw_only=True)
class TrainEnvelopingConfig:
    """Scans in, a model out."""

    scans: tuple[Path, ...]
    """Registered scans: a few poses of many people, many poses of a few, in any mixture, in one or
    several sets (a Zarr store, a packed set, an .hdf5 file or a folder of .ply files). Everybody's
    first one stands; vertices that are not a number were not seen."""
    out: Path
    """Model to write (.npz)."""
    template: Path | None = None
    """Rig to start from where scans have another surface than the default body: a model (.npz or
    .pkl with SMPL's keys) or a body (.npz)."""
    latent_count: int = EnvelopingTrainer.latent_count
    """Latent coordinates of people."""
    offset_count: int = EnvelopingTrainer.offset_count
    """How many of them pose corrections depend on."""
    key_distance: float = KeySettings.distance
    """Radians within which every observed joint angle has a key angle."""
    shoulder_distance: float = KeySettings.shoulder_distance
    """The same for shoulders."""
    most_keys: int = KeySettings.most
    """Key angles of one joint at most."""
    rounds: int = EnvelopingTrainer.rounds
    """Rounds of all variables."""
    sex: Sex = "both"
    """Whose scans."""
    poses: Poses = "auto"
    """Joints, dress shapes and poses: held where the set tells them, as captures do (auto), held,
    or found from the scans as the paper does."""
    test_too: bool = False
    """Also learn from takes that are kept for tests."""

    def trainer(self) -> EnvelopingTrainer:
        """The trainer's settings."""
        plain = EnvelopingTrainer()
        keys = replace(
            plain.keys, distance=self.key_distance, shoulder_distance=self.shoulder_distance,
            most=self.most_keys,
        )  # fmt: skip
        return replace(
            plain, latent_count=self.latent_count, offset_count=self.offset_count, keys=keys,
            rounds=self.rounds,
        )  # fmt: skip


def train_enveloping(
    config: TrainEnvelopingConfig, callback: ProgressCallback | None = None
) -> TrainedDynamicsFile:
    """Train a model and write it, with its manifest; a run that was stopped goes on when it is
    started again."""
    if config.out.suffix.lower() != ".npz":
        raise InputError(f"cannot write a model as {config.out}; expected .npz.")
    require_writable(config.out)
    run = start_run(
        "train enveloping", config, () if config.template is None else (config.template,)
    )
    notes: list[str] = []
    sets = ", ".join(str(path) for path in config.scans)
    held = chosen_takes(joined_sets(config.scans), sets, config, notes)
    checkpoint = config.out.with_name(config.out.name + ".checkpoint.npz")
    made = trained_enveloping(
        held, config.trainer(), config.template, callback, checkpoint, config.poses
    )
    write_enveloping(config.out, made.model)
    report: dict[str, Any] = dict(made.report)
    finish_run(run, [config.out], report)
    checkpoint.unlink(missing_ok=True)
    return TrainedDynamicsFile(config.out, manifest_path(config.out), (*notes, *made.notes), report)


def joined_sets(paths: Sequence[Path]) -> Registrations:
    """Several sets as one: takes one after another, a person known by the same name in all."""
    if not paths:
        raise InputError("no set of scans was given; expected at least one --scans.")
    sets = [read_dataset(path) for path in paths]
    people: dict[str, Subject] = {}
    for path, held in zip(paths, sets, strict=True):
        if held.topology_hash != sets[0].topology_hash:
            raise InputError(
                f"{path} has {held.vertex_count} vertices a scan and {paths[0]} has "
                f"{sets[0].vertex_count}, or the same ones in another order; expected one topology."
            )
        for name, subject in held.subjects.items():
            known = people.setdefault(name, subject)
            if dict(known.facts) != dict(subject.facts):
                raise InputError(
                    f"{name} of {path} is not {name} of a set before it: their measurements "
                    f"differ. Expected sets of the same people, or other names."
                )
    takes = tuple(take for held in sets for take in held.takes)
    return replace(sets[0], takes=takes, subjects=people)


def trained_enveloping(
    held: Registrations,
    trainer: EnvelopingTrainer,
    rig: Path | None = None,
    callback: ProgressCallback | None = None,
    checkpoint: Path | None = None,
    poses: Poses = "auto",
) -> TrainedEnveloping:
    """Train in memory; on the default body's surface joints are told by its own regressor."""
    hold = poses == "held" or (poses == "auto" and tells_poses(held))
    if rig is not None:
        own_rig = read_rig(rig)
        given = given_of(held, own_rig) if hold else None
        return trainer.fit(held, own_rig, callback=callback, checkpoint=checkpoint, given=given)
    template, regressor = default_rig()
    own = topology_hash(template.mesh.triangles, template.mesh.vertex_count)
    if held.topology_hash != own:
        raise InputError(
            f"the scans have {held.vertex_count} vertices ({held.template}), which is not the "
            f"default body's surface. Give --template: a model or body of that surface, whose "
            f"joints and weights training starts from."
        )
    return trainer.fit(
        held, template, regressor=regressor, vertex_confidence=hand_confidence(template),
        callback=callback, checkpoint=checkpoint,
        given=given_of(held, template) if hold else None,
    )  # fmt: skip


def hand_confidence(template: Template) -> Float64[NumpyArray, "V"]:
    """How far the skin of one joint a hand is to be believed: fingers may be bent."""
    dense, names = np.asarray(template.weights.dense(), np.float64), template.skeleton.names
    hands = [k for k, name in enumerate(names) if name.endswith("_hand")]
    return 1.0 - (1.0 - FINGERS) * dense[:, hands].sum(axis=1)


def default_rig() -> tuple[Template, Float64[NumpyArray, "J V"]]:
    """The default body with SMPL's 24 joints, and what tells them from its surface."""
    body = load_default_body()
    shares = smpl_joint_shares(body.template.skeleton)
    regressor = shares @ np.asarray(body.joint_regressor, np.float64)
    return body.smpl_view(), regressor / regressor.sum(axis=1, keepdims=True)
