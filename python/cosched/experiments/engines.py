"""Where tasks run: in this process, in processes of this machine, on a Dask cluster.

An engine is ``engine(context, tasks)``: it yields lists of outcomes as they come, an empty
one at least about once a second, so that its caller can write and show what it has. Every task
gets an outcome, in any order; a task may be delivered more than once. Closing the generator
ends its processes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue

from cosched.experiments.study import Task
from cosched.experiments.worker import Context, Outcome, execute
from cosched.experiments.worker_processes import Crew

Numbered = tuple[int, Task]
Batches = Generator[list[Outcome], None, None]
Engine = Callable[[Context, Sequence[Numbered]], Batches]


def in_process(context: Context, tasks: Sequence[Numbered]) -> Batches:
    """One task after the other, here: for debuggers and for very small studies.

    Nothing here can end a task that hangs: `context` has no ``task_timeout``.
    """
    for number, task in tasks:
        yield [execute(context, number, task)]


def local(context: Context, tasks: Sequence[Numbered], workers: int) -> Batches:
    """`workers` processes, and a thread for each that hands it one task after the other."""
    done: SimpleQueue[Future[Outcome]] = SimpleQueue()
    crew, threads = Crew(context), ThreadPoolExecutor(workers)
    left = len(tasks)
    try:
        for number, task in tasks:
            threads.submit(crew.run, number, task).add_done_callback(done.put)
        while left:
            batch = []
            with suppress(Empty):
                batch.append(done.get(timeout=1.0).result())
                while True:
                    batch.append(done.get_nowait().result())
            left -= len(batch)
            yield batch
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        crew.close()
