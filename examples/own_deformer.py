"""A deformer of your own in forty lines, side by side with one that ships.

    python examples/own_deformer.py --out own

`breathing` is linear blend skinning under which the chest rises and falls. It declares what it can
be told; whatever takes a deformer (animate, save, show, bake) takes it. Leaves `breathing.png`
(eight moments) and `breathing.glb`. As a package of its own,
with a test battery: docs/how-to/add-a-deformer.md. `--small` makes it shorter.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import corporeal as cp
from corporeal.body.controls import Controls, control
from corporeal.body.deformer import controls_for
from corporeal.skinning.linear import LinearBlendSkinning


@dataclass(frozen=True, kw_only=True)
class BreathingControls(Controls):
    rate: float = control(15.0, low=1.0, high=60.0, unit="1/min", help="breaths a minute")
    depth: float = control(0.02, low=0.0, high=0.1, unit="m", help="how far the chest rises")


class Breathing(cp.Traits):
    name = "breathing"
    title = "Breathing chest"
    summary = "linear blend skinning under which the chest rises and falls"
    Controls = BreathingControls

    def __init__(self, template: cp.Template) -> None:
        self.template = template
        self.skinning = LinearBlendSkinning(template)
        joint = template.skeleton.names.index("spine3")
        self.share = template.weights.dense()[:, joint]  # skin that the upper spine moves

    def animate(self, identity, motion, controls=None) -> cp.Animation:
        told = controls_for(self.name, BreathingControls, controls)
        take = self.skinning.animate(identity, motion)
        seconds = np.arange(motion.frame_count) / motion.fps
        breath = 0.5 * told.depth * (1 - np.cos(2 * np.pi * told.rate / 60 * seconds))
        forwards = take.world_from_joint[:, self.template.skeleton.names.index("spine3"), :3, 2]
        offsets = breath[:, None, None] * self.share[None, :, None] * forwards[:, None, :]
        return cp.Animation(
            deformer=self.name,
            template=take.template,
            identity=take.identity,
            motion=take.motion,
            vertices=(take.vertices + offsets).astype(np.float32),
            world_from_joint=take.world_from_joint,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("own"))
    parser.add_argument("--small", action="store_true", help="a few frames")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    end, fps = (2, 4) if given.small else (8, 30)

    person = cp.make_body(gender="male", weight=0.6)
    motion = cp.make_motion("punching", person, duration=end, fps=fps)
    deformer = Breathing(person.template)
    take = cp.animate(person, motion, deformer=deformer, controls={"depth": 0.04})
    still = cp.animate(person, motion, deformer=deformer, controls={"depth": 0.0})
    rise = np.linalg.norm(take.vertices - still.vertices, axis=-1).max(axis=1)
    print(f"the chest rises by {1e3 * rise.max():.1f} mm, asked for 40")
    cp.save(take, given.out / "breathing.png")
    cp.save(take, given.out / "breathing.glb")
    print(f"left in {given.out}: {', '.join(sorted(path.name for path in given.out.iterdir()))}")


if __name__ == "__main__":
    main()
