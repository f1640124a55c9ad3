"""strew.aggregate without values: the size of each group."""

import numpy as np
import pytest
import strew

GROUPS = np.array([2, 0, 2, 2])


def test_sizes_of_groups():
    made = strew.aggregate(index=GROUPS, reduce="len")
    assert made.dtype == np.int64
    assert made.tolist() == [1, 0, 3]
    assert strew.aggregate(None, GROUPS.tolist(), "len", size=4).tolist() == [1, 0, 3, 0]
    assert strew.aggregate(index=[], reduce="len", size=2).tolist() == [0, 0]
    assert strew.aggregate(index=strew.Plan(GROUPS), reduce="len").tolist() == [1, 0, 3]
    size, before = strew.aggregate(index=GROUPS, reduce=["len", "cumcount"], progress=True)
    assert (size.tolist(), before.tolist()) == ([1, 0, 3], [0, 0, 1, 2])


def test_options():
    made = strew.aggregate(index=[0, 9, 0, 1], reduce="len", size=2, mode="drop", min_count=2)
    assert made.tolist() == [2, 0]
    made = strew.aggregate(index=[0, 1, 0], reduce="len", ignore_index=1, fill_value=-1)
    assert made.tolist() == [2]
    grid = np.array([[0, 1], [1, 1]])
    assert strew.aggregate(index=grid, reduce="len", dim=None).tolist() == [1, 3]
    with pytest.raises(ValueError, match="^aggregate: index has shape .2, 2.: it must have one"):
        strew.aggregate(index=grid, reduce="len")


def test_several_keys_and_keys_of_any_kind():
    made = strew.aggregate(index=(GROUPS, [0, 1, 0, 1]), reduce="len")
    assert made.tolist() == [[0, 1], [0, 0], [2, 1]]
    assert strew.aggregate(index=(2, 0, 2), reduce="len").tolist() == [1, 0, 2]
    keys, sizes = strew.aggregate(by=["b", "a", None, "b"], reduce="len")
    assert (keys.tolist(), sizes.tolist()) == (["a", "b"], [1, 2])
    (words, years), (sizes,) = strew.aggregate(by=(["b", "a", "b"], [1, 1, 1]), reduce=["len"])
    assert (words.tolist(), years.tolist(), sizes.tolist()) == (["a", "b"], [1, 1], [1, 2])


@pytest.mark.parametrize(
    ("reduce", "said"),
    [
        (
            "count",
            r'"count" needs the values: pass src; count leaves out values that are NaN; "len"',
        ),
        ("mean", r'"mean" needs the values: pass src; "len" counts'),
        (["len", "sum"], r'"sum" needs the values: pass src; "len" counts'),
    ],
)
def test_other_reductions_need_values(reduce, said):
    for how in ({"index": GROUPS}, {"by": GROUPS}):
        with pytest.raises(TypeError, match=f"^aggregate: reduce = {said}"):
            strew.aggregate(reduce=reduce, **how)


def test_other_mistakes():
    with pytest.raises(TypeError, match="^aggregate: a callable reduce needs the values"):
        strew.aggregate(index=GROUPS, reduce=np.ptp)
    with pytest.raises(TypeError, match="^aggregate: weights are those of values: pass src"):
        strew.aggregate(index=GROUPS, reduce="len", weights=[1, 1, 1, 1])
    with pytest.raises(TypeError, match="without values, call strew.aggregate.index=groups"):
        strew.aggregate(GROUPS, None, "len")
    with pytest.raises(TypeError, match="pass index, or by for keys$"):
        strew.aggregate(GROUPS)


def test_the_kind_of_the_index():
    torch = pytest.importorskip("torch")
    made = strew.aggregate(index=torch.tensor([1, 1, 0]), reduce="len")
    assert isinstance(made, torch.Tensor)
    assert made.tolist() == [1, 2]
