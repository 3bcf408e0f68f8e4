"""The canary: if shape annotations stopped being checked, every other test would mean less."""

from collections.abc import Callable
from typing import Any

import checked_annotations
import jaxtyping
import numpy as np
import pytest
from beartype import beartype
from jaxtyping import Float, TypeCheckError

from corporeal.body.mesh import Mesh, triangles_from_quads

Row = Float[np.ndarray, "V 3"]


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """As the import hook decorates functions of the package."""
    return jaxtyping.jaxtyped(typechecker=beartype)(function)


def test_wrong_shape_of_a_function_argument_is_caught():
    with pytest.raises(TypeCheckError):
        triangles_from_quads(np.zeros((2, 3), int))


def test_wrong_shape_of_a_noun_field_is_caught():
    with pytest.raises(TypeCheckError):
        Mesh(np.zeros((4, 2)), np.zeros((1, 3), int))


def test_a_letter_has_one_size_in_a_call_and_another_in_the_next():
    """Among parameters, between parameters and the result, and not beyond the call."""

    def longer(left: Row, right: Row, *, by: int = 0) -> Row:
        return np.concatenate([left, np.zeros((by, 3))])

    longer = checked(longer)
    for count in (2, 5):
        assert longer(np.ones((count, 3)), right=np.ones((count, 3))).shape == (count, 3)
    with pytest.raises(TypeCheckError, match=r"checking the parameters of .*longer"):
        longer(np.ones((2, 3)), np.ones((5, 3)))
    with pytest.raises(TypeCheckError, match=r"the return value of .*longer"):
        longer(np.ones((2, 3)), np.ones((2, 3)), by=1)
    with pytest.raises(TypeCheckError, match=r"checking the parameters of .*longer"):
        longer(np.ones((2, 3)), np.ones((2, 3)), by="1")
    with pytest.raises(TypeError, match="right"):
        longer(np.ones((2, 3)))


def test_a_function_that_calls_another_keeps_its_sizes():
    def inner(values: Row) -> Row:
        return values

    def outer(values: Row) -> Row:
        checked(inner)(np.ones((7, 3)))
        return np.ones((7, 3))

    assert checked(outer)(np.ones((7, 3))).shape == (7, 3)
    with pytest.raises(TypeCheckError, match="outer"):
        checked(outer)(np.ones((2, 3)))


def test_a_function_within_another_is_checked_each_time_and_compiled_once():
    """Its code is the same at every definition; what it closes over is not."""

    def adding(offset: int) -> Callable[[int], Any]:
        def add(value: int) -> int:
            return value + offset if value else "nothing"  # type: ignore[return-value]

        return checked(add)

    before = adding(1)
    known = len(checked_annotations._known)
    for offset in range(3):
        assert adding(offset)(1) == 1 + offset
        with pytest.raises(TypeCheckError, match="parameters"):
            adding(offset)("1")  # type: ignore[arg-type]
        with pytest.raises(TypeCheckError, match="return value"):
            adding(offset)(0)
    assert before(1) == 2
    assert len(checked_annotations._known) == known
    own = [code.co_name for code, _ in checked_annotations._known if code.co_filename == __file__]
    assert own.count("add") == 1


def test_annotations_that_differ_at_each_definition_are_told_apart():
    def taking(kind: type) -> Callable[..., Any]:
        def take(value: kind) -> kind:  # type: ignore[valid-type]
            return value

        return checked(take)

    assert taking(int)(1) == 1
    assert taking(str)("1") == "1"
    with pytest.raises(TypeCheckError):
        taking(str)(1)


def test_the_package_is_checked_by_the_quick_decorator():
    """Else tests take several times as long, and nobody would know why."""
    assert hasattr(triangles_from_quads, "has_checks")
    assert hasattr(Mesh.__init__, "has_checks")
