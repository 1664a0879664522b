"""List scheduling of a graph that grows while it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from cosched.workflows.paths import Paths
from cosched.workflows.ready import Ready, ReadyList
from cosched.workflows.times import ExpectedTimes

Key = TypeVar("Key", bound=Hashable)


class OnlineList(Generic[Key]):
    """Which of the ready jobs of a workflow start next.

    Jobs have fixed needs of any number of resources. The one with the longest path of expected
    times behind it is first; each that fits beside those before it starts. Without precedence and
    with one resource that is longest processing time first, with several Garey and Graham's list
    schedule: at most (number of resources + 1) times the optimum if the expected times hold.

    Notes
    -----
    A call costs O(n) in array operations; only what is new is asked for.

    References
    ----------
    Garey, Graham, Bounds for multiprocessor scheduling with resource constraints, SIAM Journal on
    Computing 4 (1975), 187-200.

    Examples
    --------
    >>> jobs = {"mesh": ("mesh", 2.0), "flow": ("flow", 9.0), "plot": ("plot", 1.0)}
    >>> before = {"flow": ["mesh"], "mesh": [], "plot": []}
    >>> online = OnlineList()
    >>> online.update(jobs, jobs.__getitem__, before.__getitem__)
    True
    >>> enter = lambda job: Ready({"cores": 1})
    >>> online.select({"plot", "mesh"}, {"cores": 1}, enter)
    ['mesh']
    """

    def __init__(self) -> None:
        self._number: dict[Key, int] = {}
        self._times = ExpectedTimes()
        self._edges: list[tuple[int, int]] = []
        self._paths = Paths([])
        self._ready = ReadyList(())
        self._stale = True

    def __contains__(self, job: Key) -> bool:
        return job in self._number

    def update(
        self,
        remaining: Collection[Key],
        describe: Callable[[Key], tuple],
        before: Callable[[Key], Iterable[Key]],
    ) -> bool:
        """Take notice of jobs that are new.

        Parameters
        ----------
        remaining : collection
            All jobs that have not started, ready or not.
        describe : function
            Rule of a job; its seconds, None where nothing is known; whether they are its limit;
            its subjects: jobs of one subject take long alike. Of the tuple the first two suffice.
            Asked once a job, in the order given, which decides between jobs that are equal in all
            else.
        before : function
            The jobs that a job waits for.

        Returns
        -------
        bool
            Whether there were any.
        """
        new = [job for job in remaining if job not in self._number]
        if not new:
            return False
        for job in new:
            self._number[job] = self._times.add(*describe(job))
        after: list[list[int]] = [[] for _ in self._number]
        for job in remaining:
            number = self._number[job]
            for other in before(job):
                if other in self._number:
                    after[self._number[other]].append(number)
        self._edges = [(job, k) for job, waiting in enumerate(after) for k in waiting]
        self._paths = Paths(after)
        self._stale = True
        return True

    def learn(self, job: Key, seconds: float) -> None:
        """What a job took."""
        self._times.learn(self._number[job], seconds)
        self._stale = True

    def seconds(self, jobs: Iterable[Key]) -> np.ndarray:
        """Expected seconds of jobs."""
        return self._times.seconds()[[self._number[job] for job in jobs]]

    def edges(self, jobs: Sequence[Key]) -> list[tuple[int, int]]:
        """Pairs (before, after) among jobs, by their places."""
        place = {self._number[job]: k for k, job in enumerate(jobs) if job in self._number}
        return [(place[a], place[b]) for a, b in self._edges if a in place and b in place]

    def select(
        self,
        selectable: Collection[Key],
        available: Mapping[str, int],
        enter: Callable[[Key], Ready],
    ) -> list[Key]:
        """The jobs that start now.

        Parameters
        ----------
        selectable : collection
            Ready jobs.
        available : dict of str to int
            What is free of each resource.
        enter : function
            What starting a job depends on; asked when the job is seen as ready first.

        Returns
        -------
        list
            In the order of the list.
        """
        names = tuple(available)
        if names != self._ready.resources:
            self._ready = ReadyList(names)
        allowed = selectable if isinstance(selectable, (set, frozenset)) else set(selectable)
        new = allowed - self._ready.keys()
        if new:
            paths = self._paths.longest(self._times.seconds())
            entries = [(job, *self._entry(job, enter(job), paths)) for job in new]
            self._ready.add(entries)
        if new or self._stale:
            self._ready.sort(self._paths.longest(self._times.seconds()))
            self._stale = False
        return self._ready.select(list(available.values()), allowed)  # type: ignore[return-value]

    def _entry(self, job: Key, ready: Ready, paths: np.ndarray) -> tuple[int, Ready]:
        """Number and needs; of a group, the number of the member with the longest path."""
        numbers = [self._number[k] for k in ready.members if k in self._number]
        if not numbers:
            return self._number[job], ready
        return numbers[int(np.argmax(paths[numbers]))], ready
