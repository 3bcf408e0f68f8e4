"""Numbers of skin on skin that every engine keeps to. Imports nothing: a GPU machine has little."""

RESTING = 0.25
"""A pair is kept within this share of the mean edge (δ_col of Komaritzan 2022)."""
CLEARANCE = 0.3
"""Pairs come apart by this share of the distance they are kept within: 1.5 mm on the default body,
so that edges of the two walls of a crease, which no row parts, seldom cross."""
CLOSEST = 0.5
"""And by no more than this share of their distance at rest."""
WEIGHT = 1e6
"""N/m, against 200 to 7 000 N/m of a skin vertex: a thousandth of an overlap is left."""
FRICTION = 0.5
"""Coulomb's coefficient of skin on skin."""
FOLD = 0.5
"""A pair deeper than this share of its distance at rest is a fold of one patch of skin: strain
undoes it."""
STAY = 0.9
"""An old pair moves on to what is nearer by more than this share (of squared distances): right over
an edge, two triangles are as near as each other."""
FACING = 0.8
"""Cosine between normals of a vertex and of its foot above which they are one sheet of skin, which
a bend has brought into the prisms of the next bone, and no new pair."""
SIDEWAYS = 0.5
"""Cosine against the normal above which a vertex away from a triangle is beside it, not behind."""
TORN = 1.5
"""Skin that does not overlap at its blending reference is released from a triangle if it is off its
place there by more than this share of the triangle's distance to its bone."""
DOUBT = 2.0
"""How far flesh may be from its blending reference without contact: so many times what bones
disagree about it."""
FORGET = 0.2
"""Seconds in which a contact whose bones have stopped takes on e times less of what is new."""
A_ROUND = 0.2 * FORGET
"""Seconds as which a static round counts for what touches: after twenty it sleeps."""
ASLEEP = 0.02
"""Rate below which it takes on nothing."""
STALE = 4.0
"""A sleeping contact wakes when its vertex has slipped by more than so many times the distance that
pairs are kept within: about an edge."""
EDGE_CLEARANCE = 0.1
"""Pairs of edges come apart by this share of the distance that pairs are kept within: less than
vertices do, so that between walls that these hold apart no row of edges pushes."""
EDGE_PUSH = 1.0
"""Share of that distance by which crossed edges come apart in a step at most."""
EDGE_FACING = 0.2
"""Cosine between the direction across two edges and the skin's normals on both, below which it is
not certain on which sides of each other they belong."""
EDGE_DEEP, EDGE_DEEP_AT_JOINTS = 1.0, 2.0
"""A fold has no rows of edges while one of its vertices is deeper than so many times that distance:
between bones that are far from each other, and at joints, whose pits only edges open."""
