"""Small sets of synthetic images as IDX files, for tests that need no package and no download."""

import gzip
import struct

import numpy as np


def write(path, array, *, magic=None, sizes=None):
    """An IDX file; `magic` and `sizes` may lie."""
    header = struct.pack(">I", 0x0800 + array.ndim if magic is None else magic)
    data = (
        header
        + struct.pack(f">{array.ndim}I", *(array.shape if sizes is None else sizes))
        + array.astype(np.uint8).tobytes()
    )
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def fill(folder, *, train=120, test=40, seed=0):
    """Four files of synthetic digits: digit k is a bright bar in the k-th pair of pixel rows after
    a dark margin, with noise.
    """
    draw = np.random.default_rng(seed)
    for name, count in (("train", train), ("t10k", test)):
        digits = np.arange(count) % 10
        pixels = np.zeros((count, 28, 28))
        for image, digit in zip(pixels, digits, strict=True):
            image[4 + 2 * digit : 6 + 2 * digit, 4:24] = draw.integers(100, 256, (2, 20))
        write(folder / f"{name}-images-idx3-ubyte", pixels)
        write(folder / f"{name}-labels-idx1-ubyte.gz", digits)
    return folder
