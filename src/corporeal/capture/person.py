"""Who is recorded."""

from typing import Literal

from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.measurements import Measurements
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

Sex = Literal["female", "male"]


@pytree_dataclass(static=("name", "sex", "age", "composition"))
class Person:
    """A body of the default topology, and what is known of it."""

    name: str
    """Unique within a set."""
    sex: Sex
    """`female` or `male`."""
    age: float
    """Years."""
    identity: Identity
    """The body in the zero pose."""
    composition: Composition
    """Fat and muscle mass, kg."""
    measurements: Measurements
    """Of the body, SI units."""

    def check(self) -> None:
        """Raise `InputError` unless fat and muscle together weigh less than the person."""
        soft = self.composition.fat_mass + self.composition.muscle_mass
        if soft >= self.measurements.mass:
            raise InputError(
                f"person {self.name} has {soft:.1f} kg of fat and muscle and weighs "
                f"{self.measurements.mass:.1f} kg; expected less than that."
            )

    @property
    def fat_share(self) -> float:
        """Fat mass over body mass."""
        return self.composition.fat_mass / self.measurements.mass
