"""Load and long life: many pages at once, many runs and shapes in one process: `python -m
hardening.load`.
"""
