"""`corporeal cite`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tyro.conf import Positional

from corporeal.cli.console import print_json
from corporeal.cli.references import ALWAYS, REFERENCES, Reference, topics
from corporeal.errors import InputError
from corporeal.runtime.manifest import SUFFIX, manifest_path, read_manifest


@dataclass(frozen=True)
class Cite:
    """Print the references of the methods used.

    Without a subject, all of them; with a method's name, its own; with a result or its manifest,
    those of the methods that made it.

    Examples:
      corporeal cite
      corporeal cite dqs --style plain
      corporeal cite anna.npz >> paper.bib
    """

    subjects: Positional[tuple[str, ...]] = ()
    """Methods (such as lbs, dqs, measurements), results, or manifests."""
    style: Literal["bibtex", "plain"] = "bibtex"
    """How references are written."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Print the references, each once."""
        named = dict.fromkeys(t for subject in self.subjects for t in _topics(subject))
        found = _references(tuple(named) or tuple(topics()))
        if self.json:
            print_json(found)
        elif self.style == "plain":
            print("\n".join(reference.plain() for reference in found))
        else:
            print("\n\n".join(reference.bibtex() for reference in found))
        return 0


def _references(named: tuple[str, ...]) -> list[Reference]:
    known = topics()
    keys = dict.fromkeys(key for topic in named for key in known[topic])
    return [REFERENCES[key] for key in keys]


def _topics(subject: str) -> tuple[str, ...]:
    if subject in topics():
        return (subject,)
    path = Path(subject)
    manifest = path if path.name.endswith(SUFFIX) else manifest_path(path)
    if not manifest.is_file():
        raise InputError(
            f"{subject!r} is neither a method nor a result with a manifest; expected one of "
            f"{', '.join(topics())}, or a file that corporeal wrote."
        )
    return (*ALWAYS, *_methods(read_manifest(manifest)))


def _methods(content: dict[str, Any]) -> list[str]:
    """Methods named in a manifest and in those of its inputs."""
    config = content["config"]
    named = [config.get("deformer"), *content.get("report", {}).get("deformers", [])]
    if content["verb"] == "body":
        named.append("measurements" if config.get("measurements") else "phenotype")
    if content["verb"] in ("anatomy", "reshape"):
        named.append(content["verb"])
    if content["verb"] == "demo":
        named += ["phenotype", "motions"]
    if content["verb"] == "animate" and not Path(str(config.get("motion"))).suffix:
        named.append("motions")
    if content["verb"] == "animate" and config.get("mesh"):
        named.append("automatic-weights")
    methods = [name for name in named if isinstance(name, str) and name in topics()]
    for item in content["inputs"]:
        if isinstance(item, dict) and isinstance(item.get("manifest"), dict):
            methods += _methods(item["manifest"])
    return methods
