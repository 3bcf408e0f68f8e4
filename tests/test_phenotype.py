"""Sliders to bodies: the blend rule, batches, derivatives, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corporeal.assets.targets import Targets
from corporeal.errors import InputError
from corporeal.models.phenotype.equations import (
    ANNY_RULE,
    PHENOTYPE_RULE,
    anchor_weights,
    macro_table,
)
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.models.phenotype.modifiers import modifiers

MODEL = PhenotypeModel()
FLOAT32_M = 2e-6
NAMES = MODEL.body.targets.names
AXES = {axis.parameter.name: axis for axis in PHENOTYPE_RULE}


def coefficient(name: str, **sliders: float) -> float:
    return float(MODEL.macro_coefficients(sliders)[NAMES.index(name)])


class TestRule:
    @given(share=st.floats(0, 1), rule=st.sampled_from([PHENOTYPE_RULE, ANNY_RULE]))
    @settings(max_examples=60, deadline=None)
    def test_weights_of_a_slider_add_up_to_one(self, share: float, rule: tuple) -> None:
        for axis in rule:
            low, high = axis.parameter.low, axis.parameter.high
            weights = anchor_weights(np.asarray(low + share * (high - low)), axis)
            assert sum(weights) == pytest.approx(1, abs=1e-12)
            assert min(weights) >= -1e-12

    @pytest.mark.parametrize("name", list(AXES))
    def test_an_anchor_has_all_the_weight_at_its_place(self, name: str) -> None:
        axis = AXES[name]
        for k, anchor in enumerate(axis.anchors):
            if axis.parameter.low <= anchor <= axis.parameter.high:
                weights = anchor_weights(np.asarray(anchor), axis)
                assert [float(w) for w in weights] == [float(i == k) for i in range(len(weights))]

    def test_coefficient_is_the_product_of_word_weights(self) -> None:
        """¼ woman, ¾ of the way from average to stout is ½ max, age 57.5 is ½ old."""
        sliders = {"gender": 0.75, "age": 57.5, "weight": 0.75, "muscle": 0.0, "height": 0.9}
        stem = "macrodetails/universal-female-old-minmuscle"
        assert coefficient(f"{stem}-maxweight", **sliders) == pytest.approx(0.25 * 0.5 * 0.5)
        assert coefficient(f"{stem}-minweight", **sliders) == 0
        tall = "macrodetails/height/male-old-minmuscle-averageweight-maxheight"
        assert coefficient(tall, **sliders) == pytest.approx(0.75 * 0.5 * 0.5 * 0.8)
        assert coefficient("macrodetails/asian-male-old", **sliders) == pytest.approx(0.75 / 6)

    def test_young_is_one_age_until_25(self) -> None:
        np.testing.assert_array_equal(
            MODEL.macro_coefficients({"age": 18.0}), MODEL.macro_coefficients({"age": 25.0})
        )

    def test_average_height_needs_no_target(self) -> None:
        coefficients = MODEL.macro_coefficients({"height": 0.5})
        assert not any(
            c for c, name in zip(coefficients, NAMES, strict=False) if name.endswith("height")
        )

    def test_men_have_no_cup(self) -> None:
        small, large = (MODEL.prepare({"gender": 1.0, "cup": cup}) for cup in (0.0, 1.0))
        np.testing.assert_array_equal(small.rest_vertices, large.rest_vertices)

    def test_unknown_words_are_refused(self) -> None:
        with pytest.raises(InputError, match="giant"):
            macro_table(("macrodetails/universal-male-giant",), PHENOTYPE_RULE)


class TestPrepare:
    def test_defaults_give_the_template(self) -> None:
        body = MODEL.prepare()
        np.testing.assert_allclose(body.rest_vertices, MODEL.template.mesh.vertices, atol=FLOAT32_M)
        np.testing.assert_allclose(body.joints, MODEL.template.skeleton.joints, atol=FLOAT32_M)

    def test_is_base_plus_linear_sum_set_on_the_ground(self) -> None:
        coefficients = MODEL.coefficients(
            {"gender": 0.2, "weight": 0.9}, {"stomach-pregnant": -0.5}
        )
        body = MODEL.from_coefficients(coefficients)
        vertices = MODEL.base_vertices + np.tensordot(coefficients, MODEL.vertex_offsets, 1)
        joints = MODEL.base_joints + np.tensordot(coefficients, MODEL.joint_offsets, 1)
        shift = [0, vertices[:, 1].min(), 0]
        np.testing.assert_allclose(body.rest_vertices, vertices - shift, atol=FLOAT32_M)
        np.testing.assert_allclose(body.joints, joints - shift, atol=FLOAT32_M)

    def test_batch_equals_one_by_one(self) -> None:
        genders, ages = np.array([[0.0], [0.7]]), np.array([20.0, 50.0, 80.0])
        batch = MODEL.prepare({"gender": genders, "age": ages, "muscle": 0.8})
        assert batch.rest_vertices.shape == (2, 3, 13_380, 3)
        single = MODEL.prepare({"gender": 0.7, "age": 50.0, "muscle": 0.8})
        np.testing.assert_allclose(batch.rest_vertices[1, 1], single.rest_vertices, atol=FLOAT32_M)
        np.testing.assert_allclose(batch.joints[1, 1], single.joints, atol=FLOAT32_M)

    def test_every_person_stands_on_the_ground(self) -> None:
        rng = np.random.default_rng(0)
        sliders = {p.name: rng.uniform(p.low, p.high, 12) for p in MODEL.parameters}
        people = MODEL.prepare(sliders)
        np.testing.assert_array_equal(people.rest_vertices[..., 1].min(axis=-1), 0)

    def test_sliders_do_what_they_say(self) -> None:
        def height(**sliders: float) -> float:
            return float(np.ptp(MODEL.prepare(sliders).rest_vertices[:, 1]))

        assert height(height=0.0) < height() < height(height=1.0)
        assert height(gender=0.0) < height(gender=1.0)
        thin, stout = (MODEL.prepare({"weight": w}).rest_vertices for w in (0.0, 1.0))
        belly = MODEL.template.part("belly")
        assert np.ptp(thin[belly, 0]) < np.ptp(stout[belly, 0])

    def test_remembers_what_made_it(self) -> None:
        body = MODEL.prepare({"gender": 0.3}, {"hip-trans-up": 0.2})
        assert {name: float(value) for name, value in body.parameters.items()} == {
            "gender": 0.3,
            "hip-trans-up": 0.2,
        }


class TestLocal:
    def test_opposites_share_one_signed_number(self) -> None:
        thin, fat = NAMES.index("arms/l-upperarm-fat-decr"), NAMES.index("arms/l-upperarm-fat-incr")
        for value, expected in ((-0.4, (0.4, 0)), (0.6, (0, 0.6)), (0.0, (0, 0))):
            coefficients = MODEL.coefficients({}, {"l-upperarm-fat": value})
            assert (coefficients[thin], coefficients[fat]) == expected

    def test_directions_are_named_after_the_positive_one(self) -> None:
        up, lonely = modifiers(("hip/hip-trans-down", "hip/hip-trans-up", "own/belly"))
        assert (up.parameter.name, up.parameter.low, up.positive, up.negative) == (
            "hip-trans-up", -1.0, 1, 0,
        )  # fmt: skip
        assert (lonely.parameter.name, lonely.parameter.low, lonely.negative) == (
            "belly",
            0.0,
            None,
        )

    def test_every_local_target_has_its_slider(self) -> None:
        used = [i for m in MODEL.modifiers for i in (m.positive, m.negative) if i is not None]
        assert sorted(used) == list(range(MODEL.body.local.count))
        names = [p.name for p in MODEL.local_parameters]
        assert len(set(names)) == len(names)

    def test_added_targets_become_sliders(self) -> None:
        offsets = np.zeros((1, 13_380, 3))
        offsets[0, 5000, 0] = 0.01
        extra = Targets(("own/horn",), offsets, np.zeros((1, 52, 3)))
        model = PhenotypeModel(MODEL.body.with_targets(extra))
        change = model.prepare({}, {"horn": 0.5}).rest_vertices - model.prepare().rest_vertices
        assert change[5000, 0] == pytest.approx(0.005, abs=1e-6)


SLIDERS = {
    "gender": 0.3, "age": 47.0, "muscle": 0.2, "weight": 0.8, "height": 0.6, "proportions": 0.3,
    "cup": 0.7, "firmness": 0.4,
}  # fmt: skip


class TestDerivatives:
    @pytest.mark.parametrize("name", list(SLIDERS))
    def test_jax_gradient_equals_differences(self, name: str) -> None:
        """Within one piece the rule is linear in each slider, so differences are exact."""
        jax = pytest.importorskip("jax")
        vertex = MODEL.template.part("left_breast")[10]

        def place(value):
            body = MODEL.prepare({**SLIDERS, name: value})
            return body.rest_vertices[vertex], body.joints[12]

        slopes = jax.jacobian(place)(SLIDERS[name])
        step = 1.0 if name == "age" else 0.05
        above, below = place(SLIDERS[name] + step), place(SLIDERS[name] - step)
        for slope, high, low in zip(slopes, above, below, strict=True):
            expected = (high.astype(float) - low) / (2 * step)
            np.testing.assert_allclose(slope, expected, atol=4e-7 / step)

    def test_slope_at_an_anchor_is_the_mean_of_both_sides(self) -> None:
        jax = pytest.importorskip("jax")
        name = NAMES.index("macrodetails/universal-male-young-averagemuscle-maxweight")

        def value(weight):
            return MODEL.macro_coefficients({"gender": 1.0, "age": 25.0, "weight": weight})[name]

        assert float(jax.grad(value)(0.5)) == pytest.approx(1.0)  # 0 below, 2 above
        assert float(jax.grad(value)(1.0)) == pytest.approx(2.0)  # the range ends: whole

    def test_jax_equals_numpy_under_jit(self) -> None:
        jax = pytest.importorskip("jax")
        sliders = {name: np.float32(value) for name, value in SLIDERS.items()}
        traced = jax.jit(lambda s: MODEL.prepare(s, {"stomach-pregnant": 0.5}).rest_vertices)
        expected = MODEL.prepare(sliders, {"stomach-pregnant": 0.5}).rest_vertices
        np.testing.assert_allclose(traced(sliders), expected, atol=FLOAT32_M)


class TestRefusals:
    def test_children(self) -> None:
        with pytest.raises(InputError, match=r"age is 17 years; expected 18 to 80.*Only adults"):
            MODEL.prepare({"age": 17})

    def test_unknown_slider(self) -> None:
        with pytest.raises(InputError, match=r"'girth'; known: gender, age"):
            MODEL.prepare({"girth": 0.5})

    def test_unknown_modifier(self) -> None:
        with pytest.raises(InputError, match=r"unknown local name 'tail'.*stomach-pregnant"):
            MODEL.prepare({}, {"tail": 0.5})

    @pytest.mark.parametrize(("name", "value"), [("weight", 1.01), ("muscle", -0.2), ("age", 81)])
    def test_out_of_range(self, name: str, value: float) -> None:
        with pytest.raises(InputError, match=f"{name} is {value:g}"):
            MODEL.prepare({name: value})

    def test_one_of_a_batch_out_of_range(self) -> None:
        with pytest.raises(InputError, match=r"gender is 1\.5"):
            MODEL.prepare({"gender": np.array([0.0, 1.5])})

    def test_modifier_out_of_range(self) -> None:
        with pytest.raises(InputError, match=r"stomach-pregnant is -1\.2"):
            MODEL.prepare({}, {"stomach-pregnant": -1.2})

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_not_finite(self, value: float) -> None:
        with pytest.raises(InputError, match="not finite"):
            MODEL.prepare({"weight": value})
