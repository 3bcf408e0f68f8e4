"""The four generalisation cases of learned dynamics (Pons-Moll 2015, 6.1), by one split for all.

Case 1 are single takes that are left out, case 2 motions, case 3 people, case 4 both. Everything
that is learned, components, predictors, ridge, kernel width, when to stop, is learned from case 0
alone. The ridge and the kernel width of autoregressions are those that predict people of case 0
best who are left out, one after the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.dynamics import Predictors
from corporeal.dynamics.autoregression import Fitted, free_run
from corporeal.dynamics.free_running import CodedTake
from corporeal.dynamics.mixture import predictor_for
from corporeal.dynamics.pole_search import PoleMoments
from corporeal.dynamics.training import DynamicsTraining, learn_predictors
from corporeal.errors import InputError

CASES = ("learned from", "take", "motion", "person", "both")
"""What is new in a take of each case."""
RIDGES = (0.1, 0.3, 1.0, 3.0)
WIDTHS = (2.0, 4.0, 8.0, 1000.0)
"""kg/m²; the last counts all people alike."""
_MOST_LEFT_OUT = 6
"""People who are left out in turn to choose by."""


def case_of_takes(
    names: Sequence[tuple[str, str]], people: Sequence[str], motions: Sequence[str], every: int = 5
) -> list[int]:
    """0 to 4 for every (subject, motion); of what is left one take in `every` is case 1."""
    known = list(dict.fromkeys(subject for subject, _ in names))
    unknown = [p for p in people if p not in known]
    lacking = [m for m in motions if m not in {motion for _, motion in names}]
    if unknown or lacking or len(set(known) - set(people)) < 2:
        raise InputError(
            f"test people {list(people)} and motions {list(motions)} came; the set has the people "
            f"{', '.join(known)}. Expected some of these, two people at least left to learn from, "
            f"and motions that the set has."
        )
    found, seen = [], dict.fromkeys(known, 0)
    place = {name: n for n, name in enumerate(p for p in known if p not in people)}
    for subject, motion in names:
        if subject in people:
            found.append(4 if motion in motions else 3)
        elif motion in motions:
            found.append(2)
        else:
            turn = seen[subject] + 2 * place[subject]
            seen[subject] += 1
            found.append(1 if turn % every == 0 else 0)
    return found


@dataclass(frozen=True)
class People:
    """Who they are."""

    indices: Mapping[str, float]
    """Body mass, kg/m²."""
    genders: Mapping[str, float] | None
    """0 female, 1 male; None unless everybody's is known."""


def predicted(
    found: Predictors,
    known: Sequence[str],
    tested: Sequence[CodedTake],
    people: People,
    tau: float | None = None,
) -> list[Float64[NumpyArray, "N D"]]:
    """Free-running δ of takes: by the predictor of the person, if among the `known` ones, whose
    order is that of `found`, or by the mixture."""
    made = []
    for take in tested:
        if take.subject in known:
            n = known.index(take.subject)
            model = Fitted(found.inputs[n], found.history[n], found.constants[n])
        else:
            gender = None if people.genders is None else people.genders[take.subject]
            model = predictor_for(found, people.indices[take.subject], tau, gender)
        controls = np.clip(take.controls, -found.limits, found.limits)
        made.append(free_run(model, controls))
    return made


def chosen_settings(
    training: Sequence[CodedTake],
    names: tuple[str, ...],
    people: People,
    settings: DynamicsTraining,
    ridges: Sequence[float] = RIDGES,
    widths: Sequence[float] = WIDTHS,
) -> tuple[DynamicsTraining, list[dict[str, float]]]:
    """The ridge and the kernel width with the least error on people left out, and all errors, as
    shares of the static model's. Of a single person nobody can be left out: the settings stay."""
    subjects = list(dict.fromkeys(take.subject for take in training))
    if len(subjects) < 2:
        return settings, []
    chosen = subjects[:: max(1, -(-len(subjects) // _MOST_LEFT_OUT))]
    rows: list[dict[str, float]] = []
    kept = PoleMoments()
    for ridge in ridges:
        trial = replace(settings, ridge=replace(settings.ridge, strength=ridge))
        left, static = np.zeros(len(widths)), 0.0
        for name in chosen:
            rest = [take for take in training if take.subject != name]
            own = [take for take in training if take.subject == name]
            found = learn_predictors(rest, names, people.indices, trial, people.genders, kept)
            static += sum(_size(take.deltas) for take in own)
            for n, width in enumerate(widths):
                runs = predicted(found, (), own, people, width)
                left[n] += sum(_size(t.deltas - d) for t, d in zip(own, runs, strict=True))
        rows += [
            {"ridge": ridge, "kernel_width": width, "error": round(float(e / static), 4)}
            for width, e in zip(widths, left, strict=True)
        ]
    best = min(rows, key=lambda row: row["error"])
    ridge = replace(settings.ridge, strength=best["ridge"])
    return replace(settings, ridge=ridge, kernel_width=best["kernel_width"]), rows


def _size(deltas: NumpyArray) -> float:
    return float(np.sqrt(np.sum(deltas**2, axis=1)).mean())
