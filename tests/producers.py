"""How motion-capture files of well-known producers are built, and such files with known positions.

Names, tree, offsets, channel order and rest axes of every rig are those of a public file, which is
named; numbers are rounded, fingers left out. The motions in them are made here.
"""

import producer_archives
import producer_programs
import producer_suits
from producer_motions import Take, about, cartwheel, crawl, forward, walk, write
from producer_rig import Rig

__all__ = ["RIGS", "Rig", "Take", "about", "cartwheel", "crawl", "forward", "walk", "write"]

RIGS: dict[str, Rig] = producer_suits.RIGS | producer_programs.RIGS | producer_archives.RIGS
"""One rig a producer."""
