"""The bench: strew beside its peers. ``cargo xtask bench`` sets it up and runs it."""
