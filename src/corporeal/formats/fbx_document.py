"""The frame around the objects of an FBX file: header, settings, definitions, connections."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import corporeal
from corporeal.formats.fbx_nodes import CREATION_TIME, FILE_ID, FbxNode, Int64, Property

TICKS = 46_186_158_000
"""FBX time units a second."""

_CUSTOM_RATE = 14
_TIME_MODES = {120.0: 1, 100.0: 2, 60.0: 3, 50.0: 4, 48.0: 5, 30.0: 6, 25.0: 10, 24.0: 11}
_FIRST_ID = 1_000_000
_DOCUMENT_ID = Int64(999_999)

Flags = tuple[str, str, str]
INTEGER: Flags = ("int", "Integer", "")
NUMBER: Flags = ("double", "Number", "")
TIME: Flags = ("KTime", "Time", "")
COLOUR: Flags = ("Color", "", "A")
TEXT: Flags = ("KString", "", "")


def add_property(parent: FbxNode, name: str, kind: Flags, *values: Property) -> None:
    """Append one named property to a `Properties70` node."""
    parent.add("P", name, *kind, *values)


@dataclass
class FbxDocument:
    """Objects and the links between them. Object 0 is the scene's root."""

    objects: list[FbxNode] = field(default_factory=list)
    """Geometries, models, deformers and animation curves, in the order they were added."""
    _links: list[FbxNode] = field(default_factory=list)

    def add(self, kind: str, name: str, label: str, subclass: str) -> tuple[Int64, FbxNode]:
        """A new object: its number and its node. `label` is FBX's class in the stored name."""
        number = Int64(_FIRST_ID + len(self.objects))
        node = FbxNode(kind, (number, f"{name}\x00\x01{label}", subclass), block=True)
        self.objects.append(node)
        return number, node

    def link(self, child: Int64, parent: Int64, property_name: str | None = None) -> None:
        """Hang one object under another, or on one of its properties."""
        if property_name is None:
            self._links.append(FbxNode("C", ("OO", child, parent)))
        else:
            self._links.append(FbxNode("C", ("OP", child, parent, property_name)))

    def nodes(self, fps: float, frame_count: int, take: str) -> list[FbxNode]:
        """The whole tree."""
        stop = Int64(frame_ticks(fps, frame_count)[-1])
        return [
            _header(),
            FbxNode("FileId", (FILE_ID,)),
            FbxNode("CreationTime", (CREATION_TIME,)),
            FbxNode("Creator", (_creator(),)),
            _global_settings(fps, stop),
            _documents(take),
            FbxNode("References", block=True),
            _definitions(self.objects),
            FbxNode("Objects", children=self.objects, block=True),
            FbxNode("Connections", children=self._links, block=True),
            _takes(take, stop),
        ]


def frame_ticks(fps: float, frame_count: int) -> np.ndarray:
    """Times of the frames in FBX time units, int64."""
    return np.rint(np.arange(frame_count) * (TICKS / fps)).astype(np.int64)


def _creator() -> str:
    return f"corporeal {corporeal.__version__}"


def _header() -> FbxNode:
    header = FbxNode("FBXHeaderExtension")
    header.add("FBXHeaderVersion", 1003)
    header.add("FBXVersion", 7400)
    header.add("EncryptionType", 0)
    stamp = header.add("CreationTimeStamp")
    stamp.add("Version", 1000)
    for name, value in zip(
        ("Year", "Month", "Day", "Hour", "Minute", "Second", "Millisecond"),
        (1970, 1, 1, 10, 0, 0, 0),
        strict=True,
    ):
        stamp.add(name, value)
    header.add("Creator", _creator())
    return header


def _global_settings(fps: float, stop: Int64) -> FbxNode:
    """Right-handed, y up, facing +z, centimetres: FBX's own default."""
    settings = FbxNode("GlobalSettings")
    settings.add("Version", 1000)
    table = settings.add("Properties70")
    for axis, index in (("UpAxis", 1), ("FrontAxis", 2), ("CoordAxis", 0)):
        add_property(table, axis, INTEGER, index)
        add_property(table, f"{axis}Sign", INTEGER, 1)
    add_property(table, "OriginalUpAxis", INTEGER, -1)
    add_property(table, "OriginalUpAxisSign", INTEGER, 1)
    add_property(table, "UnitScaleFactor", NUMBER, 1.0)
    add_property(table, "OriginalUnitScaleFactor", NUMBER, 1.0)
    add_property(table, "TimeMode", ("enum", "", ""), _TIME_MODES.get(fps, _CUSTOM_RATE))
    add_property(table, "TimeSpanStart", TIME, Int64(0))
    add_property(table, "TimeSpanStop", TIME, stop)
    add_property(table, "CustomFrameRate", NUMBER, float(fps))
    return settings


def _documents(take: str) -> FbxNode:
    documents = FbxNode("Documents")
    documents.add("Count", 1)
    document = documents.add("Document", _DOCUMENT_ID, "", "Scene")
    table = document.add("Properties70")
    add_property(table, "SourceObject", ("object", "", ""))
    add_property(table, "ActiveAnimStackName", TEXT, take)
    document.add("RootNode", Int64(0))
    return documents


def _definitions(objects: list[FbxNode]) -> FbxNode:
    counts = Counter(node.name for node in objects)
    definitions = FbxNode("Definitions")
    definitions.add("Version", 100)
    definitions.add("Count", 1 + len(objects))
    for name, count in (("GlobalSettings", 1), *counts.items()):
        definitions.add("ObjectType", name).add("Count", count)
    return definitions


def _takes(take: str, stop: Int64) -> FbxNode:
    takes = FbxNode("Takes")
    takes.add("Current", take)
    entry = takes.add("Take", take)
    entry.add("FileName", f"{take}.tak")
    entry.add("LocalTime", Int64(0), stop)
    entry.add("ReferenceTime", Int64(0), stop)
    return takes
