"""Where online descent with label noise ends."""

from __future__ import annotations

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory.facts import facts, lam
from tutelage.settings import Setting


def noise_floor(setting: Setting) -> float:
    r"""Where online descent with label noise τ and batches of N ends: ητ²λ/(4N) · [MdQ/K +
    Q(K−1)‖V*‖²/(DK²)], each over 1 − ηH/2.

    At the teacher the Hessian is H = λQ/K for each of the Md entries of W_V and H = λ‖V*‖²/(DK²)
    for each of the K−1 directions in which the scores of a query may differ on its support; label
    noise drives each with variance τ²H/N, so that it keeps a variance of ητ²/(N(2 − ηH)) and an
    excess of ½H times that. Small fluctuations, and noise of the inputs neglected
    (docs/derivations.md).
    """
    tau, N = facts(setting).noise, batch_of(setting)
    eta = setting.rate
    return float(
        sum(
            eta * tau**2 / (4 * N) * many * h / (1 - eta * h / 2) for many, h in curvatures(setting)
        )
    )


def batch_of(setting: Setting) -> int:
    """N, by default the objective's own."""
    return int(setting.objective.options.get("batch", 100))


def curvatures(setting: Setting) -> tuple[tuple[int, float], tuple[int, float]]:
    """(how many, h) of the directions in which the risk is curved at the teacher: entries of W_V,
    differences of scores on a support.
    """
    f = facts(setting)
    if not (
        f.uniform
        and f.standard
        and f.iid_positions
        and f.orthonormal_codes
        and setting.objective.name == "online"
    ):
        raise NoPrediction(
            "The noise floor is known for online descent, tokens N(0, I), orthonormal codes and "
            "equal weights on equal supports."
        )
    K, slope = f.support, lam(f)
    value = slope * f.queries / K
    scores = slope * f.value_square * f.attention_scale**2 / K**2
    if f.rate * max(value, scores) >= 2:
        raise NoPrediction(
            f"There is no stationary state at a rate of {f.rate:g}: it must be below "
            f"{2 / max(value, scores):.3g}."
        )
    return (f.outputs * f.dim, value), (f.queries * (K - 1), scores)
