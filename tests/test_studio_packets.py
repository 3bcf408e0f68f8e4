"""Messages as bytes: both ways, in Python and in the page's own JavaScript."""

import contextlib
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corporeal.errors import FormatError
from corporeal.viewer.packets import Packet, decode

CLIENT = Path(__file__).parents[1] / "src/corporeal/viewer/client"


def example() -> Packet:
    arrays = {
        "few": np.arange(3, dtype=np.uint8),
        "table": np.arange(12, dtype=np.float32).reshape(4, 3),
        "none": np.zeros((0, 3), np.uint16),
    }
    return Packet("näme", {"number": 1.5, "words": ["a", "ü"], "nothing": None}, arrays)


def test_a_message_comes_out_as_it_went_in():
    came = decode(example().encode())
    assert (came.kind, dict(came.fields)) == ("näme", dict(example().fields))
    for name, array in example().arrays.items():
        assert came.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(came.arrays[name], array)


def test_arrays_begin_where_typed_arrays_may():
    """A browser refuses a Float32Array at an odd place; header and arrays lie on multiples of 8."""
    content = example().encode()
    length = int.from_bytes(content[:4], "little")
    rows = json.loads(content[4 : 4 + length])["arrays"]
    assert (4 + length) % 8 == 0
    assert all(offset % 8 == 0 for *_, offset in rows)


def test_the_page_reads_and_writes_the_same_bytes(tmp_path: Path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: it runs the page's own packets.js")
    (tmp_path / "in.bin").write_bytes(example().encode())
    script = tmp_path / "echo.mjs"
    script.write_text(
        f"""
import {{ readFileSync, writeFileSync }} from "node:fs";
import {{ decode, encode }} from {json.dumps((CLIENT / "packets.js").as_uri())};
const bytes = readFileSync("in.bin");
const came = decode(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const {{ kind, arrays, ...fields }} = came;
writeFileSync("out.bin", encode(kind, fields, arrays));
"""
    )
    (tmp_path / "package.json").write_text('{"type": "module"}')
    subprocess.run([node, str(script)], cwd=tmp_path, check=True, timeout=60)
    back = decode((tmp_path / "out.bin").read_bytes())
    assert (back.kind, dict(back.fields)) == ("näme", dict(example().fields))
    for name, array in example().arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array.ravel())


def test_an_array_that_no_browser_has_is_refused():
    with pytest.raises(FormatError, match="float64"):
        Packet("x", {}, {"wide": np.zeros(3)}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0",
        b"\xff\xff\xff\xff{}",
        b"\x02\0\0\0{}",
        b"\x02\0\0\0[]",
        Packet("x").encode()[:-3],
        b"\x40\0\0\0" + b'{"kind":"x","arrays":[["a","uint8",[99],0]]}'.ljust(64),
        b"\x40\0\0\0" + b'{"kind":"x","arrays":[["a","uint8",[-1],0]]}'.ljust(64),
        b"\x40\0\0\0" + b'{"kind":"x","arrays":[["a","object",[1],0]]}'.ljust(64) + b"12345678",
        b"\x40\0\0\0" + b'{"kind":"x","arrays":7}'.ljust(64),
    ],
)
def test_broken_messages_are_refused(content: bytes):
    with pytest.raises(FormatError):
        decode(content)


@given(st.binary(max_size=200))
def test_noise_is_refused_or_read(content: bytes):
    """Whatever comes, the answer is a message or a `FormatError`."""
    with contextlib.suppress(FormatError):
        decode(content)
