"""Optimisers beside those of optax."""
