"""Scripts that drive a character's key-angle corrections live: three.js, Blender and Unity."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from corporeal._typing import Float64, NumpyArray
from corporeal.formats.runtime_scripts.tables import filled_template, identifier


def enveloping_scripts(
    stem: str,
    drivers: Sequence[Mapping[str, Any]],
    helpers: Sequence[Mapping[str, Any]],
    morphs: tuple[str, ...],
    low: Float64[NumpyArray, "k"],
    span: Float64[NumpyArray, "k"],
    softness: float,
    rest_names: tuple[str, ...],
    rest_joints: Float64[NumpyArray, "J 3"],
) -> dict[str, str]:
    """File name → text. Drivers have `joint`, `kind`, `axis`, `keys` (wxyz) and `matrix` (a row a
    key but the first); helpers have `name`, `joint`, `axis` and `share`; `morphs` are one a row of
    all matrices, then the base. `rest_joints` (metres) tell Blender an importer's axes."""
    word = identifier(stem)
    rounded = _rounded({"drivers": list(drivers), "helpers": list(helpers)})
    values = {
        "SOFTNESS": repr(float(softness)),
        "DRIVERS": json.dumps(rounded["drivers"]),
        "HELPERS": json.dumps(rounded["helpers"]),
        "MORPHS": json.dumps(list(morphs)),
        "LOW": json.dumps(_rounded(low.tolist())),
        "SPAN": json.dumps(_rounded(span.tolist())),
    }
    python = {name: repr(json.loads(text)) for name, text in values.items()}
    python |= {"WORD": word, "REST_NAMES": repr(rest_names)}
    python["REST_JOINTS"] = repr(_rounded(rest_joints.tolist()))
    name = f"{word[0].upper()}{word[1:]}Enveloping"
    return {
        f"{word}_enveloping.mjs": filled_template("enveloping.mjs.template", values),
        f"{word}_enveloping.py": filled_template("enveloping.py.template", python),
        f"{name}.cs": filled_template(
            "enveloping.cs.template", {"CLASS": name, **_unity(rounded, values)}
        ),
    }


def _unity(tables: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, str]:
    """The same tables, flat."""
    drivers, helpers = tables["drivers"], tables["helpers"]
    kinds = ("rotation", "swing", "twist")

    def flat(rows: Any) -> list[float]:
        return [n for row in rows for n in (flat(row) if isinstance(row, list) else [row])]

    return {
        "SOFTNESS": values["SOFTNESS"],
        "DRIVER_JOINTS": json.dumps([d["joint"] for d in drivers])[1:-1],
        "DRIVER_KINDS": json.dumps([kinds.index(d["kind"]) for d in drivers])[1:-1],
        "DRIVER_KEYS": json.dumps([len(d["keys"]) for d in drivers])[1:-1],
        "DRIVER_AXES": json.dumps(flat([d["axis"] for d in drivers]))[1:-1],
        "KEYS": json.dumps(flat([d["keys"] for d in drivers]))[1:-1],
        "ROWS": json.dumps(flat([d["matrix"] for d in drivers]))[1:-1],
        "HELPER_NAMES": json.dumps([h["name"] for h in helpers])[1:-1],
        "HELPER_JOINTS": json.dumps([h["joint"] for h in helpers])[1:-1],
        "HELPER_SHARES": json.dumps([h["share"] for h in helpers])[1:-1],
        "HELPER_AXES": json.dumps(flat([h["axis"] for h in helpers]))[1:-1],
        **{name: values[name][1:-1] for name in ("MORPHS", "LOW", "SPAN")},
    }


def _rounded(value: Any) -> Any:
    """Numbers with ten digits, wherever they stand."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
