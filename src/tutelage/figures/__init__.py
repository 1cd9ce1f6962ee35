"""Figures: they read runs and verdicts, and never train."""
