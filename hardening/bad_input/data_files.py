"""Data files: IDX images and labels, plain and gzipped, cut, changed, or with headers that lie."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from random import Random
from typing import ClassVar

import numpy as np

from hardening.bad_input.odd import change_bytes
from hardening.bad_input.target import Partial, Target
from hardening.bad_input.yard import Yard

SIZES = (0, 1, 2, 27, 28, 2**16, 2**31 - 1, 2**31, 2**32 - 1)


class DataFiles(Target):
    """`tutelage.inputs.images.folder` and the reading of its four files."""

    name: ClassVar[str] = "data files"
    share: ClassVar[int] = 10

    def __init__(self, yard: Yard) -> None:
        super().__init__(yard)
        rng = np.random.default_rng(0)
        self.arrays = {
            "train-images-idx3-ubyte": rng.integers(0, 256, (6, 28, 28)).astype(np.uint8),
            "train-labels-idx1-ubyte": np.arange(6, dtype=np.uint8),
            "t10k-images-idx3-ubyte": rng.integers(0, 256, (4, 28, 28)).astype(np.uint8),
            "t10k-labels-idx1-ubyte": np.arange(4, dtype=np.uint8),
        }

    def attack(self, draw: Random) -> bool:
        from tutelage.inputs import images

        cut = False
        victim = draw.choice(list(self.arrays))
        for name, array in self.arrays.items():
            data, packed = _encode(array), draw.random() < 0.5
            if name == victim and draw.random() < 0.4:
                data = _lie(draw, array)
            written = gzip.compress(data, 1) if packed else data
            if name == victim:
                if draw.random() < 0.4:
                    written, cut = written[: draw.randrange(len(written))], True
                else:
                    written = change_bytes(draw, written)
            Path(name + (".gz" if packed else "")).write_bytes(written)
        split = images.split(images.folder("."), 0)
        counts = [len(part) for part in split]
        if cut or counts != [6, 4]:
            raise Partial(f"{victim} was cut, and {counts} images were taken")
        return True


def _encode(array: np.ndarray) -> bytes:
    header = struct.pack(f">{1 + array.ndim}I", 0x0800 + array.ndim, *array.shape)
    return header + array.tobytes()


def _lie(draw: Random, array: np.ndarray) -> bytes:
    """The same numbers under a header that says something else."""
    sizes = [draw.choice((*SIZES, *array.shape)) for _ in array.shape]
    magic = draw.choice((0x0800 + array.ndim, 0, 0x0D03, 0x08FF, 2**32 - 1))
    return struct.pack(f">{1 + array.ndim}I", magic, *sizes) + array.tobytes()
