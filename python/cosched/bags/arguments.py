"""Checks of what an instance of bags is made of, before the C++ border judges the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosched import io
from cosched.core.arrays import any_array, real, real_array
from cosched.errors import InvalidInstance


def flags(allowed: Any, shape: tuple[int, ...]) -> np.ndarray:
    """0 and 1 for each pair, flat; empty where all are allowed."""
    if allowed is None:
        return np.zeros(0, dtype=np.int64)
    given = any_array(allowed, "allowed", 2)
    if given.dtype != bool and not (given.dtype.kind in "iuf" and np.isin(given, (0, 1)).all()):
        raise InvalidInstance("allowed: expected a table of True and False")
    if given.shape != shape:
        raise InvalidInstance(f"allowed has shape {given.shape}, etc has {shape}")
    return given.astype(np.int64).ravel()


def parse_watts(text: str) -> list[float] | float:
    """``"60"`` as one number, ``"60,45"`` as a number a machine type."""
    watts = [io.parse_nonnegative(part, "idle_power", "watts, >= 0") for part in text.split(",")]
    return watts[0] if len(watts) == 1 else watts


def idle_watts(idle_power: Any, machine_types: int) -> np.ndarray:
    """Watts of each machine type: one number stands for all."""
    if idle_power is None:
        return np.zeros(machine_types)
    if any_array(idle_power, "idle_power", 1).ndim == 0:
        return np.full(machine_types, real(idle_power, "idle_power"))
    return real_array(idle_power, "idle_power", 1)
