"""Jobs that name no account have the default account of their user: recordings, logs, what-ifs."""

import pytest
from note_facts import counts, has_note

import cosched as cs
from cosched import NoteKind, io
from cosched.cli import main
from cosched.cluster.analysis.what_if import what_if
from cosched.errors import InvalidInstance
from cosched.slurm.accounts.accounting_dump import parse_accounts
from cosched.slurm.recordings.recording_files import read_recording

CONF = """ClusterName=c
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/slurmdbd
PriorityType=priority/multifactor
PriorityWeightFairshare=1000
NodeName=n[1-2] CPUs=4
PartitionName=main Nodes=ALL Default=YES MaxTime=1-0
"""
SCRIPT = """sacctmgr -i add account physics,bio
sacctmgr -i add user ann,bob account=physics,bio
sacctmgr -i modify user bob set DefaultAccount=bio
"""
EVENT = "-dt {} -e submit_batch_job | -sim-walltime 100 --uid={} {} -n 4 -t 10 j.sh\n"


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "accounts.sh").write_text(SCRIPT)
    return cs.cluster.Machine.read(tmp_path / "slurm.conf", accounts=tmp_path / "accounts.sh")


def test_a_log_of_events_has_the_default_account_of_its_users(tmp_path, machine):
    lines = [(0, "ann", ""), (1, "bob", ""), (2, "bob", "-A physics"), (3, "zoe", "")]
    (tmp_path / "w.events").write_text("".join(EVENT.format(*line) for line in lines))
    log = cs.cluster.Instance.read(tmp_path / "w.events", machine=machine)
    assert log.column("account").tolist() == ["physics", "bio", "physics", ""]
    assert counts(log.notes, NoteKind.ASSUMED)["accounts"] == 2


def test_so_has_a_table_of_jobs_and_what_sacct_printed(tmp_path, machine):
    (tmp_path / "jobs.csv").write_text(
        "submit,tasks,cpu,memory,runtime,user,account\n0,1,1,1,5,bob,\n0,1,1,1,5,bob,physics\n"
    )
    log = cs.cluster.Instance.read(tmp_path / "jobs.csv", machine=machine)
    assert log.column("account").tolist() == ["bio", "physics"]
    (tmp_path / "sacct.txt").write_text(
        "JobID|User|State|Submit|Start|Elapsed|NCPUS\n"
        "1|bob|COMPLETED|2026-01-01T00:00:00|2026-01-01T01:00:00|00:10:00|1\n"
    )
    log = cs.cluster.Instance.read(tmp_path / "sacct.txt", machine=machine)
    assert log.column("account").tolist() == ["bio"]


def test_without_accounts_of_the_machine_a_log_stays_as_it_is(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "w.events").write_text(EVENT.format(0, "ann", ""))
    log = cs.cluster.Instance.read(tmp_path / "w.events", machine=tmp_path / "slurm.conf")
    assert "account" not in log.column_names
    assert not has_note(log.notes, NoteKind.ASSUMED, "accounts")


ASSOC = "Cluster|Account|User|Share\nc|root||1\nc|a||1\nc|b||1\nc|a|ann|1\nc|b|ann|1\nc|b|bob|1\n"
MANAGER = """ClusterName=c Account=root UserName= Partition= Priority=0 ID=1
    SharesRaw/Norm/Level/Factor=1/1/1/0
    UsageRaw/Norm/Efctv=0/0/0
ClusterName=c Account=a UserName=ann(7) Partition= Priority=0 ID=2
    SharesRaw/Norm/Level/Factor=1/1/1/0
    UsageRaw/Norm/Efctv=0/0/0
    ParentAccount= Lft=3 DefAssoc=No
ClusterName=c Account=b UserName=ann(7) Partition= Priority=0 ID=3
    SharesRaw/Norm/Level/Factor=1/1/1/0
    UsageRaw/Norm/Efctv=0/0/0
    ParentAccount= Lft=4 DefAssoc=Yes
"""
DUMP = """Cluster - 'c':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'a':Fairshare=1
Account - 'b':Fairshare=1
Parent - 'a'
User - 'ann':DefaultAccount='b':Fairshare=1
Parent - 'b'
User - 'ann':DefaultAccount='b':Fairshare=1
"""


