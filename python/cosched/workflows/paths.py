"""Longest paths through a graph of jobs, with times that change."""

from __future__ import annotations

import graphlib
from collections.abc import Sequence

import numpy as np


class Paths:
    """Jobs by their height, the most edges on a path behind them.

    Parameters
    ----------
    after : sequence of sequences of int
        The jobs that wait for each job.

    Notes
    -----
    Built in O(n + e); a table of longest paths takes O(n + e) in as many array operations as there
    are heights.

    Examples
    --------
    >>> Paths([[1, 2], [2], []]).longest(np.array([1.0, 5.0, 2.0])).tolist()
    [8.0, 7.0, 2.0]
    """

    def __init__(self, after: Sequence[Sequence[int]]) -> None:
        heights = _heights(after)
        self._steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        with_edges = [job for job in range(len(after)) if after[job]]
        with_edges.sort(key=heights.__getitem__)
        first = 0
        while first < len(with_edges):
            last = first
            while (
                last < len(with_edges) and heights[with_edges[last]] == heights[with_edges[first]]
            ):
                last += 1
            jobs = with_edges[first:last]
            begins = np.cumsum([0] + [len(after[job]) for job in jobs[:-1]])
            targets = np.array([k for job in jobs for k in after[job]])
            self._steps.append((np.array(jobs), begins, targets))
            first = last

    def longest(self, seconds: np.ndarray) -> np.ndarray:
        """Seconds of the longest path from the start of each job."""
        paths = seconds.copy()
        for jobs, begins, targets in self._steps:
            paths[jobs] += np.maximum.reduceat(paths[targets], begins)
        return paths


def _heights(after: Sequence[Sequence[int]]) -> list[int]:
    """The most edges on a path from each job."""
    heights = [0] * len(after)
    for job in graphlib.TopologicalSorter(dict(enumerate(after))).static_order():
        heights[job] = max((heights[k] + 1 for k in after[job]), default=0)
    return heights
