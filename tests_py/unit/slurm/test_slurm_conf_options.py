"""Every key of slurm.conf has the class that the table of keys says, and refuses other values."""

import re

import numpy as np
import pytest

import cosched as cs
from cosched.cluster.analysis.scenario import ScenarioClass
from cosched.cluster.analysis.what_if import parts_of, scenario_of
from cosched.slurm.conf.known_keys import OPTIONS, OptionClass
from cosched.slurm.conf.values import canonical_value, unsigned, values_in_words
from cosched.slurm.whatif.classes import has_same_settings

#: A slurm.conf under which each simulated key has something to act on.
CONF = """ClusterName=c
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightJobSize=100
PriorityWeightPartition=500
PriorityWeightFairshare=2000
PriorityWeightQOS=100
PriorityWeightTRES=CPU=100
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
Licenses=fluent:2
SchedulerParameters=bf_interval=60
NodeName=n[1-4] CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000
NodeName=g[1-2] Procs=8 Sockets=2 CoresPerSocket=4 Gres=gpu:2 RealMemory=16000
NodeSet=thin Nodes=n[1-2]
DownNodes=n4 State=DOWN Reason=disk
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
PartitionName=fast Nodes=n[1-2] MaxTime=4:00:00 PriorityJobFactor=10 PriorityTier=5
"""
ACCOUNTS = """Account|User|ParentName|Share
root|||
phys||root|10
phys|ada||1
Name|Priority|GrpTRES
normal|0|
high|100|cpu=4
"""
#: Further changes of the row without which Slurm would not start.
BESIDE = {
    "PreemptType": ",PreemptMode=OFF",
    "PreemptMode": ",PreemptType=preempt/none",
}
#: Values under which a simulated key is followed; others of it need rules that there are not.
VALUES = {
    "AccountingStorageEnforce": "safe",
    "AccountingStorageType": "accounting_storage/none",
    "Licenses": "fluent:5",
    "PreemptType": "preempt/none",
    "PreemptMode": "OFF",
    "PreemptParameters": "youngest_first",
    "PriorityFlags": "SMALL_RELATIVE_TO_TIME",
    "PriorityType": "priority/basic",
    "SchedulerParameters": "bf_interval=90",
    "SchedulerType": "sched/builtin",
    "SelectType": "select/linear",
    "SelectTypeParameters": "CR_Core_Memory",
    "main.State": "DOWN",
    "main.OverSubscribe": "EXCLUSIVE",
    "main.Shared": "EXCLUSIVE",
    "main.PreemptMode": "CANCEL",
    "main.QOS": "high",
    "main.Nodes": "n[1-3]",
    "fast.Default": "YES",
}
#: Of records: a line of the file that gets the key, and the value that it gets.
RECORDS = {
    "Boards": "2", "SocketsPerBoard": "2", "CoresPerSocket": "2", "CPUs": "2", "Procs": "16",
    "Sockets": "1", "ThreadsPerCore": "2", "RealMemory": "4000", "MemSpecLimit": "500",
    "Gres": "gpu:a100:4", "Weight": "5", "Feature": "fat", "Features": "fat", "State": "DRAIN",
    "CoreSpecCount": "1", "CPUSpecList": "0", "Nodes": "n[1-3]",
}  # fmt: skip
#: Wrong values by the form of what Slurm takes.
WRONG = {
    "uint16": ("-3", "many", "65536"),
    "uint32": ("-3", "1.5", "4294967296"),
    "uint64": ("-1", "ten", str(2**64)),
    "int": ("-5", "x"),
    "boolean": ("maybe", "2"),
    "minutes": ("soon", "1:2:3:4"),
    "seconds": ("soon",),
    "one": ("nonsense",),
    "some": ("nonsense", ","),
    "flag": ("maybe",),
    "preempt": ("nonsense", "CANCEL,REQUEUE", "GANG,WITHIN"),
    "sharing": ("nonsense", "FORCE:0"),
    "tres": ("many", "CPU"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("options")
    (path / "slurm.conf").write_text(CONF)
    (path / "accounts.txt").write_text(ACCOUNTS)
    return path


@pytest.fixture(scope="module")
def instance(folder):
    machine = cs.cluster.Machine.read(
        folder / "slurm.conf", slurm_version="24.11", accounts=folder / "accounts.txt"
    )
    count = 6
    jobs = {
        "submit": np.arange(count) * 10.0, "tasks": [1, 2, 4, 4, 1, 2], "cpu": np.ones(count),
        "memory": np.ones(count), "runtime": np.full(count, 600.0),
        "estimate": np.full(count, 1200.0), "user": ["ada"] * count, "account": ["phys"] * count,
        "qos": ["normal"] * count, "partition": ["main"] * 4 + ["fast"] * 2,
    }  # fmt: skip
    return cs.cluster.Instance(jobs, nodes=machine.cores, machine=machine)


def other_value(option):
    """A value that Slurm takes and that is not the one of CONF."""
    form, _, about = option.takes.partition(":")
    if form.startswith("uint"):
        low = int(about.split("..")[0]) if about else 0
        return "2" if about == "0..2" else str(low + 7)
    if form == "int":
        return str(int(about.split("..")[0]) + 7)
    if form in ("one", "some"):
        choices = about.split("|")
        return next(choice for choice in reversed(choices) if choice not in option.defaults)
    values = {
        "boolean": "YES", "minutes": "17", "seconds": "600", "flag": "yes", "preempt": "CANCEL",
        "sharing": "YES:2", "tres": "CPU=5", "hosts": "n[1-2]", "words": "some_word",
    }  # fmt: skip
    return values.get(form, "something")


def change_of(option, folder):
    """A what-if that sets a key to another value."""
    key = option.key
    if option.record in ("", "SchedulerParameters"):
        if option.takes == "record":
            return record_change(option, folder)
        return f"{key}={VALUES.get(key, other_value(option))}{BESIDE.get(key, '')}"
    if option.record == "PartitionName":
        partition = "fast" if key == "Default" else "main"
        value = VALUES.get(f"{partition}.{key}", other_value(option))
        return f"partition.{partition}.{key}={value}"
    if option.record == "PreemptParameters":
        value = "" if option.takes == "flag" else f"={other_value(option)}"
        return f"PreemptParameters={key}{value}"
    return record_change(option, folder)


def record_change(option, folder):
    """The same file with a further line, or with the key in a line of its record."""
    record = option.record or option.key
    lines = CONF.splitlines()
    if option.takes == "record":
        lines.append({
            "NodeName": "NodeName=x1 CPUs=4 RealMemory=8000", "NodeSet": "NodeSet=more Nodes=n3",
            "DownNodes": "DownNodes=n3 State=DOWN", "FrontendName": "FrontendName=f1",
            "PartitionName": "PartitionName=more Nodes=n3",
        }[record])  # fmt: skip
    else:
        starts = {"NodeName": "NodeName=g" if option.key in ("Procs", "Sockets") else "NodeName=n"}
        begin = starts.get(record, f"{record}=")
        if not any(line.startswith(begin) for line in lines):
            lines.append(f"{record}=f1")
        place = next(k for k, line in enumerate(lines) if line.startswith(begin))
        words = [word for word in lines[place].split() if not word.startswith(f"{option.key}=")]
        value = RECORDS.get(option.key, other_value(option))
        if record == "DownNodes" and option.key == "State":
            value = "UNKNOWN"
        lines[place] = " ".join([*words, f"{option.key}={value}"])
    name = f"{record}-{option.key}.conf"
    (folder / name).write_text("\n".join(lines) + "\n")
    return f"slurm.conf={folder / name}"


def name_of(option):
    return ".".join(filter(None, [option.record, option.key]))


#: Simulated keys that change no setting of this configuration, and why that is right.
SETTLED = {
    "NodeSet": "no partition names it",
    "DownNodes.Reason": "it is only shown",
    "NodeSet.Feature": "no node has the feature",
    "NodeSet.Nodes": "no partition names it",
}


@pytest.mark.parametrize("option", OPTIONS, ids=name_of)
def test_a_key_has_the_class_of_the_table(option, instance, folder):
    scenario = scenario_of(instance, change_of(option, folder))
    (key,) = [
        scenario_key
        for scenario_key in scenario.keys
        if scenario_key.key.lower().endswith(option.key.lower())
    ][:1] or (scenario.keys[:1])
    verdict = scenario.verdict("slurm-backfill", is_scheduler=True)
    before, after = instance.machine, scenario.instance.machine
    is_same = has_same_settings(before.slurm, after.slurm) and before.nodes == after.nodes
    is_same = is_same and before.partitions == after.partitions
    if option.option_class is OptionClass.SIMULATED:
        if name_of(option) in SETTLED:
            return
        assert verdict.scenario_class is ScenarioClass.SIMULATED, verdict.reason
        assert not is_same
        under_easy = scenario.verdict("EASY", is_scheduler=False)
        expected = (
            ScenarioClass.SIMULATED if option.known_to_batch_policies
            else ScenarioClass.NOT_MODELLED
        )  # fmt: skip
        if option.takes != "record":
            assert under_easy.scenario_class is expected
        return
    if option.option_class is OptionClass.BY_LOG:
        return  # test_refusals.py
    assert verdict.reason
    if option.option_class is OptionClass.NO_EFFECT:
        assert key.scenario_class is ScenarioClass.NO_EFFECT
        assert option.reason[1:].rstrip(".") in verdict.reason
    elif option.option_class is OptionClass.NOT_MODELLED:
        assert verdict.scenario_class is ScenarioClass.NOT_MODELLED
        assert option.reason[1:].rstrip(".") in verdict.reason


@pytest.mark.parametrize("option", OPTIONS, ids=name_of)
def test_a_value_that_slurm_does_not_take_is_refused(option, instance):
    for value in WRONG.get(option.takes.partition(":")[0], ()):
        with pytest.raises(cs.InvalidInstance) as caught:
            canonical_value(option, value)
        text = str(caught.value)
        assert text == f"{option.key}={value}: Slurm takes {values_in_words(option)}"
        if option.record in ("", "SchedulerParameters") and option.takes != "record":
            with pytest.raises(cs.InvalidInstance, match="Slurm takes"):
                scenario_of(instance, f"{option.key}={value}")
        elif option.record == "PartitionName":
            with pytest.raises(cs.InvalidInstance, match="Slurm takes"):
                scenario_of(instance, f"partition.main.{option.key}={value}")


def test_the_table_gives_a_reason_for_each_key_that_is_not_simulated():
    for option in OPTIONS:
        is_settled = option.option_class in (OptionClass.SIMULATED, OptionClass.BY_LOG)
        assert bool(option.reason) != is_settled, name_of(option)
        assert option.versions
    assert len({name_of(option).lower() for option in OPTIONS}) == len(OPTIONS)


def test_numbers_are_read_as_strtoul_reads_them():
    cases = {"10": 10, "0x10": 16, "010": 8, "1k": 1024, "0": 0, "-1": None, "08": None, "": None}
    assert {text: unsigned(text, 32) for text in cases} == cases
    assert unsigned("1k", 16) is None
    assert unsigned("65535", 16) == 65535
    assert unsigned("65536", 16) is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("bf_interval=60", "bf_interval is 60 today"),
        ("PriorityWeightAge=0x3e8", "PriorityWeightAge is 1000 today"),
        ("bf_resolution=60", "bf_resolution is 60 by default today"),
        ("partition.main.MaxTime=24:00:00", "means the same"),
        ("KillWait=30", "KillWait is 30 by default today"),
        ("defer=no", "defer is no by default today"),
        ("qos.high.Priority=100", "qos.high.Priority is 100 today"),
        ("nodes.n[1-4]=4", "nodes.n[1-4] is 4 today"),
    ],
)
def test_the_current_value_is_said(instance, change, says):
    verdict = scenario_of(instance, change).verdict("slurm-backfill", is_scheduler=True)
    assert verdict.scenario_class is ScenarioClass.UNCHANGED
    assert says in verdict.reason


