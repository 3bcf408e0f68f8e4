"""`corporeal motion`."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from corporeal.cli.console import print_json, say
from corporeal.errors import InputError
from corporeal.formats.registry import suffixes_read
from corporeal.pipelines.animate import AnimateConfig, animate
from corporeal.pipelines.options import MotionOptions


@dataclass(frozen=True, kw_only=True)
class MotionVerb(MotionOptions):
    """List the authored motions, tell about a motion, film it, or fill in its soft tissue.

    Examples:
      corporeal motion list
      corporeal motion info clip.bvh
      corporeal motion info jumping-jacks --json
      corporeal motion render jumping-jacks --out jj.mp4
      corporeal motion fill-dmpls amass_clip.npz --model dmpl.npz --out with_dmpls.npz
    """

    action: Positional[Literal["list", "info", "render", "fill-dmpls"]]
    """What to do."""
    motion: Positional[str] = ""
    """Name of an authored motion, or a motion file (.bvh, .fbx, .glb, .usd, .npz)."""
    out: Path | None = None
    """Film (.mp4, .gif) or contact sheet (.png) to write, for `render`; clip (.npz), for
    `fill-dmpls`."""
    model: Path | None = None
    """DMPL that predicts (.npz), for `fill-dmpls`; the one that ships by default."""
    onto: Path | None = None
    """DMPL file (.npz) on whose vectors coefficients are given, for `fill-dmpls`; the model's own
    by default."""
    body: Path | None = None
    """Body file; the average adult if none is given."""
    json: bool = False
    """Print JSON on stdout for machines."""

    def run(self) -> int:
        """Do what was asked."""
        if self.action == "list":
            return self._list()
        if not self.motion:
            raise InputError(
                f"corporeal motion {self.action} came without a motion; expected a name (see "
                f"corporeal motion list) or a file ({', '.join(suffixes_read('motion'))})."
            )
        if self.action == "fill-dmpls":
            return self._fill()
        return self._info() if self.action == "info" else self._render()

    def _fill(self) -> int:
        from corporeal.pipelines.fill_dmpls import FillDmplsConfig, fill_dmpls

        if self.out is None:
            raise InputError("corporeal motion fill-dmpls came without --out; expected a .npz.")
        made = fill_dmpls(
            FillDmplsConfig(
                clip=Path(self.motion),
                out=self.out,
                model=self.model,
                onto=self.onto,
                body=self.body,
            )
        )
        if self.json:
            print_json(made)
        else:
            print(
                f"wrote {made.out} ({made.frames} frames at {made.fps:g} a second; "
                f"{100 * made.kept:.0f} % of the predicted dynamics are in the coefficients)"
            )
        return 0

    def _list(self) -> int:
        from corporeal.motions.library import MOTIONS

        if self.json:
            print_json(sorted(MOTIONS))
        else:
            print("\n".join(sorted(MOTIONS)))
        return 0

    def _info(self) -> int:
        from corporeal.pipelines.motion_info import describe_motion

        facts = describe_motion(self._config(Path()))
        if self.json:
            print_json(facts)
            return 0
        low, high = facts.root_height
        print(
            f"{facts.name}\n"
            f"  frames          {facts.frames} at {facts.fps:g} a second, {facts.duration:.2f} s\n"
            f"  joints          {facts.joints}\n"
            f"  pelvis          {low:.2f} to {high:.2f} m high, {facts.root_travel:.2f} m of way\n"
            f"  fastest joint   {facts.fastest_joint}, {facts.fastest_speed:.1f} rad/s\n"
            f"  frame rate      {facts.frame_rate_check}"
        )
        for note in facts.notes:
            print(f"  note            {note}")
        return 0

    def _render(self) -> int:
        if self.out is None:
            raise InputError(
                "corporeal motion render came without --out; expected a film (.mp4, .gif) or a "
                "contact sheet (.png)."
            )
        say(f"filming {self.motion}")
        made = animate(self._config(self.out))
        if self.json:
            print_json(made)
        else:
            print(f"wrote {made.out} ({made.frames} frames at {made.fps:g} a second)")
        return 0

    def _config(self, out: Path) -> AnimateConfig:
        shared = {f.name: getattr(self, f.name) for f in fields(MotionOptions)}
        return AnimateConfig(out=out, motion=self.motion, body=self.body, **shared)
