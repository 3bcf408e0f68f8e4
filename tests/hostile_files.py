"""Files made by hand to exhaust, crash or fool a reader: a few bytes each, every one refused."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Maker = Callable[[], bytes]


def npy(dtype: str, shape: tuple[int, ...], data: bytes = b"") -> bytes:
    """An array file that says what it is told to say."""
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def archive(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An `.npz` of raw entries."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, content in entries.items():
            made.writestr(f"{name}.npy", content)
    return file.getvalue()


def text_array(words: list[str]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.array(words, np.str_))
    return file.getvalue()


def body_head(**arrays: bytes) -> dict[str, bytes]:
    """The first arrays of a body file, and others."""
    return {
        "format": npy("<U14", (), "corporeal-body".encode("utf-32-le")),
        "format_version": npy("<i8", (), struct.pack("<q", 1)),
        **arrays,
    }


def npz_of_zeros() -> bytes:
    """2 GB of zeros for a few megabytes: an array that the reader does ask for."""
    count = 2**28
    head = npy("<f4", (count, 2, 1))
    size = len(head) + 8 * count
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(2**24)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = start + block * (8 * count // 2**24) + packer.flush()
    check = 0  # of a checksum nobody gets as far as
    name = b"parameter/shape.npy"
    local = struct.pack(
        "<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 33, check, len(packed), size, len(name), 0
    )
    entry = struct.pack(
        "<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 33, check, len(packed), size, len(name),
        0, 0, 0, 0, 0, 0,
    )  # fmt: skip
    body = local + name + packed
    directory = entry + name
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), len(body), 0)
    return body + directory + end


def lzma_archive() -> bytes:
    whole = bytearray(archive(body_head(faces=npy("<i4", (2, 3), bytes(24))), zipfile.ZIP_LZMA))
    whole[60:90] = bytes(30)
    return bytes(whole)


def crowded_archive() -> bytes:
    """A directory of 300 000 entries."""
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, *[0] * 6)
    directory = b"".join(entry + b"a" for _ in range(300_000))
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 65535, 65535, len(directory), 0, 0)
    return directory + end


def glb(document: dict[str, Any], binary: bytes = b"") -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def glb_surface(nodes: list[dict[str, Any]], vertices: int = 3, faces: int = 1) -> bytes:
    places = np.random.default_rng(0).random((vertices, 3)).astype("<f4").tobytes()
    corners = np.tile(np.arange(3), faces).astype("<u4").tobytes()
    return glb(
        {
            "asset": {"version": "2.0"},
            "nodes": nodes,
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "bufferViews": [
                {"buffer": 0, "byteOffset": 0, "byteLength": len(places)},
                {"buffer": 0, "byteOffset": len(places), "byteLength": len(corners)},
            ],
            "buffers": [{"byteLength": len(places) + len(corners)}],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": vertices, "type": "VEC3"},
                {"bufferView": 1, "componentType": 5125, "count": 3 * faces, "type": "SCALAR"},
            ],
        },
        places + corners,
    )


def chained_nodes(count: int) -> bytes:
    """Every node below the one before, each with a surface: a square of products."""
    nodes: list[dict[str, Any]] = [{"mesh": 0, "children": [i + 1]} for i in range(count - 1)]
    return glb_surface([*nodes, {"mesh": 0}])


def shared_surface(count: int) -> bytes:
    """One surface of 20 000 vertices, shown by very many nodes."""
    return glb_surface([{"mesh": 0} for _ in range(count)], vertices=20_000)


def ply(*lines: str, body: bytes = b"", kind: str = "ascii") -> bytes:
    head = "\n".join(["ply", f"format {kind} 1.0", *lines, "end_header", ""])
    return head.encode() + body


_XYZ = ("element vertex 3", "property float x", "property float y", "property float z")
_PLACES = b"0 0 0\n1 0 0\n0 1 0\n"
_BINARY = np.eye(3, dtype="<f4").tobytes()
_FACE = "element face 1"
_LIST = "property list {} {} vertex_indices"

MESHES: dict[str, tuple[str, Maker]] = {
    "obj index past 64 bits": (".obj", lambda: b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 " + b"9" * 30),
    "obj index past all digits": (".obj", lambda: b"v 0 0 0\nv 1 0 0\nf 1 2 " + b"9" * 5000),
    "obj index 1.5": (".obj", lambda: b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 1.5"),
    "obj texture not a number": (
        ".obj",
        lambda: b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt nan 0\nf 1/1 2/1 3/1",
    ),
    "obj vertices beyond all bounds": (
        ".obj",
        lambda: b"v 0 0 0\nv 1e300 0 0\nv 0 1e300 0\nf 1 2 3",
    ),
    "obj one long line": (".obj", lambda: b"v 0 0 0\nf" + b" 1" * 3_000_000 + b" 2"),
    "obj many short lines": (".obj", lambda: b"v 0 0 0\n" * 1_000_000 + b"f 1 2 x"),
    "off index 1.5": (".off", lambda: b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 1.5"),
    "off count past all digits": (".off", lambda: b"OFF\n" + b"9" * 5000 + b" 1 0\n"),
    "off vertices beyond all bounds": (
        ".off",
        lambda: b"OFF\n3 1 0\n0 0 0\n1e300 0 0\n0 1 0\n3 0 1 2",
    ),
    "ply rows of nothing": (".ply", lambda: ply(*_XYZ, "element dust 999999999999", body=_PLACES)),
    "ply binary rows of nothing": (
        ".ply",
        lambda: ply(*_XYZ, "element dust 999999999999", body=_BINARY, kind="binary_little_endian"),
    ),
    "ply endless list length": (
        ".ply",
        lambda: ply(
            *_XYZ,
            _FACE,
            _LIST.format("float", "int"),
            body=_BINARY + struct.pack("<f", np.inf),
            kind="binary_little_endian",
        ),
    ),
    "ply list length as text": (
        ".ply",
        lambda: ply(*_XYZ, _FACE, _LIST.format("double", "int"), body=_PLACES + b"1e400 0 1 2"),
    ),
    "ply list of floats": (
        ".ply",
        lambda: ply(*_XYZ, _FACE, _LIST.format("uchar", "float"), body=_PLACES + b"3 0 1 1.5"),
    ),
    "ply faces that are no list": (
        ".ply",
        lambda: ply(*_XYZ, _FACE, "property int vertex_indices", body=_PLACES + b"3"),
    ),
    "ply places that are lists": (
        ".ply",
        lambda: ply(
            "element vertex 1",
            "property list uchar float x",
            "property float y",
            "property float z",
            body=b"1 0 0 0",
        ),
    ),
    "ply header of many elements": (
        ".ply",
        lambda: ply(*_XYZ, *["element dust 1", "property float x"] * 20_000, body=_PLACES),
    ),
    "stl text beyond all bounds": (
        ".stl",
        lambda: b"solid\n" + b"vertex 1e300 0 0\n" * 3,
    ),
    "glb chained nodes": (".glb", lambda: chained_nodes(20_000)),
    "glb shared surface": (".glb", lambda: shared_surface(20_000)),
}
"""Name → suffix and content."""

ARCHIVES: dict[str, Maker] = {
    "two gigabytes of zeros": npz_of_zeros,
    "texts of no width": lambda: archive(body_head(joint_names=npy("<U0", (10**12,)))),
    "bytes of no width": lambda: archive(body_head(joint_names=npy("|S0", (10**12,)))),
    "text beyond Unicode": lambda: archive(
        body_head(joint_names=npy("<U1", (2,), struct.pack("<2I", 0x7FFFFFFF, 65)))
    ),
    "half a character": lambda: archive(
        body_head(joint_names=npy("<U1", (1,), struct.pack("<I", 0xD800)))
    ),
    "damaged LZMA": lzma_archive,
    "a crowded directory": crowded_archive,
    "lengths past all digits": lambda: archive(
        body_head(joint_names=npy("<U1", (int("9" * 400),), b"aaaa"))
    ),
}
"""Bodies that are none."""

PICKLES: dict[str, Maker] = {
    "a memo of gigabytes": lambda: b"\x80\x02}r\xff\xff\xff\x3f.",
    "a text memo of gigabytes": lambda: b"}p1073741823\n.",
    "bytes past all files": lambda: b"\x80\x04\x8e" + struct.pack("<q", 2**63 - 2) + b".",
    "a long that is one": lambda: b"\x80\x02\x8b\xff\xff\xff\x7f.",
    "a sparse matrix of gigabytes": lambda: sparse_pickle(1, 2**27),
    "one text many times": lambda: repeated_pickle(200, 2**23),
    "endless opcodes": lambda: b"\x80\x02" + b"]0" * 4_000_000 + b"}.",
}
"""Models that are none."""


def fbx(nodes: int, values: int) -> bytes:
    """A binary FBX file of very many nodes with very many values of a byte each."""
    count, place, made = values, 27, []
    for _ in range(nodes):
        end = place + 13 + 2 * count
        made.append(struct.pack("<IIIB", end, count, 2 * count, 0) + b"C\0" * count)
        place = end
    return b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7400) + b"".join(made)


RIGS: dict[str, Maker] = {
    "fbx of very many nodes": lambda: fbx(3_000_000, 0),
    "fbx of very many values": lambda: fbx(3, 10_000_000),
}
"""Characters that are none."""

TABLES: dict[str, Maker] = {
    "a million columns": lambda: ",".join(f"c{i}" for i in range(1_000_000)).encode(),
    "people who cannot be made": lambda: b"name,gender,age\n" + b"a,female,30\n" * 600_000,
}
"""Tables of people that are none."""


def sparse_pickle(rows: int, columns: int) -> bytes:
    """A matrix of one number in very many columns."""
    array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"

    def state(code: str, values: bytes, count: int) -> bytes:
        kind = f"cnumpy\ndtype\n(S'{code}'\nI0\nI1\ntR".encode()
        return (
            array + b"(I1\n(I%d\nt" % count + kind + b"I00\nS" + repr(values)[1:].encode() + b"\ntb"
        )

    parts = {
        b"data": state("f8", struct.pack("<d", 1.0), 1),
        b"indices": state("i4", struct.pack("<i", 0), 1),
        b"indptr": state("i4", struct.pack("<2i", 0, 1), 2),
        b"_shape": b"(I%d\nI%d\nt" % (rows, columns),
    }
    made = b"ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\nNtR"
    made += b"(d" + b"".join(b"S'" + k + b"'\n" + v + b"s" for k, v in parts.items()) + b"b"
    return b"(dS'J_regressor'\n" + made + b"s."


def repeated_pickle(count: int, size: int) -> bytes:
    """One text of megabytes that stands for the bytes of many arrays."""
    text = b"\x80\x02}(" + b"T" + struct.pack("<I", size) + bytes(size) + b"q\x00" + b"0"
    rows = []
    for number in range(count):
        rows.append(
            b"U\x03%03d" % number
            + b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
            + b"(K\x01" + b"J" + struct.pack("<i", size) + b"\x85"
            + b"cnumpy\ndtype\nU\x02i1K\x00K\x01\x87R\x89h\x00tb"
        )  # fmt: skip
    return text + b"".join(rows) + b"u."


MAPS: dict[str, Maker] = {
    "nothing": lambda: b"",
    "a promise of gigabytes": lambda: npy("<f8", (2**40,)),
    "numbers of no width": lambda: npy("|V0", (2**40,)),
    "objects": lambda: npy("|O", (1,), b"cos\nsystem\n(S'true'\ntR."),
    "an archive of zeros": lambda: archive({"a": npy("<f8", (2**20,), bytes(2**23))}),
}
"""Painted maps that are none."""


def write(path: Path, maker: Maker) -> Path:
    """The file, made anew."""
    path.write_bytes(maker())
    return path
