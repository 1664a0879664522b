"""Keys that keep jobs out: the jobs of the log decide which class they have."""

import numpy as np
import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cluster.analysis.scenario import ScenarioClass
from cosched.cluster.analysis.what_if import scenario_of, what_if
from cosched.slurm.requests.access import lets_in
from cosched.slurm.whatif.classes import largest_job_count
from cosched.slurm.whatif.refusals import NO_JOB_STARTS

CONF = """ClusterName=c
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=n[1-4] CPUs=4 RealMemory=8000
PartitionName=main Nodes=ALL Default=YES MaxTime=1:00:00
PartitionName=fast Nodes=n[1-2]
"""
COUNT = 6


@pytest.fixture
def make(tmp_path):
    def instance(**columns):
        (tmp_path / "slurm.conf").write_text(CONF)
        machine = cs.cluster.Machine.read(tmp_path / "slurm.conf", slurm_version="22.05")
        jobs = {
            "submit": np.arange(COUNT) * 10.0, "tasks": [1, 1, 2, 2, 4, 4], "cpu": np.ones(COUNT),
            "memory": np.ones(COUNT), "runtime": np.full(COUNT, 600.0),
            "estimate": np.full(COUNT, 1200.0), "nodes": np.ones(COUNT, dtype=int),
            "partition": ["main", "main", "main", "fast", "fast", "main,fast"],
            "account": ["phys", "chem", "phys", "phys", "chem", "phys"],
            "qos": ["normal", "high", "normal", "normal", "high", "normal"],
        }  # fmt: skip
        return cs.cluster.Instance(jobs | columns, nodes=machine.cores, machine=machine)

    return instance


def class_of(instance, change):
    verdict = scenario_of(instance, change).verdict("slurm-backfill", is_scheduler=True)
    return verdict.scenario_class, verdict.reason


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("partition.main.DenyAccounts=phys", [1, 3, 4, 5]),  # job 5 may run in fast
        ("partition.main.DenyAccounts=phys,partition.fast.DenyAccounts=phys", [1, 4]),
        ("partition.main.AllowAccounts=chem", [1, 3, 4, 5]),
        ("partition.main.AllowQos=high", [1, 3, 4, 5]),
        ("partition.fast.DenyQos=high", [0, 1, 2, 3, 5]),
        ("partition.fast.AllowAccounts=PHYS", [0, 1, 2, 3, 5]),
    ],
)
def test_jobs_that_no_partition_lets_in_are_left_out_and_counted(make, change, left):
    scenario = scenario_of(make(), change)
    assert scenario.instance.ids.tolist() == left
    assert scenario.verdict("", is_scheduler=True).scenario_class is ScenarioClass.SIMULATED
    counts = [int(remark.split(": ")[1].split()[0]) for remark in scenario.remarks]
    assert sum(counts) == COUNT - len(left)


def test_each_partition_that_is_down_counts_its_own_jobs(make):
    instance = make(partition=["main", "main", "fast", "fast", "fast", "main"])
    scenario = scenario_of(instance, "partition.fast.State=DOWN")
    assert scenario.instance.ids.tolist() == [0, 1, 5]
    assert "3 jobs (partition.fast.State=DOWN)" in scenario.remarks[0]
    both = scenario_of(instance, "partition.fast.State=DOWN,partition.main.State=DOWN")
    verdict = both.verdict("", is_scheduler=True)
    assert verdict.scenario_class is ScenarioClass.NOT_MODELLED
    assert verdict.reason == NO_JOB_STARTS


def test_the_state_of_a_partition_without_jobs_is_followed(make):
    instance = make(partition=["main"] * 5 + ["fast"])
    result = cs.slurm.backfill(
        scenario_of(instance, "partition.fast.State=DOWN").instance, seed=1, approximate=True
    )
    not_followed = counts(result.instance.notes, NoteKind.NOT_FOLLOWED)
    assert not any(subject.startswith("State of partition") for subject in not_followed)


def test_access_is_what_part_policy_valid_acct_says():
    names = ["phys", "chem"]
    rng = np.random.default_rng(3)
    for _ in range(200):
        rules = {
            kind: frozenset(rng.choice(names, size=rng.integers(1, 3)).tolist())
            for kind in ("allowaccounts", "denyaccounts", "allowqos", "denyqos")
            if rng.random() < 0.5
        }
        account, qos = rng.choice([*names, ""], size=2).tolist()

        def passes(kind, name, rules=rules):
            if not name:
                return True
            if f"allow{kind}" in rules:
                return name in rules[f"allow{kind}"]
            return name not in rules.get(f"deny{kind}", ())

        assert lets_in(rules, account, qos) == (passes("accounts", account) and passes("qos", qos))


