"""What torch's classes declare of derivatives is what the operators' rows say."""

import pytest

pytest.importorskip("torch")

import strew.torch
import strew.torch_scatter
from strew import _strew
from strew._torch.calls import Call


def declared(of):
    """The classes of operators that have a row."""
    for one in of.__subclasses__():
        if one.row and "names" in vars(one):
            yield one
        yield from declared(one)


CALLS = {call.name: call for call in declared(Call)}


def test_there_are_some():
    assert len(CALLS) > 30
    assert strew.torch and strew.torch_scatter


@pytest.mark.parametrize("name", CALLS)
def test_arguments_with_a_derivative_are_those_of_the_row(name):
    call = CALLS[name]
    row = _strew.Operator(call.row.format(reduce="min"))
    of_row = {argument for argument in row.differentiable if argument in call.names}
    # What `out` holds counts where it is reduced with the rest.
    assert {*call.differentiable} - {"out"} == of_row
