"""Settings: everything that determines a run, as plain data.

A setting holds registered names, numbers and (for matrices given by hand) arrays, which enter its
identity by their content. It is read, changed and compared without JAX; `problem/build.py` turns it
into objects.
"""

from __future__ import annotations

import hashlib
import json
import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tutelage.refuse import Refused, one_of, positive, show, whole, whole_seed

KINDS = ("teacher", "inputs", "student", "objective", "optimiser")
REGISTERED_KINDS = (*KINDS, "calculation", "measure", "activation")  # all that can be registered
PRECISIONS = (
    "float64",
    "float32",
)  # of the arithmetic: recorded with a run, and no part of its setting
# Steps that are taken one by one before a run goes on by gradient flow: likewise.
LITERAL = 1_000_000
MOST_STEPS = 2**63 - 1
MEASURES = ("excess_risk", "value_error", "cosine", "attention_error", "support_mass", "entropy")

Value = None | bool | int | float | str | np.ndarray  # of an option, once it is plain


@dataclass(frozen=True, eq=False)
class Part:
    """A registered name with its options: `Part("convolution", tokens=36, support=4)`."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __init__(self, name: str, **options: Any) -> None:
        for key in options:
            if not key.isidentifier() or keyword.iskeyword(key):
                raise Refused(
                    "The name of an option is a word, as in tokens=36, since settings are written "
                    f"out as Python. Got {key!r} for {name!r}."
                )
        object.__setattr__(self, "name", name)
        object.__setattr__(
            self, "options", {key: _plain(key, value) for key, value in sorted(options.items())}
        )

    def change(self, **options: Any) -> Part:
        return Part(self.name, **{**self.options, **options})

    @cached_property
    def canonical(self) -> str:
        """The same text for the same part: arrays by their content, 20.0 as 20."""
        return _canonical(_rounded({"name": self.name, **self.options}))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and self.canonical == other.canonical

    def __hash__(self) -> int:
        return hash(self.canonical)


# What is written down of a setting.
Plain = Value | Part | tuple[str, ...] | Mapping[str, Value] | Mapping[str, str]
NO_TEACHER = Part("none")  # of a calculation that needs none


@dataclass(frozen=True)
class Setting:
    """One run as plain data: teacher, student, inputs, objective, optimiser, step size, number of
    steps and seed. Or one calculation, which trains nothing: see `Setting.of_calculation`.
    """

    teacher: Part
    rate: float
    steps: int
    seed: int = 0
    inputs: Part = Part("gaussian")
    student: Part = Part("position_attention")
    objective: Part = Part("population")
    optimiser: Part = Part("gradient_descent")
    measures: tuple[str, ...] = MEASURES
    calculation: Part | None = None

    def __post_init__(self) -> None:
        for name in ("rate", "steps", "seed"):
            if isinstance(value := self.__dict__[name], np.integer | np.floating):
                object.__setattr__(self, name, value.item())  # a number of NumPy is that number
                value = value.item()
            if name != "rate" and isinstance(value, float) and value.is_integer():
                object.__setattr__(self, name, int(value))  # 1e5 of them
        if isinstance(self.rate, int) and not isinstance(self.rate, bool):
            try:
                object.__setattr__(self, "rate", float(self.rate))
            except OverflowError:
                raise Refused(
                    "`rate` must be a number that a computer can hold, below 1.8e308. Got one of "
                    f"{self.rate.bit_length():,} bits."
                ) from None

    @classmethod
    def of_calculation(
        cls, calculation: Part, *, seed: int = 0, teacher: Part = NO_TEACHER, **parts: Part
    ) -> Setting:
        """A setting that is calculated and not trained: it has no rate, no steps and no measures.

        `teacher` and the other parts (`inputs`, `student`, `objective`) are given where the
        calculation looks at them.
        """
        for kind in parts:
            one_of("part of a setting", kind, KINDS)
        return cls(
            teacher=teacher,
            rate=0.0,
            steps=0,
            seed=seed,
            measures=(),
            calculation=calculation,
            **parts,
        )

    def part(self, kind: str) -> Part:
        """The part of a kind: `setting.part("teacher")`."""
        return self.parts[one_of("part of a setting", kind, self.parts)]

    @cached_property
    def parts(self) -> dict[str, Part]:
        """All parts by their kind, the calculation among them where there is one."""
        found = {
            "teacher": self.teacher,
            "inputs": self.inputs,
            "student": self.student,
            "objective": self.objective,
            "optimiser": self.optimiser,
        }
        return found if self.calculation is None else {**found, "calculation": self.calculation}

    def identity(self, origins: Mapping[str, str] | None = None) -> str:
        """A hash of everything but the horizon, so that a longer run extends the same one.

        `origins` says by which code each part of a user's own is made (`Setting.origins`, which is
        the default), so that an edited part never finds the runs of the old one.
        """
        origins = self.origins() if origins is None else origins
        if origins:
            return _short_hash(_canonical({"setting": self._identified, "origins": dict(origins)}))
        return _short_hash(self._identified)

    def origins(self) -> dict[str, str]:
        """Which code makes each part that did not come with tutelage, as registered; and by which
        version of its random draws an objective trains, where they have changed (`DRAWS`).

        A word among the options may name such parts too: an activation, or measures separated by
        commas.
        """
        drawn = f"objective {self.objective.name}"
        found = {drawn: version} if (version := current_origin(drawn)) else {}
        if not ORIGINS:
            return found
        named = {("measure", name) for name in self.measures}
        for kind, part in self.parts.items():
            texts = [value for value in part.options.values() if isinstance(value, str)]
            words = [word for text in texts for word in (text, *text.split(","))]
            named |= {(kind, part.name), *((kind, w) for kind in REGISTERED_KINDS for w in words)}
        return found | {
            f"{kind} {name}": ORIGINS[kind, name] for kind, name in sorted(named & set(ORIGINS))
        }

    @cached_property
    def _identified(self) -> str:
        parts = {
            kind: _rounded({"name": part.name, **part.options}) for kind, part in self.parts.items()
        }
        return _canonical(self._fields() | parts | {"steps": 0})

    def _fields(self) -> dict[str, Any]:
        """All fields; without the calculation where there is none, as runs were stored before."""
        fields = {name: self.__dict__[name] for name in self.__dataclass_fields__}
        if self.calculation is None:
            del fields["calculation"]
        return fields

    def change(self, **changes: Any) -> Setting:
        """A copy with other values: `change(rate=0.1)`, `change(**{"teacher.tokens": 64})`."""
        new = self
        for path, value in changes.items():
            kind, _, option = path.partition(".")
            if option:
                fields: dict[str, Any] = {kind: new.part(kind).change(**{option: value})}
            else:
                one_of("field of a setting", kind, self.__dataclass_fields__)
                if kind in ("rate", "steps", "seed") and isinstance(value, list | dict):
                    raise Refused(
                        f"`{kind}` must be one number, since a setting is one run. Got "
                        f"{kind}={show(value)}."
                    )
                fields = {kind: _named(kind, value) if kind in (*KINDS, "calculation") else value}
            new = replace(new, **fields)
        return new

    def plain(self) -> dict[str, Any]:
        """As JSON-ready data; arrays appear by their hashes and are found in `arrays`."""
        return json.loads(_canonical(self._fields()))

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays given by hand, by their hashes."""
        given = [value for part in self.parts.values() for value in part.options.values()]
        return {_digest(value): value for value in given if isinstance(value, np.ndarray)}

    @classmethod
    def from_plain(
        cls, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray] | None = None
    ) -> Setting:
        """The inverse of `plain` and `arrays`."""
        arrays = arrays or {}

        def part(given: Mapping[str, Any]) -> Part:
            options = {
                k: arrays[v["array"]] if isinstance(v, dict) else v
                for k, v in given.items()
                if k != "name"
            }
            return Part(given["name"], **options)

        fields: dict[str, Any] = {
            k: part(v) if k in (*KINDS, "calculation") else tuple(v) if k == "measures" else v
            for k, v in data.items()
        }
        return cls(**fields)


