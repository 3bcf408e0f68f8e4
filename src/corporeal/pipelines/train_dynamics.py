"""Captures in, a model with dynamics out: BlendSCAPE, Dyna and DMPL."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_blendscape import learned_blendscape
from corporeal.body.dynamics import ControlKind, Differences
from corporeal.body.registrations import Registrations, Take
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.dynamics.autoregression import Ridge
from corporeal.dynamics.dmpl.train import DmplTrainer
from corporeal.dynamics.dyna.train import DynaTrainer
from corporeal.dynamics.training import Against, DynamicsTraining, Fitting, Risk
from corporeal.errors import InputError
from corporeal.formats.blendscape import read_blendscape, write_blendscape
from corporeal.formats.dmpl import write_dmpl
from corporeal.formats.dyna import write_dyna
from corporeal.models.blendscape.model import BlendScape
from corporeal.models.blendscape.train import BlendScapeTrainer
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.models.smpl.embedding import embedded_model, is_embeddable
from corporeal.models.smpl.model import SmplModel
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.pipelines.dataset import read_dataset
from corporeal.pipelines.smpl_models import load_model
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, start_run

ProgressCallback = Callable[[str, float], None]
Sex = Literal["female", "male", "both"]


@dataclass(frozen=True, kw_only=True)
class DynamicsOptions:
    """What a training of dynamics may be told."""

    count: int = 0
    """Dynamic coefficients; 0 for 100 of DMPL, 40 of Dyna."""
    order: int = Ridge.order
    """How many values before a prediction looks at: 0, 1 or 2."""
    ridge: float = Ridge.strength
    """Ridge of the regression, relative to the mean square of an input."""
    radius: float = Ridge.radius
    """Largest magnitude of a pole, below 1."""
    constant: bool = False
    """Also learn a constant offset and mean, as the paper does; a body at rest is then not quite
    its static shape."""
    risk: Risk = "weighted"
    """Whose frames a person's predictor is fitted to: weighted, single or pooled."""
    controls: ControlKind = DynamicsTraining.controls
    """What drives: accelerations of bones in their own axes, or, as in the paper, velocities and
    accelerations of joint angles and of the root (joints)."""
    fitting: Fitting = DynamicsTraining.fitting
    """What predictors are fitted for: free-run, with poles found on motions that are left out, or
    one-ahead of the truth, as the paper does."""
    free_running: int = DynamicsTraining.free_running
    """Rounds of refining poles for the free run."""
    kernel_width: float = DynamicsTraining.kernel_width
    """Kernel width of the mixture over body mass, kg/m²."""
    against: Against = "twin"
    """What dynamics are the difference to: the quasi-static twin of a take, or the static model."""
    differences: Differences = "causal"
    """How velocities are taken: causal (live), or forward, as the paper does."""
    gravity: bool = False
    """Feel the specific force instead of the acceleration, so that bodies that lie sag."""
    sex: Sex = "both"
    """Whose takes; both make one model of all."""
    test_too: bool = False
    """Also learn from takes that are kept for tests."""
    seed: int = 0
    """Of the components' random sketch."""

    def training(self, defaults: DynamicsTraining) -> DynamicsTraining:
        """The trainer's settings."""
        return replace(
            defaults,
            count=self.count or defaults.count,
            ridge=Ridge(self.order, self.ridge, self.radius, self.constant),
            controls=self.controls,
            fitting=self.fitting,
            risk=self.risk,
            free_running=self.free_running,
            kernel_width=self.kernel_width,
            against=self.against,
            differences=self.differences,
            gravity=self.gravity,
            seed=self.seed,
        )


@dataclass(frozen=True, kw_only=True)
class TrainDmplConfig(DynamicsOptions):
    """Movements and an SMPL in, dynamic blend shapes out."""

    takes: Path
    """Movements with poses and twins: a Zarr store of `corporeal capture --protocol dyna`."""
    out: Path
    """Model to write (.npz, in DMPL's public layout)."""
    model: Path = field(default_factory=lambda: Path("smpl"))
    """SMPL that dynamics are added to (.npz or .pkl); the one that ships by default."""


@dataclass(frozen=True, kw_only=True)
class TrainDynaConfig(DynamicsOptions):
    """Movements and a BlendSCAPE in, dynamic deformations out."""

    takes: Path
    """Movements with poses and twins: a Zarr store of `corporeal capture --protocol dyna`."""
    out: Path
    """Model to write (.npz)."""
    model: Path = field(default_factory=lambda: Path(BlendScape.name))
    """BlendSCAPE that dynamics are added to (.npz); the one that ships by default."""


@dataclass(frozen=True, kw_only=True)
class TrainBlendScapeConfig:
    """Two sets of registrations in, a BlendSCAPE out."""

    poses: Path
    """Many poses of some people: a Zarr store with poses."""
    shapes: Path
    """One scan each of many people, likewise."""
    out: Path
    """Model to write (.npz)."""
    shape_count: int = BlendScapeTrainer.shape_count
    """Shape coefficients."""
    ridge: float = BlendScapeTrainer.ridge
    """Ridge on pose deformations."""
    sex: Sex = "both"
    """Whose registrations."""
    test_too: bool = False
    """Also learn from takes that are kept for tests."""
    seed: int = 0
    """Of the components' random sketch."""


