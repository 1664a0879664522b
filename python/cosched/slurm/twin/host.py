"""What a host adds to Slurm's rules: its clocks, and how they vary from run to run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cosched.core.arrays import nonnegative

#: Seconds that a host takes for what Slurm's rules leave out, as measured on one whose clocks ran
#: 20 times as fast as life (they are a twentieth of that in life): docs/explanation/slurm.md.
HOST: dict[str, float] = {
    "launch": 0.77, "epilog": 0.24, "noise": 0.0, "noise_seed": 0.0, "tick_period": 1.035,
    "tick_offset": 0.4, "decay_after": 7.0, "sleep_extra": 0.002, "nap_extra": 0.002,
    "cycle_cost": 0.005, "test_cost": 0.0008, "start_cost": 0.0,
}  # fmt: skip
#: On which clock: times as fast as life.
MEASURED_AT = 20.0
#: How far these are from run to run: factors of launch and epilog, of the loop's work.
_LAUNCHES, _EPILOGS, _LOOPS, _CYCLES = (0.5, 4.0), (0.4, 5.0), (0.5, 1.5), (0.3, 3.0)
_NOISE = 0.5


def host_at(speed: float) -> dict[str, float]:
    """What the host adds on a clock `speed` times as fast as life (s)."""
    times = speed / MEASURED_AT
    scaled = {key: value * times for key, value in HOST.items() if key != "tick_period"}
    return {**scaled, "tick_period": 1 + (HOST["tick_period"] - 1) * times}


def host_clocks(launch: float | None = None, epilog: float | None = None) -> dict[str, float]:
    """What the host adds (s), with these times of the user's own."""
    own = dict(HOST)
    if launch is not None:
        own["launch"] = nonnegative(launch, "launch")
    if epilog is not None:
        own["epilog"] = nonnegative(epilog, "epilog")
    return own


def varied(host: Mapping[str, float], rng: np.random.Generator) -> dict[str, float]:
    """The host in another run: everything that it takes a little longer or shorter."""
    return {
        **host,
        "launch": host["launch"] * rng.uniform(*_LAUNCHES),
        "epilog": host["epilog"] * rng.uniform(*_EPILOGS),
        "tick_period": 1 + (host["tick_period"] - 1) * rng.uniform(*_LOOPS),
        "cycle_cost": host["cycle_cost"] * rng.uniform(*_CYCLES),
        "test_cost": host["test_cost"] * rng.uniform(*_CYCLES),
        "tick_offset": host["tick_offset"] + rng.uniform(0, 1),
        "noise": _NOISE,
        "noise_seed": float(rng.integers(0, 2**31)),
    }
