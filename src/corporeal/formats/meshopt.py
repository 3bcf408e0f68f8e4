"""The vertex codec of EXT_meshopt_compression, mode ATTRIBUTES: encoder and decoder.

The bitstream is public (glTF extension EXT_meshopt_compression, appendix A): elements are cut into
blocks, a block into byte columns; a column holds the zigzag differences of each byte from the same
byte of the element before, in groups of 16 that take 0, 2, 4 or 8 bits a byte, with bytes that do
not fit after the group. The first element closes the stream.
"""

import numpy as np

from corporeal._typing import Int, NumpyArray, UInt8
from corporeal.errors import FormatError

_HEADER = 0xA0
_GROUP = 16
_TAIL = 32
_BITS = (0, 2, 4, 8)


def block_length(stride: int) -> int:
    """Elements in a block, for elements of `stride` bytes."""
    return min((8192 // stride) & ~(_GROUP - 1), 256)


def encode_attributes(rows: UInt8[NumpyArray, "n stride"]) -> bytes:
    """Compress elements of 4, 8, … 256 bytes."""
    count, stride = rows.shape
    if stride % 4 or not 4 <= stride <= 256:
        raise FormatError(f"elements take {stride} bytes; expected a multiple of 4 up to 256.")
    before = np.concatenate([rows[:1], rows[:-1]])
    change = (rows - before).astype(np.int8)  # modulo 256
    zigzag = ((change >> 7) ^ (change << 1)).astype(np.uint8)
    length = block_length(stride)
    whole = count // length * length
    parts = [bytes([_HEADER]), _encode_blocks(zigzag[:whole].reshape(-1, length, stride))]
    if whole < count:
        last = np.zeros((1, -(-(count - whole) // _GROUP) * _GROUP, stride), np.uint8)
        last[0, : count - whole] = zigzag[whole:]
        parts.append(_encode_blocks(last))
    first = rows[0].tobytes() if count else bytes(stride)
    return b"".join([*parts, bytes(max(_TAIL - stride, 0)), first])


def _encode_blocks(blocks: UInt8[NumpyArray, "b length stride"]) -> bytes:
    """Blocks of one length: column by column, two bits a group for its width, then the groups."""
    count, length, stride = blocks.shape
    groups = length // _GROUP
    values = blocks.swapaxes(1, 2).reshape(-1, _GROUP)  # in the order of the stream
    sizes = np.stack(
        [
            np.where(values.any(axis=1), 99, 0),
            4 + (values >= 3).sum(axis=1),
            8 + (values >= 15).sum(axis=1),
            np.full(len(values), 16),
        ]
    )
    widths = sizes.argmin(axis=0)
    taken = sizes[widths, np.arange(len(values))]
    head = -(-groups // 4)
    codes = np.zeros((count * stride, 4 * head), np.uint8)
    codes[:, :groups] = widths.reshape(-1, groups)
    heads = (codes.reshape(-1, head, 4) << np.array([0, 2, 4, 6], np.uint8)).sum(axis=2)
    columns = head + taken.reshape(-1, groups).sum(axis=1)
    starts = np.cumsum(columns) - columns
    stream = np.zeros(int(columns.sum()), np.uint8)
    stream[starts[:, None] + np.arange(head)] = heads
    inside = np.cumsum(taken.reshape(-1, groups), axis=1) - taken.reshape(-1, groups)
    places = (starts[:, None] + head + inside).ravel()
    for width, bits in enumerate(_BITS):
        chosen = np.flatnonzero(widths == width)
        if bits and len(chosen):
            _put_groups(stream, values[chosen], places[chosen], bits)
    return stream.tobytes()


def _put_groups(
    stream: UInt8[NumpyArray, "bytes"],
    values: UInt8[NumpyArray, "g 16"],
    places: Int[NumpyArray, "g"],
    bits: int,
) -> None:
    """Write groups of one width: small values packed, the first highest; then those beyond."""
    if bits == 8:
        stream[places[:, None] + np.arange(_GROUP)] = values
        return
    sentinel = (1 << bits) - 1
    small = np.minimum(values, sentinel).reshape(len(values), -1, 8 // bits)
    shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)
    packed = (small << shifts).sum(axis=2).astype(np.uint8)
    stream[places[:, None] + np.arange(2 * bits)] = packed
    beyond = values >= sentinel
    rank = np.cumsum(beyond, axis=1) - 1
    stream[(places[:, None] + 2 * bits + rank)[beyond]] = values[beyond]


def decode_attributes(data: bytes, count: int, stride: int) -> UInt8[NumpyArray, "n stride"]:
    """The elements of a compressed stream; `FormatError` for one that is damaged."""
    tail = max(_TAIL, stride)
    if len(data) < 1 + tail or data[0] != _HEADER or stride % 4 or not 4 <= stride <= 256:
        raise FormatError("a compressed buffer view does not start or end as one.")
    stream = np.frombuffer(data, np.uint8)
    last, end, place = stream[-stride:].copy(), len(data) - tail, 1
    rows = np.empty((count, stride), np.uint8)
    length = block_length(stride)
    for start in range(0, count, length):
        size = min(length, count - start)
        groups = -(-size // _GROUP)
        for channel in range(stride):
            zigzag, place = _decode_column(stream, place, end, groups)
            change = (zigzag >> 1) ^ (-(zigzag & 1).astype(np.int8)).astype(np.uint8)
            rows[start : start + size, channel] = np.cumsum(change[:size], dtype=np.uint8)
        rows[start : start + size] += last
        last = rows[start + size - 1].copy()
    if place != end:
        raise FormatError(f"a compressed buffer view has {end - place} bytes too many.")
    return rows


def _decode_column(
    stream: UInt8[NumpyArray, "bytes"], place: int, end: int, groups: int
) -> tuple[UInt8[NumpyArray, "n"], int]:
    head = -(-groups // 4)
    widths = (stream[place : place + head, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3
    place += head
    values = np.zeros((groups, _GROUP), np.uint8)
    for group, width in enumerate(widths.ravel()[:groups].tolist()):
        bits = _BITS[width]
        fixed = 2 * bits
        if place + fixed > end:
            raise FormatError("a compressed buffer view is cut short.")
        if bits == 8:
            values[group] = stream[place : place + _GROUP]
        elif bits:
            shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)
            sentinel = (1 << bits) - 1
            small = ((stream[place : place + fixed, None] >> shifts) & sentinel).ravel()
            large = np.flatnonzero(small == sentinel)
            if place + fixed + len(large) > end:
                raise FormatError("a compressed buffer view is cut short.")
            small[large] = stream[place + fixed : place + fixed + len(large)]
            values[group], place = small, place + len(large)
        place += fixed
    return values.ravel(), place
