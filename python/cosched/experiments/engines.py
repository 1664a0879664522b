"""Where tasks run: in this process, in processes of this machine, on a Dask cluster.

An engine is ``engine(context, tasks)``: it yields lists of outcomes as they come, an empty
one at least about once a second, so that its caller can write and show what it has. Every task
gets an outcome, in any order; a task may be delivered more than once. Closing the generator
ends its processes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
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
    todo = deque(tasks)
    done: SimpleQueue[Outcome | Exception] = SimpleQueue()
    crew = Crew(context)

    def hand_out() -> None:
        with suppress(IndexError):
            while True:
                number, task = todo.popleft()
                try:
                    done.put(crew.run(number, task))
                except Exception as error:
                    done.put(error)
                    return

    left = len(tasks)
    try:
        for _ in range(min(workers, left)):
            threading.Thread(target=hand_out, daemon=True).start()
        while left:
            batch = []
            with suppress(Empty):
                batch.append(_outcome(done.get(timeout=1.0)))
                while True:
                    batch.append(_outcome(done.get_nowait()))
            left -= len(batch)
            yield batch
    finally:
        crew.close()


def _outcome(found: Outcome | Exception) -> Outcome:
    if isinstance(found, Exception):
        raise found
    return found
