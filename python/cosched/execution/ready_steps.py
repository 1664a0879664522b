"""Which steps of a plan may start, kept up to date as steps end: O(1) for each wait in all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


class ReadySteps:
    """Steps by their positions, with those that each waits for.

    A step is *settled* when nothing runs there, or will: what waits for it may go on. A step whose
    predecessor in the task graph failed has nothing to work on: it is passed over.

    Parameters
    ----------
    waits : sequence of set of int
        Positions that have to be settled before each step may start.
    needs : mapping
        Position -> its predecessors in the task graph, which are among its waits.
    begun : iterable of int
        Started before, so not to be started.
    """

    def __init__(
        self,
        waits: Sequence[Iterable[int]],
        needs: Mapping[int, Iterable[int]],
        begun: Iterable[int] = (),
    ) -> None:
        self._needs = needs
        self._left = [len(set(of_one)) for of_one in waits]
        self._behind: list[list[int]] = [[] for _ in waits]
        for place, of_one in enumerate(waits):
            for before in of_one:
                self._behind[before].append(place)
        self._begun = set(begun)
        self._fell: set[int] = set()
        self._free: set[int] = set()
        for place, left in enumerate(list(self._left)):
            if not left and place not in self._begun:
                self._free.add(place)

    def ready(self) -> list[int]:
        """Steps that may start, in order."""
        return sorted(self._free)

    def start(self, place: int) -> None:
        """A step has been started."""
        self._begun.add(place)
        self._free.discard(place)

    def settle(self, place: int, good: bool) -> None:
        """A step has ended."""
        todo = [(place, good)]
        while todo:
            now, well = todo.pop()
            if not well:
                self._fell.add(now)
            for behind in self._behind[now]:
                self._left[behind] -= 1
                if self._left[behind] or behind in self._begun:
                    continue
                if self._fell.isdisjoint(self._needs.get(behind, ())):
                    self._free.add(behind)
                else:
                    self._begun.add(behind)
                    todo.append((behind, False))
