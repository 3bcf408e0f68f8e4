"""What to cite, and for which part of the package."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """One publication, program or data set."""

    key: str
    """BibTeX key."""
    bibtex_kind: str
    """Type of the BibTeX entry, such as article."""
    authors: str
    """Authors, family name first, joined by ` and `; a group stands in braces."""
    title: str
    """Title."""
    year: int
    """Year of publication."""
    where: str
    """Journal, proceedings or publisher."""
    doi: str = ""
    """Digital object identifier, without https://doi.org/; empty where there is none."""
    note: str = ""
    """What else a reader should be told, such as a licence."""

    def plain(self) -> str:
        """One line for a list of references."""
        link = f" https://doi.org/{self.doi}" if self.doi else ""
        note = f" {self.note}." if self.note else ""
        authors = self.authors.strip("{}").replace(" and ", ", ")
        return f"{authors} ({self.year}). {self.title}. {self.where}.{note}{link}"

    def bibtex(self) -> str:
        """A BibTeX entry."""
        place = {
            "article": "journal",
            "inproceedings": "booktitle",
            "phdthesis": "school",
            "techreport": "institution",
        }.get(self.bibtex_kind, "howpublished")
        fields = {
            "author": self.authors,
            "title": f"{{{self.title}}}",
            "year": str(self.year),
            place: self.where,
            "doi": self.doi,
            "note": self.note,
        }
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@{self.bibtex_kind}{{{self.key},\n" + ",\n".join(lines) + "\n}"


REFERENCES = {
    reference.key: reference
    for reference in (
        Reference(
            "corporeal",
            "software",
            "{The corporeal authors}",
            "corporeal: an open foundry for digital human bodies whose flesh moves",
            2026,
            "Software, Apache-2.0",
        ),
        Reference(
            "makehuman",
            "misc",
            "{The MakeHuman team}",
            "MakeHuman community base mesh, rigs and shape targets (hm08, MPFB2)",
            2024,
            "static.makehumancommunity.org",
            note="CC0 1.0",
        ),
        Reference(
            "gordon2014ansur",
            "techreport",
            "Gordon, Claire C. and Blackwell, Cynthia L. and Bradtmiller, Bruce and Parham, "
            "Joseph L. and Barrientos, Patricia and Paquette, Stephen P. and Corner, Brian D. and "
            "Carson, Jeremy M. and Venezia, Joseph C. and Rockwell, Belva M. and Mucher, Michael "
            "and Kristensen, Shirley",
            "2012 Anthropometric Survey of U.S. Army Personnel: Methods and Summary Statistics",
            2014,
            "U.S. Army Natick Soldier Research, Development and Engineering Center",
            note="Technical report NATICK/TR-15/007",
        ),
        Reference(
            "nhanes2018",
            "misc",
            "{National Center for Health Statistics}",
            "National Health and Nutrition Examination Survey 2017-2018",
            2020,
            "Centers for Disease Control and Prevention",
            note="Public domain",
        ),
        Reference(
            "musclemimic2026models",
            "software",
            "{The MuscleMimic Team}",
            "MuscleMimic Models: MyoFullBody (PyPI musclemimic-models 1.0.6)",
            2026,
            "Software and bone meshes, Apache-2.0",
            note="Bone meshes from MyoHub/myo_sim; see NOTICE-anatomy in the package",
        ),
        Reference(
            "caggiano2022myosuite",
            "inproceedings",
            "Caggiano, Vittorio and Wang, Huawei and Durandau, Guillaume and Sartori, Massimo and "
            "Kumar, Vikash",
            "MyoSuite: A contact-rich simulation suite for musculoskeletal motor control",
            2022,
            "Learning for Dynamics and Control Conference (L4DC)",
        ),
        Reference(
            "rajagopal2016fullbody",
            "article",
            "Rajagopal, Apoorva and Dembia, Christopher L. and DeMers, Matthew S. and Delp, Denny "
            "D. and Hicks, Jennifer L. and Delp, Scott L.",
            "Full-body musculoskeletal model for muscle-driven simulation of human gait",
            2016,
            "IEEE Transactions on Biomedical Engineering 63(10)",
            doi="10.1109/TBME.2016.2586891",
        ),
        Reference(
            "magnenat1988jointdependent",
            "inproceedings",
            "Magnenat-Thalmann, Nadia and Laperrière, Richard and Thalmann, Daniel",
            "Joint-dependent local deformations for hand animation and object grasping",
            1988,
            "Proceedings of Graphics Interface",
        ),
        Reference(
            "kavan2007skinning",
            "inproceedings",
            "Kavan, Ladislav and Collins, Steven and Žára, Jiří and O'Sullivan, Carol",
            "Skinning with dual quaternions",
            2007,
            "Proceedings of the Symposium on Interactive 3D Graphics and Games (I3D)",
            doi="10.1145/1230100.1230107",
        ),
        Reference(
            "loper2015smpl",
            "article",
            "Loper, Matthew and Mahmood, Naureen and Romero, Javier and Pons-Moll, Gerard and "
            "Black, Michael J.",
            "SMPL: A skinned multi-person linear model",
            2015,
            "ACM Transactions on Graphics 34(6)",
            doi="10.1145/2816795.2818013",
        ),
        Reference(
            "romero2017mano",
            "article",
            "Romero, Javier and Tzionas, Dimitrios and Black, Michael J.",
            "Embodied hands: Modeling and capturing hands and bodies together",
            2017,
            "ACM Transactions on Graphics 36(6)",
            doi="10.1145/3130800.3130883",
        ),
        Reference(
            "ponsmoll2015dyna",
            "article",
            "Pons-Moll, Gerard and Romero, Javier and Mahmood, Naureen and Black, Michael J.",
            "Dyna: A model of dynamic human shape in motion",
            2015,
            "ACM Transactions on Graphics 34(4)",
            doi="10.1145/2766993",
        ),
        Reference(
            "hirshberg2012coregistration",
            "inproceedings",
            "Hirshberg, David A. and Loper, Matthew and Rachlin, Eric and Black, Michael J.",
            "Coregistration: Simultaneous alignment and modeling of articulated 3D shape",
            2012,
            "European Conference on Computer Vision",
            doi="10.1007/978-3-642-33783-3_18",
        ),
        Reference(
            "allen2006correlated",
            "inproceedings",
            "Allen, Brett and Curless, Brian and Popović, Zoran and Hertzmann, Aaron",
            "Learning a correlated model of identity and pose-dependent body shape variation for "
            "real-time synthesis",
            2006,
            "Proceedings of the Symposium on Computer Animation (SCA)",
        ),
        Reference(
            "casas2018learning",
            "article",
            "Casas, Dan and Otaduy, Miguel A.",
            "Learning nonlinear soft-tissue dynamics for interactive avatars",
            2018,
            "Proceedings of the ACM on Computer Graphics and Interactive Techniques 1(1)",
            doi="10.1145/3203187",
        ),
        Reference(
            "komaritzan2022layered",
            "phdthesis",
            "Komaritzan, Martin",
            "Layered character models for fast physics-based simulation",
            2022,
            "TU Dortmund",
        ),
        Reference(
            "bouaziz2014projective",
            "article",
            "Bouaziz, Sofien and Martin, Sebastian and Liu, Tiantian and Kavan, Ladislav and "
            "Pauly, Mark",
            "Projective dynamics: fusing constraint projections for fast simulation",
            2014,
            "ACM Transactions on Graphics 33(4)",
            doi="10.1145/2601097.2601116",
        ),
        Reference(
            "baran2007automatic",
            "article",
            "Baran, Ilya and Popović, Jovan",
            "Automatic rigging and animation of 3D characters",
            2007,
            "ACM Transactions on Graphics 26(3)",
            doi="10.1145/1276377.1276467",
        ),
    )
}

BONES = ("musclemimic2026models", "caggiano2022myosuite", "rajagopal2016fullbody")
"""Where the embedded bone meshes come from; their licence and notice ship beside them."""

TOPICS: dict[str, tuple[str, ...]] = {
    "corporeal": ("corporeal",),
    "default-body": ("makehuman",),
    "skeleton": ("loper2015smpl", "romero2017mano"),
    "phenotype": ("makehuman",),
    "measurements": ("gordon2014ansur",),
    "people": ("gordon2014ansur", "nhanes2018"),
    "reshape": ("ponsmoll2015dyna", "allen2006correlated"),
    "motions": ("ponsmoll2015dyna",),
    "automatic-weights": ("baran2007automatic",),
    "anatomy": ("komaritzan2022layered", "nhanes2018", *BONES),
    "bones": BONES,
    "papers": (
        "loper2015smpl",
        "ponsmoll2015dyna",
        "allen2006correlated",
        "casas2018learning",
        "komaritzan2022layered",
    ),
}
"""What the command line knows by name → references; deformers say theirs themselves."""

ALWAYS = ("corporeal", "default-body", "skeleton")
"""Topics that stand behind every result."""


def topics() -> dict[str, tuple[str, ...]]:
    """Everything that can be cited by name: subjects, and deformers with those of their
    `references` that are known here."""
    from corporeal.pipelines.deformers import deformer_class, deformer_names

    said = {name: deformer_class(name).references for name in deformer_names()}
    known = {name: tuple(key for key in keys if key in REFERENCES) for name, keys in said.items()}
    return TOPICS | known
