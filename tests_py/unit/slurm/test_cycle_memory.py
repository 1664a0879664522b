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
    twin, clocks, _ = simulated_run(recording, recording.runs[0], replay=replay)
    with_memory = twin.run(clocks)
    without_memory = twin.run(clocks, remembers=False)
    for column in (
        "start_exact", "end_exact", "scheduler", "restarts", "partition", "is_killed",
        "cycle_times", "cores", "core_ids", "node_begin", "node", "pause_job", "pause_begin",
    ):  # fmt: skip
        columns = getattr(with_memory, column), getattr(without_memory, column)
        assert np.array_equal(*columns, equal_nan=column.endswith("_exact")), column
    # A pause without an end has the end nan in both.
    assert np.array_equal(with_memory.pause_end, without_memory.pause_end, equal_nan=True)
