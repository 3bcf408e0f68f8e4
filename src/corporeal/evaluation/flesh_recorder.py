"""Health records of simulated flesh, taken frame by frame while it moves."""

from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.health_record import HealthRecord
from corporeal.body.template import Template
from corporeal.evaluation.flesh_health import FleshHealth, skin_above
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.physics.fast_projective_skinning.body import SimulatedBody

_LEAST_VOLUME: Final = 1e-6
"""m³: parts with less flesh than a millilitre, such as lips over teeth, have no row."""
_CARRIED: Final = 0.75
"""Nor have parts more of whose skin joints carry: a head of 5 to 160 ml and hands of 1 to 55 are
the rim of what is simulated, whose volume is that of single elements."""


class FleshExaminer:
    """What is measured on one body: prepared once, used for all of its takes."""

    def __init__(self, body: SimulatedBody, template: Template) -> None:
        self.health = FleshHealth(body)
        self.count = body.surface.vertex_count
        skin = np.asarray(body.surface.vertices, np.float64)
        self.meter = PenetrationMeter(skin, np.asarray(body.surface.triangles, np.int64))
        of_skin = _labels(body, template)
        self._part_of = of_skin[skin_above(body)][self.health.tetrahedra[:, 0]]
        self._part_count = len(template.part_names)
        rest = self._summed(self.health.rest_volumes)
        carried = np.bincount(of_skin, body.system.anchored[: self.count], self._part_count)
        loose = carried <= _CARRIED * np.bincount(of_skin, minlength=self._part_count)
        self._fleshy = np.flatnonzero((rest > _LEAST_VOLUME) & loose)
        self.rest = rest[self._fleshy]
        """Volume of these parts' elements at rest, m³."""
        self.parts = tuple(template.part_names[number] for number in self._fleshy)
        """Their names."""

    def part_changes(self, volumes: Float64[NumpyArray, "T"]) -> Float64[NumpyArray, "P"]:
        """Relative change of every part's volume, from the elements' volumes (m³)."""
        return self._summed(volumes)[self._fleshy] / self.rest - 1.0

    def _summed(self, volumes: Float64[NumpyArray, "T"]) -> Float64[NumpyArray, "L"]:
        """Volume of the elements of every part of the template, m³."""
        return np.bincount(self._part_of, volumes, self._part_count)


class FleshRecorder:
    """Looks at the frames of one take as they come."""

    def __init__(self, examiner: FleshExaminer, penetration_every: int) -> None:
        """Penetration is measured in each so many frames, never for 0."""
        self._examiner, self._every = examiner, penetration_every
        self._rows: list[tuple[int, float, float, float, float]] = []
        self._volumes: list[NumpyArray] = []
        self._depths: dict[int, float] = {}

    def add(self, positions: Float64[NumpyArray, "n 3"], residual: float) -> None:
        """Measure the next frame: all simulated vertices, and the solver's residual, metres."""
        health, number = self._examiner.health, len(self._rows)
        volumes = health.volumes(positions)
        moving = volumes[health.moving]
        determinants = moving / health.rest_volumes[health.moving]
        stretch = float(health.stretches(positions).max())
        inverted = int((determinants <= 0.0).sum())
        turned = float(np.maximum(-moving, 0.0).sum())
        self._rows.append((inverted, float(determinants.min()), stretch, residual, turned))
        self._volumes.append(self._examiner.part_changes(volumes))
        if self._every and number % self._every == 0:
            skin = positions[: self._examiner.count]
            self._depths[number] = float(self._examiner.meter.depths(skin).max())

    def record(self) -> HealthRecord:
        """What was measured of all frames so far."""
        inverted, *columns = zip(*self._rows, strict=True)
        least, stretch, residual, turned = (np.array(c, np.float32) for c in columns)
        return HealthRecord(
            np.array(inverted, np.int64),
            least,
            stretch,
            residual,
            self._examiner.parts,
            np.array(self._volumes, np.float32),
            np.array(list(self._depths), np.int64),
            np.array(list(self._depths.values()), np.float32),
            turned,
        )


class FleshRecorders:
    """Recorders for bodies of one template; what is prepared for a body is kept while it lives."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self._examiners: WeakKeyDictionary[SimulatedBody, FleshExaminer] = WeakKeyDictionary()

    def __call__(self, body: SimulatedBody, penetration_every: int) -> FleshRecorder:
        """A recorder for one take."""
        if body not in self._examiners:
            self._examiners[body] = FleshExaminer(body, self._template)
        return FleshRecorder(self._examiners[body], penetration_every)


def _labels(body: SimulatedBody, template: Template) -> Int[NumpyArray, "V"]:
    """Part of every simulated skin vertex: that of the nearest one of the full skin at rest."""
    from scipy.spatial import KDTree

    nearest = KDTree(body.rest_skin).query(body.rest[: body.surface.vertex_count])[1]
    return np.asarray(template.part_labels)[nearest]
