"""When a snapshot was taken, priorities and the controller's clocks, of texts."""

from __future__ import annotations

import json

import pytest

import cosched as cs
from cosched.slurm.live.clocks import clocks, parse_priorities, query_time, snapshot_time
from cosched.slurm.live.model import SnapshotJob

SPRIO = """  JOBID PARTITION PRIORITY SITE AGE FAIRSHARE TRES
      7 main 120 0 20 100 cpu=1
      7 other 130 0 30 100 cpu=1
      9 main 5 0 5 0
"""
SDIAG = """sdiag output at Thu (1000)
Backfilling stats
 Last cycle when: Thu (990)
 Last cycle: 2000000
 Last depth cycle (try sched): 40
"""


def test_priorities():
    priorities = parse_priorities(SPRIO)
    assert priorities[7] == {"PRIORITY": 120, "SITE": 0, "AGE": 20, "FAIRSHARE": 100}
    assert priorities[9]["PRIORITY"] == 5
    with pytest.raises(cs.InvalidInstance, match="line 1: no header"):
        parse_priorities("7 main 5")
    with pytest.raises(cs.InvalidInstance, match="line 2: expected numbers: PRIORITY, AGE"):
        parse_priorities("JOBID PRIORITY AGE\n7 x y")


def test_the_moment():
    times = {"squeue.json": [1, 2.5], "scontrol_job.txt": [7, 8]}
    assert query_time({"times.json": json.dumps(times)}) == 2.5
    with pytest.raises(cs.InvalidInstance, match=r"times\.json: \[1\]: expected"):
        query_time({"times.json": '{"squeue.json": [1]}'})
    texts = {"sdiag.txt": SDIAG}
    assert snapshot_time(texts, (), 0.0) == 1000
    assert snapshot_time({**texts, "times.json": json.dumps(times)}, (), 0.0) == 2.5


def test_clocks_of_the_controller():
    config = (
        "AccountingStorageEnforce = associations,limits\nPriorityMaxAge = 1-00:00:07\n"
        "PriorityWeightAge = 1000\nPriorityCalcPeriod = 00:05:00\n"
    )
    texts = {"scontrol_config.txt": config, "sdiag.txt": SDIAG}
    job = SnapshotJob(id=7, accrue=1000.0)
    clock_values = clocks(texts, [job], {7: {"AGE": 10.0}}, None, 2000.0, 0.0)
    assert (clock_values["last_cycle"], clock_values["cycle"], clock_values["test"]) == (
        990.0,
        2.0,
        0.05,
    )
    assert (clock_values["enforces"], clock_values["max_age"], clock_values["calc_period"]) == (
        1.0,
        86407.0,
        300.0,
    )
    assert clock_values["last_pass"] == pytest.approx(1000 + 10 / 1000 * 86407, abs=45)
    assert "last_cycle" not in clocks(texts, [], {}, None, 980.0, 0.0)
