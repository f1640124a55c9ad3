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


INEXACT = "sumsq var std sem".split()

#: The same of suites that take minutes, which run if STREW_SLOW is set.
SLOW = {
    "aggregate_gradients": (
        # They do not run on a device: functions and fractions of each group.
        *"test_functions_of_groups test_several_at_once test_a_q_for_each_group".split(),
        # Nor do deviations of complex numbers, exact deviations, and an index for each line.
        *"test_complex_numbers[var test_complex_numbers[std test_complex_numbers[sem".split(),
        *(f"test_exact_results_have_the_same_derivatives[{name}" for name in INEXACT),
        "test_scatters",
        # Their index is a list, or is made of one that is no tensor.
        *"test_equal_values test_fill_values_that_are_values test_errors".split(),
        "test_no_grad_and_an_index_that_changes",
    ),
    "own": (),
    "plan_gradients": (
        # torch's gather on the CPU changes the payloads of NaN of bfloat16.
        "(test_bits and bfloat16)",
        # It forbids an index in a plan's place, which is how a device takes a plan.
        "test_the_gradient_goes_by_the_plan",
        # Exact sums are interpreted, so that their gradchecks take more than an hour here.
        # test_every_axis and test_reduce have exact sums, too.
        "(exact_ and not test_bits)",
    ),
}


@pytest.mark.parametrize("suite", [*ELSEWHERE, *SLOW])
def test_suite(suite):
    if suite in SLOW and not os.environ.get("STREW_SLOW"):
        pytest.skip("it takes minutes: set STREW_SLOW")
    tests = Path(__file__).parents[1]
    deselected = [f"not {name}" for name in (ELSEWHERE | SLOW)[suite]]
    options = ["-k", " and ".join(deselected)] if deselected else []
    paths = [Path(strew.__file__).parents[1], tests, tests / "peers", tests / "gpu"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "as_gpu", "-p", "no:cacheprovider"]
    command += ["-W", "ignore::RuntimeWarning", f"{tests}/peers/test_{suite}.py", *options]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
