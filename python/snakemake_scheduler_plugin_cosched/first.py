"""The first jobs, chosen while cosched is still being imported: nothing here imports it."""

from collections.abc import Collection, Mapping
from statistics import fmean
from typing import Any

from snakemake_scheduler_plugin_cosched import jobs

#: Snakemake's name of the resource that nearly every job needs.
_CORES = "_cores"


class FirstJobs:
    """Which jobs start: by priority, then the longest path, each that fits beside the others.

    A job takes what its benchmark file or its limit says; of what is not known of it, the mean of
    the others. What has been read of a job is kept: later choices cost a sort.
    """

    def __init__(self, dag: Any) -> None:
        self._dag = dag
        self._paths: Mapping[Any, float] = {}
        self._ranks: dict[Any, tuple[float, float, str]] = {}

    def select(
        self, selectable: Collection[Any], remaining: Collection[Any], free: Mapping[str, int]
    ) -> list[Any]:
        """Jobs that start now, of those that are ready; `remaining` are all that have not started.

        `free` has the amount of each resource that is there; of others there is enough.
        """
        if not all(job in self._paths for job in remaining):
            self._paths = self._longest_paths(remaining)
            self._ranks.clear()
        for job in selectable:
            if job not in self._ranks:
                self._ranks[job] = self._rank(job)
        free_amounts, chosen = dict(free), []
        for job in sorted(selectable, key=self._ranks.__getitem__):
            resources = job.scheduler_resources
            if _CORES in free_amounts and resources.get(_CORES, 0) > free_amounts[_CORES]:
                continue  # so it is with most jobs, and their other needs are not looked at
            needs = jobs.needs(resources)
            if all(need <= free_amounts.get(name, need) for name, need in needs.items()):
                chosen.append(job)
                for name in needs.keys() & free_amounts.keys():
                    free_amounts[name] -= needs[name]
        return chosen

    def _rank(self, job: Any) -> tuple[float, float, str]:
        longest = max(self._paths.get(member, 0.0) for member in jobs.group(job) or (job,))
        return -float(job.priority), -longest, jobs.name(job)

    def _longest_paths(self, remaining: Collection[Any]) -> dict[Any, float]:
        known_seconds = {job: jobs.benchmark(job) or jobs.runtime(job) for job in remaining}
        usual = fmean([seconds for seconds in known_seconds.values() if seconds] or [1.0])
        seconds = {job: known or usual for job, known in known_seconds.items()}
        return longest_paths(self._dag.job_dependencies, seconds)


def longest_paths(predecessors_of: Any, seconds: Mapping[Any, float]) -> dict[Any, float]:
    """Seconds of the longest path behind each job, itself included.

    `predecessors_of` gives the jobs that a job waits for; those without `seconds` do not count.
    """
    predecessors, open_successors = {}, dict.fromkeys(seconds, 0)
    for job in seconds:
        predecessors[job] = [other for other in predecessors_of(job) if other in seconds]
        for predecessor in predecessors[job]:
            open_successors[predecessor] += 1
    paths = dict(seconds)
    complete = [job for job, count in open_successors.items() if count == 0]
    while complete:  # the paths of all jobs that follow it are known
        job = complete.pop()
        for predecessor in predecessors[job]:
            paths[predecessor] = max(paths[predecessor], seconds[predecessor] + paths[job])
            open_successors[predecessor] -= 1
            if open_successors[predecessor] == 0:
                complete.append(predecessor)
    return paths
