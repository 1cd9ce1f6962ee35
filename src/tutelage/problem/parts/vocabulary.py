"""Options that several parts share: one label, letter and range for one thing."""

from __future__ import annotations

from dataclasses import replace

from tutelage.problem.options import Option

ACTIVATIONS = ("relu", "leaky_relu(0.1)", "identity", "erf", "tanh", "gelu", "silu")

TOKENS = Option("tokens", "D", 1, 256, shape=True)
# The small ones are those that matter, hence the logarithm.
SUPPORT = Option("tokens read", "K", 1, 256, log=True, at_most="tokens")
GROUP = replace(SUPPORT, divides="tokens")  # where tokens are cut into groups of that many
OUTPUTS = Option("outputs", "M", 1, 64, shape=True)
DIM = Option("features of a token", "d", 1, 64, shape=True)
QUERIES = Option("queries", "Q", 1, 256, shape=True)
HIDDEN = Option("hidden units", "", 1, 256, shape=True)
ACTIVATION = Option("activation σ", shape=True, choices=ACTIVATIONS)
NORM = Option("norm of V*", "‖V*‖", 0.1, 1000, log=True)
SCALE = Option("scale", "", 0.01, 100, log=True)
NOISE = Option("label noise", "τ", 0, 100)
# Hidden, since pages show S token by token.
COLLAPSE = Option("run equal tokens as one", hidden=True, shape=True)
START = Option("size of the random start", "", 0, 10)
RESTART = Option("number of the start", "", 0, 100, unused={"start": (0.0,)})
CODE_SIZE = Option("length of a code", "p", 1, 512, shape=True)
LEARNED = Option("codes are learned", shape=True)
ATTENTION_SCALE = Option("scale of the scores", "c", 0.001, 100, log=True)
BATCH = Option("batch", "N", 1, 2000, log=True, shape=True)
SAMPLES = Option("samples", "n", 1, 20_000, log=True, shape=True)
HELD_OUT = Option("inputs held out", "", 0, 20_000, shape=True)
WIDTH = Option("width", "m", 1, 2048, log=True, shape=True)
QUERY = Option("query vector", shape=True)
POWER = Option("power by which steps fall", "", 0, 2, shape=True)
ONSET = Option("steps until they fall", "", 1, 1e6, log=True, shape=True, unused={"power": (0.0,)})
