"""Where tasks run: in this process, in processes of this machine, on a Dask cluster.

An engine is ``engine(context, tasks)``: it yields lists of outcomes as they come, an empty
one at least about once a second, so that its caller can write and show what it has. Every task
gets an outcome, in any order; a task may be delivered more than once. Closing the generator
ends its processes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, resource_tracker

from cosched.errors import StudyError
from cosched.experiments.study import Task
from cosched.experiments.worker import WORKER_DIED, Context, Outcome, error_outcome, execute

Numbered = tuple[int, Task]
Batches = Generator[list[Outcome], None, None]
Engine = Callable[[Context, Sequence[Numbered]], Batches]

#: A task whose worker ended so often gets an error row.
MOST_DEATHS = 3


def in_process(context: Context, tasks: Sequence[Numbered]) -> Batches:
    """One task after the other, here: for debuggers and for very small studies."""
    for number, task in tasks:
        yield [execute(context, number, task)]


def local(context: Context, tasks: Sequence[Numbered], workers: int) -> Batches:
    """`workers` spawned processes, each with a pipe of its own.

    No lock is shared, and it is known which task each worker has: one that is killed takes
    nothing with it but that task, which goes back to the head of the queue.
    """
    queue = deque(tasks)
    deaths: Counter[int] = Counter()
    pool: list[_Worker] = []
    failed_starts = 0
    try:
        while queue or any(worker.task for worker in pool):
            busy = sum(worker.task is not None for worker in pool)
            while len(pool) < min(workers, len(queue) + busy):
                pool.append(_Worker(context))
            for worker in pool:
                if queue and worker.ready and worker.task is None:
                    worker.give(queue.popleft())
            waiting = [worker for worker in pool if worker.task or not worker.ready]
            heard = connection.wait([worker.pipe for worker in waiting], timeout=1.0)
            batch = []
            for worker in [worker for worker in waiting if worker.pipe in heard]:
                try:
                    outcome = worker.hear()
                except (EOFError, OSError):  # it was killed, or crashed
                    pool.remove(worker)
                    worker.stop()
                    if not worker.ready:
                        failed_starts += 1
                        if failed_starts >= MOST_DEATHS:
                            raise StudyError(_NO_START) from None
                    elif worker.task is not None:
                        number = worker.task[0]
                        deaths[number] += 1
                        if deaths[number] < MOST_DEATHS:
                            queue.appendleft(worker.task)
                        else:
                            batch.append(error_outcome(number, WORKER_DIED))
                else:
                    failed_starts = 0
                    if outcome is not None:
                        batch.append(outcome)
            yield batch
    finally:
        for worker in pool:
            worker.stop()


_NO_START = (
    "worker processes end before their first task: a script that runs a study must do so "
    "below `if __name__ == '__main__':`"
)


class _Worker:
    """A spawned process, its pipe, and the task that it has."""

    def __init__(self, context: Context) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.task: Numbered | None = None
        self.ready = False
        self.pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, context), daemon=True)
        with _interrupts_held():
            self._process.start()
        theirs.close()  # so that the pipe ends when the process ends

    def give(self, task: Numbered) -> None:
        self.task = task
        with suppress(OSError):  # it ended meanwhile: hear() will say so
            self.pipe.send(task)

    def hear(self) -> Outcome | None:
        """What the process sent: None when it has started, else an outcome."""
        message = self.pipe.recv()
        if isinstance(message, StudyError):
            raise message
        if not self.ready:
            self.ready = True
            return None
        self.task = None
        return message

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()


def _serve(pipe: connection.Connection, context: Context) -> None:
    """The life of a worker process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # nobody is left to work for
        pipe.send(None)
        while True:
            number, task = pipe.recv()
            try:
                outcome: Outcome | StudyError = execute(context, number, task)
            except StudyError as error:
                outcome = error
            pipe.send(outcome)


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers: they look after themselves."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while a process starts: the child inherits that, for good.

    Ctrl-C on a terminal goes to all processes; only the first one is to act on it.
    """
    resource_tracker.ensure_running()  # its start would release the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
