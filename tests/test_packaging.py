"""One version, licences and notices inside the wheel, and an origin for every data file."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import BytesParser
from pathlib import Path

import pytest

import corporeal
from corporeal.cli.references import BONES, REFERENCES, topics
from corporeal.runtime.manifest import finish_run, read_manifest, start_run

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/corporeal"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NOTICES = {"LICENSE", "LICENSE-CC0.md", "LICENSE-anatomy", "NOTICE-anatomy", "three.LICENSE"}
RECORD = {"title", "licence", "origin", "built_by", "bytes", "sha256", "source_sha256"}
"""What every record of origin holds at least."""


def is_record(path: Path) -> bool:
    """Whether a file says where another one comes from, or under which licence."""
    return (
        path.name in NOTICES
        or path.name.endswith(".provenance.json")
        or (path.suffix == ".json" and path.with_name(f"{path.stem}.npz.xz").is_file())
    )


def data_files() -> list[Path]:
    """Every shipped file that was made or copied from elsewhere, and not written by hand."""
    folders = [*PACKAGE.rglob("data"), PACKAGE / "viewer/client/vendor"]
    found = [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    arrays = [p for p in PACKAGE.rglob("*") if p.suffix in (".npz", ".npy", ".xz", ".zip", ".bin")]
    return sorted({path for path in (*found, *arrays) if not is_record(path)})


def record_of(path: Path) -> dict[str, object]:
    """The record beside a data file: `people.provenance.json`, or the manifest `smpl.json`."""
    stem = path.name.split(".")[0]
    for name in (f"{stem}.provenance.json", f"{stem}.json"):
        if path.with_name(name).is_file() and name != path.name:
            return json.loads(path.with_name(name).read_text(encoding="utf-8"))
    raise AssertionError(f"{path} has no record of its origin beside it")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built by the backend that pyproject.toml names."""
    out = tmp_path_factory.mktemp("wheel")
    code = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(out)], cwd=ROOT, check=True, timeout=120)
    (path,) = out.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_version_is_written_once():
    """`corporeal.__version__` is the source; the build backend reads it, nothing repeats it."""
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    written = [
        path
        for path in (*PACKAGE.rglob("*.py"), ROOT / "pyproject.toml")
        if re.search(rf"version\S* *= *['\"]{re.escape(corporeal.__version__)}", path.read_text())
    ]
    assert written == [PACKAGE / "__init__.py"]


def test_the_citation_file_has_this_version():
    """CITATION.cff is read by services that do not run code, so it repeats the version."""
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("version:")] == [
        f"version: {corporeal.__version__}"
    ]


def test_the_command_and_manifests_tell_the_version(tmp_path: Path):
    command = [sys.executable, "-m", "corporeal.cli.main", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout.strip() == f"corporeal {corporeal.__version__}"
    result = tmp_path / "result.bin"
    result.write_bytes(b"made")
    (manifest,) = finish_run(start_run("test", {}), [result])
    assert read_manifest(manifest)["corporeal"] == corporeal.__version__


def test_the_wheel_carries_version_links_and_licences(wheel: zipfile.ZipFile):
    """Licences and notices lie both where installers look for them and beside the data."""
    names = wheel.namelist()
    (path,) = [name for name in names if name.endswith(".dist-info/METADATA")]
    metadata = BytesParser().parsebytes(wheel.read(path))
    assert metadata["Version"] == corporeal.__version__
    links = {value.split(", ")[0] for value in metadata.get_all("Project-URL", [])}
    assert links >= {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    licences = [name for name in names if ".dist-info/licenses/" in name]
    assert {Path(name).name for name in licences} == NOTICES
    for name in licences:
        inside = name.split(".dist-info/licenses/")[1]
        assert wheel.read(name) == (ROOT / inside).read_bytes()
        assert inside == "LICENSE" or inside.removeprefix("src/") in names


def test_the_wheel_is_within_its_budget(wheel: zipfile.ZipFile):
    """40 MB, as docs/install.md says."""
    assert sum(member.compress_size for member in wheel.infolist()) < 40e6


def test_the_wheel_carries_every_file_of_the_package(wheel: zipfile.ZipFile):
    """Nothing that the package reads at run time is left out, and no cache comes along."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if tracked.returncode != 0:
        pytest.skip("not a git checkout: the package's files cannot be listed")
    files = {line.removeprefix("src/") for line in tracked.stdout.splitlines()}
    files = {name for name in files if (ROOT / "src" / name).is_file()}
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == files


@pytest.mark.parametrize("path", data_files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_data_file_says_where_it_comes_from(path: Path):
    """A record beside it: source, licence, tool, and hashes that agree with the bytes."""
    record = record_of(path)
    assert record.keys() >= RECORD
    assert all(record[key] for key in RECORD)
    assert record["bytes"] == path.stat().st_size
    assert record["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (ROOT / str(record["built_by"])).is_file()
    for name in re.findall(r"see ((?:LICENSE|NOTICE)\S*|\S+\.LICENSE)", str(record["licence"])):
        assert path.with_name(name).is_file()


def test_a_data_file_without_a_record_is_found(tmp_path: Path):
    """The check above can fail."""
    lonely = tmp_path / "lonely.npz"
    lonely.write_bytes(b"")
    with pytest.raises(AssertionError, match="no record"):
        record_of(lonely)


def test_no_data_file_escapes_the_check():
    """All packed bodies, fitted coefficients and vendored code are among those checked."""
    found = {path.name for path in data_files()}
    assert found == {
        "adiposity.npz.xz",
        "anatomy.npz.xz",
        "coarse_surface.npz.xz",
        "composition.json",
        "default_body.npz.xz",
        "dmpl.npz.xz",
        "blendscape.npz.xz",
        "dyna.npz.xz",
        "enveloping.npz.xz",
        "eyes.npz.xz",
        "faces.npz.xz",
        "looks.npz.xz",
        "neural.npz.xz",
        "people.npz",
        "person_space.npz.xz",
        "population.npz",
        "proportions.npz.xz",
        "smpl.npz.xz",
        "smpl_sparse.npz.xz",
        "three.js",
        "weight_map.npz",
    }


def test_the_bones_are_credited():
    """Whoever uses the layers cites where the embedded bones come from, as their notice asks."""
    notice = (PACKAGE / "assets/data/NOTICE-anatomy").read_text(encoding="utf-8")
    assert "MuscleMimic" in notice
    assert "MyoSuite" in notice
    for topic in ("anatomy", "layered", "bones"):
        assert set(BONES) <= set(topics()[topic])
    assert {REFERENCES[key].title.split(":")[0] for key in BONES} >= {
        "MuscleMimic Models",
        "MyoSuite",
    }


def test_every_topic_leads_to_references():
    assert {key for keys in topics().values() for key in keys} == set(REFERENCES)
