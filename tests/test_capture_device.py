"""Captures whose movements a device simulates, on JAX's CPU backend, against those of the CPU."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import synthetic

from corporeal import capture_people
from corporeal.body.composition import Composition
from corporeal.body.measurements import Measurements
from corporeal.body.motion import Motion
from corporeal.body.registrations import LeftOut, Take
from corporeal.body.template import Template
from corporeal.capture import session
from corporeal.capture.checkup import Checkup
from corporeal.capture.flesh import PersonFlesh, clips_on
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.session import FINER, SessionSettings, record
from corporeal.capture.tissue import PersonTissue
from corporeal.cli.main import main
from corporeal.errors import CapacityError, InputError
from corporeal.evaluation.flesh_recorder import FleshRecorders
from corporeal.evaluation.health_limits import HealthLimits
from corporeal.physics.fast_projective_skinning.clip import Clip
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.flesh_frames import (
    ClipEngine,
    CpuClips,
    FleshFrame,
)
from corporeal.physics.fast_projective_skinning.gpu.flesh_frames import DeviceClips
from corporeal.pipelines import capture as pipeline
from corporeal.pipelines.capture import CaptureConfig
from corporeal.runtime.devices import list_devices

ARM = synthetic.arm_template()
SIZES = {"stature": 1.0, "mass": 8.0, "volume": 0.008, "surface_area": 0.5, "bmi": 8.0}
WHO = Person(
    "arm", "female", 30.0, synthetic.identity_of(ARM), Composition(2.0, 3.0), Measurements(SIZES)
)
AGREED = 2e-4
"""Metres between engines whose float32 iterations begin alike (`test_layered_device`)."""


@dataclass(frozen=True)
class Waving:
    """The arm goes up and down, five frames at 120 fps."""

    name: str = "waving"

    def sequences(self) -> tuple[str, ...]:
        """One movement."""
        return ("wave",)

    def direct(self, person: Person, template: Template, sequence: str, seed: int) -> Recording:
        """The same for everybody."""
        rotations = np.zeros((5, template.skeleton.joint_count, 3))
        rotations[:, 1, 2] = 0.2 * np.sin(0.3 * np.arange(5))
        return Recording(
            Motion(sequence, 120.0, rotations, np.zeros((5, 3)), template.skeleton), moving=True
        )


def recorded(
    monkeypatch: pytest.MonkeyPatch, clips: ClipEngine, device: str, limits: HealthLimits
) -> Take | LeftOut:
    """What a session makes of the arm, with the given engine."""
    tissue = PersonTissue(3e3, 3e4, 1e4, 1000.0)
    flesh = PersonFlesh(WHO, ProjectiveSkinning(ARM), tissue, None, clips)
    monkeypatch.setattr(session, "flesh_of", lambda *_: flesh)
    settings = SessionSettings("projective", "off", device=device)
    checkup = Checkup(FleshRecorders(ARM), limits.faults)
    ((_, made),) = record(WHO, ARM, Waving(), settings, "train", ("wave",), checkup)
    return made


@pytest.fixture(scope="module")
def engine() -> DeviceClips:
    """One for all tests, so that programs are compiled once."""
    return DeviceClips("cpu", piece=4)


def test_a_take_its_twin_and_their_health_are_those_of_the_cpu(
    monkeypatch: pytest.MonkeyPatch, engine: DeviceClips
) -> None:
    """Skins of take and twin, and what was measured of all simulated vertices: volumes of parts and
    stretch are sums and roots of positions, hence as near; residuals within a fifth. Both go on
    until they settle."""
    any_limits = replace(HealthLimits(), residual=1.0)
    here = recorded(monkeypatch, CpuClips(), "cpu", any_limits)
    there = recorded(monkeypatch, engine, "gpu", any_limits)
    assert isinstance(here, Take)
    assert isinstance(there, Take)
    assert (here.notes["device"], there.notes["device"]) == ("cpu", "gpu")
    assert there.notes["steps_finer"] == 1
    for one, other in ((here, there), (here.twin, there.twin)):
        assert np.abs(one.vertices[0:5] - other.vertices[0:5]).max() < AGREED
        assert other.health.frame_count == 5
        np.testing.assert_allclose(other.health.residual, one.health.residual, rtol=0.2, atol=2e-8)
        np.testing.assert_allclose(other.health.part_volumes, one.health.part_volumes, atol=1e-3)
        np.testing.assert_allclose(other.health.largest_stretch, one.health.largest_stretch, 1e-3)
    assert np.abs(there.vertices[0:5] - there.twin.vertices[0:5]).max() > AGREED


def test_unsound_takes_are_tried_again_in_smaller_steps(
    monkeypatch: pytest.MonkeyPatch, engine: DeviceClips
) -> None:
    """Limits that nothing meets: every attempt is made, with its own step, then it is left out."""
    steps = []
    real = engine.frames

    def noted(clip: Clip) -> Iterator[FleshFrame]:
        steps.append(clip.steps)
        return real(clip)

    monkeypatch.setattr(engine, "frames", noted)
    gone = recorded(monkeypatch, engine, "gpu", HealthLimits(stretch=0.5))
    assert isinstance(gone, LeftOut)
    assert gone.attempts == len(FINER)
    assert gone.reasons[0].startswith("stretched skin in 5 frames")
    assert steps == list(FINER)


class Crowded:
    """An engine on which contacts do not fit after the first frame."""

    def frames(self, clip: Clip) -> Iterator[FleshFrame]:
        """One frame, and an error."""
        yield FleshFrame(clip.body.rest, 0.0)
        raise CapacityError("more than fit")


def test_contacts_that_do_not_fit_leave_a_take_out(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = recorded(monkeypatch, Crowded(), "gpu", HealthLimits())
    assert isinstance(gone, LeftOut)
    assert gone.reasons == ("more contacts than fit in 1 frames, worst in frame 1 (1 places, 0)",)


@pytest.mark.skipif(len(list_devices()) > 1, reason="this machine has a GPU")
def test_a_gpu_that_is_not_there_is_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `animate --device gpu` does, before people are read; nothing is written."""
    people, out = tmp_path / "people.zarr", tmp_path / "out.zarr"
    flags = ["capture", "--people", str(people), "--protocol", "dyna", "--out", str(out)]
    assert main([*flags, "--device", "gpu"]) == 2
    assert "device gpu is not there; this machine has cpu" in capsys.readouterr().err
    assert not out.exists()
    with pytest.raises(InputError, match="device gpu is not there"):
        clips_on("gpu")
    with pytest.raises(InputError, match="device gpu is not there"):
        capture_people(people, out, "dyna", device="gpu")


def asked(folder: Path, **changes) -> CaptureConfig:
    given = {"people": folder / "people.zarr", "out": folder / "out.zarr", "protocol": "dyna"}
    return CaptureConfig(**(given | changes))


def test_what_a_gpu_does_not_capture_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Held poses and contacts at joints alone, where a GPU is there."""
    monkeypatch.setattr(pipeline, "require_device", lambda name: None)
    for protocol in ("poses", "shapes"):
        with pytest.raises(InputError, match=f"--protocol {protocol}.* on the CPU alone"):
            pipeline._require_device(asked(tmp_path, device="gpu", protocol=protocol))
    with pytest.raises(InputError, match="at joints"):
        pipeline._require_device(asked(tmp_path, device="gpu", touch="local"))
    pipeline._require_device(asked(tmp_path, device="gpu"))
