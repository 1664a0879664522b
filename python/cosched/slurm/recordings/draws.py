"""What a recording leaves open of a run, drawn: which run is the most like the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cosched.slurm.recordings.runs import Recording, Run
from cosched.slurm.twin.twin import Twin

#: So many runs, and how far starts of jobs that are alike are apart at most (s).
DRAWS, NEAR = 100, 5.0
#: A job has worked at least that long beyond its run time (s).
_LAUNCH = 0.05

#: From the shortest to the longest that each job may have run (s); nan: by the rules.
Lengths = tuple[np.ndarray, np.ndarray]


def typical(
    twin: Twin,
    clocks: Mapping[str, float],
    lengths: Lengths,
    *,
    cycles: Sequence[float] = (),
    checks: Sequence[float] = (),
) -> tuple[dict[str, Any], float]:
    """The run that agrees with most of the others (its arguments to `Twin.run`; of equal ones the
    nearest to them), and the share of jobs on the same nodes within five seconds, two runs taken at
    random.

    Drawn are the phase of the ticks and each job's length within its bounds, without a look at
    what the recorded run decided: the seed is fixed, and the runs judge each other.
    """
    rng = np.random.default_rng(0)
    shortest, longest = lengths
    drawn = []
    for _ in range(DRAWS):
        offset = rng.uniform(0, clocks["tick_period"])
        own = shortest + (longest - shortest) * rng.uniform(size=len(shortest))
        drawn.append({
            "clocks": {**clocks, "tick_offset": offset}, "lengths": own.tolist(),
            "cycles": cycles, "checks": checks,
        })  # fmt: skip
    alike, apart = _alike([twin.run(**one) for one in drawn], twin)
    best = int(np.lexsort((apart.sum(axis=1), -alike.sum(axis=1)))[0])
    others = (alike.sum() - len(alike)) / (len(alike) * (len(alike) - 1))
    return drawn[best], float(others)


def lengths_of(recording: Recording, run: Run) -> Lengths:
    """Of jobs that ended by themselves, as starts tell exactly and ends in whole seconds."""
    runtime, limit = recording.jobs["runtime"], recording.jobs["estimate"]
    begin = np.array([run.begins.get(row, np.nan) for row in range(len(run.start))])
    longest = run.end + 1 - begin
    own = (run.end - run.start < limit) & (longest > runtime + _LAUNCH)
    longest = np.where(own, longest, np.nan)
    return np.maximum(longest - 1, runtime + _LAUNCH), longest


def _alike(outcomes: Sequence[Mapping[str, Any]], twin: Twin) -> tuple[np.ndarray, np.ndarray]:
    """Of each two runs, the share of jobs on the same nodes with starts near each other, and how
    far these are apart."""
    never = -1e12  # alike among each other
    start = np.nan_to_num(np.array([one["start"] for one in outcomes]), nan=never)
    numbers: dict[bytes, int] = {}
    where = np.array([
        [numbers.setdefault(nodes.tobytes(), len(numbers)) for nodes in twin.nodes_of(one)]
        for one in outcomes
    ])  # fmt: skip
    apart = np.array([np.minimum(np.abs(start - own), 2 * NEAR) for own in start])
    near = (apart <= NEAR) & np.array([where == nodes for nodes in where])
    return near.mean(axis=2), (apart * near).mean(axis=2)
