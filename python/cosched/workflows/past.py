"""A past run: how far from the best possible, and what other core counts would take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cosched.workflows.planned import plan
from cosched.workflows.snakemake_log import KeptJob

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Past:
    """Jobs of a past run.

    Parameters
    ----------
    jobs : sequence of KeptJob
    threads : dict of str to int
        Cores of a rule's jobs; 1 where it is not named.

    Examples
    --------
    >>> mesh = KeptJob("mesh m", "mesh", 0.0, 1.0, (), ("m",))
    >>> flow = KeptJob("flow f", "flow", 1.5, 4.0, ("m", "case"), ("f",))
    >>> past = Past([mesh, flow], {"flow": 2})
    >>> past.edges, past.took, past.cores
    ([(0, 1)], 3.5, 2)
    >>> past.on([1, 2]).to_dict("list")
    {'cores': [1, 2], 'expected': [nan, 3.5], 'bound': [nan, 3.5]}
    """

    jobs: Sequence[KeptJob]
    threads: Mapping[str, int]

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs (before, after) of places: the one made a file that the other read."""
        maker = {path: place for place, job in enumerate(self.jobs) for path in job.outputs}
        found = {
            (maker[path], place)
            for place, job in enumerate(self.jobs)
            for path in job.inputs
            if maker.get(path, place) != place
        }
        return sorted(found)

    @property
    def took(self) -> float:
        """Seconds in which at least one job ran: pauses between two calls do not count."""
        total, until = 0.0, -np.inf
        for job in sorted(self.jobs, key=lambda job: job.start):
            total += max(job.end - max(job.start, until), 0.0)
            until = max(until, job.end)
        return total

    @property
    def cores(self) -> int:
        """The most cores that were in use at a time."""
        steps = sorted(
            step
            for job in self.jobs
            for step in ((job.start, self._count(job)), (job.end, -self._count(job)))
        )
        return int(np.cumsum([change for _, change in steps]).max())

    def on(self, cores: Sequence[int]) -> pd.DataFrame:
        """What other core counts would take.

        Returns
        -------
        pandas.DataFrame
            ``cores``, ``expected`` (s, a list schedule by longest paths), ``bound`` (s, no schedule
            ends before); nan where a job needs more.
        """
        import pandas as pd

        seconds = np.array([job.end - job.start for job in self.jobs])
        needs = [{"cores": self._count(job)} for job in self.jobs]
        most = max(need["cores"] for need in needs)
        rows = []
        for count in cores:
            if count < most:
                rows.append((count, np.nan, np.nan))
                continue
            places = range(len(self.jobs))
            made = plan(places, seconds, needs, {"cores": count}, self.edges, cores="cores")
            rows.append((count, made.seconds, made.bound))
        return pd.DataFrame(rows, columns=["cores", "expected", "bound"])

    def _count(self, job: KeptJob) -> int:
        return self.threads.get(job.rule, 1)
