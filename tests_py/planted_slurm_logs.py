"""Job logs of four weeks under a slurm.conf of which it is known whether another line is better.

Families with a gain have one setting that reduces the mean wait by 20% or more on average over
logs; families without one vary settings that change nothing, change random timing alone, exchange
two kinds of jobs that have the same distribution, or are all worse than today's.
``python tests_py/bench/bench_tune_power.py gains`` prints the gain of each setting.
"""

from dataclasses import dataclass

import numpy as np

import cosched as cs
from cosched.slurm.machines import slurm_machine

DAY = 86400.0
DAYS = 28
JOBS = 400
CORES = 32
#: Share of the core-hours that jobs ask for.
LOAD = 0.65
CONF = """ClusterName=planted
SlurmctldHost=head
AccountingStorageType=accounting_storage/slurmdbd
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityMaxAge=7-0
{priority}
SchedulerParameters={scheduler}
NodeName=n[1-8] CPUs=4
{partitions}
"""
_SINGLE = "PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0"
_SHORT_AND_LONG = """PartitionName=long Nodes=ALL Default=YES MaxTime=2-0 PriorityJobFactor=1
PartitionName=short Nodes=ALL MaxTime=4:00:00 PriorityJobFactor=10"""
_COLOURS = """PartitionName=red Nodes=ALL Default=YES MaxTime=2-0 PriorityJobFactor=10
PartitionName=blue Nodes=ALL MaxTime=2-0 PriorityJobFactor=5"""


@dataclass(frozen=True)
class Family:
    """Logs that differ by their seed, and settings to be varied.

    Attributes
    ----------
    priority, scheduler, partitions : str
        Lines of the slurm.conf.
    vary : dict
        As :func:`cosched.slurm.tune` takes it.
    better : dict
        The planted setting; empty where none is better than today's.
    by_day : bool
        Jobs come by day and the queue empties by night; else they come at any hour.
    """

    priority: str
    scheduler: str
    partitions: str
    vary: dict
    better: dict
    by_day: bool = True

    @property
    def conf(self):
        """The slurm.conf as it is today."""
        return CONF.format(
            priority=self.priority, scheduler=self.scheduler, partitions=self.partitions
        )

    def instance(self, seed):
        """A log of this family."""
        jobs = draw_jobs(seed, self.by_day)
        if self.partitions is _SINGLE:
            jobs["partition"] = np.full(JOBS, "batch")
        elif self.partitions is _COLOURS:
            colour_random = np.random.default_rng([seed, 5])
            jobs["partition"] = colour_random.choice(["red", "blue"], JOBS)
        return cs.cluster.Instance(
            jobs, nodes=CORES, machine=slurm_machine(self.conf, "slurm.conf", "22.05")
        )


def draw_jobs(seed, by_day):
    """Three quarters of the jobs are short and narrow, the others long and wide."""
    random = np.random.default_rng([seed, 11])
    if by_day:
        day = random.integers(0, DAYS, JOBS)
        hour = np.clip(random.normal(13, 3, JOBS), 0, 23.9)
        submit = np.sort(day * DAY + hour * 3600)
    else:
        submit = np.sort(random.uniform(0, DAYS * DAY, JOBS))
    is_short = random.random(JOBS) < 0.75
    runtime = np.where(is_short, random.lognormal(0, 0.8, JOBS), random.lognormal(1.8, 0.6, JOBS))
    wide_tasks = random.choice([8, 16, 24], JOBS)
    tasks = np.where(is_short, random.integers(1, 9, JOBS), wide_tasks)
    runtime *= LOAD * DAYS * DAY * CORES / (runtime * tasks).sum()
    limit = np.where(is_short, 4 * 3600.0, 40 * 3600.0)
    runtime = np.minimum(runtime, limit - 120).round() + 1
    requested = np.minimum((runtime * random.uniform(1, 3, JOBS)).round() + 60, limit)
    return {
        "submit": submit.round(), "tasks": tasks, "cpu": np.ones(JOBS), "memory": np.ones(JOBS),
        "runtime": runtime, "estimate": requested,
        "partition": np.where(is_short, "short", "long"),
        "user": random.choice(["ada", "ben", "eva"], JOBS),
    }  # fmt: skip


_TIMING = {"bf_interval": ["300", "310"]}
#: Families in which one setting reduces the mean wait by 20% or more.
WITH_GAIN = {
    "short jobs first": Family(
        "PriorityWeightPartition=0\nPriorityWeightAge=1000", "bf_interval=300", _SHORT_AND_LONG,
        {"PriorityWeightPartition": ["0", "200", "1000"], **_TIMING},
        {"PriorityWeightPartition": "1000"},
    ),
    "small jobs first": Family(
        "PriorityWeightJobSize=100000\nPriorityWeightAge=0", "bf_interval=300", _SINGLE,
        {"PriorityWeightJobSize": ["0", "100000"], "PriorityFavorSmall": ["NO", "YES"]},
        {"PriorityFavorSmall": "YES"},
    ),
    "deeper backfill": Family(
        "PriorityWeightAge=1000", "bf_interval=300,bf_max_job_test=1", _SINGLE,
        {"bf_max_job_test": ["1", "2"], **_TIMING}, {"bf_max_job_test": "2"},
    ),
}  # fmt: skip
#: Families in which no setting is better than today's.
WITHOUT_GAIN = {
    "equal kinds exchanged, by day": Family(
        "PriorityWeightPartition=1000\nPriorityWeightAge=0", "bf_interval=300", _COLOURS,
        {"partition.blue.PriorityJobFactor": ["5", "20"], **_TIMING}, {},
    ),
    "equal kinds exchanged, at any hour": Family(
        "PriorityWeightPartition=1000\nPriorityWeightAge=0", "bf_interval=300", _COLOURS,
        {"partition.blue.PriorityJobFactor": ["5", "20"], **_TIMING}, {}, by_day=False,
    ),
    "random timing": Family(
        "PriorityWeightAge=1000", "bf_interval=300", _SINGLE,
        {"bf_interval": ["298", "299", "301", "302"], "sched_interval": ["60", "61"]}, {},
    ),
    "no effect": Family(
        "PriorityWeightAge=1000", "bf_interval=300", _SINGLE,
        {"PriorityMaxAge": ["7-0", "168:00:00"], "PriorityWeightQOS": ["0", "500"]}, {},
    ),
    "all worse": Family(
        "PriorityWeightPartition=1000\nPriorityWeightAge=1000", "bf_interval=300", _SHORT_AND_LONG,
        {"PriorityWeightPartition": ["0", "20"], **_TIMING}, {},
    ),
}  # fmt: skip
FAMILIES = WITH_GAIN | WITHOUT_GAIN
