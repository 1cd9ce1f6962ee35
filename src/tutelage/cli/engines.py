"""Which engine the options ask for, brought up and taken down around the work."""

from __future__ import annotations

import contextlib
import logging
import signal
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutelage.cli.certificates import (
    NEEDED,
    OPEN,
    Certificates,
    has_certificates,
    is_open,
    make_security,
)
from tutelage.log import LOG
from tutelage.refuse import Refused, one_of, whole

if TYPE_CHECKING:
    import distributed

    from tutelage.running.execute import Engine

# The options of a SLURM file, each with what dask-jobqueue calls it. One job is one worker with one
# thread.
SLURM = {
    "jobs": "",  # how many workers to keep alive
    "wait": "",  # seconds for the first of them to come up
    "queue": "queue",  # the partition
    "account": "account",
    "cores": "job_cpu",  # a job
    "memory": "memory",  # a job, such as "8GB"
    "walltime": "walltime",  # such as "04:00:00"
    "interface": "interface",  # the network that workers reach the client by, such as "ib0"
    "directives": "job_extra_directives",  # further lines of #SBATCH
    "prologue": "job_script_prologue",  # lines of shell before a worker starts
    "python": "python",  # the interpreter on the nodes
    "logs": "log_directory",
}
MOST_JOBS = 1024  # also of workers
TOO_MANY = "each is a process that takes some hundred megabytes"
MISSING = "`{option}` needs Dask: pip install 'tutelage[cluster]'."
# Dask's web pages: none, and the server that would show them listens to this machine alone.
LOOPBACK = "127.0.0.1"
NO_PAGES = {"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"}
NO_ROUTES: dict[str, list[str]] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@contextlib.contextmanager
def open_engine(
    workers: int | None,
    scheduler: str | None,
    slurm: Path | None,
    imports: Sequence[str],
    certificates: Certificates | None = None,
    jobs: int | None = None,
) -> Iterator[Engine | None]:
    """The engine that the options ask for; None for this process, or its own `jobs`."""
    asked = {"--jobs": jobs, "--workers": workers, "--scheduler": scheduler, "--slurm": slurm}
    chosen = [option for option, value in asked.items() if value is not None]
    if len(chosen) > 1:
        raise Refused(
            f"{' and '.join(chosen)} exclude each other, since each chooses where the work is done."
        )
    if not chosen or jobs is not None:
        if certificates is not None:
            raise Refused(
                "`--tls-…` belong to `--workers`, `--scheduler` and `--slurm`, since threads of "
                "one "
                "process and its jobs need no certificate. Got none of these."
            )
        yield None
        return
    options = None if slurm is None else read_slurm_options(slurm)
    if workers is not None:
        reason = "at least one worker is needed"
        whole("workers", workers, least=1, reason=reason, most=MOST_JOBS, beyond=TOO_MANY)
    try:
        import distributed
    except ImportError:
        raise Refused(MISSING.format(option=chosen[0])) from None
    from tutelage.running.engines.cluster import Cluster

    # What it says about a scheduler that is gone are tracebacks; the engine says it in a sentence.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    security = make_security(certificates)
    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            client = _connect(stack, scheduler, security)
            count = len(client.scheduler_info(n_workers=-1)["workers"])
            if not count:
                raise Refused(
                    f"The Dask cluster at {scheduler} has no workers yet. Start some: dask "
                    f"worker {scheduler} --nthreads 1."
                )
        elif workers is not None:
            local = stack.enter_context(_start_local(workers, security))
            client = stack.enter_context(distributed.Client(local, security=security))
            count = workers
        else:
            assert options is not None
            client, count = _open_slurm(stack, options, None if certificates is None else security)
        yield Cluster(client, count, imports)


def _connect(
    stack: contextlib.ExitStack, scheduler: str, security: distributed.Security
) -> distributed.Client:
    """A client of a cluster that is there already."""
    import distributed

    if scheduler.startswith("tls://") and not has_certificates(security):
        raise Refused(
            f"`--scheduler tls://…` needs a certificate, since both sides show one. {NEEDED}. Got "
            "none."
        )
    if is_open(scheduler):
        LOG.warning(OPEN, scheduler)
    try:
        return stack.enter_context(distributed.Client(scheduler, timeout=20, security=security))
    except (OSError, ValueError, RuntimeError) as error:  # among them errors of TLS
        raise Refused(
            "`--scheduler` must be the address of a running Dask scheduler, host:port. "
            f"Got {scheduler!r}: {error}"
        ) from None


def _start_local(workers: int, security: distributed.Security) -> distributed.LocalCluster:
    """Workers of this machine, which no other machine can reach."""
    import dask
    import distributed

    # Ctrl-C reaches every process of a terminal. The client alone answers, and asks the workers to
    # save.
    with _ignoring_ctrl_c(), dask.config.set(NO_ROUTES):
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host=LOOPBACK,
            dashboard_address=None,
            worker_dashboard_address=None,
            scheduler_kwargs=NO_PAGES,
            security=security,
            silence_logs=logging.ERROR,
        )


@contextlib.contextmanager
def _ignoring_ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def read_slurm_options(path: Path) -> dict[str, Any]:
    """The options of a SLURM file, every one known and of its type."""
    try:
        given = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Refused(f"`--slurm` takes a TOML file of options. Got {path}: {error}.") from None
    for key in given:
        one_of(f"option of the SLURM file {path.name}", key, SLURM)
    whole("jobs", given.get("jobs", 1), least=1, reason="each job is a worker")
    return {"jobs": 1, "wait": 3600, "cores": 1, "memory": "4GB", "walltime": "01:00:00"} | given


def _open_slurm(
    stack: contextlib.ExitStack, options: dict[str, Any], security: distributed.Security | None
) -> tuple[Any, int]:
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise Refused(MISSING.format(option="--slurm")) from None
    import dask
    import distributed

    jobs, wait = options.pop("jobs"), options.pop("wait")
    named: dict[str, Any] = {SLURM[key]: value for key, value in options.items()}
    # The job's shell must outlive the warning, or SLURM ends the job while its worker still saves.
    named["job_script_prologue"] = ["trap : TERM", *named.get("job_script_prologue", ())]
    # A lost job is replaced by a new one; were it requeued as well, both would come back.
    named["job_extra_directives"] = ["--no-requeue", *named.get("job_extra_directives", ())]
    pages = ["--no-dashboard", "--dashboard-address", f"{LOOPBACK}:0"]
    more: dict[str, Any] = {"cores": 1, "processes": 1, "worker_extra_args": pages}
    more["nanny"] = False  # with one the worker is not told that it must end, and cannot save
    # Preempted workers count as dead ones.
    dask.config.set({"distributed.scheduler.allowed-failures": 20})
    if security is None:
        LOG.warning(OPEN, "The cluster of SLURM jobs")
    else:
        more["security"] = security
    with dask.config.set(NO_ROUTES):
        cluster = stack.enter_context(SLURMCluster(**named, **more, scheduler_options=NO_PAGES))
    cluster.adapt(minimum=jobs, maximum=jobs)  # which replaces a job that dies; `scale` would not
    client = stack.enter_context(distributed.Client(cluster, security=security))
    try:
        client.wait_for_workers(1, timeout=wait)
    except (TimeoutError, distributed.TimeoutError):
        raise Refused(
            f"No SLURM job became a worker within {wait:g} s. `squeue` says why; a larger `wait` "
            "in the SLURM file gives it more time. The job was:\n" + cluster.job_script()
        ) from None
    return client, jobs
