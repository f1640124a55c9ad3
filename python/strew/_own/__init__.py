"""strew's own functions: scatter, gather, aggregate and group."""
