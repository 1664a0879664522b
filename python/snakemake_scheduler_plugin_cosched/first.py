"""The first jobs, chosen while cosched is still being imported: nothing here imports it."""

from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter
from statistics import fmean
from typing import Any

from snakemake_scheduler_plugin_cosched import jobs


def first_jobs(
    dag: Any, selectable: Collection[Any], remaining: Collection[object], free: Mapping[str, int]
) -> list[Any]:
    """Jobs that start now: by priority, then the longest path, each that fits beside the others.

    A job takes what its benchmark file or its limit says; of what is not known of it, the mean of
    the others.
    """
    known_seconds = {job: jobs.benchmark(job) or jobs.runtime(job) for job in remaining}
    usual = fmean([seconds for seconds in known_seconds.values() if seconds] or [1.0])
    paths = _paths(dag, {job: seconds or usual for job, seconds in known_seconds.items()})

    def rank(job: Any) -> tuple[float, float, str]:
        longest = max(paths.get(member, 0.0) for member in jobs.group(job) or (job,))
        return -float(job.priority), -longest, jobs.name(job)

    free_amounts, chosen = dict(free), []
    for job in sorted(selectable, key=rank):
        needs = jobs.needs(job.scheduler_resources)
        if all(need <= free_amounts.get(name, need) for name, need in needs.items()):
            chosen.append(job)
            free_amounts.update(
                {
                    name: free_amounts[name] - need
                    for name, need in needs.items()
                    if name in free_amounts
                }
            )
    return chosen


def _paths(dag: Any, seconds: Mapping[Any, float]) -> dict[Any, float]:
    """Seconds of the longest path behind each job, itself included."""
    before = {
        job: [predecessor for predecessor in dag.job_dependencies(job) if predecessor in seconds]
        for job in seconds
    }
    paths = dict(seconds)
    for job in reversed([*TopologicalSorter(before).static_order()]):
        for predecessor in before[job]:
            paths[predecessor] = max(paths[predecessor], seconds[predecessor] + paths[job])
    return paths
