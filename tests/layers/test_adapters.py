"""Tokens: what a layer's own arrays are as X and Y, and back."""

import numpy as np
import pytest

import tutelage as tt
from tutelage.layers import parse_tokens

DRAW = np.random.default_rng(0)
CASES = [
    (tt.Columns(), (5, 7), (5, 7)),
    (tt.Sequence(), (7, 5), (5, 7)),
    (tt.Nodes(), (7, 5), (5, 7)),
    (tt.Pixels(), (2, 3, 4), (2, 12)),
    (tt.Pixels("HWC"), (3, 4, 2), (2, 12)),
    (tt.Patches(2), (3, 4, 6), (12, 6)),
    (tt.Patches(2, "HWC"), (4, 6, 3), (12, 6)),
]


@pytest.mark.parametrize(("tokens", "own", "shape"), CASES, ids=lambda case: str(case))
def test_tokens_and_back_is_the_same_array(tokens, own, shape):
    given = DRAW.normal(size=(3, *own))
    read = tokens.to_tokens(given)
    assert tuple(tokens.shape_of(own)) == read.shape[1:] == shape
    np.testing.assert_array_equal(tokens.to_own(read, own), given)


def test_a_patch_holds_its_pixels_channel_by_channel():
    """A twin in plain loops."""
    image = DRAW.normal(size=(2, 4, 6))
    read = tt.Patches(2).to_tokens(image[None])[0]
    for row in range(2):
        for column in range(3):
            patch = image[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            np.testing.assert_array_equal(read[:, 3 * row + column], patch.ravel())


def test_a_convolution_without_overlap_is_kernels_times_patches():
    image, kernels = DRAW.normal(size=(1, 6, 6)), DRAW.normal(size=(4, 1, 3, 3))
    slow = np.zeros((4, 2, 2))
    for m, i, j in np.ndindex(4, 2, 2):
        slow[m, i, j] = np.sum(kernels[m] * image[:, 3 * i : 3 * i + 3, 3 * j : 3 * j + 3])
    fast = kernels.reshape(4, 9) @ tt.Patches(3).to_tokens(image[None])[0]
    np.testing.assert_allclose(fast, slow.reshape(4, 4), rtol=1e-12)


def test_pooled_outputs_are_one_column():
    pooled = DRAW.normal(size=(3, 4))
    for tokens in (tt.Columns(), tt.Sequence(), tt.Pixels(), tt.Patches(2)):
        assert tokens.to_labels(pooled).shape == (3, 4, 1)


def test_feature_maps_have_a_query_per_pixel_wherever_the_channels_are():
    maps = DRAW.normal(size=(3, 4, 2, 5))
    first = tt.Pixels().to_labels(maps)
    last = tt.Pixels("HWC").to_labels(maps.transpose(0, 2, 3, 1))
    assert first.shape == (3, 4, 10)
    np.testing.assert_array_equal(first, last)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("columns", tt.Columns()),
        ("sequence", tt.Sequence()),
        ("nodes", tt.Nodes()),
        ("pixels", tt.Pixels()),
        ("pixels:hwc", tt.Pixels("HWC")),
        ("patches:3", tt.Patches(3)),
        ("patches:3:HWC", tt.Patches(3, "HWC")),
    ],
)
def test_the_command_line_names_all_of_them(text, tokens):
    assert parse_tokens(text) == tokens


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tt.Patches(0), "`size` must be a whole number of at least 1"),
        (lambda: tt.Patches(3).shape_of((1, 10, 12)), "that 3 divides"),
        (lambda: tt.Patches(3).shape_of((12, 12)), "three axes"),
        (lambda: tt.Pixels("WHC"), "There is no layout of an image named 'WHC'"),
        (lambda: tt.Sequence().shape_of((3,)), "two axes"),
        (lambda: tt.Columns().shape_of((3, 4, 5)), "two axes"),
        (lambda: parse_tokens("patch:3"), "Did you mean 'patches'?"),
        (lambda: parse_tokens("patches"), "takes its size"),
        (lambda: parse_tokens("patches:²"), "takes its size"),
        (lambda: parse_tokens("nodes:4"), "takes no further word"),
    ],
)
def test_wrong_sizes_are_refused(make, words):
    with pytest.raises(tt.Refused, match=words.replace("(", r"\(").replace("?", r"\?")):
        make()