@dataclass(frozen=True)
class TrainedDynamicsFile:
    """What came of it."""

    out: Path
    """The model file."""
    manifest: Path
    """Its manifest."""
    notes: tuple[str, ...]
    """What was left out or assumed, in words."""
    report: dict[str, Any]
    """Figures of the training; JSON values."""


def train_dmpl(
    config: TrainDmplConfig, callback: ProgressCallback | None = None
) -> TrainedDynamicsFile:
    """Train dynamic blend shapes and write them, with their manifest."""
    _require_npz(config.out)
    shipped = config.model.name in ("smpl", "smpl-sparse")
    run = start_run("train dmpl", config, () if shipped else (config.model,))
    notes: list[str] = []
    takes = chosen_takes(read_dataset(config.takes), str(config.takes), config, notes)
    static = _static(config.model, takes)
    trainer = DmplTrainer(config.training(DynamicsTraining()))
    made = trainer.fit(takes, static, callback)
    write_dmpl(config.out, made.model)
    finish_run(run, [config.out], made.report)
    return TrainedDynamicsFile(
        config.out, manifest_path(config.out), tuple(notes), dict(made.report)
    )


def train_dyna(
    config: TrainDynaConfig, callback: ProgressCallback | None = None
) -> TrainedDynamicsFile:
    """Train dynamic deformations and write them with their BlendSCAPE, and a manifest."""
    _require_npz(config.out)
    shipped = str(config.model) == BlendScape.name
    run = start_run("train dyna", config, () if shipped else (config.model,))
    notes: list[str] = []
    takes = chosen_takes(read_dataset(config.takes), str(config.takes), config, notes)
    body = learned_blendscape() if shipped else read_blendscape(config.model)
    template = default_template(takes, str(config.takes))
    trainer = DynaTrainer()
    trainer = DynaTrainer(config.training(trainer.training))
    made = trainer.fit(takes, body, template.skeleton, callback)
    write_dyna(config.out, made.model)
    finish_run(run, [config.out], made.report)
    return TrainedDynamicsFile(
        config.out, manifest_path(config.out), tuple(notes), dict(made.report)
    )


def train_blendscape(config: TrainBlendScapeConfig) -> TrainedDynamicsFile:
    """Train a BlendSCAPE and write it, with its manifest."""
    _require_npz(config.out)
    run = start_run("train blendscape", config, ())
    notes: list[str] = []
    poses = chosen_takes(read_dataset(config.poses), str(config.poses), config, notes)
    shapes = chosen_takes(read_dataset(config.shapes), str(config.shapes), config, notes)
    trainer = BlendScapeTrainer(config.shape_count, config.ridge, config.seed)
    made = trainer.fit(poses, shapes, default_template(poses, str(config.poses)))
    write_blendscape(config.out, made.model)
    finish_run(run, [config.out], made.report)
    return TrainedDynamicsFile(
        config.out, manifest_path(config.out), tuple(notes), dict(made.report)
    )


@runtime_checkable
class ChosenBy(Protocol):
    """What says which takes are learned from."""

    @property
    def sex(self) -> Sex:
        """Whose takes."""
        ...

    @property
    def test_too(self) -> bool:
        """Whether those that are kept for tests are learned from as well."""
        ...


def chosen_takes(
    held: Registrations,
    name: str,
    config: "ChosenBy",
    notes: list[str],
) -> Registrations:
    """The takes to learn from: none that is kept for tests, of the sex that was asked for."""

    def wanted(take: Take) -> bool:
        if take.split == "test" and not config.test_too:
            return False
        if config.sex == "both":
            return True
        subject = held.subjects.get(take.subject)
        return subject is not None and subject.facts.get("sex") == config.sex

    kept = held.where(wanted)
    tests = sum(take.split == "test" for take in held.takes)
    if tests and not config.test_too:
        notes.append(f"{name}: {tests} takes are kept for tests and left out")
    if not kept.takes:
        raise InputError(
            f"{name} has no take to learn from ({len(held.takes)} takes, {tests} of them kept for "
            f"tests). Give another set, --test-too, or another --sex."
        )
    return kept


def default_template(held: Registrations, name: str) -> Template:
    """The default body, if the set is of its surface."""
    template = load_default_body().template
    own = topology_hash(template.mesh.triangles, template.mesh.vertex_count)
    if held.topology_hash != own:
        raise InputError(
            f"{name} has {held.vertex_count} vertices a frame ({held.template}); expected the "
            f"default body's surface of {template.mesh.vertex_count}."
        )
    return template


def _static(model: Path, takes: Registrations) -> CorrectedSkinning:
    template = default_template(takes, "the set of takes")
    if model.name == "smpl":
        return SmplSkinning(template)
    data = load_model(model)
    return SmplModel(embedded_model(data) if is_embeddable(data) else data, template)


def _require_npz(out: Path) -> None:
    if out.suffix.lower() != ".npz":
        raise InputError(f"cannot write a model as {out}; expected .npz.")
    require_writable(out)
