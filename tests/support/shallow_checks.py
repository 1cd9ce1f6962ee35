"""Checks of the shallow transformer's closed forms, kernels, rival and bounds, in whichever copy of
the package is imported.

All are tiny and against plain NumPy: the tests beside them are larger, and these are what a planted
fault must turn red. Sizes of blocks are set so that the last one is ragged; the copy is thrown away
afterwards, and the sizes with it.
"""

from __future__ import annotations

import math
from typing import Any

import heads_twin
import kernel_twin
import linearisation_twin
import numpy as np
import recurrent_twin
from heads_twin import part, same, some_heads, some_inputs

N, M, DIM, TOKENS = 5, 3, 3, 4


def tanh() -> Any:
    return part("activations").activation("tanh")


def arrays(*values: Any) -> list[Any]:
    import jax.numpy as jnp

    return [jnp.asarray(value) for value in values]


def check_loss_gradient() -> None:
    """Σ(f − y)² over the first 4 of 5 samples and its gradient. The fifth has tokens of its own:
    zeros would hide it from tanh.
    """
    _check_loss_gradient(5, few=0)


def check_loss_of_few_tokens() -> None:
    """The same for the layout of few tokens, whose blocks are of eight samples at least: 9 of
    10.
    """
    _check_loss_gradient(10, few=TOKENS)


def _check_loss_gradient(N: int, few: int) -> None:
    module = part("numerics.heads_gradient")
    module.BLOCK = 2 * TOKENS * M * 8  # two samples a block
    module.few_tokens.FEW, module.few_tokens.MOST = few, 8
    heads, X, draw = some_heads(M, 1), some_inputs(N, 2, TOKENS), np.random.default_rng(3)
    q, y, count = draw.standard_normal((N, DIM)), draw.standard_normal(N), N - 1
    laid = module.laid_out(X)
    got, slopes = module._sums(
        heads.attention,
        heads.reading,
        heads.output,
        *arrays(X, laid, q, y),
        count,
        activation=tanh(),
    )
    gaps = [heads_twin.value(heads, X[j], q[j]) - y[j] for j in range(count)]
    same(got, np.sum(np.square(gaps)))
    each = [heads_twin.gradient(heads, X[j], q[j]) for j in range(count)]
    for block, found in enumerate(slopes):
        same(found, sum(2 * gap * one[block] for gap, one in zip(gaps, each, strict=True)))


def check_tangent_kernel() -> None:
    """K_c, K_u, K_w as inner products of whole gradients, where c is not ±1; ragged tiles and a
    ragged group of heads.
    """
    module = part("numerics.tangent_kernel")
    module.TILE, module.GROUP, module.HEADS = 2, 0, 2
    heads, X = some_heads(M, 4), some_inputs(N, 5, TOKENS)
    found = module.gram(
        heads.attention,
        heads.reading,
        *arrays(X, X[:, :, -1]),
        activation=tanh(),
        output=heads.output,
        parts=True,
    )
    for got, want in zip(found, kernel_twin.parts(heads, X), strict=True):
        same(got, want)


def check_kernel_descent() -> None:
    """Descent in a kernel is that of a linear network, step by step; ridge is the normal equations;
    the response is d(Z^t)y.
    """
    module, draw, rate, steps = part("numerics.kernel_descent"), np.random.default_rng(6), 0.05, 7
    features, others, y = (
        draw.standard_normal((N, 6)),
        draw.standard_normal((2, 6)),
        draw.standard_normal(N),
    )
    K, cross = features @ features.T, others @ features.T
    found, times = module.KernelDescent(K, y, rate), np.array([steps])
    here, there = kernel_twin.descent(features, y, rate, steps, others)
    same(found.outputs(times)[0], here)
    same(found.loss(times)[0], np.mean((y - here) ** 2))
    path = [kernel_twin.descent(features, y, rate, s, others)[0] for s in range(steps)]
    same(found.averaged_loss(times)[0], np.mean((y - np.mean(path, axis=0)) ** 2), 1e-11)
    same(
        found.at(2 * rate).loss(times)[0],
        np.mean((y - kernel_twin.descent(features, y, 2 * rate, steps, others)[0]) ** 2),
    )
    same(found.predict(cross, times)[0], there, 1e-11)  # divides by small eigenvalues
    same(module.ridge(K, y, cross, 0.3), cross @ np.linalg.solve(K + N * 0.3 * np.eye(N), y), 1e-11)
    move = np.cos(np.arange(N * N)).reshape(N, N)
    move, Z, power = move + move.T, np.eye(N) - 2 * rate * K / N, np.linalg.matrix_power
    want = (
        sum(power(Z, s) @ (-2 * rate / N * move) @ power(Z, steps - 1 - s) for s in range(steps))
        @ y
    )
    got = found.basis @ (found.response(steps) * (found.basis.T @ move @ found.basis)).sum(1)
    same(got, want, 1e-9)  # quotients of differences


