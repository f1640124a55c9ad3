"""Groups: keys, weights, missing values and dates, and the reductions of them."""
