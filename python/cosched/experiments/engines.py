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
from collections.abc import Callable, Generator, Sequence
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue

from cosched.errors import StudyError
from cosched.experiments.study import Task
from cosched.experiments.worker import Context, Outcome, error_outcome, execute, prepare

Numbered = tuple[int, Task]
Batches = Generator[list[Outcome], None, None]
Engine = Callable[[Context, Sequence[Numbered]], Batches]

#: A task whose process ended so often gets an error row.
MOST_DEATHS = 3
#: What its row says; a task that no Dask worker survives has the same.
WORKER_DIED = "WorkerDied: each worker process that ran this task ended before it did"
_TIMED_OUT = "TaskTimeout: no row after {:g} s (--task-timeout); its worker process was killed"
_NO_START = (
    "worker processes end before their first task: a script that runs a study must do so "
    "below `if __name__ == '__main__':` (or there is no memory for them)"
)


def in_process(context: Context, tasks: Sequence[Numbered]) -> Batches:
    """One task after the other, here: for debuggers and for very small studies.

    Nothing here can end a task that hangs: `context` has no ``task_timeout``.
    """
    for number, task in tasks:
        yield [execute(context, number, task)]


def local(context: Context, tasks: Sequence[Numbered], workers: int) -> Batches:
    """`workers` threads, each with a process to which it hands one task after the other."""
    done: SimpleQueue[futures.Future[Outcome]] = SimpleQueue()
    # Ctrl-C on a terminal goes to all processes; only this one is to act on it. What a thread
    # holds back its processes hold back, too; the start of the tracker would release it.
    resource_tracker.ensure_running()
    hold = (signal.SIG_BLOCK, [signal.SIGINT])
    threads = futures.ThreadPoolExecutor(workers, initializer=signal.pthread_sigmask, initargs=hold)
    crew, left = Crew(context), len(tasks)
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


class Crew:
    """Processes that threads give tasks to, each thread one of its own.

    Tasks may do anything: raise, hang, crash, eat all memory. It is known which task each process
    has: one that dies or is killed takes nothing with it but its attempt at that task. The
    ``task_timeout`` of `context` bounds the seconds of an attempt.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._mine = threading.local()
        self._all: set[_Process] = set()
        self._lock = threading.Lock()  # none starts when all are being ended
        self._closed = False

    def run(self, number: int, task: Task) -> Outcome:
        """The outcome of a task; one that hangs or ends its processes has an error row."""
        limit = self._context.task_timeout
        for _ in range(MOST_DEATHS):
            process = self._process()
            try:
                return process.pool.submit(execute, self._context, number, task).result(limit)
            except futures.TimeoutError:
                assert limit is not None
                self._end(process)
                return error_outcome(number, _TIMED_OUT.format(limit), limit)
            except BrokenProcessPool:  # it was killed, or crashed
                self._end(process)
        return error_outcome(number, WORKER_DIED)

    def close(self) -> None:
        """End all processes; threads that wait for one get a StudyError."""
        with self._lock:
            self._closed = True
        for process in list(self._all):
            self._end(process)

    def _process(self) -> _Process:
        """That of this thread, started where there is none."""
        if (process := getattr(self._mine, "process", None)) in self._all:
            return process
        for _ in range(MOST_DEATHS):
            process = self._mine.process = _Process()
            with self._lock:
                self._all.add(process)
                if self._closed:
                    raise StudyError("the worker processes have been ended")
                started = process.pool.submit(_ready, self._context)
            try:
                process.group = started.result()
                return process
            except BrokenProcessPool:
                self._end(process)
        raise StudyError(_NO_START)

    def _end(self, process: _Process) -> None:
        with self._lock:
            self._all.discard(process)
        process.kill()


class _Process:
    """A spawned process, as a pool of one: it says at once when that has died."""

    def __init__(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pool = futures.ProcessPoolExecutor(1, mp_context=spawn, initializer=_begin)
        self.group: int | None = None

    def kill(self) -> None:
        """End it, and what its task has started."""
        if self.group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.group, signal.SIGKILL)
        self.pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    """The life of a worker process begins: the group that ends with it, or with its parent."""
    os.setsid()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _ready(context: Context) -> int:
    """The process, once it has imported what its tasks need: that is in no task's time."""
    prepare(context)
    return os.getpid()


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers: they look after themselves."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.killpg(0, signal.SIGKILL)
