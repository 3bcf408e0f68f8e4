"""One tab's session: keeps the document, does what the page asks, moves the stage, sends frames."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from corporeal.body.identity import Identity
from corporeal.errors import CorporealError, InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.viewer.background import Background
from corporeal.viewer.colouring import Colouring, painted_map
from corporeal.viewer.document import Document, View, as_json
from corporeal.viewer.flesh import FleshMaker
from corporeal.viewer.frames import frame_packet, model_packet, person_packet, tone_packet
from corporeal.viewer.inside import NAME as LAYERS
from corporeal.viewer.inside import Inside
from corporeal.viewer.job_process import READING, Job
from corporeal.viewer.packets import Packet
from corporeal.viewer.person import authored, facts, shaped
from corporeal.viewer.players import FleshPlayer
from corporeal.viewer.playhead import FPS, rooted
from corporeal.viewer.stage import Stage
from corporeal.viewer.uploads import Uploads, motion_in

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
        identity = shaped(self.model, self.document.body)
        motion = authored(self.model, identity, self.document.motion)
        self.stage = Stage(self.model, identity, motion)
        self.flesh = FleshMaker(self.model.template)
        self._settled = self.document
        self._colouring = self._new_colouring()
        self._sent = self._seen = 0
        self._next = perf_counter()
        self._rate = 1.0
        self._dirty = True

    def open(self) -> None:
        """Tell the page everything that it needs to begin."""
        from corporeal.viewer.catalogue import catalogue

        self.send(Packet("catalogue", catalogue(self.model)))
        self.send(model_packet(self.model))
        self.send(tone_packet(self.model, self.document.look.tone))
        self._tell_person()
        self._cast()
        self._tell_document()
        self._measure()
        self._show_files()

    def _show_files(self) -> None:
        from corporeal.viewer.actions.upload import look_at

        for path in self._files:
            look_at(self, self.uploads.lend(path))

    def handle(self, packet: Packet, actions: dict[str, Action]) -> None:
        """Do what a message asks; a refusal is told, and the session goes on."""
        try:
            if packet.kind == "seen":
                self._seen = max(self._seen, int(packet.fields["number"]))
                return
            if packet.kind not in actions:
                raise InputError(f"the studio knows no {packet.kind!r}.")
            actions[packet.kind](self, packet)
        except CorporealError as error:
            self.refuse(str(error))
        except (KeyError, TypeError, ValueError) as error:
            traceback.print_exc()
            self.refuse(f"the message {packet.kind!r} is not whole: {error!r}.")
        self._dirty = True

    def refuse(self, why: str) -> None:
        """Tell the person why something is not done."""
        self.send(Packet("refused", {"why": why}))
        self._tell_document()

    def tell(self, text: str) -> None:
        """Tell the person something."""
        self.send(Packet("notice", {"text": text}))

    def tell_busy(self) -> None:
        """Tell the page what is being prepared."""
        self.send(Packet("busy", {"names": list(self.background.busy)}))

    def apply(self, document: Document, *, final: bool = True, remember: bool = True) -> None:
        """Take a changed document; unless `final`, more of the same gesture will follow."""
        before, self.document = self.document, document
        try:
            self._realise(before, final)
        except CorporealError:
            self.document = before
            raise
        self._dirty = True
        if not final:
            return
        if remember and replace(document, playing=self._settled.playing) != self._settled:
            self.past = [*self.past[-_MOST_UNDO:], self._settled]
            self.future.clear()
        self._settled = document
        self._tell_document()

    def _realise(self, before: Document, final: bool) -> None:
        """Make the stage follow the document."""
        now, settled = self.document, self._settled
        if now.body != before.body:
            self.stage.become(shaped(self.model, now.body))
            self._tell_person()
        if final:
            self.inside.follow(self)
        if final and now.body != settled.body:
            self._measure()
        if final and (now.body != settled.body or now.motion != settled.motion):
            self._author()
        if now.views != before.views or now.painted != settled.painted:
            self._cast()
        elif final and now.body != settled.body:
            self._prepare(range(len(now.views)))
        if now.exaggerated != before.exaggerated:
            count = self.model.template.mesh.vertex_count
            self.stage.exaggeration = painted_map(now.exaggerated, count)
        if _coloured(now) != _coloured(before):
            self._colouring = self._new_colouring()
        if now.look.tone != before.look.tone:
            self.send(tone_packet(self.model, now.look.tone))
        if now.playing and not before.playing:
            self._next = perf_counter()

    def become(self, identity: Identity) -> None:
        """Another skin for the same choices, such as one that has grown."""
        self.stage.become(identity)
        self._tell_person()
        self._measure()
        self._author()
        self._prepare(range(len(self.document.views)))
        self.recolour()

    def recolour(self) -> None:
        """Take the numbers on the skin anew."""
        self._colouring = self._new_colouring()
        self._dirty = True
        self._tell_document()

    def tick(self) -> float:
        """Go on as far as time has; gives back seconds until there is more to do."""
        if self.background.poll():
            self._dirty = True
            self.send(Packet("busy", {"names": list(self.background.busy)}))
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
        self._sent += 1
        muscle = self.inside.muscle if self.document.look.muscle else None
        self.send(frame_packet(self.stage, self._colouring, self._sent, self._rate, muscle))
        self._dirty = False

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
            work = self.flesh.work(
                view, self.stage.identity, self.stage.moment.pose, painted, player.live
            )
            self.background.start(f"flesh {number}", work, player.begin, lane="slow")
        self.send(Packet("busy", {"names": list(self.background.busy)}))

    def _author(self) -> None:
        """Make the motion for this person beside the show."""
        model, identity, choice = self.model, self.stage.identity, self.document.motion
        if choice.name in self.uploads.motions:
            self._fit_motion()
            return
        self.background.start(
            "motion", lambda: authored(model, identity, choice), self.stage.perform
        )

    def _fit_motion(self) -> None:
        """Fit an uploaded motion to this person in a process of its own."""
        from corporeal.viewer.jobs.look import retarget

        choice, body = self.document.motion, self.document.body
        kept = self.uploads.fitted(choice.name, body)
        if kept is not None:
            self.background.cancel("motion")
            self.stage.perform(rooted(kept, choice.root))
            return

        def done(answer: Packet) -> None:
            motion = motion_in(answer, self.model.template)
            self.uploads.motions[choice.name] = (body, motion)
            self.stage.perform(rooted(motion, choice.root))

        arguments = (str(self.uploads.paths[choice.name]), body, self.grown_file)
        self.background.spawn("motion", Job(retarget, arguments, READING), done)

    def _measure(self) -> None:
        model, identity = self.model, self.stage.identity
        self.background.start(
            "measurements",
            lambda: facts(model, identity),
            lambda found: self.send(Packet("facts", {"values": found})),
        )

    def _new_colouring(self) -> Colouring:
        return Colouring(
            self.document.colour,
            self.model.template,
            self.stage.identity,
            _shown_paint(self.document),
            self.inside.thickness,
        )

    def _tell_person(self) -> None:
        self.send(person_packet(self.model, self.stage.identity))

    def _tell_document(self) -> None:
        from corporeal.viewer.command_line import command_lines

        scale = self._colouring.scale
        self.send(
            Packet(
                "document",
                {
                    "document": as_json(self.document),
                    "undo": len(self.past),
                    "redo": len(self.future),
                    "scale": None if scale is None else vars(scale),
                    "commands": command_lines(self.document),
                },
            )
        )

    def _refused(self, name: str, why: str) -> None:
        self.uploads.forget(name)  # where it was a file that nobody could read
        if name == LAYERS:
            self.inside.give_up(self)
        text = why.replace(f"{self.uploads.folder}/", "")
        self.refuse(text if text.startswith(name) else f"{name}: {text}")


def _coloured(document: Document) -> tuple[Any, ...]:
    """What numbers on the skin depend on."""
    return document.colour, document.body, _shown_paint(document)


def _shown_paint(document: Document) -> Mapping[str, float]:
    """The painted factors that colours show."""
    is_exaggeration = document.colour.what == "exaggeration"
    return document.exaggerated if is_exaggeration else document.painted