@pytest.mark.parametrize(
    ("text", "name", "is_assumed"),
    [
        (ASSOC, "a", True),
        (ASSOC + "User|Def Acct|Admin\nann|b|None\n", "b", False),
        ("User|Def Acct|Admin\nann|b|None\n" + ASSOC, "b", False),
        (ASSOC + "User|Def Acct\nann|gone\n", "a", True),
        (MANAGER, "b", False),
        (DUMP, "b", False),
    ],
)
def test_each_output_that_tells_the_default_account_is_read(text, name, is_assumed):
    default = parse_accounts({"a.txt": text}, "a").default_account_by_user["ann"]
    assert (default.name, default.is_assumed) == (name, is_assumed)


def test_the_only_account_of_a_user_is_the_default_one():
    default = parse_accounts({"a.txt": ASSOC}, "a").default_account_by_user["bob"]
    assert (default.name, default.is_assumed) == ("b", False)


def test_an_assumed_account_is_noted_with_the_number_of_jobs(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "accounts.txt").write_text(ASSOC + "Name|Priority\nnormal|0\n")
    (tmp_path / "w.events").write_text(
        EVENT.format(0, "ann", "") + EVENT.format(1, "ann", "") + EVENT.format(2, "bob", "")
    )
    log = cs.cluster.Instance.read(
        tmp_path / "w.events", machine=tmp_path / "slurm.conf", accounts=tmp_path / "accounts.txt"
    )
    assert log.column("account").tolist() == ["a", "a", "b"]
    assumed = counts(log.notes, NoteKind.ASSUMED)
    assert (assumed["accounts"], assumed["default accounts"]) == (3, 2)


# --- recordings ---


def recording(path, jobs, script, **fields):
    """A recording of one run in which each job starts at once, as slurm record writes it."""
    associations = [
        {"Account": "root", "Share": "1"}, {"Account": "root", "User": "root", "Share": "1"},
        {"Account": "physics", "ParentName": "root", "Share": "1"},
        {"Account": "bio", "ParentName": "root", "Share": "1"},
        {"Account": "physics", "User": "alice", "Share": "1"},
        {"Account": "bio", "User": "alice", "Share": "1"},
        {"Account": "bio", "User": "bob", "Share": "1"},
    ]  # fmt: skip
    runs = [{"submit": k, "start": k, "end": k + 31, "nodelist": "n1"} for k in range(len(jobs))]
    data = {
        "config": {"SelectType": "select/linear", "NodeLines": "one", "speed": 1,
                   "Partitions": ["PartitionName=main Nodes=ALL"],
                   "PriorityType": "priority/multifactor", "PriorityWeightFairshare": 100},
        "nodes": 2, "associations": associations, "qos": [{"Name": "normal"}],
        "jobs": [{"submit": k, "nodes": 1, "limit": 60, "runtime": 30, **job}
                 for k, job in enumerate(jobs)],
        "runs": [runs], "phases": [{"epoch": 1000, "controller_start": -20.0}],
        "sacctmgr": script, "slurm": "22.05.8", **fields,
    }  # fmt: skip
    io.write_json(data, path)
    return path


def association_of(read, row):
    owner = read.requests[row].owner
    assert owner is not None
    return owner.association


def test_a_recording_whose_jobs_name_a_user_and_no_account_is_checked(tmp_path, capsys):
    path = recording(tmp_path / "r.json", [{"user": "alice"}], [])
    assert main(["slurm", "check", str(path)]) == 0
    assert "1 of 1 jobs on the same nodes within 5 s" in capsys.readouterr().out


def test_commands_that_the_slurm_took_and_that_are_not_understood_are_a_note(tmp_path):
    path = recording(tmp_path / "r.json", [{"user": "bob"}], ["add user bob Account=physics"])
    assert has_note(read_recording(path).notes, NoteKind.NOT_FOLLOWED, "commands of sacctmgr")


@pytest.mark.parametrize(
    ("more", "row_of_alice"),
    [
        ({"sacctmgr": ["add account physics,bio", "add user alice Account=physics,bio"]}, 4),
        ({"sacctmgr": ["add account physics,bio",
                       "add user alice Account=physics DefaultAccount=bio"]}, 5),
        ({"users": [{"User": "alice", "Def Acct": "bio"}, {"User": "bob", "Def Acct": "bio"}]}, 5),
    ],
)  # fmt: skip
def test_its_default_account_is_the_one_that_the_recording_tells(tmp_path, more, row_of_alice):
    jobs = [{"user": "alice"}, {"user": "bob"}, {"user": "alice", "account": "physics"}, {}]
    script = more.pop("sacctmgr", [])
    read = read_recording(recording(tmp_path / "r.json", jobs, script, **more))
    assert [association_of(read, row) for row in range(4)] == [row_of_alice, 6, 4, 1]


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({"user": "zoe"}, "job 0: user 'zoe' has no association, thus no default account: "
         "expected one of root, alice, bob"),
        ({"user": "bob", "account": "physics"}, "job 0: user 'bob' has no association with account "
         "'physics': expected one of bio"),
        ({"account": "chem"}, "job 0: no user, and no account 'chem'"),
        ({"user": "bob", "qos": "fast"}, "job 0: no QOS 'fast': expected one of normal"),
    ],
)  # fmt: skip
def test_a_job_whose_owner_is_not_known_is_refused_in_a_clear_line(tmp_path, job, message):
    path = recording(tmp_path / "r.json", [job], [])
    with pytest.raises(InvalidInstance) as error:
        read_recording(path)
    assert message in str(error.value)


