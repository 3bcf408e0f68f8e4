"""One tab's session: keeps the document, does what the page asks, moves the stage, sends frames."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

from corporeal.body.identity import Identity
from corporeal.errors import CorporealError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.viewer.background import Background
from corporeal.viewer.colouring import Colouring, painted_map
from corporeal.viewer.document import Document, View, as_json
from corporeal.viewer.faults import FAULTS, GONE, told
from corporeal.viewer.flesh import FleshMaker
from corporeal.viewer.frames import frame_packet, model_packet, person_packet
from corporeal.viewer.inside import NAME as LAYERS
from corporeal.viewer.inside import Inside
from corporeal.viewer.looks import Dresser
from corporeal.viewer.messages import require_message
from corporeal.viewer.packets import Packet
from corporeal.viewer.performing import perform
from corporeal.viewer.person import authored, facts, shaped, shown_face, weighed
from corporeal.viewer.players import FleshPlayer, Player
from corporeal.viewer.playhead import FPS
from corporeal.viewer.posing import POSES
from corporeal.viewer.stage import Stage
from corporeal.viewer.uploads import Uploads

Action = Callable[["Session", Packet], None]
"""Does one kind of thing that a page asks."""

_MOST_UNDO = 200
_UNSEEN = 3
"""Frames on their way to the page; more would only make it late."""
_CATCH_UP = 3
"""Steps taken at once when late, at most; beyond that time goes slower."""


class Session:
    """Everything behind one tab."""

    def __init__(
        self, send: Callable[[Packet], None], folder: Path, files: Sequence[Path] = ()
    ) -> None:
        """`send` takes messages to the page; files of this tab live in `folder`; `files` are shown
        from the beginning."""
        self.send, self.folder, self._files = send, folder, files
        self.background = Background(self._refused)
        self.model = PhenotypeModel()
        self.stands_in = bool(files)
        """Whether the one body on the stage only waits for the first take of `files`."""
        self.document = Document(views=(View("lbs"),)) if files else Document()
        self.past: list[Document] = []
        self.future: list[Document] = []
        self.uploads = Uploads(folder / "uploads")
        self.inside = Inside(folder / "inside")
        self.grown_file: str | None = None
        """Layers of the person, where growth has changed them."""
        self.scanned: dict[str, Identity] = {}
        """Registered people, by the names of their files."""
        identity = shaped(self.model, self.document.body)
        motion = authored(self.model, identity, self.document.motion)
        self.stage = Stage(self.model, identity, motion)
        self.flesh = FleshMaker(self.model.template)
        self.dresser = Dresser()
        self._settled = self.document
        self._colouring = self._new_colouring()
        self._sent = self._seen = 0
        self._next = perf_counter()
        self._rate = 1.0
        self._dirty = True
        self.watched = True
        """Whether a page is there."""
        self.surfaces: dict[str, Packet] = {}
        """What the page was told of takes whose triangles are their own, by name."""
        self._progress: dict[str, str] = {}
        self._facts: dict[str, float] = {}
        self._opened = False
        self._shown = self.document

    def prepare(self) -> None:
        """Do what takes long before a page is there: all that its first picture needs, and then the
        looks and the flesh, which begin when the background is released."""
        self.background.hold()
        self.dresser.prepare(self)
        self.dresser.begin(self)
        self._cast()
        _ = self._first_words
        self._document_packet()  # imports what commands need
        self._frame(0)  # compiles, or loads what is compiled

    @cached_property
    def _first_words(self) -> tuple[Packet, Packet]:
        from corporeal.viewer.catalogue import catalogue

        return Packet("catalogue", catalogue(self.model)), model_packet(self.model)

    def open(self) -> None:
        """Tell the page everything that it needs to begin: a new one, or one that has come back."""
        from corporeal.viewer.actions.upload import tell_files

        self.watched, self._seen, self._dirty = True, self._sent, True
        self._next = perf_counter()
        known, model = self._first_words
        self.send(Packet("catalogue", {**known.fields, "fresh": self._is_fresh}))
        self.send(model)
        self._tell_person()
        self.dresser.tell_all(self)
        for packet in self.surfaces.values():
            self.send(packet)
        if not self.stage.players:
            self._cast()
        self.dresser.begin(self)
        self._tell_document()
        if self.inside.told is not None:
            self.send(self.inside.told)
        tell_files(self)
        self._measure()
        if not self._opened:
            self._show_files()
        self._opened = True
        self.tell_busy()

    @property
    def _is_fresh(self) -> bool:
        """Whether nothing was done here yet, so that a page may bring back what it had."""
        return not (self._opened or self._files)

    @property
    def body_file(self) -> str | None:
        """File of the person on the stage, where sliders alone do not tell: grown, or scanned."""
        scan = self.document.body.scan
        return self.grown_file or (str(self.uploads.paths[scan]) if scan else None)

    def leave(self) -> None:
        """The page has gone, and may come back: nothing moves meanwhile."""
        self.watched = False
        self.stage.hands.clear()

    def _show_files(self) -> None:
        from corporeal.viewer.actions.upload import look_at

        for path in self._files:
            look_at(self, self.uploads.lend(path))

    def handle(self, packet: Packet, actions: dict[str, Action]) -> None:
        """Do what a message asks; a refusal is told, and the session goes on."""
        try:
            require_message(packet, {"seen": None, **actions})
            if packet.kind == "seen":
                self._seen = max(self._seen, min(int(packet.fields["number"]), self._sent))
                return
            actions[packet.kind](self, packet)
        except CorporealError as error:
            self.refuse(str(error))
        except GONE:
            raise
        except FAULTS as error:
            self.refuse(told(error, f"doing {packet.kind[:60]!r}"))
        self._dirty = True

    def refuse(self, why: str) -> None:
        """Tell the person why something is not done."""
        self.send(Packet("refused", {"why": why}))
        self._tell_document()

    def tell(self, text: str) -> None:
        """Tell the person something."""
        self.send(Packet("notice", {"text": text}))

    def tell_busy(self) -> None:
        """Tell the page what is being prepared, and how far it is."""
        self._progress = self.background.progress
        names = list(self.background.busy)
        self.send(Packet("busy", {"names": names, "progress": self._progress}))

    def apply(self, document: Document, *, final: bool = True, remember: bool = True) -> None:
        """Take a changed document; unless `final`, more of the same gesture will follow."""
        before, self.document = self.document, document
        try:
            self._realise(before, final)
        except (CorporealError, *FAULTS):
            self._take_back(before, final)
            raise
        self._dirty = True
        if not final:
            return
        if remember and replace(document, playing=self._settled.playing) != self._settled:
            self.past = [*self.past[-_MOST_UNDO:], self._settled]
            self.future.clear()
        self._settled = document
        self._tell_document()

    def _take_back(self, before: Document, final: bool) -> None:
        """Make the stage follow the document before again, after another could not be."""
        failed, self.document = self.document, before
        try:
            self._realise(failed, final)
        except GONE:
            raise
        except (CorporealError, *FAULTS) as error:
            told(error, "going back")

    def _realise(self, before: Document, final: bool) -> None:
        """Make the stage follow the document."""
        now, settled = self.document, self._settled
        if now.motion.name != before.motion.name:
            self.uploads.motion_source(now.motion.name)
        if now.body != before.body:
            self.stage.become(shaped(self.model, now.body, self.scanned))
            self._tell_person()
        if now.appearance != before.appearance:
            self.stage.wear(now.appearance)
        if (now.body, now.appearance) != (before.body, before.appearance) or (
            final and (now.body, now.appearance) != (settled.body, settled.appearance)
        ):
            self.dresser.follow(self, final=final)
        if final:
            self.inside.follow(self)
        if final and now.body != settled.body:
            self._measure()
        if final and (now.body != settled.body or now.motion != settled.motion):
            perform(self)
        if now.keys != before.keys and now.motion.name == POSES:
            made = authored(self.model, self.stage.identity, now.motion, now.keys)
            self.stage.perform(made)
        if now.views != before.views or now.painted != settled.painted:
            self._cast()
        elif final and now.body != settled.body:
            self._prepare(range(len(now.views)))
        if now.exaggerated != before.exaggerated:
            count = self.model.template.mesh.vertex_count
            self.stage.exaggeration = painted_map(now.exaggerated, count)
            self._prepare([n for n, made in enumerate(self.stage.players) if _is_weighted(made)])
        if _coloured(now) != _coloured(before):
            self._colouring = self._new_colouring()
        if now.playing and not before.playing:
            self._next = perf_counter()

    def become(self, identity: Identity) -> None:
        """Another skin for the same choices, such as one that has grown."""
        self.stage.become(identity)
        self._tell_person()
        self.dresser.follow(self, final=True)
        self._measure()
        perform(self)
        self._prepare(range(len(self.document.views)))
        self.recolour()

    def recolour(self) -> None:
        """Take the numbers on the skin anew."""
        self._colouring = self._new_colouring()
        self._dirty = True
        self._tell_document()

    def tick(self) -> float:
        """Go on as far as time has; gives back seconds until there is more to do.

        A fault is told; the document goes back to the last that could be shown, and stands still.
        """
        try:
            return self._tick()
        except GONE:
            raise
        except (CorporealError, *FAULTS) as error:
            self._recover(error)
            return 0.1

    def _recover(self, error: BaseException) -> None:
        why = str(error) if isinstance(error, CorporealError) else told(error, "showing a frame")
        self._dirty = False
        self.stage.hands.clear()
        self._take_back(replace(self._shown, playing=False), True)
        self._settled = self.document
        self.refuse(why)

    def _tick(self) -> float:
        if self.background.poll():
            self._dirty = True
            self.tell_busy()
        elif self.background.progress != self._progress:
            self.tell_busy()
        if not self.watched:
            return 0.2
        now = perf_counter()
        if now >= self._next:
            late = now - self._next
            steps = min(1 + int(late * FPS), self._most_steps())
            moved = self._move(steps)
            gone = steps / FPS
            self._rate += 0.1 * (min(1.0, gone / max(late + 1 / FPS, gone)) - self._rate)
            self._next = max(self._next + gone, now - 1 / FPS)
            if (moved or self._dirty) and self._sent - self._seen < _UNSEEN:
                self._show()
        return max(0.0, self._next - perf_counter()) if self._moving else 0.02

    def _most_steps(self) -> int:
        """Steps between two frames that are sent, so that thirty a second are where one step
        leaves time for them."""
        cost = 1e-3 * sum(player.step_ms for player in self.stage.players)
        return max(1, min(_CATCH_UP, int(2.0 / FPS / max(cost, 1e-6))))

    @property
    def _moving(self) -> bool:
        return self.document.playing or self._dirty or bool(self.stage.hands)

    def close(self) -> None:
        """Let go of everything."""
        self.background.close()

    def _move(self, steps: int) -> bool:
        if self.background.wants_all:
            return False
        if not self.document.playing:
            return self.stage.linger()
        for _ in range(steps):
            if not self.stage.step(self.document.speed, self.document.loop):
                self.apply(replace(self.document, playing=False), remember=False)
                break
        return True

    def _show(self) -> None:
        number = self._sent + 1
        self.send(self._frame(number))
        self._sent, self._dirty, self._shown = number, False, self.document

    def _frame(self, number: int) -> Packet:
        muscle = self.inside.muscle if self.document.look.muscle else None
        return frame_packet(self.stage, self._colouring, number, self._rate, muscle)

    def _cast(self) -> None:
        """Players for the views; flesh for those that are new, or are told something else."""
        before = self.stage.views
        fresh = self.stage.cast(self.document.views)
        changed = [
            n for n, view in enumerate(self.document.views[: len(before)]) if view != before[n]
        ]
        repainted = self.document.painted != self._settled.painted
        every = range(len(self.document.views)) if repainted else ()
        self._prepare(sorted({*fresh, *changed, *every}))

    def _prepare(self, numbers: Any) -> None:
        """Prepare the flesh of some views beside the show."""
        count = self.model.template.mesh.vertex_count
        painted = painted_map(self.document.painted, count)
        for number in numbers:
            player, view = self.stage.players[number], self.document.views[number]
            if not isinstance(player, FleshPlayer):
                self.background.cancel(f"flesh {number}")
                continue
            pose, weights = self.stage.moment.pose, self.stage.exaggeration
            work = self.flesh.work(view, self.stage.identity, pose, painted, player.live, weights)
            self.background.start(f"flesh {number}", work, player.begin, lane="slow")
        self.tell_busy()

    def _measure(self) -> None:
        model, identity = self.model, self.stage.identity
        self.background.start(
            "measurements",
            lambda: facts(model, identity),
            self._take_facts,
        )

    def _take_facts(self, found: dict[str, float]) -> None:
        self._facts = found
        self.tell_facts()

    def tell_facts(self) -> None:
        """Tell the page what was measured; masses as the layers have them, where there are any."""
        self.send(Packet("facts", {"values": weighed(self._facts, self.inside.masses)}))

    def _new_colouring(self) -> Colouring:
        return Colouring(
            self.document.colour,
            self.model.template,
            self.stage.identity,
            _shown_paint(self.document),
            self.inside.thickness,
        )

    def _tell_person(self) -> None:
        self.send(person_packet(self.stage.identity))

    def _tell_document(self) -> None:
        self.send(self._document_packet())

    def _document_packet(self) -> Packet:
        from corporeal.viewer.command_line import command_lines

        scale = self._colouring.scale
        return Packet(
            "document",
            {
                "document": as_json(self.document),
                "undo": len(self.past),
                "redo": len(self.future),
                "scale": None if scale is None else vars(scale),
                "commands": command_lines(self.document),
                "face": shown_face(self.document.appearance),
            },
        )

    def _refused(self, name: str, why: str) -> None:
        self.uploads.forget(name)  # where it was a file that nobody could read
        if name == LAYERS:
            self.inside.give_up(self)
        text = why.replace(f"{self.uploads.folder}/", "")
        self.refuse(text if text.startswith(name) else f"{name}: {text}")


def _is_weighted(player: Player) -> bool:
    """Whether painted exaggeration is a matter of the deformer itself."""
    return isinstance(player, FleshPlayer) and player.is_weighted


def _coloured(document: Document) -> tuple[Any, ...]:
    """What numbers on the skin depend on."""
    return document.colour, document.body, _shown_paint(document)


def _shown_paint(document: Document) -> Mapping[str, float]:
    """The painted factors that colours show."""
    is_exaggeration = document.colour.what == "exaggeration"
    return document.exaggerated if is_exaggeration else document.painted
