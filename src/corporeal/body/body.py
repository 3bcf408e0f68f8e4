"""A person at rest: a rigged surface, this person's shape, and what it measures."""

from collections.abc import Mapping
from dataclasses import dataclass

from corporeal.body.identity import Identity
from corporeal.body.template import Template


@dataclass(frozen=True)
class Body:
    """A person in the zero pose; what a body file holds and what deformers move."""

    template: Template
    """Surface, skeleton, skin weights and parts that all bodies of one kind share."""
    identity: Identity
    """This person's rest vertices and joints, metres, and the parameters that made them."""
    measurements: Mapping[str, float]
    """By name, SI units: metres, kilograms, m², m³, kg/m²; empty where nobody has measured it."""
