"""`strew.Plan`: the same as the calls without a plan, and facts that are proven."""

import doctest
import pickle
import re
import threading

import numpy as np
import pytest
import strew

REDUCES = ["sum", "mean", "prod", "min", "max", "amin", "amax", "assign"]
WORDS = {"prod": "mul"}


def without_a_plan(src, index, size, reduce, dim=0):
    if reduce == "assign":
        made = np.zeros([size if k == dim else n for k, n in enumerate(src.shape)], src.dtype)
        for update, row in enumerate(index):
            np.moveaxis(made, dim, 0)[row] = np.moveaxis(src, dim, 0)[update]
        return made
    if reduce in ("amin", "amax"):
        shape = list(src.shape)
        shape[dim] = size
        lengths = [1] * src.ndim
        lengths[dim] = -1
        expanded = np.broadcast_to(np.reshape(index, lengths), src.shape)
        zeros = np.zeros(shape, src.dtype)
        return strew.torch.scatter_reduce(zeros, dim, expanded, src, reduce, include_self=False)
    return strew.torch_scatter.scatter(src, index, dim, None, size, WORDS.get(reduce, reduce))


def identical(found, expected):
    assert type(found) is type(expected) and found.dtype == expected.dtype
    assert found.shape == expected.shape and found.tobytes() == expected.tobytes()


def test_the_examples_in_docstrings():
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    tests = finder.find(strew.Plan, "Plan", globs={"strew": strew})
    for test in tests:
        runner.run(test)
    assert runner.tries > 15 and runner.failures == 0


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int16", "uint8"])
def test_the_bits_of_the_call_without_a_plan(reduce, dtype):
    rng = np.random.default_rng(3)
    index = rng.integers(0, 50, 300)
    plan = strew.Plan(index, 60)
    for shape, dim in [((300,), 0), ((300, 7), 0), ((3, 300, 5), 1), ((4, 300), -1)]:
        src = rng.integers(-9, 9, shape).astype(dtype)
        expected = without_a_plan(src, index, 60, reduce, dim % src.ndim)
        identical(plan.scatter(src, reduce, dim=dim), expected)
        identical(plan.reduce(src, [reduce], dim=dim)[0], expected)


def test_a_long_run_has_the_same_bits():
    rng = np.random.default_rng(5)
    index = rng.integers(0, 5000, 40_000).astype(np.int32)
    src = rng.standard_normal((40_000, 64), np.float32)
    plan = strew.Plan(index, 5000)
    for found, reduce in zip(plan.reduce(src, REDUCES), REDUCES, strict=True):
        identical(found, without_a_plan(src, index, 5000, reduce))
    identical(plan.gather(src[:5000]), src[:5000][index])


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amin", "amax"])
@pytest.mark.parametrize("include_self", [True, False])
def test_out_is_reduced_into(reduce, include_self):
    rng = np.random.default_rng(4)
    index, src = rng.integers(0, 8, 20), rng.standard_normal((20, 3))
    out = rng.standard_normal((9, 3))
    expanded = np.broadcast_to(index[:, None], src.shape)
    expected = strew.torch.scatter_reduce(out, 0, expanded, src, reduce, include_self=include_self)
    plan = strew.Plan(index, 9)
    assert plan.scatter(src, reduce, out=out, include_self=include_self) is out
    identical(out, expected)


def test_assign_replaces_what_is_in_out():
    plan = strew.Plan([1, 1, 0, 5], 4, mode="drop")
    src = np.array([[1.0, 2.0], [-0.0, np.nan], [3.0, 4.0], [9.0, 9.0]])
    for include_self in [True, False]:
        out = np.full((4, 2), 7.0)
        assert plan.scatter(src, "assign", out=out, include_self=include_self) is out
        identical(out, np.array([[3.0, 4.0], [-0.0, np.nan], [7.0, 7.0], [7.0, 7.0]]))
    identical(
        plan.scatter(np.array([False, True, True, True]), "assign"),
        np.array([True, True, False, False]),
    )
    assert plan.scatter(np.array([1j, 2j, 3j, 4j]), "assign").tolist() == [3j, 2j, 0, 0]


