"""The first jobs of a workflow, which start before cosched is imported."""

import random
from functools import cache
from types import SimpleNamespace

import pytest

pytest.importorskip("snakemake_interface_scheduler_plugins")

from snakemake_scheduler_plugin_cosched.first import FirstJobs, longest_paths


class Job(SimpleNamespace):
    """What is asked of a job of Snakemake; two of them are never equal."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def random_jobs(draw, count):
    """Jobs, each of which waits for some of those before it, and the function that says which."""
    jobs, predecessors = [], {}
    for number in range(count):
        minutes = draw.choice([None, 1, 2, 5])
        resources = {"_cores": draw.choice([0, 1, 1, 2]), "mem_mb": draw.choice([0, 100, 300])}
        job = Job(
            rule=SimpleNamespace(name=draw.choice("ab")),
            output=[f"{number}.txt"],
            priority=draw.choice([0, 0, 0, 1]),
            scheduler_resources=resources,
            resources=resources | ({"runtime": minutes} if minutes else {}),
        )
        predecessors[job] = draw.sample(jobs, min(len(jobs), draw.choice([0, 0, 1, 3])))
        jobs.append(job)
    return jobs, predecessors.__getitem__


@pytest.mark.parametrize("seed", range(20))
def test_longest_paths_are_those_of_the_definition(seed):
    jobs, predecessors_of = random_jobs(random.Random(seed), 30)
    seconds = {job: float(number % 7 + 1) for number, job in enumerate(jobs[3:])}

    @cache
    def path(job):
        behind = [path(other) for other in seconds if job in predecessors_of(other)]
        return seconds[job] + max(behind, default=0.0)

    assert longest_paths(predecessors_of, seconds) == {job: path(job) for job in seconds}


@pytest.mark.parametrize("seed", range(20))
def test_each_job_that_fits_starts_in_the_order_of_priority_and_path(seed):
    draw = random.Random(seed)
    jobs, predecessors_of = random_jobs(draw, 40)
    first = FirstJobs(SimpleNamespace(job_dependencies=predecessors_of))
    remaining, started = set(jobs), set()
    for _ in range(4):
        ready = {job for job in remaining if started.issuperset(predecessors_of(job))}
        free = {"_cores": draw.randint(0, 4), "mem_mb": draw.choice([0, 300, 1000])}
        chosen = first.select(ready, remaining, free)

        known = [job.resources["runtime"] * 60 for job in jobs if "runtime" in job.resources]
        usual = sum(known) / len(known)
        seconds = {job: job.resources.get("runtime", 0) * 60 or usual for job in jobs}
        paths = longest_paths(predecessors_of, seconds)
        expected, left = [], dict(free)
        for job in sorted(
            ready, key=lambda job: (-job.priority, -paths[job], job.rule.name, job.output[0])
        ):
            if all(job.scheduler_resources[name] <= left[name] for name in left):
                expected.append(job)
                for name in left:
                    left[name] -= job.scheduler_resources[name]
        assert chosen == expected
        remaining -= set(chosen)
        started |= set(chosen)


def test_jobs_of_a_checkpoint_are_new():
    jobs, predecessors_of = random_jobs(random.Random(0), 10)
    first = FirstJobs(SimpleNamespace(job_dependencies=predecessors_of))
    first.select([], jobs[:5], {"_cores": 2})
    ready = [job for job in jobs if not predecessors_of(job)]
    assert ready[-1] not in jobs[:5]
    again = FirstJobs(SimpleNamespace(job_dependencies=predecessors_of))
    free = {"_cores": 3, "mem_mb": 10_000}
    assert first.select(ready, jobs, free) == again.select(ready, jobs, free)
