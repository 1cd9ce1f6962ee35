"""Who does the work: the threads of this process, processes of this machine, or the workers of a
Dask cluster. All call the same `Work` on the same batches.
"""

from tutelage.running.engines.threads import Threads
from tutelage.running.work import Result, Work

__all__ = ["Result", "Threads", "Work"]
