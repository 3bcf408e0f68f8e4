"""The compiled sort against NumPy's stable one."""

import numpy as np
import pytest

from corporeal.geometry.sorting_cpu import sorted_order


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 1000])
def test_order_is_that_of_a_stable_sort(count: int):
    """Keys of few values have many ties; each length ends its runs in another place."""
    keys = np.random.default_rng(count).integers(0, 9, count).astype(np.float64)
    np.testing.assert_array_equal(sorted_order(keys), np.argsort(keys, kind="stable"))


def test_what_is_not_a_number_leaves_a_permutation():
    keys = np.array([3.0, np.nan, -np.inf, 1.0, np.nan, np.inf, 0.0])
    np.testing.assert_array_equal(np.sort(sorted_order(keys)), np.arange(7))
