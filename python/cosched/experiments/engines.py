"""Where tasks run: in this process, in processes of this machine, on a Dask cluster (extra
``cosched-hpc[dask]``); and what each of those processes does.

An engine is ``engine(context, tasks)``: it yields lists of outcomes as they come, an empty
one at least about once a second, so that its caller can write and show what it has. Every task
gets an outcome, in any order; a task may be delivered more than once. Closing the generator
ends its processes.

A Dask worker runs no task itself: it hosts worker processes, as the local engine does. So a task
that crashes or hangs takes neither the Dask worker with it nor what runs beside it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Generator, Sequence
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import resource_tracker
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from cosched.errors import StudyError, optional, shorten
from cosched.experiments.catalogue import find
from cosched.experiments.study import Study, Task
from cosched.registry import FAMILIES, family
from cosched.version import installed_version

if TYPE_CHECKING:
    from distributed import Client


class Outcome(NamedTuple):
    """What became of a task. ``row`` is JSON, so that it is the same however it travelled."""

    number: int
    status: str
    row: str
    seconds: float
    detail: str = ""  # a traceback, for the reader of errors.txt


@dataclass(frozen=True)
class Context:
    """What all tasks of a campaign share; `task_timeout` in seconds."""

    #: The name of the study.
    study: str
    #: The version of cosched that made the campaign.
    version: str
    #: The folder of real data; empty: none is needed.
    data: str = ""
    #: Pickled algorithms that the user registered; empty: none.
    registered: bytes = b""
    #: Seconds after which a task is given up; None: never.
    task_timeout: float | None = None

    @classmethod
    def here(cls, study: str) -> Context:
        """For tasks that run in this very process: it has the data and the algorithms."""
        return cls(study, installed_version())

    @classmethod
    def shipped(cls, study: str, task_timeout: float | None = None) -> Context:
        """For other processes: with the place of the data and the user's own algorithms."""
        root = os.environ.get("COSCHED_DATA")
        data = os.path.abspath(root) if root else ""
        return cls(study, installed_version(), data, _pickled_algorithms(), task_timeout)


def execute(context: Context, number: int, task: Task) -> Outcome:
    """Run one task. An error that it raises becomes a row with status ``error``."""
    study = prepare(context)
    begin = time.perf_counter()
    try:
        row = study.run(dict(task))
        seconds = time.perf_counter() - begin
        if not isinstance(row, dict) or not all(isinstance(key, str) for key in row):
            raise TypeError("run() returned no dictionary with texts as keys")
        row = {"status": "ok", **row}
        return Outcome(number, str(row["status"]), json.dumps(row, default=_to_json_value), seconds)
    except (Exception, SystemExit) as error:
        seconds = time.perf_counter() - begin
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return error_outcome(number, message, seconds, traceback.format_exc())


def error_outcome(number: int, message: str, seconds: float = 0.0, detail: str = "") -> Outcome:
    """The outcome of a task that has no result."""
    row = json.dumps({"status": "error", "message": message})
    return Outcome(number, "error", row, seconds, detail)


def prepare(context: Context) -> Study:
    """The study, once this process is known to fit the campaign; StudyError if it does not."""
    _adopt(context)
    try:
        return find(context.study)
    except ValueError as error:
        raise StudyError(f"a worker does not know the study: {error}") from None


@cache
def _adopt(context: Context) -> None:
    """Check the version of a process once, and take over the user's algorithms."""
    if installed_version() != context.version:
        raise StudyError(
            f"a worker has cosched {installed_version()}, this is {context.version}: "
            "install the same"
        )
    if context.data:
        os.environ.setdefault("COSCHED_DATA", context.data)
    if context.registered:
        import pickle

        for family_name, name, function in pickle.loads(context.registered):
            family(family_name).register(name, function)


def _pickled_algorithms() -> bytes:
    """Return what the user registered, functions of a notebook or a script by value."""
    loaded = [name for name in FAMILIES if f"cosched.{name}" in sys.modules]
    registered = [
        (name, algorithm, family(name).algorithms[algorithm])
        for name in loaded
        for algorithm in sorted(family(name).registered)
    ]
    if not registered:
        return b""
    return optional("cloudpickle", extra="studies").dumps(registered)