# The code of every registered part that did not come with tutelage: (kind, name) -> its hash, or
# its package and version. Written by the registry.
ORIGINS: dict[tuple[str, str], str] = {}
# Objectives that came with tutelage and whose steps once drew other random numbers from the same
# seed. The version is part of a run's identity, so that no run is begun with one and continued
# with another; runs of version 1 were stored without any.
DRAWS = {"online": "draws 2"}


def one_setting(given: object) -> Setting:
    """What was given, if it is one setting; several are refused."""
    if isinstance(given, Setting):
        return given
    if isinstance(given, list | tuple):
        several = f"a {type(given).__name__} of {len(given)}: take them one by one"
        raise Refused(f"`setting` must be one Setting, since it stands for one run. Got {several}.")
    raise Refused(
        "`setting` must be a tutelage.Setting, since that names all parts of a run. Got "
        f"{_describe_type(given)}."
    )


def check_numbers(setting: Setting) -> None:
    """Refuses a rate, a horizon or a seed that no run can have."""
    if setting.calculation is None:
        stepped = "a step of gradient descent moves against the gradient"
        positive("rate", setting.rate, reason=stepped)
    check_steps(setting)
    whole_seed(setting.seed)


def check_steps(setting: Setting) -> None:
    """Refuses a number of steps that is none, before anything counts or compares it."""
    if setting.calculation is None:
        whole("steps", setting.steps, least=1, reason="a run takes at least one step")
        if setting.steps > MOST_STEPS:
            raise Refused(
                f"`steps` must be at most {MOST_STEPS:.1e}, since they are counted in 64 bits. Got "
                f"a number of {setting.steps.bit_length():,} bits."
            )


