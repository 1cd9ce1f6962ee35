"""Faults: processes that are killed, disks that are full, clients that meet: `python -m
hardening.faults`.
"""
