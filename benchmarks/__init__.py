"""`python -m benchmarks`: our times beside what a user would write instead, and beside what the
machine can do. See docs/bench.md.
"""
