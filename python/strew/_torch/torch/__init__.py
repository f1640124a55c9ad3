"""The operators of `strew.torch` in torch's dispatcher."""

from . import index, put, scatter, scatter_reduce, segment_reduce, slices

__all__ = ["index", "put", "scatter", "scatter_reduce", "segment_reduce", "slices"]
