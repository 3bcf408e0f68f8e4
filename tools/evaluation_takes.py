"""Tables of `benchmarks/results/deformers.json`: every deformer on the same captured takes."""

import statistics
from collections.abc import Sequence
from typing import Any

from evaluation_tables import NONE, read, table, tied

TAKES = "deformers.json/deformers/{}/{}"
"""A figure of one deformer on the takes that are the same for all."""
REGIONS = ("belly", "breasts", "buttocks", "thighs", "trunk", "arms", "shins", "ends")


def same_takes() -> str:
    """All deformers that moved all takes, one a row."""
    columns = (
        ("skin, mm", "mm/all", 2), ("soft regions, mm", "mm/soft", 2),
        ("swing left, mm", "swing_mm/all", 2), ("of it in soft regions, mm", "swing_mm/soft", 2),
        ("volume off, %", "volume_off_percent", 2), ("deepest in itself, mm", "deepest_mm", 1),
        ("vertices inside", "vertices_inside", 0), ("a frame, CPU ms", "frame_cpu_ms", 2),
        ("memory, MB", "memory_mb", 0), ("ships as, MB", "file_mb", 2),
    )  # fmt: skip
    return _rows("deformer", _whole(), columns)


def same_takes_by_region() -> str:
    """The same, by region."""
    return _rows("mm from the take", _whole(), [(part, f"mm/{part}", 2) for part in REGIONS])


def beside_physics() -> str:
    """All deformers on the takes of some motions, where physics moved those alone."""
    names = list(read("deformers.json")["deformers"])
    if names == _whole():
        return ""
    columns = (
        ("skin, mm", "beside_physics/mm/all", 2), ("soft regions, mm", "beside_physics/mm/soft", 2),
        ("a frame, CPU ms", "beside_physics/frame_cpu_ms", 2),
    )  # fmt: skip
    return f"""**Beside physics**, the takes of `{physics_motions()}` alone, for its cost. `layered`
made the takes, with contacts, finer settling and the own drawn tissue, which it is not told
here: its row is what physics at run time loses, not an equal among models.

{_rows("deformer", names, columns)}
"""


def _whole() -> list[str]:
    return [name for name, row in read("deformers.json")["deformers"].items() if "mm" in row]


def _rows(head: str, names: Sequence[str], columns: Sequence[tuple[str, str, int]]) -> str:
    """A table of figures, a dash where one is not stored."""
    found = read("deformers.json")["deformers"]

    def cell(name: str, way: str, decimals: int) -> str:
        value: Any = found[name]
        for part in way.split("/"):
            value = None if value is None else value.get(part)
        return NONE if value is None else tied(TAKES.format(name, way), decimals)

    return table(
        (head, *(title for title, _, _ in columns)),
        [(f"`{name}`", *(cell(name, way, digits) for _, way, digits in columns))
         for name in names],
    )  # fmt: skip


def about_takes() -> str:
    """Who moves in the takes that are the same for all."""
    held = read("deformers.json")
    people = {row["person"]: row for row in held["truth"].values()}
    who = [
        f"a {'woman' if row['sex'] == 'female' else 'man'} of "
        f"{row['mass'] / row['stature'] ** 2:.1f} kg/m²"
        for row in people.values()
    ]
    return (
        f"{held['takes']} takes of 2 s, {held['frames']} frames of {len(people)} people "
        f"({', '.join(who)}) in {len(held['motions'])} motions ({', '.join(held['motions'])})"
    )


def physics_motions() -> str:
    """What physics moves too."""
    return ", ".join(read("deformers.json")["physics_motions"])


def closed_way(name: str, part: str) -> str:
    """Percent of the way from no dynamics to the best coefficients of the DMPL's shapes."""
    found = read("deformers.json")["deformers"]
    still, best = (
        found[which][key][part] for which, key in (("lbs", "swing_mm"), ("dmpl", "oracle_mm"))
    )
    return f"{100 * (still - found[name]['swing_mm'][part]) / (still - best):.0f}"


def truth_inside() -> str:
    """How deep the takes' own skin lies in skin."""
    rows = read("deformers.json")["truth"].values()
    deepest = max(row["deepest_mm"] for row in rows)
    count = statistics.mean(row["vertices_inside"] for row in rows)
    return f"up to {deepest:.1f} mm and {count:.0f} vertices in the mean"


def paired_words() -> str:
    """In how many takes one deformer's swing is nearer than another's."""
    found = read("deformers.json")["deformers"]

    def better(one: str, two: str) -> str:
        rows = [
            (row["swing_mm"], found[two]["by_take"][take]["swing_mm"])
            for take, row in found[one]["by_take"].items()
        ]
        ratio = statistics.mean(a / b for a, b in rows)
        return (
            f"`{one}` leaves less than `{two}` in {sum(a < b for a, b in rows)} of {len(rows)} "
            f"takes, {ratio:.2f} times as much in the mean of their ratios"
        )

    return (
        "Paired by take, swings: " + "; ".join(
            (better("dmpl", "lbs"), better("neural", "dmpl"), better("dyna", "dmpl"))) + ".\n"
    )  # fmt: skip
