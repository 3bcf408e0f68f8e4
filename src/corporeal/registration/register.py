"""One scan of one person in any of the usual poses, registered; no landmarks, unit or axes asked.

The stages are those of Pons-Moll 2015, section 3.4.1: a start (`starts`), the model alone
(`model_stage`), the model and a free mesh together (`coupled_stage`); then the checks of
`soundness` and `plausible`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.raw_scan import RawScan
from corporeal.errors import InputError
from corporeal.formats.bvh_units import axis_rotation
from corporeal.geometry.alignment import best_rotation
from corporeal.registration.coupled_stage import STAGES, Coupled, CoupledStage, couple, matches
from corporeal.registration.cropped import better_cropped, lying
from corporeal.registration.hands import with_best_hands
from corporeal.registration.model_stage import FINE, ModelFit, fit_model
from corporeal.registration.other_things import without_other_things
from corporeal.registration.person_model import PersonModel, PersonState, person_model
from corporeal.registration.plausible import require_hope, require_human
from corporeal.registration.preparing import PreparedScan, prepare
from corporeal.registration.registered import Registered, quality_of, unposed_identity
from corporeal.registration.scan_surface import ScanSurface
from corporeal.registration.soundness import (
    crossing_triangles,
    mended,
    rings_around,
    unsound_triangles,
)
from corporeal.registration.starts import compared_starts, fitted_starts
from corporeal.registration.together import fit_together, person_mesh
from corporeal.registration.unseen_limbs import lacks_legs, unseen_ends, with_usual_ends

UPS = ("+y", "+z")
"""Upward axes that are tried first."""
OTHER_UPS = ("-y", "-z", "+x", "-x")
"""Upward axes that are tried where the first fit badly."""
_UP = np.array([0.0, 1.0, 0.0])
_NEAR_AXIS = 0.85
"""Cosine between two ways up from which on they count as one."""
_GOOD = 0.3
"""Energy of a start below which no other axis is tried."""
_HEADS_UP = 2
"""Axes that are tried for bodies cut off below."""
_ALIKE = 1.15
"""Axes whose best start lies up to so many times as far as the best's are fitted too."""
_FINE_NOISE = 5e-4
"""Noise of points, metres, up to which the last stage is as soft as it is."""
_BESIDE = 10
"""Which of a point's neighbours is compared with it."""
_JUDGED = 8000
"""Points that the noise is told from."""
UPPER = tuple(stage._replace(shape_prior=8.0) for stage in FINE[1:])
"""For bodies whose legs the scan lacks: what the model does not have of a trunk is no measure of
its legs, which came out 3 cm too short."""
_CLOSE = 1.3
"""Starts up to so many times the best's energy are fitted finely too."""


@dataclass
class _Clock:
    """Seconds by stage."""

    rows: list[tuple[str, float]] = field(default_factory=list)
    last: float = field(default_factory=time.perf_counter)

    def stop(self, name: str) -> None:
        now = time.perf_counter()
        self.rows.append((name, now - self.last))
        self.last = now


@dataclass(frozen=True, eq=False)
class Placement:
    """From the file's unit and axes to metres, y up: x ↦ unit · R x."""

    unit_length: float
    """Metres of the file's unit."""
    rotation: Float64[NumpyArray, "3 3"]
    """R."""

    def into(self, points: Float64[NumpyArray, "*n 3"]) -> Float64[NumpyArray, "*n 3"]:
        """Points of the file, in metres and y up."""
        return self.unit_length * points @ self.rotation.T

    def back(self, points: Float64[NumpyArray, "*n 3"]) -> Float64[NumpyArray, "*n 3"]:
        """Points in metres and y up, as the file has them."""
        return (points @ self.rotation) / self.unit_length


@dataclass(frozen=True, eq=False)
class RegisteredScan:
    """A registered scan and what it was registered from."""

    registered: Registered
    """Mesh, person, pose."""
    surface: ScanSurface
    """The scan as it was used, metres, y up."""
    placement: Placement
    """From the file's unit and axes."""


