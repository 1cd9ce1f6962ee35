"""`learn`: a layer of the user's, from a Python file to an answer."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tutelage.cli.options import Flag
from tutelage.refuse import Refused, is_whole

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from tutelage.inputs.base import Inputs
    from tutelage.layers.foreign import Function
    from tutelage.layers.found import Found


def learn(
    layer: str,
    *,
    inputs: str = "gaussian",
    shape: str | None = None,
    tokens: str = "columns",
    probes: int = 24,
    fresh: int = 2000,
    steps: str | None = None,
    seed: int = 0,
    framework: str | None = None,
    batched: Annotated[bool | None, Parameter(negative="--one-by-one")] = None,
    output: str | None = None,
    out: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="", show_default=False)] = False,
    strict: Flag = False,
) -> int:
    """Analyse your own layer: is it σ(VXS), and how much of it can a position-only student learn?

    Prints four facts with their residuals, the answer in words, and what a trained student
    explains.

    Parameters
    ----------
    layer
        A Python file and a name in it (`my.py:net`), with a path inside a model if needed
        (`my.py:model.encoder.layer.0`).
    inputs
        A registered input law such as `gaussian`, a .npy or .npz file with one input per row, or a
        name in a Python file (`my.py:images`).
    shape
        The shape of one input without the batch, such as 1,12,12; not needed with an array.
    tokens
        What a token is: `columns` (d×D), `sequence` (T×d), `nodes`, `pixels` or `patches:3`;
        `pixels:HWC` where channels come last.
    probes
        At how many inputs Jacobians are computed.
    fresh
        How many fresh inputs test the form that was found.
    steps
        How many steps the student trains; 0 for none.
    seed
        Of the inputs.
    framework
        `numpy`, `jax` or `torch`; by default it is detected.
    batched
        Whether the layer takes a batch or one input. By default modules of PyTorch and Flax take
        batches, everything else one input.
    output
        Which of several results: a number or a name.
    out
        A folder for `found.json`, `found.safetensors` (V, S and the bias) and `found.png`.
    json_
        Print the answer as JSON.
    strict
        Exit with 1 unless the layer is a member.
    """
    from rich.console import Console

    from tutelage.cli.parsing import parse_steps
    from tutelage.layers import learn as look
    from tutelage.layers import parse_tokens
    from tutelage.running.store import Store

    read = parse_tokens(tokens)
    sizes = None if shape is None else _parse_shape(shape)
    given = _find_inputs(inputs)
    chosen = int(output) if output is not None and is_whole(output.removeprefix("-")) else output
    taken = 0 if steps == "0" else None if steps is None else parse_steps(steps)
    found = look(
        find_layer(layer),
        given,
        tokens=read,
        shape=sizes,
        probes=probes,
        fresh=fresh,
        steps=taken,
        seed=seed,
        framework=framework,
        batched=batched,
        output=chosen,
        store=None if out is None else Store(out / "runs"),
    )
    if out is not None:
        from tutelage.layers.writing import write_found

        written = write_found(found, out)
    if json_:
        print(json.dumps(found.plain(), indent=1, ensure_ascii=False))
    else:
        console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
        print_found(found, layer, console)
        if out is not None:
            console.print(f"\nwritten   {', '.join(str(path) for path in written)}")
    return 1 if strict and found.member.value != "HOLDS" else 0


def find_layer(text: str) -> Function:
    """The object that `my.py:net` names, and what a path behind it names inside of it."""
    from tutelage.layers import layer

    file, colon, path = text.partition(":")
    if not colon or not path:
        raise Refused(
            f"A layer is named by a Python file and a name in it, such as my.py:net. Got {text!r}."
        )
    name, _, inside = path.partition(".")
    found = _find_name(file, name)
    return layer(found, inside) if inside else found


def _find_name(file: str, name: str) -> Any:
    from tutelage.plugins import import_all, module_of
    from tutelage.refuse import one_of

    if file.endswith(".py") and not os.path.isfile(file):
        raise Refused(f"A layer is read from a Python file. Got {file!r}: there is no such file.")
    import_all([file])
    names = vars(module_of(file))
    own = [known for known in names if not known.startswith("_")]
    return names[one_of(f"name in {file}", name, own)]


def _parse_shape(text: str) -> tuple[int, ...]:
    words = text.replace("x", ",").replace("×", ",").split(",")
    if not all(is_whole(word.strip()) for word in words):
        raise Refused(f"`--shape` takes whole numbers such as 1,12,12. Got {text!r}.")
    return tuple(int(word) for word in words)


def _find_inputs(text: str) -> Inputs | np.ndarray | str:
    """A law, an array in a file, or something that a Python file holds."""
    if text.isidentifier():
        return text  # a registered law
    if ".py:" in text:
        file, _, name = text.partition(":")
        return _find_name(file, name)
    path = Path(text)
    if path.suffix not in (".npy", ".npz"):
        raise Refused(
            "`--inputs` is a registered law such as `gaussian`, a .npy or .npz file, or a name in "
            f"a Python file such as my.py:images. Got {text!r}."
        )
    if not os.path.isfile(path):
        raise Refused(f"`--inputs` names a file that exists. Got {text!r}.")
    import numpy as np

    stored = np.load(path, allow_pickle=False)
    if isinstance(stored, np.ndarray):
        return stored
    if len(stored.files) != 1:
        raise Refused(
            "A .npz file of inputs must hold one array, since there is one set of inputs. Got "
            f"{', '.join(stored.files) or 'none'} in {text!r}."
        )
    return stored[stored.files[0]]


def print_found(found: Found, name: str, console: Console) -> None:
    """The answer, the four facts, and what follows."""
    from rich.table import Table
    from rich.text import Text

    from tutelage.cli.terminal import MARK

    M, d, D, Q = found.shape
    colour, _ = MARK[found.member]
    console.print(Text.assemble((f"{found.answer}", f"bold {colour}"), f"  {name}"))
    console.print(
        f"{found.framework}, {D} tokens of {d} features → {M} outputs × {Q} queries; "
        f"{found.probes} probes of {found.law}\n"
    )
    table = Table("fact", "what it says", "left", "95%", "", box=None, pad_edge=False)
    for fact in found.facts:
        if fact.residual is None or fact.interval is None or fact.status is None:
            table.add_row(fact.name, fact.says, "not asked", "", "")
            continue
        low, high = fact.interval
        marked = Text(*MARK[fact.status][::-1])
        table.add_row(
            fact.name, fact.says, f"{fact.residual:.2g}", f"[{low:.2g}, {high:.2g}]", marked
        )
    console.print(table)
    rows = {
        "kind": found.kind.value,
        "heads": "–" if found.heads is None else str(found.heads),
        "σ": "–" if found.activation is None else found.activation.name,
        "column sums of S": "–"
        if found.column_sums is None
        else f"{found.column_sums[0]:.3f} to {found.column_sums[1]:.3f}",
        "how positional": f"{found.positional:.4f}",
    }
    if found.counting_constant is not None:
        rows["ηT·excess tends to"] = f"{found.counting_constant:g} (as a teacher, without a bias)"
    console.print()
    details = Table(box=None, pad_edge=False, show_header=False)
    for key, value in rows.items():
        details.add_row(key, value)
    console.print(details)
    console.print(f"\n{found.sentence}", markup=False)
