"""What pages ask a reader to type beyond what `test_docs` runs as it stands.

Blocks marked `shell` take long, or files, devices or a cluster of the reader's own. Their lines of
`corporeal` are read by the command line itself; most are run with small files by the slow mark.
Scripts in `examples` are run by `test_tutorials`. Scripts of `benchmarks` are campaigns of minutes
to hours: what each has left, and what pages show or quote, is in the repository.
"""

import ast
import os
import re
import shlex
from pathlib import Path

import pytest
from command_server import run_command
from rehearsal import NOT_REHEARSED, rehearsed, write_files
from test_docs import PAGES, ROOT, blocks
from test_tutorials import SCRIPTS

from corporeal.cli.main import command_of
from corporeal.motions.library import MOTIONS

OTHER = {
    ".", "CORPOREAL_DATA=/path/to/data", "apt-get", "cd", "dask", "done", "for", "npm", "pip",
    "sha256sum", "tar",
}  # fmt: skip
"""First words of lines that are others' programs."""
LEFT = {
    "anatomy_growth": "benchmarks/results/anatomy_growth.json",
    "anatomy_sections": "benchmarks/results/anatomy_sections.json",
    "anatomy_sections_picture": "docs/pictures/tissue-sections.png",
    "artefacts": "benchmarks/results/artefacts.json",
    "behaviour/compare": "benchmarks/results/behaviour_a.json",
    "behaviour/record": "benchmarks/results/behaviour_b.json",
    "convergence": "benchmarks/results/convergence.json",
    "enveloping_pictures": "docs/pictures/enveloping.png",
    "fuzz_readers": "benchmarks/results/fuzz_readers.json",
    "held_anchors": "benchmarks/results/held_anchors.json",
    "held_poses": "benchmarks/results/held_poses.json",
    "jump_film": "docs/pictures/jump.png",
    "kill_and_rerun": "benchmarks/results/kill_and_rerun.json",
    "layered_pictures": "docs/pictures/layered-jump.png",
    "light_characters": "benchmarks/results/light_characters.json",
    "looks_sheets": "docs/pictures/looks/people.webp",
    "physics": "benchmarks/results/physics.json",
    "popping": "benchmarks/results/popping.json",
    "pose_figures": "benchmarks/results/poses.json",
    "pose_sheet": "docs/pictures/poses.png",
    "producers": "benchmarks/results/producers.json",
    "random_takes": "benchmarks/results/random_takes.json",
    "robustness": "benchmarks/results/robustness.json",
    "typed_lines": "benchmarks/results/users.json",
}
"""Campaigns, and something that each has left."""


def lines(code: str) -> list[str]:
    """The single commands of a block."""
    whole = code.replace("\\\n", " ").splitlines()
    parts = (part for line in whole for part in re.split(r"&&|; do\b|;| &$", line))
    return [part.strip() for part in parts if part.strip()]


def typed(page: Path) -> list[str]:
    """Every command in the `shell` blocks of a page."""
    return [line for language, code in blocks(page) if language == "shell" for line in lines(code)]


WITH = [page for page in PAGES if typed(page)]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_text_is_nothing_to_type(page: Path):
    """A command or a program in a block of plain text would be run by nobody."""
    for language, code in blocks(page):
        for line in lines(code) if language in ("text", "json") else []:
            assert not re.match(r"[$>]? ?(corporeal|python3?|pip|pytest|import|from)\b", line), line


@pytest.mark.parametrize("page", WITH, ids=named)
def test_lines_are_understood(page: Path):
    """Every verb, flag and choice is one; scripts are there, and know their flags."""
    for line in typed(page):
        words = shlex.split(line, comments=True)
        if words[0] == "corporeal":
            if "--help" not in words and "jiggle" not in words:  # `test_third_party_deformer`
                command_of([word for word in words[1:] if word != "--quiet"])
            motion = words[words.index("--motion") + 1] if "--motion" in words else ""
            assert "." in motion or motion in ("", *MOTIONS), line
        elif words[0] == "python":
            script_is_there(words[1:])
        else:
            assert words[0] in OTHER or words[0].endswith("/bin/pip"), line


def script_is_there(words: list[str]) -> None:
    """A campaign that has left something, a tutorial, a tool, or a module of Python's own."""
    if words[0] == "-m":
        assert words[1] == "venv"
        return
    script = Path(words[0])
    source = (ROOT / script).read_text("utf-8")
    flags = [word for word in words[1:] if word.startswith("--")]
    assert [flag for flag in flags if f'"{flag}"' not in source] == [], script
    if script.parts[0] == "benchmarks":
        left = LEFT[str(script.relative_to("benchmarks").with_suffix(""))]
        assert (ROOT / left).is_file()
    elif script.parts[0] == "examples":
        assert str(script) in (*SCRIPTS, "examples/phone_scan.py")  # `test_scan_tutorial`
    else:
        assert script.parts[0] == "tools"


def test_campaigns_are_those_of_the_pages():
    """None is told of that no page has."""
    every = "\n".join(line for page in PAGES for line in typed(page))
    of = set(re.findall(r"^python benchmarks/(\S+)\.py", every, re.MULTILINE))
    assert of == set(LEFT)


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(name == "python3" for name, _ in blocks(p))], ids=named
)
def test_fragments_name_what_there_is(page: Path):
    """Python that needs a GPU or trains for minutes: it compiles, the package has its names."""
    import corporeal

    for language, code in blocks(page):
        if language != "python3":
            continue
        tree = ast.parse(code)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert node.value.id != "cp" or hasattr(corporeal, node.attr), node.attr
            elif isinstance(node, ast.ImportFrom):
                module = __import__(str(node.module), fromlist=["x"])
                assert [a.name for a in node.names if not hasattr(module, a.name)] == []


def test_what_is_not_tried_is_tried_elsewhere():
    """The files that stand in for a line are there."""
    for why in NOT_REHEARSED.values():
        assert [
            f for f in re.findall(r"(?:tests|examples)/\w+\.py", why) if not (ROOT / f).is_file()
        ] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH, ids=named)
def test_lines_run_with_small_files(page: Path, tmp_path: Path, small_files: Path):
    """As a reader types them, with few people and short takes, in one folder a page."""
    write_files(small_files, tmp_path)
    for line in typed(page):
        words = shlex.split(line, comments=True)
        if words[0] != "corporeal" or any(part in line for part in NOT_REHEARSED):
            continue
        done = run_command(rehearsed(words[1:]), tmp_path, dict(os.environ) | {"COLUMNS": "100"})
        assert done.status == 0, f"{line}\n{done.said}"


@pytest.fixture(scope="module")
def small_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pages take for granted, made once."""
    from rehearsal import make_files

    folder = tmp_path_factory.mktemp("small")
    make_files(folder)
    return folder
