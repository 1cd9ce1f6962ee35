"""Position codes: the floor of random signs, the least width, and fixed codes beside fresh ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tutelage.papers.token_selection import paper
from tutelage.papers.token_selection.codes import figures
from tutelage.papers.token_selection.codes.claims import (
    BOUNDED,
    COUNTED,
    EVERY,
    FLOOR,
    HARD,
    ISOTROPIC,
    LEAST_WIDTH,
    NOT_TIED,
    SHARE,
    TIED,
    count_most_narrower,
    faces_of,
    largest_shares_narrower,
)
from tutelage.papers.token_selection.setup import (
    DERIVED,
    FROM_MEMORY,
    Task,
)
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Case, Plan, Preset, Study

LETTERS = {**paper.letters, "m": "calculation.width"}
NARROW = 64  # a width at which the floor is not that of wide codes any more
HARD_WIDTH, HARD_DRAWS = 256, 1024
TIES = ((1, 8), (2, 12))  # q and m at which ties are often enough to be counted
TIE_DRAWS = 50_000
GRADIENT_WIDTH, GRADIENT_DRAWS = 24, 1000
# A replicate's ratio scatters by about √2/m = 6%; so many decide within 15% with probability 0.9.
GRADIENT_SEEDS = 16
LEAST_WIDTH_OF = 2  # q of which the least width of Gaussian codes is measured


@dataclass(frozen=True, kw_only=True)
class CodesPreset(Preset):
    tokens: int
    dim: int
    supports: tuple[int, ...]  # q ≥ 3 of the floor
    width: int
    draws: int
    points: int  # T of the linear programmes
    faces: tuple[int, ...]  # their q
    first_seed: int = 0  # a confirmation has seeds of its own


def cases(plan: Plan, preset: CodesPreset) -> list[Case]:
    """The floor; unless something was changed, ties, gradients and linear programmes as well."""
    seeds = plan.seeds or preset.seeds
    if plan.changes:
        base = _floor(preset, preset.supports[0], preset.width, 1)[0]
        asked = changed(base, plan.changes, LETTERS)
        settings = tuple(asked.change(seed=asked.seed + i) for i in range(seeds))
        return [Case("floor", "random signs", settings, (FLOOR,))]
    floors = [
        Case(
            f"floor-q{q}",
            f"q = {q}, m = {preset.width}",
            _floor(preset, q, preset.width, seeds),
            (FLOOR,),
        )
        for q in preset.supports
    ]
    return [*floors, *_tie_cases(preset, seeds), *_gradient_cases(preset), *_faces(preset)]


def _floor(
    preset: CodesPreset, support: int, width: int, seeds: int, hard_draws: int = 0
) -> tuple[Setting, ...]:
    """The least loss with random signs, one setting per seed; with `hard_draws`, at C = ∞ alone
    and over so many draws.
    """
    return tuple(
        Setting.of_calculation(
            Part(
                "sign_floor",
                width=width,
                draws=hard_draws or preset.draws,
                soft=not hard_draws,
            ),
            teacher=Task(preset.tokens, support, preset.dim).teacher,
            seed=preset.first_seed + i,
        )
        for i in range(seeds)
    )


def _tie_cases(preset: CodesPreset, seeds: int) -> list[Case]:
    hard = {q: _floor(preset, q, HARD_WIDTH, seeds, HARD_DRAWS) for q in (1, 2, 3)}
    ties = [(q, m, _floor(preset, q, m, seeds, TIE_DRAWS)) for q, m in TIES]
    return [
        Case(
            "narrow",
            f"q = {preset.supports[-1]}, m = {NARROW}",
            _floor(preset, preset.supports[-1], NARROW, seeds),
            (FLOOR,),
            "wide codes: the formula is the leading order in 1/m",
        ),
        *(Case(f"hard-q{q}", f"q = {q}, m = {HARD_WIDTH}", hard[q], (HARD,)) for q in (1, 2)),
        Case(
            "hard-q3",
            f"q = 3, m = {HARD_WIDTH}",
            hard[3],
            (HARD,),
            "q ≤ 2: three tokens of a subset get unequal scores, and one of them wins",
        ),
        *(Case(f"ties-q{q}", f"q = {q}, m = {m}", made, (TIED,)) for q, m, made in ties),
        Case(
            "no-ties",
            f"q = {ties[-1][0]}, m = {ties[-1][1]}",
            ties[-1][2],
            (NOT_TIED,),
            "wide codes: narrow ones tie, of which the formula of the floor knows nothing",
        ),
    ]


def _gradient_cases(preset: CodesPreset) -> list[Case]:
    def settings(fresh: bool) -> tuple[Setting, ...]:
        part = Part("code_gradient", width=GRADIENT_WIDTH, draws=GRADIENT_DRAWS, fresh=fresh)
        teacher = Task(20, 4, preset.dim).teacher
        return tuple(
            Setting.of_calculation(
                part,
                teacher=teacher,
                seed=preset.first_seed + i,
            )
            for i in range(GRADIENT_SEEDS)
        )

    return [
        Case("fresh-gradient", "codes drawn anew", settings(True), (ISOTROPIC,)),
        Case(
            "fixed-gradient",
            "fixed codes",
            settings(False),
            (ISOTROPIC,),
            "codes drawn anew: fixed ones move W within their own span",
        ),
    ]


def _faces(preset: CodesPreset) -> list[Case]:
    """Which subsets codes select: exact on the moment curve, over five draws of Gaussian codes."""

    def programmes(less: int, points: str, draws: int = 1) -> tuple[Setting, ...]:
        return tuple(
            _programme(preset.points, q, 2 * q - less, points, preset.first_seed + i)
            for q in preset.faces
            for i in range(draws)
        )

    q = LEAST_WIDTH_OF
    every_width = tuple(
        _programme(preset.points, q, width, "gaussian", preset.first_seed + i)
        for i in range(5)
        for width in range(2 * q, preset.points - 1)
    )
    at_twice = tuple(s for s in every_width if faces_of(s)[2] == 2 * q)
    one_less = (*programmes(1, "moment"), *programmes(1, "gaussian", 5))
    return [
        Case("moment-curve", "moment curve, width 2q", programmes(0, "moment"), (EVERY,)),
        Case("one-less", "moment curve, width 2q − 1", programmes(1, "moment"), (COUNTED,)),
        Case("any-codes", "all codes of width 2q − 1", one_less, (BOUNDED,)),
        Case("gaussian", f"Gaussian codes, q = {q}, width {2 * q}", at_twice, (SHARE,)),
        Case("gaussian-widths", f"Gaussian codes, q = {q}", every_width, (LEAST_WIDTH,)),
        Case(
            "narrower",
            "moment curve, width 2q − 1",
            programmes(1, "moment"),
            (EVERY,),
            "width 2q: one less cannot select every subset",
        ),
        Case(
            "random-codes",
            "Gaussian codes, width 2q",
            programmes(0, "gaussian", 5),
            (EVERY,),
            "the moment curve: random codes of that width miss some subsets",
        ),
        Case(
            "wider",
            "moment curve, width 2q, beside the count of 2q − 1",
            programmes(0, "moment"),
            (
                replace(COUNTED, value=count_most_narrower),
                replace(BOUNDED, values=largest_shares_narrower),
            ),
            "width 2q − 1: one more selects more",
        ),
    ]


def _programme(tokens: int, support: int, width: int, points: str, seed: int) -> Setting:
    part = Part("subset_faces", tokens=tokens, support=support, width=width, points=points)
    return Setting.of_calculation(part, seed=seed)


study = Study(
    source=f"{FROM_MEMORY}; {DERIVED}",
    statement=(
        "The law of the rates needs orthonormal codes. Random signs of width m overlap, and the "
        "loss comes to a floor: of order log²(m)/m for q ≥ 3, exponentially small in m for q ≤ 2. "
        "For one query to be able to select every subset of q the codes need width 2q, which the "
        "moment curve has and random codes have not. Codes drawn anew move W along the identity."
    ),
    equation=(
        "floor ≈ (d/2q²) min_C [(T − q)e^(−2C + 2C²q/m) + C²(q − 1)(q − 2)/m];   every subset is "
        "a face  ⇔  the codes are q-neighbourly  ⇒  m ≥ 2q where T ≥ 2q + 1"
    ),
    choices=(
        "The floor is the least loss over α and C, on 2048 draws of the codes per seed. Flow comes "
        "to it exponentially: see the control `random-signs` of the study `rates`.",
        "A subset counts as selected where a linear programme finds a margin above 10⁻⁷; the codes "
        "of the moment curve are taken in Chebyshev polynomials, at Chebyshev's points.",
        "The mean gradient of W is compared with what independent draws leave by chance.",
    ),
    presets={
        "quick": CodesPreset(
            seconds=35.0,
            seeds=8,
            tokens=20,
            dim=5,
            supports=(3, 6, 4),
            width=1024,
            draws=2048,
            points=9,
            faces=(1, 2, 3),
        ),
        "large": CodesPreset(
            seconds=300.0,
            seeds=8,
            tokens=20,
            dim=5,
            supports=(3, 4, 6, 8),
            width=4096,
            draws=8192,
            points=11,
            faces=(1, 2, 3, 4),
        ),
    },
    cases=cases,
    figures=figures.draw,
    captions=figures.CAPTIONS,
    letters=LETTERS,
    compares="draws of codes, of several widths and kinds",
    checked_in="src/tutelage/papers/token_selection/theory/floors.py",
)
