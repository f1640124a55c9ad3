"""Who competes: one module per library, each in an environment of its own.

A module here has two functions. ``spellings(problem)`` gives the ways in which the library says the
workload, none if it cannot; the fastest right one counts, for strew as for its peers. ``version()``
is the library's version. Only `table` is imported by the driver: the libraries are not there.
"""