def drawn_heads(count: int, dim: int, *, key: Any) -> Any:
    """Stands in for `draw_heads`, which takes a second to compile: other numbers, but those of the
    key all the same.
    """
    import jax

    return some_heads(count, np.asarray(jax.random.key_data(key)), dim)


def single(drawn: Any, at: int) -> Any:
    """One head with c = 1, whose kernel is k of the limit."""
    W, U, _ = linearisation_twin.plain(drawn)
    return type(drawn)(W[at : at + 1], U[at : at + 1], np.ones(1))


def check_limit_kernel() -> None:
    """The mean over three blocks of two heads, by parts, and the error from the spread of the
    blocks.
    """
    import jax

    module, key = part("numerics.limit_kernel"), part("numerics.streams").stream(0, "limit")
    module.BLOCK, module.draw_heads = 2, drawn_heads
    X = some_inputs(N, 7, TOKENS)
    found = module.limit_kernel(*arrays(X, X[:, :, -1]), heads=5, key=key, activation=tanh())
    assert found.heads == 6
    drawn = [drawn_heads(2, DIM, key=jax.random.fold_in(key, block)) for block in range(3)]
    blocks = np.array(
        [
            np.mean([kernel_twin.parts(single(heads, at), X) for at in range(2)], axis=0)
            for heads in drawn
        ]
    )
    for got, want in zip(found.parts, blocks.mean(0), strict=True):
        same(got, want)
    same(found.error, blocks.sum(1).std(0, ddof=1) / math.sqrt(3))


def check_head_spread() -> None:
    """E‖k − K‖_F² over four heads, and the same for a linear function of k."""
    module, key, draw = (
        part("numerics.limit_kernel"),
        part("numerics.streams").stream(0, "spread"),
        np.random.default_rng(8),
    )
    module.draw_heads, X = drawn_heads, some_inputs(N, 9, TOKENS)
    drawn = drawn_heads(4, DIM, key=key)
    each = [sum(kernel_twin.parts(single(drawn, at), X)) for at in range(4)]
    K, basis, weights = (
        np.mean(each, axis=0) + 0.1,
        np.linalg.qr(draw.standard_normal((N, N)))[0],
        draw.standard_normal((N, N)),
    )
    common: Any = {"heads": 4, "key": key, "activation": tanh()}
    same(
        module.head_spread(*arrays(X, X[:, :, -1], K), **common),
        np.mean([np.sum((k - K) ** 2) for k in each]),
    )
    seen = [(weights * (basis.T @ (k - K) @ basis)).sum(1) for k in each]
    same(
        module.head_response(*arrays(X, X[:, :, -1], K, basis, weights), **common),
        np.mean([np.sum(v**2) for v in seen]),
    )


def check_recurrent() -> None:
    """The IndRNN and its gradient forwards in time, against explicit sums over the past."""
    module, draw = part("students.indrnn"), np.random.default_rng(10)
    units = module.Units(
        *arrays(draw.standard_normal((M, DIM)), draw.standard_normal(M), draw.standard_normal(M))
    )
    student, X = module.IndRNN(units, units, tanh()), draw.standard_normal((DIM, TOKENS))
    same(student(*arrays(X)), recurrent_twin.value(units, X))
    slopes = student.gradient(*arrays(X))
    for got, want in zip(
        (slopes.reading, slopes.recurrence, slopes.output),
        recurrent_twin.gradient(units, X),
        strict=True,
    ):
        same(got, want)


def check_series() -> None:
    """X_t = φX_{t−2} + √(1−φ²)ε_t value by value, and windows of 4 and a label, the held-out ones
    past the gap.

    φ = ½ falls below 0.01 after 7 lags, ½⁷ = 0.008: 14 values. φ = 0.01 has faded after one, and
    there the gap is a whole window.
    """
    teacher, T, seed = part("teachers.autoregression").Autoregression, TOKENS, 11
    made = part("inputs.series").Series(teacher(2, tokens=T, channels=2, coefficient=0.5))
    noise = part("numerics.streams").generator(seed, "series").standard_normal(39)
    x = list(noise[:2])
    for t in range(2, 39):
        x.append(0.5 * x[t - 2] + math.sqrt(0.75) * noise[t])
    tokens, labels, _, held, held_labels = made.windows(3, 2, seed)
    for got, label, starts in (
        (tokens, labels, (0, 5, 10)),
        (held, held_labels, (15 + 14, 15 + 14 + 5)),
    ):
        same(got[:, 0], [x[at : at + T] for at in starts])
        same(label, [x[at + T] for at in starts])
    short = part("inputs.series").Series(teacher(2, tokens=T, channels=2, coefficient=0.01))
    assert short.starts(1, 1)[1].tolist() == [5 + 5]


