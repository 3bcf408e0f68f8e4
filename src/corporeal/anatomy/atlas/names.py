"""Which of the template's bones a part is, by its anatomical name ("right second rib")."""

import re

SIDED: dict[str, tuple[str, ...]] = {
    "{s}_femur": ("femur",),
    "{s}_tibia": ("tibia",),
    "{s}_fibula": ("fibula",),
    "{s}_patella": ("patella",),
    "{s}_talus": ("talus",),
    "{s}_pelvis": ("hip bone", "pelvis", "ilium", "ischium", "pubis", "innominate"),
    "{s}_foot": ("calcaneus", "navicular", "cuneiform", "cuboid", "metatarsal"),
    "humerus_{s}": ("humerus",),
    "ulna_{s}": ("ulna",),
    "radius_{s}": ("radius",),
    "scapula_{s}": ("scapula", "shoulder blade"),
    "clavicle_{s}": ("clavicle", "collar bone"),
}
"""Template's bone → words of a name; {s} is l or r."""
AXIAL: dict[str, tuple[str, ...]] = {
    "sacrum_geom_1_sacrum": ("sacrum",),
    "torso_geom_13_ribcage_s": ("rib", "costal cartilage", "sternum", "manubrium", "xiphoid"),
    "hat_jaw": ("mandible", "jaw bone"),
}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
ORDINALS += ("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
NOT_BONE = ("disk", "disc", "membrane", "ligament", "gingiva", "tooth", "teeth", "sesamoid")
"""Words of parts that come with bones and are none."""


def template_bone(name: str) -> str | None:
    """The template's bone for an anatomical name; None for others.

    Names of the template itself are taken as they are. Hands, toes and skull have no layers, so
    their bones stay the template's.
    """
    words = re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()
    if any(_holds(words, word) for word in NOT_BONE):
        return None
    if vertebra := _vertebra(words):
        return vertebra
    for bone, keys in AXIAL.items():
        if any(_holds(words, key) for key in keys):
            return bone
    side = next((s[0] for s in ("left", "right") if _holds(words, s)), None)
    if side is None:
        return None
    found = (b for b, keys in SIDED.items() if any(_holds(words, key) for key in keys))
    bone = next(found, None)
    return None if bone is None else bone.format(s=side)


def _vertebra(words: str) -> str | None:
    """Lumbar and thoracic ones by their number: "third lumbar vertebra", "l3", "t12 vertebra"."""
    short = re.search(r"\b([lt])(\d{1,2})\b", words)
    if short:
        region, number = short[1], int(short[2])
    elif "vertebra" in words and ("lumbar" in words or "thoracic" in words):
        region = "l" if "lumbar" in words else "t"
        number = next((i for i, w in enumerate(ORDINALS, 1) if _holds(words, w)), 0)
    else:
        return None
    if region == "l" and 1 <= number <= 5:
        return f"lumbar{number}_geom_1_lumbar{number}"
    if region == "t" and 1 <= number <= 12:
        return f"torso_geom_{13 - number}_thoracic{number}_s"
    return None


def _holds(words: str, key: str) -> bool:
    """Whether a name has a word or a phrase, not as a part of another word."""
    return re.search(rf"\b{key}s?\b", words) is not None
