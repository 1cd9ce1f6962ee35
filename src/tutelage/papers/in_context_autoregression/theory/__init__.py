"""Predictions: functions of sizes and of the start alone, which see no run."""
