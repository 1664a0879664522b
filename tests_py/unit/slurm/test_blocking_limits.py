"""The limit that kept a job waiting although enough was free, in the words of squeue."""

import pytest

import cosched as cs
from cosched.slurm.whatif.blocking_limits import blocking_limits

CONF = """ClusterName=small
SlurmctldHost=h
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
SchedulerParameters=bf_interval=30
NodeName=n[1-4] CPUs=4
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
"""
ACCOUNTS = """Account|User|ParentName|Share|MaxJobs
root||||
phys||root|10|
phys|ada||1|
phys|bob||1|
Name|Priority|MaxTRESPU
normal|0|cpu=4
"""


@pytest.fixture
def instance(tmp_path):
    """Ada's second job waits for her first, on an empty machine; bob's job starts at once."""
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "accounts.txt").write_text(ACCOUNTS)
    machine = cs.cluster.Machine.read(
        tmp_path / "slurm.conf", slurm_version="22.05", accounts=tmp_path / "accounts.txt"
    )
    jobs = {
        "submit": [0.0, 60.0, 120.0],
        "tasks": [4, 4, 4],
        "cpu": [1] * 3,
        "memory": [1] * 3,
        "runtime": [7200.0, 600.0, 600.0],
        "estimate": [7200.0, 1200.0, 1200.0],
        "wait": [0.0, 7140.0, 1.0],
        "user": ["ada", "ada", "bob"],
        "account": ["phys"] * 3,
        "qos": ["normal"] * 3,
        "partition": ["main"] * 3,
    }
    return cs.cluster.Instance(jobs, machine.cores, machine=machine)


def test_the_limit_is_named(instance):
    assert blocking_limits(instance, [1, 2], None) == {1: "QOSMaxCpuPerUserLimit"}


def test_no_job_is_simulated_after_the_time_limit(instance):
    assert blocking_limits(instance, [1], -1.0) == {}


def test_the_report_names_the_limit(instance, tmp_path):
    cs.cluster.audit(instance, tmp_path / "a.html", draws=2)
    assert "limit QOSMaxCpuPerUserLimit (simulated)" in (tmp_path / "a.html").read_text()
