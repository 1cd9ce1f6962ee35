"""The default engine: the threads of this process, one per core, since one batch fills one core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import jax

from tutelage.cores import cores
from tutelage.running.work import Result, Work
from tutelage.settings import Setting


class Threads:
    """Batches side by side in threads; a batch that spreads over several devices has them to
    itself.
    """

    remote = False

    def __init__(self, count: int | None = None) -> None:
        alone = jax.default_backend() != "cpu" or len(jax.local_devices()) > 1
        self.workers = max(1, count if count is not None else 1 if alone else cores())

    def run(self, batches: Sequence[Sequence[Setting]], work: Work) -> Iterator[Result]:
        """Each result as it comes; no more batches are begun ahead than there are threads, so that
        memory stays flat.
        """
        waiting = iter(batches)
        pending: set[Future[Result]] = set()
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                while True:
                    while (
                        len(pending) < self.workers + 1
                        and (batch := next(waiting, None)) is not None
                    ):
                        pending.add(pool.submit(work, batch))
                    if not pending:
                        return
                    finished, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                    for future in finished:
                        yield future.result()
            finally:
                work.stop.set()
                for future in pending:
                    future.cancel()
