"""The suites of torch's dispatcher, with what runs on a GPU in the CPU's place.

opcheck, gradcheck, gradgradcheck, vmap, make_fx, TorchScript, ``torch.compile(fullgraph=True)``.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import strew

#: What holds on the CPU only, by the suite: words in the names of tests.
ELSEWHERE = {
    "autograd": (),
    # Its aggregates include some that do not run on a device.
    "compare_gradients": ("strew.aggregate",),
    "functions": (
        # A call on a device goes through the dispatcher.
        "test_no_way_through_the_dispatcher_without_need",
        # Weights are not taken on a device.
        "test_lazy_views_are_taken_with_and_without_a_gradient",
    ),
    # It looks at how often an index takes a plan's place.
    "plan": ("test_both_ways_go_by_the_plan",),
    "pyg_lib": (),
    "segments": (),
    # Aggregates, weights and an index for each line that do not run on a device.
    "vmap": (
        *"median std softmax cumsum argmax nunique reduce11 ptp".split(),
        *"test_modes test_weights_of_each_sample test_what_is_refused".split(),
    ),
}


@pytest.mark.parametrize("suite", ELSEWHERE)
def test_suite(suite):
    tests = Path(__file__).parents[1]
    deselected = [f"not {name}" for name in ELSEWHERE[suite]]
    options = ["-k", " and ".join(deselected)] if deselected else []
    paths = [Path(strew.__file__).parents[1], tests, tests / "peers", tests / "gpu"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "as_gpu", "-p", "no:cacheprovider"]
    command += ["-W", "ignore::RuntimeWarning", f"{tests}/peers/test_{suite}.py", *options]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
