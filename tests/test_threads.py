"""Results do not depend on the number of threads: the same bytes on one, two and three."""

from functools import cache

import numpy as np
import pytest
import synthetic
from dynamics_models import trained_for

from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.assets.default_body import load_default_body
from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.physics.contact import detection
from corporeal.physics.solver.cpu import contacts, solver
from corporeal.pipelines.deformers import DEFORMERS, make_deformer
from corporeal.runtime import threads
from corporeal.runtime.threads import over_slices

COUNTS = (1, 2, 3)
"""Three are more than the parts that the solver adds up: it then goes another way."""
CONTACTS = {"projective": {"collisions": 2.0, "ground": 1.0}, "layered": {"ground": 1.0}}
"""Controls that bring contacts of all kinds into the solver."""


@cache
def _layers() -> Layers:
    identity = synthetic.identity_of(load_default_body().template, np.float32)
    return fit_layers(identity, "male", Composition(15.0, 30.0))


def _crouching(frames: int) -> Motion:
    """Thighs and elbows bent far, so that skin meets skin; enough frames for a slice a thread."""
    template = load_default_body().template
    rotations = np.zeros((frames, template.skeleton.joint_count, 3), np.float32)
    names, share = template.skeleton.names, np.linspace(0.5, 1.0, frames)
    for name, axis, angle in (
        ("left_hip", 0, -1.8),
        ("right_hip", 0, -1.8),
        ("left_knee", 0, 2.2),
        ("right_knee", 0, 2.2),
        ("left_elbow", 1, -2.2),
    ):
        rotations[:, names.index(name), axis] = angle * share
    return Motion("crouch", 30.0, rotations, np.zeros((frames, 3), np.float32), template.skeleton)


def use_threads(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run kernels over so many slices, as `NUMBA_NUM_THREADS` does from the start of a process."""
    for module in (threads, solver, contacts, detection):
        monkeypatch.setattr(module, "thread_count", lambda: count)


@pytest.mark.parametrize("name", DEFORMERS)
def test_every_deformer_gives_the_same_bytes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepared and run on so many threads, from nothing each time."""
    template = load_default_body().template
    identity = synthetic.identity_of(template, np.float32)
    controls = {key: np.array([value]) for key, value in CONTACTS.get(name, {}).items()}
    motion = _crouching(3 if name in CONTACTS else 13)
    layers = _layers() if name == "layered" else None
    results = []
    for count in COUNTS:
        use_threads(count, monkeypatch)
        deformer = (
            make_deformer(name, template, trained=trained_for(name))
            if layers is None
            else LayeredSkinning(template, layers)
        )
        results.append(deformer.animate(identity, motion, controls).vertices)
    for other in results[1:]:
        assert other.tobytes() == results[0].tobytes()


@pytest.mark.parametrize("count", [1, 3, 8, 17])
def test_slices_cover_every_index_once(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On three threads, whatever the number of items."""
    use_threads(3, monkeypatch)
    seen = np.zeros(count, int)

    def work(first: int, last: int) -> None:
        seen[first:last] += 1

    over_slices(work, count, 2)
    np.testing.assert_array_equal(seen, 1)


def test_what_a_slice_raises_is_raised_when_all_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever slice it is, and helpers go on working afterwards."""
    use_threads(3, monkeypatch)
    for bad in range(3):
        ended = np.zeros(3, int)

        def work(first: int, last: int, bad: int = bad, ended: np.ndarray = ended) -> None:
            ended[first:last] = 1
            if first == bad:
                raise ValueError(f"slice {bad}")

        with pytest.raises(ValueError, match=f"slice {bad}"):
            over_slices(work, 3)
        np.testing.assert_array_equal(ended, 1)


def test_slices_within_slices_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every slice asks for slices of its own, more at once than there are helpers at first."""
    use_threads(3, monkeypatch)
    seen = np.zeros((6, 8), int)

    def outer(first: int, last: int) -> None:
        for row in range(first, last):

            def inner(start: int, stop: int, row: int = row) -> None:
                seen[row, start:stop] += 1

            over_slices(inner, 8)

    over_slices(outer, 6)
    np.testing.assert_array_equal(seen, 1)
