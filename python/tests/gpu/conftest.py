"""Tests of what runs on a GPU, by Triton's interpreter. They need torch and Triton."""

import os

# Triton reads it when it is imported. On a card (`bench/gpu.py`) nothing is interpreted.
if os.environ.get("STREW_GPU") != "cuda":
    os.environ["TRITON_INTERPRET"] = "1"

import pytest
from strew._gpu import compose


def pytest_collection_modifyitems(items):
    for item in items:
        # NumPy, which the interpreter computes with, warns of overflows, NaN and infinities.
        item.add_marker(pytest.mark.filterwarnings("ignore::RuntimeWarning"))
        # Triton 3.5 converts arrays of one element to numbers.
        item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))


@pytest.fixture
def composed():
    """Folds by torch's operators in place of kernels."""
    compose.forced = True
    yield
    compose.forced = False
