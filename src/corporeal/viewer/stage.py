"""The bodies side by side, in step with each other: what a session moves and a page shows."""

from collections.abc import Sequence

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.appearance.appearance import Appearance
from corporeal.appearance.dress import DEFAULT, coverage_of
from corporeal.body.deformer import Deformer
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.controls import read_controls
from corporeal.pipelines.deformers import deformer_class, make_deformer
from corporeal.scene.drape import Drape
from corporeal.skinning.linear import LinearBlendSkinning
from corporeal.viewer.document import View
from corporeal.viewer.hands import Hand
from corporeal.viewer.players import (
    AnimatedSkinning,
    FleshPlayer,
    Moment,
    Player,
    SkinnedPlayer,
    Skinning,
    TakePlayer,
)
from corporeal.viewer.playhead import FPS, Playhead


class Stage:
    """One person, one motion, one to four players."""

    def __init__(self, model: PhenotypeModel, identity: Identity, motion: Motion) -> None:
        self.model, self.identity = model, identity
        self.playhead = Playhead(motion)
        self._appearance = DEFAULT
        self._drape: Drape | None = None
        self._linear = LinearBlendSkinning(model.template)
        self._deformers: dict[str, Deformer] = {}
        self.plain = SkinnedPlayer(self._linear, identity)
        """Linear blending of the same person: the measure of all others."""
        self.players: list[Player] = []
        self.views: tuple[View, ...] = ()
        self.takes: dict[str, TakePlayer] = {}
        """Takes from files, by name."""
        self.hands: dict[int, Hand] = {}
        """What the user holds, by view."""
        self.exaggeration: NumpyArray | None = None
        """Painted factors (V) on the way from linear blending; None is 1 everywhere."""
        self.plain.jump(self.moment)

    @property
    def moment(self) -> Moment:
        """Where the motion is."""
        return Moment(self.playhead.pose(), self.playhead.place / FPS)

    def cast(self, views: Sequence[View]) -> list[int]:
        """Put players for `views` on the stage; gives back those that are new."""
        fresh = []
        for number, view in enumerate(views):
            if number < len(self.views) and self._plays(number, view):
                continue
            player = self._player(view)
            self.players[number : number + 1] = [player]
            self.hands.pop(number, None)
            player.jump(self.moment)
            fresh.append(number)
        del self.players[len(views) :]
        self.hands = {number: hand for number, hand in self.hands.items() if number < len(views)}
        self.views = tuple(views)
        return fresh

    def become(self, identity: Identity) -> None:
        """Another person: skinning follows at once, flesh shows skinning until it is prepared."""
        self.identity = self.plain.identity = identity
        self._drape = None
        self.hands.clear()
        for player in self.players:
            if isinstance(player, SkinnedPlayer):
                player.identity = identity
            elif isinstance(player, FleshPlayer):
                player.wait(identity)
        self.jump()

    def wear(self, appearance: Appearance) -> None:
        """Other clothes, if they are others."""
        before, self._appearance = self._appearance, appearance
        if before.clothes != appearance.clothes:
            self._drape = None

    def perform(self, motion: Motion) -> None:
        """Another motion, from its beginning, or from the same share of it if it is alike."""
        alike = motion.name == self.playhead.motion.name
        place = self.playhead.place if alike else 0.0
        self.playhead = Playhead(motion)
        self.playhead.seek(place)
        self.hands.clear()
        self.jump()

    def seek(self, place: float) -> None:
        """Go to a frame."""
        self.playhead.seek(place)
        self.jump()

    def shown(self, player: Player) -> Float32[NumpyArray, "V 3"]:
        """A player's skin as it is shown, metres: x_lbs + e (x − x_lbs). Takes stay as they are,
        and so do bodies whose deformer has the factors in its dynamics."""
        if self.exaggeration is None or isinstance(player, TakePlayer):
            return player.skin
        if isinstance(player, FleshPlayer) and player.is_weighted:
            return player.skin
        plain, factors = self.plain.skin, self.exaggeration.astype(np.float32)
        return plain + factors[:, None] * (player.skin - plain)

    def dressed(self, skin: Float32[NumpyArray, "V 3"]) -> Float32[NumpyArray, "V 3"]:
        """A skin of this person with cloth over it, metres; a foreign surface as it is."""
        template = self.model.template
        if len(skin) != template.mesh.vertex_count:
            return skin
        if self._drape is None:
            coverage = coverage_of(template, self.identity, self._appearance)
            rest = np.asarray(self.identity.rest_vertices)
            if coverage is None:
                coverage = np.full(len(rest), -1.0)
            self._drape = Drape(rest, template.mesh.triangles, coverage)
        return np.asarray(self._drape.over(skin), np.float32)

    def jump(self) -> None:
        """Put everybody where the playhead is."""
        moment = self.moment
        for player in (self.plain, *self.players):
            player.jump(moment)

    def step(self, speed: float, loop: bool) -> bool:
        """One shown frame on; False at the end."""
        going = self.playhead.step(speed, loop)
        self._advance(speed / FPS)
        return going

    def linger(self) -> bool:
        """One shown frame of a standing skeleton; False if nothing moves."""
        if not self.hands and not any(player.restless for player in self.players):
            return False
        self._advance(1.0 / FPS)
        return True

    def _advance(self, seconds: float) -> None:
        moment = self.moment
        for number, player in enumerate((self.plain, *self.players), start=-1):
            hand = self.hands.get(number)
            player.advance(moment, seconds, () if hand is None else hand.grabs())

    def _plays(self, number: int, view: View) -> bool:
        """Whether a player can stay for another view: what is stepped gets other controls by
        another stepper."""
        before, player = self.views[number], self.players[number]
        same = before.deformer == view.deformer
        return same and (isinstance(player, FleshPlayer) or before.controls == view.controls)

    def _player(self, view: View) -> Player:
        if view.deformer.startswith("take:"):
            name = view.deformer.removeprefix("take:")
            if name not in self.takes:
                raise InputError(f"there is no take {name!r}; load its file first.")
            return self.takes[name]
        if deformer_class(view.deformer).stateful:
            made = FleshPlayer(SkinnedPlayer(self._linear, self.identity))
            made.is_weighted = deformer_class(view.deformer).accepts_local_weights
            return made
        return SkinnedPlayer(self._skinning(view), self.identity)

    def inner(self, identity: Identity) -> SkinnedPlayer:
        """A surface inside the person that follows the joints alone."""
        return SkinnedPlayer(self._linear, identity)

    def _skinning(self, view: View) -> Skinning:
        """The deformer of a view: straight where it is told nothing, else by its controls."""
        name = view.deformer
        if name not in self._deformers:
            self._deformers[name] = make_deformer(name, self.model.template)
        made, controls = self._deformers[name], read_controls(name, view.controls)
        if isinstance(made, Skinning) and not controls.table():
            return made
        return AnimatedSkinning(made, controls)
