"""The clocks of one replication: what a snapshot tells of its controller; the rest is drawn."""

import numpy as np

from cosched.slurm.live.snapshot import Snapshot
from cosched.slurm.twin.host_clocks import HOST, jitter_overhead

#: Seconds after the snapshot from which on cycles are at least half an hour apart: a start that is
#: months away, as behind a job without a time limit, takes no simulation of every cycle.
_DISTANT_SECONDS = 7 * 86400.0
#: A busy controller wakes so much later than it wanted (s), at most.
_MAX_SLEEP_EXTRA = 0.05
#: A cycle that was longer ago than so many intervals tells nothing about the next one.
_MAX_INTERVALS_SINCE_CYCLE = 20
#: The controller starts at this second of the simulation or later: its clocks are positive.
_FIRST_SECOND = 1.0


def replication_clocks(
    snapshot: Snapshot, epoch: float, bf_interval: float, rng: np.random.Generator | None
) -> dict[str, float]:
    """Return the clocks of the core for one replication, from the last backfill cycle on.

    Parameters
    ----------
    epoch : float
        Unix time of second 0 of the simulation.
    bf_interval : float
        Seconds between backfill cycles.
    rng : numpy.random.Generator, optional
        Draws what is not known; None: the means.
    """
    controller = snapshot.clocks
    now = snapshot.time - epoch
    start = max(now - _seconds_since_cycle(snapshot, bf_interval, rng), _FIRST_SECOND)
    return {
        **_host_overhead(controller.get("cycle"), controller.get("test", 0.0), rng),
        "controller_start": start,
        "epoch": float(epoch),
        "decay_after": _last_decay(snapshot) - epoch - start,
        "distant_time": now + _DISTANT_SECONDS,
    }


def _seconds_since_cycle(
    snapshot: Snapshot, bf_interval: float, rng: np.random.Generator | None
) -> float:
    """Return how long before the snapshot its last backfill cycle began (s).

    Where the snapshot does not tell, some moment of one interval. It tells whole seconds: the
    cycle began at some moment of that second.
    """
    drawn = 0.5 * bf_interval if rng is None else float(rng.uniform(0, bf_interval))
    last_cycle = snapshot.clocks.get("last_cycle")
    if last_cycle is None:
        return drawn
    if snapshot.time - last_cycle >= _MAX_INTERVALS_SINCE_CYCLE * bf_interval:
        return drawn
    fraction = 0.5 if rng is None else float(rng.uniform())
    return max(snapshot.time - last_cycle - fraction, 0.0)


def _host_overhead(
    cycle_seconds: float | None, test_seconds: float, rng: np.random.Generator | None
) -> dict[str, float]:
    """Return what the host of the controller takes (s).

    `cycle_seconds`: a backfill cycle, where the snapshot tells it; `test_seconds`: each test of a
    job, which is a part of that; 0: not known.
    """
    host = dict(HOST)
    if rng is not None:
        host = jitter_overhead(HOST, rng)
        host["sleep_extra"] = float(rng.uniform(0, _MAX_SLEEP_EXTRA))
    if cycle_seconds is not None:
        host["cycle_cost"] = 0.0 if test_seconds else cycle_seconds
        host["test_cost"] = test_seconds
    return host


def _last_decay(snapshot: Snapshot) -> float:
    """Return the Unix time of the last decay of usage before the snapshot.

    The controller decays usage every PriorityCalcPeriod; the snapshot tells one such moment.
    """
    last_pass = snapshot.clocks.get("last_pass", snapshot.time)
    since_pass = max(snapshot.time - last_pass, 0.0)
    period = snapshot.clocks.get("calc_period", 300.0) or 300.0
    return snapshot.time - since_pass % period
