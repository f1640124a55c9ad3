"""The table in docs/torch.md: what these checks see of every case, and nothing else. Needs torch.

With STREW_WRITE_DOCS=1 in the environment the table is written, not compared.
"""

import functools
import os
from pathlib import Path

import cases
import pytest
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck
from torch.utils._python_dispatch import TorchDispatchMode

DOCUMENT = Path(__file__).parents[3] / "docs/torch.md"
BEGIN, END = (
    "<!-- The table is written by python/tests/peers/test_table.py. -->\n",
    "<!-- End. -->\n",
)

# torch's own forward mode loads decompositions that it compiles in a way that it advises against.
# Its `opcheck` looks at the gradients of tensors that are no leaves.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit:FutureWarning",
    "ignore:`torch.jit:DeprecationWarning",
    "ignore:The .grad attribute:UserWarning",
)


class Calls(TorchDispatchMode):
    """The calls of strew's operators, with leaves for tensors."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "strew":
            self.seen.append((func, args))
        return func(*args, **(kwargs or {}))


def leaf(argument):
    if not isinstance(argument, torch.Tensor):
        return argument
    copy = argument.detach().clone()
    return copy.requires_grad_() if copy.is_floating_point() else copy


def opcheck(case):
    with Calls() as calls:
        case.call(*case.inputs)
    assert calls.seen
    for operator, arguments in calls.seen:
        torch.library.opcheck(operator, tuple(map(leaf, arguments)))


def backward(case):
    assert gradcheck(case.call, case.inputs)


def second(case):
    assert gradgradcheck(case.call, case.inputs, check_fwd_over_rev=True)


def forward(case):
    assert gradcheck(case.call, case.inputs, check_forward_ad=True, check_backward_ad=False)
    inputs = [x.detach() for x in case.inputs]
    tangents = [torch.randn_like(x) for x in inputs]
    with forward_ad.dual_level():
        found = case.call(*map(forward_ad.make_dual, inputs, tangents))
        along = [forward_ad.unpack_dual(one).tangent for one in floating(found)]
    # Not zeros, as some ways of registering an operator would make them.
    step = 1e-6
    ahead = floating(case.call(*[x + step * t for x, t in zip(inputs, tangents, strict=True)]))
    behind = floating(case.call(*[x - step * t for x, t in zip(inputs, tangents, strict=True)]))
    for a, b, tangent in zip(ahead, behind, along, strict=True):
        torch.testing.assert_close((a - b) / (2 * step), tangent, rtol=1e-5, atol=1e-6)


def floating(results):
    results = results if isinstance(results, tuple) else (results,)
    return [one for one in results if one.is_floating_point()]


def compiled(case):
    torch._dynamo.reset()
    run = torch.compile(case.call, fullgraph=True, backend="aot_eager")
    same_with_gradients(case.call, run, case)


def same_with_gradients(expected, found, case):
    inputs, others = case.inputs, case.inputs
    expected, found = floating(expected(*inputs)), floating(found(*others))
    for a, b in zip(expected, found, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    of = [
        torch.autograd.grad(sum(one.pow(3).sum() for one in out), given)
        for out, given in ((expected, inputs), (found, others))
    ]
    for a, b in zip(*of, strict=True):
        torch.testing.assert_close(a, b)


def batched(case):
    inputs = [x.detach() for x in case.inputs]
    for at in range(len(inputs)):
        samples = torch.stack([inputs[at], inputs[at] * -2, inputs[at] + 1])

        def one(sample, at=at):
            return floating(case.call(*inputs[:at], sample, *inputs[at + 1 :]))[0]

        for out_dim in (0, -1):
            found = torch.func.vmap(one, out_dims=out_dim)(samples)
            expected = torch.stack([one(sample) for sample in samples], out_dim)
            torch.testing.assert_close(found, expected, rtol=0, atol=0)
        moved = torch.func.vmap(one, in_dims=-1)(samples.movedim(0, -1))
        torch.testing.assert_close(
            moved, torch.stack([one(sample) for sample in samples]), rtol=0, atol=0
        )


def transformed(case):
    inputs = [x.detach() for x in case.inputs]
    every = tuple(range(len(inputs)))

    def f(*inputs):
        return sum(one.pow(3).sum() for one in floating(case.call(*inputs)))

    leaves = case.inputs
    expected = torch.autograd.grad(f(*leaves), leaves)
    found = torch.func.grad(f, every)(*inputs)
    tangents = tuple(torch.randn_like(x) for x in inputs)
    _, along = torch.func.jvp(f, tuple(inputs), tangents)
    torch.testing.assert_close(
        along, sum((a * t).sum() for a, t in zip(expected, tangents, strict=True))
    )
    for a, b in zip(expected, found, strict=True):
        torch.testing.assert_close(a, b)
    hessian = torch.func.hessian(f, every)(*inputs)
    wanted = torch.autograd.functional.hessian(f, tuple(inputs))
    for row, wanted_row in zip(hessian, wanted, strict=True):
        for a, b in zip(row, wanted_row, strict=True):
            torch.testing.assert_close(a, b)


def scripted(case):
    run = torch.jit.script(case.function)
    inputs, others = case.inputs, case.inputs
    given, again = iter(inputs), iter(others)
    expected = case.function(
        *(next(given) if cases.is_differentiable(a) else a for a in case.arguments)
    )
    found = run(*(next(again) if cases.is_differentiable(a) else a for a in case.arguments))
    same = floating(expected), floating(found)
    for a, b in zip(*same, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    of = [
        torch.autograd.grad(sum(one.pow(3).sum() for one in out), given)
        for out, given in zip(same, (inputs, others), strict=True)
    ]
    for a, b in zip(*of, strict=True):
        torch.testing.assert_close(a, b)


def in_place(case):
    """The operator, and its gradient: that of the form that makes a new tensor."""
    input, *rest = case.arguments
    target = input.clone()
    with Calls() as calls:
        assert case.in_place(target, *rest) is target
    ((operator, arguments),) = calls.seen
    torch.library.opcheck(
        operator, tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in arguments)
    )

    def run(*inputs):
        given = iter(inputs)
        target, *others = [next(given) if cases.is_differentiable(a) else a for a in case.arguments]
        target = target * 1
        case.in_place(target, *others)
        return target

    same_with_gradients(case.call, run, case)
    torch._dynamo.reset()
    plain = [x.detach() for x in case.inputs]
    found = torch.compile(run, fullgraph=True, backend="aot_eager")(*plain)
    torch.testing.assert_close(found, case.call(*plain), rtol=0, atol=0)


CHECKS = {
    "opcheck": opcheck,
    "gradcheck": backward,
    "gradgradcheck": second,
    "forward mode": forward,
    "`fullgraph`": compiled,
    "vmap": batched,
    "grad, jvp, hessian": transformed,
    "TorchScript": scripted,
    "in place": in_place,
}


@functools.cache
def failure(case_number, check):
    """What is raised by a check of a case; None: it holds."""
    try:
        CHECKS[check](cases.CASES[case_number])
    except Exception as error:
        return error
    return None


def is_meant(case, check):
    return check not in case.without and (check != "in place" or case.in_place is not None)


def cell(row, check):
    meant = [n for n, case in enumerate(cases.CASES) if case.row == row and is_meant(case, check)]
    if not meant:
        return "–"  # noqa: RUF001
    return "yes" if all(failure(n, check) is None for n in meant) else "no"


def table():
    """Functions of which the same was seen share a row."""
    rows = {}
    for row in dict.fromkeys(case.row for case in cases.CASES):
        module, _, function = row.rpartition(".")
        seen = (module, *(cell(row, check) for check in CHECKS))
        rows.setdefault(seen, []).append(f"`{function}`")
    lines = [["module", "functions", *CHECKS], ["---"] * (len(CHECKS) + 2)]
    lines += [[f"`{module}`", ", ".join(names), *cells] for (module, *cells), names in rows.items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("number", range(len(cases.CASES)), ids=lambda n: str(cases.CASES[n]))
def test_case(number, check):
    if is_meant(cases.CASES[number], check) and (error := failure(number, check)) is not None:
        raise error


def test_the_table_in_the_docs_is_what_was_seen():
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    written, _, after = rest.partition(END)
    seen = table()
    if os.environ.get("STREW_WRITE_DOCS"):
        DOCUMENT.write_text(before + BEGIN + seen + END + after, encoding="utf-8")
        return
    assert written == seen, "run this test with STREW_WRITE_DOCS=1"
