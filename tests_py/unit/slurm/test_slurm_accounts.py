"""Users, accounts and QOS of a slurm.conf: as Slurm's commands print them, and what they do."""

from __future__ import annotations

import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind
from cosched.cluster import Machine
from cosched.errors import InfeasibleError, InvalidInstance
from cosched.slurm.accounts.accounting_dump import read_accounts
from cosched.slurm.requests.associations import Accounts

ASSOCIATIONS = (
    "Cluster|Account|User|Partition|Share|GrpTRES|MaxJobs|MaxTRES|QOS|Def QOS\n"
    "c|root|||1|||||\nc|physics|||3|node=3|||high,normal|\nc|physics|ann||1||1||high,normal|normal\n"
    "c|bio|||1||||normal|\nc|bio|bob||1|||cpu=8|normal|normal\n"
)
QOS = (
    "Name|Priority|Flags|UsageFactor|GrpTRES|MaxTRESPU|MaxJobsPU|MaxWall\n"
    "normal|10||1.000000||node=2||\nhigh|100|DenyOnLimit|2.000000|||1|01:00:00\n"
)
SHARES = (
    "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\nroot||||900|1.0|\n"
    " physics||3|0.75|600|0.7|\n  physics|ann|1|1.0|600|1.0|0.5\n bio||1|0.25|300|0.3|\n"
    "  bio|bob|parent|1.0|300|1.0|1.0\n"
)
MANAGER = """Association Records

ClusterName=c Account=root UserName= Partition= Priority=0 ID=1
    SharesRaw/Norm/Level/Factor=1/0.00/1/0.00
    UsageRaw/Norm/Efctv=900.25/1.00/1.00
    ParentAccount= Lft=1 DefAssoc=No
    GrpJobs=N(4) GrpJobsAccrue=N(3)
    GrpSubmitJobs=N(7) GrpWall=N(53.20)
    GrpTRES=cpu=N(20),node=N(5)
    GrpTRESMins=cpu=N(315),node=N(78)
    MaxJobs= MaxSubmitJobs= MaxWallPJ=
    MaxTRESPJ=
ClusterName=c Account=bio UserName= Partition= Priority=0 ID=4
    SharesRaw/Norm/Level/Factor=2147483647/0.33/3/0.00
    UsageRaw/Norm/Efctv=300.75/0.45/0.45
    ParentAccount=root(1) Lft=2 DefAssoc=No
    GrpJobs=6(1) GrpWall=90(26.50)
    GrpTRES=cpu=N(4),node=5(1)
    GrpTRESMins=cpu=1000(142),node=N(35)
ClusterName=c Account=bio UserName=bob(7) Partition= Priority=0 ID=8
    SharesRaw/Norm/Level/Factor=1/0.50/2/0.80
    UsageRaw/Norm/Efctv=300.75/0.00/0.00
    ParentAccount= Lft=3 DefAssoc=Yes
    MaxJobs=2 MaxSubmitJobs=5 MaxWallPJ=60
    MaxTRESPJ=node=3,mem=2048
QOS Records

QOS=normal(1)
    UsageRaw=7331.5
    GrpJobs=N(2) GrpSubmitJobs=N(3) GrpWall=N(24.66)
    GrpTRES=cpu=N(8),node=N(2)
    MaxWallPJ=
    MaxTRESPJ=
    PreemptMode=OFF
    Priority=10
    User Limits
      7
        MaxJobsPU=3(0) MaxSubmitJobsPU=N(0)
        MaxTRESPU=cpu=N(0),node=5(0)
"""
DUMP = """# To edit this file start with a cluster line
Cluster - 'c':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Description='p':Organization='o':Fairshare=10:GrpTRES=node=5,cpu=20
Parent - 'physics'
Account - 'theory':Description='t':Fairshare=4:MaxWallDurationPerJob=60
Parent - 'theory'
User - 'ann':DefaultAccount='theory':Fairshare=2:MaxJobs=3:QOS='normal,high'
"""
CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightQOS=2000
PriorityWeightFairshare=10000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits
NodeName=n[1-4] CPUs=4
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
"""


def machine_of(tmp_path, conf=CONF, accounts=ASSOCIATIONS + QOS):
    (tmp_path / "slurm.conf").write_text(conf)
    if accounts is None:
        return Machine.read(tmp_path / "slurm.conf")
    (tmp_path / "accounts.txt").write_text(accounts)
    return Machine.read(tmp_path / "slurm.conf", accounts=tmp_path / "accounts.txt")


def jobs_of(*rows, **extra_columns):
    """(submit, cores, run time, user, QOS) each; an hour of limit."""
    columns = list(zip(*rows, strict=True))
    count = len(rows)
    return cs.cluster.Instance(
        {
            "submit": columns[0], "tasks": columns[1], "runtime": columns[2], "user": columns[3],
            "account": [{"ann": "physics", "bob": "bio"}.get(user, "x") for user in columns[3]],
            "qos": columns[4], "cpu": [1] * count, "memory": [1] * count,
            "estimate": [3600] * count, **extra_columns,
        },
        16,
    )  # fmt: skip


def starts(machine, instance, **options):
    res = cs.slurm.backfill(instance, machine=machine, controller_start=-100, epoch=0,
                                    **options)  # fmt: skip
    return res.jobs.start.tolist()


def limits_of(owner):
    """Return (name, TRES, value, used) of the limits of an association, or of a set of limits."""
    limits = getattr(owner.limits, "limits", owner.limits)
    return [(limit.name, limit.tres, limit.value, limit.used_before) for limit in limits]


def test_tables(tmp_path):
    (tmp_path / "a.txt").write_text(f"{ASSOCIATIONS}\n{QOS}{SHARES}")
    accounting_dump = read_accounts(tmp_path / "a.txt")
    names = [(row["Account"], row.get("User", "")) for row in accounting_dump.associations]
    assert names == [("root", ""), ("physics", ""), ("physics", "ann"), ("bio", ""), ("bio", "bob")]
    accounts = Accounts(accounting_dump)
    assert [association.parent for association in accounts.rows] == [-1, 0, 1, 0, 3]
    assert [association.initial_usage for association in accounts.rows] == [900, 600, 600, 300, 300]
    assert limits_of(accounts.rows[1]) == [("GrpTRES", 2, 3.0, 0.0)]
    assert limits_of(accounts.qos[1].limits) == [
        ("MaxJobsPU", -1, 1.0, 0.0),
        ("MaxWall", -1, 60.0, 0.0),
    ]
    assert accounts.qos[1].denies_on_limit
    assert accounts.qos[1].usage_factor == 2
    assert accounts.unsupported == []  # sacctmgr says bob's share, before sshare


def test_the_association_manager(tmp_path):
    (tmp_path / "a.txt").write_text(MANAGER)
    accounting_dump = read_accounts(tmp_path / "a.txt")
    accounts = Accounts(accounting_dump)
    assert [association.initial_usage for association in accounts.rows] == [900.25, 300.75, 300.75]
    bio = {name: amounts for name, _, *amounts in limits_of(accounts.rows[1])}
    assert bio == {
        "GrpJobs": [6, 0], "GrpWall": [90, 26.5], "GrpTRES": [5, 0], "GrpTRESMins": [1000, 142]
    }  # fmt: skip
    bob = limits_of(accounts.rows[2])
    assert ("MaxTRES", 1, 2048.0, 0.0) in bob
    assert ("MaxWall", -1, 60.0, 0.0) in bob
    assert limits_of(accounts.qos[0].limits) == [
        ("MaxJobsPU", -1, 3.0, 0.0),
        ("MaxTRESPU", 2, 5.0, 0.0),
    ]
    assert accounts.unsupported == []
    assert accounts.rows[1].shares == -1  # Fairshare=parent


def test_a_dump(tmp_path):
    (tmp_path / "c.cfg").write_text(DUMP)
    accounts = Accounts(read_accounts(tmp_path / "c.cfg"))
    assert [(row.parent, row.shares, row.is_user) for row in accounts.rows] == [
        (-1, 1, False), (0, 1, True), (0, 10, False), (2, 4, False), (3, 2, True),
    ]  # fmt: skip
    assert limits_of(accounts.rows[2]) == [("GrpTRES", 2, 5.0, 0.0), ("GrpTRES", 0, 20.0, 0.0)]


def test_a_folder_and_a_bad_file(tmp_path):
    (tmp_path / "sacctmgr_assoc.txt").write_text(ASSOCIATIONS)
    (tmp_path / "sacctmgr_qos.txt").write_text(QOS)
    assert len(read_accounts(tmp_path).qos) == 2
    bad = tmp_path / "bad.txt"
    bad.write_text("   Account       User\n---------- ----------\n   physics        ann\n")
    with pytest.raises(InvalidInstance, match=r"bad.txt:2: columns are cut off there"):
        read_accounts(bad)
    bad.write_text("Account|User|Share\na|b\n")
    with pytest.raises(InvalidInstance, match=r"bad.txt:2: 2 fields: expected the first line's 3"):
        read_accounts(bad)
    bad.write_text("nothing\n")
    with pytest.raises(InvalidInstance, match="no accounts: expected what sacctmgr -P"):
        read_accounts(bad)
    bad.write_text("Account|User|MaxJobs\nroot||\na|ann|many\n")
    with pytest.raises(InvalidInstance, match=r"limits MaxJobs=.many.: expected"):
        Accounts(read_accounts(bad))


def test_without_accounts_it_is_refused(tmp_path):
    jobs = jobs_of((0, 4, 60, "ann", "normal"))
    with pytest.raises(InvalidInstance, match=r"PriorityWeightQOS=2000.*--accounts"):
        starts(machine_of(tmp_path, accounts=None), jobs)
    assert starts(machine_of(tmp_path, accounts=None), jobs, approximate=True) == [0]
    assert starts(machine_of(tmp_path), jobs) == [0]


def test_limits_hold(tmp_path):
    machine = machine_of(tmp_path)
    # one of ann's jobs at a time; bob's QOS gives him two nodes
    ann = jobs_of((0, 4, 300, "ann", "normal"), (1, 4, 300, "ann", "normal"))
    res = cs.slurm.backfill(ann, machine=machine, controller_start=-100, epoch=0, log=True)
    assert res.jobs.start[1] > 300
    assert "AssocMaxJobsLimit" in res.log.reason.tolist()
    bob = jobs_of((0, 8, 300, "bob", "normal"), (1, 4, 300, "bob", "normal"))
    assert starts(machine, bob)[1] > 300
    with pytest.raises(InfeasibleError, match="job 0"):  # MaxTRES=cpu=8, and DenyOnLimit not set
        starts(machine, jobs_of((0, 12, 300, "bob", "high")))
    plain = machine_of(tmp_path, CONF.replace("AccountingStorageEnforce=limits\n", ""))
    assert starts(plain, ann)[1] < 10


def test_the_qos_orders_jobs(tmp_path):
    rows = [(0, 16, 300, "bob", "normal"), (1, 16, 60, "bob", "normal"), (2, 16, 60, "ann", "high")]
    users = ("root||1", "physics||1", "physics|ann|1", "bio||1", "bio|bob|1")
    unlimited = "Account|User|Share\n" + "".join(f"{user}\n" for user in users)
    machine = machine_of(tmp_path, accounts=unlimited + "Name|Priority\nnormal|10\nhigh|100\n")
    start_times = starts(machine, jobs_of(*rows))
    assert start_times[2] < start_times[1]


def test_usage_orders_users(tmp_path):
    rows = [(0, 16, 300, "eve", ""), (1, 16, 60, "ann", ""), (2, 16, 60, "bob", "")]
    shares = (
        "Account|User|RawShares|RawUsage|FairShare\nroot|||900|\n x||1|0|\n  x|eve|1|0|1\n"
        " physics||1|{ann}|\n  physics|ann|1|{ann}|1\n bio||1|{bob}|\n  bio|bob|1|{bob}|1\n"
    )
    for ann, bob in ((90000, 10), (10, 90000)):
        machine = machine_of(tmp_path, accounts=shares.format(ann=ann, bob=bob))
        start_times = starts(machine, jobs_of(*rows))
        assert (start_times[1] < start_times[2]) == (ann < bob)


def test_the_qos_of_a_partition(tmp_path):
    conf = CONF.replace("MaxTime=1-0", "MaxTime=1-0 QOS=normal")
    jobs = jobs_of((0, 8, 300, "bob", "high"), (1, 4, 300, "bob", "high"))
    machine = machine_of(tmp_path, conf, ASSOCIATIONS + QOS.replace("|||1|01", "||||01"))
    assert starts(machine, jobs)[1] > 300
    missing = machine_of(tmp_path, conf.replace("QOS=normal", "QOS=other"))
    with pytest.raises(InvalidInstance, match=r"QoS=other \(partition main\)"):
        starts(missing, jobs)


def test_what_has_no_rule_is_named(tmp_path):
    jobs = jobs_of((0, 4, 60, "ann", "normal"))
    extra_accounts = ASSOCIATIONS + QOS.replace("|node=2|", "|license/x=2|")
    with pytest.raises(InvalidInstance, match="MaxTRESPU=license/x=2 of QOS normal"):
        starts(machine_of(tmp_path, accounts=extra_accounts), jobs)
    res = cs.slurm.backfill(jobs, machine=machine_of(tmp_path, accounts=extra_accounts),
                                    approximate=True)  # fmt: skip
    setting = "MaxTRESPU=license/x=2 of QOS normal"
    assert has_note(res.instance.notes, NoteKind.NOT_FOLLOWED, setting)
    lost = jobs_of((0, 4, 60, "zoe", "odd"))
    res = cs.slurm.backfill(lost, machine=machine_of(tmp_path))
    assert counts(res.instance.notes, NoteKind.UNKNOWN) == {"association": 1, "QOS": 1}


def test_who_may_use_a_partition(tmp_path):
    conf = CONF + "PartitionName=closed Nodes=ALL AllowAccounts=bio PriorityTier=9\n"
    parts = {"partition": ["closed,main", "closed,main", "closed"]}
    jobs = jobs_of((0, 16, 60, "ann", "normal"), (1, 8, 60, "ann", "normal"),
                   (2, 8, 60, "ann", "normal"), **parts)  # fmt: skip
    machine = machine_of(tmp_path, conf.replace("AccountingStorageEnforce=limits\n", ""))
    res = cs.slurm.backfill(jobs, machine=machine, controller_start=-100, epoch=0)
    assert counts(res.instance.notes, NoteKind.DENIED_JOBS) == {"closed": 1}


def test_billing_weights(tmp_path):
    weights = 'MaxTime=1-0 TRESBillingWeights="CPU=2.0,Mem=0.25G,GRES/gpu=3"'
    machine = machine_of(tmp_path, CONF.replace("MaxTime=1-0", weights))
    accounts = Accounts(machine.slurm.accounts, machine)
    assert accounts.billing == {"main": [2.0, 0.0, 0.0, 0.0, 3.0]}  # memory is not handed out
    memory = CONF.replace("CR_Core", "CR_Core_Memory").replace("MaxTime=1-0", weights)
    machine = machine_of(tmp_path, memory.replace("CPUs=4", "CPUs=4 ThreadsPerCore=2"))
    assert Accounts(machine.slurm.accounts, machine).billing["main"][:2] == [4.0, 0.25 / 1024]