def test_a_row_that_is_not_modelled_in_part_is_not_modelled(instance):
    scenario = scenario_of(instance, "bf_interval=90,TopologyPlugin=topology/tree,SlurmdPort=7000")
    verdict = scenario.verdict("slurm-backfill", is_scheduler=True)
    assert verdict.scenario_class is ScenarioClass.NOT_MODELLED
    assert "TopologyPlugin" in verdict.reason
    assert any("SlurmdPort has no effect" in remark for remark in verdict.remarks)


def test_easy_follows_nodes_and_partitions_alone(instance):
    expected = {
        "nodes=+1": ScenarioClass.SIMULATED,
        "partition.main.MaxTime=60": ScenarioClass.SIMULATED,
        "bf_interval=90": ScenarioClass.NOT_MODELLED,
        "reservation=100/12h/ALL": ScenarioClass.NOT_MODELLED,
        "qos.high.Priority=7": ScenarioClass.NOT_MODELLED,
        "SlurmdPort=7000": ScenarioClass.NO_EFFECT,
        "users.ada=-50%": ScenarioClass.SIMULATED,
    }
    for change, scenario_class in expected.items():
        verdict = scenario_of(instance, change).verdict("EASY", is_scheduler=False)
        assert verdict.scenario_class is scenario_class, change
        if scenario_class is ScenarioClass.NOT_MODELLED:
            assert re.search(r"EASY knows nodes, partitions and time limits", verdict.reason)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ("bf_interval=90,defer=yes", ["bf_interval=90", "defer=yes"]),
        ("PriorityWeightTRES=CPU=5,Mem=7,KillWait=5",
         ["PriorityWeightTRES=CPU=5,Mem=7", "KillWait=5"]),
        ("partition.main.TRESBillingWeights=cpu=1,GRES/gpu=2", None),
        ("nodes.n[1-2,4]=+1,killwait=9", ["nodes.n[1-2,4]=+1", "killwait=9"]),
        ("KillWait=9,nodes.n[1-2,4]=+1", ["KillWait=9", "nodes.n[1-2,4]=+1"]),
        ("PreemptParameters=youngest_first,reorder_count=3", None),
        ("qos.high.MaxTRESPU=cpu=8,mem=4G,qos.high.Priority=3",
         ["qos.high.MaxTRESPU=cpu=8,mem=4G", "qos.high.Priority=3"]),
    ],
)  # fmt: skip
def test_several_changes_are_told_from_lists_of_one(change, parts):
    assert parts_of(change) == ([change] if parts is None else parts)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("sched_interval=-1", "no rule for SchedulerParameters=sched_interval=-1"),
        ("sched_interval=0", "no rule for SchedulerParameters=sched_interval=0"),
        ("partition.main.OverSubscribe=FORCE:4", "no rule for OverSubscribe=FORCE:4"),
        ("PriorityFlags=DEPTH_OBLIVIOUS", "no rule for PriorityFlags=DEPTH_OBLIVIOUS"),
        ("SelectTypeParameters=CR_LLN", "no rule for SelectTypeParameters=CR_LLN"),
        ("PreemptMode=OFF", "change PreemptType in the same row"),
        ("PriorityDecayHalfLife=0", "without PriorityUsageResetPeriod"),
    ],
)
def test_a_value_without_a_rule_is_not_modelled(instance, change, reason):
    verdict = scenario_of(instance, change).verdict("slurm-backfill", is_scheduler=True)
    assert verdict.scenario_class is ScenarioClass.NOT_MODELLED
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("qos.high.Priority=much", "expected a whole number"),
        ("qos.high.MaxTRESPU=cpu", "expected amounts as cpu=8,node=2"),
        ("qos.high.MaxWall=soon", "expected minutes, or 2-00:00:00"),
        ("qos.high.Flags=Fast", "expected flags"),
        ("account.phys.Fairshare=many", "expected a whole number"),
        ("account.phys.GrpTRES=cpu=-3", "expected amounts as cpu=8,node=2"),
        ("reservation=0/1h/n[8-9]", "no node 'n8': the machine has g[1-2],n[1-4]"),
    ],
)
def test_values_that_sacctmgr_and_scontrol_do_not_take_are_refused(instance, change, says):
    with pytest.raises(cs.InvalidInstance, match=re.escape(says)):
        scenario_of(instance, change)


