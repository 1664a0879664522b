"""Instances that the search for worst cases looks at: networks of nodes that differ by a speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cosched.dags.adversary.spaces import amounts, flipped, near
from cosched.dags.instance import Instance

#: Costs, data and speeds are at least that, and at most 1: PISA's range.
LEAST_WEIGHT = 0.1


@dataclass(frozen=True, eq=False)
class NetworkCandidate:
    """A task graph with data on nodes of their own speeds, any two joined by a link."""

    #: Cost of each task, (n,): its time on a node is cost / speed.
    costs: NDArray[np.float64]
    #: Whether task i precedes task j, (n, n); true for i < j alone.
    edge: NDArray[np.bool_]
    #: Data along each edge, (n, n).
    data: NDArray[np.float64]
    #: Speed of each node, (m,).
    speeds: NDArray[np.float64]
    #: Speed of the link between two nodes, (m, m); those of a < b count.
    links: NDArray[np.float64]

    def instance(self) -> Instance:
        """The task graph; each node is a resource type of one unit with its own memory."""
        pairs = np.argwhere(self.edge)
        upper = np.triu(self.links, 1)
        return Instance(
            self.costs[:, None] / self.speeds,
            pairs,
            (1,) * len(self.speeds),
            data=self.data[pairs[:, 0], pairs[:, 1]],
            bandwidth=upper + upper.T + np.eye(len(self.speeds)),
            memories="unit",
        )

    def smaller(self) -> Iterator[NetworkCandidate]:
        """Each without one of its tasks, nodes, then each without one of its edges."""
        tasks, nodes = np.arange(len(self.costs)), np.arange(len(self.speeds))
        for task in tasks if len(tasks) > 1 else ():
            other_tasks = tasks[tasks != task]
            both = np.ix_(other_tasks, other_tasks)
            yield replace(
                self, costs=self.costs[other_tasks], edge=self.edge[both], data=self.data[both]
            )
        for node in nodes if len(nodes) > 1 else ():
            other_nodes = nodes[nodes != node]
            links = self.links[np.ix_(other_nodes, other_nodes)]
            yield replace(self, speeds=self.speeds[other_nodes], links=links)
        for before, after in np.argwhere(self.edge):
            yield replace(self, edge=flipped(self.edge, before, after))


@dataclass(frozen=True)
class NetworkSpace:
    """Task graphs of so many tasks on networks of so many nodes, as PISA changes them.

    Reference: Coleman, Krishnamachari 2024.
    """

    #: How many tasks.
    tasks: int
    #: How many nodes.
    nodes: int

    def drawn(self, rng: np.random.Generator) -> NetworkCandidate:
        """At random: any density of edges."""
        n, m = self.tasks, self.nodes
        return NetworkCandidate(
            costs=amounts(rng, (n,), LEAST_WEIGHT),
            edge=np.triu(rng.random((n, n)) < rng.uniform(0, 1), 1),
            data=amounts(rng, (n, n), LEAST_WEIGHT),
            speeds=amounts(rng, (m,), LEAST_WEIGHT),
            links=amounts(rng, (m, m), LEAST_WEIGHT),
        )

    def moved(self, candidate: NetworkCandidate, rng: np.random.Generator) -> NetworkCandidate:
        """A neighbour: mostly one change."""
        for _ in range(rng.geometric(0.6)):
            candidate = self._changed(candidate, rng)
        return candidate

    def _changed(self, candidate: NetworkCandidate, rng: np.random.Generator) -> NetworkCandidate:
        what = rng.random()
        if what < 0.25:
            costs = candidate.costs.copy()
            task = rng.integers(self.tasks)
            costs[task] = near(rng, costs[task], LEAST_WEIGHT)
            return replace(candidate, costs=costs)
        if what < 0.4:
            speeds = candidate.speeds.copy()
            node = rng.integers(self.nodes)
            speeds[node] = near(rng, speeds[node], LEAST_WEIGHT)
            return replace(candidate, speeds=speeds)
        if what < 0.6:
            links = candidate.links.copy()
            link = _pair(rng, self.nodes)
            links[link] = near(rng, links[link], LEAST_WEIGHT)
            return replace(candidate, links=links)
        pair = _pair(rng, self.tasks)
        if what < 0.8:
            data = candidate.data.copy()
            data[pair] = near(rng, data[pair], LEAST_WEIGHT)
            return replace(candidate, data=data)
        if pair[0] == pair[1]:
            return candidate
        return replace(candidate, edge=flipped(candidate.edge, *pair))


def _pair(rng: np.random.Generator, count: int) -> tuple[int, int]:
    """Two numbers below `count`, the lower one first; they may be one."""
    one_number, other_number = rng.integers(count, size=2).tolist()
    return min(one_number, other_number), max(one_number, other_number)
