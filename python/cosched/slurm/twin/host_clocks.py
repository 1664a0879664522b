"""The clocks of the simulator: when its controller started, and what its host takes.

No user of a Slurm sees them. They are drawn, within what was measured on real hosts.
"""

import math
from collections.abc import Mapping

import numpy as np

from cosched.cluster.instance import Instance
from cosched.core.arrays import integer, nonnegative, real, seed_of
from cosched.errors import InvalidInstance, shorten

#: Seconds that a host takes for what Slurm's rules leave out, as measured on a host whose clock ran
#: `MEASURED_AT` times as fast as real time (in real time they are a twentieth of that):
#: docs/explanation/slurm.md.
HOST: dict[str, float] = {
    "launch": 0.77, "epilog": 0.24, "noise": 0.0, "noise_seed": 0.0, "tick_period": 1.035,
    "tick_offset": 0.4, "decay_after": 7.0, "sleep_extra": 0.002, "nap_extra": 0.002,
    "cycle_cost": 0.005, "test_cost": 0.0008, "start_cost": 0.0,
}  # fmt: skip
#: How many times as fast as real time the clock of the measured host ran.
MEASURED_AT = 20.0
#: Factors of the launch of jobs from run to run.
_LAUNCH_FACTORS = (0.5, 4.0)
#: Factors of the epilog of jobs from run to run.
_EPILOG_FACTORS = (0.4, 5.0)
#: Factors of the work of the background loop from run to run.
_LOOP_FACTORS = (0.5, 1.5)
#: Factors of the work of backfill cycles from run to run.
_CYCLE_FACTORS = (0.3, 3.0)
#: How much launches and epilogs of single jobs vary in a run: the core's ``noise``.
_NOISE = 0.5


def host_at(speed: float) -> dict[str, float]:
    """Return what the host adds on a clock `speed` times as fast as real time (s)."""
    times = speed / MEASURED_AT
    scaled = {key: value * times for key, value in HOST.items() if key != "tick_period"}
    return {**scaled, "tick_period": 1 + (HOST["tick_period"] - 1) * times}


def jitter_overhead(host: Mapping[str, float], rng: np.random.Generator) -> dict[str, float]:
    """Return the overheads of the host in another run: each a little longer or shorter."""
    return {
        **host,
        "launch": host["launch"] * rng.uniform(*_LAUNCH_FACTORS),
        "epilog": host["epilog"] * rng.uniform(*_EPILOG_FACTORS),
        "tick_period": 1 + (host["tick_period"] - 1) * rng.uniform(*_LOOP_FACTORS),
        "cycle_cost": host["cycle_cost"] * rng.uniform(*_CYCLE_FACTORS),
        "test_cost": host["test_cost"] * rng.uniform(*_CYCLE_FACTORS),
        "tick_offset": host["tick_offset"] + rng.uniform(0, 1),
        "noise": _NOISE,
        "noise_seed": float(rng.integers(0, 2**31)),
    }


#: A drawn controller starts at most so many seconds before the first job, so that all clocks whose
#: period begins with it are in any phase ...
_MAX_LEAD = 63.0
#: ... and at least so many.
_MIN_LEAD = 3.0
#: Range of a drawn Unix time of second 0.
_YEAR_SECONDS = 365 * 86400


def clocks_of(
    instance: Instance,
    draws: int,
    seed: int | None,
    start: float | None = None,
    epoch: int | None = None,
    launch: float | tuple[float, float] | None = None,
    epilog: float | tuple[float, float] | None = None,
) -> list[dict[str, float]]:
    """Return the clocks of each replication: what no user of a Slurm sees.

    Parameters
    ----------
    instance : Instance
        The jobs.
    draws : int
        Replications; with more than one each has a host of its own.
    seed : int, optional
        Of what is drawn.
    start : float, optional
        When the controller started (s); default: drawn.
    epoch : int, optional
        Unix time of second 0; default: drawn.
    launch, epilog : float or (float, float), optional
        Seconds for each, or bounds between which they are drawn.

    Raises
    ------
    InvalidInstance
        A controller that starts after the first submission.
    """
    rng = np.random.default_rng(seed_of(seed))
    seconds = {"launch": launch, "epilog": epilog}
    intervals = {
        name: _interval(value, name) for name, value in seconds.items() if value is not None
    }
    first = math.floor(float(instance.column("eligible").min()))
    starts = first - rng.uniform(_MIN_LEAD, _MAX_LEAD, draws)
    epochs = rng.integers(0, _YEAR_SECONDS, draws)
    if start is not None:
        starts[:] = real(start, "controller_start")
        if not starts[0] <= float(instance.column("eligible").min()):
            raise InvalidInstance(
                f"controller_start = {shorten(start)}: expected seconds before the first "
                f"submission, {instance.column('submit').min():g}"
            )
    if epoch is not None:
        epochs[:] = integer(epoch, "epoch", 0, 2**40)
    clocks = [
        {
            **HOST,
            **(jitter_overhead(HOST, rng) if draws > 1 else {}),
            "controller_start": controller_start,
            "epoch": float(unix_time),
        }
        for controller_start, unix_time in zip(starts.tolist(), epochs.tolist(), strict=True)
    ]
    for name, (low, high) in intervals.items():
        values = np.full(draws, low) if low == high else rng.uniform(low, high, draws)
        for clocks_of_draw, value in zip(clocks, values.tolist(), strict=True):
            clocks_of_draw[name] = value
    return clocks


def _interval(value: float | tuple[float, float], name: str) -> tuple[float, float]:
    """Return the bounds of a number (s), equal where it is given as one."""
    if not isinstance(value, tuple):
        fixed = nonnegative(value, name)
        return fixed, fixed
    if len(value) != 2:
        raise InvalidInstance(f"{name} = {shorten(value)}: expected a number or two")
    low, high = (nonnegative(bound, name) for bound in value)
    if low > high:
        raise InvalidInstance(f"{name} = {shorten(value)}: expected the lower number first")
    return low, high
