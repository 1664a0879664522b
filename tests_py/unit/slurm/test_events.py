"""Logs of submissions (.events), scripts of sacctmgr, and what jobs ask for beside."""

from __future__ import annotations

import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.cli import main
from cosched.errors import InfeasibleError, InvalidInstance, InvalidSchedule
from cosched.slurm.accounts.accounting_dump import read_accounts
from cosched.slurm.requests.log_requests import requests_of_log
from cosched.slurm.twin.twin import Twin
from support import data, unpacked

CONF = """ClusterName=t
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
Licenses=sim:2
NodeName=a[1-4] CPUs=4 RealMemory=16000 Feature=old
NodeName=b[1-2] CPUs=4 RealMemory=64000 Feature=new,fast Gres=gpu:v:2 Weight=9
PartitionName=main Nodes=ALL Default=YES DefaultTime=30 DefMemPerCPU=1000
PartitionName=small Nodes=a[1-2] MaxTime=60
"""
JOB = "-dt {} -e submit_batch_job | -sim-walltime {} --uid=u {} job.sh\n"


def events(*jobs):
    """Lines of (submission, run time, options)."""
    return "".join(JOB.format(*job) for job in jobs)


@pytest.fixture
def read(tmp_path):
    """Reads lines on a machine."""

    def reading(text, conf=CONF, **options):
        (tmp_path / "slurm.conf").write_text(conf)
        (tmp_path / "week.events").write_text(text)
        return cs.cluster.Instance.read(
            tmp_path / "week.events", machine=tmp_path / "slurm.conf", **options
        )

    return reading


def solved(instance, **options):
    result = cs.cluster.solve(instance, "slurm-backfill", controller_start=-9, epoch=0, **options)
    result.schedule.validate()
    return result


def hosts(result):
    return result.schedule.to_frame().set_index("task").sort_index().hosts.tolist()


def test_columns(read):
    text = "# a comment\n\n" + events(
        (3, 50, "-N 2 -n 6 -t 1:00:00 --mem=4G -C old -p small -q q -A acc"),
        (1, -1, "-n2 -c 2 -t 10 --mem-per-cpu=500 --gres=gpu:v:1 --begin=now+1minute"),
        (4, 7, "--nodes=2 --ntasks-per-node=2 --gres=gpu:2 --mem 0 --exclusive -J 'a b'"),
        (5, 7, "-n 8 --mem=1000 --gpus=v:3 -o out.txt --switches=1 --array=1-3%2"),
    )  # fmt: skip
    jobs = read(text.replace("-sim-walltime 50", "-jid 77 -sim-walltime 50")).jobs
    assert jobs.id.tolist() == ["2", "77", "3", "4_1", "4_2", "4_3"]
    assert jobs.submit.tolist() == [1, 3, 4, 5, 5, 5]
    assert jobs.eligible.tolist() == [61, 3, 4, 5, 5, 5]
    assert jobs.tasks.tolist() == [4, 6, 4, 8, 8, 8]
    assert jobs.nodes.tolist() == [1, 2, 2, 2, 2, 2]
    assert jobs.runtime.tolist() == [600, 50, 7, 7, 7, 7]
    assert jobs.estimate.tolist() == [600, 3600, 1800, 1800, 1800, 1800]
    assert (jobs.memory_gb[:4] * 1024).round(6).tolist() == [2000, 8192, 0, 2000]
    assert jobs.memory_per.tolist()[:4] == ["core", "node", "all", "node"]
    assert jobs.gpus.tolist()[:4] == [1, 0, 4, 3]
    assert jobs.gpu_type.tolist()[:4] == ["v", "", "", "v"]
    assert jobs.exclusive.tolist()[:4] == ["", "", "yes", ""]
    assert jobs.array.tolist() == ["", "", "", "4%2", "4%2", "4%2"]
    assert jobs.line.tolist() == [4, 3, 5, 6, 6, 6]
    assert jobs.loc[1, ["partition", "qos", "account", "user"]].tolist() == [
        "small",
        "q",
        "acc",
        "u",
    ]
    notes = read(text).notes
    assert has_note(notes, NoteKind.UNKNOWN, "start times")
    assert counts(notes, NoteKind.NOT_FOLLOWED)["--switches"] == 1
    assert has_note(notes, NoteKind.ASSUMED, "exclusive")


