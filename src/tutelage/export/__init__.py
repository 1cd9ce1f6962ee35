"""Runs for other tools: as a dataset of xarray, and into W&B, MLflow and TensorBoard."""
