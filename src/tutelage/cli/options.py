"""Options that several commands share, each declared once.

`--out` is always what a command writes; `--store` is always where stored runs are.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tutelage.refuse import Refused, whole

if TYPE_CHECKING:
    from tutelage.running.execute import Engine
    from tutelage.running.store import Store
    from tutelage.training.method import Method

MOST_LITERAL = 10**12
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Texts = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
Imports = Annotated[
    tuple[str, ...],
    Parameter(
        name="--import",
        negative="",
        show_default=False,
        help="A Python file (or module) that brings a paper or registers parts. Repeatable.",
    ),
]
StorePlace = Annotated[
    str,
    Parameter(
        name="--store",
        help="Where stored runs are: the folder that `run` or `sweep` wrote to, a folder of runs "
        "itself, or the address of either in an object store (s3://…).",
    ),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What is asked of a study.

    Attributes
    ----------
    set
        KEY=VALUE: a letter of the paper (D=64), an option (activation=identity) or a path
        (teacher.norm=10). Repeatable.
    case
        Only this case. Repeatable.
    seeds
        How many seeds, instead of the preset's number.
    steps
        How many steps (1e5 is fine), instead of the preset's horizon. Shorter stored runs are
        continued.
    preset
        The name of a preset, by default quick.
    full
        The full preset: longer horizons and more seeds.
    """

    set: Texts = ()
    case: Texts = ()
    seeds: int | None = None
    steps: str | None = None
    preset: str | None = None
    full: Flag = False
    imports: Imports = ()

    def choose_preset(self) -> str | None:
        """The preset that was asked for; None where none was."""
        if self.full and self.preset not in (None, "full"):
            raise Refused(
                "`--full` and `--preset` exclude each other, since each is a preset. Got both."
            )
        return "full" if self.full else self.preset


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RunOptions(PlanOptions):
    """What is asked of a study, and where and how it is computed.

    Attributes
    ----------
    out
        The folder for runs, tables, figures and verdicts. Runs are in OUT/runs.
    workers
        How many local Dask workers to use, instead of the threads of this process.
    scheduler
        The address of a Dask scheduler whose workers do the work.
    slurm
        A TOML file of SLURM options: workers are jobs of dask-jobqueue (`tutelage docs sweeps`).
    tls_ca
        The certificate to trust, as a PEM file: the processes of the cluster then authenticate each
        other (`tutelage docs sweeps`).
    tls_cert
        The certificate of this side, with --tls-ca.
    tls_key
        Its key.
    device
        Where to compute: cpu, gpu, cuda:1, …
    precision
        float64, or float32 for a faster and less exact run.
    literal
        How many steps to take one by one before plain descent on an exact risk continues by
        gradient flow (`tutelage docs horizon`). By default the preset's number, or 1e6.
    any_size
        Run settings even if they are estimated not to fit into this machine's memory.
    rerun_foreign
        Do not reuse runs made by other versions or in another precision.
    sync
        Fsync every write, so that results survive a power failure.
    json
        Print the results as JSON on standard output, and nothing else there.
    strict
        Exit with 1 if a claim fails or a control holds.
    dry_run
        Say what would run, and stop.
    """

    out: str = "out"
    workers: int | None = None
    scheduler: str | None = None
    slurm: Path | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    device: str | None = None
    precision: str = "float64"
    literal: str | None = None
    any_size: Flag = False
    rerun_foreign: Flag = False
    sync: Flag = False
    json: Flag = False
    strict: Flag = False
    dry_run: Flag = False

    @property
    def method(self) -> Method:
        """In which precision, on which device and how far step by step."""
        from tutelage.cli.parsing import parse_steps
        from tutelage.settings import LITERAL
        from tutelage.training.method import Method

        literal = LITERAL if self.literal is None else parse_steps(self.literal, "literal")
        whole(
            "literal",
            literal,
            least=1,
            reason="a run takes at least one step",
            most=MOST_LITERAL,
            beyond="steps one by one take a second per million, and more would take weeks",
        )
        return Method(self.precision, self.device, literal)

    def open_engine(
        self, imports: Sequence[str], jobs: int | None = None
    ) -> AbstractContextManager[Engine | None]:
        """The engine that these options ask for; `jobs` of this machine exclude any other."""
        from tutelage.cli import engines
        from tutelage.cli.certificates import read_certificates

        certificates = read_certificates(self.tls_ca, self.tls_cert, self.tls_key)
        return engines.open_engine(
            self.workers, self.scheduler, self.slurm, imports, certificates, jobs
        )

    def open_store(self) -> Store:
        """The store under OUT that these options ask for."""
        from tutelage.studies.outputs import open_store

        return open_store(
            self.out,
            sync=self.sync,
            rerun_foreign=self.rerun_foreign,
            method=self.method,
        )
