"""Bands asked for in a past that is known: weeks that Slurm's rules drove, made up."""

from __future__ import annotations

import json
from datetime import datetime, timezone

import numpy as np
import pytest

import cosched as cs
from cosched.cli import main

NODES, DAYS, JOBS = 8, 14, 280
BEGIN = 1_798_761_600  # a Friday midnight, UTC
CONF = (
    f"SelectType=select/linear\nNodeName=n[1-{NODES}]\n"
    "PartitionName=a Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
)
HEAD = "JobID|User|Partition|State|Submit|Start|End|TimelimitRaw|NNodes|NCPUS|NodeList"


def weeks() -> dict:
    """Users with habits of their own, busier by day."""
    rng = np.random.default_rng(7)
    times = np.sort(rng.uniform(0, DAYS * 86400, 2 * JOBS))
    by_day = np.sin((times % 86400) / 86400 * np.pi) ** 2
    submit = np.floor(times[rng.uniform(size=len(times)) < by_day])[:JOBS]
    user = rng.integers(0, 4, len(submit))
    limit = 3600.0 * rng.integers(1, 9, len(submit))
    habit = np.array([0.15, 0.35, 0.6, 0.9])[user]
    ratio = np.clip(habit * np.exp(rng.normal(0, 0.3, len(submit))), 0.01, 0.99)
    return {
        "submit": submit, "tasks": rng.choice([1, 2, 4, 6], len(submit)), "estimate": limit,
        "cpu": np.ones(len(submit)), "memory": np.ones(len(submit)),
        "runtime": np.floor(limit * ratio), "user": [f"u{k}" for k in user],
    }  # fmt: skip


def log_of(path, jobs, start, units):
    def date(seconds):
        when = datetime.fromtimestamp(BEGIN + float(seconds), timezone.utc)
        return when.strftime("%Y-%m-%dT%H:%M:%S")

    rows = [HEAD]
    for k, begin in enumerate(start):
        names = ",".join(f"n{unit + 1}" for unit in units[k])
        rows.append(
            f"{k + 1}|{jobs['user'][k]}|a|COMPLETED|{date(jobs['submit'][k])}|{date(begin)}|"
            f"{date(begin + jobs['runtime'][k])}|{jobs['estimate'][k] / 60:.0f}|{len(units[k])}|"
            f"{len(units[k])}|{names}"
        )
    path.write_text("\n".join(rows))
    return path


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """(slurm.conf, a log by Slurm's rules, one that starts the last first)."""
    folder = tmp_path_factory.mktemp("weeks")
    conf = folder / "slurm.conf"
    conf.write_text(CONF)
    jobs = weeks()
    inst = cs.cluster.Instance(jobs, nodes=NODES)
    slurm = cs.slurm.backfill(inst, machine=conf, controller_start=-50, epoch=BEGIN)
    other = cs.cluster.fcfs(inst, priority=lambda jobs: -jobs["submit"].to_numpy())
    log_files = [
        log_of(folder / f"{name}.txt", jobs, result.jobs.start, result.schedule.to_frame().units)
        for name, result in (("slurm", slurm), ("other", other))
    ]
    return conf, *log_files


def test_bands_hold_where_the_rules_are_known(logs):
    conf, log, _ = logs
    backtest = cs.slurm.backtest(log, conf, moments=60, draws=40, seed=1)
    attributes = backtest.attrs
    assert attributes["knows"]
    assert attributes["agreement"] >= 0.9
    assert 0.8 <= attributes["coverage90"] <= 1
    assert 0.35 <= attributes["coverage50"] <= 0.75
    assert attributes["calibrated90"] >= 0.85  # on moments that were not used for it
    # Far below what limits alone would say.
    assert attributes["median_error"] < 0.5 * np.median(backtest.true)


def test_another_scheduler_is_not_known(logs, capsys, tmp_path):
    conf, _, log = logs
    out = tmp_path / "b.json"
    arguments = ["when", "--backtest", str(log), "--machine", str(conf), "-o", str(out)]
    assert main([*arguments, "--moments", "6", "--draws", "10"]) == 0
    printed = capsys.readouterr().out
    assert "do not trust the intervals" in printed
    assert "by true wait" in printed
    assert "predictions for the same jobs" in printed
    written = json.loads(out.read_text())
    assert written["knows"] is False
    *classes, all_waits = written["accuracy"]
    assert all_waits["wait_class"] == "all"
    assert all_waits["predicted"]["jobs"] == all_waits["plan"]["jobs"] == written["jobs"]
    assert sum(of_class["predicted"]["jobs"] for of_class in classes) == written["jobs"]
    assert all_waits["predicted"]["median_error"] == written["median_error"]
    # Bands that are widened by it say so, too.
    job = "JobId=1 JobName=a\n JobState=PENDING\n Partition=a\n NumNodes=1 NumCPUs=1\n"
    (tmp_path / "scontrol_job.txt").write_text(job)
    (tmp_path / "scontrol_node.txt").write_text("NodeName=n1 CPUTot=1 State=IDLE\n")
    assert main(["when", str(tmp_path), "--calibration", str(out), "--draws", "5"]) == 0
    assert "do not trust the intervals" in capsys.readouterr().out


@pytest.fixture
def one_at_a_time(tmp_path):
    """A log of a user who may run one job at a time: the second of each two waits for the first."""
    (tmp_path / "slurm.conf").write_text(
        "SelectType=select/linear\nNodeName=n[1-2]\nPartitionName=a Nodes=ALL Default=YES\n"
        "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\n"
    )
    (tmp_path / "accounts.txt").write_text(
        "Account|User|Share|MaxJobs\nroot||1|\nbio||1|\nbio|u|1|1\n"
    )
    rows = [HEAD.replace("User|", "User|Account|")]
    for k in range(12):
        for half in (0, 1):
            rows.append(  # noqa: PERF401
                f"{2 * k + half}|u|bio|a|COMPLETED|2026-01-05T{k:02d}:00:00|"
                f"2026-01-05T{k:02d}:{25 * half:02d}:01|2026-01-05T{k:02d}:{25 * half + 24}:30|"
                "60|1|1|n1"
            )
    (tmp_path / "sacct.txt").write_text("\n".join(rows))
    return tmp_path


def test_limits_of_accounts_hold_in_the_past(one_at_a_time, capsys):
    log, conf, accounts = (one_at_a_time / name for name in
                           ("sacct.txt", "slurm.conf", "accounts.txt"))  # fmt: skip
    arguments = ["when", "--backtest", str(log), "--machine", str(conf), "--moments", "6",
             "--draws", "5", "--json"]  # fmt: skip

    def backtest_attributes(*extra_arguments):
        assert main([*arguments, *extra_arguments]) == 0
        return json.loads(capsys.readouterr().out)

    assert backtest_attributes("--accounts", str(accounts))["agreement"] == 1
    assert backtest_attributes("--approximate")["agreement"] < 0.5
    assert main(arguments) == 2
    assert "AccountingStorageEnforce" in capsys.readouterr().err
