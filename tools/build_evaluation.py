"""Write docs/evaluation/deformers.md: every deformer side by side, from the stored results alone.

    python tools/build_evaluation.py              write the page
    python tools/build_evaluation.py --check      end with 1 where the page differs

Nothing is run: a figure that no file of `benchmarks/results` holds is a dash on the page, and is
listed as missing. Figures are tied to their files (tools/check_figures.py) unless they are means.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evaluation_tables import NONE, ROOT, read, table, tied
from evaluation_takes import (
    TAKES,
    about_takes,
    beside_physics,
    closed_way,
    paired_words,
    same_takes,
    same_takes_by_region,
    truth_inside,
)

PAGE = ROOT / "docs/evaluation/deformers.md"
CASES = ("1", "2", "3", "4")
SOURCES = (
    ("deformers.json", "every deformer on the same captured takes of new people"),
    ("smpl_captures.json", "held poses of six people left out: 120 registrations"),
    (
        "dynamics_cases.json",
        "moving flesh: 79 takes of eight people, two people and two motions left out",
    ),
    (
        "enveloping.json",
        "five new people, two scans each, after training on the budget of Allen 2006",
    ),
    ("enveloping_held.json", "five new people in held poses, their bodies and poses known"),
    ("artefacts.json", "14 bends and twists of the average adult"),
    ("random_takes.json", "drawn bodies in drawn motions, 60 frames each"),
    ("collisions.json", "skin inside skin: five poses, ten clips"),
    ("skinning.json", "one pose of the default body, 13 380 vertices"),
    ("smpl_speed.json", "one pose of one person"),
    ("physics.json", "a frame at 60 a second, two threads"),
    ("layered.json", "a frame at 60 a second, two threads"),
    ("gpu.json", "the same frames on an H200"),
    ("neural_figures_7.json", "a network a person, a sequence left out"),
)
"""Files that the page quotes, and what they are of."""


@dataclass(frozen=True)
class Row:
    """A deformer's ties, one a column; empty where nothing is stored."""

    name: str
    held: str = ""
    """Held poses, mm."""
    moving: tuple[str, str] = ("", "")
    """Moving flesh of new people in new motions, mm: all of the skin, the soft regions."""
    bends: str = ""
    """Key of `artefacts.json`."""
    depth: str = ""
    """Deepest skin inside skin, 95 % of takes, mm."""
    milliseconds: str = ""
    asset: str = ""
    """Name of the manifest of what ships, whose bytes are the file's."""


CASE = "dynamics_cases.json/models/{}/4/{}/model_mm"
ROWS = (
    Row("lbs", "smpl_captures.json/models/LBS/pose_mm/0", bends="lbs",
        moving=(CASE.format("static", "all"), CASE.format("static", "soft")),
        milliseconds="skinning.json/posing/0/median_ms"),
    Row("dqs", "smpl_captures.json/models/DQS/pose_mm/0", bends="dqs",
        milliseconds="skinning.json/posing/2/median_ms"),
    Row("smpl", "smpl_captures.json/models/SMPL-LBS/pose_mm/0", asset="smpl",
        milliseconds="smpl_speed.json/posing/0/median_ms"),
    Row("smpl-sparse", "smpl_captures.json/models/SMPL-LBS-sparse/pose_mm/0", asset="smpl_sparse"),
    Row("enveloping", asset="enveloping"),
    Row("blendscape", asset="blendscape"),
    Row("dmpl", asset="dmpl",
        moving=(CASE.format("AR(2)", "all"), CASE.format("AR(2)", "soft"))),
    Row("dyna", asset="dyna"),
    Row("neural", asset="neural",
        moving=(CASE.format("mean of AR(2) and neural", "all"),
                CASE.format("mean of AR(2) and neural", "soft"))),
    Row("projective", bends="projective",
        depth="random_takes.json/totals/projective, authored/depth_mm_50_95_99_100/1",
        milliseconds="physics.json/frame_ms/with_kinematics_and_coupling/median"),
    Row("layered",
        depth="random_takes.json/totals/layered, authored/depth_mm_50_95_99_100/1",
        milliseconds="layered.json/speed/ms_median"),
)  # fmt: skip


