"""The operators of `strew.torch_scatter` in torch's dispatcher."""

from . import composites, scatter, segments

__all__ = ["composites", "scatter", "segments"]
