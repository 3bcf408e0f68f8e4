"""`corporeal people`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from corporeal.anthropometry.definitions import NAMES, dimension
from corporeal.capture.selection import half_of
from corporeal.cli.console import print_json, say, tell_batch
from corporeal.pipelines.people import PeopleConfig, make_people
from corporeal.pipelines.people_sheet import draw_people
from corporeal.population.people_store import People, read_people
from corporeal.population.realise import MATCHED
from corporeal.population.sampling import Crowd


@dataclass(frozen=True, kw_only=True)
class PeopleVerb:
    """Make a population whose measurements go together as people's do, or realise given persons.

    Examples:
      corporeal people --count 200 --seed 1 --out people.zarr
      corporeal people --count 1000 --crowd soldiers --women 1 --out women.zarr --jobs 2
      corporeal people --from ansur2_female.csv --out survey.zarr

    Person i depends on the seed and on i alone: more people never change those before. A stopped
    run goes on where it ended.
    """

    out: Path
    """Store to write (.zarr)."""
    count: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """How many people to draw."""
    seed: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """Which endless row of people to draw from."""
    crowd: Crowd = "adults"
    """adults: ages and builds of NHANES; soldiers: those of ANSUR II; even: BMI 16 to 48 and ages
    18 to 80 evenly. All have the proportions of ANSUR II."""
    women: Annotated[float, tyro.conf.arg(metavar="SHARE")] = 0.5
    """Share of women among those drawn."""
    table: Annotated[Path | None, tyro.conf.arg(name="from", metavar="CSV")] = None
    """Given persons: name, gender, age, stature, mass and any other measurements, and split (train
    or test, train where it is empty); or a file of ANSUR II."""
    picture: Path | None = None
    """Draw the first 24 of them, too (.png)."""
    jobs: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Processes; all cores by default."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="tcp://HOST:PORT")] = None
    """Dask cluster to use instead of this machine."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Make the people, and say how closely their bodies follow them."""
        config = PeopleConfig(self.out, self.count, self.seed, self.crowd, self.women, self.table)
        who = f"the persons of {self.table}" if self.table else f"{self.count} {self.crowd}"
        say(f"making {who} into {self.out}")
        report = make_people(config, self.jobs, self.scheduler)
        if report.failed:
            return tell_batch(report, as_json=self.json)
        people = read_people(self.out)
        if self.json:
            print_json({"out": self.out, "count": people.count, "residuals": residuals(people)})
        else:
            print(_report(people))
            print(f"\n{_who_tests(people)}")
            print(f"\nwrote {self.out}")
        if self.picture is not None:
            draw_people(people, self.picture)
            say(f"drew {self.picture}")
        return 0


def residuals(people: People) -> dict[str, dict[str, float]]:
    """Body minus person of the matched dimensions, metres or kilograms."""
    off = people.measured[:, : len(NAMES)] - people.asked
    columns = {name: off[:, NAMES.index(name)] for name in MATCHED}
    return {
        name: {
            "mean": float(column.mean()),
            "deviation": float(column.std()),
            "largest": float(np.abs(column).max()),
        }
        for name, column in columns.items()
    }


def _report(people: People) -> str:
    women = sum(sex == "female" for sex in people.sex)
    folds, contacts = (int((column > 0).sum()) for column in people.flaws.T)
    rows: list[tuple[str, dict[str, Any]]] = list(residuals(people).items())
    lines = [
        f"{people.count} people, {women} of them women; {people.age.min():.0f} to "
        f"{people.age.max():.0f} years, BMI {people.bmi.min():.1f} to {people.bmi.max():.1f}",
        f"{folds} bodies with sharp folds, {contacts} that meet themselves",
        "",
        f"  {'body minus person':<24}  {'mean':>7}  {'sd':>6}  {'largest':>7}",
    ]
    for name, row in rows:
        unit = dimension(name).unit
        factor, word = (1.0, "kg") if unit == "kg" else (1e3, "mm")
        shown = (factor * row[key] for key in ("mean", "deviation", "largest"))
        mean, deviation, largest = shown
        label = name.replace("_", " ").capitalize()
        lines.append(f"  {label:<24}  {mean:>7.2f}  {deviation:>6.2f}  {largest:>7.2f} {word}")
    return "\n".join(lines)


def _who_tests(people: People) -> str:
    """Who trains and who is kept for tests, and by whose word."""
    halves = [
        said or half_of(people.seed or 0, n)
        for n, said in zip(people.names, people.splits, strict=True)
    ]
    counts = f"{halves.count('train')} are for training, {halves.count('test')} for tests"
    if any(people.splits):
        return f"{counts}, as the column split says (train where it says nothing)"
    return f"{counts}, drawn by name; captures keep to it"
