r"""Normal variates by counting: Philox-2×32-10 for the bits, Box and Muller for the law.

Number i of a stream is a function of the stream's key and of i alone, so that it does not depend on
what else is drawn, in which order, or how a program is cut. Salmon, Moraes, Dror and Shaw,
"Parallel random numbers: as easy as 1, 2, 3", 2011, give the generator, its constants and the ten
rounds. JAX's own generator does the same, in four times the time on a CPU: it stores what lies
between its rounds, and inverts the normal distribution function by a long polynomial. Here one
pass makes two normals from two words of 32 bits,

    r = √(−2 ln u),   (r cos 2πv, r sin 2πv).

**Precision.** Variates are numbers of single precision, cast up where double is asked for: each is
rounded to 24 bits, which moves no moment by more than 1e-7 of itself, and none is beyond 6.8
standard deviations, as one in 10¹¹ would be. A mean over fresh batches shows none of this before
10¹² draws. What must be normal to the last digit is not drawn here. They are computed in double
precision, and rounded at the end, so that programs which round products and sums otherwise draw the
same numbers: all but one in 10⁷, which may differ in its last bit.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Key, UInt32, UInt64

_ROUNDS = 10
_FACTOR, _BUMP = np.uint64(0xD256D193), np.uint32(0x9E3779B9)
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)

Words = tuple[UInt32[Array, "*n"], UInt32[Array, "*n"]]


def philox(key: UInt32[Array, ""], low: UInt32[Array, "*n"], high: UInt32[Array, ""]) -> Words:
    """Two words for each counter (low, high) under a key: Philox-2×32, ten rounds."""
    left, right = low.astype(jnp.uint64), high.astype(jnp.uint64)
    for _ in range(_ROUNDS):
        # 32 bits times 32 bits: exact in 64. Masked where it is multiplied, and only there, which
        # is what makes it one instruction.
        product = _FACTOR * (left & _LOW)
        left, right = (product >> _HALF) ^ key.astype(jnp.uint64) ^ right, product
        key = key + _BUMP
    return left.astype(jnp.uint32), right.astype(jnp.uint32)


def words(key: Key[Array, ""], count: int, *, part: int = 0) -> Words:
    """Two arrays of `count` random words; parts of one key are independent streams."""
    first, second = jax.random.key_data(key)[:2]
    # The key of a part is itself a block of the key's stream, from which nothing else is drawn.
    inner, outer = philox(first, jnp.asarray(part, jnp.uint32), second)
    return philox(inner, jax.lax.iota(jnp.uint32, count), outer)


def normals(
    key: Key[Array, ""], shape: tuple[int, ...], dtype: DTypeLike, *, part: int = 0
) -> Float[Array, "..."]:
    """iid N(0, 1) of this shape, in row-major order of the stream; see above for their precision.

    A larger array begins with the numbers of a smaller one.
    """
    count = math.prod(shape)
    first, second = words(key, -(-count // 2), part=part)
    # Stored between the two, as one array. In one pass each number is a chain of two hundred
    # operations that wait for one another, and a core looks ahead over too few of them to begin
    # the next: two passes take three quarters of the time.
    both = jax.lax.optimization_barrier(
        first.astype(jnp.uint64) | (second.astype(jnp.uint64) << _HALF)
    )
    pairs = box_muller((both & _LOW).astype(jnp.uint32), (both >> _HALF).astype(jnp.uint32))
    return pairs.reshape(-1)[:count].reshape(shape).astype(dtype)


def box_muller(first: UInt32[Array, "n"], second: UInt32[Array, "n"]) -> Float[Array, "n 2"]:
    """Two normals from two words, as single-precision numbers."""
    radius = jnp.sqrt(-2 * _logarithm(first.astype(jnp.uint64)))
    sides = (radius * side for side in _turned(second.astype(jnp.uint64)))
    # Two halves of one 64-bit number, since XLA writes one array per pass and would count again for
    # a second one. It is stored as such, or each half would be counted by itself: see
    # `OnlineRisk.compiler_options`.
    low, high = (
        jax.lax.bitcast_convert_type(side.astype(jnp.float32), jnp.uint32).astype(jnp.uint64)
        for side in sides
    )
    both = jax.lax.optimization_barrier(low | (high << _HALF))
    return jax.lax.bitcast_convert_type(both, jnp.float32)


def _logarithm(word: UInt64[Array, "n"]) -> Float[Array, "n"]:
    """ln u of u = (word + ½)/2³², below 0.

    u = 2ⁿ(1 + t) with 1 + t in [√½, √2), so that ln u = n ln 2 + t p(t).
    """
    bits = jax.lax.bitcast_convert_type(_real(word) + 0.5, jnp.uint64)
    power = (bits - _ROOT_BITS) >> _FRACTION  # of the number over √2/4, which is at least 1
    half = jax.lax.bitcast_convert_type(bits - (power << _FRACTION), jnp.float64)
    t = 2 * half - 1
    return (_real(power) - 33.0) * math.log(2) + t * _polynomial(_LOG, t)


def _turned(word: UInt64[Array, "n"]) -> tuple[Float[Array, "n"], Float[Array, "n"]]:
    """cos 2πv and sin 2πv of v = word/2³²: v is a quarter turn q/4 and a rest x within ±⅛."""
    moved = word + np.uint64(1 << 29)
    quarter = moved >> np.uint64(30)
    x = (_real(moved & np.uint64((1 << 30) - 1)) - 2.0**29) * 2.0**-32
    square = x * x
    sine, cosine = x * _polynomial(_SINE, square), _polynomial(_COSINE, square)
    odd = (quarter & np.uint64(1)) != 0
    return (
        _signed(jnp.where(odd, sine, cosine), quarter + np.uint64(1)),
        _signed(jnp.where(odd, cosine, sine), quarter),
    )


def _real(word: UInt64[Array, "n"]) -> Float[Array, "n"]:
    """A whole number below 2⁵² as a real one, by its bits: a conversion would be done one by
    one.
    """
    return jax.lax.bitcast_convert_type(word | _INTEGER, jnp.float64) - 2.0**52


def _signed(x: Float[Array, "n"], flip: UInt64[Array, "n"]) -> Float[Array, "n"]:
    """x, or −x where the second bit of `flip` is set."""
    sign = (flip & np.uint64(2)) << np.uint64(62)
    bits = jax.lax.bitcast_convert_type(x, jnp.uint64)
    return jax.lax.bitcast_convert_type(bits ^ sign, jnp.float64)


def _polynomial(coefficients: list[float], x: Float[Array, "n"]) -> Float[Array, "n"]:
    """Σ c_k x^k by halves (Estrin): neighbours in pairs, their pairs with x², and so on. Horner's
    rule would wait for every product.
    """
    terms = [jnp.full_like(x, coefficient) for coefficient in coefficients]
    while len(terms) > 1:
        last = terms[2 * (len(terms) // 2) :]
        terms = [a + x * b for a, b in zip(terms[::2], terms[1::2], strict=False)] + last
        x = x * x
    return terms[0]


def _interpolated(values: Float[np.ndarray, "n"], low: float, high: float) -> list[float]:
    """The polynomial with these values at Chebyshev's points of [low, high], by powers of x."""
    fitted = np.polynomial.Chebyshev.fit(
        _points(len(values), low, high), values, len(values) - 1, domain=[low, high]
    )
    return [float(c) for c in fitted.convert(kind=np.polynomial.Polynomial).coef]


