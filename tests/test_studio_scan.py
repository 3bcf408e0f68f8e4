"""A scan is dropped, registered beside the show, and moves as any body."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from studio_session import Visitor

from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.formats.native import write_body
from corporeal.formats.registry import write_mesh
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.viewer.packets import Packet
from corporeal.viewer.rig import Rig


@pytest.fixture(scope="module")
def model() -> PhenotypeModel:
    return PhenotypeModel()


def heavier(model: PhenotypeModel) -> Identity:
    """Somebody whom no sliders made, as a registration gives one."""
    made = model.prepare({"weight": 0.9})
    named = {"gender": np.asarray(0.0), "age": np.asarray(40.0)}
    return Identity(made.rest_vertices, made.joints, named)


def test_a_registered_person_stands_on_the_stage(
    model: PhenotypeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The job says how far it is; its person is shown, saved in the document, moved by a motion of
    its own, and left by the first slider."""
    visitor = Visitor(tmp_path)
    session = visitor.session
    orders: list[tuple[str, object, object]] = []
    monkeypatch.setattr(
        session.background, "spawn", lambda name, job, done: orders.append((name, job, done))
    )
    visitor.ask("upload", {"content": np.zeros(9, np.uint8)}, name="me.ply", **{"as": "scan"})
    ((name, job, done),) = orders
    assert name == "me.ply"
    out = Path(job.arguments[1])  # pyright: ignore[reportAttributeAccessIssue]
    identity = heavier(model)
    write_body(out, Body(model.template, identity, {}))
    done(Packet("person", {"remarks": ["a female body"]}))  # pyright: ignore[reportCallIssue]
    visitor.settle()
    assert session.document.body.scan == "me-person.npz"
    assert "me.ply" not in session.uploads.paths
    np.testing.assert_allclose(session.stage.identity.rest_vertices, identity.rest_vertices)
    assert session.body_file == str(out)
    assert visitor.said("notice")[-1].fields["text"] == "a female body"
    visitor.ask("change", path=["body", "sliders", "weight"], value=0.4)
    assert session.document.body.scan == ""
    visitor.ask("undo")
    np.testing.assert_allclose(session.stage.identity.rest_vertices, identity.rest_vertices)
    session.background.close()


def test_a_mesh_that_was_opened_may_be_a_scan(
    model: PhenotypeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A mesh in the skeleton editor is registered where it lies, and the editor is closed."""
    visitor = Visitor(tmp_path)
    session = visitor.session
    name = session.uploads.keep("me.ply", b"ply")
    session.apply(replace(session.document, rig=Rig(mesh=name)))
    done = []
    monkeypatch.setattr(session.background, "spawn", lambda _, job, end: done.append((job, end)))
    visitor.ask("rig scan")
    ((job, end),) = done
    write_body(Path(job.arguments[1]), Body(model.template, heavier(model), {}))
    end(Packet("person", {"remarks": []}))
    assert session.document.rig.mesh == ""
    assert session.document.body.scan == "me-person.npz"
    session.background.close()


def test_a_scan_that_is_not_there_is_refused(tmp_path: Path):
    visitor = Visitor(tmp_path)
    visitor.ask("change", path=["body", "scan"], value="nobody.npz")
    assert "no person 'nobody.npz'" in visitor.last_refusal
    assert visitor.session.document.body.scan == ""


@pytest.mark.slow
def test_a_scan_is_registered_and_animated(model: PhenotypeModel, tmp_path: Path):
    """Somebody's rest shape, as a scan in centimetres: the person that comes of it has the same
    stature to a centimetre, and the job has said what it was at."""
    visitor = Visitor(tmp_path)
    identity = heavier(model)
    path = tmp_path / "scan.ply"
    write_mesh(path, Mesh(100 * np.asarray(identity.rest_vertices), model.template.mesh.triangles))
    told: list[str] = []
    visitor.ask(
        "upload",
        {"content": np.frombuffer(path.read_bytes(), np.uint8)},
        name="scan.ply",
        **{"as": "scan"},
    )
    while visitor.session.background.busy:
        told += visitor.session.background.progress.values()
        visitor.session.background.poll()
    session = visitor.session
    assert session.document.body.scan == "scan-person.npz", visitor.said("refused")
    assert {"fitting shape and pose", "drawing the skin onto the scan"} <= set(told)
    found = np.asarray(session.stage.identity.rest_vertices)
    truth = np.asarray(identity.rest_vertices)
    assert np.ptp(found[:, 1]) == pytest.approx(np.ptp(truth[:, 1]), abs=0.01)
    session.stage.step(1.0, True)
    assert np.isfinite(session.stage.players[0].skin).all()
