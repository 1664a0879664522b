"""`tune` on the published week of a university's cluster, four times one after the other.

`python bench_tune_week.py [--runs N]`: 16 settings, four weeks, four replications, on all
processors of this process. With `--runs` only so many replications of one week are simulated, and
the processor seconds of the whole are estimated from these. Needs `ubhpc` of the optional datasets.
"""

from __future__ import annotations

import argparse
import os
import resource
import tarfile
import tempfile
import time
from pathlib import Path

import archives
import numpy as np

import cosched as cs
from cosched.cluster.instance import Instance
from cosched.slurm.tuning.setting_simulation import SimulationContext, drop_unstartable_jobs
from cosched.slurm.tuning.space import TuningMeasure
from cosched.slurm.tuning.weeks import weeks_of
from cosched.units import WEEK

WEEKS = 4
DRAWS = 4
VARY = {"bf_interval": "30,60,120,300", "PriorityWeightAge": "0,10000,100000,1000000"}


def week_repeated(folder: Path, times: int) -> Instance:
    """Jobs of the week, submitted again so many weeks later under numbers of their own."""
    with tarfile.open(archives.DATA / "ubhpc/medium_cluster.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    machine = cs.cluster.Machine.read(
        folder / "etc/slurm.conf", slurm_version="22.05", accounts=folder / "etc/sacctmgr.script"
    )
    week = Instance.read(
        folder / "job_traces/workload_week.events", machine=machine, no_bound=True, approximate=True
    )
    columns = {"id": week.ids, **week.raw_columns}
    repeated = {name: np.concatenate([column] * times) for name, column in columns.items()}
    repetition = np.repeat(np.arange(times), len(week))
    repeated["id"] = np.array(
        [f"{job}{number:02}" for job, number in zip(repeated["id"], repetition, strict=True)]
    )
    for name in ("submit", "eligible"):
        if name in repeated:
            repeated[name] = repeated[name] + repetition * WEEK
    return week.with_jobs(repeated).without_bound()


def processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def show_replications(instance: Instance, count: int) -> None:
    """Print the processor seconds of so many replications of the second week."""
    block = weeks_of(instance, None, None).train[1]
    begin = processor_seconds()
    startable = drop_unstartable_jobs(block, count, 1)
    seconds = (processor_seconds() - begin) / count
    print(f"{len(startable.block.instance)} jobs, as it is: {seconds:.1f} s a replication")
    measures = (TuningMeasure.of_text("mean_wait"),)
    context = SimulationContext(tuple(VARY), (startable.block,), measures, count, 1)
    for setting in (("60", "10000"), ("300", "1000000")):
        begin = processor_seconds()
        for draw in range(count):
            context.run({"setting": setting, "block": 0, "draw": draw})
        seconds = (processor_seconds() - begin) / count
        print(f"{', '.join(setting)}: {seconds:.1f} s a replication")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        instance = week_repeated(Path(name), WEEKS)
        print(f"{len(instance)} jobs")
        if arguments.runs:
            show_replications(instance, arguments.runs)
            return
        begin, wall = processor_seconds(), time.perf_counter()
        tuned = cs.slurm.tune(instance, vary=VARY, draws=DRAWS, budget=16)
        print(tuned)
        print(
            f"{tuned.runs} runs of a week in all: {processor_seconds() - begin:.0f} s of the "
            f"processor, {(time.perf_counter() - wall) / 60:.1f} min on "
            f"{len(os.sched_getaffinity(0))} processors, "
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB at most"
        )


if __name__ == "__main__":
    main()
