"""What the paper and its sharper forms predict, from a sample alone: no file here sees a run."""
