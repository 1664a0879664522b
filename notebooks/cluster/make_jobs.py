"""Write jobs.csv: the jobs that the recording submits to a real Slurm.

``python make_jobs.py`` draws the jobs of five users by a fixed seed: 27 hours of submissions that
begin at 6:00, many by day and few at night. Requests are 2 to 8 times the real use, in time and in
memory. The random numbers are those of Python's own generator, so that every version of Python
writes the same file.
"""

import csv
import io
import itertools
import random
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SEED = 62
#: Hour of the day at which the first job is submitted, and hours until the last one.
FIRST_HOUR, HOURS = 6, 27
#: Parts of its request that a job uses at least and at most: requests are 2 to 8 times the use.
LEAST_USE, MOST_USE = 0.13, 0.48
COLUMNS = (
    "id", "name", "user", "account", "partition", "submit", "runtime", "limit",
    "nodes", "cores", "mem", "rss", "gres", "array", "dependency",
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """What one user runs again and again."""

    name: str
    user: str
    account: str
    #: Jobs in the whole recording.
    count: int
    nodes: int
    #: Of all its nodes together.
    cores: int
    #: Median run time, in minutes.
    minutes: float
    #: Requested time, in minutes.
    limit: int
    #: Median use of memory on each node, in MB.
    used_memory: int
    #: Request of memory on each node, in MB.
    memory: int
    partition: str = "batch"
    #: On each node.
    gpus: int = 0


PROGRAMS = (
    Program("relax", "ada", "physics", 80, 1, 16, 45, 180, 9000, 40000),
    Program("lattice", "ada", "physics", 12, 4, 64, 70, 360, 12000, 60000),
    Program("dynamics", "ben", "physics", 40, 2, 32, 55, 150, 8000, 32000),
    Program("assembly", "dan", "biology", 42, 1, 8, 80, 480, 11000, 48000),
    Program("align", "cam", "biology", 220, 1, 4, 25, 150, 4000, 20000, "serial"),
    Program("train", "eva", "chemistry", 90, 1, 4, 75, 300, 14000, 56000, "gpu", 1),
)
#: Relative number of submissions by hour of the day.
BY_DAY, BY_NIGHT = 5.0, 0.7


def draw_jobs(generator: random.Random) -> list[dict[str, object]]:
    """All jobs in order of submission; times are seconds, memory is MB."""
    jobs: list[dict[str, object]] = []
    for program in PROGRAMS:
        for _ in range(program.count):
            jobs.append(draw_job(program, draw_submission(generator), generator))
    jobs += draw_array(generator) + draw_chain(generator)
    jobs.sort(key=lambda job: job["submit"])
    return jobs


def draw_submission(generator: random.Random) -> int:
    """A second of the recording: an hour by its weight, and any second in it."""
    hours = range(HOURS)
    weights = [BY_DAY if 8 <= (FIRST_HOUR + hour) % 24 < 17 else BY_NIGHT for hour in hours]
    (hour,) = generator.choices(hours, weights)
    return 3600 * hour + generator.randrange(3600)


def draw_job(program: Program, submit: int, generator: random.Random) -> dict[str, object]:
    """One job; its time and memory are lognormal within the bounds of what a job uses."""
    limit = 60 * program.limit
    runtime = 60 * program.minutes * generator.lognormvariate(0, 0.35)
    memory = program.used_memory * generator.lognormvariate(0, 0.2)
    return {
        "name": program.name,
        "user": program.user,
        "account": program.account,
        "partition": program.partition,
        "submit": submit,
        "runtime": round(clip(runtime, LEAST_USE * limit, MOST_USE * limit)),
        "limit": limit,
        "nodes": program.nodes,
        "cores": program.cores,
        "mem": program.memory,
        "rss": round(clip(memory, LEAST_USE * program.memory, MOST_USE * program.memory)),
        "gres": f"gpu:a100:{program.gpus}" if program.gpus else "",
    }


def clip(value: float, low: float, high: float) -> float:
    """The value, or the bound that it passes."""
    return min(max(value, low), high)


def draw_array(generator: random.Random) -> list[dict[str, object]]:
    """A parameter sweep of 24 tasks, at most six of them at a time."""
    sweep = Program("sweep", "cam", "biology", 1, 1, 4, 30, 120, 5000, 20000, "serial")
    return [{**draw_job(sweep, 3 * 3600 + 900, generator), "array": "1-24%6"}]


def draw_chain(generator: random.Random) -> list[dict[str, object]]:
    """A job that prepares data, one that computes, and one that draws, one after another."""
    submit = 4 * 3600 + 1200
    steps = (
        Program("prepare", "ben", "physics", 1, 1, 4, 20, 60, 4000, 16000),
        Program("compute", "ben", "physics", 1, 2, 32, 60, 180, 8000, 32000),
        Program("draw", "ben", "physics", 1, 1, 2, 10, 60, 2000, 8000),
    )
    jobs = [draw_job(step, submit + 5 * k, generator) for k, step in enumerate(steps)]
    for before, job in itertools.pairwise(jobs):
        job["dependency"] = f"afterok:{before['name']}"
    for job in jobs:
        job["id"] = job["name"]
    return jobs


def make_table() -> str:
    """The text of jobs.csv."""
    jobs = draw_jobs(random.Random(SEED))
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({"id": f"job{number}", **job} for number, job in enumerate(jobs))
    return text.getvalue()


if __name__ == "__main__":
    (HERE / "jobs.csv").write_text(make_table())
