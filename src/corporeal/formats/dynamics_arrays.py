"""Predictors of learned dynamics as plain arrays, in the files of DMPL and Dyna.

Every key below has the prefix `predictor_`.

=================== ======= ===========================================================
key                 shape   what it is here (`Predictors`)
=================== ======= ===========================================================
`joint_names`       J       text
`inputs`            n×D×c   B of every person
`history`           n×m×D   autoregressive coefficients
`constants`         n×D     b
`body_mass_indices` n       kg/m²
`limits`            c       largest inputs that are answered
`fps`               ()      frames a second
`differences`       ()      `causal` or `forward`
`gravity`           ()      1 where inputs hold the specific force
`kernel_width`      ()      τ, kg/m²
`genders`           n       0 female to 1 male; may be missing
`controls`          ()      `joints` (if missing) or `bones`
`amplitude`         ()      growth of log swings with body mass index, m²/kg; 0 if missing
=================== ======= ===========================================================
"""

from corporeal.assets.learned_dynamics import predictor_arrays, predictors_from
from corporeal.body.dynamics import Predictors
from corporeal.formats.npz import NpzReader

__all__ = ["predictor_arrays", "read_predictors"]

_LAYOUT: dict[str, tuple[str, tuple[int | str, ...]]] = {
    "predictor_joint_names": ("U", ("j",)),
    "predictor_inputs": ("f", ("n", "D", "c")),
    "predictor_history": ("f", ("n", "m", "D")),
    "predictor_constants": ("f", ("n", "D")),
    "predictor_body_mass_indices": ("f", ("n",)),
    "predictor_limits": ("f", ("c",)),
    "predictor_fps": ("f", ()),
    "predictor_differences": ("U", ()),
    "predictor_gravity": ("i", ()),
    "predictor_kernel_width": ("f", ()),
}
"""Kind and shape of every key."""


def read_predictors(file: NpzReader) -> Predictors | None:
    """Predictors of an open file; None where it has none."""
    if not file.names("predictor_"):
        return None
    stored = {key: file.array(key, *layout) for key, layout in _LAYOUT.items()}
    if "predictor_genders" in file.headers:
        stored["predictor_genders"] = file.array("predictor_genders", "f", ("n",))
    for key, kind in (("predictor_controls", "U"), ("predictor_amplitude", "f")):
        if key in file.headers:
            stored[key] = file.array(key, kind, ())
    return predictors_from(stored)
