"""The IDX files in which MNIST is distributed: a magic number, the sizes, then one byte a pixel or
label; plain or gzipped.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import os
import struct
import zlib
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from tutelage.refuse import Refused

FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
MOST_BYTES = 2**30  # twenty times the largest file of MNIST
WORDS = {1: "labels", 3: "images"}


def read(path: Path, dimensions: int) -> UInt8[np.ndarray, "..."]:
    """The array of one file: labels have one dimension, images three (image, row, column)."""
    data = _bytes(path)
    start = 4 + 4 * dimensions
    # 08 is the code of unsigned bytes, the last byte counts the dimensions.
    magic = 0x0800 + dimensions
    if len(data) < start:
        raise Refused(
            f"{path} is too short for an IDX file, whose header has {start} bytes. Got {len(data)}."
        )
    found = int.from_bytes(data[:4], "big")
    if found != magic:
        raise Refused(
            f"{path} must begin with the magic number {magic}, that of IDX {WORDS[dimensions]} "
            f"in bytes. Got {found}."
        )
    shape = struct.unpack(f">{dimensions}I", data[4:start])
    expected = math.prod(shape)  # in whole numbers, which do not overflow
    if len(data) - start != expected:
        state = "truncated" if len(data) - start < expected else "longer than its header says"
        sizes = "×".join(str(size) for size in shape)
        raise Refused(
            f"{path} is {state}: its header promises {sizes} = {expected:,} bytes. Got "
            f"{len(data) - start:,}."
        )
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def find(folder: Path) -> tuple[Path, Path, Path, Path]:
    """The four files of a folder, each with or without .gz (and with a dot before idx, as some
    copies spell them).
    """
    if not os.path.isdir(folder):
        raise Refused(
            f"`--data` must be a folder with the four files of MNIST ({', '.join(FILES)}, each "
            f"also as .gz). Got {folder}."
        )
    first, second, third, fourth = (_one(folder, name) for name in FILES)
    return first, second, third, fourth


def digest(folder: Path) -> str:
    """A hash of what the four files hold, whether they are compressed or not."""
    whole = hashlib.sha256()
    for path in find(folder):
        whole.update(hashlib.sha256(_bytes(path)).digest())
    return whole.hexdigest()[:16]


def _one(folder: Path, name: str) -> Path:
    for spelled in (name, name.replace("-idx", ".idx")):
        for ending in ("", ".gz"):
            if os.path.isfile(folder / f"{spelled}{ending}"):
                return folder / f"{spelled}{ending}"
    raise Refused(f"The folder of images needs a file {name} or {name}.gz. Found none in {folder}.")


def _bytes(path: Path) -> bytes:
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise Refused(
                f"A file of images has at most {MOST_BYTES:,} bytes once it is unpacked, since it "
                f"is held in memory. Got more from {path}."
            )
        return data
    except (OSError, EOFError, zlib.error) as error:
        raise Refused(
            f"{path} must be a whole gzip file, since its name ends in .gz. Got: {error}."
        ) from None