def test_a_job_that_the_slurm_refused_needs_no_association(tmp_path):
    phases = [{"epoch": 1000, "controller_start": -20.0, "refused": {"0": "Invalid account"}}]
    read = read_recording(recording(tmp_path / "r.json", [{"user": "zoe"}], [], phases=phases))
    assert read.requests[0].held
    assert read.requests[0].owner is None


def test_results_are_grouped_by_the_default_accounts(tmp_path, machine):
    lines = [(0, "ann", ""), (1, "bob", ""), (2, "bob", "-A physics")]
    (tmp_path / "w.events").write_text("".join(EVENT.format(*line) for line in lines))
    log = cs.cluster.Instance.read(tmp_path / "w.events", machine=machine)
    groups = cs.cluster.solve(log, "slurm-backfill").by("account").set_index("account")
    assert groups["jobs"].to_dict() == {"bio": 1, "physics": 2}


# --- what-ifs ---

LIMITS_CONF = CONF.replace(
    "PriorityType", "AccountingStorageEnforce=associations,limits\nPriorityType", 1
)


def log_without_accounts(folder, accounts):
    """Six jobs of one core each, in turn of ann (physics by default) and bob (bio by default)."""
    (folder / "slurm.conf").write_text(LIMITS_CONF)
    (folder / "accounts.sh").write_text(SCRIPT)
    machine = cs.cluster.Machine.read(folder / "slurm.conf", accounts=folder / "accounts.sh")
    columns = {
        "submit": [0.0] * 6, "tasks": [1] * 6, "cpu": [1.0] * 6, "memory": [1.0] * 6,
        "runtime": [300.0] * 6, "estimate": [600.0] * 6, "user": ["ann", "bob"] * 3,
    }  # fmt: skip
    if accounts is not None:
        columns["account"] = accounts
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    (folder / "log.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    return cs.cluster.Instance.read(folder / "log.csv", machine=machine)


@pytest.mark.parametrize(
    ("accounts", "limited_users"),
    [
        (None, ["bob"] * 3),
        ([""] * 6, ["bob"] * 3),
        (["", "physics", "", "", "bio", ""], ["ann", "bob", "bob"]),
    ],
)
def test_a_limit_of_an_account_counts_for_jobs_that_have_it_by_default(
    tmp_path, accounts, limited_users
):
    """With GrpJobs=1 of account bio its jobs run one after another, and no others wait."""
    log = log_without_accounts(tmp_path, accounts)
    changed, _ = what_if(log, "account.bio.GrpJobs=1")
    before, after = (cs.cluster.solve(run, "slurm-backfill").jobs for run in (log, changed))
    assert before["start"].max() < 60
    in_account = log.column("account") == "bio"
    assert sorted(log.column("user")[in_account]) == sorted(limited_users)
    assert after["start"][~in_account].max() < 60
    starts = sorted(after["start"][in_account])
    assert starts[1] >= starts[0] + 300
    assert starts[2] >= starts[1] + 300


def test_the_audit_follows_default_accounts_in_its_what_ifs(tmp_path):
    log_without_accounts(tmp_path, None)
    command = ["audit", "log.csv", "--machine", "slurm.conf", "--accounts", "accounts.sh"]
    paths = [str(tmp_path / word) if "." in word else word for word in command]
    options = ["--draws", "2", "--what-if", "account.bio.GrpJobs=1"]
    outputs = ["-o", str(tmp_path / "a.html"), "--json", str(tmp_path / "a.json")]
    assert main([*paths, *options, *outputs]) == 0
    as_is, changed = io.read_json(tmp_path / "a.json")["rows"]
    assert changed["mean_wait"] > as_is["mean_wait"] + 100
