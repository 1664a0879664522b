"""Runs of a search over a slurm.conf as tasks of a study: on a Dask cluster, or on Slurm."""

import hashlib
import json
import os
import pickle
import secrets
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from cosched.errors import StudyError, optional, printable
from cosched.experiments import engines
from cosched.experiments.engines import Context
from cosched.experiments.study import Study
from cosched.slurm.tuning.run_cache import Engine
from cosched.slurm.tuning.setting_simulation import MeasureRow, SimulationContext, Task as Trial

#: As workers find it.
_NAME = "cosched.experiments.tuning:TRIALS"


@lru_cache(maxsize=2)
def load_world(path: str, digest: str) -> SimulationContext:
    """What the driver of this search has written into a folder that all workers see.

    A process loads it once. The digest comes from the driver, with the task, and is checked before
    anything is loaded: what somebody else has written there is never a pickle that is read.
    """
    content = Path(path).read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise StudyError(f"{path}: not what this search has written: expected it unchanged")
    return pickle.loads(content)


def write_world(world: SimulationContext, folder: Path) -> tuple[Path, str]:
    """A new file of a random name that nobody else may read or write; the digest of its content."""
    content = pickle.dumps(world)
    path = folder.resolve() / f".cosched-{secrets.token_hex(8)}.world"
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path, hashlib.sha256(content).hexdigest()


def _run(task: dict[str, Any]) -> dict[str, Any]:
    return {"row": load_world(task["world"], task["digest"]).run(task["trial"])}


TRIALS = Study(
    name="tune-trials",
    title="Weeks of a log under a setting",
    family="cluster",
    plan=lambda quick: [],
    run=_run,
    tables=lambda frame: {},
)


@contextmanager
def engine(folder: Path, address: str | None, jobs: int) -> Iterator[Engine]:
    """For ``tune``: on the Dask cluster at `address`; None: on `jobs` jobs that dask-jobqueue
    submits to Slurm, as its own configuration says.

    What all runs share is written to a new file in `folder`, which all workers see; it is gone when
    this ends.
    """
    with ExitStack() as stack:
        where = address or _workers(stack, jobs)
        context_files: dict[str, dict[str, str]] = {}

        def run(
            world: SimulationContext, tasks: Sequence[Trial]
        ) -> Iterator[tuple[int, MeasureRow]]:
            search = world.digest()
            if search not in context_files:
                path, digest = write_world(world, folder)
                stack.callback(path.unlink, missing_ok=True)
                context_files[search] = {"world": str(path), "digest": digest}
            common = context_files[search]
            numbered = [
                (number, {**common, "trial": {**task, "setting": list(task["setting"])}})
                for number, task in enumerate(tasks)
            ]
            for batch in engines.dask(Context.shipped(_NAME), numbered, where):
                for outcome in batch:
                    row = json.loads(outcome.row)
                    if outcome.status != "ok":
                        raise StudyError(f"a run of the search failed: {row['message']}")
                    yield outcome.number, row["row"]

        yield run


def _workers(stack: ExitStack, jobs: int) -> str:
    """Return the address of a scheduler here, whose workers are submitted; they may wait in the
    queue."""
    jobqueue = optional("dask_jobqueue", extra="dask")
    try:
        cluster = stack.enter_context(jobqueue.SLURMCluster())
        # What is refused later is in a log of Dask's alone, and nobody would ever work.
        subprocess.run(
            ["sbatch", "--test-only"],
            input=cluster.job_script(),
            text=True,
            capture_output=True,
            check=True,
        )
    except ValueError as error:
        raise StudyError(
            f"--engine slurm: dask-jobqueue: {_lines(error)[0]} (its own file, "
            "~/.config/dask/jobqueue.yaml, or DASK_JOBQUEUE__SLURM__CORES and ..._MEMORY, say so)"
        ) from None
    except (OSError, subprocess.CalledProcessError) as error:
        message = _lines(getattr(error, "stderr", None) or error)[-1]
        raise StudyError(f"--engine slurm: no job can be submitted: {message}") from None
    cluster.scale(jobs=jobs)
    return str(cluster.scheduler_address)


def _lines(output: object) -> list[str]:
    return [printable(line.strip()) for line in str(output).splitlines() if line.strip()]
