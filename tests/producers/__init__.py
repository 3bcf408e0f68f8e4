"""How motion-capture files of well-known producers are built, and such files with known positions.

Names, tree, offsets, channel order and rest axes of every rig are those of a public file, which is
named; numbers are rounded, fingers left out. The motions in them are made here.
"""

from producers import archives, programs, suits
from producers.motions import Take, about, cartwheel, crawl, forward, walk, write
from producers.rig import Rig

__all__ = ["RIGS", "Rig", "Take", "about", "cartwheel", "crawl", "forward", "walk", "write"]

RIGS: dict[str, Rig] = suits.RIGS | programs.RIGS | archives.RIGS
"""One rig a producer."""
