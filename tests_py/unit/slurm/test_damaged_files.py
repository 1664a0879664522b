"""Files of Slurm with a damage: refused in one line, or read, and soon. `make fuzz` finds more."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
import pytest
from msgspec import structs

import cosched as cs
from cosched.slurm.accounts.accounting_dump import AccountingDump, parse_accounts
from cosched.slurm.live.clocks import query_time
from cosched.slurm.live.command_outputs import records
from cosched.slurm.live.snapshot import Snapshot
from cosched.slurm.live.starts import when
from cosched.slurm.machines import machine_shown
from cosched.slurm.recordings.recording_files import read_recording
from cosched.slurm.requests.associations import Accounts
from cosched.slurm.requests.request import parse_gpus
from cosched.slurm.twin.host_clocks import HOST
from cosched.slurm.twin.twin import Twin
from support import REPO

ASSOCIATION = (
    "ClusterName=a Account=root UserName= Partition= ID=1\n"
    "    SharesRaw/Norm/Level/Factor=1/0.1/1/0.1\n    UsageRaw/Norm/Efctv=24.5/1.0/1.0\n"
    "    GrpWall=N(45.65) GrpTRESMins=cpu=9(403),mem=N(0)\n"
)


@pytest.mark.parametrize("name", ["Account", "UserName", "UsageRaw", "SharesRaw"])
def test_an_association_that_lacks_something(name):
    text = ASSOCIATION.replace(name, "X")
    with pytest.raises(cs.InvalidInstance, match=rf"^a\.txt: .*: expected {name}\S*= there"):
        parse_accounts({"a.txt": text}, "a")


def test_an_association_is_read():
    (association,) = parse_accounts({"a.txt": ASSOCIATION}, "a").associations
    assert association["GrpTRESMins"] == "cpu=9"
    assert association["GrpTRESMins used"] == {"cpu": 403.0, "mem": 0.0}
    assert association["GrpWall used"] == 45.65


@pytest.mark.parametrize("value", ["(" * 60_000, "[" * 60_000, "9" * 60_000, "a=" * 30_000])
def test_a_long_value_takes_no_time(value):
    text = ASSOCIATION.replace("N(45.65)", value)
    assert len(parse_accounts({"a.txt": text}, "a").associations) == 1
    machine_shown("", f"NodeName=n1\n Gres={value}", "PartitionName=a")
    assert len(next(records(f"JobId=7 A={value}\n   B={value}", "JobId"))) == 3


@pytest.mark.parametrize("key", ["Share", "Usage", "Factor"])
@pytest.mark.parametrize("value", ["bio", "nan", "1e999"])
def test_numbers_of_associations(key, value):
    accounting_dump = AccountingDump(({"Account": "root", key: value},))
    with pytest.raises(cs.InvalidInstance, match=rf"^account root: {key}: '{value}'"):
        Accounts(accounting_dump)


@pytest.mark.parametrize("key", ["Priority", "UsageFactor", "LimitFactor"])
def test_numbers_of_qos(key):
    with pytest.raises(cs.InvalidInstance, match=rf"^QOS normal: {key}: '5:0'"):
        Accounts(AccountingDump((), ({"Name": "normal", key: "5:0"},)))


@pytest.mark.parametrize("key", ["MaxJobs", "MaxJobsAccrue", "GrpTRES"])
def test_limits_of_many_digits(key):
    value = "cpu=" * (key == "GrpTRES") + "9" * 400
    with pytest.raises(cs.InvalidInstance, match=rf"^limits {key}='9+\.{{3}}': expected node=3"):
        Accounts(AccountingDump((), ({"Name": "normal", key: value},)))


def test_a_grace_without_end():
    (qos,) = Accounts(AccountingDump((), ({"Name": "normal", "GraceTime": "UNLIMITED"},))).qos
    assert qos.grace_time == 2**31 - 1


@pytest.mark.parametrize(
    "text", ["[]", '{"squeue.json": 7}', '{"squeue.json": [1, "x"]}', '{"squeue.json": [0, 1e300]}']
)
def test_a_moment_that_is_none(text):
    with pytest.raises(cs.InvalidInstance, match=r"^times\.json: "):
        query_time({"times.json": text})


def test_what_is_wrong_in_a_recording_names_it(tmp_path):
    config = {"Partitions": ["PartitionName=main Nodes=ALL"], "NodeLines": "one"}
    data = {"config": config, "nodes": 1, "jobs": [], "runs": [[{}]], "phases": [{}]}
    cs.io.write_json(data, tmp_path / "one.json")
    with pytest.raises(cs.InvalidInstance, match=r"one\.json: runs: expected all 0 jobs"):
        read_recording(tmp_path / "one.json")


@pytest.mark.parametrize("value", [float("inf"), "nan", 1e300])
def test_times_of_a_recording_are_finite(tmp_path, value):
    config = {"Partitions": ["PartitionName=main Nodes=ALL"], "NodeLines": "one"}
    phase = {"epoch": 1000, "controller_start": -20.0, "bf_cycles": [1.5, value]}
    data = {"config": config, "nodes": 1, "jobs": [], "runs": [[]], "phases": [phase]}
    cs.io.write_text(json.dumps(data), tmp_path / "one.json")
    with pytest.raises(cs.InvalidInstance, match=r"^one\.json: phases\[0\]\[bf_cycles\]\[1\]: "):
        read_recording(tmp_path / "one.json")


@pytest.mark.parametrize("value", ["nan", float("inf"), 0, -1, "1e999"])
def test_the_speed_of_a_recording_is_positive(tmp_path, value):
    config = {"Partitions": ["PartitionName=main Nodes=ALL"], "NodeLines": "one", "speed": value}
    phase = {"epoch": 1000, "controller_start": -20.0}
    data = {"config": config, "nodes": 1, "jobs": [], "runs": [[]], "phases": [phase]}
    cs.io.write_text(json.dumps(data), tmp_path / "one.json")
    with pytest.raises(cs.InvalidInstance, match=r"^one\.json: speed = .* expected a positive"):
        read_recording(tmp_path / "one.json")


def test_a_user_of_an_account_that_is_not_shown():
    rows = ({"Account": "root"}, {"Account": "bio", "User": "ann"})
    with pytest.raises(cs.InvalidInstance, match="account 'bio' is not shown: 'ann'"):
        Accounts(AccountingDump(rows))


def test_nested_deeply():
    for parse in (cs.io.parse_json, cs.io.parse_toml):
        text = "[" * 200_000 if parse is cs.io.parse_json else "a = " + "[" * 200_000
        with pytest.raises(cs.InvalidInstance, match=r"^x: .*recursion"):
            parse(text, "x")


def test_an_error_is_a_line_that_can_be_read():
    assert len(str(cs.InvalidInstance(f"partition {'[' * 200_000} has 3"))) < 1500


DIGITS = "9" * 5000


@pytest.mark.parametrize("text", [DIGITS, "9" * 400, "\u00b2"])
def test_gpus_that_are_no_number(text):
    with pytest.raises(cs.InvalidInstance, match=r"^\S+: Gres = '\S+': expected a whole number"):
        machine_shown("", f"NodeName=n1\n Gres=gpu:{text}", "PartitionName=a")
    with pytest.raises(cs.InvalidInstance, match=r"GPUs = '\S+': expected a whole number"):
        parse_gpus(text, by_node=True)


def test_hosts_with_many_digits():
    nodes = "\n\n".join(f"NodeName=n{number}" for number in (DIGITS, "02", "10", "1"))
    machine = machine_shown("", nodes, "PartitionName=a Nodes=ALL")
    assert machine.slurm.names == ("n1", "n02", "n10", f"n{DIGITS}")


def test_shares_with_many_digits():
    text = ASSOCIATION.replace(
        "SharesRaw/Norm/Level/Factor=1/", f"SharesRaw/Norm/Level/Factor={DIGITS}/"
    )
    (association,) = parse_accounts({"a.txt": text}, "a").associations
    assert association["Share"] == "parent"


def test_an_account_without_a_name():
    with pytest.raises(cs.InvalidInstance, match=r"^sshare\.txt: an account or a QOS without a"):
        parse_accounts({"sshare.txt": "Account|User|RawShares\n||7\n"}, "a")


def test_a_begin_in_many_years_is_not_waited_for():
    """A simulation of 57 years of an empty machine would not end soon."""
    now = Snapshot.read(REPO / "notebooks" / "cluster" / "now.json")
    first, second = (job.id for job in now.pending[:2])
    jobs = tuple(
        structs.replace(job, eligible=now.time + 1.8e9) if job.id == first
        else structs.replace(job, dependency=f"afterok:{first}") if job.id == second else job
        for job in now.jobs
    )  # fmt: skip
    estimates = when(replace(now, jobs=jobs), draws=2).set_index("job")
    assert estimates.loc[first, "p05"] == estimates.loc[first, "limit_based_start"] == 1.8e9
    assert estimates.loc[second, "p05"] == float("inf")
    assert estimates.loc[now.pending[2].id, "p95"] < 1e6


@pytest.mark.parametrize("name", ["controller_start", "decay_after", "epoch", "tick_period"])
@pytest.mark.parametrize("value", [float("-inf"), float("nan"), -1e300])
def test_clocks_that_would_tick_for_ever(name, value):
    jobs = {"submit": [0], "tasks": [1], "cpu": [1], "memory": [1], "runtime": [30.0]}
    twin = Twin(cs.cluster.Instance(jobs, nodes=2), None, {})
    clocks = {**HOST, "controller_start": -20.0, "epoch": 0.0, name: value}
    with pytest.raises(cs.InvalidInstance, match=f"^clocks: {name} = .*: expected seconds in"):
        twin.run(clocks)


@pytest.mark.parametrize("begin", [0, 1.7e9])
def test_a_reservation_for_ever_is_not_waited_for(begin):
    """Nor one that begins in many years."""
    now = Snapshot.read(REPO / "notebooks" / "cluster" / "now.json")
    first, second = (
        datetime.fromtimestamp(now.time + s, timezone.utc) for s in (begin, begin + 1.8e9)
    )
    reservation_text = (
        f"ReservationName=a StartTime={first:%Y-%m-%dT%H:%M:%S} EndTime={second:%Y-%m-%dT%H:%M:%S}"
        f"\n   Nodes={now.machine.slurm.names[0]}"
    )
    held_job = structs.replace(now.pending[0], reason="JobHeldUser")
    never = structs.replace(now.pending[1], dependency=f"afterok:{held_job.id}")
    jobs = (*now.running, held_job, never, *now.pending[2:])
    texts = {**now.scontrol_texts, "reservations": reservation_text}
    estimates = when(replace(now, jobs=jobs, scontrol_texts=texts), draws=2)
    assert np.isinf(estimates["p50"][:2]).all()
    assert estimates["p95"][2] < 1e6


@pytest.mark.parametrize(
    "texts",
    [
        {"squeue.json": json.dumps({"jobs": [{"job_id": 7, "job_state": "PENDING"}] * 2})},
        {"scontrol_job.txt": "JobId=7 JobState=PENDING\n\n" * 2},
    ],
)
def test_a_job_that_is_there_twice(texts):
    with pytest.raises(cs.InvalidInstance, match=r"^x/\S+: job 7 is there twice$"):
        Snapshot.of_texts(texts, "x")


@pytest.mark.parametrize("tier", ["2147483648", "9" * 40])
def test_a_tier_that_no_partition_has(tier):
    with pytest.raises(cs.InvalidInstance, match=r": PriorityTier='") as error_info:
        machine_shown("", "NodeName=n1\n", f"PartitionName=a\n Nodes=n1 PriorityTier={tier}\n")
    assert "expected at most 2147483647" in str(error_info.value)


def test_a_dependency_on_a_number_of_many_digits():
    job = "JobId=7 JobState=PENDING Partition=a\n Dependency=afterok:{}\n NumNodes=1 NumCPUs=1\n"
    texts = {
        "scontrol_job.txt": job.format("9" * 5000),
        "scontrol_node.txt": "NodeName=n1 CPUTot=1 State=IDLE\n",
        "scontrol_partition.txt": "PartitionName=a\n Nodes=n1\n",
    }
    assert len(when(Snapshot.of_texts(texts, "x"), draws=1)) == 1
