"""Helpers of the tests: real data, random instances, brute force."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

REPO = Path(__file__).resolve().parent.parent


def data(*parts: str) -> Path:
    """A file or folder of the real data; skips the test where it is not there."""
    root = Path(os.environ.get("COSCHED_DATA", REPO.parent / "shared" / "data"))
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"COSCHED_DATA lacks {'/'.join(parts)}")
    return path


def random_times(random: np.random.Generator, n: int, p: int) -> np.ndarray:
    """A monotone table with speed-ups between none and linear."""
    from cosched.packs import monotone

    shrink = random.uniform(0.4, 1.0, (n, p))
    shrink[:, 0] = random.uniform(1, 20, n)
    return monotone(np.cumprod(shrink, axis=1))


def partitions(items: Sequence[int], most: int) -> Iterator[list[list[int]]]:
    """All partitions into blocks of at most `most` items."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(min(most, len(items))):
        for others in itertools.combinations(rest, size):
            remaining = [item for item in rest if item not in others]
            for blocks in partitions(remaining, most):
                yield [[first, *others], *blocks]


def pack_cost_by_brute_force(times: np.ndarray, pack: Sequence[int], p: int) -> float:
    """Least longest time of a pack: try every threshold (times need not be monotone)."""
    rows = times[list(pack), :p]
    for threshold in np.unique(rows):
        fits = rows <= threshold
        if fits.any(axis=1).all() and (fits.argmax(axis=1) + 1).sum() <= p:
            return float(threshold)
    return np.inf


def packs_optimum(times: np.ndarray, k: int) -> float:
    """Optimal cost of a co-schedule by enumerating partitions."""
    n, p = times.shape
    return min(
        sum(pack_cost_by_brute_force(times, pack, p) for pack in blocks)
        for blocks in partitions(range(n), min(k, n, p))
    )
