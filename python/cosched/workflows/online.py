"""List scheduling of a graph that grows while it runs: which of the ready jobs fit, in order."""

from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from cosched.workflows.job_times import ExpectedTimes
from cosched.workflows.run_expectation import Paths

_BLOCK = 4096


class Ready(NamedTuple):
    """What starting a job depends on.

    Attributes
    ----------
    needs : dict of str to int
        Of each resource; 0 of what is not named.
    priority : float
        A higher one goes before everything else.
    temporary, input : float
        Bytes of temporary files that the job reads, of all that it reads: more goes first among
        equally long paths.
    members : tuple
        The jobs that start together, of a group.
    """

    needs: dict[str, int]
    priority: float = 0.0
    temporary: float = 0.0
    input: float = 0.0
    members: tuple[Hashable, ...] = ()


class ReadyList:
    """Jobs that wait for resources only.

    Notes
    -----
    A selection costs O(n) in array operations, and sorting where something is new: 100,000 jobs
    take some hundredths of a second.
    """

    def __init__(self, resources: Sequence[str]) -> None:
        self.resources = tuple(resources)
        self._keys: dict[Hashable, None] = {}  # of the rows below, in their order
        self._job = np.zeros(0, dtype=np.int64)
        self._needs = np.zeros((0, len(self.resources)), dtype=np.int64)
        self._first = np.zeros((0, 3))  # priority, temporary, input
        self._order = np.zeros(0, dtype=np.int64)

    def keys(self):
        """The jobs, as a set-like view."""
        return self._keys.keys()

    def add(self, entries: Sequence[tuple[Hashable, int, Ready]]) -> None:
        """Take in jobs: key, number, what starting depends on."""
        needs = [[ready.needs.get(name, 0) for name in self.resources] for _, _, ready in entries]
        first = [(ready.priority, ready.temporary, ready.input) for _, _, ready in entries]
        self._keys.update((key, None) for key, _, _ in entries)
        self._job = np.concatenate([self._job, [job for _, job, _ in entries]])
        self._needs = np.concatenate([self._needs, np.array(needs, dtype=np.int64)])
        self._first = np.concatenate([self._first, np.array(first, dtype=float)])

    def sort(self, paths: np.ndarray) -> None:
        """Order the jobs by priority, longest path, sizes, number."""
        priority, temporary, size = self._first.T
        descending = [size, temporary, paths[self._job], priority]
        varied = [-key for key in descending if key.size and key.min() != key.max()]
        self._order = np.lexsort([self._job, *varied])

    def select(self, available: Sequence[int], allowed: Container[Hashable]) -> list[Hashable]:
        """Take out, in order, each job that still fits beside those before it.

        Parameters
        ----------
        available : sequence of int
            Of each resource.
        allowed : container
            Those that may start now.
        """
        rows, keys = self._order, list(self._keys)
        if len(keys) != len(allowed):  # type: ignore[arg-type]
            rows = rows[[keys[row] in allowed for row in rows]]
        chosen = rows[fitting(self._needs[rows], np.array(available, dtype=np.int64))]
        selected = [keys[row] for row in chosen]
        for key in selected:
            del self._keys[key]
        is_waiting = np.ones(len(keys), dtype=bool)
        is_waiting[chosen] = False
        self._job, self._needs = self._job[is_waiting], self._needs[is_waiting]
        self._first = self._first[is_waiting]
        self._order = (np.cumsum(is_waiting) - 1)[self._order[is_waiting[self._order]]]
        return selected


def fitting(needs: np.ndarray, available: np.ndarray) -> np.ndarray:
    """Rows that a list schedule starts: in order, each that fits beside those before it.

    Parameters
    ----------
    needs : (n, r) array of int
        At least 0.
    available : (r,) array of int

    Examples
    --------
    >>> fitting(np.array([[2], [3], [1], [1], [1]]), np.array([4])).tolist()
    [0, 2, 3]
    """
    remaining_units = available.copy()
    chosen = []
    for begin in range(0, len(needs), _BLOCK):
        rows = np.arange(begin, min(begin + _BLOCK, len(needs)))
        while rows.size:
            rows = rows[(needs[rows] <= remaining_units).all(axis=1)]
            used = np.cumsum(needs[rows], axis=0)
            exceeds_units = ~(used <= remaining_units).all(axis=1)
            count = int(exceeds_units.argmax()) if exceeds_units.any() else rows.size
            if count:
                chosen.append(rows[:count])
                remaining_units -= used[count - 1]
            rows = rows[count:]
    return np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)


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
