"""Who does the work: the threads of this process, or the workers of a Dask cluster. Both call the
same `Work` on the same batches.
"""

from tutelage.running.engines.threads import Threads
from tutelage.running.work import Result, Work

__all__ = ["Result", "Threads", "Work"]
