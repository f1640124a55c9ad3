"""strew's operators inside JAX's transformations, with their derivatives.

Needs jax, and is imported only where JAX traces a function.

* `form`: where the elements of a scatter's updates go, as data.
* `primitives`: a scatter and a gather as JAX's primitives.
* `rules`: what JAX's transformations make of these; `derivatives`: tangents of products, quotients
  and extremes; `products`: the factors of a product's tangent.
* `lowering`: the primitives as calls of the compiled extension, or of XLA's own scatter and gather.
* `checks`: the operator's own checks of shapes and dtypes.
* `at`, `segments`, `stablehlo`: the functions of `strew.jax`, `strew.jax.ops` and
  `strew.stablehlo`.
"""

from . import rules  # isort: skip  (the functions rely on it)
from . import at, lowering, segments, stablehlo

__all__ = ["at", "lowering", "rules", "segments", "stablehlo"]
