"""The claims and measurements of `teacher-models/samples`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tutelage.claims import Claim, Exponent, Measured, Number
from tutelage.claims.exponent import fitted_exponent
from tutelage.run import Run
from tutelage.settings import Setting

NAME = "teacher-models/samples"
DERIVED = "derived here (docs/derivations.md, section 15)"
EXACT = "exact for Gaussian inputs (docs/derivations.md, section 15)"
SHARE = (
    0.02  # of the excess of saying 0: the n at which a method has no more is the n that it needs
)
AROUND = (0.8, 1.25)  # times the n that theory expects: where the n that is needed is looked for
# relative to the prediction, which is the leading order: the next one is a few times δ/n, 1% of
# itself at the largest n
CLOSE = 0.05
BENT = 0.1  # the same for ReLU, whose next order is larger
EXPONENT = 0.1  # told from the other methods': 0, about ½ and 1
FOUND = 0.01  # of the excess of saying 0: without noise the teacher is found or missed by far
METHODS = ("student", "oracle", "least_squares", "ridge")
WORDS = {
    "student": "the student",
    "oracle": "the oracle",
    "least_squares": "least squares",
    "ridge": "ridge",
}


def _reading() -> Any:
    """`finite_samples_reading`, which loads JAX: only when it is asked."""
    from tutelage.papers.teacher_models.samples import readings as finite_samples_reading

    return finite_samples_reading


def _samples(setting: Setting) -> int:
    return int(setting.objective.options["samples"])


def _largest(settings: Sequence[Setting]) -> int:
    return max(_samples(setting) for setting in settings)


def predicted(function: str, over: float = 1.0) -> Callable[[Setting], float]:
    """A prediction of `tangent_cone.py` by name."""

    def at(setting: Setting) -> float:
        from tutelage.papers.teacher_models.theory import tangent_cone

        return over * float(getattr(tangent_cone, function)(setting))

    return at


def law(
    case: str,
    settings: Sequence[Setting],
    method: str = "student",
    dimension: str = "statistical_dimension",
    **more: Any,
) -> Number:
    """2n·excess/τ² = δ at the largest n of a case."""
    n, tolerance = _largest(settings), more.pop("tolerance", CLOSE)

    def values(runs: Sequence[Run]) -> list[float]:
        reading = _reading()
        return [
            reading.parameters(method, run.setting, reading.last(run))
            for run in reading.of(runs, n)
        ]

    value = predicted(dimension)
    return Number(
        values=values,
        value=value,
        of=f"2n·excess/τ² of {WORDS[method]} at n = {n:,}",
        tolerance=tolerance * value(settings[0]),
        id=f"{NAME}/{case}/{more.pop('name', method + '-law')}",
        statement=more.pop("statement", f"2n·excess/τ² of {WORDS[method]} → δ"),
        source=DERIVED,
    )


def against_expected(case: str, method: str, n: int, tolerance: float, source: str) -> Number:
    """A linear baseline's mean excess at n over the expected one; steadied where n is large, where
    that helps.
    """

    def values(runs: Sequence[Run]) -> list[float]:
        reading = _reading()
        found = []
        for run in reading.of(runs, n):
            excess = getattr(reading.fits(run.setting), method)
            steady = (
                reading.steadied(method, run.setting, excess)
                if n > 4 * reading.cone.free_map(run.setting)
                else excess
            )
            found.append(steady / reading.EXPECTED[method](run.setting))
        return found

    words = f"the excess of {WORDS[method]} at n = {n} over the expected one"
    return Number(
        values=values,
        value=1.0,
        of=words,
        tolerance=tolerance,
        id=f"{NAME}/{case}/{method.replace('_', '-')}-{n}",
        statement=f"{words} is 1",
        source=source,
    )


def _measured(
    case: str, name: str, of: str, values: Callable[[Sequence[Run]], Sequence[float]], **more: Any
) -> Measured:
    return Measured(
        values=values,
        of=of,
        id=f"{NAME}/{case}/{name}",
        statement=of,
        source="measured; nothing predicts it",
        **more,
    )


def relative(case: str, n: int, who: str) -> Measured:
    """The last excess over that of saying 0."""

    def values(runs: Sequence[Run]) -> list[float]:
        reading = _reading()
        return [reading.last(run) / reading.zero_excess(run.setting) for run in reading.of(runs, n)]

    return _measured(
        case, f"relative-{n}", f"the excess of {who} at n = {n} over that of saying 0", values
    )


def stopping(case: str, n: int, who: str) -> Measured:
    """What the best of all stops, told by the truth, would save: the least excess of each run over
    its last.
    """

    def values(runs: Sequence[Run]) -> list[float]:
        reading = _reading()
        return [
            float(run.curves["excess_risk"].min()) / reading.last(run)
            for run in reading.of(runs, n)
        ]

    return _measured(
        case,
        f"stopping-{n}",
        f"the least excess along the way of {who} at n = {n} over its last",
        values,
    )


def curve_claims(settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """The identity: all methods against n."""
    counts = sorted({_samples(setting) for setting in settings})
    most, tail = counts[-1], counts[-3:]

    def points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        reading = _reading()
        return [
            (
                float(n),
                reading.steadied("student", run.setting, reading.last(run)),
                run.setting.seed,
            )
            for n in tail
            for run in reading.of(runs, n)
        ]

    rate = Exponent(
        points=points,
        exponent=-1.0,
        of="the student's excess in n",
        tolerance=EXPONENT,
        id=f"{NAME}/identity/student-rate",
        statement="the student's excess falls like 1/n",
        source=DERIVED,
    )
    few, fewer = counts[1], counts[0]
    return (
        law("identity", settings),
        rate,
        against_expected("identity", "oracle", most, CLOSE, EXACT),
        against_expected("identity", "least_squares", most, CLOSE, EXACT),
        against_expected("identity", "least_squares", fewer, CLOSE, EXACT),
        against_expected(
            "identity", "ridge", most, CLOSE, "Dobriban and Wager 2018, for white inputs"
        ),
        against_expected(
            "identity", "ridge", few, CLOSE, "Dobriban and Wager 2018, for white inputs"
        ),
        relative("identity", few, "the student"),
        stopping("identity", fewer, "the student"),
        stopping("identity", most, "the student"),
    )


def relu_claims(settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """The same law for ReLU, and what a linear map cannot learn."""
    n, few = _largest(settings), min(_samples(setting) for setting in settings)

    def gap(runs: Sequence[Run]) -> list[float]:
        reading = _reading()
        found = []
        for run in reading.of(runs, n):
            # Excess = gap + c/n + O(1/n²): twice that at 2n less that at n is the gap, to second
            # order.
            twice, once = (
                reading.fits(reading.at(run.setting, m)).least_squares for m in (n, n // 2)
            )
            found.append((2 * twice - once) / reading.linear.linear_gap(run.setting))
        return found

    return (
        law("relu", settings, tolerance=BENT),
        Number(
            values=gap,
            value=1.0,
            of="what least squares does not learn as n grows, over the gap",
            tolerance=BENT,
            id=f"{NAME}/relu/linear-gap",
            statement="the excess of least squares tends to (½ − 1/π) of that of saying 0",
            source=EXACT,
        ),
        relative("relu", few, "the student"),
        stopping("relu", few, "the student"),
    )


def oracle_claims(settings: Sequence[Setting]) -> tuple[Claim, ...]:
    few = min(_samples(setting) for setting in settings)
    one = law("relu-oracle", settings, "oracle", "known_selection", tolerance=BENT)
    return one, relative("relu-oracle", few, "the oracle")


def network_claims(case: str, settings: Sequence[Setting]) -> tuple[Claim, ...]:
    return tuple(
        kind(case, n, "the network")
        for n in sorted({_samples(setting) for setting in settings})
        for kind in (relative, stopping)
    )


def several_claims(settings: Sequence[Setting]) -> tuple[Claim, ...]:
    return (law("several", settings),)


def needs(axis: str, method: str, runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(D or d, the n that a method needs, seed): the student's from its runs, the others' from the
    same streams at their own n.
    """
    reading = _reading()
    groups: dict[tuple[float, int], list[Run]] = {}
    for run in runs:
        options = run.setting.teacher.options  # type: ignore[union-attr]
        x = len(options["selection"]) if axis == "D" else options["dim"]
        groups.setdefault((float(x), run.setting.seed), []).append(run)  # type: ignore[union-attr]
    found = []
    for (x, seed), group in sorted(groups.items()):
        base = group[0].setting
        if method == "student":
            level = SHARE * reading.zero_excess(base)
            n = reading.crossing(
                [
                    (
                        reading.samples_of(r.setting),
                        reading.steadied("student", r.setting, reading.last(r)),
                    )
                    for r in group
                ],
                level,
            )
        else:
            # Ridge is looked for where least squares is, which is little above: on the same
            # samples, drawn once.
            near = "least_squares" if method == "ridge" else method
            expected = reading.expected_need(near, base.change(seed=0), SHARE)  # type: ignore[union-attr]
            n = reading.needed(method, base, [round(expected * factor) for factor in AROUND], SHARE)
        found.append((x, n, seed))
    return found


