"""Layered bodies of one template: those given, or layers fitted to whoever comes."""

from weakref import WeakKeyDictionary

import numpy as np

from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.layered.preparation import LayeredPreparation
from corporeal.anatomy.layered.symmetric import symmetric_layers
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.body.tissue_maps import TissueMaps
from corporeal.physics.fast_projective_skinning.controls import StressFree
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.volumetric_mesh.simulation_mesh import DEFAULT_VERTEX_COUNT


class LayeredBodies:
    """What is made for a person once, whatever the controls: layers, surface, upsampling."""

    def __init__(
        self,
        template: Template,
        layers: Layers | None = None,
        maps: TissueMaps | None = None,
        vertex_count: int = DEFAULT_VERTEX_COUNT,
    ) -> None:
        """Without `layers` they are fitted to each body's predicted composition; `vertex_count` is
        that of the simulated skin."""
        self.template = template
        self._layers, self._maps = layers, maps
        self._preparations = Preparations(template, vertex_count, maps)
        self._fitted: WeakKeyDictionary[Identity, dict[float, Layers]] = WeakKeyDictionary()
        self._made: WeakKeyDictionary[Identity, dict[tuple[float, ...], LayeredPreparation]] = (
            WeakKeyDictionary()
        )

    def prepared(
        self, identity: Identity, muscle_ratio: float, age: float, skin_tension: float = 0.0
    ) -> LayeredPreparation:
        """A person whose muscle is `muscle_ratio` times as stiff as fat, in skin of `skin_tension`
        N/m; `age` (years) counts where layers must be fitted."""
        known = self._made.setdefault(identity, {})
        key = (muscle_ratio, 0.0 if self._layers is not None else age, skin_tension)
        if key not in known:
            known[key] = LayeredPreparation(
                self._preparations.of(identity, "t-pose"),
                self.layers(identity, age),
                self.sex(identity),
                muscle_ratio,
                skin_tension,
                self._maps,
            )
        return known[key]

    def layers(self, identity: Identity, age: float) -> Layers:
        """Those given, or fitted to the composition predicted at an `age` in years."""
        if self._layers is not None:
            return self._layers
        known = self._fitted.setdefault(identity, {})
        if age not in known:
            sex = self.sex(identity)
            predicted = predict_composition(identity, age, sex, self.template)
            fitted = fit_layers(identity, sex, predicted.composition, age=age)
            known[age] = symmetric_layers(fitted, self.template.mesh.mirror)
        return known[age]

    def sex(self, identity: Identity) -> str:
        """What the layers say, else the nearer end of the body's gender."""
        metadata = {} if self._layers is None else self._layers.metadata or {}
        gender = float(np.asarray(identity.parameters.get("gender", 0.5)))
        return str(metadata.get("sex", "male" if gender >= 0.5 else "female"))


class LayeredCast:
    """The bodies under one choice of the controls that shape flesh before the solver does."""

    def __init__(
        self, bodies: LayeredBodies, muscle_ratio: float, age: float, skin_tension: float = 0.0
    ) -> None:
        self._bodies, self._muscle_ratio, self._age = bodies, muscle_ratio, age
        self._skin_tension = skin_tension

    def of(self, identity: Identity, stress_free: StressFree = "t-pose") -> LayeredPreparation:
        """The parts of one person; layers are fitted, and free of stress, in the T-pose alone."""
        given = self._muscle_ratio, self._age, self._skin_tension
        return self._bodies.prepared(identity, *given)
