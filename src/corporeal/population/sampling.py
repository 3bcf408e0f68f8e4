"""Drawing persons; person i depends on the seed and on i alone, whatever else is drawn."""

from typing import Final, Literal, TypeAlias

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.errors import InputError
from corporeal.population.distribution import ANCHORS, OTHERS, PeopleModel, load_people
from corporeal.runtime.pytree_dataclass import pytree_dataclass

AGES: Final = (18.0, 80.0)
"""Years."""
BMIS: Final = (16.0, 48.0)
"""kg/m²."""
WAISTS: Final = (0.37, 0.95)
"""Waist over stature."""
STOUTNESS: Final = (36.0, 78.0)
"""Mass over waist² · stature, kg/m³: the people whose composition is known, less a margin."""
MOST_SCORE: Final = 3.5
"""Normal scores beyond this are drawn again: one in 2000."""
_ATTEMPTS: Final = 1000

Crowd: TypeAlias = Literal["adults", "soldiers", "even"]
"""`adults` have the ages, statures, BMIs and waists of NHANES; `soldiers` are those of ANSUR II;
`even` spreads ages and BMIs evenly over their whole ranges. All have ANSUR II's proportions."""


@pytree_dataclass(static=("names", "sexes", "splits"))
class Persons:
    """People before they have bodies."""

    names: tuple[str, ...]
    """Unique."""
    sexes: tuple[str, ...]
    """ "female" or "male", one a person."""
    ages: Float[NumpyArray, "n"]
    """Years."""
    dimensions: Float[NumpyArray, "n M"]
    """In the order of `anthropometry.definitions.NAMES`, metres and kilograms."""
    splits: tuple[str, ...] = ()
    """ "train" or "test", one a person; empty where who is kept for tests is drawn by name."""

    def check(self) -> None:
        """Raise `InputError` unless there is one name, sex, age and row of dimensions a person."""
        if self.splits and len(self.splits) != len(self.names):
            raise InputError(
                f"{len(self.splits)} splits came for {len(self.names)} people; expected one of "
                f"each a person, or none."
            )
        if not len(self.names) == len(self.sexes) == len(self.ages) == len(self.dimensions):
            raise InputError(
                f"{len(self.names)} names, {len(self.sexes)} sexes, {len(self.ages)} ages and "
                f"{len(self.dimensions)} rows of dimensions came; expected one of each a person."
            )

    @property
    def count(self) -> int:
        """Number n of people."""
        return len(self.sexes)

    def only(self, rows: NumpyArray | slice) -> "Persons":
        """Some of them, by indices, a mask or a slice."""
        return Persons(
            tuple(np.array(self.names)[rows].tolist()),
            tuple(np.array(self.sexes)[rows].tolist()),
            self.ages[rows],
            self.dimensions[rows],
            tuple(np.array(self.splits)[rows].tolist()) if self.splits else (),
        )


def sample_people(
    first: int, count: int, seed: int, crowd: Crowd = "adults", women: float = 0.5
) -> Persons:
    """Persons `first` … `first + count − 1` of the endless crowd that `seed` stands for.

    `women` is the share of women.
    """
    if count < 1 or first < 0 or seed < 0:
        raise InputError(
            f"asked for {count} people from number {first} of seed {seed}; expected at least one "
            f"person, and a number and a seed of 0 or more."
        )
    if not 0 <= women <= 1:
        raise InputError(f"the share of women is {women}; expected 0 to 1.")
    models = load_people()
    sexes, ages, dimensions = [], [], []
    for index in range(first, first + count):
        random = np.random.default_rng([seed, index])
        sex = "female" if random.random() < women else "male"
        anchors, scores = _draw(models[sex], crowd, random)
        sexes.append(sex)
        ages.append(float(anchors[0, 0]))
        dimensions.append(models[sex].dimensions(anchors, scores)[0])
    names = tuple(f"p{index:05d}" for index in range(first, first + count))
    return Persons(names, tuple(sexes), np.array(ages), np.array(dimensions))


def _draw(
    model: PeopleModel, crowd: Crowd, random: np.random.Generator
) -> tuple[Float[NumpyArray, "1 4"], Float[NumpyArray, "1 O"]]:
    """Anchors within the ranges, and the scores of all else.

    An anchor that is out of range is drawn again alone, so that what came before it in the chain
    keeps its distribution.
    """
    others, scores = _scores(random, len(OTHERS)), _scores(random, len(ANCHORS))
    chain = model.chains["adults" if crowd == "even" else crowd]
    fixed = {}
    if crowd == "even":
        fixed = {0: random.uniform(*AGES), 2: np.log(random.uniform(*BMIS))}
    for _ in range(_ATTEMPTS):
        anchors = chain.anchors(scores, fixed)
        beyond = _first_out_of_range(anchors[0])
        if beyond is None:
            return anchors, others
        if beyond == 0:
            fixed[0] = float(np.clip(anchors[0, 0], *AGES))
        else:
            scores[:, beyond] = _scores(random, 1)[0]
    raise InputError(f"the crowd {crowd!r} has nobody of {AGES} years and BMI {BMIS}; refit it.")


def _first_out_of_range(anchors: Float[NumpyArray, "4"]) -> int | None:
    """Place in the chain of the first anchor that is out of its range; None if none is."""
    age, stature, bmi, waist = (anchors[0], *np.exp(anchors[1:]))
    measures = (
        (0, age, AGES),
        (2, bmi, BMIS),
        (3, waist / stature, WAISTS),
        (3, bmi * stature**2 / (waist**2 * stature), STOUTNESS),
    )
    out = (place for place, value, (low, high) in measures if not low <= value <= high)
    return next(out, None)


def _scores(random: np.random.Generator, count: int) -> Float[NumpyArray, "1 c"]:
    """Standard normal numbers within ±`MOST_SCORE`."""
    found = random.standard_normal((1, count))
    while (beyond := np.abs(found) > MOST_SCORE).any():
        found[beyond] = random.standard_normal(int(beyond.sum()))
    return found
