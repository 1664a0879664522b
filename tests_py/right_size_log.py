"""A log of like jobs, for tests of right sizes."""

import numpy as np

import cosched as cs


def log(n=200, *, hours=24.0, **columns):
    """A group of like jobs, which use 1..n minutes and n..1 tenths of a GB."""
    jobs = {
        "submit": 10.0 * np.arange(n), "tasks": [1] * n, "cpu": [1] * n, "memory": [1] * n,
        "runtime": 60.0 * np.arange(1, n + 1), "estimate": [3600 * hours] * n,
        "status": ["completed"] * n, "user": ["ada"] * n, "job_name": [f"a{k}" for k in range(n)],
        "memory_gb": [64.0] * n, "used_memory_gb": np.arange(n, 0, -1) / 10,
    }  # fmt: skip
    return cs.cluster.Instance(jobs | columns, 8)
