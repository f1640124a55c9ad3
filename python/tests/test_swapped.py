"""Values and index in the wrong order: an error that says so."""

import numpy as np
import pytest
import strew


def test_arguments_that_are_swapped():
    groups, values = np.array([2, 0, 2]), np.array([1.0, 5.0, 2.0])
    table = np.array([[1, 2], [3, 4], [5, 6]])
    for function in (strew.aggregate, strew.scatter):
        with pytest.raises(TypeError, match="integer type; src comes first and index second"):
            function(groups, values)
        for index in (values.tolist(), values * 1j):
            with pytest.raises(TypeError, match="src comes first"):
                function(groups.tolist(), index)
        with pytest.raises(ValueError, match="src comes first"):
            function(groups, table)
        # Any other error is as it was.
        for src, index in [(values, values), (groups, groups[:2]), (table, table[:2])]:
            with pytest.raises((TypeError, ValueError)) as raised:
                function(src, index)
            assert "src comes first" not in str(raised.value)
    with pytest.raises(TypeError, match="src comes first"):
        strew.aggregate(groups, values, np.max)
    with pytest.raises(TypeError, match="src comes first"):
        strew.scatter(groups, values, reduce="median")
    with pytest.raises(ValueError) as raised:
        strew.aggregate(groups, strew.Plan(groups), size=3)
    assert "src comes first" not in str(raised.value)
