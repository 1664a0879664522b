"""The engine for many machines: tasks on a Dask cluster (extra ``cosched-hpc[dask]``).

A Dask worker runs no task itself: it hosts worker processes, as the local engine does. So a task
that crashes or hangs takes neither the Dask worker with it nor what runs beside it.
"""

from __future__ import annotations

import multiprocessing
import re
import time
import uuid
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosched.errors import StudyError, optional, shorten
from cosched.experiments.engines import (
    WORKER_DIED,
    Batches,
    Context,
    Crew,
    Numbered,
    Outcome,
    error_outcome,
)
from cosched.experiments.study import Task

if TYPE_CHECKING:
    from distributed import Client

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
    """What Dask runs: a task in a process beside the Dask worker."""
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
    """Outcomes of the tasks; those that lost worker after worker go to `suspects`."""
    distributed = optional("distributed", extra="dask")
    run = uuid.uuid4().hex  # nothing that the scheduler remembers of another run is taken
    task_of = {f"cosched-{run}-{number}": (number, task) for number, task in tasks}
    numbers, payloads = zip(*tasks, strict=True)
    futures = client.map(partial(_host, context), numbers, payloads, key=list(task_of), pure=False)
    done = distributed.as_completed(
        futures, loop=client.loop, with_results=True, raise_errors=False
    )
    left = len(futures)
    heartbeat = time.monotonic()
    while left:
        batch = []
        while done.has_ready():
            future, result = next(done)
            left -= 1
            if isinstance(result, Outcome):
                batch.append(result)
                continue
            error = _error_of(result)
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


def _error_of(result: Any) -> BaseException | None:
    """as_completed gives (type, exception, traceback) of a task that failed."""
    return result[1] if isinstance(result, tuple) else result