@pytest.mark.parametrize("reduce", ["min", "max"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int16", "bool"])
def test_positions_are_those_of_the_call_without_a_plan(reduce, dtype):
    rng = np.random.default_rng(8)
    call = getattr(strew.torch_scatter, f"scatter_{reduce}")
    for count, size, width in [(300, 60, 7), (30_000, 4000, 40)]:
        index = rng.integers(0, size, count)
        plan = strew.Plan(index, size)
        src = rng.integers(-3, 3, (count, width)).astype(dtype)
        for array, dim in [
            (src, 0),
            (np.ascontiguousarray(src[:, 0]), -1),
            (np.asfortranarray(src).T, 1),
        ]:
            values, positions = plan.scatter_with_arg(array, reduce, dim=dim)
            expected = call(array, index, dim, None, size)
            identical(values, expected[0])
            identical(positions, expected[1])
            identical(values, plan.scatter(array, reduce, dim=dim))


def test_facts():
    plan = strew.Plan(np.array([1, 1, 4], np.uint8), name="edges")
    assert (len(plan), plan.size, plan.name) == (3, 5, "edges")
    assert plan.is_sorted and not plan.is_unique
    assert (plan.min, plan.max, plan.max_multiplicity, plan.touched, plan.dropped) == (
        1,
        4,
        2,
        2,
        0,
    )
    assert repr(plan) == 'strew.Plan("edges", 3 updates into 5 rows, sorted)'
    empty = strew.Plan([])
    assert (len(empty), empty.size, empty.min, empty.max, empty.touched) == (0, 0, None, None, 0)
    assert empty.is_sorted and empty.is_unique
    assert empty.scatter(np.ones((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
def test_every_integer_type(dtype):
    assert strew.Plan(np.array([3, 0, 3], dtype)).scatter([1, 2, 4]).tolist() == [2, 0, 0, 5]


def test_the_index_is_copied():
    index = np.array([0, 1])
    plan = strew.Plan(index)
    index[:] = 1_000_000
    assert plan.scatter([1, 2]).tolist() == [1, 2]


def test_modes():
    src = [1, 2, 4, 8]
    assert strew.Plan([0, -1, -3, 2], 3, mode="wrap").scatter(src).tolist() == [5, 0, 10]
    assert strew.Plan([0, -1, 3, 2], 3, mode="clip").scatter(src).tolist() == [3, 0, 12]
    plan = strew.Plan([0, -1, 3, 2], 3, mode="drop")
    assert plan.scatter(src).tolist() == [1, 0, 8] and plan.dropped == 2
    assert plan.gather([5, 6, 7]).tolist() == [5, 0, 0, 7]
    for mode, index in [("error", [0, -1]), ("error", [0, 3]), ("wrap", [0, -4]), ("wrap", [0, 3])]:
        with pytest.raises(
            IndexError, match=rf"Plan: index\[1\] = {index[1]}: index .* with size 3"
        ):
            strew.Plan(index, 3, mode=mode)


def test_errors():
    plan = strew.Plan([0, 1, 1], name="mine")
    cases = [
        (
            ValueError,
            r'Plan "mine": src has shape \[4\]: its size along dimension 0 must be 3',
            lambda: plan.scatter(np.ones(4)),
        ),
        (IndexError, "Dimension out of range", lambda: plan.scatter(np.ones(3), dim=1)),
        (
            ValueError,
            'reduce = "median": it must be one of sum, mean',
            lambda: plan.scatter(np.ones(3), "median"),
        ),
        (
            ValueError,
            'reduce = "amax": only min and max have positions',
            lambda: plan.scatter_with_arg(np.ones(3), "amax"),
        ),
        (
            TypeError,
            "max is not defined for dtype complex64",
            lambda: plan.scatter_with_arg(np.ones(3, "c8"), "max"),
        ),
        (ValueError, r"src has shape \[4\]", lambda: plan.scatter_with_arg(np.ones(4), "max")),
        (ValueError, 'reduce = "median"', lambda: plan.reduce(np.ones(3), ["sum", "median"])),
        (TypeError, "reduces must be a sequence of names", lambda: plan.reduce(np.ones(3), 3)),
        (
            TypeError,
            "mean is not defined for dtype bool",
            lambda: plan.scatter(np.ones(3, bool), "mean"),
        ),
        (
            TypeError,
            "amax is not defined for dtype complex64",
            lambda: plan.scatter(np.ones(3, "c8"), "amax"),
        ),
        (ValueError, r"src has shape|input has shape", lambda: plan.gather(np.ones(3))),
        (
            ValueError,
            'mode = "fold": it must be error, wrap, drop or clip',
            lambda: strew.Plan([0], mode="fold"),
        ),
        (ValueError, "size = -1: it must be at least 0", lambda: strew.Plan([0], -1)),
        (TypeError, "size must be an integer or None, not str", lambda: strew.Plan([0], "3")),
        (
            TypeError,
            "index has dtype float64: it must be an integer type",
            lambda: strew.Plan([0.5]),
        ),
        (
            ValueError,
            r"index has shape \[1, 2\]: it must have one dimension",
            lambda: strew.Plan([[0, 1]]),
        ),
        (ValueError, "dtype = object", lambda: plan.explain((3,), "object")),
    ]
    for class_, message, call in cases:
        with pytest.raises(class_, match=message):
            call()


def test_an_error_leaves_out_as_it_was():
    plan = strew.Plan([0, 1, 1])
    both = np.arange(5.0)
    for class_, src, out in [
        (TypeError, np.ones(3, np.float32), np.arange(2.0)),
        (ValueError, np.ones(3), np.arange(3.0)),
        (ValueError, both[:3], both[2:4]),
    ]:
        before = out.copy()
        with pytest.raises(class_):
            plan.scatter(src, out=out)
        assert out.tolist() == before.tolist()
    with pytest.raises(TypeError, match="in place"):
        plan.scatter(np.ones(3), out=[0.0, 0.0])


def test_pickles_and_bytes():
    plan = strew.Plan([2, -5, 0, 2], 3, mode="drop", name="kept")
    for again in [pickle.loads(pickle.dumps(plan)), strew.Plan.from_bytes(plan.to_bytes())]:
        assert repr(again) == repr(plan) and again.dropped == 1
        assert again.scatter([1, 2, 3, 4]).tolist() == [3, 0, 5]
    good = bytearray(plan.to_bytes())
    for end in range(len(good)):
        with pytest.raises(ValueError, match="no plan"):
            strew.Plan.from_bytes(bytes(good[:end]))
    good[-4] ^= 1  # A row number that is another: what the bytes say is not so.
    with pytest.raises(ValueError, match="is not so|beyond the destination"):
        strew.Plan.from_bytes(bytes(good))


def test_explain():
    plan = strew.Plan(np.arange(100_000) % 1000, name="round")
    told = plan.explain((100_000, 64), np.float32, ["sum", "max"])
    assert "round" in told and "grouped" in told and "float32" in told
    assert "in-order" in plan.explain((100_000,), "int64", "sum")
    assert "bfloat16" in plan.explain((100_000,), "bfloat16")


def test_explain_counts_bytes_and_predicts_a_time():
    def told(plan, *args, **kwargs):
        sentence, table = plan.explain(*args, **kwargs).split("\n\n")
        assert re.fullmatch(r"Takes the updates .*, because .*; reads .* and writes .*\.", sentence)
        lines = table.splitlines()
        return dict(re.split(r"  +", line, maxsplit=1) for line in lines)

    plan = strew.Plan(np.arange(100_000) % 1000)
    counted = told(plan, (100_000, 64), "float32", measure=False)
    assert counted["source"] == "25.6 MB read"
    assert counted["new output"] == "256.0 kB touched first"
    assert counted["destination"] == "256.0 kB read and written"
    assert "predicted time" not in counted
    measured = told(plan, (100_000, 64), "float32")
    assert measured["tighter bound"] in ("streaming", "random access")
    assert counted.items() <= measured.items() and "predicted time" in measured
    # Several reductions by groups: one trip over the source, an output each.
    grouped = told(plan, (100_000, 64), "float32", ["sum", "max"], measure=False)
    assert grouped["trips over the source"] == "1"
    assert grouped["source"] == "25.6 MB read"
    assert grouped["new output"] == "512.0 kB touched first"
    # The updates are grouped by the first run that wants it, and then they are.
    assert grouped["working memory, at most"].endswith("MB")
    plan.reduce(np.zeros((100_000, 64), np.float32), ["sum", "max"])
    grouped = told(plan, (100_000, 64), "float32", ["sum", "max"], measure=False)
    assert grouped["working memory, at most"] == "0 bytes"
    # A mean of single elements in order has a table of cells with a sum and a count.
    table = told(plan, (100_000,), "float32", "mean", measure=False)
    assert (table["way"], table["working memory, at most"]) == ("in-order", "8.0 kB")
    # Of an assignment, one update of each row is read.
    assigned = told(plan, (100_000, 64), "float32", "assign", measure=False)
    assert (assigned["way"], assigned["source"]) == ("grouped", "256.0 kB read")


def test_a_notebook_shows_the_explanation_as_a_page():
    plan = strew.Plan(np.arange(100_000) % 1000, name="<round>")
    for measure in (True, False):
        told = plan.explain((100_000, 64), np.float32, ["sum", "max"], measure=measure)
        page = told._repr_html_()
        assert page.startswith('<div class="strew">') and page.endswith("</div>\n")
        assert "&lt;round&gt;" in page and "<round>" not in page
        assert "100000 updates into 1000 rows" in page and "grouped (chosen)" in page
        assert ("predicted time</th>" in page.partition("All facts")[2]) == measure
        for line in told.partition("\n\n")[2].splitlines():
            assert f"<th>{re.split('  +', line)[0]}</th>" in page
        # Everywhere else it is a text.
        again = pickle.loads(pickle.dumps(told))
        assert again == told and type(again) is str
    # It tells of the call, whatever has become of the plan.
    told = plan.explain((100_000,), "int64")
    del plan
    assert "Roofline" in told._repr_html_()


def test_many_threads_use_one_plan():
    rng = np.random.default_rng(6)
    index, src = rng.integers(0, 3000, 20_000), rng.standard_normal((20_000, 40))
    plan = strew.Plan(index, 3000)
    expected = without_a_plan(src, index, 3000, "mean")
    found = []

    def work():
        found.append(plan.reduce(src, ["mean", "max"])[0])

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    for one in found:
        identical(one, expected)


def test_an_axis_has_two_names():
    plan, src = strew.Plan([0, 2, 0]), np.arange(6.0).reshape(2, 3)
    assert plan.scatter(src, axis=1).tolist() == plan.scatter(src, dim=1).tolist()
    assert plan.reduce(src, ["sum"], axis=-1)[0].tolist() == plan.scatter(src, dim=1).tolist()
    assert plan.gather(src, axis=1).tolist() == [[0, 2, 0], [3, 5, 3]]
    found, places = plan.scatter_with_arg(src, "max", axis=1)
    assert (found.tolist(), places.tolist()) == ([[2, 0, 1], [5, 0, 4]], [[2, 3, 1], [2, 3, 1]])
    assert plan.explain((2, 3), axis=1, measure=False)
    runs = {
        "scatter": lambda **how: plan.scatter(src, **how),
        "reduce": lambda **how: plan.reduce(src, ["sum"], **how),
        "gather": lambda **how: plan.gather(src, **how),
        "explain": lambda **how: plan.explain((2, 3), **how),
    }
    for name, run in runs.items():
        with pytest.raises(TypeError, match=f"^Plan.{name}: dim and axis are one argument: give"):
            run(dim=1, axis=1)
        with pytest.raises(TypeError, match=f"^Plan.{name}: axis must be an integer of 64 bits"):
            run(axis=None)
