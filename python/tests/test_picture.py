"""The picture of README.md says what docs/bench.md says."""

import pathlib

import pytest

from bench import picture

ROOT = pathlib.Path(__file__).parents[2]
TEXT = """
2026-01-02; 2 processors; Python 3.11.7.

## 1 thread
|  | workload | strew | strew, int32 | best correct peer |
|---|---|---|---|---|
| W2a | rows | 9.00 ms (1-2) |  | torch 10.0 ms (1-2) |

## 2 threads
|  | strew | strew, int32 | best correct peer |
|---|---|---|---|
| W2a | 3.00 ms (1-2) | 2.50 ms (1-2) | jax (int32) 7.50 ms (7-8) |
| W6 | 4.0 ms (3-5) |  | torch 2.0 ms (1-3) |
| W99 | 4.0 ms (3-5) |  | torch 2.0 ms (1-3) |

## Ratios
| | torch |
|---|---|
| W2a | 1.11, 3.50 |
"""


def test_the_picture_is_of_the_document():
    text = (ROOT / "docs/bench.md").read_text(encoding="utf-8")
    drawn = picture.draw(*picture.bars(text))
    assert (ROOT / "docs/speed.svg").read_text(encoding="utf-8") == drawn
    assert drawn.count("strew ") >= len(picture._WORKLOADS)


def test_a_bar_compares_indices_of_one_type_on_all_threads():
    heading, rows = picture.bars(TEXT)
    assert heading == "2 threads; 2 processors; Python 3.11.7"
    times = [(row.strew, row.peer, row.name) for row in rows]
    assert times == [(4.0, 2.0, "torch"), (2.5, 7.5, "jax, int32 index")]


def test_the_longer_bar_is_the_whole_width():
    drawn = picture.draw(*picture.bars(TEXT))
    whole = f'width="{picture._WIDTH:.1f}"'
    first, second = drawn.split("jax, int32 index")[0].split("torch 2 ms")
    assert f'{whole} height="16" fill="#0072B2"' in first
    assert f'{whole} height="16" fill="#c9ced6"' in second


def test_a_document_without_times_is_an_error():
    with pytest.raises(ValueError, match="no line of the machine"):
        picture.bars("# Benchmarks\n")
