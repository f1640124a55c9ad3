"""bench.cluster, in small: workers with little memory, one of which is killed. Needs dask, distributed and flox."""

import pytest

from bench import cluster

WORK = cluster.Work(3_000_000, 400_000, 200_000, 100_000, "600MB")


@pytest.fixture(scope="module")
def want():
    return cluster.expected(WORK)


def test_the_bits_are_those_of_one_process(want, tmp_path):
    made = cluster.strew_run(WORK, folder=str(tmp_path))
    assert made["digests"] == want
    # Workers begin with about 150 MB. Memory above their limit would end them.
    assert all(0 < peak < 600 for peak in made["worker_peak_mb"])


def test_a_worker_that_is_killed_changes_nothing(want, tmp_path):
    made = cluster.strew_run(WORK, kill_after=0.3, folder=str(tmp_path))
    assert made["killed"]
    assert made["digests"] == want


def test_flox_has_other_bits_for_sums_of_many_magnitudes(want, tmp_path):
    made = cluster.flox_run(WORK, folder=str(tmp_path))
    assert len(made["digests"]) == len(want)
    assert not set(made["digests"]) & set(want)
