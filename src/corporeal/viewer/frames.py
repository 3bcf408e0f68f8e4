"""From the stage to bytes: what the page needs once, and what it needs sixty times a second."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import UInt16

from corporeal._typing import Float32, NumpyArray
from corporeal.assets.coarse_surface import read_coarse_surface
from corporeal.body.identity import Identity
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.scene.colour_map import ramp
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.viewer.colouring import Colouring
from corporeal.viewer.heat import heat
from corporeal.viewer.looks import surface_arrays
from corporeal.viewer.packets import Packet
from corporeal.viewer.players import SkinnedPlayer
from corporeal.viewer.stage import Stage


class Quantised(NamedTuple):
    """Positions, and how to read them: origin + step · number."""

    numbers: UInt16[NumpyArray, "V 3"]
    """Steps from the origin."""
    origin: tuple[float, float, float]
    """Metres."""
    step: float
    """Metres."""


def quantised(positions: Float32[NumpyArray, "V 3"]) -> Quantised:
    """Positions in their own bounding cube; none is further off than half a step."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    step = max(float((high - low).max()), 1e-6) / 65535.0
    numbers = ((positions - low) * np.float32(1.0 / step) + np.float32(0.5)).astype(np.uint16)
    x, y, z = (float(value) for value in low)
    return Quantised(numbers, (x, y, z), step)


def model_packet(model: PhenotypeModel) -> Packet:
    """What all bodies share: surface, joints, ramps of colours; fewer triangles for shadows."""
    template, coarse = model.template, read_coarse_surface()
    return Packet(
        "model",
        {
            "joints": list(template.skeleton.names),
            "parents": list(template.skeleton.parents),
            "parts": list(template.part_names),
        },
        {
            **surface_arrays(),
            "coarse": coarse.vertex_indices[coarse.triangles].astype(np.uint16),
            "part_labels": template.part_labels.astype(np.uint8),
            "heat": heat(),
            "tide": ramp("tide").astype(np.float32),
        },
    )


def person_packet(identity: Identity) -> Packet:
    """The rest shape of one person, without the face of a look."""
    return Packet("person", {}, {"rest": np.asarray(identity.rest_vertices, np.float32)})


def frame_packet(
    stage: Stage,
    colouring: Colouring,
    number: int,
    rate: float,
    muscle: SkinnedPlayer | None = None,
) -> Packet:
    """All bodies at this moment, and the muscle surface where it is shown. `rate` is how fast time
    goes, as a share of what was asked."""
    moment = stage.moment
    joints = np.asarray(stage.identity.joints, np.float64)
    world_from_joint = forward_kinematics(
        np.asarray(moment.pose.joint_rotations, np.float64),
        joints,
        stage.model.template.skeleton.parents,
        np.asarray(moment.pose.root_translation, np.float64),
    )
    arrays: dict[str, NumpyArray] = {"joints": world_from_joint.astype(np.float32)}
    views: list[dict[str, Any]] = []
    other = stage.players[min(colouring.choice.against, len(stage.players) - 1)]
    compared = stage.shown(other)
    for place, player in enumerate(stage.players):
        skin = stage.shown(player)
        packed = quantised(stage.dressed(skin))
        values = colouring.values(skin, stage.plain.skin, compared)
        arrays[f"skin {place}"] = packed.numbers
        if colouring.scale is not None:
            arrays[f"shades {place}"] = colouring.shades(values)
        views.append(
            {
                "origin": packed.origin,
                "step": packed.step,
                "ready": player.ready,
                "step_ms": round(player.step_ms, 2),
                "mean": round(float(values.mean()), 3),
                "most": round(float(values.max()), 3),
            }
        )
    inside: dict[str, Any] = {}
    if muscle is not None:
        muscle.jump(moment)
        packed = quantised(muscle.skin)
        arrays["muscle"] = packed.numbers
        inside = {"muscle": {"origin": packed.origin, "step": packed.step}}
    return Packet(
        "frame",
        {
            **inside,
            "number": number,
            "place": round(stage.playhead.place, 4),
            "last": stage.playhead.last,
            "room": [round(size, 3) for size in stage.playhead.room],
            "rate": round(rate, 3),
            "views": views,
            "grabbed": sorted(stage.hands),
        },
        arrays,
    )