def side_by_side() -> str:
    """All deformers, one a row, each column of other subjects."""
    bends = read("artefacts.json")["poses"]

    def volume(key: str) -> str:
        if not key:
            return NONE
        return f"{statistics.median(abs(pose['volume_change_ml'][key]) for pose in bends):.0f}"

    return table(
        ("deformer", "held poses, mm", "moving flesh, mm", "soft regions, mm", "bends, ml",
         "inside itself, mm", "a pose or frame, ms", "ships as, MB"),
        [
            (
                f"`{row.name}`",
                tied(row.held, 2),
                tied(row.moving[0], 2),
                tied(row.moving[1], 2),
                volume(row.bends),
                tied(row.depth),
                tied(row.milliseconds, 2),
                tied(row.asset and f"assets/{row.asset}.json/bytes", 2, 1e-6),
            )
            for row in ROWS
        ],
    )  # fmt: skip


def moving_flesh() -> str:
    """What learned dynamics leave of the truth, by what is new to them."""
    names = list(read("dynamics_cases.json")["models"])
    way = "dynamics_cases.json/models/{}/{}/{}/model_mm"
    head = [
        f"{case}, {part}"
        for case in ("take", "motion", "person", "both")
        for part in ("all", "soft")
    ]
    return table(
        ("predictor", *head),
        [
            (
                name,
                *(
                    tied(way.format(name, case, part), 2)
                    for case in CASES
                    for part in ("all", "soft")
                ),
            )
            for name in names
        ],
    )


def regions() -> str:
    """Enveloping by joint, against what it replaces."""
    found = read("enveloping_held.json")["new_people_mm"]
    joints = list(next(iter(found.values())))
    way = "enveloping_held.json/new_people_mm/{}/{}"
    return table(
        ("mm on new people", *joints),
        [
            (name, *(tied(way.format(name, joint)) for joint in joints))
            for name in found
            if not name.startswith("solved") and not name.endswith(", average")
        ],
    )


def contacts() -> str:
    """What collisions leave, as a share of what there is without them."""
    way = "collisions.json/left_in_poses/{}/{}"
    return table(
        ("collisions", "summed depth, % of without", "overlap, % of without", "a frame, ms"),
        [
            (mode, tied(way.format("summed_depth_m", mode), 1, 100),
             tied(way.format("overlap_ml", mode), 1, 100),
             tied(f"collisions.json/times/frame_ms/{mode}/wall_median_ms"))
            for mode in ("off", "local", "global")
        ],
    )  # fmt: skip


def papers() -> str:
    """Published figures that are numbers in the papers' text, and ours of the same kind."""
    network = "neural_figures_7.json/jobs/7 p00683 {}/{}/{}"

    def closed(motion: str, part: int) -> str:
        static, ours = (
            tied(network.format(motion, kind, part), 2) for kind in ("static_mm", "model_mm")
        )
        return f"{static} → {ours}"

    return table(
        ("what", "published", "here", "mind"),
        [
            ("Allen 2006, 5: training, RMS", "4.9 mm",
             f"{tied('enveloping.json/budget/training_rms_mm')} mm",
             "no scanner noise here, landmarks are exact"),
            ("Allen 2006, 5: five new people, RMS", "8.1 mm",
             f"{tied('enveloping.json/budget/new_people_rms_mm')} mm", "the same"),
            ("Casas 2018, figure 7a: all vertices, static → network, one-leg jump", "5.1 → 4.0 mm",
             f"{closed('light-hopping-loose', 0)} mm",
             "light hopping here: one-leg jumps were not run; one person of BMI 37"),
            ("Casas 2018, figure 7c: belly and breasts, jumping jacks", "12.2 → 7.1 mm",
             f"{closed('jumping-jacks', 1)} mm", "all soft regions here; **missed by far**"),
            ("Komaritzan 2022, table 3.2, human low: ten iterations on a CPU", "6.5 ms",
             f"{tied('physics.json/frame_without_volume_ms/solver_10_iterations/median')} ms",
             "21 000 tetrahedra there, 27 064 here; other processors"),
            ("the same, upsampling", "0.22 ms",
             f"{tied('physics.json/frame_ms/upsampling/median', 2)} ms",
             "15 000 vertices there, 13 380 here; slower"),
            ("the same, ten iterations on a GPU", "1.6 ms",
             f"{tied('gpu.json/frame/frame_ms/local inverse, accelerated', 3)} ms a frame",
             "another card (H200), exact solves, kinematics and upsampling included"),
        ],
    )  # fmt: skip


