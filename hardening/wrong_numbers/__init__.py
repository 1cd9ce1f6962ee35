"""Wrong numbers, planted one at a time, and whether the tests notice: `python -m
hardening.wrong_numbers`.
"""
