"""strew.factorize of what pandas, pyarrow and Polars hold."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import strew

WORDS = ["b", None, "a", "b", "c"]
KINDS = {
    "pandas strings": pandas.Series(WORDS, dtype="str"),
    "pandas objects": pandas.Series(WORDS, dtype=object),
    "pandas index": pandas.Index(WORDS),
    "pandas category": pandas.Series(WORDS, dtype="category"),
    "pyarrow": pyarrow.array(WORDS),
    "pyarrow dictionary": pyarrow.array([*WORDS, "z"]).dictionary_encode()[:5],
    "pyarrow unsigned": pyarrow.array(WORDS).cast(pyarrow.dictionary("uint8", "string")),
    "pyarrow chunks": pyarrow.chunked_array([WORDS[:2], WORDS[2:]]),
    "Polars": polars.Series(WORDS),
    "Polars categories": polars.Series(WORDS, dtype=polars.Categorical),
    "Polars enum": polars.Series(WORDS, dtype=polars.Enum(["z", "c", "b", "a"])),
    "Polars objects": polars.Series(WORDS, dtype=polars.Object),
    "list": WORDS,
}


@pytest.mark.parametrize("kind", KINDS)
def test_words(kind):
    index, values = strew.factorize(KINDS[kind])
    if kind == "Polars enum":
        # In the order of its values.
        assert (index.tolist(), values.tolist()) == ([1, -1, 2, 1, 0], ["c", "b", "a"])
        return
    assert (index.dtype, index.tolist()) == (np.int64, [1, -1, 0, 1, 2])
    assert values.tolist() == ["a", "b", "c"]


def some_texts(seed):
    """Short and long texts, with zeros and letters of several bytes, and some that are missing."""
    random = np.random.default_rng(seed)
    letters = ["a", "b", "\0", "é", "𝄞"]
    lengths = random.choice([0, 1, 2, 3, 7, 8, 9, 13, 20], 300)
    made = ["".join(random.choice(letters[: 2 + seed % 4], length)) for length in lengths]
    return [None if random.random() < 0.1 else text for text in made]


IN_ARROW = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]


def number_of_each(keys):
    different = sorted({key for key in keys if key is not None})
    return [-1 if key is None else different.index(key) for key in keys], different


@pytest.mark.parametrize("kind", IN_ARROW)
@pytest.mark.parametrize("seed", range(6))
def test_texts_in_arrow(kind, seed):
    texts = some_texts(seed)
    if "binary" in kind:
        texts = [None if text is None else text.encode() for text in texts]
    of_kind = getattr(pyarrow, kind)()
    array = pyarrow.array(texts, of_kind)
    chunks = pyarrow.chunked_array([texts[:100], [], texts[100:]], of_kind)
    for keys, held in [
        (array, texts),
        (array[17:250], texts[17:250]),
        (chunks, texts),
        (chunks[90:110], texts[90:110]),
        (array[:0], []),
        (pyarrow.chunked_array([], of_kind), []),
    ]:
        index, values = strew.factorize(keys)
        assert (index.tolist(), values.tolist()) == number_of_each(held)


@pytest.mark.parametrize("seed", range(6))
def test_texts_of_pandas_and_polars(seed):
    texts = some_texts(seed)
    series = polars.Series(texts, dtype=polars.String)
    for keys, held in [
        (pandas.Series(texts, dtype="str"), texts),
        (pandas.Series(texts, dtype="str")[20:60], texts[20:60]),
        (pandas.array(texts, dtype="str"), texts),
        (series, texts),
        (series[20:60], texts[20:60]),
        (polars.concat([series[:50], series[50:]], rechunk=False), texts),
        (series[:0], []),
        (series.cast(polars.Binary), [None if one is None else one.encode() for one in texts]),
    ]:
        index, values = strew.factorize(keys)
        assert (index.tolist(), values.tolist()) == number_of_each(held)


@pytest.mark.parametrize("make", [pandas.Series, pyarrow.array, polars.Series])
def test_numbers_and_dates(make):
    for keys in [np.array([5, 3, 5]), np.array(["2020", "2019", "2020"], "M8[us]")]:
        index, values = strew.factorize(make(keys))
        assert index.tolist() == [1, 0, 1]
        assert (values == np.sort(keys)[:2]).all()


def test_a_dictionary_with_a_null():
    large = 2**53 + 1
    keys = pyarrow.DictionaryArray.from_arrays([0, 1, 2, None], [large, None, 1])
    index, values = strew.factorize(keys)
    assert (index.tolist(), values.tolist()) == ([1, -1, 0, -1], [1, large])


def test_keys_without_a_hash():
    index, values = strew.factorize(np.array([[1], [0], None, [1]], object))
    assert (index.tolist(), values.tolist()) == ([1, 0, -1, 1], [[0], [1]])


@pytest.mark.parametrize(
    "keys", [pyarrow.array([[1], [2]]), polars.Series([{"a": 1}]), pandas.Series([{}, {}])]
)
def test_keys_that_cannot_be_ordered(keys):
    with pytest.raises(TypeError, match="factorize: the keys cannot be ordered"):
        strew.factorize(keys)


def test_columns_of_one_name():
    column = pyarrow.array([1, 2])
    for frame in [
        pyarrow.table([column, column], names=["a", "a"]),
        pandas.DataFrame([[1, 2]], columns=["a", "a"]),
    ]:
        with pytest.raises(ValueError, match="names \\['a', 'a'\\]: they must differ"):
            strew.factorize(frame)


def test_nullable_numbers():
    index, values = strew.factorize(pandas.Series([5, None, 3], dtype="Int64"))
    assert (index.tolist(), values.tolist()) == ([1, -1, 0], [3, 5])
    index, values = strew.factorize(pyarrow.array([5, None, 3]))
    assert (index.tolist(), values.tolist()) == ([1, -1, 0], [3, 5])


@pytest.mark.parametrize(
    "make", [pandas.DataFrame, polars.DataFrame, pyarrow.table, pyarrow.record_batch]
)
def test_frames(make):
    frame = make({"year": [2001, 2000, 2001, 2001], "name": ["b", "a", "b", "a"]})
    index, values = strew.factorize(frame)
    assert index.tolist() == [2, 0, 2, 1]
    assert values["year"].tolist() == [2000, 2001, 2001]
    assert values["name"].tolist() == ["a", "a", "b"]


def test_categories_keep_their_order():
    sizes = pandas.Categorical(["small", "large", "small"], ["small", "medium", "large"])
    index, values = strew.factorize(pandas.Series(sizes))
    assert (index.tolist(), values.tolist()) == ([0, 1, 0], ["small", "large"])
