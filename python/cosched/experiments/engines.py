"""Where tasks run: in this process, in processes of this machine, on a Dask cluster.

An engine is ``engine(context, tasks)``: it yields lists of outcomes as they come, an empty
one at least about once a second, so that its caller can write and show what it has. Every task
gets an outcome, in any order; a task may be delivered more than once. Closing the generator
ends its processes.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import connection, resource_tracker
from queue import Empty, SimpleQueue
from typing import Any

from cosched.errors import StudyError
from cosched.experiments.study import Task
from cosched.experiments.worker import Context, Outcome, error_outcome, execute, prepare

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


#: A task whose process ended so often gets an error row.
MOST_DEATHS = 3
#: What its row says; a task that no Dask worker survives has the same.
WORKER_DIED = "WorkerDied: each worker process that ran this task ended before it did"
_TIMED_OUT = "TaskTimeout: no row after {:g} s (--task-timeout); its worker process was killed"
_NO_START = (
    "worker processes end before their first task: a script that runs a study must do so "
    "below `if __name__ == '__main__':` (or there is no memory for them)"
)
#: Seconds between looks at whether a process is still there.
_LOOK = 1.0


class Crew:
    """Processes that threads give tasks to; as many as there are tasks at a time.

    Tasks may do anything: raise, hang, crash, eat all memory. Each runs in a spawned process with a
    pipe of its own; no lock is shared, and it is known which task each process has: one that dies
    or is killed takes nothing with it but its attempt at that task.

    Parameters
    ----------
    context : Context
        Its ``task_timeout`` bounds the seconds of an attempt.
    memory : int
        Bytes of data that each process may have; 0 for no bound.
    idle : float, optional
        Seconds after which a process without a task ends; None: with the crew.
    """

    def __init__(self, context: Context, memory: int = 0, idle: float | None = None) -> None:
        self._context = context
        self._arguments = (context, memory, idle)
        self._lock = threading.Lock()  # processes start and end one after the other
        self._all: set[_Process] = set()
        self._idle: list[_Process] = []
        self._closed = False

    def run(self, number: int, task: Task) -> Outcome:
        """The outcome of a task; one that hangs or ends its processes has an error row."""
        limit = self._context.task_timeout
        for _ in range(MOST_DEATHS):
            process = self._take()
            try:
                outcome = process.execute(number, task, limit)
            except (EOFError, OSError):  # it was killed, or crashed
                self._end(process)
                continue
            if outcome is None:
                assert limit is not None
                self._end(process)
                return error_outcome(number, _TIMED_OUT.format(limit), limit)
            self._idle.append(process)
            return outcome
        return error_outcome(number, WORKER_DIED)

    def close(self) -> None:
        """End all processes; threads that wait for one get a StudyError."""
        with self._lock:
            self._closed = True
        for process in list(self._all):
            self._end(process)

    def _take(self) -> _Process:
        """A process without a task."""
        with suppress(IndexError):
            while True:
                process = self._idle.pop()
                if process.waits():
                    return process
                self._end(process)
        for _ in range(MOST_DEATHS):
            with self._lock:
                if self._closed:
                    raise StudyError("the worker processes have been ended")
                process = _Process(*self._arguments)
                self._all.add(process)
            try:
                process.wait_for_start()
                return process
            except (EOFError, OSError):
                self._end(process)
        raise StudyError(_NO_START)

    def _end(self, process: _Process) -> None:
        with self._lock:
            if process in self._all:
                self._all.remove(process)
                process.stop()


class _Process:
    """A spawned process and the pipe to it."""

    def __init__(self, *arguments: Any) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, *arguments), daemon=True)
        with _interrupts_held():
            self._process.start()
        theirs.close()  # so that the pipe ends when the process ends

    def waits(self) -> bool:
        """Whether it is still there; without a task it has nothing to say but its end."""
        return not self._pipe.poll(0) and self._process.is_alive()

    def wait_for_start(self) -> None:
        """EOFError or OSError if it ends before."""
        self._hear(math.inf)

    def execute(self, number: int, task: Task, limit: float | None) -> Outcome | None:
        """The outcome of a task; None after `limit` seconds; EOFError or OSError if it ends."""
        self._pipe.send((number, task))
        return self._hear(math.inf if limit is None else time.monotonic() + limit)

    def _hear(self, until: float) -> Any:
        """What the process says; None if it has not spoken then."""
        while not self._pipe.poll(max(0.0, min(_LOOK, until - time.monotonic()))):
            # What a task has started may keep the pipe open when the process is gone.
            if not self._process.is_alive() and not self._pipe.poll(0):
                raise EOFError
            if time.monotonic() >= until:
                return None
        message = self._pipe.recv()
        if isinstance(message, StudyError):
            raise message
        return message

    def stop(self) -> None:
        """Kill it, and what its task has started."""
        pid = self._process.pid
        if pid is not None and self._process.is_alive():
            with suppress(ProcessLookupError, PermissionError):  # its group is just being made
                os.killpg(pid, signal.SIGKILL)
            self._process.kill()
        self._process.join(_LOOK)
        with suppress(ValueError):  # it does not end: it hangs inside the kernel
            self._process.close()
        self._pipe.close()


def _serve(pipe: connection.Connection, context: Context, memory: int, idle: float | None) -> None:
    """The life of a worker process."""
    os.setsid()  # the group that stop() kills
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # nobody is left to work for
        try:
            prepare(context)
            if memory:
                resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            pipe.send(None)
            while pipe.poll(idle):
                pipe.send(execute(context, *pipe.recv()))
        except StudyError as error:
            pipe.send(error)


def _end_with_parent() -> None:
    """A parent that was killed cannot end its workers: they look after themselves."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.killpg(0, signal.SIGKILL)


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
