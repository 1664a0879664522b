"""Runs of a search over a slurm.conf as tasks of a study: on a Dask cluster, or on Slurm."""

import json
import pickle
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
from cosched.io import replacing
from cosched.slurm.tune.trials import Engine, Row, Task as Trial, World

#: As workers find it.
_NAME = "cosched.experiments.tuning:TRIALS"


@lru_cache(maxsize=2)
def _world(path: str, digest: str) -> World:
    """What the driver has written into a folder that all see; once a process."""
    world = pickle.loads(Path(path).read_bytes())
    if world.digest() != digest:
        raise StudyError(f"{path}: of another search")
    return world


def _run(task: dict[str, Any]) -> dict[str, Any]:
    return {"row": _world(task["world"], task["digest"]).run(task["trial"])}


TRIALS = Study(
    name="tune-trials", title="Weeks of a log under a setting", family="cluster",
    plan=lambda quick: [], run=_run, tables=lambda frame: {},
)  # fmt: skip


@contextmanager
def engine(path: Path, address: str | None, jobs: int) -> Iterator[Engine]:
    """For ``tune``: on the Dask cluster at `address`; None: on `jobs` jobs that dask-jobqueue
    submits to Slurm, as its own configuration says.

    What all runs share is written to `path`, in a folder that all workers see, and is gone when
    this ends.
    """
    with ExitStack() as stack:
        where = address or _workers(stack, jobs)
        stack.callback(path.unlink, missing_ok=True)

        def run(world: World, tasks: Sequence[Trial]) -> Iterator[tuple[int, Row]]:
            common = {"world": str(path.resolve()), "digest": world.digest()}
            if not path.exists():
                with replacing(path) as file:
                    file.write_bytes(pickle.dumps(world))
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
    """The address of a scheduler here, whose workers are submitted; they may wait in the queue."""
    jobqueue = optional("dask_jobqueue", extra="dask")
    try:
        cluster = stack.enter_context(jobqueue.SLURMCluster())
        # What is refused later is in a log of Dask's alone, and nobody would ever work.
        subprocess.run(
            ["sbatch", "--test-only"],
            input=cluster.job_script(), text=True, capture_output=True, check=True,
        )  # fmt: skip
    except ValueError as error:
        raise StudyError(
            f"--engine slurm: dask-jobqueue: {_lines(error)[0]} (its own file, "
            "~/.config/dask/jobqueue.yaml, or DASK_JOBQUEUE__SLURM__CORES and ..._MEMORY, say so)"
        ) from None
    except (OSError, subprocess.CalledProcessError) as error:
        said = _lines(getattr(error, "stderr", None) or error)[-1]
        raise StudyError(f"--engine slurm: no job can be submitted: {said}") from None
    cluster.scale(jobs=jobs)
    return str(cluster.scheduler_address)


def _lines(said: object) -> list[str]:
    return [printable(line.strip()) for line in str(said).splitlines() if line.strip()]
