"""The operators of `strew.torch_scatter` in torch's dispatcher."""

from . import composites, scatter, scripted, segments

__all__ = ["composites", "scatter", "scripted", "segments"]
