"""Light engine files: each step keeps what it says, measured on the played surface."""

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from client_files import node_package, program
from small_body import small_animation
from takes import soft_character, soft_take

from corporeal.body.character import Character
from corporeal.body.track_keys import fewest_keys, played
from corporeal.cli.main import main
from corporeal.errors import FormatError, InputError
from corporeal.formats.glb import Packing, quantized
from corporeal.formats.glb_read import open_glb
from corporeal.formats.gltf import write_glb_character
from corporeal.formats.gltf_read import read_glb_character
from corporeal.formats.meshopt import block_length, decode_attributes, encode_attributes
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.bake import BUDGET_SHARE, MORPH_BUDGET, bake
from corporeal.pipelines.light_character import LightOptions, coarser, thinned, write_light_glb
from corporeal.pipelines.results import write_engine_character
from corporeal.skinning.playback import character_vertices


def walked(count: int, stride: int, step: int, seed: int = 0) -> np.ndarray:
    """Bytes that wander by up to `step` from element to element."""
    change = np.random.default_rng(seed).integers(-step, step + 1, (count, stride))
    return np.cumsum(change, axis=0).astype(np.uint8)


SHAPES = [(1, 4), (16, 4), (17, 12), (257, 8), (3000, 12), (700, 64), (100, 256)]