def test_limits(read):
    text = events(*((0, 9, f"-n 1 {option}") for option in ("-t UNLIMITED -p small", "-t 0", "")))
    assert read(text).jobs.estimate.tolist() == [3600, float("inf"), 1800]


def test_the_twin_follows_what_jobs_ask_for(read):
    text = events(
        (0, 600, "-N 3 -n 3 -t 20 --mem=1000"),
        (1, 600, "-n 4 -t 20 --mem=1000 -C fast"),
        (2, 600, "-n 1 -t 20 --mem=60000"),
        (3, 600, "-N 2 -n 2 -t 20 --mem=1000 --exclusive -p small"),
        (4, 600, "-n 1 -t 20 -L sim:2"),
        (5, 600, "-n 1 -t 20 -L sim"),
        (6, 10, "-n 1 -t 20 -d afterany:2:5"),
        (7, 10, "-n 1 -t 20 -w a4 -J same"),
        (8, 10, "-n 1 -t 20 --exclude=a[1-4],b2 -J same -d singleton"),
        (9, 10, "-N 2 -n 4 -t 20 --gres=gpu:1"),
        (10, 10, "-N 1 -n 1 --mem=0"),
    )  # fmt: skip
    result = solved(read(text))
    start, end, where = result.jobs.start, result.jobs.end, hosts(result)
    assert [len(job_hosts) for job_hosts in where] == [3, 1, 1, 2, 1, 1, 1, 1, 1, 2, 1]
    assert where[1][0][0] == where[2][0][0] == "b"
    assert set(where[3]) == {"a1", "a2"}
    assert start[3] >= end[0]  # which had cores of one of them
    assert start[5] >= end[4]
    assert start[6] >= max(end[1], end[4])
    assert where[7] == ("a4",)
    assert where[8] == ("b1",)
    assert start[8] >= end[7]
    assert set(where[9]) == {"b1", "b2"}


def test_gpus_of_each_node_are_so_of_one_node_too(read):
    inst = read(events((0, 9, "-N 1 -n 1 --gres=gpu:1"), (1, 9, "-N 1 -n 1 --gpus=1")))
    twin = Twin(inst, inst.machine, {})
    asked, _ = requests_of_log(twin.placement, twin.settings, inst.machine, False)
    assert [job.are_gpus_by_node for job in asked.jobs.values()] == [True, False]


