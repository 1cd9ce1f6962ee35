"""Campaigns against tutelage: bad input, wrong numbers, faults, load. `make harden` runs them."""
