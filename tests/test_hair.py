"""Hair lies where hair grows: nape, sideburns, and no edge where long hair leaves the head."""

import numpy as np

from corporeal.appearance.appearance import Appearance
from corporeal.appearance.hair import hair_parts
from corporeal.appearance.hair_cap import head_of
from corporeal.appearance.regions import scalp_field, vertex_uv
from corporeal.appearance.resolving import Wearer, resolve
from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.geometry.surface import vertex_normals

MAN, WOMAN = Wearer(1.0, 30.0), Wearer(0.0, 30.0)


def test_the_cap_lies_on_the_skin_down_to_the_nape(average: Identity):
    """Along the middle of the back of the head, from the crown to the hairline, hair is outside:
    the neck's skin is known to the cap, too."""
    look = resolve(Appearance(hair="cropped"), MAN)
    skin = np.asarray(average.rest_vertices, np.float64)
    mesh = load_default_body().template.mesh
    above = scalp_field(skin, vertex_uv(mesh))
    middle = np.abs(skin[:, 0]) < 0.02
    behind = np.flatnonzero(middle & (above > 0.006) & (skin[:, 2] < 0.0))
    low = behind[np.argsort(above[behind])[:4]]
    hair = np.asarray(hair_parts(average, look)[0].mesh.vertices, np.float64)
    normals = np.asarray(vertex_normals(skin, mesh.triangles), np.float64)
    for vertex in low:
        near = hair[np.argmin(np.linalg.norm(hair - skin[vertex], axis=1))]
        assert np.linalg.norm(near - skin[vertex]) < 0.012
        assert (near - skin[vertex]) @ normals[vertex] > -0.0005


def test_hair_grows_before_the_ears(average: Identity):
    """A finger's breadth before the ear, at the height of its middle, there is a sideburn; on the
    cheek below there is none."""
    skin = np.asarray(average.rest_vertices, np.float64)
    template = load_default_body().template
    above = scalp_field(skin, vertex_uv(template.mesh))
    head = skin[template.part("head")]
    side = head[head[:, 0] > 0.064]
    ear = np.median(side[side[:, 2] < 0.062], axis=0)
    before = (skin[:, 0] > 0.05) & (np.abs(skin[:, 2] - ear[2] - 0.025) < 0.005)
    assert above[before & (np.abs(skin[:, 1] - ear[1] - 0.012) < 0.006)].min() > 0
    assert above[before & (np.abs(skin[:, 1] - ear[1] + 0.025) < 0.006)].max() < 0


def test_long_hair_comes_out_of_no_line(average: Identity):
    """Behind, between the crown and the ears, the hanging hair lies over the cap: no edge is seen
    where it leaves it."""
    look = resolve(Appearance(hair="long"), WOMAN)
    cap, _, curtain = (np.asarray(p.mesh.vertices, np.float64) for p in hair_parts(average, look))
    middle = head_of(np.asarray(average.rest_vertices, np.float64), look.recession).centre
    rays = [a - middle for a in (cap, curtain)]
    far = [np.linalg.norm(a, axis=1) for a in rays]
    rays = [a / b[:, None] for a, b in zip(rays, far, strict=True)]
    behind = (rays[1][:, 2] < -0.5) & (rays[1][:, 1] > 0.05) & (rays[1][:, 1] < 0.75)
    near = np.argmax(rays[1][behind] @ rays[0].T, axis=1)
    assert (far[1][behind] - far[0][near]).min() > 0.0


def test_long_hair_falls_and_does_not_lie(average: Identity):
    """From where it leaves the head every strand goes down, and none lies on a shoulder like a
    shelf; all end within a hand's breadth of each other."""
    look = resolve(Appearance(hair="long"), WOMAN)
    (mesh,) = (p.mesh for p in hair_parts(average, look) if p.name == "hair_curtain")
    assert mesh.uv is not None
    places, uv = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.uv)
    edges = np.concatenate([mesh.triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
    along = np.ptp(uv[edges, 0], axis=1) < 1e-6
    hanging = uv[edges, 1].max(axis=1) < 0.70
    way = np.diff(places[edges[along & hanging]], axis=1)[:, 0]
    assert (np.abs(way[:, 1]) > 0.8 * np.linalg.norm(way, axis=1)).all()
    assert np.ptp(places[uv[:, 1] < 0.021][:, 1]) < 0.05