GPUS = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=a CPUs=8
NodeName=b1 CPUs=1 Gres=gpu:1
NodeName=b[2-3] CPUs=2 Gres=gpu:v:4
PartitionName=m Nodes=ALL Default=YES
"""


@pytest.mark.parametrize("option", ["--gres=gpu:", "--gpus-per-node=", "--gpus-per-node=v:"])
def test_gpus_of_each_node_are_so_of_as_few_nodes_as_have_the_cores(read, option):
    """Of the nodes with so many GPUs, not of larger ones without."""
    result = solved(read(events((0, 60, f"-n 4 -t 5 {option}3"), (0, 60, "-n 1 -t 5")), GPUS))
    assert result.instance.column("gpus").tolist() == [6, 0]
    assert hosts(result)[0] == ("b2", "b3")
    with pytest.raises(InfeasibleError, match=r"job 1 .*can never start"):
        solved(read(events((0, 60, f"-n 4 -t 5 {option}5")), GPUS))


def test_gpus_of_each_node_that_a_job_names(read):
    text = events((0, 60, "-n 2 -t 5 --gres=gpu:2 -w b[2-3]"), (0, 60, "-n 2 -t 5 --gres=gpu:2"))
    result = solved(read(text, GPUS))
    assert hosts(result)[0] == ("b2", "b3")
    assert len(hosts(result)[1]) == 1
    assert result.instance.column("gpus").tolist() == [4, 2]
    not_followed = counts(result.instance.notes, NoteKind.NOT_FOLLOWED)
    assert not any(subject.startswith("nodelist b") for subject in not_followed)


@pytest.mark.parametrize("select", ["cons_tres", "linear"])
def test_gpus_without_a_type_are_of_any(read, select):
    """Beside nodes whose GPUs have no type, too, which are too few here."""
    conf = GPUS.replace("cons_tres", select).replace("CPUs=8", "CPUs=2").replace("CPUs=1", "CPUs=2")
    assert hosts(solved(read(events((0, 60, "-N 1 -n 1 -t 5 --gres=gpu:3")), conf)))[0][0][0] == "b"
    result = solved(read(events(*((0, 60, "-N 1 -n 1 -t 5 --gpus=3"),) * 2), conf))
    assert sorted(hosts(result)) == [("b2",), ("b3",)]


@pytest.mark.parametrize("size", ["-n 2", "-N 2 -n 2"])
def test_gpus_said_twice_are_not_summed(read, size):
    inst = read(events((0, 60, f"{size} -t 5 --gres=gpu:1 --gpus=2 --gpus-per-node=3")), GPUS)
    assert inst.column("gpus").tolist() == [inst.column("nodes")[0]]
    not_followed = counts(inst.notes, NoteKind.NOT_FOLLOWED)
    for other in ("--gpus=2", "--gpus-per-node=3"):
        assert not_followed[f"{other} beside --gres"] == 1
    both = read(events((0, 60, "-N 1 -n 1 --gres=gpu:v:1,gpu:w:1")), GPUS)  # one option adds up
    assert both.column("gpus").tolist() == [2]


@pytest.mark.parametrize(
    ("select", "partition"),
    [("select/linear", ""), ("select/cons_tres", "OverSubscribe=EXCLUSIVE")],
)
def test_jobs_of_whole_nodes_are_on_all_of_them(read, select, partition):
    """Without a number of tasks there is one a node; the first node would have cores for all."""
    conf = (
        f"SelectType={select}\nNodeName=n[1-5] CPUs=4\n"
        f"PartitionName=p Nodes=ALL Default=YES {partition}\n"
    )
    text = events((0, 260, "-N 2 -t 5"), (1, 260, "-N 4 -t 5"), (2, 260, "-N 2 -n 7 -t 5"))
    result = solved(read(text, conf))
    assert [len(job_hosts) for job_hosts in hosts(result)] == [2, 4, 2]
    rows = result.schedule.to_frame().set_index("task").sort_index()
    assert [len(job_units) for job_units in rows.units] == [2, 4, 7]
    assert result.jobs.start[1] >= result.jobs.end[0]
    nodes = {host for row in rows.index[rows.start < 100] for host in rows.hosts[row]}
    assert len(nodes) == rows.hosts[rows.start < 100].map(len).sum()  # nobody shares one


def test_arrays_whose_number_is_none_are_not_followed(read):
    inst = read(events((0, 9, "-n 1")))
    jobs = inst.jobs.assign(array="²%1")
    solved(cs.cluster.Instance(jobs, inst.nodes, machine=inst.machine))


def test_tasks_of_arrays_wait_for_each_other(read):
    result = solved(read(events((0, 100, "-n 1 -t 9 --array=0-5%2"))))
    first = result.jobs.start.sort_values().tolist()
    assert first[2] >= 100
    assert first[4] >= 200


def test_nice_jobs_come_later(read):
    conf = CONF + "PriorityType=priority/multifactor\nPriorityWeightJobSize=9000\n"
    text = events((0, 300, "-N 6 -n 24 -t 9"), (1, 300, "-N 6 -n 24 -t 9 --nice=500"),
                  (2, 300, "-N 6 -n 24 -t 9"))  # fmt: skip
    assert solved(read(text, conf)).jobs.start.argsort().tolist() == [0, 2, 1]
    assert solved(read(text.replace("--nice=500", ""), conf)).jobs.start.is_monotonic_increasing


def test_what_is_not_followed_is_said(read):
    text = events(
        (0, 9, "-n 1 -L other -w zz,a1"),
        (0, 9, "-n 1 -d afterok:1,aftercorr:1 --exclusive=user --begin=16:00 --gres=lustre:1"),
        (0, 9, "-n 1 -L sim:3 -d afterany:99 --reservation=r -N 1-3"),
        (0, 9, "-N 2 -n 2 -C 'old*1&new*1'"),
    ) + "-dt 4 -e cancel_job | -jid 1\n"  # fmt: skip
    result = solved(read(text))
    notes = " ".join(result.instance.notes)
    for expected_note in (
        "licenses other of 1 job: the machine has sim:2, where Slurm refuses such jobs at sub",
        "nodelist zz,a1 of 1", "in constraint 'old*1&new*1' of 1 job",
        "aftercorr:1 of 1",
        "dependency afterok, taken as afterany, of 1", "--exclusive=user of 1", "--begin=16:00 of",
        "--gres=lustre:1 of 1", "1 events cancel_job",
        "licenses sim:3 of 1 job: the machine has sim:2, where Slurm refuses such jobs at sub",
        "not there before it of 1", "--reservation of 1", "of a range, of which the least",
    ):  # fmt: skip
        assert expected_note in notes


def test_the_validator_sees_who_is_not_alone(read):
    inst = read(events((0, 60, "-N 1 -n 1 --exclusive"), (0, 60, "-N 1 -n 1")))
    data = solved(inst).schedule.to_dict()
    first, second = data["placements"]
    second["units"] = [first["units"][0] + 1]
    with pytest.raises(InvalidSchedule, match="job 1 is not alone on its nodes: job 2"):
        cs.cluster.Schedule.from_dict(inst, data).validate()


def test_features_whose_nodes_are_too_small(read):
    """No node has both. The simulator refuses the job as Slurm does, unless it ran in the log: then
    it leaves the features out and says so. EASY gives it unequal parts."""
    inst = read(events((0, 60, "-N 2 -n 4 --mem=20000 -C old")))
    reason = "partition main has 6 nodes, 4 with old, none of these with 19.5312 GB of memory"
    with pytest.raises(InfeasibleError, match=reason):
        solved(inst)
    result = solved(inst.replace(wait=[0.0]))
    assert {job_hosts[0] for job_hosts in hosts(result)[0]} == {"b"}
    assert counts(result.instance.notes, NoteKind.NOT_FOLLOWED)["constraint 'old'"] == 1
    result = cs.cluster.solve(inst, "EASY")
    result.schedule.validate()
    assert {job_hosts[0] for job_hosts in hosts(result)[0]} == {"a"}


@pytest.mark.parametrize("policy", ["FCFS", "EASY", "conservative"])
def test_batch_policies_follow_features(read, policy):
    text = events(
        (0, 60, "-n 4 -N 1 -C fast&new"), (0, 60, "-n 4 -N 1 -C [fast|old]"),
        (0, 60, "-n 4 -N 1 -C new"), (0, 60, "-n 4 -N 1 -C fast"), (0, 60, "-n 4 -N 1"),
    )  # fmt: skip
    conf = CONF.replace("_Memory", "").replace("Gres=gpu:v:2", "")  # nothing else counts
    for configuration in (CONF, conf):
        inst = read(text, configuration)
        result = cs.cluster.solve(inst, policy)
        result.schedule.validate()
        assert [job_hosts[0][0] for job_hosts in hosts(result)][:4] == ["b", "a", "b", "b"]
        assert sorted(result.jobs.start[[0, 2, 3]]) == [0, 0, 60]
    data = result.schedule.to_dict()
    data["placements"][0]["units"] = [12, 13, 14, 15]  # of a4, which is idle
    with pytest.raises(InvalidSchedule, match="without its features"):
        cs.cluster.Schedule.from_dict(inst, data).validate()


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("-dt x -e submit_batch_job | -sim-walltime 5 -n 1 j", "-dt: 'x': expected seconds >= 0"),
        ("submit_batch_job -n 1", "expected -dt SECONDS -e submit_batch_job | options"),
        ("-dt 1 -e submit_batch_job | -n 1 j", "no -sim-walltime: expected the run time"),
        ("-dt 1 -e submit_batch_job | -sim-walltime y -n 1 j", "-sim-walltime: 'y': expected"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 -n", "'-n': expected a value behind it"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 -n 0 j", "--ntasks: '0': expected a number"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 -n 1 -t x j", "--time = 'x': expected"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 --mem=4Q j", "--mem: '4Q': expected 4000M"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 -J 'a j", "no closing quotation"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 -a 1-x j", "array '1-x': expected 1-7%3"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 -a 0-2000000 j", "at most 1,000,000 tasks"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 -a 5-1 j", "array '5-1': expected 1-7%3"),
        ("-dt 1 -e submit_batch_job | -sim-walltime -1 -t 0 j", "-1: expected a time limit"),
        ("-dt 1 -e submit_batch_job | -sim-walltime -10 j", "'-10': expected seconds >= 0, or -1"),
        ("-dt 1 -e submit_batch_job | -sim-walltime -1x j", "'-1x': expected seconds >= 0, or -1"),
        ("-dt 1 -e submit_batch_job | -jid ² -sim-walltime 1 j", "-jid '²': expected a number"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 --gres=gpu:-1 j", "--gres: '-1': expected a"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1 --gpus=v:x j", "--gpus: 'x': expected a"),
        ("-dt 1 -e submit_batch_job | -jid 7 -sim-walltime 1 j", "job 7 a second time"),
    ],
)
def test_damaged_lines_are_one_line(read, tmp_path, capsys, line, match):
    good = "-dt 0 -e submit_batch_job | -jid 7 -sim-walltime 5 -n 1 j\n"
    with pytest.raises(InvalidInstance) as error:
        read(good + line + "\n")
    assert match in str(error.value)
    assert f"{tmp_path}/week.events:2: " in str(error.value)
    arguments = [str(tmp_path / "week.events"), "--machine", str(tmp_path / "slurm.conf")]
    assert main(["solve", "cluster", *arguments, "--algorithm", "EASY"]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_as_logged_is_left_out_by_name(read, tmp_path, capsys):
    read(events((0, 60, "-n 4 -t 5"), (1, 600, "-N 5 -n 20 -t 50"), (2, 60, "-n 9 -t 9")))
    arguments = [str(tmp_path / "week.events"), "--machine", str(tmp_path / "slurm.conf")]
    assert main(["compare", "cluster", *arguments]) == 0
    captured = capsys.readouterr()
    assert "as-logged is left out" in captured.out + captured.err
    page = tmp_path / "audit.html"
    assert main(["audit", *arguments, "-o", str(page)]) == 0
    captured = capsys.readouterr()
    assert "as-logged is left out" in captured.out + captured.err + page.read_text()
    plan = tmp_path / "plan.json"
    assert (
        main(["solve", "cluster", *arguments, "--algorithm", "slurm-backfill", "-o", str(plan)])
        == 0
    )
    assert main(["validate", "cluster", *arguments, str(plan)]) == 0
    with pytest.raises(InvalidInstance, match="expected a machine"):
        cs.cluster.Instance.read(tmp_path / "week.events")


SCRIPT = """# QOS
remove QOS where Name=normal
add QOS Name=fast,slow Priority=0 MaxSubmitJobsPerUser=10
sacctmgr -i modify qos fast set Priority=200
add cluster Name=c Fairshare=1
add account name=phys Fairshare=30 Description="of physics"
add account Name=chem Fairshare=10 parent=phys
add user Name=ann,bob DefaultAccount=phys Fairshare=parent Account=chem
add user name=eve account=chem MaxSubmitJobs=5
#modify user set qos=none
modify account name=chem set Fairshare=20 qos=fast
modify user where name=bob account=chem set defaultqos=slow qos+=slow
list associations format=User
"""


def test_scripts_of_sacctmgr(read, tmp_path):
    (tmp_path / "s.script").write_text(SCRIPT)
    accounting_dump = read_accounts(tmp_path / "s.script")
    association_rows = {(a["Account"], a.get("User", "")): a for a in accounting_dump.associations}
    assert [(a, u) for a, u in association_rows] == [
        ("root", ""), ("phys", ""), ("chem", ""), ("chem", "ann"), ("chem", "bob"),
        ("chem", "eve"), ("phys", "ann"), ("phys", "bob"), ("root", "root"),
    ]  # fmt: skip
    assert association_rows["chem", ""]["Share"] == "20"
    assert association_rows["chem", "ann"]["Share"] == "parent"
    assert association_rows["chem", "bob"]["Def QOS"] == "slow"
    assert association_rows["chem", "eve"]["MaxSubmit"] == "5"
    assert [(q["Name"], q["Priority"], q["MaxSubmitPU"]) for q in accounting_dump.qos] == [
        ("fast", "200", "10"), ("slow", "0", "10"),
    ]  # fmt: skip


def test_accounts_of_a_script_order_jobs(read, tmp_path):
    conf = CONF + (
        "PriorityType=priority/multifactor\nPriorityWeightQOS=1000\n"
        "AccountingStorageType=accounting_storage/slurmdbd\n"
    )
    text = events(
        *((k, 300, f"-N 6 -n 24 -t 9 -q {q}") for k, q in enumerate(("slow", "slow", "fast")))
    )
    text = text.replace("--uid=u", "--uid=ann")
    (tmp_path / "s.script").write_text(SCRIPT)
    result = solved(read(text, conf, accounts=tmp_path / "s.script"))
    assert result.jobs.start.argsort().tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("add user Fairshare=3 Account=phys", "s.script:2: add user: expected Name="),
        ("add user name=x Account=none", "s.script:2: add user: no account 'none' before it"),
        ("add account name=x Fairshare=", "s.script:2: 'Fairshare=': expected Option=value"),
        ("add user name=x", "s.script:2: add user: expected Account= or DefaultAccount="),
        ("add account name='x", "s.script:2: no closing quotation"),
    ],
)
def test_damaged_scripts_are_one_line(tmp_path, line, match):
    (tmp_path / "s.script").write_text("add account name=phys\n" + line + "\n")
    with pytest.raises(InvalidInstance) as error:
        read_accounts(tmp_path / "s.script")
    assert match in str(error.value)


def test_what_sacct_tells_of_submissions_is_followed(read, tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    head = (
        "JobID|User|State|Submit|Start|Elapsed|Timelimit|NNodes|NCPUS|ReqMem|Licenses|SubmitLine\n"
    )
    row = (
        "{}|u|COMPLETED|2026-01-01T00:00:{:02}|2026-01-01T01:00:00|00:10:00|00:20:00|{}|{}|1G|{}|"
        "{}\n"
    )
    rows = [
        (1, 0, 1, 1, "sim:2", "sbatch job.sh"),
        (2, 1, 1, 1, "", "sbatch --licenses=sim job.sh -x a1"),
        (3, 2, 2, 2, "", "sbatch -N2 --exclusive -C old job.sh"),
        (4, 3, 1, 1, "", "sbatch -d afterok:1 job.sh"),
        (5, 4, 1, 1, "", "srun --exclude a[1-4] -l --mem-per-cpu=100M ./a.out"),
        (6, 5, 1, 1, "", "sbatch --wrap 'sleep -x"),
    ]  # fmt: skip
    (tmp_path / "sacct.txt").write_text(head + "".join(row.format(*values) for values in rows))
    inst = cs.cluster.Instance.read(tmp_path / "sacct.txt", machine=tmp_path / "slurm.conf")
    assert inst.column("exclude").tolist() == ["", "", "", "", "a[1-4]", ""]
    result = solved(inst)
    start, end, where = result.jobs.start, result.jobs.end, hosts(result)
    assert start[1] >= end[0]
    assert start[3] >= end[0]
    assert len(where[2]) == 2
    assert {job_hosts[0] for job_hosts in where[2]} == {"a"}
    assert where[4][0][0] == "b"
    notes = result.instance.notes
    followed = [note.subject for note in notes if note.subject.startswith("exclusive, ")]
    assert followed[0].startswith("exclusive, licenses, dependency, exclude")
    assert counts(notes, NoteKind.NOT_FOLLOWED)["SubmitLine that cannot be read"] == 1


@pytest.mark.data
def test_a_week_of_a_university(tmp_path):
    unpacked(data("ubhpc", "medium_cluster.tar.xz"), tmp_path)
    machine = cs.cluster.Machine.read(
        tmp_path / "etc/slurm.conf", slurm_version="22.05",
        accounts=tmp_path / "etc/sacctmgr.script",
    )  # fmt: skip
    machine_notes = " ".join(machine.notes)
    assert "TopologyPlugin=topology/tree, PriorityFlags=NO_NORMAL_TRES" in machine_notes
    inst = cs.cluster.Instance.read(
        tmp_path / "job_traces/workload_week.events", machine=machine, no_bound=True
    )
    assert len(inst) == 19_579
    assert (inst.column("constraint") != "").sum() == 1_457
    result = cs.cluster.solve(inst, "EASY")
    result.schedule.validate()
    assert result.metrics()["mean_wait"] > 0
