"""Who competes: one module per library, each in an environment of its own, and one for plain loops.

A module here has two functions. ``spellings(problem)`` gives the ways in which the library says the
workload, none if it cannot, each with the dtype of the index that it reads: the fastest right one
counts, beside strew's with the same dtype. ``version()`` is the library's version. One that keeps
memory from call to call may have ``forget()``, which gives it back. Only `table` is imported by the
driver: the libraries are not there.
"""