def register_scan(
    scan: RawScan,
    *,
    unit: str = "auto",
    up: str = "auto",
    model: PersonModel | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> RegisteredScan:
    """Register one scan of one person; raises `InputError` with the reason for anything else."""
    clock = _Clock()
    prepared = prepare(scan, unit)
    for remark in prepared.remarks:
        say(remark)
    clock.stop("reading")
    model = person_model() if model is None else model
    clock.stop("model")
    say("finding how the person stands")
    starts, surface, rotation, words = started(model, prepared, up)
    clock.stop("start")
    say("fitting shape and pose")
    firsts = [fit_model(model, surface, start.state, FINE[:1]) for start in starts]
    fit = min(firsts, key=lambda found: found.energy)
    require_hope(model, surface, fit)
    fit = fit_model(model, surface, fit.state, FINE[1:2])
    ends = unseen_ends(model, surface, fit.state)
    fit = fit_model(model, surface, _with_ends(model, surface, fit.state, ends), FINE[2:])
    stages = STAGES
    if lacks_legs(ends):
        fit = fit_model(model, surface, fit.state, UPPER)
        stages = tuple(stage._replace(shapes=0) for stage in STAGES)
    clock.stop("model stage")
    person, left_out = without_other_things(model, surface, fit, prepared.flat @ rotation.T)
    require_human(model, person, fit, left_out)
    say("drawing the skin onto the scan")
    surface, dense = person, person.with_points(prepared.dense @ rotation.T)
    coupled, unsound = sound_coupling(model, surface, fit, stages, dense)
    clock.stop("coupled stage")
    say("checking")
    remarks = (*prepared.remarks, words, *_said(left_out))
    registered = finished(model, surface, coupled, unsound, remarks)
    clock.stop("checks")
    return RegisteredScan(
        replace(registered, seconds=tuple(clock.rows)),
        surface,
        Placement(prepared.unit_length, rotation),
    )


def _with_ends(
    model: PersonModel,
    surface: ScanSurface,
    state: PersonState,
    unseen: tuple[tuple[str, str], ...],
) -> PersonState:
    """The state with limbs that the scan lacks where they usually are, and the other hands at
    their best."""
    hands = tuple(side for side in ("left", "right") if (side, "arm") not in unseen)
    return with_best_hands(model, surface, with_usual_ends(model, state, unseen), hands)


def _said(left_out: float) -> list[str]:
    share = f"{100 * left_out:.1f} % of the points"
    return [f"what lies off the body was left out ({share})."] if left_out else []


def started(
    model: PersonModel, prepared: PreparedScan, up: str
) -> tuple[list[ModelFit], ScanSurface, NumpyArray, str]:
    """The best starts, the scan turned upright, and how it was turned."""
    if up != "auto":
        choices = [(up, _upright(up))]
    else:
        # what seems a floor may be a wall
        hint = prepared.up_hint
        choices = [] if hint is None else [("away from the floor", _towards_y(hint))]
        choices += [
            (axis, _upright(axis))
            for axis in UPS
            if hint is None or _upright(axis)[1] @ hint < _NEAR_AXIS
        ]
        choices += _lengthways(prepared, [rotation.T @ _UP for _, rotation in choices])
    best = _best_of(model, prepared, choices)
    if best[0][0].energy > _GOOD and up == "auto":
        more = [(axis, _upright(axis)) for axis in OTHER_UPS]
        other = _best_of(model, prepared, more)
        if other[0][0].energy < 0.9 * best[0][0].energy:
            best = other
    if best[0][0].energy > _GOOD:
        best = _cropped(model, prepared, choices[:_HEADS_UP], best)
    starts, surface, (axis, rotation) = best
    close = [fit for fit in starts if fit.energy < _CLOSE * starts[0].energy]
    return close, surface, rotation, f"up is {axis}."


def _cropped(
    model: PersonModel,
    prepared: PreparedScan,
    choices: list[tuple[str, NumpyArray]],
    best: tuple[list[ModelFit], ScanSurface, tuple[str, NumpyArray]],
) -> tuple[list[ModelFit], ScanSurface, tuple[str, NumpyArray]]:
    """The starts, or those of a body that the scan shows the upper part of, where they are
    clearly better."""
    for choice in choices:
        surface = _turned(prepared, choice[1])
        least = lying(model, best[1].some(900, 2), best[0][0])
        found = better_cropped(model, surface, least)
        if found:
            best = found, surface, choice
    return best


def _lengthways(prepared: PreparedScan, known: list[NumpyArray]) -> list[tuple[str, NumpyArray]]:
    """Both ways along the scan's longest axis, where no known way up is near: people who lie on the
    floor, or hang head down."""
    middle = prepared.points - prepared.points.mean(axis=0)
    long = np.linalg.eigh(middle.T @ middle)[1][:, -1]
    return [
        ("along the body, which lies", _towards_y(way))
        for way in (long, -long)
        if all(way @ other < _NEAR_AXIS for other in known)
    ]


def _best_of(
    model: PersonModel, prepared: PreparedScan, choices: list[tuple[str, NumpyArray]]
) -> tuple[list[ModelFit], ScanSurface, tuple[str, NumpyArray]]:
    """Fitted starts about the axis whose starts lie nearest, and about the next if it is close."""
    compared = []
    for choice in choices:
        surface = _turned(prepared, choice[1])
        compared.append((compared_starts(model, surface), surface, choice))
    compared.sort(key=lambda tried: tried[0][0].score)
    least = compared[0][0][0].score
    found = [
        (fitted_starts(model, surface, starts), surface, choice)
        for starts, surface, choice in compared[:2]
        if starts[0].score < _ALIKE * least
    ]
    return min(found, key=lambda tried: tried[0][0].energy)


def _upright(axis: str) -> NumpyArray:
    """The rotation that takes an axis up."""
    if len(axis) != 2 or axis[0] not in "+-" or axis[1] not in "xyz":
        raise InputError(f"up axis {axis!r} is not known; expected such as +y or -z.")
    return axis_rotation(axis, "+z" if axis[1] == "y" else "-y" if axis[1] == "z" else "+y")


def _towards_y(up: NumpyArray) -> NumpyArray:
    """A rotation that takes a direction to +y."""
    aside = np.cross(up, [1.0, 0.0, 0.0] if abs(up[0]) < 0.8 else [0.0, 0.0, 1.0])
    aside /= np.linalg.norm(aside)
    source = np.stack([up, aside, np.cross(up, aside)])
    target = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    return best_rotation(source, target)


def _turned(prepared: PreparedScan, rotation: NumpyArray) -> ScanSurface:
    return ScanSurface(
        prepared.points @ rotation.T,
        prepared.normals @ rotation.T,
        prepared.weights,
        prepared.spacing,
        prepared.colours,
        {name: rotation @ place for name, place in prepared.landmarks.items()},
    )


def sound_coupling(
    model: PersonModel,
    surface: ScanSurface,
    fit: ModelFit,
    stages: tuple[CoupledStage, ...] = STAGES,
    dense: ScanSurface | None = None,
) -> tuple[Coupled, int]:
    """The coupled stage, solved again more stiffly where its mesh folds or crosses itself.

    The last stage, and what is solved again, are laid onto `dense` where that is given, more
    stiffly where its points scatter more: noise should not become creases.
    """
    triangles = np.asarray(model.template.mesh.triangles)
    coupled = couple(model, surface, fit.state, stages[:-1])
    surface = surface if dense is None else dense
    free = coupled.vertices - coupled.model_vertices
    noise = scatter(coupled.vertices, triangles, surface)
    stiffness = np.full(len(free), max(1.0, (noise / _FINE_NOISE) ** 2))
    coupled = couple(model, surface, coupled.state, stages[-1:], free, stiffness)
    # toes of some people cross in the model already
    known = crossing_triangles(coupled.model_vertices, triangles)
    for _ in range(2):
        found = unsound_triangles(coupled.vertices, coupled.model_vertices, triangles, known)
        if found.count == 0:
            return coupled, 0
        wrong = np.concatenate([found.folded, found.involved])
        stiffness *= 1.0 + 9.0 * rings_around(triangles, wrong, len(stiffness), 3)
        coupled = couple(
            model, surface, coupled.state, stages[-1:],
            coupled.vertices - coupled.model_vertices, stiffness,
        )  # fmt: skip
    vertices, left = mended(coupled.vertices, coupled.model_vertices, triangles)
    return replace(coupled, vertices=vertices), left


def scatter(
    vertices: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    surface: ScanSurface,
) -> float:
    """Noise of a scan's points across the surface, one standard deviation, metres.

    Neighbours' heights over a mesh nearby differ by √2 of it, however far off the mesh is; by the
    median, so that outliers do not count.
    """
    from scipy.spatial import KDTree

    some = surface.points[:: max(1, len(surface.points) // _JUDGED)]
    # not the very nearest, which are those of like height
    pair = np.asarray(KDTree(surface.points).query(some, _BESIDE)[1])[:, -1]
    both = np.concatenate([some, surface.points[pair]])
    found = matches(vertices, triangles, both)
    heights = np.sum((both - found.feet) * found.normals, axis=1)
    apart = np.abs(heights[: len(some)] - heights[len(some) :])
    return float(np.median(apart)) / (0.6745 * float(np.sqrt(2.0)))


def finished(
    model: PersonModel,
    surface: ScanSurface,
    coupled: Coupled,
    unsound: int,
    remarks: tuple[str, ...],
) -> Registered:
    """The person behind a coupled mesh, and how well all lies on the scan."""
    quality, seen = quality_of(model, surface, coupled.vertices, unsound)
    identity = unposed_identity(model, coupled)
    state = coupled.state
    angles = state.axis_angles
    # the identity stands on the ground: its root is not where the model's is
    shift = model.space.joints(state.shape)[0] - identity.joints[0]
    pose = Pose(angles.joint_rotations, state.pose.translation + shift)
    shaped = Identity(identity.rest_vertices, identity.joints, {})
    return Registered(
        coupled.vertices,
        shaped,
        pose,
        state.shape,
        coupled.model_vertices,
        seen,
        quality,
        remarks,
    )


def register_together(
    scans: list[RawScan],
    *,
    unit: str = "auto",
    up: str = "auto",
    model: PersonModel | None = None,
) -> tuple[list[RegisteredScan], Identity]:
    """Register several scans of one person: one shape for all, then the person's own mesh."""
    model = person_model() if model is None else model
    surfaces, placements, states, remarks, clouds, flats = [], [], [], [], [], []
    for scan in scans:
        prepared = prepare(scan, unit)
        starts, surface, rotation, words = started(model, prepared, up)
        firsts = [fit_model(model, surface, start.state, FINE[:1]) for start in starts]
        surfaces.append(surface)
        placements.append(Placement(prepared.unit_length, rotation))
        states.append(min(firsts, key=lambda found: found.energy).state)
        remarks.append((*prepared.remarks, words))
        clouds.append(prepared.dense @ rotation.T)
        flats.append(prepared.flat @ rotation.T)
    fits = fit_together(model, surfaces, states)
    registered: list[RegisteredScan] = []
    meshes: list[Coupled] = []
    for surface, placement, fit, said, dense, flat in zip(
        surfaces, placements, fits, remarks, clouds, flats, strict=True
    ):
        person, left_out = without_other_things(model, surface, fit, flat)
        require_human(model, person, fit, left_out)
        held = tuple(stage._replace(shapes=0) for stage in STAGES)
        coupled, unsound = sound_coupling(model, person, fit, held, person.with_points(dense))
        meshes.append(coupled)
        made = finished(model, person, coupled, unsound, (*said, *_said(left_out)))
        registered.append(RegisteredScan(made, person, placement))
    identity = person_mesh(model, meshes, [one.registered.seen for one in registered])
    return registered, identity