def test_a_log_without_the_column_cannot_tell(make):
    plain = make_without(make, "account")
    scenario_class, reason = class_of(plain, "partition.main.DenyAccounts=phys")
    assert scenario_class is ScenarioClass.NOT_MODELLED
    assert "the log does not say the account of its jobs" in reason


def make_without(make, column):
    instance = make()
    jobs = {name: values for name, values in instance.raw_columns.items() if name != column}
    return cs.cluster.Instance(jobs, nodes=instance.nodes, machine=instance.machine)


def test_names_of_nobody_have_no_effect_and_all_refused_is_not_modelled(make):
    instance = make()
    scenario_class, reason = class_of(instance, "partition.main.DenyAccounts=nobody")
    assert scenario_class is ScenarioClass.NO_EFFECT
    assert "no job of partition main" in reason
    everybody = "partition.main.AllowAccounts=x,partition.fast.AllowAccounts=x"
    assert class_of(instance, everybody)[0] is ScenarioClass.NOT_MODELLED


def test_state_of_a_partition(make):
    instance = make(partition=["main", "main", "main", "fast", "fast", "fast"])
    scenario = scenario_of(instance, "partition.fast.State=DOWN")
    assert scenario.instance.ids.tolist() == [0, 1, 2]
    scenario_class, reason = class_of(make(), "partition.fast.State=DRAIN")
    assert scenario_class is ScenarioClass.NOT_MODELLED
    assert "1 job may run in other partitions" in reason


def test_an_array_beyond_the_limit_is_refused_as_a_whole(make):
    instance = make(id=["7", "8_1", "8_2", "8_30", "9_0", "9_1"])
    scenario = scenario_of(instance, "MaxArraySize=30")
    assert scenario.instance.ids.tolist() == ["7", "9_0", "9_1"]
    scenario_class, reason = class_of(instance, "MaxArraySize=31")
    assert scenario_class is ScenarioClass.NO_EFFECT
    assert reason.endswith("the largest index of a task in the log is 30")
    assert class_of(make(), "MaxArraySize=2")[1].endswith("is a task of an array")


def test_memory_beyond_the_limit_of_a_node(make):
    instance = make(memory_gb=[1.0, 2.0, 4.0, 1.0, 1.0, 1.0])
    scenario = scenario_of(instance, "MaxMemPerNode=2048")
    assert scenario.instance.ids.tolist() == [0, 1, 3, 4, 5]
    scenario_class, reason = class_of(instance, "MaxMemPerNode=4096")
    assert scenario_class is ScenarioClass.NO_EFFECT
    assert "4,096 MB of a node at most" in reason
    of_partition = scenario_of(instance, "partition.fast.MaxMemPerNode=2000")
    assert len(of_partition.instance) == COUNT
    assert class_of(make(), "MaxMemPerNode=1")[0] is ScenarioClass.NOT_MODELLED


def test_memory_of_a_cpu_would_change_the_cores_of_a_job(make):
    instance = make(memory_gb=[1.0, 2.0, 4.0, 1.0, 1.0, 1.0])
    scenario_class, reason = class_of(instance, "MaxMemPerCPU=1500")
    assert scenario_class is ScenarioClass.NOT_MODELLED
    assert "Slurm would give 2 jobs more CPUs" in reason
    assert class_of(instance, "MaxMemPerCPU=2048")[0] is ScenarioClass.NO_EFFECT


def test_enforced_limits_matter_where_jobs_ask_for_more(make):
    assert class_of(make(), "EnforcePartLimits=ALL")[0] is ScenarioClass.NO_EFFECT
    longer = make(estimate=[7200.0, *[1200.0] * (COUNT - 1)])
    scenario_class, reason = class_of(longer, "EnforcePartLimits=ALL")
    assert scenario_class is ScenarioClass.NOT_MODELLED
    assert "1 job with a limit beyond MaxTime" in reason
    assert class_of(make(), "EnforcePartLimits=NO")[0] is ScenarioClass.UNCHANGED


