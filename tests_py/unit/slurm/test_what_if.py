"""What if a line of the cluster's Slurm were another: as if the file had been edited by hand."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from note_facts import counts

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.cluster.analysis import scenario_runs
from cosched.cluster.analysis.what_if import what_if, with_nodes
from cosched.slurm.conf.lines import parse_lines
from cosched.slurm.twin.host_clocks import clocks_of
from cosched.slurm.twin.twin import Twin
from cosched.slurm.whatif.differences import differences_of
from cosched.units import format_exact_duration

CONF = """ClusterName=c
SlurmctldHost=h
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightPartition=500
PriorityWeightFairshare=2000
PriorityWeightQOS=100
SchedulerParameters=bf_interval=30,bf_window=1440
NodeName=n[1-8] CPUs=4 RealMemory=8000
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
PartitionName=fast Nodes=n[1-2] MaxTime=4:00:00 PriorityJobFactor=10
"""
ACCOUNTS = """Account|User|ParentName|Share|MaxJobs
root||||
phys||root|10|
phys|ada||1|
chem||root|30|
chem|bob||1|
Name|Priority|MaxTRESPU
normal|0|
high|100|
"""
JOBS = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("site")
    (path / "slurm.conf").write_text(CONF)
    (path / "accounts.txt").write_text(ACCOUNTS)
    return path


def machine_of(folder, conf="slurm.conf", accounts="accounts.txt"):
    return cs.cluster.Machine.read(folder / conf, slurm_version="22.05", accounts=folder / accounts)


def table():
    random = np.random.default_rng(7)
    runtime = random.integers(60, 9000, JOBS).astype(float)
    users = random.choice(["ada", "bob"], JOBS)
    return {
        "submit": np.sort(random.integers(0, 20_000, JOBS)).astype(float),
        "tasks": random.integers(1, 9, JOBS), "cpu": np.ones(JOBS), "memory": np.ones(JOBS),
        "runtime": runtime, "estimate": runtime + 600, "user": users,
        "account": np.where(users == "ada", "phys", "chem"),
        "qos": random.choice(["normal", "high"], JOBS),
        "partition": random.choice(["main", "fast"], JOBS, p=[0.8, 0.2]),
    }  # fmt: skip


def jobs(machine, **columns):
    return cs.cluster.Instance(table() | columns, nodes=machine.cores, machine=machine)


#: A change, and what a hand would edit: in which file, what, and what stands there then.
EDITS = [
    ("PriorityWeightAge=90000", "slurm.conf", "PriorityWeightAge=1000", "PriorityWeightAge=90000"),
    ("PriorityWeightPartition=0", "slurm.conf", "Partition=500", "Partition=0"),
    ("PriorityWeightFairshare=0", "slurm.conf", "Fairshare=2000", "Fairshare=0"),
    ("PriorityWeightQOS=90000", "slurm.conf", "PriorityWeightQOS=100", "PriorityWeightQOS=90000"),
    ("PriorityMaxAge=1:00:00", "slurm.conf", "ClusterName=c", "PriorityMaxAge=1:00:00"),
    ("PriorityFavorSmall=YES", "slurm.conf", "ClusterName=c", "PriorityFavorSmall=YES"),
    ("PriorityDecayHalfLife=60", "slurm.conf", "ClusterName=c", "PriorityDecayHalfLife=60"),
    ("KillWait=300", "slurm.conf", "ClusterName=c", "KillWait=300"),
    ("DefMemPerCPU=4000", "slurm.conf", "DefMemPerCPU=1000", "DefMemPerCPU=4000"),
    ("bf_interval=900", "slurm.conf", "bf_interval=30", "bf_interval=900"),
    ("bf_window=10", "slurm.conf", "bf_window=1440", "bf_window=10"),
    ("bf_max_job_test=1", "slurm.conf", "bf_window=1440", "bf_window=1440,bf_max_job_test=1"),
    ("bf_max_job_user=1", "slurm.conf", "bf_window=1440", "bf_window=1440,bf_max_job_user=1"),
    ("default_queue_depth=1,bf_interval=600", "slurm.conf", "bf_interval=30",
     "default_queue_depth=1,bf_interval=600"),
    ("defer=yes", "slurm.conf", "bf_window=1440", "bf_window=1440,defer"),
    ("partition.fast.Nodes=n[3-8]", "slurm.conf", "Nodes=n[1-2]", "Nodes=n[3-8]"),
    ("partition.fast.PriorityTier=9", "slurm.conf", "JobFactor=10", "JobFactor=10 PriorityTier=9"),
    ("partition.main.OverSubscribe=EXCLUSIVE", "slurm.conf", "MaxTime=1-0",
     "MaxTime=1-0 OverSubscribe=EXCLUSIVE"),
    ("qos.high.MaxTRESPU=cpu=8", "accounts.txt", "high|100|", "high|100|cpu=8"),
    ("qos.normal.Priority=100,qos.high.Priority=0", "accounts.txt",
     "normal|0|\nhigh|100|", "normal|100|\nhigh|0|"),
    ("account.phys.Fairshare=200", "accounts.txt", "phys||root|10|", "phys||root|200|"),
    ("account.chem.MaxJobs=2", "accounts.txt", "chem||root|30|", "chem||root|30|2"),
]  # fmt: skip


def starts(instance):
    return np.asarray(cs.cluster.solve(instance, "slurm-backfill", seed=4).outcome["start"])


@pytest.fixture(scope="module")
def as_it_is(folder):
    return starts(jobs(machine_of(folder)))


#: Of these, starts have to differ from those of the machine as it is: the cases see something.
SEEN = 16


def test_a_change_is_what_a_hand_edited_file_gives(folder, as_it_is):
    seen = 0
    for change, file, old, new in EDITS:
        text = (folder / file).read_text()
        assert old in text, change
        edited = f"edited-{file}"
        (folder / edited).write_text(text.replace(old, new))
        names = {"conf": edited} if file == "slurm.conf" else {"accounts": edited}
        by_hand = starts(jobs(machine_of(folder, **names)))
        by_change = starts(what_if(jobs(machine_of(folder)), change)[0])
        np.testing.assert_array_equal(by_change, by_hand, err_msg=change)
        seen += not np.array_equal(by_change, as_it_is)
    assert seen >= SEEN


#: A change, what stands in the file instead, and what is said of it then.
IDLE = [
    ("PriorityWeightAge=5", "slurmdbd", "none", "PriorityWeightAge has no effect: Accounting"),
    ("PriorityWeightAge=5", "priority/multifactor", "priority/basic", "effect: PriorityType is"),
    ("PriorityMaxAge=5", "WeightAge=1000", "WeightAge=0", "effect: PriorityWeightAge is 0"),
    ("PriorityDecayHalfLife=5", "Fairshare=2000", "Fairshare=0", "PriorityWeightFairshare is 0"),
    ("account.phys.Fairshare=2", "Fairshare=2000", "Fairshare=0", "PriorityWeightFairshare is 0"),
    ("qos.high.Priority=5", "WeightQOS=100", "WeightQOS=0", "PriorityWeightQOS is 0"),
    ("qos.high.MaxTRESPU=cpu=1", "Enforce=limits", "Enforce=qos", "Enforce has no limits"),
    ("partition.fast.PriorityJobFactor=1", "Partition=500", "Partition=0", "WeightPartition is 0"),
    ("PriorityFavorSmall=YES", "ClusterName=c", "", "PriorityWeightJobSize is 0"),
    ("bf_interval=600", "ClusterName=c", "SchedulerType=sched/builtin", "SchedulerType is"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "old", "new", "says"), IDLE)
def test_a_line_that_another_leaves_without_effect_is_said(folder, change, old, new, says):
    assert old in CONF
    (folder / "idle.conf").write_text(CONF.replace(old, new))
    instance = jobs(machine_of(folder, "idle.conf"))
    changed, note = what_if(instance, change)
    assert says in note
    np.testing.assert_array_equal(starts(changed), starts(instance))


def test_a_line_that_the_same_row_gives_effect_is_not_said(folder):
    (folder / "idle.conf").write_text(CONF.replace("WeightAge=1000", "WeightAge=0"))
    instance = jobs(machine_of(folder, "idle.conf"))
    assert what_if(instance, "PriorityMaxAge=5,PriorityWeightAge=90000")[1] == ""
    remarks = {change: what_if(jobs(machine_of(folder)), change)[1] for change, *_ in EDITS}
    assert [change for change, remark in remarks.items() if remark] == ["PriorityFavorSmall=YES"]


def test_a_whole_file_and_what_differs(folder):
    (folder / "new.conf").write_text(CONF.replace("WeightAge=1000", "WeightAge=5"))
    changed, note = what_if(jobs(machine_of(folder)), f"slurm.conf={folder / 'new.conf'}")
    assert note == "differs in PriorityWeightAge 1000 -> 5"
    by_line = what_if(jobs(machine_of(folder)), "PriorityWeightAge=5")[0]
    np.testing.assert_array_equal(starts(changed), starts(by_line))
    first_lines = parse_lines("A=1\nPartitionName=p Nodes=a MaxTime=1\n", "x")
    other = parse_lines("B=2\nPartitionName=p Nodes=b\n", "y")
    assert [str(difference) for difference in differences_of(first_lines, other)] == [
        "A 1 -> (not set)", "p.Nodes a -> b", "p.MaxTime 1 -> (not set)", "B (not set) -> 2",
    ]  # fmt: skip


def test_a_reservation_keeps_its_nodes(folder):
    changed, _ = what_if(jobs(machine_of(folder)), "reservation=5000/2h/ALL")
    result = cs.cluster.solve(changed, "slurm-backfill", seed=4)
    start, end = result.outcome["start"], result.outcome["end"]
    assert not ((start < 5000 + 7200) & (end > 5001)).any()
    assert (start < 5000).any()


def test_fewer_jobs_of_a_user(folder):
    instance = jobs(machine_of(folder))
    changed, note = what_if(instance, "users.ada=-50%")
    before = int((instance.column("user") == "ada").sum())
    after = int((changed.column("user") == "ada").sum())
    assert after == before - round(0.5 * before)
    assert len(changed) == len(instance) - (before - after)
    assert note == f"{before - after} jobs of ada are left out"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("PriorityWeightAeg=3", "near: PriorityWeightAge"),
        ("bf_intervall=3", "near: bf_interval"),
        ("partition.fats.MaxTime=3", "near: fast"),
        ("partition.fast.MaxTimes=3", "near: MaxTime"),
        ("qos.hihg.Priority=3", "near: high"),
        ("account.phy.Fairshare=3", "near: phys"),
        ("qos.high.Colour=3", "Colour"),
        ("users.eve=-50%", "unknown user 'eve'"),
        ("users.ada=50%", "as -50%"),
        ("users.ada=-500%", "as -50%"),
        ("reservation=5000/2h", "BEGIN/DURATION/NODES"),
        ("reservation=5000/0h/ALL", "duration"),
        ("reservation=2026-12-01T08:00/2h/ALL", "no dates"),
        ("slurm.conf=new.txt", ".conf"),
        ("defer=maybe", "yes or no"),
        ("PriorityWeightAge=", "KEY=VALUE"),
        ("PriorityWeightAge=many", "Slurm takes a whole number"),
    ],
)
def test_what_there_is_not_is_refused_with_near_names(folder, change, said):
    with pytest.raises(cs.InvalidInstance, match=re.escape(said)) as caught:
        what_if(jobs(machine_of(folder)), change)
    assert str(caught.value).startswith(f"what-if {change!r}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", ["users.=-50%", "users.=1+1=-50%", "qos.high.Priority=3"])
def test_a_change_that_wants_a_slurm_conf_is_refused_without_one(change):
    instance = cs.cluster.Instance(cs.workloads.lublin(5, 4, seed=1), 4)
    with pytest.raises(cs.InvalidInstance, match="what-if"):
        what_if(instance, change)


def test_the_audit_says_the_fit_first_and_writes_numbers(folder, tmp_path):
    machine = machine_of(folder)
    simulated = cs.cluster.solve(jobs(machine), "slurm-backfill", seed=0)
    logged = jobs(machine, wait=simulated.waits)
    page, numbers = tmp_path / "audit.html", tmp_path / "audit.json"
    changes = ["nodes=+4", "PriorityWeightAge=1001"]
    cs.cluster.audit(logged, page, what_if=changes, draws=4, json=numbers)
    document = json.loads(numbers.read_text())
    assert document["judgement"]["verdict"] != "not explained"
    assert document["reference"] == "slurm-backfill"
    assert {row["partition"] for row in document["fit"]["partitions"]} == {"main", "fast"}
    as_is, more_nodes, hardly = document["rows"]
    assert [as_is["what_if"], more_nodes["what_if"], hardly["what_if"]] == ["as it is", *changes]
    assert {row["policy"] for row in document["rows"]} == {"slurm-backfill"}
    assert more_nodes["difference_p95"] < 0
    assert not more_nodes["noise"]
    assert hardly["noise"]
    assert more_nodes["mean_wait"] - as_is["mean_wait"] == pytest.approx(more_nodes["difference"])
    text = page.read_text()
    assert text.index("The simulator ") < text.index("Load, queue and waits")
    assert ">none<" in text
    assert "nodes=+4: the 10 groups that change most" in text


@pytest.fixture(scope="module")
def logged(folder):
    instance = jobs(machine_of(folder))
    return instance.replace(wait=cs.cluster.solve(instance, "slurm-backfill", seed=0).waits)


@pytest.fixture
def audited(logged, tmp_path):
    """Rows and text of an audit in which the simulator is the reference, whatever its draws are."""
    page, numbers = tmp_path / "audit.html", tmp_path / "audit.json"

    def run(**options):
        cs.cluster.audit(logged, page, json=numbers, reference="slurm-backfill", **options)
        return json.loads(numbers.read_text())["rows"], page.read_text()

    return run


def test_all_rows_have_the_same_replications_and_differences_are_of_their_means(audited):
    changes = ["nodes=+4", "bf_interval=31", "nodes=-2"]
    (as_is, *rows), text = audited(what_if=changes, draws=5)
    assert [row["draws"] for row in (as_is, *rows)] == [5] * 4
    for row in rows:
        assert row["difference"] == pytest.approx(row["mean_wait"] - as_is["mean_wait"])
    assert (
        f"In the Slurm simulator they wait {format_exact_duration(as_is['mean_wait'])} on average"
        in text
    )
    baseline = f"current configuration</td><td>{format_exact_duration(as_is['mean_wait'])}</td>"
    assert baseline in text
    for row in rows:
        assert (
            f"<td>{row['what_if']}</td><td>{format_exact_duration(row['mean_wait'])}</td>" in text
        )
    assert "the same 5 replications" in text


def test_draws_stop_when_the_time_is_over(audited):
    rows, _ = audited(what_if=["bf_interval=31"], time_limit=1e-3)
    assert all(2 <= row["draws"] < 20 for row in rows)


def test_a_change_that_takes_too_long_is_left_out_and_said(audited, monkeypatch):
    monkeypatch.setattr(scenario_runs, "_MAX_SLOWDOWN", 0)
    rows, text = audited(what_if=["nodes=+4"], time_limit=1e-6, draws=2)
    as_is, late_row = rows
    assert (as_is["what_if"], late_row["what_if"]) == ("as it is", "nodes=+4")
    assert set(late_row) == set(as_is)
    assert late_row["mean_wait"] is late_row["difference"] is late_row["draws"] is None
    assert "time limit" in late_row["remarks"]
    assert late_row["remarks"] in html.unescape(text)
    assert as_is["remarks"] == ""


def test_draws_that_are_enough_are_the_first_of_all(folder):
    instance = jobs(machine_of(folder))
    asked = []

    def enough(waits):
        asked.append(waits)
        return len(waits) >= 2

    every = cs.cluster.solve(instance, "slurm-backfill", seed=4, draws=12)
    few_draws = cs.cluster.solve(instance, "slurm-backfill", seed=4, draws=12, enough=enough)
    count = len(few_draws.draws)
    assert 2 <= count < 12
    np.testing.assert_array_equal(few_draws.draws.starts, every.draws.starts[:count])
    np.testing.assert_array_equal(few_draws.draws.epoch, every.draws.epoch[:count])
    assert few_draws.schedule.start.tolist() == every.schedule.start.tolist()
    np.testing.assert_array_equal(asked[-1], few_draws.draws.starts - instance.column("eligible"))
    with pytest.raises(cs.InvalidInstance, match="enough = 3: expected a function"):
        cs.cluster.solve(instance, "slurm-backfill", draws=2, enough=3)


def test_a_setting_without_a_rule_is_left_out_and_said(folder, tmp_path):
    (folder / "tree.conf").write_text(CONF + "TopologyPlugin=topology/tree\n")
    machine = machine_of(folder, conf="tree.conf")
    page, numbers = tmp_path / "audit.html", tmp_path / "audit.json"
    cs.cluster.audit(jobs(machine), page, what_if=["bf_interval=900"], draws=2, json=numbers)
    rows = json.loads(numbers.read_text())["rows"]
    assert {row["policy"] for row in rows} == {"slurm-backfill"}
    assert "not followed: TopologyPlugin=topology/tree" in page.read_text()


def test_a_log_of_another_cluster_is_not_asked_what_if(folder, tmp_path):
    machine = machine_of(folder)
    random = np.random.default_rng(1)
    logged = jobs(machine, wait=random.uniform(0, 50_000, JOBS))
    numbers = tmp_path / "audit.json"
    page = tmp_path / "audit.html"
    cs.cluster.audit(logged, page, what_if=["nodes=+4"], draws=2, json=numbers)
    document = json.loads(numbers.read_text())
    assert document["judgement"]["verdict"] == "not explained"
    assert {row["policy"] for row in document["rows"]} == {"EASY"}
    assert "would be about another cluster" in page.read_text()


def test_the_command_line(folder, tmp_path, capsys):
    csv = tmp_path / "log.csv"
    pd.DataFrame(table()).to_csv(csv, index=False)
    command = ["audit", str(csv), "--machine", str(folder / "slurm.conf"), "--draws", "2",
               "--accounts", str(folder / "accounts.txt"), "-o", str(tmp_path / "a.html"),
               "--what-if", "bf_interval=60", "--json", str(tmp_path / "a.json")]  # fmt: skip
    assert main(command) == 0
    assert json.loads((tmp_path / "a.json").read_text())["rows"][1]["what_if"] == "bf_interval=60"
    assert main([*command[:-2], "--what-if", "bf_intervall=60"]) == 2
    assert "near: bf_interval" in capsys.readouterr().err


def test_what_a_limit_does_to_jobs_is_in_all_that_is_written(folder, tmp_path, capsys):
    job_table = pd.DataFrame(table())
    job_table.to_csv(tmp_path / "log.csv", index=False)
    page, numbers = tmp_path / "a.html", tmp_path / "a.json"
    barred = ((job_table.qos == "high") & (job_table.tasks > 4)).sum()
    cut = ((job_table.partition == "main") & (job_table.runtime > 1800)).sum()
    changes = {
        "qos.high.MaxTRESPU=cpu=4": ("left out, since Slurm refuses them", f": {barred} jobs (",
                                     "QOSMaxCpuPerUser"),
        "partition.main.max_time=0:30:00": (f"end at the new limit: {cut}",),
        "partition.main.nodes=n1": ("job 0 wants", "partition main has 4"),
        "qos.high.MaxTRESPU=cpu=4,partition.main.max_time=0:30:00": (f"new limit: {cut}",
                                                                    f": {barred} jobs ("),
    }  # fmt: skip
    options = [word for change in changes for word in ("--what-if", change)]
    assert main(["audit", str(tmp_path / "log.csv"), "--machine", str(folder / "slurm.conf"),
                 "--accounts", str(folder / "accounts.txt"), "--draws", "2", *options,
                 "-o", str(page), "--json", str(numbers)]) == 0  # fmt: skip
    as_is, *rows = json.loads(numbers.read_text())["rows"]
    assert as_is["remarks"] == ""
    output, text = capsys.readouterr().out.splitlines(), html.unescape(page.read_text())
    for row, (change, words) in zip(rows, changes.items(), strict=True):
        assert row["what_if"] == change
        assert all(word in row["remarks"] for word in words), row["remarks"]
        assert f"{change}: {row['remarks']}" in output
        assert f">{row['class']}: {row['remarks']}<" in text
        assert (row["mean_wait"] is None) == (change == "partition.main.nodes=n1")


def test_a_change_that_is_not_modelled_has_no_numbers_and_a_reason(folder, tmp_path):
    numbers, messages = tmp_path / "a.json", []
    instance = jobs(machine_of(folder, accounts="accounts.txt"))
    change = "TopologyPlugin=topology/tree"
    cs.cluster.audit(instance, tmp_path / "a.html", what_if=[change, "bf_interval=31"], draws=2,
                     json=numbers, say=messages.append)  # fmt: skip
    as_is, other, silent = json.loads(numbers.read_text())["rows"]
    assert other["class"] == "not modelled"
    assert other["reason"] == "TopologyPlugin is not modelled: switches are not simulated"
    assert other["mean_wait"] is other["difference"] is other["noise"] is None
    assert silent["class"] == "simulated"
    assert "not modelled" not in as_is["remarks"] + silent["remarks"]
    assert f"{change}: {other['remarks']}" in messages
    assert other["reason"] in html.unescape((tmp_path / "a.html").read_text())


def longest_of(page):
    return page.read_text().partition("longest waits")[2]


def test_jobs_that_are_left_out_as_it_is_are_said(folder, tmp_path):
    (folder / "few.txt").write_text(ACCOUNTS.replace("high|100|", "high|100|cpu=4"))
    page, numbers, messages = tmp_path / "a.html", tmp_path / "a.json", []
    instance = jobs(machine_of(folder, accounts="few.txt"))
    cs.cluster.audit(instance, page, what_if=["bf_interval=31"], draws=2, json=numbers,
                     say=messages.append)  # fmt: skip
    as_is, other = json.loads(numbers.read_text())["rows"]
    assert as_is["remarks"].startswith("left out, since Slurm refuses them")
    assert as_is["remarks"] == other["remarks"]
    remarks = [f"{row['what_if']}: {row['remarks']}" for row in (as_is, other)]
    assert messages[-2:] == [remarks[0].replace("as it is", "current configuration", 1), remarks[1]]
    assert f"<li>{as_is['remarks']}" in page.read_text()
    # The jobs that waited longest are those of the schedule, by their names.
    row_pattern = r"<tr><td>(\d+)</td>(?:<td class=\"words\">\w+</td>){2}<td>(\d+)</td>"
    longest_rows = re.findall(row_pattern, longest_of(page))
    assert longest_rows
    names, sizes = zip(*longest_rows, strict=True)
    assert [str(instance.column("tasks")[int(name)]) for name in names] == list(sizes)
    fitting = (instance.column("qos") != "high") | (instance.column("tasks") <= 4)
    assert fitting[[int(name) for name in names]].all()


@pytest.mark.parametrize("draws", [1, 4])
def test_a_job_that_one_run_refuses_is_in_none_and_no_run_is_made_anew(folder, draws):
    (folder / "busy.txt").write_text(
        ACCOUNTS.replace("|MaxTRESPU\n", "|MaxSubmitPU\n").replace("normal|0|", "normal|0|15")
    )
    instance = jobs(machine_of(folder, accounts="busy.txt"))
    result = cs.slurm.backfill(instance, draws=draws, seed=5, log=True)
    table = Twin(instance, instance.machine, {}).simulate_many(clocks_of(instance, draws, 5))
    begun = table.start_times
    starts_always = np.isfinite(begun).all(axis=0)
    assert 0 < (~starts_always).sum() < JOBS
    assert np.isfinite(begun[:, ~starts_always]).any() == (
        draws > 1
    )  # draws differ in whom they refuse
    assert np.array_equal(result.instance.ids, instance.ids[starts_always])
    refused = counts(result.instance.notes, NoteKind.REFUSED_JOBS)
    assert refused == {"QOSMaxSubmitJobPerUserLimit": (~starts_always).sum()}
    np.testing.assert_array_equal(result.jobs.start, begun[0, starts_always])
    if draws > 1:
        np.testing.assert_array_equal(result.draws.starts, begun[:, starts_always])
    starts = result.log[result.log.action == "start"].set_index("job").time
    np.testing.assert_array_equal(np.floor(starts.sort_index()), begun[0, starts_always])
    result.schedule.validate()


def test_whom_a_refused_job_keeps_is_left_out_with_it(folder):
    (folder / "small.txt").write_text(
        ACCOUNTS.replace("|MaxTRESPU", "|MaxTRES").replace("normal|0|", "normal|0|cpu=2")
    )
    columns = {
        "id": ["1", "2", "3", "4", "5_1", "5_2", "6", "7", "8"],
        "tasks": [1, 3, 1, 1, 3, 3, 2, 1, 1],
        "dependency": ["", "", "afterok:2", "afterany:3", "", "", "afterany:1", *["singleton"] * 2],
        "name": ["a", "b", *[""] * 5, "b", "a"],  # 7 waits for 2, 8 for 1
        "array": [*[""] * 4, "5%1", "5%1", *[""] * 3],
    }
    count = len(columns["id"])
    same = {"submit": 0, "cpu": 1, "memory": 1, "runtime": 60, "estimate": 600, "user": "ada",
            "account": "phys", "qos": "normal", "partition": "main"}  # fmt: skip
    columns |= {name: [value] * count for name, value in same.items()}
    machine = machine_of(folder, accounts="small.txt")
    instance = cs.cluster.Instance(columns, nodes=machine.cores, machine=machine)
    result = cs.slurm.backfill(instance, seed=1)
    assert result.instance.ids.tolist() == ["1", "6", "8"]
    refused = counts(result.instance.notes, NoteKind.REFUSED_JOBS)
    assert refused == {"QOSMaxCpuPerJobLimit": 3, "Dependency": 3}
    result.schedule.validate()


def test_a_result_that_lacks_jobs_has_the_bound_of_its_own(folder, tmp_path):
    (folder / "few.txt").write_text(ACCOUNTS.replace("normal|0|", "normal|0|cpu=1"))
    instance = jobs(machine_of(folder, accounts="few.txt"))
    rows = cs.cluster.compare(instance, ["slurm-backfill", "EASY"]).set_index("algorithm")
    simulated = cs.slurm.backfill(instance, seed=0)
    assert len(simulated.instance) < JOBS
    assert rows.bound["slurm-backfill"] == simulated.bound.value < rows.bound["EASY"]
    assert rows.status.tolist() == ["ok", "ok"]
    cs.cluster.audit(instance, tmp_path / "a.html", draws=2)
    assert "Attainable is" in (tmp_path / "a.html").read_text()
    assert "by slurm-backfill" not in (tmp_path / "a.html").read_text()


def test_jobs_that_the_twin_leaves_out_have_no_wait_there(folder, logged, tmp_path):
    (folder / "few.txt").write_text(ACCOUNTS.replace("normal|0|", "normal|0|cpu=4"))
    columns = table()
    barred = (columns["qos"] == "normal") & (columns["tasks"] > 4)
    of_ada = columns["user"] == "ada"
    # The longest wait of ada is of a job that the simulator leaves out, that of bob is not.
    barred_job, other_job = np.flatnonzero(barred & of_ada)[0], np.flatnonzero(~barred & ~of_ada)[0]
    waits = logged.column("wait").copy()
    waits[[barred_job, other_job]] = waits.max() + np.array([2000.0, 1000.0])
    few_jobs = cs.cluster.Instance(
        columns | {"wait": waits}, nodes=32, machine=machine_of(folder, accounts="few.txt")
    )
    cs.cluster.audit(few_jobs, tmp_path / "a.html", draws=2, reference="slurm-backfill")
    text = longest_of(tmp_path / "a.html")
    cells = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in text.split("</tr>")]
    rows = {int(row[0]): row for row in cells if row}
    assert list(rows) == [barred_job, other_job]
    assert rows[barred_job][6] == "-"
    assert rows[other_job][6] != "-"


@pytest.mark.parametrize("lines", [2, 1], ids=["several partitions", "one partition"])
def test_a_new_limit_ends_jobs_that_name_no_partition(folder, lines):
    (folder / "parts.conf").write_text("\n".join(CONF.splitlines()[: 13 + lines + 1]))
    machine = machine_of(folder, conf="parts.conf")
    named = table() | {"partition": np.full(JOBS, "main")}
    named["estimate"] = np.where(np.arange(JOBS) < 10, 1200.0, named["estimate"])
    exceeds_limit = np.minimum(named["runtime"], named["estimate"]) > 1800
    unnamed = {name: column for name, column in named.items() if name != "partition"}
    for columns in (named, unnamed, named | {"partition": np.full(JOBS, "")}):
        instance = cs.cluster.Instance(columns, nodes=machine.cores, machine=machine)
        changed, note = what_if(instance, "partition.main.max_time=0:30:00")
        assert note == f"jobs that ran longer and end at the new limit: {exceeds_limit.sum()}"
        cut = np.where(exceeds_limit, 1800, named["runtime"])
        np.testing.assert_array_equal(changed.column("runtime"), cut)


def test_a_log_without_estimates_has_what_ifs_too(tmp_path):
    (tmp_path / "slurm.conf").write_text("NodeName=n[1-2] CPUs=1\nPartitionName=a Nodes=ALL\n")
    jobs = {"submit": [0, 1], "tasks": [1, 1], "cpu": [1, 1], "memory": [1, 1], "runtime": [60, 90]}
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    inst = cs.cluster.Instance(jobs, nodes=2, machine=machine)
    changed, note = what_if(inst, "partition.a.max_time=0:01:00")
    assert changed.column("runtime").tolist() == [60, 60]
    assert note == "jobs that ran longer and end at the new limit: 1"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("bf_interval=0", "bf_interval=0: Slurm takes a whole number from 1 to 10800, or -1"),
        ("bf_interval=-5", "bf_interval=-5: Slurm takes a whole number from 1 to 10800, or -1"),
        ("PriorityWeightJobSize=-3", "Slurm takes a whole number from 0 to 4294967295"),
        ("PriorityFavorSmall=maybe", "PriorityFavorSmall=maybe: Slurm takes YES or NO"),
        ("partition.main.OverSubscribe=sometimes", "Slurm takes NO, EXCLUSIVE, YES[:COUNT]"),
        ("SchedulerParameters=bf_interval=0", "bf_interval=0: Slurm takes"),
    ],
)
def test_values_that_slurm_does_not_take_end_audit_and_tune_in_one_line(
    folder, tmp_path, capsys, change, says
):
    csv, page = tmp_path / "log.csv", tmp_path / "a.html"
    pd.DataFrame(table()).to_csv(csv, index=False)
    log = [str(csv), "--machine", str(folder / "slurm.conf"), "-o", str(page)]
    key, _, value = change.partition("=")
    vary = f"{key}={value},{value}1" if "=" not in value else f"{key}={value}"
    for command in (["audit", *log, "--what-if", change], ["tune", *log, "--vary", vary]):
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert says in line
        assert not page.exists()


def test_a_file_with_such_a_value_is_refused_too(folder):
    (folder / "bad.conf").write_text(CONF.replace("WeightAge=1000", "WeightAge=-1"))
    with pytest.raises(cs.InvalidInstance, match="PriorityWeightAge=-1: Slurm takes"):
        what_if(jobs(machine_of(folder)), f"slurm.conf={folder / 'bad.conf'}")


@pytest.mark.parametrize(
    ("vary", "says"),
    [
        ("TopologyPlugin=topology/tree,topology/block", "switches are not simulated"),
        ("MaxJobCount=10,20", "Slurm would refuse jobs"),
        ("partition.main.DenyAccounts=phys,chem", "jobs left out"),
    ],
)
def test_tune_compares_settings_that_are_simulated_on_the_same_jobs(folder, vary, says):
    key, _, values = vary.partition("=")
    with pytest.raises(cs.InvalidInstance, match=says):
        cs.slurm.tune(jobs(machine_of(folder)), vary={key: values}, days=0.05)


def test_nodes_of_a_slurm_conf_are_named_by_their_hosts(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "NodeName=n[1-4] CPUs=2\nNodeName=n[5-6] CPUs=2 Weight=1\nNodeName=g[01-04] CPUs=8\n"
        "DownNodes=n6 State=DOWN\nPartitionName=a Nodes=n[1-4]\nPartitionName=all Nodes=ALL\n"
    )
    machine = cs.cluster.Machine.read(tmp_path / "slurm.conf")
    fewer = with_nodes(machine, "n[3-4]", "-2")
    assert list(fewer.slurm.names) == [
        "g01",
        "g02",
        "g03",
        "g04",
        "n1",
        "n2",
        "n5",
        "n6",
    ]
    assert fewer.slurm.down == ((7, 8),)
    assert {part.name: part.nodes for part in fewer.partitions}["a"] == ((4, 6),)
    larger_machine = with_nodes(machine, "g[01-04]", "+4")
    assert larger_machine.node_count == machine.node_count + 4
    assert larger_machine.cores == machine.cores + 32
    assert larger_machine.slurm.names[4:8] == ("what-if-1", "what-if-2", "what-if-3", "what-if-4")
    assert with_nodes(machine, "nodes-1", "+1").cores == machine.cores + 8
    for name in ("x[1-2]", "n[1", "fat"):
        with pytest.raises(cs.InvalidInstance, match=r"the machine has g\[01-04\], n\[1-6\]"):
            with_nodes(machine, name, "+1")
    for name in ("g04,n1", "n1,n3"):
        with pytest.raises(cs.InvalidInstance, match="expected neighbouring nodes of one type"):
            with_nodes(machine, name, "+1")


def test_a_maintenance_of_the_whole_machine_is_not_modelled_by_easy(folder, tmp_path):
    random = np.random.default_rng(1)
    logged = jobs(machine_of(folder), wait=random.uniform(0, 50_000, JOBS))
    numbers, page = tmp_path / "audit.json", tmp_path / "audit.html"
    changes = ["reservation=5000/12h/ALL", "PriorityWeightAge=5", "SlurmdPort=1", "nodes=+4"]
    cs.cluster.audit(logged, page, what_if=changes, draws=2, json=numbers)
    as_is, *rows = json.loads(numbers.read_text())["rows"]
    assert {row["policy"] for row in (as_is, *rows)} == {"EASY"}
    classes = ["not modelled", "not modelled", "no effect", "simulated"]
    assert [row["class"] for row in rows] == classes
    for row in rows[:2]:
        assert row["mean_wait"] is row["difference"] is row["utilization"] is None
        assert "EASY knows nodes, partitions and time limits" in row["reason"]
    assert ">none<" in page.read_text()  # of SlurmdPort, with its reason
    assert "no start" not in rows[3]["reason"]
