"""A snapshot by a real slurmrestd on the loopback, and one by the commands at the same moment."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from note_facts import has_note
from snapshot_fields import compare_snapshots

import cosched as cs
from cosched.cli import main
from cosched.errors import SolverError
from cosched.slurm.live import Snapshot
from cosched.slurm.live.command_outputs import COMMANDS, SACCT_FIELDS
from cosched.slurm_lab import RealSlurm, missing_packages
from cosched.slurm_lab.slurmrestd import LabRestServer, jwt_settings, missing_rest_packages
from support import lacking

NODES = (
    "NodeName=n[1-2] CPUs=4 RealMemory=4000 Feature=ib,big Weight=5",
    "NodeName=g1 CPUs=4 RealMemory=8000 Gres=gpu:a100:2 Weight=10",
    "NodeName=d1 CPUs=2 RealMemory=1000",
)
PARTITIONS = (
    "PartitionName=main Nodes=ALL Default=YES MaxTime=2-00:00:00 DefaultTime=60 DefMemPerCPU=100",
    "PartitionName=gpu Nodes=g1 MaxNodes=1 PriorityTier=10 PriorityJobFactor=5 GraceTime=60 "
    "MaxMemPerNode=7000",
    "PartitionName=old Nodes=n[1-2] State=DRAIN LLN=YES TRESBillingWeights=CPU=1.0,Mem=0.25G",
)
SETTINGS = {
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core_Memory",
    "SchedulerParameters": "bf_interval=2",
    "Licenses": "matlab:4",
}
#: Outputs of commands that slurmrestd 22.05 does not offer.
FURTHER = ("scontrol_config.txt", "sprio.txt", "sshare.txt", "scontrol_assoc_mgr.txt")
#: Numbers of the backfill scheduler's last cycle, of which there is one every two seconds.
CLOCKS = {"clock: test", "clock: cycle", "clock: last_cycle", "clock: last_pass"}


def outputs_of_commands(slurm, names):
    """What the commands print now, by the names of their files."""
    commands = {**COMMANDS, "sacct.txt": "sacct -a -X -P --duplicates -S now-1days --format="
                + SACCT_FIELDS}  # fmt: skip
    texts = {name: slurm.run(*commands[name].split(), check=False) for name in names}
    texts["times.json"] = json.dumps({"squeue.json": [time.time()] * 2})
    return {name: text for name, text in texts.items() if text.strip()}


def submit_jobs(slurm, folder, *, account=()):
    """Jobs that run, and jobs that wait for some reasons; an end of one."""
    script = folder / "job.sh"
    script.write_text("#!/bin/sh\nsleep ${1:-3000}\n")
    script.chmod(0o755)

    def submit(*options):
        job, refusal = slurm.sbatch("--output=/dev/null", *account, *options)
        assert job is not None, refusal
        return job

    first = submit("-n1", "-t5", str(script), "1")
    submit("-n2", "-t60", "--mem=500", str(script))
    submit("-pgpu", "--gres=gpu:a100:1", "-n1", "-t100", "--mem=200", str(script))
    submit("-N2", "--exclusive", "-t1-00:00:00", "--constraint=ib&big", "--nice=5", str(script))
    submit("--array=0-9%2", "-n1", "-L", "matlab:1", str(script))
    submit("-N2-3", "-n4", "--begin=now+3600", str(script))
    submit("-n1", "--hold", str(script))
    slurm.run("scontrol", "update", "NodeName=d1", "State=DRAIN", "Reason=broken")
    slurm.run(
        "scontrol", "create", "reservation", "ReservationName=maint", "StartTime=now+7200",
        "Duration=120", "Nodes=ALL", "Flags=MAINT,IGNORE_JOBS", "Users=root",
    )  # fmt: skip
    slurm.until(lambda: slurm.run("squeue", "-h", "-t", "R").count("\n") >= 4, "jobs run", 60)
    slurm.until(
        lambda: (
            not slurm.run("squeue", "-h", "-j", str(first), check=False).strip()
            or "COMPLETED" in slurm.run("scontrol", "show", "job", str(first), check=False)
        ),
        "the first job ends",
        60,
    )


def by_both_ways(slurm, server, folder, *, history=None):
    """Snapshots by commands and by slurmrestd, one right behind the other."""
    names = [*COMMANDS, *(["sacct.txt"] if history else [])]
    texts = outputs_of_commands(slurm, names)
    by_commands = Snapshot.of_texts(texts, "commands", timezone="UTC")
    folder.mkdir(exist_ok=True)
    for name in FURTHER:
        if name in texts:
            (folder / name).write_text(texts[name])
    by_rest = Snapshot.ask_rest(
        server.url, history=history, folder=folder, timezone="UTC", timeout=30
    )
    return by_commands, by_rest


def require_the_same(slurm, server, folder, gaps, *, history=None):
    """Compare them until no job, and no cycle, came between them."""
    for _ in range(5):
        by_commands, by_rest = by_both_ways(slurm, server, folder, history=history)
        comparison = compare_snapshots(by_commands, by_rest)
        differing = set(comparison.differences) - CLOCKS
        if differing <= gaps:
            return by_rest, comparison
        time.sleep(1)
    raise AssertionError({name: comparison.differences[name] for name in differing - gaps})


@pytest.fixture
def token(monkeypatch):
    """A function that puts a token into the environment."""
    monkeypatch.setenv("SLURM_USER_NAME", "root")
    return lambda text: monkeypatch.setenv("SLURM_JWT", text)


@contextmanager
def started(folder, **arguments):
    """A Slurm that takes tokens; at the end its jobs are gone before its daemons."""
    if lacks := missing_rest_packages():
        lacking(lacks)
    folder.mkdir()
    settings = {**SETTINGS, **jwt_settings(folder / "jwt.key")}
    try:
        slurm = RealSlurm(folder / "slurm", NODES, settings, PARTITIONS, **arguments)
    except SolverError as error:
        if "apt install slurm-wlm" in str(error):
            lacking(str(error))
        raise
    with slurm:
        try:
            yield slurm
        finally:
            slurm.run("scancel", "--user", getuser(), check=False)
            slurm.until(
                lambda: not slurm.run("squeue", "-h", "-t", "R,CG", check=False).strip(),
                "its jobs end",
                30,
            )


def test_the_same_snapshot_by_slurmrestd(tmp_path, token, capsys):
    with started(tmp_path / "lab") as slurm:
        submit_jobs(slurm, tmp_path / "lab")
        # Without a slurmdbd, the plugins of slurmdbd do not start.
        with LabRestServer(slurm, "openapi/v0.0.38,openapi/v0.0.37") as server:
            secret = server.token()
            token(secret)
            state, comparison = require_the_same(slurm, server, tmp_path / "further", set())
            assert comparison.count > 350
            assert len(state.running) >= 4
            assert len(state.pending) >= 4
            assert has_note(state.missing, cs.NoteKind.FAILED, "/slurmdb/v0.0.38/qos")
            path = tmp_path / "now.json"
            assert main(["snapshot", "--rest", server.url, "-o", str(path)]) == 0
            printed = capsys.readouterr()
            assert "read by slurmrestd, version 0.0.38" in printed.out
            assert secret not in printed.out + printed.err + path.read_text()
            assert main(["when", str(path), "--json"]) == 0
            assert secret not in capsys.readouterr().out
            older = Snapshot.ask_rest(server.url, version="0.0.37")
            assert [job.id for job in older.jobs] == [job.id for job in state.jobs]
            with pytest.raises(cs.InvalidInstance, match=r"offers version 0\.0\.37, 0\.0\.38 of"):
                Snapshot.ask_rest(server.url, version="0.0.40")
            token("")
            with pytest.raises(cs.InvalidInstance, match="SLURM_JWT is not set"):
                Snapshot.ask_rest(server.url)
    token(secret)
    with pytest.raises(cs.InvalidInstance, match="Connection refused"):
        Snapshot.ask_rest(server.url)


ACCOUNTS = (
    "add account physics Description=x",
    "add account chem parent=physics",
    "add qos high Priority=100 GrpTRES=cpu=80,mem=100G MaxWall=1-00:00:00 MaxTRESPU=cpu=40 "
    "MaxJobsPU=30 Flags=DenyOnLimit,NoReserve GraceTime=30 UsageFactor=2 MaxTRESMins=cpu=20000 "
    "GrpJobs=20 GrpWall=100:00:00 MaxTRESPA=cpu=60 MinTRES=cpu=1 PreemptExemptTime=00:10:00",
    "add user root account=physics fairshare=3",
    "add user root account=chem MaxJobs=7 GrpTRES=cpu=6 MaxWall=600 Fairshare=parent "
    "qos=normal,high DefaultQOS=normal",
    "modify account physics set GrpTRES=cpu=100,mem=50G MaxJobs=40 GrpJobs=90 GrpWall=100000",
)


@pytest.mark.slurm
@pytest.mark.skipif(bool(missing_packages()), reason=missing_packages() or "a slurmdbd is there")
def test_the_same_snapshot_with_accounts_and_history(tmp_path, token):
    with (
        TemporaryDirectory(prefix="l") as short_folder,  # a socket's path is short
        started(Path(short_folder) / "l", accounts=ACCOUNTS) as slurm,
    ):
        submit_jobs(slurm, tmp_path, account=("--account=physics",))
        with LabRestServer(slurm) as server:
            token(server.token())
            state, comparison = require_the_same(
                slurm, server, tmp_path / "further", set(), history="1days"
            )
            assert comparison.count > 450
            assert len(state.history) >= 1
            assert state.limits["qos"]["high"]["MaxWall"] == "1-00:00:00"
            assert len(state.limits["associations"]) == 6