def test_the_number_of_jobs_of_slurmctld_follows_from_the_schedule(make):
    instance = make()
    base = cs.cluster.solve(instance, "slurm-backfill", seed=1)
    start, end = base.outcome["start"], base.outcome["end"]
    times = np.unique(np.concatenate([instance.column("submit"), end + 300]))
    largest_count = max(
        int(((instance.column("submit") <= time) & (end + 300 > time)).sum()) for time in times
    )
    assert largest_job_count(base, 300) == largest_count
    assert (start >= instance.column("submit")).all()
    for limit, expected in (
        (largest_count, ScenarioClass.NOT_MODELLED),
        (largest_count + 1, ScenarioClass.NO_EFFECT),
    ):
        scenario = scenario_of(instance, f"MaxJobCount={limit}").with_final_classes(base)
        verdict = scenario.verdict("slurm-backfill", is_scheduler=True)
        assert verdict.scenario_class is expected
        assert f"{largest_count} jobs" in verdict.reason


def test_root_jobs(make):
    instance = make(user=["root", "ada", "root", "ada", "ada", "ada"])
    scenario = scenario_of(instance, "partition.main.DisableRootJobs=YES")
    assert scenario.instance.ids.tolist() == [1, 3, 4, 5]


ACCOUNTS = """Account|User|ParentName|Share
root|||
phys||root|10
optics||phys|5
optics|eve||1
chem||root|30
chem|bob||1
Name|Priority|GrpTRES
normal|0|
"""


@pytest.mark.parametrize(("version", "left"), [("22.05", [0, 1, 2, 3, 4, 5]), ("24.11", [1, 3, 5])])
def test_subaccounts_and_default_accounts_count_as_in_slurm(make, tmp_path, version, left):
    (tmp_path / "accounts.txt").write_text(ACCOUNTS)
    instance = make(
        user=["eve", "bob"] * 3, account=["", "", "optics", "chem", "optics", "chem"],
        partition=["main"] * COUNT,
    )  # fmt: skip
    machine = cs.cluster.Machine.read(
        tmp_path / "slurm.conf", slurm_version=version, accounts=tmp_path / "accounts.txt"
    )
    known_jobs = cs.cluster.Instance(instance.raw_columns, nodes=machine.cores, machine=machine)
    denied = scenario_of(known_jobs, "partition.main.DenyAccounts=phys")
    assert denied.instance.ids.tolist() == left
    scenario = scenario_of(known_jobs, "partition.main.DenyAccounts=optics")
    assert scenario.instance.ids.tolist() == [1, 3, 5]


def test_a_key_that_a_new_file_does_not_have_means_the_default_of_slurm(tmp_path):
    """An array of 2,000 tasks fits no more; jobs of a partition without a State run."""
    jobs = {
        "submit": [0, 10, 20], "tasks": [1] * 3, "cpu": [1] * 3, "memory": [1] * 3,
        "runtime": [60.0] * 3, "estimate": [600.0] * 3, "id": ["7_1", "8_1500", "9_1000"],
        "partition": ["batch"] * 3,
    }  # fmt: skip
    lines = CONF_OF_DEFAULTS.splitlines()
    before, after = tmp_path / "before.conf", tmp_path / "after.conf"
    before.write_text("\n".join([*lines, "MaxArraySize=2000"]).replace("MAIN", "State=UP"))
    after.write_text("\n".join(lines).replace("MAIN", ""))
    machine = cs.cluster.Machine.read(before)
    inst = cs.cluster.Instance(jobs, nodes=machine.cores, machine=machine)
    changed, remark = what_if(inst, f"slurm.conf={after}")
    assert changed.ids.tolist() == ["7_1", "9_1000"]
    assert "1 job (MaxArraySize=not set)" in remark