def test_a_whole_file_has_a_class_for_each_line_that_differs(instance, folder):
    def verdict_of(text, policy="slurm-backfill"):
        (folder / "other.conf").write_text(text)
        scenario = scenario_of(instance, f"slurm.conf={folder / 'other.conf'}")
        return scenario.verdict(policy, is_scheduler=policy == "slurm-backfill")

    assert verdict_of(CONF).scenario_class is ScenarioClass.UNCHANGED
    assert verdict_of(CONF + "KillWait=30\n").scenario_class is ScenarioClass.UNCHANGED
    assert verdict_of(CONF + "SlurmdPort=7\n").scenario_class is ScenarioClass.NO_EFFECT
    assert verdict_of(CONF.replace("l=60", "l=90")).scenario_class is ScenarioClass.SIMULATED
    assert verdict_of(CONF + "MCSPlugin=mcs/user\n").scenario_class is ScenarioClass.NOT_MODELLED
    unknown = verdict_of(CONF + "Colour=red\n")
    assert unknown.scenario_class is ScenarioClass.NOT_MODELLED
    assert "Colour is not a key that slurm.conf(5) describes" in unknown.reason
    larger_file = CONF + "PartitionName=more Nodes=n3\n"
    assert verdict_of(larger_file, "EASY").scenario_class is ScenarioClass.SIMULATED
    both = larger_file.replace("l=60", "l=90")
    assert verdict_of(both, "EASY").scenario_class is ScenarioClass.NOT_MODELLED