def _to_json_value(value: object) -> Any:
    """Return Numpy's values as Python's; numbers keep their last bit."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"a row holds {type(value).__name__}: expected plain data")


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
    crew, remaining_count = Crew(context), len(tasks)
    try:
        for number, task in tasks:
            threads.submit(crew.run, number, task).add_done_callback(done.put)
        while remaining_count:
            batch = []
            with suppress(Empty):
                batch.append(done.get(timeout=1.0).result())
                while True:
                    batch.append(done.get_nowait().result())
            remaining_count -= len(batch)
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
        self._of_thread = threading.local()
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
        """Return the process of this thread, started where there is none."""
        if (process := getattr(self._of_thread, "process", None)) in self._all:
            return process
        for _ in range(MOST_DEATHS):
            process = self._of_thread.process = _Process()
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
    """Begin the life of a worker process: the group that ends with it, or with its parent."""
    os.setsid()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _ready(context: Context) -> int:
    """Return the process, once it has imported what its tasks need: that is in no task's time."""
    prepare(context)
    return os.getpid()


def _end_with_parent() -> None:
    """End this worker when its parent is gone: a parent that was killed cannot end its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.killpg(0, signal.SIGKILL)


_ADDRESS = re.compile(r"([a-z]+://)?[^\s/:]+:[0-9]+|[a-z]+://\[[0-9a-f:]+\]:[0-9]+")
_PAUSE = 0.05


def dask(
    context: Context, tasks: Sequence[Numbered], address: str, timeout: float = 15.0
) -> Batches:
    """Tasks on the workers of the scheduler at `address` (or of a scheduler file, .json).

    Workers may come and go. Dask runs the tasks of a lost worker elsewhere; a task that was
    on several lost workers (``distributed.scheduler.allowed-failures``) may be innocent, so it
    runs again with nothing beside it before it gets an error row.
    """
    with _connected(address, timeout) as client:
        suspects: list[Numbered] = []
        yield from _collect(client, context, tasks, address, suspects)
        for suspect in suspects:
            guilty: list[Numbered] = []
            yield from _collect(client, context, [suspect], address, guilty)
            yield [error_outcome(number, WORKER_DIED) for number, _ in guilty]


def _host(context: Context, number: int, task: Task) -> Outcome:
    """Return what Dask runs: a task in a process beside the Dask worker."""
    return _crew(context).run(number, task)


@cache
def _crew(context: Context) -> Crew:
    # A nanny starts its worker as a daemon, which Python allows no processes of its own. Ours end
    # with the worker all the same.
    multiprocessing.current_process().daemon = False
    return Crew(context)


def _connected(address: str, timeout: float) -> Client:
    distributed = optional("distributed", extra="dask")
    # The client would wait for a scheduler file, and not notice a malformed address.
    if address.endswith(".json"):
        if not Path(address).is_file():
            raise StudyError(f"{address}: no such scheduler file")
        where = {"scheduler_file": address}
    elif _ADDRESS.fullmatch(address):
        where = {"address": address}
    else:
        raise StudyError(f"--dask {shorten(address)}: expected HOST:PORT or a file in .json")
    try:
        return distributed.Client(**where, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        reason = " ".join(str(error).split())[:200]
        raise StudyError(f"no Dask scheduler answers at {address} ({reason})") from None


def _collect(
    client: Client,
    context: Context,
    tasks: Sequence[Numbered],
    address: str,
    suspects: list[Numbered],
) -> Batches:
    """Yield outcomes of the tasks; those that lost worker after worker go to `suspects`."""
    distributed = optional("distributed", extra="dask")
    run = uuid.uuid4().hex  # nothing that the scheduler remembers of another run is taken
    task_of = {f"cosched-{run}-{number}": (number, task) for number, task in tasks}
    numbers, payloads = zip(*tasks, strict=True)
    futures = client.map(partial(_host, context), numbers, payloads, key=list(task_of), pure=False)
    done = distributed.as_completed(
        futures, loop=client.loop, with_results=True, raise_errors=False
    )
    remaining_count = len(futures)
    heartbeat = time.monotonic()
    while remaining_count:
        batch = []
        while done.has_ready():
            future, result = next(done)
            remaining_count -= 1
            if isinstance(result, Outcome):
                batch.append(result)
                continue
            # as_completed gives (type, exception, traceback) of a task that failed.
            error = result[1] if isinstance(result, tuple) else result
            if isinstance(error, distributed.KilledWorker):
                suspects.append(task_of[future.key])
            elif isinstance(error, distributed.CancelledError):
                raise StudyError(f"lost the Dask scheduler at {address}; --resume goes on")
            elif isinstance(error, StudyError):
                raise error
            else:  # not of the task: execute() turns those into rows
                raise StudyError(f"a Dask worker cannot run tasks: {error!r}")
        if batch or time.monotonic() - heartbeat > 1:
            heartbeat = time.monotonic()
            yield batch
        else:
            time.sleep(_PAUSE)