def sources() -> str:
    """Where figures come from: file, commit, date."""
    rows = []
    for name, of in SOURCES:
        found = read(name)
        commits = {str(part["commit"])[:7] for part in _parts(found) if part.get("commit")}
        dates = {
            str(part[key])[:10]
            for part in _parts(found)
            for key in ("date", "made")
            if part.get(key)
        }
        link = f"[{name}](../../benchmarks/results/{name})"
        rows.append(
            (link, of, ", ".join(sorted(commits)) or NONE, ", ".join(sorted(dates)) or NONE)
        )
    return table(("file", "of", "commit", "date"), rows)


def _parts(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield found
    yield from (part for part in found.values() if isinstance(part, dict))


def page() -> str:
    """The page as it should be."""
    tie = {
        "volume": _with_contacts(),
        "lbs": tied("smpl_captures.json/models/LBS-retrained/pose_mm/0", 2),
        "dqs": tied("smpl_captures.json/models/DQS-retrained/pose_mm/0", 2),
        "belly": tied(TAKES.format("smpl", "mm/belly"), 1),
        "belly_lbs": tied(TAKES.format("lbs", "mm/belly"), 1),
        "arms": tied(TAKES.format("enveloping", "mm/arms"), 1),
        "arms_lbs": tied(TAKES.format("lbs", "mm/arms"), 1),
        "own": tied(TAKES.format("enveloping", "mm/all"), 2),
        "all_lbs": tied(TAKES.format("lbs", "mm/all"), 2),
    }
    return f"""# Every deformer, side by side

Written by `python tools/build_evaluation.py` from what is stored in `benchmarks/results`, without
running anything; a test holds page and files together. A dash is a figure that is not stored.

## On the same takes
`python benchmarks/deformers.py dyna_test.zarr --home build/deformers` (for a set of one's own,
`corporeal evaluate deformers`): {about_takes()}.
Nothing that ships has learned from these people; takes of the same motions by others were learned
from. All were recorded from flesh of commit 7e537f9, before pressures could change twice as fast.
What holds where motions are new as well is told by [leaving people and motions out](dynamics.md).

{same_takes()}
- **Skin**: mean distance of all vertices to the take, body at rest and poses given. All of it is
  error of one kind: what poses do to flesh, and what movement does.
- **Swing left**: what a take does beyond its quasi-static twin, less what the deformer does beyond
  itself without dynamics; root mean square over vertices, mean over frames and takes. What does not
  swing leaves all of it. The best coefficients of the DMPL's 60 shapes would leave
  {tied(TAKES.format("dmpl", "oracle_mm/all"), 2)} mm: **the DMPL goes {closed_way("dmpl", "all")} %
  of the way from static to that ({closed_way("dmpl", "soft")} % in soft regions), the network
  {closed_way("neural", "all")} % ({closed_way("neural", "soft")} %).**
- **Volume off**: mean size of the change of the skin's volume against the take's. **Deepest** and
  **vertices inside**: skin in skin, in one frame of 60, and how many vertices are deeper than 1 mm;
  the takes themselves have {truth_inside()}.
- **A frame**: processor time of one thread on a machine at work, the median over takes, the whole
  clip at once. **Memory**: the model, one person of it
  and the working of a clip of 2 s.

{same_takes_by_region()}
{paired_words()}
{beside_physics()}## Each on its own subjects
**The columns are of different subjects**: compare down a column, not along a row.

{side_by_side()}
- **Held poses**: mean distance to registrations of six people left out, pose and shape fitted by
  the model itself with 100 shape coefficients (pose generalisation of Loper 2015). `lbs` and `dqs`
  have this model's shape space and the template's weights; retrained weights and joints bring
  {tie["lbs"]} and {tie["dqs"]} mm.
  `smpl` of this column is the trained one, not the smaller one that ships
  ([why](../methods/learned-models.md)).
- **Moving flesh**: what is left of the truth's swing, people and motions both new (case 4 of
  Pons-Moll 2015); `lbs` stands for all that do not swing. `dmpl` and `neural` are retrained without
  the people and motions left out. `neural` is the mean of a network and the DMPL, as what ships is,
  but of an earlier network. Physics is the truth here.
- **Bends**: median over 14 bends and twists of the change of volume of the body's union.
  `projective` is without contacts; with `--collisions global` it is {tie["volume"]} ml. Skin that
  enters skin counts as lost.
- **Inside itself**: in 95 % of random authored takes of a second, with contacts, skin lies nowhere
  deeper inside skin; every tenth frame was looked at ([more](takes.md)).
- **A pose or frame**: one body on two processor cores; medians. `smpl` with its 66 blend shapes.

## Moving flesh, by what is new
Root mean square over vertices, mean over frames and takes, mm; the soft regions are belly, breasts,
buttocks and thighs. The takes of a column are the same for all rows ([more](dynamics.md)).

{moving_flesh()}
## Corrections that know the person
Root mean square in held poses, mm; bodies and poses known ([enveloping](enveloping.md)):

{regions()}
## Skin inside skin
Two-layer flesh in five poses of one body ([collisions](../methods/collisions.md)):

{contacts()}
## The papers' figures
Only what stands as a number in a paper's text or tables; Loper 2015 and Pons-Moll 2015 show curves.
People here are simulated and theirs were scanned: the kind is the same, the subjects are not.

{papers()}
## What is better, and what is not
Better: the DMPL (and Dyna, which is the same dynamics) swings nearer to the take than no dynamics
in every take of new people; the network that ships is ahead of the DMPL in most of them, and by
more than 5 % where [people and motions are left out](dynamics.md); **enveloping, which does not
swing, is nearest to moving people all the same** ({tie["own"]} mm, plain blending
{tie["all_lbs"]}; arms {tie["arms"]} and
{tie["arms_lbs"]}); volume in bends with contacts; blending speed;
learned pose correctives against blending, by half of the error in held poses.

Not better, on new people: **the network that ships is ahead of the DMPL by less than the 5 % that
were aimed at**, and behind it in some people; **the SMPL that ships, on which DMPL and network
swing, makes bellies worse than plain blending does** ({tie["belly"]} against {tie["belly_lbs"]}
mm), probably since its correctives were learned from captures of earlier flesh and bodies.
Further: networks alone are behind the DMPL where motion and person are new; upsampling is slower;
contacts leave frames with skin a centimetre deep.

## What is missing
Slim people and the others of the fourteen motions in the run on the same takes; physics on more of
them than one motion; volume of `layered` in the same bends; dynamics on top of enveloping, which is
the nearest base; anything recorded from real people.

## Where the figures come from
{sources()}"""


def _with_contacts() -> str:
    key = "projective, collisions global"
    poses = read("artefacts.json")["poses"]
    return f"{statistics.median(abs(pose['volume_change_ml'][key]) for pose in poses):.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where it differs")
    given = parser.parse_args()
    if given.check:
        return 0 if PAGE.exists() and PAGE.read_text() == page() else 1
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