def _points(count: int, low: float, high: float) -> Float[np.ndarray, "n"]:
    middle, half = (high + low) / 2, (high - low) / 2
    return middle + half * np.polynomial.chebyshev.chebpts1(count)


# The bits of √2/4: from there on a mantissa counts with the next power of two.
_ROOT_BITS = np.float64(math.sqrt(2) / 4).view(np.uint64)
_FRACTION = np.uint64(52)  # bits of a mantissa
_INTEGER = np.float64(2.0**52).view(np.uint64)
# Interpolation errors, by the distance of the nearest singularity or the next term of the series:
# 1e-10 of ln(1 + t)/t with thirteen coefficients; 1e-11 of cos and sin with six and five.
_T = _points(13, math.sqrt(0.5) - 1, math.sqrt(2) - 1)
_LOG = _interpolated(np.log1p(_T) / _T, math.sqrt(0.5) - 1, math.sqrt(2) - 1)
_Z = _points(6, 0.0, 1 / 64), _points(5, 0.0, 1 / 64)  # x²
_COSINE = _interpolated(np.cos(2 * np.pi * np.sqrt(_Z[0])), 0.0, 1 / 64)
_SINE = _interpolated(np.sin(2 * np.pi * np.sqrt(_Z[1])) / np.sqrt(_Z[1]), 0.0, 1 / 64)