def test_jobs_are_left_out_by_row_since_numbers_come_back(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(CONF_OF_DEFAULTS.replace("MAIN", "") + "PartitionName=other Nodes=ALL\n")
    machine = cs.cluster.Machine.read(path)
    jobs = {
        "submit": [0, 10], "tasks": [1] * 2, "cpu": [1] * 2, "memory": [1] * 2,
        "runtime": [60.0] * 2, "estimate": [600.0] * 2, "id": ["7", "7"],
        "partition": ["batch", "other"],
    }  # fmt: skip
    inst = cs.cluster.Instance(jobs, nodes=machine.cores, machine=machine)
    changed, _ = what_if(inst, "partition.batch.State=DOWN")
    assert changed.column("partition").tolist() == ["other"]


CONF_OF_DEFAULTS = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-2] CPUs=4
PartitionName=batch Nodes=ALL Default=YES MAIN
"""


@pytest.mark.parametrize("change", ["max_time=0", "priority=-3", "priority=70000"])
def test_values_of_a_partition_that_slurm_would_not_take_are_refused(make, change):
    with pytest.raises(cs.InvalidInstance, match=change):
        what_if(make(), f"partition.main.{change}")


def test_a_new_limit_does_not_count_the_time_of_suspensions(tmp_path):
    """The first job runs 1,000 s and is suspended for 600 s: a limit of 1,020 s ends none."""
    path = tmp_path / "slurm.conf"
    path.write_text(CONF_OF_DEFAULTS.replace("MAIN", "MaxTime=1-0"))
    machine = cs.cluster.Machine.read(path, slurm_version="22.05")
    jobs = {
        "submit": [0, 1, 2, 3], "tasks": [4] * 4, "cpu": [1] * 4, "memory": [1] * 4,
        "runtime": [1600.0, 1000.0, 1000.0, 500.0], "suspended": [600.0, 0.0, 0.0, 0.0],
        "estimate": [4200.0, 3600.0, 3600.0, 3600.0], "partition": ["batch"] * 4,
    }  # fmt: skip
    inst = cs.cluster.Instance(jobs, nodes=machine.cores, machine=machine)
    changed, _ = what_if(inst, "partition.batch.max_time=00:17:00")
    ends = [cs.slurm.backfill(each, seed=0).outcome["end"] for each in (inst, changed)]
    assert ends[0].tolist() == ends[1].tolist()


# --- the limit of memory that counts in a partition -----------------------------------------------


def memory_of(make, tmp_path, cluster="", main="", fast=""):
    """Six jobs with 1 to 6 GB of one node, on a machine with these limits."""
    instance = make(
        memory_gb=np.arange(1.0, 7.0), tasks=[1] * COUNT, partition=["main"] * 3 + ["fast"] * 3
    )
    text = CONF.replace("MaxTime=1:00:00", f"MaxTime=1:00:00 {main}")
    text = text.replace("Nodes=n[1-2]", f"Nodes=n[1-2] {fast}") + cluster
    (tmp_path / "memory.conf").write_text(text)
    machine = cs.cluster.Machine.read(tmp_path / "memory.conf", slurm_version="22.05")
    return cs.cluster.Instance(
        {"id": instance.ids, **instance.raw_columns}, nodes=machine.cores, machine=machine
    )


@pytest.mark.parametrize(
    ("limits", "change", "left"),
    [
        # The limit of a partition replaces that of the cluster, a zero does not.
        ({"fast": "MaxMemPerNode=6144"}, "MaxMemPerNode=2048", [0, 1, 3, 4, 5]),
        ({"fast": "MaxMemPerCPU=6144"}, "MaxMemPerNode=2048", [0, 1, 3, 4, 5]),
        ({"fast": "MaxMemPerNode=0"}, "MaxMemPerNode=4096", [0, 1, 2, 3]),
        # Today the limit of the cluster keeps jobs 4 and 5 out already.
        ({"cluster": "MaxMemPerNode=4096"}, "partition.fast.MaxMemPerNode=3072", [0, 1, 2, 4, 5]),
        ({"cluster": "MaxMemPerNode=4096"}, "partition.fast.MaxMemPerNode=6144", list(range(6))),
        # Of two limits in one line that of the node counts.
        ({"main": "MaxMemPerNode=8000"}, "partition.main.MaxMemPerCPU=1024", list(range(6))),
    ],
)
def test_the_limit_of_memory_of_a_partition_counts_before_that_of_the_cluster(
    make, tmp_path, limits, change, left
):
    scenario = scenario_of(memory_of(make, tmp_path, **limits), change)
    assert scenario.instance.ids.tolist() == left


def test_a_limit_of_memory_that_no_partition_takes_has_no_effect(make, tmp_path):
    partition_limits = {"main": "MaxMemPerNode=8000", "fast": "MaxMemPerNode=8000"}
    for change in ("MaxMemPerNode=1024", "MaxMemPerCPU=512"):
        scenario_class, reason = class_of(memory_of(make, tmp_path, **partition_limits), change)
        assert scenario_class is ScenarioClass.NO_EFFECT
        assert "another limit of memory counts" in reason
