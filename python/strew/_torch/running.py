"""Running products and sums of groups, as the derivatives of running results need them.

The values of a group stand together, in order. Both are computed by doubling:

```text
for step in 1, 2, 4, ... below the size of the largest group:
    joined_i = join(partial_i, partial_{i - step})    if both are of the same group
```

A pass of elementwise operators over all values for each step: `O(n log(size))` operations. The
operators have derivatives of every order, and zeros among the factors need no special case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def before(values: Tensor, step: int, neutral: float, places: Tensor, dim: int) -> Tensor:
    """The value `step` places before each one in its group, or `neutral` if there is none."""
    return torch.where(places[0] >= step, values.roll(step, dim), neutral)


def product_and_sum(
    factors: Tensor, terms: Tensor, places: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    """The products of all factors before, and the sums R_i = terms_i + factors_{i+1} R_{i+1}.

    `places` are how many values of its group stand before each value, and how many behind it.
    """
    size = int(places[0].max()) + 1 if places.numel() else 0
    product = before(factors, 1, 1, places, dim)
    # The product of the factors that a term `step` places behind is multiplied by.
    behind = torch.where(places[1] >= 1, factors.roll(-1, dim), 1)
    step = 1
    while step < size:
        inside = places[1] >= step
        product = product * before(product, step, 1, places, dim)
        terms = terms + torch.where(inside, behind * terms.roll(-step, dim), 0)
        behind = behind * torch.where(inside, behind.roll(-step, dim), 1)
        step *= 2
    return product, terms