class TestMeshopt:
    @pytest.mark.parametrize(("count", "stride"), SHAPES)
    @pytest.mark.parametrize("step", [0, 1, 7, 128])
    def test_the_way_back(self, count: int, stride: int, step: int):
        rows = walked(count, stride, step)
        packed = encode_attributes(rows)
        assert np.array_equal(decode_attributes(packed, count, stride), rows)

    def test_what_stands_still_takes_a_header_alone(self):
        """Two bits a group and byte column, the first byte, and a tail of 32."""
        rows = np.full((block_length(8), 8), 7, np.uint8)
        assert len(encode_attributes(rows)) == 1 + 8 * (block_length(8) // 16 // 4) + 32

    def test_meshoptimizers_own_decoder_agrees(self, tmp_path: Path):
        """The independent reference: the library's decoder, as three.js ships it."""
        decoder = node_package("three") / "examples/jsm/libs/meshopt_decoder.module.js"
        script = (
            f"import {{ MeshoptDecoder as d }} from 'file://{decoder}';"
            "import { readFileSync as r, writeFileSync as w } from 'node:fs';await d.ready;"
            "for (const [i, n, s] of JSON.parse(process.argv[1])) {"
            "const t = new Uint8Array(n * s);"
            "d.decodeGltfBuffer(t, n, s, new Uint8Array(r(`${i}.bin`)), 'ATTRIBUTES');"
            "w(`${i}.out`, t); }"
        )
        jobs = []
        for number, (count, stride) in enumerate(SHAPES):
            rows = walked(count, stride, 1 + 20 * number)
            (tmp_path / f"{number}.bin").write_bytes(encode_attributes(rows))
            jobs.append([number, count, stride])
        command = [program("node"), "--input-type=module", "-e", script, str(jobs)]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
        for number, count, stride in jobs:
            found = np.fromfile(tmp_path / f"{number}.out", np.uint8).reshape(count, stride)
            assert np.array_equal(found, walked(count, stride, 1 + 20 * number))

    def test_damaged_streams_are_refused(self):
        packed = encode_attributes(walked(500, 8, 9))
        for content in (packed[:40], packed[:-5], b"\x00" + packed[1:], packed + b"\x00", b""):
            with pytest.raises(FormatError, match="compressed buffer view"):
                decode_attributes(content, 500, 8)
        with pytest.raises(FormatError, match="multiple of 4"):
            encode_attributes(np.zeros((4, 6), np.uint8))


class TestKeys:
    def test_a_broken_line_needs_its_corners(self):
        values = np.interp(np.arange(41), [0, 10, 40], [0.0, 5.0, -1.0])[:, None]
        assert fewest_keys(values, 1e-9).tolist() == [0, 10, 40]

    def test_what_stands_still_needs_one_key(self):
        assert fewest_keys(np.ones((30, 4)), 1e-9).tolist() == [0]

    @pytest.mark.parametrize("allowed", [1e-1, 1e-2])
    def test_lines_stay_within_what_is_allowed(self, allowed: float):
        values = np.sin(np.arange(120)[:, None] * [0.1, 0.17, 0.05])
        keys = fewest_keys(values, allowed)
        apart = np.linalg.norm(played(values, keys) - values, axis=1)
        assert apart.max() <= allowed
        assert len(keys) < 120

    def test_unit_lines_are_unit(self):
        angle = np.linspace(0, 1.2, 30)
        turns = np.stack([np.cos(angle), np.sin(angle), 0 * angle, 0 * angle], axis=1)
        keys = fewest_keys(turns, 1e-3, unit=True)
        shown = played(turns, keys, unit=True)
        assert np.allclose(np.linalg.norm(shown, axis=1), 1)
        assert len(keys) < 30


def distance_mm(found: Character, expected: Character) -> float:
    apart = character_vertices(found) - character_vertices(expected)
    return 1e3 * float(np.linalg.norm(apart, axis=-1).max())


@pytest.mark.parametrize("packing", ["none", "quantized", "meshopt"])
def test_a_light_file_comes_back_within_its_stated_error(packing: Packing, tmp_path: Path):
    character = soft_character(frames=48)
    report = write_light_glb(tmp_path / "a.glb", character, packing)
    found = read_glb_character(tmp_path / "a.glb")
    assert (found.frame_count, found.fps) == (character.frame_count, character.fps)
    # single precision of the file, and a seventh of the vertices stands for all
    stated = report["track_error_mm"] + report["quantization_error_mm"]
    assert distance_mm(found, character) <= 2 * stated + 1e-3
    assert report["keys"] <= report["keys_at_every_frame"]
    assert report["bytes"] == (tmp_path / "a.glb").stat().st_size


def test_thinned_tracks_move_no_vertex_by_more_than_they_say():
    character = soft_character(frames=60)
    _, apart, count = thinned(character, error_mm=1.0)
    assert apart < 1.0
    _, closer, more = thinned(character, error_mm=0.05)
    assert closer < 0.05
    assert more > count


def test_local_morphs_are_sparse_and_read_back_exactly(tmp_path: Path):
    character = soft_character()
    offsets = np.array(character.morph_offsets)
    offsets[:, 20:] = 0
    local = replace(character, morph_offsets=offsets, morph_normals=None)
    write_glb_character(tmp_path / "local.glb", local)
    write_glb_character(tmp_path / "whole.glb", replace(character, morph_normals=None))
    assert (tmp_path / "local.glb").stat().st_size < (tmp_path / "whole.glb").stat().st_size
    sparse = [a for a in open_glb(tmp_path / "local.glb").items("accessors") if "sparse" in a]
    assert len(sparse) == character.morph_count
    assert not any("bufferView" in a for a in sparse)
    file = open_glb(tmp_path / "local.glb")
    first = file.items("bufferViews")[0]
    zeros = file.binary[: first["byteLength"]]
    assert not any(zeros), "what Godot 3 reads where no buffer view is named"
    assert len(zeros) == 12 * sparse[0]["count"]
    found = read_glb_character(tmp_path / "local.glb").morph_offsets
    assert np.array_equal(found, offsets.astype(np.float32))


def test_the_default_budget():
    """The fewest that reach the share; 40 where none does."""
    take = soft_take(rank=12, size=0.01)
    character, report = bake(take)
    assert report.within_1mm >= BUDGET_SHARE
    assert character.morph_count <= 12
    fewer = bake(take, morphs=character.morph_count - 1)[1]
    assert fewer.within_1mm < BUDGET_SHARE
    random = np.random.default_rng(0).normal(0, 0.02, np.shape(small_animation(60).vertices))
    noise = replace(small_animation(60), vertices=small_animation(60).vertices + random)
    assert bake(noise)[1].morph_count == MORPH_BUDGET


def euler(triangles: np.ndarray) -> int:
    """V − E + F of the vertices that have faces."""
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return len(np.unique(triangles)) - len(np.unique(edges, axis=0)) + len(triangles)


def test_a_level_of_detail_keeps_vertices_where_they_are():
    character = soft_character()
    full = character.template.mesh
    light, apart = coarser(character, full.vertex_count // 2)
    mesh = light.template.mesh
    assert mesh.vertex_count <= full.vertex_count // 2 + 2
    places = {tuple(row) for row in np.asarray(full.vertices)}
    assert {tuple(row) for row in np.asarray(mesh.vertices)} <= places
    assert euler(mesh.triangles) == euler(full.triangles), "the topology stays"
    assert mesh.uv is not None
    assert mesh.uv_triangles is not None
    assert 0 <= apart["mean"] <= apart["most"] <= apart["largest"]
    same, none = coarser(character, 10**6)
    assert same is character
    assert none["largest"] == 0


def test_flags_that_do_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    take = small_animation()
    with pytest.raises(InputError, match=r"for \.glb alone"):
        write_engine_character(tmp_path / "a.fbx", take, LightOptions(compress="meshopt"))
    with pytest.raises(InputError, match="came together"):
        write_engine_character(tmp_path / "a.glb", take, LightOptions(morphs=3, error_mm=1.0))
    line = ["animate", "--motion", "jumping-jacks", "--lod", "2k", "--out", str(tmp_path / "a.npz")]
    assert main(line) == 2
    assert "they are for .glb, .fbx and .usd" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        (["--morphs", "-4"], "--morphs is -4; expected 0 or more"),
        (["--error-mm", "-1"], "--error-mm is -1.0; expected millimetres above 0"),
    ],
)
def test_budgets_below_nothing_are_refused_before_the_work(
    flag: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    """They came out of the bake, when the take was done."""

    def no_work(*_: object) -> None:
        raise AssertionError("the take was begun")

    monkeypatch.setattr(PhenotypeModel, "prepare", no_work)
    out = str(tmp_path / "a.glb")
    assert main(["animate", "--motion", "jumping-jacks", *flag, "--out", out]) == 2
    assert words in capsys.readouterr().err


def test_linear_blending_can_be_light_too(tmp_path: Path):
    report = write_engine_character(
        tmp_path / "a.glb", small_animation(30), LightOptions(compress="quantized")
    )
    assert report["morphs"] == 0
    assert report["within_1mm"] == 1
    assert read_glb_character(tmp_path / "a.glb").frame_count == 30


def test_whole_numbers_are_within_half_a_step():
    values = np.linspace(-1.2, 1.2, 500)
    inside = np.clip(values, -1, 1)
    assert np.abs(quantized(values, "int16") / 32767 - inside).max() <= 0.5 / 32767 + 1e-12
    assert quantized(np.array([-0.3]), "uint16")[0] == 0
