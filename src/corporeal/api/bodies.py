"""Bodies: made from a tape measure or sliders, measured, reshaped, drawn from a population."""

from collections.abc import Mapping
from pathlib import Path

from corporeal.anthropometry.definitions import NAMES, SHORT_NAMES
from corporeal.anthropometry.measure import measure as measure_identity
from corporeal.anthropometry.solve import GENDERS
from corporeal.api.numbers import Number
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.layered_body import LayeredBody
from corporeal.body.measurements import Measurements
from corporeal.errors import InputError
from corporeal.pipelines.anatomy import masses
from corporeal.pipelines.make_body import shaped_body
from corporeal.pipelines.people import PeopleConfig, make_people, people_in_memory
from corporeal.pipelines.reshape import gender_of, reshaped_body
from corporeal.population.people_store import People, read_people
from corporeal.population.sampling import Crowd

Gender = Number | str
"""0 female … 1 male, or "female" or "male"."""


def make_body(
    *,
    gender: Gender | None = None,
    age: Number | None = None,
    stature: Number | None = None,
    mass: Number | None = None,
    neck: Number | None = None,
    chest: Number | None = None,
    waist: Number | None = None,
    hips: Number | None = None,
    thigh: Number | None = None,
    calf: Number | None = None,
    ankle: Number | None = None,
    biceps: Number | None = None,
    forearm: Number | None = None,
    wrist: Number | None = None,
    head: Number | None = None,
    shoulders: Number | None = None,
    inseam: Number | None = None,
    measurements: Mapping[str, Number] | None = None,
    muscle: Number | None = None,
    weight: Number | None = None,
    height: Number | None = None,
    proportions: Number | None = None,
    cup: Number | None = None,
    firmness: Number | None = None,
) -> Body:
    """Make a person from measurements or from sliders; the average adult if nothing is given.

    Measurements are met, and all else follows what people of that build have: `stature` in metres,
    `mass` in kilograms; `neck`, `chest`, `waist`, `hips`, `thigh`, `calf`, `ankle`, `biceps`,
    `forearm`, `wrist` and `head` are circumferences, `shoulders` the breadth between the acromia,
    `inseam` the height of the crotch, all in metres. `measurements` takes any further one by its
    full name, such as `{"foot_length": 0.25}`.

    Sliders set the phenotype: `muscle`, `weight`, `height`, `proportions`, `cup`, `firmness` from 0
    to 1, 0.5 being average. They do not go together with measurements; `gender` ("female", "male"
    or 0 to 1) and `age` (18 to 80 years) go with both.

    Raises `UnreachableError` for what no person measures.
    """
    tape = {
        "stature": stature,
        "mass": mass,
        "neck": neck,
        "chest": chest,
        "waist": waist,
        "hips": hips,
        "thigh": thigh,
        "calf": calf,
        "ankle": ankle,
        "biceps": biceps,
        "forearm": forearm,
        "wrist": wrist,
        "head": head,
        "shoulders": shoulders,
        "inseam": inseam,
    }
    sliders = {
        "gender": None if gender is None else as_gender(gender),
        "age": age,
        "muscle": muscle,
        "weight": weight,
        "height": height,
        "proportions": proportions,
        "cup": cup,
        "firmness": firmness,
    }
    measured = _full_names({name: value for name, value in tape.items() if value is not None})
    for name, value in _full_names(measurements or {}).items():
        if name in measured:
            raise InputError(f"{name} came twice, by name and in measurements; expected one.")
        measured[name] = value
    return shaped_body({n: float(v) for n, v in sliders.items() if v is not None}, measured)


def as_gender(gender: Gender) -> float:
    """0 female … 1 male, from a word or a number."""
    if isinstance(gender, str):
        if gender not in GENDERS:
            raise InputError(
                f"gender is {gender!r}; expected female, male or a number from 0 to 1."
            )
        return GENDERS[gender]
    return float(gender)


def _full_names(values: Mapping[str, Number]) -> dict[str, float]:
    """Measurements by their full names; `InputError` for names that there are not."""
    full: dict[str, float] = {}
    for name, value in values.items():
        found = name if name in NAMES else SHORT_NAMES.get(name)
        if found is None:
            raise InputError(f"no measurement is called {name!r}; there are {', '.join(NAMES)}.")
        if found in full:
            raise InputError(f"{found} came twice; expected one value.")
        full[found] = float(value)
    return full


def measure(body: Body | LayeredBody | Identity) -> Measurements:
    """Measure a body standing, as people are measured: by name, metres, kilograms, m², m³, kg/m².

    The body has the default body's surface, where the landmarks are known. The mass is volume times
    the mean density of people; that of a body with layers is what its layers weigh.
    """
    if isinstance(body, Identity):
        return measure_identity(body)
    if isinstance(body, Body):
        return measure_identity(body.identity, body.template)
    found = measure_identity(body.body.identity, body.body.template)
    mass = masses(body)["body"]
    return Measurements({**found.values, "mass": mass, "bmi": mass / found.stature**2})


def reshape(
    body: Body,
    *,
    gain: Number = 0.0,
    taller: Number = 0.0,
    gender: Gender | None = None,
) -> Body:
    """The same person heavier by `gain` kilograms and taller by `taller` metres; both may be < 0.

    It changes as people of different weight and height differ, all else as it is. `gender` is the
    body's own unless given. Raises `UnreachableError` for what people do not have.
    """
    share = gender_of(body) if gender is None else as_gender(gender)
    return reshaped_body(body, float(gain), float(taller), share)


def sample_people(
    count: int = 0,
    *,
    seed: int = 0,
    crowd: Crowd = "adults",
    women: Number = 0.5,
    table: str | Path | None = None,
    out: str | Path | None = None,
    jobs: int | None = 1,
    scheduler: str | None = None,
) -> People:
    """Draw `count` people whose measurements go together as people's do; `people[3]` is a `Body`.

    Person i depends on `seed` and on i alone. `crowd` is "adults" (ages and builds of NHANES),
    "soldiers" (those of ANSUR II) or "even" (BMI 16 to 48 and ages 18 to 80 evenly); `women` is
    their share. `table` gives persons instead: a `.csv` of measurements, or a file of ANSUR II.

    People are kept in memory (160 kB each), or in the store `out` (.zarr), which a stopped run
    takes up again. `jobs` above 1 are processes that work at once (None: one a core); a script that
    asks for them needs the usual `if __name__ == "__main__":`. `scheduler` is the address of a Dask
    cluster to use instead.
    """
    place = None if out is None else Path(out)
    given = None if table is None else Path(table)
    config = PeopleConfig(place, count, seed, crowd, float(women), given)
    if place is None:
        return people_in_memory(config, jobs, scheduler, in_process=jobs == 1)
    report = make_people(config, jobs, scheduler, in_process=jobs == 1)
    if (error := report.error()) is not None:
        raise error
    return read_people(place)
