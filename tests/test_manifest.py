"""A manifest tells how a result was made, and whether it is still that result."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import corporeal
from corporeal.errors import FormatError, InputError
from corporeal.runtime.devices import list_devices, require_device
from corporeal.runtime.files import file_sha256
from corporeal.runtime.manifest import (
    finish_run,
    is_current,
    manifest_path,
    package_versions,
    read_manifest,
    start_run,
    to_json,
)


@dataclass(frozen=True)
class Config:
    weight: float = 0.5
    out: Path = Path("a.bin")
    seeds: tuple[int, ...] = (1, 2)


def make(folder: Path, config: Config | None = None, content: bytes = b"result") -> Path:
    (folder / "in.bin").write_bytes(b"input")
    run = start_run("body", config or Config(), [folder / "in.bin"])
    (folder / "a.bin").write_bytes(content)
    finish_run(run, [folder / "a.bin"], {"error_mm": np.float32(0.5)})
    return folder / "a.bin"


def test_content(tmp_path: Path) -> None:
    output = make(tmp_path)
    assert manifest_path(output).name == "a.bin.manifest.json"
    content = read_manifest(manifest_path(output))
    assert content["corporeal"] == corporeal.__version__
    assert content["config"] == {"weight": 0.5, "out": "a.bin", "seeds": [1, 2]}
    assert content["inputs"][0]["sha256"] == file_sha256(tmp_path / "in.bin")
    assert content["outputs"] == [{"path": "a.bin", "sha256": file_sha256(output), "bytes": 6}]
    assert content["report"] == {"error_mm": 0.5}
    assert content["versions"]["numpy"] == np.__version__
    assert content["started"] <= content["ended"]


def test_provenance_survives_when_the_result_takes_its_inputs_name(tmp_path: Path) -> None:
    output = make(tmp_path)
    run = start_run("animate", {}, [output])
    output.write_bytes(b"animated")
    finish_run(run, [output])
    content = read_manifest(manifest_path(output))
    assert content["verb"] == "animate"
    assert content["inputs"][0]["manifest"]["verb"] == "body"


def test_current_until_something_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = make(tmp_path)
    same = start_run("body", Config(), [tmp_path / "in.bin"])
    assert is_current(output, same)
    assert not is_current(output, start_run("body", Config(weight=0.6), [tmp_path / "in.bin"]))
    assert not is_current(output, start_run("animate", Config(), [tmp_path / "in.bin"]))
    assert not is_current(tmp_path / "b.bin", same)
    (tmp_path / "in.bin").write_bytes(b"other input")
    assert not is_current(output, start_run("body", Config(), [tmp_path / "in.bin"]))
    output.write_bytes(b"harmed")
    assert not is_current(output, same)
    make(tmp_path)
    monkeypatch.setattr(corporeal, "__version__", "9.9")
    assert not is_current(output, same)
    monkeypatch.undo()
    manifest_path(output).write_text("{")
    assert not is_current(output, same)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"verb": 1}', "[" * 100_000])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(FormatError, match="not a corporeal manifest"):
        read_manifest(tmp_path / "a.json")


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_manifest(tmp_path / "a.json")
    with pytest.raises(InputError, match="there is no file"):
        start_run("body", {}, [tmp_path / "a.npz"])


def test_values_that_json_cannot_hold() -> None:
    with pytest.raises(InputError, match="cannot hold"):
        to_json({"a": object()})
    assert json.dumps(to_json({"a": (np.arange(2), Path("b"))})) == '{"a": [[0, 1], "b"]}'


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corporeal.runtime.manifest._PACKAGES", ("no-such-package",))
    assert package_versions()["no-such-package"] is None


def test_devices() -> None:
    assert list_devices()[0].name == "cpu"
    assert require_device("cpu").name == "cpu"
    with pytest.raises(InputError, match="expected cpu, gpu or gpu:N"):
        require_device("tpu")
    with pytest.raises(InputError, match="gpu:99 is not there; this machine has cpu"):
        require_device("gpu:99")