def test_numbers_of_accounting_enforce_mean_what_slurm_says(folder):
    limits = {}
    for value in ("1", "2", "associations", "limits", "safe", "all", "qos"):
        path = folder / "enforce.conf"
        path.write_text(CONF.replace("Enforce=limits", f"Enforce={value}"))
        limits[value] = cs.cluster.Machine.read(path).slurm.limits_count
    assert {value for value, count in limits.items() if count} == {"2", "limits", "safe", "all"}


def test_a_task_plugin_matters_where_jobs_are_suspended(instance, folder):
    text = CONF.replace("CR_Core", "CR_CPU").replace("Mode=REQUEUE", "Mode=SUSPEND,GANG")
    path = folder / "suspend.conf"
    path.write_text(text + "TaskPlugin=task/affinity\n")
    machine = cs.cluster.Machine.read(path, accounts=folder / "accounts.txt")
    suspending = cs.cluster.Instance(instance.raw_columns, nodes=machine.cores, machine=machine)
    scenario = scenario_of(suspending, "TaskPlugin=task/none")
    verdict = scenario.verdict("slurm-backfill", is_scheduler=True)
    assert verdict.scenario_class is ScenarioClass.NOT_MODELLED
    assert "CR_CPU without a TaskPlugin" in verdict.reason
