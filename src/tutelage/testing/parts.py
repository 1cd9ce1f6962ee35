"""What every registered part must do, driven by its registration alone."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from tutelage.activations import activation
from tutelage.problem.build import build
from tutelage.problem.options import Declared, Value
from tutelage.problem.registry import Factory, Registered, make, registered, registered_names
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.running.execute import execute
from tutelage.running.store import Store, load
from tutelage.settings import KINDS, PRECISIONS, Part, Setting
from tutelage.testing.compilations import counting_compilations
from tutelage.testing.examples import (
    STEPS,
    beginning,
    calculated_examples,
    find_example,
    is_slow,
)
from tutelage.training.method import Method

# Five steps in float32 stay this close to those in float64, relative to the excess at the start.
SINGLE_TOLERANCE = 0.01


def check_part(kind: str, name: str) -> list[str]:
    """What is wrong with a registered part, one sentence each; nothing where all is well.

    Its options have labels and refuse what is wrong. It builds with the values that it begins with,
    in the first setting of its companions that can be built. There it takes steps with finite
    gradients, in float32 too; a run does not depend on what it is batched with; another seed or
    rate compiles nothing; and what is stored is what was run. A part that takes minutes to build,
    or goes only with such teachers, is checked for its options alone.
    """
    found = registered(kind, name)
    troubles = [*check_labels(found), *check_refusals(found), *check_companions(found)]
    if not is_slow(found):
        troubles += check_behaviour(found)
    return [f"The {kind} {name!r}: {trouble}" for trouble in troubles]


def check_labels(found: Registered) -> Iterator[str]:
    """Every option says what it is called."""
    for name, option in found.options.items():
        shown = option.shown
        if not option.labelled or not shown.label:
            yield (
                f"the option `{name}` has no label. Declare it by "
                f'`{name}: Annotated[…, Option("…")]`.'
            )
        elif shown.least is not None and shown.most is not None and shown.least >= shown.most:
            yield f"the slider of `{name}` ends at {shown.most} and begins at {shown.least}."


def check_companions(found: Registered) -> Iterator[str]:
    """What goes with it is registered, and it begins with options that it has."""
    for kind, names in found.goes_with.items():
        for name in names:
            if name not in registered_names(kind):
                yield f"`goes_with` names the {kind} {name!r}, which is not registered."
    for option in found.begin:
        if option not in found.options and found.further is None:
            yield f"`begin` has a value for `{option}`, which is no option of it."


def check_refusals(found: Registered) -> Iterator[str]:
    """Unknown options, and values of a wrong type, are refused with rule, reason and what was
    received.
    """
    known = next(iter(found.options), "")
    expected = [f"'{known}'"] if known else []
    yield from _refused(found, {f"{known}x": 1}, ["There is no option of", *expected])
    for name, option in found.options.items():
        for wrong in wrong_values(option):
            words = [f"`{name}`", "must be", "since", f"Got {name}={wrong!r}"]
            yield from _refused(found, {name: wrong}, words)


def wrong_values(option: Declared) -> list[Value]:
    """Values of a type that the option does not have: a word for a number, "no" for a truth."""
    wrong: list[Value] = []
    if str not in option.types:
        wrong.append("no" if bool in option.types else "many")
    if bool not in option.types:
        wrong.append(True)
    if int not in option.types and float not in option.types:
        wrong.append(3)
    return wrong


def _refused(found: Registered, options: dict[str, Value], words: list[str]) -> Iterator[str]:
    part = Part(found.name, **{**found.begin, **options})
    said = ", ".join(f"{key}={value!r}" for key, value in options.items())
    try:
        make(found.kind, part)
    except Refused as refused:
        missing = [word for word in words if word not in str(refused)]
        if missing:
            yield f"{said} is refused without {' and '.join(missing)}: {refused}"
    except Exception as error:
        yield f"{said} is not refused: {type(error).__name__}: {error}"
    else:
        yield f"{said} is taken."


def check_behaviour(found: Registered) -> list[str]:
    """It is built, run, and stored."""
    try:
        if found.kind in KINDS:
            return check_training(find_example(found.kind, found.name))
        if found.kind == "activation":
            return list(check_activation(found.name))
        if found.kind == "measure":
            return check_calculation(Part("measures_at_start", measures=found.name), found)
        return check_calculation(beginning("calculation", found.name), found)
    except Refused as refused:
        return [f"it cannot be tried with the values that it begins with. {refused}"]
    except Exception as error:
        return [f"it cannot be run. {type(error).__name__}: {error}"]


def check_activation(name: str) -> Iterator[str]:
    """Its values and slopes are finite numbers, of the precision that they are given."""
    function = activation(name)
    for precision in PRECISIONS:
        given = jnp.linspace(
            -3.0, 3.0, 8, dtype=precision
        )  # without zero, where it may have a kink
        values, slopes = jax.vmap(jax.value_and_grad(function))(given)
        for word, numbers in (("values", values), ("slopes", slopes)):
            if numbers.dtype != given.dtype:
                yield f"its {word} are of the type {numbers.dtype} where {precision} is given."
            if not np.isfinite(numbers).all():
                yield f"its {word} are not finite on [−3, 3] in {precision}."


_CHECKED: dict[tuple[Setting, tuple[Factory, ...]], list[str]] = {}


def check_training(setting: Setting) -> list[str]:
    """What goes wrong in a few steps of a setting; each is tried once per process."""
    made_by = tuple(registered(kind, part.name).factory for kind, part in setting.parts.items())
    if (setting, made_by) not in _CHECKED:
        _CHECKED[setting, made_by] = list(_check_steps(setting))
    return _CHECKED[setting, made_by]


def _check_steps(setting: Setting) -> Iterator[str]:
    """Two programs are compiled: for two seeds in float64, and for one in float32."""
    second = setting.change(seed=setting.seed + 1)
    third = setting.change(seed=setting.seed + 2, rate=2 * setting.rate)
    with TemporaryDirectory() as folder:
        store = Store(folder)
        runs = {run.setting: run for run in execute([setting, second], store=store, threads=1)}
        for each in (setting, second):
            yield from _check_finite(runs[each])
            if not same_run(load(store.path(each)), runs[each]):
                yield "its run is another one when it is read from the store."
    yield from _check_moved(setting, runs[setting])
    with counting_compilations() as count:
        again = {run.setting: run for run in execute([second, third], threads=1)}
    if count():
        yield f"another seed and rate compile {count()} programs again; only shapes may."
    if not same_run(again[second], runs[second]):
        yield "its run depends on the run that it is batched with."
    (single,) = execute([second], threads=1, method=Method(precision="float32"))
    yield from _check_single(single, runs[second])


def _check_single(single: Run, double: Run) -> Iterator[str]:
    """A lone run in float32 is that of the batch in float64, as far as float32 goes."""
    yield from _check_finite(single)
    types = {str(leaf.dtype) for leaf in _numbers(single.student)}
    if types != {"float32"}:
        yield f"in float32 its student has numbers of the types {sorted(types)}."
    excess = double.curves["excess_risk"]
    gap = float(np.abs(single.curves["excess_risk"] - excess).max() / excess[0])
    if not gap <= SINGLE_TOLERANCE:
        yield (
            f"alone and in float32 its excess departs by {gap:.2g} of that at the start from the "
            f"batch in float64 within {STEPS} steps."
        )


def check_calculation(part: Part, found: Registered) -> list[str]:
    """It finds numbers, and the same ones when it is calculated again or read from the store."""
    reason: Exception = Refused("There is no setting to try it in.")
    for setting in calculated_examples(part, found):
        try:
            return list(_check_calculated(setting))
        except Exception as error:  # made for other parts than these
            reason = error
    raise reason


def _check_calculated(setting: Setting) -> Iterator[str]:
    with TemporaryDirectory() as folder:
        store = Store(folder)
        (run,) = execute([setting], store=store)
        if not same_run(load(store.path(setting)), run):
            yield "its numbers are others when they are read from the store."
    (again,) = execute([setting])
    if not same_run(again, run):
        yield "it gives other numbers when it is calculated again."


def _check_finite(run: Run) -> Iterator[str]:
    """A gradient that is not finite ends a run, which keeps the last sound student."""
    if run.outcome not in (Outcome.FINISHED, Outcome.CONVERGED):
        yield f"a few small steps go wrong, and so its gradients are not sound. {run.sentence}"
    numbers = [*_numbers(run.student), *run.curves.values()]
    if not all(np.isfinite(number).all() for number in numbers):
        yield "its student, or what is measured of it, is not finite after a few small steps."


def _check_moved(setting: Setting, run: Run) -> Iterator[str]:
    start = _numbers(build(setting).student)
    if all(np.array_equal(a, b) for a, b in zip(start, _numbers(run.student), strict=True)):
        yield "a few steps move nothing: its gradient is zero at the start."


def same_run(one: Run, two: Run) -> bool:
    """Whether two runs are the same to the last bit."""
    return (
        one.outcome is two.outcome
        and np.array_equal(one.steps, two.steps)
        and one.curves.keys() == two.curves.keys()
        and all(np.array_equal(one.curves[name], two.curves[name]) for name in one.curves)
        and all(
            np.array_equal(a, b)
            for a, b in zip(_numbers(one.student), _numbers(two.student), strict=True)
        )
    )


def _numbers(student: PyTree) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(student, eqx.is_inexact_array))]
