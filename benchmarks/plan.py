"""What is measured: groups of rows that take turns."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.problems import CORES, GRAM_HEADS, GRAM_SAMPLES, SAMPLES, SEEDS, TOKENS, WIDTHS, D

MIDDLE, LARGE, MILLION, HORIZON = 1024, 4096, 10**6, 10**12


class Size(NamedTuple):
    """How long each row works, and how often: the full bench, or a quick look."""

    quick: bool
    rounds: int
    scale: float  # of the work in a round


FULL, QUICK = Size(False, 5, 1.0), Size(True, 2, 0.2)


def groups(size: Size, torch: bool) -> dict[str, dict[str, tuple[str, dict[str, Any]]]]:
    """Name of a row to the function that makes it and its options."""

    def times(number: int) -> int:
        return max(1, int(number * size.scale))

    seconds = 0.6 * size.scale
    plain = {"tokens": D}
    found: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {}
    found["cnn"] = {
        "exact": ("ours:exact", plain | {"steps": times(100_000)}),
        "watched": ("ours:watched", plain | {"steps": times(100_000)}),
        "64 seeds": ("ours:together", plain | {"steps": times(20_000)}),
        "collapsed": ("ours:exact", plain | {"steps": times(300_000), "collapse": True}),
        "collapsed, 64 seeds": (
            "ours:together",
            plain | {"steps": times(100_000), "collapse": True},
        ),
        "online": ("ours:online", plain | {"steps": times(500)}),
        "online, single": (
            "ours:online",
            plain | {"steps": times(500), "precision": "float32"},
        ),
        "online, 64 seeds": (
            "ours:online_together",
            plain | {"steps": times(500), "precision": "float32"},
        ),
        "JAX double": ("scripts_jax:online", plain | {"dtype": "float64", "steps": times(500)}),
        "JAX single": ("scripts_jax:online", plain | {"dtype": "float32", "steps": times(500)}),
        "JAX, 64 seeds": (
            "scripts_jax:online",
            plain | {"dtype": "float32", "steps": times(10), "seeds": SEEDS},
        ),
    }
    found["D = 128"] = {
        "exact": ("ours:exact", {"tokens": 128, "steps": times(8_000)}),
        "JAX": ("scripts_jax:online", {"tokens": 128, "dtype": "float32", "steps": times(50)}),
    }
    for m in WIDTHS:
        shape = {"n": SAMPLES, "m": m, "tokens": TOKENS}
        found[f"heads, m = {m}"] = {
            "heads": (
                "ours:heads_step",
                shape | {"steps": max(2, times(2048 // m)), "devices": CORES},
            ),
            "JAX": ("scripts_jax:heads_step", shape | {"steps": max(2, times(512 // m))}),
        }
    found["kernel"] = {
        "kernel": ("ours:gram", {"n": GRAM_SAMPLES, "m": GRAM_HEADS}),
        "JAX": ("scripts_jax:gram", {"n": GRAM_SAMPLES, "m": GRAM_HEADS}),
    }
    found["middle"] = {
        "exact": ("ours:exact", {"tokens": MIDDLE, "steps": times(500)}),
        "JAX": ("scripts_jax:online", {"tokens": MIDDLE, "dtype": "float32", "steps": times(5)}),
    }
    found["large"] = {
        "exact": ("ours:wide", {"tokens": LARGE, "steps": times(5)}),
        "JAX": ("scripts_jax:online", {"tokens": LARGE, "dtype": "float32", "steps": 1}),
    }
    found["collapsed"] = {
        "collapsed": (
            "ours:collapsed",
            {"tokens": MILLION, "support": 1000, "steps": times(200_000)},
        )
    }
    if torch:
        for kind in ("double", "single"):
            options = plain | {
                "dtype": {"double": "float64", "single": "float32"}[kind],
                "seconds": seconds,
            }
            found["cnn"][f"PyTorch {kind}"] = ("scripts_torch:online", options)
            if not size.quick:
                found["cnn"][f"PyTorch {kind}, compiled"] = (
                    "scripts_torch:online",
                    options | {"compiled": True},
                )
        found["cnn"]["PyTorch, 64 seeds"] = (
            "scripts_torch:online",
            plain | {"dtype": "float32", "seconds": seconds, "seeds": SEEDS},
        )
        found["D = 128"]["PyTorch"] = (
            "scripts_torch:online",
            {"tokens": 128, "dtype": "float32", "seconds": seconds},
        )
        for m in WIDTHS:
            shape = {"n": SAMPLES, "m": m, "tokens": TOKENS, "seconds": seconds}
            found[f"heads, m = {m}"]["PyTorch"] = ("scripts_torch:heads_step", shape)
            if not size.quick:
                found[f"heads, m = {m}"]["PyTorch, compiled"] = (
                    "scripts_torch:heads_step",
                    shape | {"compiled": True},
                )
        found["kernel"]["PyTorch"] = ("scripts_torch:gram", {"n": GRAM_SAMPLES, "m": GRAM_HEADS})
        found["middle"]["PyTorch"] = (
            "scripts_torch:online",
            {"tokens": MIDDLE, "dtype": "float32", "seconds": seconds},
        )
        found["large"]["PyTorch"] = (
            "scripts_torch:online",
            {"tokens": LARGE, "dtype": "float32", "seconds": 0.0, "alone": False},
        )
    if size.quick:
        kept = ("exact", "64 seeds", "online, single", "JAX single", "PyTorch single")
        return {
            "cnn": {name: row for name, row in found["cnn"].items() if name in kept},
            "heads, m = 64": found["heads, m = 64"],
            "middle": found["middle"],
        }
    return found