def sweep_claims(axis: str, settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """For each method: the exponent of the n that it needs, and that n over the expected one."""

    def at(x: float) -> Setting:
        return next(
            s
            for s in settings
            if x
            == (len(s.teacher.options["selection"]) if axis == "D" else s.teacher.options["dim"])
        )

    claims: list[Claim] = []
    for method in METHODS:

        def points(runs: Sequence[Run], method: str = method) -> list[tuple[float, float, int]]:
            return needs(axis, method, runs)

        def exponent(xs: Sequence[float], method: str = method) -> float:
            return fitted_exponent(
                [(x, _reading().expected_need(method, at(x), SHARE)) for x in xs]
            )

        def ratios(runs: Sequence[Run], method: str = method) -> list[float]:
            found = needs(axis, method, runs)
            over = {(x, s): n / _reading().expected_need(method, at(x), SHARE) for x, n, s in found}
            return [
                float(np.mean([ratio for (_, s), ratio in over.items() if s == seed]))
                for seed in sorted({s for _, s in over})
            ]

        source = DERIVED if method == "student" else EXACT
        name = method.replace("_", "-")
        claims += [
            Exponent(
                points=points,
                exponent=exponent,
                of=f"the n that {WORDS[method]} needs, in {axis},",
                tolerance=EXPONENT,
                id=f"{NAME}/{axis}/{name}-exponent",
                statement=f"the n that {WORDS[method]} needs grows with {axis} as expected",
                source=source,
            ),
            Number(
                values=ratios,
                value=1.0,
                of=f"the n that {WORDS[method]} needs over the expected one",
                tolerance=0.1,
                id=f"{NAME}/{axis}/{name}-need",
                statement=f"the n that {WORDS[method]} needs is the expected one",
                source=source,
            ),
        ]
    return tuple(claims)


def noiseless_claims(case: str, settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """Below δ the sample does not determine the teacher even near it; where descent begins to find
    it is measured.
    """
    counts = sorted({_samples(setting) for setting in settings})

    def share(n: int) -> Callable[[Sequence[Run]], list[float]]:
        def values(runs: Sequence[Run]) -> list[float]:
            reading = _reading()
            return [
                float(reading.last(run) < FOUND * reading.zero_excess(run.setting))
                for run in reading.of(runs, n)
            ]

        return values

    claims: list[Claim] = [
        _measured(
            case,
            f"found-{n}",
            f"the share of samples of {n} from which the teacher is found",
            share(n),
        )
        for n in counts
    ]
    if case == "identity-noiseless":
        claims[0] = Number(
            values=share(counts[0]),
            value=0.0,
            of=f"the share of samples of {counts[0]} from which the teacher is found",
            tolerance=0.05,
            side="at most",
            id=f"{NAME}/{case}/below-{counts[0]}",
            statement="below δ samples the teacher is not found",
            source=DERIVED,
        )

        def enough(runs: Sequence[Run]) -> list[float]:
            reading = _reading()
            rows = int(reading.cone.free_map(runs[0].setting)) + 2
            settings = [reading.at(run.setting, rows) for run in reading.of(runs, counts[0])]
            return [reading.fits(s).least_squares / reading.zero_excess(s) for s in settings]

        claims.append(
            Number(
                values=enough,
                value=0.0,
                of="the relative excess of least squares at n = Dd + 2",
                tolerance=1e-9,
                id=f"{NAME}/{case}/least-squares",
                statement="without noise least squares is exact from n = Dd + 1 on",
                source=EXACT,
            )
        )
    return tuple(claims)


def control_claims(
    curve: Sequence[Setting], bent: Sequence[Setting]
) -> list[tuple[str, str, str, Claim, str]]:
    """(name, label, case whose runs it takes, claim, what it breaks): none of these may hold."""
    few = sorted({_samples(setting) for setting in curve})[1]
    most = _largest(bent)

    def share(n: int) -> Callable[[Sequence[Run]], list[float]]:
        def values(runs: Sequence[Run]) -> list[float]:
            reading = _reading()
            return [
                reading.fits(run.setting).least_squares / reading.zero_excess(run.setting)
                for run in reading.of(runs, n)
            ]

        return values

    def over_oracle(runs: Sequence[Run]) -> list[float]:
        reading = _reading()
        need = {}
        for method in ("least_squares", "oracle"):
            counts = [
                round(factor * reading.expected_need(method, curve[0], SHARE)) for factor in AROUND
            ]
            need[method] = [
                reading.needed(method, run.setting, counts, SHARE) for run in reading.of(runs, few)
            ]
        return [
            ours / theirs
            for ours, theirs in zip(need["least_squares"], need["oracle"], strict=True)
        ]

    def at_most(
        case: str, name: str, values: Callable[[Sequence[Run]], list[float]], value: float, of: str
    ) -> Number:
        name, said = f"{NAME}/{case}/{name}", f"{of} is at most {value:g}"
        return Number(
            values=values,
            value=value,
            of=of,
            tolerance=0.0,
            side="at most",
            id=name,
            statement=said,
            source="a control",
        )

    free = law(
        "free-weights",
        curve,
        dimension="free_weights",
        statement="2n·excess/τ² → Md − 1 + D, every weight free",
    )
    return [
        (
            "free-weights",
            "weights of any sign",
            "identity",
            free,
            "weights that are not negative: each zero of S* counts one half",
        ),
        (
            "no-more-than-the-oracle",
            "least squares as good as the oracle",
            "identity",
            at_most(
                "no-more-than-the-oracle",
                "need",
                over_oracle,
                1.0,
                "the n that least squares needs over the oracle's",
            ),
            "S* is known: least squares must find it",
        ),
        (
            "too-few-rows",
            "least squares with n < Dd",
            "identity",
            at_most(
                "too-few-rows",
                "reached",
                share(few),
                SHARE,
                f"the relative excess of least squares at n = {few}",
            ),
            "n > Dd: there are fewer equations than unknowns",
        ),
        (
            "linear-for-relu",
            "a linear map of a ReLU",
            "relu",
            at_most(
                "linear-for-relu",
                "reached",
                share(most),
                SHARE,
                f"the relative excess of least squares at n = {most}",
            ),
            "a linear teacher: the gap stays",
        ),
    ]
