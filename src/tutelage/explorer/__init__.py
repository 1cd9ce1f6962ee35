"""The explorer: a page in the browser that chooses a setting, runs it through `execute` and watches
it learn.
"""