def check_infinite_width() -> None:
    """What 9 steps of the setting's own size leave of the labels, by the recursion itself, in a
    kernel that is given.
    """
    module, draw, rate, steps = (
        part("papers.shallow_transformers.theory.infinite_width"),
        np.random.default_rng(14),
        0.2,
        9,
    )
    features, y = draw.standard_normal((N, 3)), draw.standard_normal(N)
    K = features @ features.T
    module._descent = lambda setting: part("numerics.kernel_descent").KernelDescent(
        K, y, setting.rate
    )
    f, total = np.zeros(N), np.zeros(N)
    for _ in range(steps):
        total += f
        f = f - rate * 2 / N * K @ (f - y)
    want = [np.sum((g - y) ** 2) / np.sum(y**2) for g in (f, total / steps)]
    setting = part("papers.shallow_transformers.setup").setting_at(
        heads=2, samples=N, steps=steps, measures=(), dim=DIM, tokens=TOKENS, pool=4
    )
    same(module.losses(setting.change(rate=rate)), want)


RHO, NU = (1.0, 2.0, 0.5), (0.7, 1.5, 0.2)  # no two alike, so that none can stand for another


def some_sizes() -> Any:
    return part("papers.shallow_transformers.theory.approximation").Sizes(
        d=3, T=4, n=5, m=4, tau=100, rho=RHO, nu=NU
    )


def constants() -> tuple[float, float, float, float, float]:
    """B_U, L₁, L₂ and the two bounds at those sizes: m = 4, n = 5, d = 3, δ = 0.05, ρ_u² + ρ_w² =
    4.25, Σν = 2.4.
    """
    B = math.sqrt(3) + math.sqrt(2 * math.log(40)) + 1
    one = math.sqrt(1 + B**2)
    two = 4 / (3 * math.sqrt(3)) * (1 + B**2) + 8 * one
    return (
        B,
        one,
        two,
        (one * math.sqrt(4.25) + two * 4.25) / 2,
        2 * 2.4 * math.sqrt(2 * math.log(200) / 4),
    )


def check_theory() -> None:
    """The constants of the paper's theorems, written out with numbers."""
    module, s = part("papers.shallow_transformers.theory.approximation"), some_sizes()
    B, one, two, linearisation, approximation = constants()
    same(module.reading_bound(s), B)
    same(module.lipschitz(s), [one, two])
    same(module.linearisation_bound(s), linearisation)
    same(module.approximation_bound(s), approximation)


def check_bounds() -> None:
    """The largest A with A ≤ D²/(4ητ) + β√A + ηΓ²min(A, L_max), by bisection, where ηΓ² is above 1
    and where it is below.
    """
    module, s, pool = part("papers.shallow_transformers.theory.bounds"), some_sizes(), 16
    B, one, two, linearisation, approximation = constants()
    tangent = (4 * one * math.sqrt(4.25) + 2 * 1.5 * two * 4.25) / 2
    beta = linearisation + approximation * (1 + math.sqrt(4 / (2 * pool))) + tangent
    most = (1 + 2 + 0.5 * B + linearisation + 0.7 + 1.5 + 0.2 * math.sqrt(3)) ** 2
    distance = 0.7**2 + 1.5**2 + 0.2**2
    for rate in (0.1, 1e-6):
        steep = rate * (1 + (1.5 * one) ** 2)
        assert (steep < 1) == (rate < 0.1)
        low, high = 1e-9, 1e12
        for _ in range(300):
            A = math.sqrt(low * high)
            allowed = distance / (4 * rate * 100) + beta * math.sqrt(A) + steep * min(A, most) >= A
            low, high = (A, high) if allowed else (low, A)
        same(module.mean_loss_bound(s, rate, pool), low)
        same(module.averaged_bound(s, rate, pool), (math.sqrt(low) + 2 * linearisation) ** 2)
    size = 3 + math.log(80)
    same(module.printed_form(s), size**2 / 10 + math.sqrt(math.log(100) / 4) + size / 2)
