"""Values of what-ifs in Slurm's own units and words: minutes, signs, ALL, DEFAULT lines."""

import json
import re

import numpy as np
import pytest

import cosched as cs
from cosched.cluster.analysis.replications import Spread
from cosched.cluster.analysis.scenario import ScenarioClass
from cosched.cluster.analysis.simulate_audit import simulate_audit
from cosched.cluster.analysis.what_if import scenario_of, what_if
from cosched.slurm.conf.known_keys import Option, OptionClass
from cosched.slurm.conf.values import canonical_value, value_by_word, values_in_words

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/slurmdbd
PriorityType=priority/multifactor
PriorityWeightFairshare=1000
PriorityWeightPartition=0
NodeName=DEFAULT CPUs=4 RealMemory=8000
NodeName=n[1-4]
PartitionName=DEFAULT MaxTime=60
PartitionName=a Nodes=ALL Default=YES
PartitionName=b Nodes=n1
"""
ASSOCIATIONS = """Account|User|ParentName|Share
root|||
phys||root|10
phys|ada||1
"""
QOS = """Name|Priority
normal|0
high|100
"""


@pytest.fixture
def make(tmp_path):
    def instance(accounts=ASSOCIATIONS + QOS, **columns):
        (tmp_path / "slurm.conf").write_text(CONF)
        (tmp_path / "accounts.txt").write_text(accounts)
        machine = cs.cluster.Machine.read(
            tmp_path / "slurm.conf", slurm_version="24.11", accounts=tmp_path / "accounts.txt"
        )
        jobs = {
            "submit": np.arange(4) * 10.0, "tasks": [4] * 4, "cpu": np.ones(4),
            "memory": np.ones(4), "runtime": np.full(4, 600.0), "estimate": np.full(4, 1200.0),
            "partition": ["a", "a", "b", "b"], "user": ["ada"] * 4, "account": ["phys"] * 4,
            "qos": ["normal"] * 4,
        }  # fmt: skip
        return cs.cluster.Instance(jobs | columns, nodes=machine.cores, machine=machine)

    return instance


def verdict_of(instance, change):
    return scenario_of(instance, change).verdict("slurm-backfill", is_scheduler=True)


def limit_of(instance, name):
    return next(part.max_time for part in instance.machine.partitions if part.name == name)


# --- minutes and seconds --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "seconds", "remark"),
    [
        ("MaxTime=5", 300, "MaxTime=5 is 5 minutes (max_time=5 would be seconds)"),
        ("MaxTime=00:00:30", 60, "Slurm rounds MaxTime=00:00:30 up to 1 minute"),
        ("MaxTime=0:10:00", 600, ""),
        ("max_time=5", 60, "max_time=5 is in seconds (MaxTime=5 in minutes); Slurm rounds "
         "max_time=5 up to 1 minute"),
        ("max_time=120", 120, "max_time=120 is in seconds (MaxTime=120 in minutes)"),
        ("max_time=0:01:30", 120, "Slurm rounds max_time=0:01:30 up to 2 minutes"),
    ],
)  # fmt: skip
def test_the_unit_of_a_limit_is_said(make, change, seconds, remark):
    changed, remarks = what_if(make(), f"partition.b.{change}")
    assert limit_of(changed, "b") == seconds
    remark_texts = [text for text in remarks.split("; ") if "jobs that" not in text]
    assert "; ".join(remark_texts) == remark


def test_a_machine_file_has_limits_of_seconds(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text('[[nodes]]\ncount = 2\ncores = 1\n[[partitions]]\nname = "a"\n')
    machine = cs.cluster.Machine.read(path)
    inst = cs.cluster.Instance(cs.workloads.lublin(20, 2, seed=1), nodes=2, machine=machine)
    changed, remarks = what_if(inst, "partition.a.max_time=5")
    assert limit_of(changed, "a") == 5
    assert "max_time=5 is 5 seconds" in remarks


def test_limits_of_a_slurm_conf_are_rounded_up_to_minutes(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "PriorityMaxAge=0:00:30\nPreemptExemptTime=0:00:30\nNodeName=n1 CPUs=1\n"
        "PartitionName=a Nodes=ALL MaxTime=0:01:01 DefaultTime=0:00:01\n"
    )
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    assert machine.partitions[0].max_time == 120
    assert machine.slurm.default_times == {"a": 60}
    assert machine.slurm.parameters["PriorityMaxAge"] == 60
    assert machine.slurm.parameters["PreemptExemptTime"] == 30


def test_both_ends_of_a_range_of_minutes_hold():
    option = Option("", "Key", ("24.11",), "minutes:2..10", (), OptionClass.SIMULATED, False, "")
    assert canonical_value(option, "10") == "10"
    assert canonical_value(option, "0:01:30") == "0:01:30"  # two minutes
    for value in ("1", "11", "0:10:01", "UNLIMITED"):
        with pytest.raises(cs.InvalidInstance, match=re.escape("Slurm takes minutes (from 2 to")):
            canonical_value(option, value)
    assert values_in_words(option) == "minutes (from 2 to 10) or [days-]hours:minutes:seconds"


# --- accounts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    ["account.phys.Fairshare=-7", "account.phys.MaxJobs=-2", "qos.high.Priority=-3",
     "qos.high.MaxWall=-5"],
)  # fmt: skip
def test_negative_numbers_are_refused(make, change):
    with pytest.raises(cs.InvalidInstance, match=r"expected 0 or more.* or -1 \(which clears it"):
        what_if(make(), change)


def test_minus_one_clears_a_share(make):
    changed, _ = what_if(make(), "account.phys.Fairshare=-1")
    rows = changed.machine.slurm.accounts.associations
    (row,) = (row for row in rows if row["Account"] == "phys" and not row.get("User"))
    assert row["Share"] == ""


@pytest.mark.parametrize("change", ["qos.high.Priority=3", "account.phys.DefaultQOS=high"])
def test_without_any_qos_the_message_says_so(make, change):
    with pytest.raises(cs.InvalidInstance, match="--accounts shows no QOS") as caught:
        what_if(make(ASSOCIATIONS), change)
    assert "sacctmgr -P show qos" in str(caught.value)


# --- names and words ------------------------------------------------------------------------------


def test_a_line_with_several_keys_is_no_single_value(make):
    for key in ("NodeName", "PartitionName", "DownNodes"):
        with pytest.raises(cs.InvalidInstance, match=f"{key} is a line with several keys"):
            what_if(make(), f"{key}=foo")
    with pytest.raises(cs.InvalidInstance) as caught:
        what_if(make(), "NodeNames=foo")
    assert "NodeName," not in str(caught.value)


@pytest.mark.parametrize("value", ["ALL", "all", "All"])
def test_all_nodes(make, value):
    changed, _ = what_if(make(), f"partition.b.nodes={value}")
    assert {part.name: part.nodes for part in changed.machine.partitions}["b"] == ((0, 4),)


def test_a_change_by_nothing_says_so(make):
    for change in ("nodes=+0", "nodes=-0", "nodes.n[1-4]=+0"):
        assert verdict_of(make(), change).reason == f"{change} changes nothing"
    assert verdict_of(make(), "nodes=4").reason == "nodes is 4 today"


def test_new_nodes_of_two_changes_have_names_of_their_own(make):
    changed, _ = what_if(make(), "nodes=+2,nodes.n[1-2]=+1")
    names = changed.machine.slurm.names
    assert len(set(names)) == len(names) == 7
    assert {"what-if-1", "what-if-2", "what-if-3"} < set(names)


def test_a_partition_that_is_down_queues_its_jobs(make):
    reason = verdict_of(make(partition=["a"] * 4), "partition.a.State=DOWN").reason
    assert reason.endswith("it refuses them, or keeps them waiting")


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["MaxMemPerCPU", "MaxMemPerNode"])
def test_memory_that_is_not_known_is_not_none(make, key):
    with_memory = make(memory_gb=[1.0, 1.0, 0.0, 1.0], nodes=[1] * 4)
    assert verdict_of(with_memory, f"{key}=4096").scenario_class is ScenarioClass.NO_EFFECT
    unknown = make(memory_gb=[1.0, np.nan, 0.0, np.nan], nodes=[1] * 4)
    verdict = verdict_of(unknown, f"{key}=4096")
    assert verdict.scenario_class is ScenarioClass.NOT_MODELLED
    assert re.search("the log does not say how much memory .*2 jobs", verdict.reason)


# --- whole files ----------------------------------------------------------------------------------


def test_default_lines_of_a_new_file_count_for_the_lines_behind_them(make, tmp_path):
    instance = make()
    for old, new, by_hand in (
        ("PartitionName=DEFAULT MaxTime=60", "PartitionName=DEFAULT MaxTime=90",
         "partition.a.MaxTime=90,partition.b.MaxTime=90"),
        ("PartitionName=DEFAULT MaxTime=60",
         "PartitionName=DEFAULT MaxTime=60 DenyAccounts=chem", None),
        ("NodeName=DEFAULT CPUs=4", "NodeName=DEFAULT CPUs=8", None),
    ):  # fmt: skip
        (tmp_path / "new.conf").write_text(CONF.replace(old, new))
        change = f"slurm.conf={tmp_path / 'new.conf'}"
        scenario = scenario_of(instance, change)
        verdict = scenario.verdict("slurm-backfill", is_scheduler=True)
        assert verdict.scenario_class is not ScenarioClass.NOT_MODELLED, verdict.reason
        assert not any("DEFAULT" in text for text in (verdict.reason, *scenario.remarks))
        if by_hand is not None:
            assert (
                scenario.instance.machine.partitions
                == what_if(instance, by_hand)[0].machine.partitions
            )
    (tmp_path / "new.conf").write_text(CONF.replace("=DEFAULT MaxTime=60", "=DEFAULT MaxTime=90"))
    _, remarks = what_if(instance, f"slurm.conf={tmp_path / 'new.conf'}")
    assert remarks.startswith("differs in a.MaxTime 60 -> 90; b.MaxTime 60 -> 90")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("PartitionName=b", "PartitionName=b PriorityJobFactor=7",
         "PartitionName.b.PriorityJobFactor has no effect: PriorityWeightPartition is 0"),
        ("PriorityWeightPartition=0", "PriorityWeightPartition=0\nPreemptParameters=youngest_first",
         "PreemptParameters=youngest_first has no effect: PreemptType is preempt/none"),
        ("PriorityWeightPartition=0",
         "PriorityWeightPartition=0\nSchedulerParameters=preempt_strict_order",
         "SchedulerParameters=preempt_strict_order has no effect: PreemptType is preempt/none"),
    ],
)  # fmt: skip
def test_keys_of_a_new_file_that_other_lines_leave_without_effect(make, tmp_path, old, new, reason):
    assert old in CONF
    (tmp_path / "new.conf").write_text(CONF.replace(old, new, 1))
    verdict = verdict_of(make(), f"slurm.conf={tmp_path / 'new.conf'}")
    assert verdict.scenario_class is ScenarioClass.NO_EFFECT
    assert verdict.reason == reason


# --- rows -----------------------------------------------------------------------------------------


def test_policies_without_replications_have_no_clear_differences(make, tmp_path):
    numbers = tmp_path / "a.json"
    for draws in (1, 5):
        cs.cluster.audit(make(), tmp_path / "a.html", what_if=["nodes=-3"], reference="EASY",
                         draws=draws, json=numbers)  # fmt: skip
        as_is, fewer = json.loads(numbers.read_text())["rows"]
        assert fewer["difference"] > 0
        assert as_is["clear"] is fewer["clear"] is fewer["noise"] is None
        assert (
            "EASY has one schedule of a log, without replications"
            in (tmp_path / "a.html").read_text()
        )
    cs.cluster.audit(make(), tmp_path / "a.html", what_if=["nodes=-3"], draws=1, json=numbers,
                     reference="slurm-backfill")  # fmt: skip
    assert json.loads(numbers.read_text())["rows"][1]["clear"] is False


def test_a_row_that_is_not_modelled_keeps_no_numbers(make):
    scenarios = [scenario_of(make(), "TopologyPlugin=topology/tree")]
    (run,) = simulate_audit(make(), scenarios, None, 2, "slurm-backfill").scenario_runs
    assert run.scenario_class is ScenarioClass.NOT_MODELLED
    assert run.columns == {"message": ""}
    assert run.result is None


def test_the_old_name_of_an_interval_around_zero_warns():
    with pytest.warns(DeprecationWarning, match="includes_zero"):
        assert Spread(0.0, -1.0, 1.0).noise


def test_a_file_that_raises_one_limit_and_lowers_another_has_both(make, tmp_path):
    instance = make(runtime=np.full(4, 2400.0), estimate=np.full(4, 4800.0))
    text = CONF.replace("Nodes=ALL Default=YES", "Nodes=ALL Default=YES MaxTime=120")
    text = text.replace("Nodes=n1", "Nodes=n1 MaxTime=30")
    (tmp_path / "new.conf").write_text(text)
    rows = (f"slurm.conf={tmp_path / 'new.conf'}", "partition.a.MaxTime=120,partition.b.MaxTime=30")
    for change in rows:
        scenario = scenario_of(instance, change)
        assert scenario.instance.column("runtime").tolist() == [2400, 2400, 1800, 1800]
        remarks = "; ".join(scenario.remarks)
        assert "jobs that had asked for more than the old limit: 2" in remarks
        assert "jobs that ran longer and end at the new limit: 2" in remarks


def test_a_word_of_scheduler_parameters_that_is_given_twice_has_its_first_value():
    words = value_by_word("bf_interval=30,BF_Interval=60, bf_continue")
    assert words == {"bf_interval": "30", "bf_continue": "yes"}
    assert value_by_word("max_job_bf=5,bf_max_job_test=7") == {"bf_max_job_test": "7"}


def test_a_row_without_a_key_names_the_forms(make):
    for change in ("", "=5"):
        with pytest.raises(cs.InvalidInstance, match=r"expected .*nodes=\+20.*PriorityWeightAge"):
            scenario_of(make(), change)


def test_a_share_below_half_of_a_job_changes_nothing(make):
    scenario = scenario_of(make(), "users.ada=-10%")
    verdict = scenario.verdict("slurm-backfill", is_scheduler=True)
    assert len(scenario.instance) == 4
    assert verdict.scenario_class is ScenarioClass.UNCHANGED
    assert verdict.reason == (
        "users.ada=-10% leaves no job out: the share of 4 jobs is less than half of a job"
    )
    assert len(scenario_of(make(), "users.ada=-25%").instance) == 3
