"""What is inside the person on the stage: kept in step with the document, made beside the show."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.formats.layers import read_layers
from corporeal.viewer.document import BodyChoice, Document
from corporeal.viewer.job_process import Job
from corporeal.viewer.packets import Packet
from corporeal.viewer.person import shaped
from corporeal.viewer.players import SkinnedPlayer

if TYPE_CHECKING:
    from corporeal.viewer.session import Session

NAME = "layers"
"""Of the work, as the page hears it."""


class Inside:
    """Layers of one person; None until somebody wants to see or grow them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._asked: tuple[BodyChoice, tuple[tuple[str, float], ...]] | None = None
        self._fitted: BodyChoice | None = None
        self._grown: dict[str, float] = {}
        """Growth of the layers that are there."""
        self.layers: Layers | None = None
        self.muscle: SkinnedPlayer | None = None
        """The muscle surface, moved by the joints."""
        self.told: Packet | None = None
        """What the page was last told of it."""
        self.masses: dict[str, float] = {}
        """Of the layers that are there, kg."""

    @property
    def thickness(self) -> Float32[NumpyArray, "V"] | None:
        """Fat under the skin, millimetres."""
        if self.layers is None:
            return None
        gap = np.linalg.norm(self.layers.skin - self.layers.muscle, axis=1)
        return (1e3 * gap).astype(np.float32)

    def follow(self, session: "Session") -> None:
        """See that the layers are those of the document, where it asks for any."""
        document = session.document
        asked = (document.body, tuple(document.growth.items()))
        if asked == self._asked:
            return
        if self._asked is not None and document.body != self._asked[0]:
            self._forget(session)
        if not _wanted(document):
            self._asked = asked if self.layers is not None else None
            if self._grown:
                self._ungrow(session)
            return
        self._asked = asked
        self._folder.mkdir(parents=True, exist_ok=True)
        fitted, out = (str(self._folder / name) for name in ("layers.npz", "grown.npz"))
        body, growth = document.body, dict(document.growth)
        scan = str(session.uploads.paths[body.scan]) if body.scan else None
        arguments = (body, growth, fitted, self._fitted == body, out, scan)
        from corporeal.viewer.jobs.layers import layers

        def done(answer: Packet) -> None:
            self._fitted, self._grown = body, growth
            self._take(session, answer)

        session.background.spawn(NAME, Job(layers, arguments), done)
        session.tell_busy()

    def give_up(self, session: "Session") -> None:
        """Go back to the growth that was reached: another was refused, or is not wished."""
        kept = replace(session.document, growth=self._grown)
        if kept != session.document:
            self._asked = (kept.body, tuple(self._grown.items()))
            session.apply(kept, remember=False)

    def _ungrow(self, session: "Session") -> None:
        """Nothing has grown any more."""
        self._forget(session)
        session.become(shaped(session.model, session.document.body, session.scanned))

    def _forget(self, session: "Session") -> None:
        """Another body: its layers are not known yet."""
        session.background.cancel(NAME)
        self._grown = {}
        self._asked = self.layers = self.muscle = None
        session.grown_file = None
        session.flesh.use_layers(None)
        self._tell(session, Packet("inside", {"masses": {}, "bones": []}))

    def _tell(self, session: "Session", packet: Packet) -> None:
        self.told, self.masses = packet, dict(packet.fields["masses"])
        session.send(packet)
        session.tell_facts()

    def _take(self, session: "Session", answer: Packet) -> None:
        layered = read_layers(str(answer.fields["file"]))
        self.layers = layered.layers
        identity = session.stage.identity
        skin = np.asarray(layered.body.identity.rest_vertices)
        is_new = not np.array_equal(skin, np.asarray(identity.rest_vertices))
        session.grown_file = str(answer.fields["file"]) if self._grown else None
        session.flesh.use_layers(self.layers)
        inner = Identity(
            self.layers.muscle.astype(np.float32), identity.joints, identity.parameters
        )
        self.muscle = session.stage.inner(inner)
        report = {name: value for name, value in answer.fields.items() if name != "file"}
        self._tell(session, Packet("inside", report, answer.arrays))
        if is_new:
            session.become(layered.body.identity)
        else:
            session.recolour()


def _wanted(document: Document) -> bool:
    look = document.look
    return bool(document.growth) or look.muscle or look.bone or document.colour.what == "layer"
