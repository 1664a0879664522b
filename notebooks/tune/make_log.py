"""Write sacct.txt: four weeks of the made-up cluster of slurm.conf, for the example of ``tune``.

``python make_log.py`` draws the jobs by a fixed seed and lets ``slurm-backfill`` run them. Two of
three jobs are short and narrow, and the others are long and wide. Under a weight of 0 all wait in
order of submission. A larger ``PriorityWeightPartition`` lets the jobs of partition ``short`` go
first: so a better setting is known, and ``cosched tune`` has to find it. The random numbers are
those of Python's own generator, so that every version of Python draws the same jobs.
"""

import random
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import cosched as cs

HERE = Path(__file__).parent
SEED = 1
BEGIN = datetime(2026, 3, 2)
HOUR, DAY = 3600, 86400
DAYS, JOBS_OF_A_DAY, SHORT_JOBS_OF_A_DAY = 28, 26, 18
#: Seconds of the day at which jobs are submitted first and last: by night the machine gets idle.
SUBMISSION_SECONDS = (8 * HOUR, 18 * HOUR)
CORES_OF_A_NODE = 4
USERS = {"short": ("ann", "bob", "cleo"), "long": ("dora", "emil")}
HEADER = (
    "JobID|JobName|User|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|"
    "ReqTRES|AllocTRES|NodeList"
)


@dataclass(frozen=True)
class Job:
    """One job; times are seconds from the begin of the log."""

    submit: int
    partition: str
    user: str
    cores: int
    runtime: int
    limit: int


def draw_jobs(generator: random.Random) -> list[Job]:
    """All jobs in order of submission."""
    jobs = []
    for number in range(DAYS * JOBS_OF_A_DAY):
        day, place = divmod(number, JOBS_OF_A_DAY)
        submit = day * DAY + generator.randrange(*SUBMISSION_SECONDS)
        if place < SHORT_JOBS_OF_A_DAY:
            partition, cores = "short", generator.randint(2, 12)
            runtime = 0.6 * HOUR * generator.lognormvariate(0, 0.4)
            limit = generator.choice((2, 3, 4)) * HOUR
        else:
            partition, cores = "long", (16, 32)[place % 2]
            runtime = 3.5 * HOUR * generator.lognormvariate(0, 0.3)
            limit = generator.choice((6, 8, 12)) * HOUR
        runtime = min(runtime, limit)
        user = generator.choice(USERS[partition])
        jobs.append(Job(submit, partition, user, cores, int(runtime), limit))
    return sorted(jobs, key=lambda job: job.submit)


def format_log(jobs: list[Job], starts: list[int], nodes: list[str]) -> str:
    """What ``sacct -P -X`` would print of these jobs."""
    rows = [HEADER]
    for number, (job, start, node_list) in enumerate(zip(jobs, starts, nodes, strict=True), 1001):
        end = start + job.runtime
        count = len(node_list.split(","))
        tres = f"cpu={job.cores},node={count}"
        rows.append(
            f"{number}|{job.partition}|{job.user}|lab|{job.partition}|COMPLETED|"
            f"{date(job.submit)}|{date(start)}|{date(end)}|{duration(job.runtime)}|"
            f"{duration(job.limit)}|{count}|{job.cores}|{tres}|{tres}|{node_list}"
        )
    return "\n".join(rows) + "\n"


def date(seconds: int) -> str:
    return (BEGIN + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")


def duration(seconds: int) -> str:
    days, rest = divmod(seconds, DAY)
    return f"{days}-{rest // HOUR:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


def simulate(jobs: list[Job]) -> tuple[list[int], list[str]]:
    """Starts and nodes of the jobs under the slurm.conf beside this script."""
    with tempfile.TemporaryDirectory() as folder:
        requests = Path(folder, "requests.txt")
        fewest = [",".join(["n1"] * -(-job.cores // CORES_OF_A_NODE)) for job in jobs]
        requests.write_text(format_log(jobs, [job.submit for job in jobs], fewest))
        machine = cs.cluster.Machine.read(HERE / "slurm.conf")
        instance = cs.cluster.from_sacct(requests, machine)
        result = cs.cluster.solve(instance, "slurm-backfill", seed=0)
    schedule = result.schedule.to_frame().set_index("task").loc[range(len(jobs))]
    starts = [int(start) + jobs[0].submit for start in schedule["start"]]
    nodes = [
        ",".join(dict.fromkeys(f"n{1 + unit // CORES_OF_A_NODE}" for unit in units))
        for units in schedule["units"]
    ]
    return starts, nodes


def make_log() -> str:
    """The text of sacct.txt."""
    jobs = draw_jobs(random.Random(SEED))
    return format_log(jobs, *simulate(jobs))


if __name__ == "__main__":
    (HERE / "sacct.txt").write_text(make_log())
