"""What a page may say: one schema of all messages, checked before anything is done.

Every message is listed in `MESSAGES` with its fields and arrays; what is not there, is missing, has
another type, is no finite number or is too deep or too long is refused in words.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import InputError
from corporeal.viewer.packets import Packet

Check = Callable[[str, Any], None]
"""Takes the name of a field and its value; raises `InputError` for what does not fit."""

MOST_DEPTH = 12
"""Lists and objects within each other."""
MOST_WORD = 300
"""Letters of a name."""
_MOST_WHOLE = 2**53
"""Beyond it a browser's numbers are not whole any more."""


@dataclass(frozen=True)
class Message:
    """One kind of message."""

    fields: Mapping[str, Check] = field(default_factory=dict)
    """Fields that must be there."""
    optional: Mapping[str, Check] = field(default_factory=dict)
    """Fields that may be there."""
    arrays: Mapping[str, str] = field(default_factory=dict)
    """Flat arrays that must be there, with their types."""


def require_message(packet: Packet, actions: Mapping[str, object]) -> None:
    """Raise `InputError` unless a packet is a message that a page may send."""
    if packet.kind not in MESSAGES or packet.kind not in actions:
        raise InputError(f"the studio knows no {packet.kind[:60]!r}.")
    message, what = MESSAGES[packet.kind], f"message {packet.kind!r}"
    known = {**message.fields, **message.optional}
    if unknown := sorted(set(packet.fields) - set(known)):
        raise InputError(f"{what} has an unknown field {unknown[0][:60]!r}.")
    for name, check in known.items():
        if name in packet.fields:
            check(f"{name} of {what}", packet.fields[name])
        elif name in message.fields:
            raise InputError(f"{what} lacks its field {name!r}.")
    for name, dtype in message.arrays.items():
        _require_array(f"{name} of {what}", packet.arrays.get(name), dtype)


def _require_array(what: str, array: NumpyArray | None, dtype: str) -> None:
    if array is None or array.ndim != 1 or array.dtype.name != dtype:
        came = "nothing" if array is None else f"{array.dtype.name} of shape {array.shape}"
        raise InputError(f"{what} is {came}; expected a row of {dtype}.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(f"{what} holds numbers that are not finite.")


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number that single words of a machine can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= 1e300 if isinstance(value, int) else math.isfinite(value)


def _number(what: str, value: Any) -> None:
    if not is_number(value):
        raise InputError(f"{what} is {str(value)[:40]!r}; expected a finite number.")


def _whole(low: int, high: int) -> Check:
    def check(what: str, value: Any) -> None:
        _number(what, value)
        if value != int(value) or not low <= value <= high:
            raise InputError(f"{what} is {value!r:.40}; expected {low} to {high}.")

    return check


def _word(what: str, value: Any) -> None:
    if not isinstance(value, str) or len(value) > MOST_WORD:
        raise InputError(f"{what} is {str(value)[:40]!r}; expected a name.")


def _choice(*words: str) -> Check:
    def check(what: str, value: Any) -> None:
        if not isinstance(value, str) or value not in words:
            raise InputError(f"{what} is {str(value)[:40]!r}; expected {' or '.join(words)}.")

    return check


def _switch(what: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise InputError(f"{what} is {str(value)[:40]!r}; expected true or false.")


def _row(count: int, check: Check) -> Check:
    def row(what: str, value: Any) -> None:
        if not isinstance(value, list) or len(value) != count:
            raise InputError(f"{what} is {str(value)[:40]!r}; expected a list of {count}.")
        for item in value:
            check(what, item)

    return row


def _numbers(what: str, value: Any) -> None:
    if not isinstance(value, dict) or len(value) > 1000:
        raise InputError(f"{what} is {str(value)[:40]!r}; expected numbers by name.")
    for name, number in value.items():
        _number(f"{what}, {name[:40]!r},", number)


def _path(what: str, value: Any) -> None:
    if not isinstance(value, list) or not 1 <= len(value) <= 8:
        raise InputError(f"{what} is {str(value)[:40]!r}; expected one to eight steps.")
    if not isinstance(value[0], str):
        raise InputError(f"{what} begins with {str(value[0])[:40]!r}; expected a name.")
    for step in value:
        if isinstance(step, str):
            _word(what, step)
        else:
            _whole(0, 2**31)(what, step)


def require_plain(what: str, value: Any, depth: int = MOST_DEPTH) -> None:
    """Raise `InputError` for JSON that is nested too deeply or holds numbers that are not
    finite."""
    if depth < 0:
        raise InputError(f"{what} is nested more than {MOST_DEPTH} deep.")
    if isinstance(value, int | float) and not isinstance(value, bool):
        _number(what, value)
    elif isinstance(value, list):
        for item in value:
            require_plain(what, item, depth - 1)
    elif isinstance(value, dict):
        for item in value.values():
            require_plain(what, item, depth - 1)


_VIEW = _whole(0, 63)
_POINT = _row(3, _number)
_PAINT = _choice("stiffness", "exaggeration")

MESSAGES: dict[str, Message] = {
    "seen": Message({"number": _whole(0, _MOST_WHOLE)}),
    "change": Message({"path": _path}, {"value": require_plain, "final": _switch}),
    "undo": Message(),
    "redo": Message(),
    "seek": Message({"place": _number}),
    "cancel": Message({"name": _word}),
    "load session": Message(arrays={"content": "uint8"}),
    "restore": Message({"document": require_plain}),
    "keep": Message({"name": _word}, arrays={"content": "uint8"}),
    "bundle": Message(),
    "take pose": Message(),
    "measure": Message({"targets": _numbers}),
    "somebody": Message({"seed": _whole(0, 2**31)}),
    "preset": Message({"name": _word}),
    "somebody's look": Message({"seed": _whole(0, 2**31)}),
    "plain look": Message(),
    "mirror": Message(),
    "grab": Message({"view": _VIEW, "vertices": _row(3, _whole(0, 2**31)), "point": _POINT}),
    "drag": Message({"view": _VIEW, "target": _POINT}),
    "release": Message({"view": _VIEW}),
    "paint": Message(
        optional={"what": _PAINT}, arrays={"vertices": "uint32", "factors": "float32"}
    ),
    "unpaint": Message(optional={"what": _PAINT}),
    "upload": Message({"name": _word}, {"as": _choice("scan")}, {"content": "uint8"}),
    "forget": Message({"name": _word}),
    "make": Message({"view": _VIEW, "format": _word}),
    "make body": Message(),
    "rig find": Message(),
    "rig write": Message({"format": _word}),
    "rig try": Message({"deformer": _word}),
    "rig scan": Message(),
    "rig again": Message(),
    "rig close": Message(),
}
"""Every message of a page, by kind."""
