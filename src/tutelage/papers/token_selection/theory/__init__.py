"""What is predicted, from sizes alone: no file here sees a run."""
