"""What a backfill cycle remembers of earlier ones changes no result: all recordings, both ways.

``SlurmSimulator.RandomClustersEndAlikeWithAndWithoutMemory`` of the C++ tests compares 2,000 random
clusters.
"""

import numpy as np
import pytest

from cosched.slurm.recordings import host
from cosched.slurm.recordings.agreement import read_recording, simulated_run
from support import FIXTURES

RECORDINGS = [path for path in (FIXTURES / "slurm").rglob("*.json.gz")
              if path.parent.name in ("slurm", "deep")]  # fmt: skip


@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize("path", sorted(RECORDINGS), ids=lambda path: path.name)
def test_a_recording_ends_alike_with_and_without_memory(monkeypatch, path, replay):
    monkeypatch.setattr(host, "DRAWS", 2)  # which of the likely simulations it is plays no part
    recording = read_recording(path)
    twin, options, _ = simulated_run(recording, recording.runs[0], replay=replay)
    with_memory = twin.run(**options)
    without_memory = twin.run(**options, remembers=False)
    for name in ("start_exact", "end_exact"):
        assert np.array_equal(with_memory[name], without_memory[name], equal_nan=True), name
    for name in ("by", "restarts", "part", "killed", "cycles", "cores", "units"):
        assert np.array_equal(with_memory[name], without_memory[name]), name
    for name in ("nodes", "pauses"):
        assert all(map(np.array_equal, with_memory[name], without_memory[name])), name
