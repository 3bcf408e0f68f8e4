"""Where clothes are cut; the looks' own module, under the name that pictures know it by."""

from corporeal.appearance.wardrobe import TOP_BELOW_GENDER, underwear, wears_top

__all__ = ["TOP_BELOW_GENDER", "underwear", "wears_top"]
