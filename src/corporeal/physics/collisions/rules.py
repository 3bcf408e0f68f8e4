"""Numbers of skin on skin that every engine keeps to. Imports nothing: a GPU machine has little."""

RESTING = 0.25
"""A pair is kept within this share of the mean edge (the seed's δ_col)."""
CLEARANCE = 0.1
"""Pairs come apart by this share of the distance they are kept within: 0.5 mm on the default body.
Walls of a crease that met at no distance would cross each other by what is not converged."""
WEIGHT = 1e6
"""N/m, against 200 to 7 000 N/m of a skin vertex: a thousandth of an overlap is left."""
FRICTION = 0.5
"""Coulomb's coefficient of skin on skin."""
FOLD = 0.5
"""A pair deeper than this share of its distance at rest is a fold of one patch of skin: strain
undoes it."""