def several_settings(given: Iterable[Setting]) -> list[Setting]:
    """What was given as a list, if it is several settings; a single one is refused."""
    if isinstance(given, Setting):
        raise Refused(
            "`settings` must be a list, since several run together. Got a single Setting: write "
            "[setting]."
        )
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise Refused(
            "`settings` must be a list of tutelage.Setting, since each names one run. Got "
            f"{_describe_type(given)}."
        )
    found = list(given)
    for place, setting in enumerate(found):
        if not isinstance(setting, Setting):
            raise Refused(
                "Each of `settings` must be a tutelage.Setting, since it names one run. Got "
                f"{_describe_type(setting)} at place {place}."
            )
    return found


def _describe_type(given: object) -> str:
    return (
        repr(given) if isinstance(given, str) else f"an object of the type {type(given).__name__}"
    )


def current_origin(named: str) -> str | None:
    """The code or draws of a part, such as "objective online", as they are now; None for a part of
    tutelage whose draws never changed.
    """
    kind, _, name = named.partition(" ")
    return ORIGINS.get((kind, name), DRAWS.get(name) if kind == "objective" else None)


def _named(kind: str, value: Part | str | None) -> Part | None:
    """A part as such, or by its name; None where a setting has no calculation."""
    if isinstance(value, Part) or (value is None and kind == "calculation"):
        return value
    if not isinstance(value, str):
        raise Refused(f"The {kind} of a setting is given by its registered name. Got {value!r}.")
    return Part(value)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _plain(key: str, value: Any) -> Value:
    if isinstance(value, np.integer | np.floating | np.bool_):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | np.ndarray) or hasattr(value, "__array__"):
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):  # the last of integers that no float holds
            raise Refused(
                f"`{key}` must be a number, a word or an array of numbers whose rows are equally "
                f"long, since a setting is plain data. Got {_show_array(value)}."
            ) from None
        array.setflags(write=False)
        return array
    raise Refused(
        f"`{key}` must be a number, a word or an array, since a setting is plain data that can "
        "be stored and run again. Got "
        f"{type(value).__name__}: register it under a name first (tutelage.register), or use the "
        "Python objects directly."
    )


def _show_array(value: Any) -> str:
    """What was received; Python does not write integers of thousands of digits."""
    try:
        return show(value)
    except ValueError:
        return f"a {type(value).__name__} with a number of more than 4,300 digits"


def _rounded(options: Mapping[str, Value]) -> dict[str, Value]:
    """Whole numbers as such, since 20 and 20.0 are one value, and so one run."""
    return {
        key: int(value) if isinstance(value, float) and value.is_integer() else value
        for key, value in options.items()
    }


def _digest(array: np.ndarray) -> str:
    return "sha256:" + hashlib.sha256(repr(array.shape).encode() + array.tobytes()).hexdigest()


def _canonical(thing: Mapping[str, Plain]) -> str:
    def default(value: Part | np.ndarray) -> Mapping[str, Value]:
        if isinstance(value, Part):
            return {"name": value.name, **value.options}
        if isinstance(value, np.ndarray):
            return {"array": _digest(value)}
        raise Refused(
            "A setting is made of numbers, words and arrays, since it is stored and run again. "
            f"Got {value!r}."
        )

    return json.dumps(thing, default=default, sort_keys=True, separators=(",", ":"))
